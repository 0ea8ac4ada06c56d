//! Small files of the user's own: read within a bound, written whole or not at all.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

/// The bytes of a file, one more than allowed at most; `None` where there is none.
pub(super) fn read(path: &Path, most: usize) -> io::Result<Option<Vec<u8>>> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        // Reading a pipe would wait for ever.
        Ok(what) if !what.is_file() => return Err(io::Error::other("it is no file")),
        Err(error) => return Err(error),
        Ok(_) => {}
    }
    let mut bytes = Vec::new();
    let most = u64::try_from(most.saturating_add(1)).unwrap_or(u64::MAX);
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Writes a file whole or not at all, for its owner alone.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(dir) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    }
    let beside = path.with_extension(format!("tmp-{}", std::process::id()));
    let written = (|| {
        let mut file =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&beside, path)
    })();
    if written.is_err() {
        // What is half written helps nobody.
        let _ = fs::remove_file(&beside);
    }
    written
}
