//! File systems of a test's own, where it may mount them: only root may.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What is mounted at a place, until it is dropped.
pub struct Mounted(PathBuf);

impl Drop for Mounted {
    fn drop(&mut self) {
        _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// Mounts something at a place, which is made; `None` where that is not permitted.
pub fn mount(arguments: &[&str], at: &Path) -> Option<Mounted> {
    std::fs::create_dir_all(at).unwrap();
    let done = Command::new("mount").args(arguments).arg(at).stderr(Stdio::null()).status();
    done.is_ok_and(|s| s.success()).then(|| Mounted(at.to_owned()))
}

/// A file system of two megabytes.
pub fn small(at: &Path) -> Option<Mounted> {
    mount(&["-t", "tmpfs", "-o", "size=2m", "tmpfs"], at)
}
