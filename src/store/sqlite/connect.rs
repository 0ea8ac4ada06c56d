//! Opens connections to the file, and says in our words what SQLite says in its.

use crate::store::StoreError;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// "TRIB", in the file's header: this file is ours.
pub(super) const APPLICATION_ID: i32 = 0x5452_4942;

/// The first engine without the WAL-reset bug, which corrupts a file that several processes write.
const OLDEST_ENGINE: i32 = 3_051_003;

/// Statements kept prepared per connection.
const STATEMENTS: usize = 96;

/// What an error of the engine is to a caller.
pub(super) fn failed(e: rusqlite::Error) -> StoreError {
    use rusqlite::Error as E;
    let text = e.to_string();
    // A row that must be there is not, or holds what no version of ours writes.
    if let E::QueryReturnedNoRows
    | E::InvalidColumnType(..)
    | E::FromSqlConversionFailure(..)
    | E::IntegralValueOutOfRange(..)
    | E::Utf8Error(..) = &e
    {
        return StoreError::Damaged(text);
    }
    match e.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::Full,
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::ConstraintViolation) => {
            StoreError::Damaged(text)
        }
        Some(ErrorCode::CannotOpen) => StoreError::Unreachable(text),
        _ => StoreError::Failed(text),
    }
}

/// Something stored that cannot be: named by what it is and where.
pub(super) fn damaged(what: &str, at: impl std::fmt::Display, why: impl std::fmt::Display) -> StoreError {
    StoreError::Damaged(format!("{what} {at}: {why}"))
}

/// Which file a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    /// The file at `path` now; `None` where there is none.
    pub(super) fn of(path: &Path) -> io::Result<Option<Self>> {
        match fs::metadata(path) {
            Ok(m) => Ok(Some(Identity { device: m.dev(), inode: m.ino() })),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }
}

/// The file's absolute path with links resolved, so that one store has one name.
pub(super) fn canonical(path: &Path, create: bool) -> Result<PathBuf, StoreError> {
    let unreachable = |e: io::Error| StoreError::Unreachable(format!("{}: {e}", path.display()));
    if let Ok(found) = fs::canonicalize(path) {
        return Ok(found);
    }
    let dir = path.parent().filter(|d| !d.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().ok_or_else(|| unreachable(io::ErrorKind::InvalidInput.into()))?;
    if create {
        DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(unreachable)?;
    }
    Ok(fs::canonicalize(dir).map_err(unreachable)?.join(name))
}

/// Makes an empty file for its owner alone; what SQLite puts beside it takes over its mode.
pub(super) fn make_file(path: &Path) -> Result<(), StoreError> {
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(_) => Ok(()),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(e) => Err(StoreError::Unreachable(format!("{} cannot be made: {e}", path.display()))),
    }
}

/// Whether the file is empty; refuses what is no SQLite file before the engine touches it.
pub(super) fn is_empty(path: &Path) -> Result<bool, StoreError> {
    let unreachable = |e: io::Error| StoreError::Unreachable(format!("{}: {e}", path.display()));
    let metadata = fs::metadata(path).map_err(unreachable)?;
    if !metadata.is_file() {
        return Err(StoreError::Unreachable(format!("{} is not a file", path.display())));
    }
    let mut first = Vec::new();
    fs::File::open(path).map_err(unreachable)?.take(16).read_to_end(&mut first).map_err(unreachable)?;
    if first.is_empty() || first == *b"SQLite format 3\0" {
        return Ok(first.is_empty());
    }
    Err(StoreError::Incompatible(format!("{} is not a tribunal store", path.display())))
}

/// Why a file cannot be written, where that is so: the engine would open it all the same, and fail later with less to
/// say.
pub(super) fn unwritable(path: &Path) -> Result<Option<String>, StoreError> {
    match OpenOptions::new().write(true).open(path) {
        Ok(_) => Ok(None),
        Err(e) if matches!(e.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem) => {
            Ok(Some(format!("{}: {e}", path.display())))
        }
        Err(e) => Err(StoreError::Unreachable(format!("{}: {e}", path.display()))),
    }
}

/// Refuses an engine with a known bug that loses data.
pub(super) fn check_engine() -> Result<(), StoreError> {
    if rusqlite::version_number() >= OLDEST_ENGINE {
        return Ok(());
    }
    Err(StoreError::Incompatible(format!("SQLite {} is too old: 3.51.3 is needed", rusqlite::version())))
}

/// A connection that may write; only one in a process ever does.
pub(super) fn for_writing(path: &Path, busy: Duration) -> Result<Connection, StoreError> {
    let conn = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, busy)?;
    // Commits wait for the disk: a power cut must not take back what was acknowledged. Checkpoints are ours to time. The
    // cache is small because the engine may walk all of it at each commit; the log keeps its length because writing over
    // it costs the disk less than making it grow.
    conn.execute_batch(
        "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -16384;
         PRAGMA journal_size_limit = 134217728; PRAGMA cell_size_check = 1",
    )
    .map_err(failed)?;
    Ok(conn)
}

/// A connection that only reads.
pub(super) fn for_reading(path: &Path) -> Result<Connection, StoreError> {
    let conn = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY, Duration::from_secs(2))?;
    conn.execute_batch("PRAGMA query_only = 1; PRAGMA cache_size = -8192").map_err(failed)?;
    Ok(conn)
}

fn connect(path: &Path, access: OpenFlags, busy: Duration) -> Result<Connection, StoreError> {
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags).map_err(failed)?;
    conn.busy_timeout(busy).map_err(failed)?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS);
    // Without it the engine may plan a statement anew whenever a value is bound: measured, a third of the writer's time.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(failed)?;
    conn.execute_batch("PRAGMA trusted_schema = 0; PRAGMA temp_store = 2; PRAGMA mmap_size = 0")
        .map_err(failed)?;
    Ok(conn)
}
