//! The remembered head: where each store stood, kept outside the store, because a lost tail shows nowhere inside it.
//!
//! A store's file can come back shorter than it was (a flipped bit in a write-ahead log, a restored backup) without any
//! error. So after each commit, before it is acknowledged, the head is noted here, without a flush of its own: one small
//! write in place. Two slots take turns, so that a torn write leaves the one before it. Several processes share the
//! file under a lock and never take it backwards.

use super::StoreHead;
use crate::domain::digest::Digest;
use crate::domain::ledger::Head;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Bytes between the slots' beginnings: a sector each, so that one write cannot tear both.
const SLOT: u64 = 512;

/// What is remembered of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Remembered {
    /// The feed's epoch; a person who accepts another head begins a new one.
    pub epoch: u64,
    /// Where the store stood.
    pub head: StoreHead,
}

/// What the memory holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Memory {
    /// Nothing: a new store, or one from another machine.
    Nothing,
    /// Where the store stood.
    Of(Box<Remembered>),
    /// Something that cannot be read.
    Unreadable,
}

/// The directory in which heads and places are remembered.
#[derive(Clone, Debug)]
pub(crate) struct Shelf {
    dir: PathBuf,
}

impl Shelf {
    /// The shelf in a state directory; made, private to its owner, when first written to.
    pub(crate) fn new(state_dir: &Path) -> Self {
        Shelf { dir: state_dir.to_owned() }
    }

    fn place(&self, path: &Path) -> PathBuf {
        let name = Digest::of_bytes(path.as_os_str().as_encoded_bytes()).hex();
        self.dir.join("paths").join(name)
    }

    /// The store that was last seen at a path.
    pub(crate) fn store_at(&self, path: &Path) -> io::Result<Option<String>> {
        match fs::read_to_string(self.place(path)) {
            Ok(text) => Ok(text.lines().next().map(str::to_owned).filter(|id| is_store_id(id))),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Remembers which store is at a path.
    pub(crate) fn put_store_at(&self, path: &Path, store_id: &str) -> io::Result<()> {
        if self.store_at(path)?.as_deref() == Some(store_id) {
            return Ok(());
        }
        let text = format!("{store_id}\n{}\n", path.display());
        write_file(&self.place(path), text.as_bytes(), Existing::IsReplaced)
    }

    /// What is remembered of a store, without making anything.
    pub(crate) fn peek(&self, store_id: &str) -> io::Result<Memory> {
        match File::open(self.head_path(store_id)) {
            Ok(file) => read(&file),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Memory::Nothing),
            Err(e) => Err(e),
        }
    }

    fn head_path(&self, store_id: &str) -> PathBuf {
        self.dir.join("heads").join(store_id)
    }

    /// The memory of one store, for writing; made where there is none.
    pub(crate) fn head_of(&self, store_id: &str) -> io::Result<HeadFile> {
        let path = self.head_path(store_id);
        if !path.exists() {
            // Its length is durable from the start; from then on it is only overwritten in place.
            write_file(&path, &[b' '; 2 * SLOT as usize], Existing::Stays)?;
        }
        let file = OpenOptions::new().read(true).write(true).open(&path)?;
        Ok(HeadFile { file })
    }
}

/// The open memory of one store.
#[derive(Debug)]
pub(crate) struct HeadFile {
    file: File,
}

impl HeadFile {
    /// What is remembered now.
    pub(crate) fn read(&self) -> io::Result<Memory> {
        self.file.lock_shared()?;
        let memory = read(&self.file);
        self.file.unlock()?;
        memory
    }

    /// Remembers `new`, unless something newer is remembered already (by another process).
    pub(crate) fn advance(&self, new: &Remembered) -> io::Result<()> {
        self.write(new, |old| (old.epoch, old.head.events) < (new.epoch, new.head.events))
    }

    /// Remembers `new` whatever was remembered: a person accepted it.
    pub(crate) fn accept(&self, new: &Remembered) -> io::Result<()> {
        self.write(new, |_| true)
    }

    fn write(&self, new: &Remembered, wanted: impl Fn(&Remembered) -> bool) -> io::Result<()> {
        fail::fail_point!("store-head-write", |_| Err(io::Error::other("fail point")));
        self.file.lock()?;
        let written = self.write_locked(new, wanted);
        self.file.unlock()?;
        written
    }

