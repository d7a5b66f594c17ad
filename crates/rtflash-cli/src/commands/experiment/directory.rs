//! The places of an experiment's files.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use rtflash_experiment::{KeptError, Progress};

use crate::{CommandFailure, output, whole};

pub const PROGRESS: &str = "tallies.json";
const MANIFEST: &str = "manifest.json";
/// The file that a process at work in the directory has locked. The system unlocks it when the
/// process ends, however it ends.
const LOCK: &str = ".rtflash-lock";

pub struct Directory {
    path: PathBuf,
    /// Open, and locked, while a process works here; `None` if nothing is to be changed, or nothing
    /// can be locked.
    _lock: Option<File>,
}

impl Directory {
    /// A directory to work in, made if it is not there, with no other process at work in it.
    pub fn occupy(path: &Path) -> Result<Directory, CommandFailure> {
        output::folder(path)?;
        let lock = path.join(LOCK);
        let cannot = |error| CommandFailure::writing(&lock, &error);
        let file = File::options().create(true).truncate(false).write(true).open(&lock).map_err(cannot)?;
        let lock = match file.try_lock() {
            Ok(()) => Some(file),
            Err(TryLockError::WouldBlock) => {
                fail!("another process is at work in {}: wait for it, or choose another --out", path.display());
            }
            // Some file systems have no locks.
            Err(TryLockError::Error(error)) => {
                output::complain(&output::warning(&format!(
                    "{} cannot be locked ({error}): see to it that no other process works there",
                    path.display()
                )));
                None
            }
        };
        Ok(Directory { _lock: lock, ..Directory::existing(path) })
    }

    pub fn existing(path: &Path) -> Directory {
        Directory { path: path.to_owned(), _lock: None }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn progress(&self) -> Result<Option<Progress>, CommandFailure> {
        let Some(bytes) = self.read(PROGRESS)? else { return Ok(None) };
        Progress::from_kept(&bytes).map(Some).map_err(|error: KeptError| {
            CommandFailure(format!("{}: {error}; remove it to begin anew", self.path.join(PROGRESS).display()))
        })
    }

    pub fn manifest(&self) -> Result<Option<Vec<u8>>, CommandFailure> {
        self.read(MANIFEST)
    }

    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, CommandFailure> {
        let path = self.path.join(name);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(CommandFailure::io(&format!("cannot read {}", path.display()), &error)),
        }
    }

    /// Keeps progress. The old one is there until the new one is whole.
    pub fn keep(&self, progress: &Progress) -> io::Result<()> {
        whole::write(&self.path.join(PROGRESS), &progress.to_kept()?)
    }

    pub fn describe(&self, text: &str) -> Result<(), CommandFailure> {
        self.write(MANIFEST, text.as_bytes())
    }

    pub fn write(&self, name: &str, content: &[u8]) -> Result<(), CommandFailure> {
        output::save(&self.path.join(name), content)
    }

    pub fn failure(&self, name: &str, error: &io::Error) -> CommandFailure {
        CommandFailure::writing(&self.path.join(name), error)
    }

    /// Removes what killed runs were about to write. Only the process that has occupied the
    /// directory calls it.
    pub fn tidy(&self) {
        let Ok(entries) = fs::read_dir(&self.path) else { return };
        for entry in entries.flatten() {
            if entry.file_name().to_str().is_some_and(|name| whole::is_draft(name, is_ours)) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

fn is_ours(name: &str) -> bool {
    [PROGRESS, MANIFEST, "results.csv", "paired.csv", "summary.json"].contains(&name) || name.starts_with("figure")
}
