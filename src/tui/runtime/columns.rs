//! Keeps the choice of the docket's columns in a file of the user.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc::Sender;

use super::files::{read, replace};
use crate::domain::text::reveal;
use crate::tui::event::{Change, Event};
use crate::tui::model::chosen::{Chosen, LIMIT};

/// The name of the file, beside the drafts.
const NAME: &str = "columns";

/// The choice that was kept in a directory, or the default; with why it cannot be read, revealed, where that is so.
pub(in crate::tui) fn recall(dir: &Path) -> (Chosen, Option<String>) {
    let path = dir.join(NAME);
    let why = match read(&path, LIMIT) {
        Ok(None) => return (Chosen::default(), None),
        Ok(Some(bytes)) => match Chosen::parse(&bytes) {
            Ok(chosen) => return (chosen, None),
            Err(why) => why.to_owned(),
        },
        Err(error) => error.to_string(),
    };
    let told = format!("all columns are shown, the choice in {} cannot be read: {why}", path.display());
    (Chosen::default(), Some(reveal(&told).to_string()))
}

/// The file, and what is to be written to it.
#[derive(Debug)]
struct Shelf {
    path: PathBuf,
    next: Mutex<Option<Chosen>>,
    /// Held while something is written, so that what is older cannot overtake what is newer.
    disk: Mutex<()>,
}

impl Shelf {
    /// Writes what is not written yet. Returns why it cannot be.
    fn flush(&self) -> Option<String> {
        let _one_at_a_time = self.disk.lock().unwrap_or_else(PoisonError::into_inner);
        let chosen = self.next.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        let why = replace(&self.path, chosen.to_text().as_bytes()).err()?;
        Some(reveal(&format!("the choice of columns: {why}")).to_string())
    }
}

/// See the module.
pub(super) struct Columns {
    shelf: Arc<Shelf>,
    events: Sender<Event>,
}

impl Columns {
    pub(super) fn new(dir: &Path, events: Sender<Event>) -> Columns {
        let shelf = Shelf { path: dir.join(NAME), next: Mutex::default(), disk: Mutex::default() };
        Columns { shelf: Arc::new(shelf), events }
    }

    /// Takes a choice and has it written, away from the loop; tells where it cannot be.
    pub(super) fn put(&self, chosen: Chosen) {
        *self.shelf.next.lock().unwrap_or_else(PoisonError::into_inner) = Some(chosen);
        let (shelf, events) = (self.shelf.clone(), self.events.clone());
        drop(tokio::spawn(async move {
            if let Ok(Some(why)) = tokio::task::spawn_blocking(move || shelf.flush()).await {
                // The loop has ended when nobody takes it.
                let _ = events.send(Event::Feed(Change::Unkept(Some(why)))).await;
            }
        }));
    }
}

impl Drop for Columns {
    /// What was chosen just before the end is written too.
    fn drop(&mut self) {
        if self.shelf.flush().is_some() {
            tracing::warn!("the choice of columns was not kept");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::mpsc;

    fn chosen() -> Chosen {
        let mut chosen = Chosen::default();
        chosen.toggle(1);
        chosen
    }

    #[tokio::test]
    async fn a_choice_made_just_before_the_end_is_there_at_the_next_start() {
        let dir = tempfile::tempdir().unwrap();
        let below = dir.path().join("new");
        assert_eq!(recall(&below), (Chosen::default(), None));
        let columns = Columns::new(&below, mpsc::channel(1).0);
        columns.put(Chosen::default());
        columns.put(chosen());
        drop(columns);
        assert_eq!(recall(&below), (chosen(), None));
    }

    #[test]
    fn a_damaged_file_is_told_and_falls_back_to_all_columns() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(NAME);
        let long = vec![b'\n'; 1 << 20];
        for (bytes, why) in [(&b"\x1b[2J"[..], "it is no choice of columns"), (&long, "it is too long")] {
            std::fs::write(&path, bytes).unwrap();
            let (read, told) = recall(dir.path());
            assert_eq!(read, Chosen::default());
            let end = format!("columns cannot be read: {why}");
            assert!(told.as_ref().is_some_and(|told| told.ends_with(&end)), "{told:?}");
        }
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert!(recall(dir.path()).1.is_some_and(|told| told.ends_with("it is no file")));
    }

    #[tokio::test]
    async fn where_it_cannot_be_written_that_is_told() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join(NAME)).unwrap();
        let (events, mut answers) = mpsc::channel(1);
        let columns = Columns::new(dir.path(), events);
        columns.put(chosen());
        let told = answers.recv().await;
        let Some(Event::Feed(Change::Unkept(Some(why)))) = told else { panic!("{told:?}") };
        assert!(why.starts_with("the choice of columns: "), "{why}");
    }
}