    fn write_locked(&self, new: &Remembered, wanted: impl Fn(&Remembered) -> bool) -> io::Result<()> {
        let [first, second] = slots(&self.file)?;
        let newest = match (&first, &second) {
            (Some(a), Some(b)) if a.1 >= b.1 => Some((0, a)),
            (_, Some(b)) => Some((1, b)),
            (Some(a), None) => Some((0, a)),
            (None, None) => None,
        };
        if newest.is_some_and(|(_, (old, _))| !wanted(old)) {
            return Ok(());
        }
        let (slot, turn) = newest.map_or((0, 1), |(at, (_, turn))| (1 - at, turn + 1));
        self.file.write_all_at(&print(new, turn), slot * SLOT)
    }
}

fn read(file: &File) -> io::Result<Memory> {
    let [first, second] = slots(file)?;
    let newest = [first, second].into_iter().flatten().max_by_key(|(_, turn)| *turn);
    if let Some((remembered, _)) = newest {
        return Ok(Memory::Of(Box::new(remembered)));
    }
    let mut bytes = [b' '; 2 * SLOT as usize];
    let length = file.read_at(&mut bytes, 0)?;
    let blank = bytes.iter().take(length).all(|b| *b == b' ' || *b == 0);
    Ok(if blank { Memory::Nothing } else { Memory::Unreadable })
}

fn slots(file: &File) -> io::Result<[Option<(Remembered, u64)>; 2]> {
    let mut bytes = [0; 2 * SLOT as usize];
    let mut length = 0;
    while let Some(rest) = bytes.get_mut(length..).filter(|r| !r.is_empty()) {
        match file.read_at(rest, length as u64)? {
            0 => break,
            n => length += n,
        }
    }
    let (first, second) = bytes.split_at(SLOT as usize);
    Ok([parse(first), parse(second)])
}

/// One slot: a line of words, the last a checksum over the others.
fn print(r: &Remembered, turn: u64) -> Vec<u8> {
    let digest = |d: &Option<Digest>| d.as_ref().map_or_else(|| "-".to_owned(), Digest::hex);
    let mut line = format!(
        "tribunal-head 1 {turn} {} {} {} {} {} {}",
        r.epoch,
        r.head.events,
        digest(&r.head.last_event),
        r.head.ledger.store_id,
        r.head.ledger.sequence,
        digest(&r.head.ledger.record_digest),
    );
    let sum = Digest::of_bytes(line.as_bytes()).hex_prefix(16);
    line.push(' ');
    line.push_str(&sum);
    line.push('\n');
    let mut bytes = line.into_bytes();
    bytes.resize(SLOT as usize, b' ');
    bytes
}

fn parse(bytes: &[u8]) -> Option<(Remembered, u64)> {
    let line = std::str::from_utf8(bytes).ok()?.lines().next()?;
    let (said, sum) = line.rsplit_once(' ')?;
    if Digest::of_bytes(said.as_bytes()).hex_prefix(16) != sum {
        return None;
    }
    let digest = |word: &str| match word {
        "-" => Some(None),
        hex => Digest::parse(&format!("sha256:{hex}")).map(Some),
    };
    let mut words = said.strip_prefix("tribunal-head 1 ")?.split(' ');
    let mut next = || words.next();
    let turn = next()?.parse().ok()?;
    let epoch = next()?.parse().ok()?;
    let events = next()?.parse().ok()?;
    let last_event = digest(next()?)?;
    let store_id = next()?.to_owned();
    let sequence = next()?.parse().ok()?;
    let record_digest = digest(next()?)?;
    let ledger = Head { store_id, sequence, record_digest };
    Some((Remembered { epoch, head: StoreHead { events, last_event, ledger } }, turn))
}

/// Whether text is an id as stores are given: it becomes a file's name, so nothing else may pass.
pub(crate) fn is_store_id(text: &str) -> bool {
    text.len() == 36 && text.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
}

/// What becomes of a file that is there already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Existing {
    /// It stays: somebody else made it just now, and may have written to it.
    Stays,
    /// The new one takes its place.
    IsReplaced,
}

/// Writes a small file as a whole: it is there with all its bytes, or as it was.
fn write_file(path: &Path, bytes: &[u8], existing: Existing) -> io::Result<()> {
    let Some(dir) = path.parent() else { return Err(io::ErrorKind::InvalidInput.into()) };
    DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    let fresh = path.with_extension(format!("new-{}", uuid::Uuid::now_v7().simple()));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    let placed = written.and_then(|()| match existing {
        Existing::IsReplaced => fs::rename(&fresh, path),
        Existing::Stays => match fs::hard_link(&fresh, path) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            linked => linked,
        },
    });
    // After a rename it is gone already; where it cannot be removed it is only in the way of nobody.
    _ = fs::remove_file(&fresh);
    placed?;
    File::open(dir)?.sync_all()
}
