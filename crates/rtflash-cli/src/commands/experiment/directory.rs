//! Where an experiment's files are.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rtflash_experiment::Progress;

use crate::Failure;

/// The file that progress is kept in.
const PROGRESS: &str = "tallies.json";

/// What the names of files begin with until they are whole; a process's number ends them.
const DRAFT: &str = ".rtflash-";

fn is_draft(name: &str) -> bool {
    name.strip_prefix(DRAFT)
        .and_then(|rest| rest.rsplit_once('.'))
        .is_some_and(|(_, process)| !process.is_empty() && process.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A directory with the files of one experiment.
pub struct Directory {
    path: PathBuf,
}

impl Directory {
    /// A directory, made if it is not there.
    pub fn create(path: &Path) -> Result<Directory, Failure> {
        fs::create_dir_all(path)
            .map_err(|error| Failure::io(&format!("cannot make the directory {}", path.display()), &error))?;
        Ok(Directory::existing(path))
    }

    /// A directory that should be there.
    pub fn existing(path: &Path) -> Directory {
        Directory { path: path.to_owned() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How far the experiment in it has come; `None` if there is none.
    pub fn progress(&self) -> Result<Option<Progress>, Failure> {
        let path = self.path.join(PROGRESS);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Failure::io(&format!("cannot read {}", path.display()), &error)),
        };
        let progress = serde_json::from_slice(&text);
        progress.map(Some).map_err(|error| {
            Failure(format!("{} is not what rtflash wrote: {error}; remove it to begin anew", path.display()))
        })
    }

    /// Keeps progress. The old one is there until the new one is whole.
    pub fn keep(&self, progress: &Progress) -> io::Result<()> {
        let mut text = serde_json::to_string(progress).map_err(io::Error::other)?;
        text.push('\n');
        self.replace(PROGRESS, text.as_bytes())
    }

    /// Writes a file of results.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<(), Failure> {
        self.replace(name, content).map_err(|error| self.failure(name, &error))
    }

    /// A failure to write a file.
    pub fn failure(&self, name: &str, error: &io::Error) -> Failure {
        Failure::io(&format!("cannot write {}", self.path.join(name).display()), error)
    }

    /// Takes away what killed runs were about to write.
    pub fn tidy(&self) {
        let Ok(entries) = fs::read_dir(&self.path) else { return };
        for entry in entries.flatten() {
            if entry.file_name().to_str().is_some_and(is_draft) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn replace(&self, name: &str, content: &[u8]) -> io::Result<()> {
        let draft = self.path.join(format!("{DRAFT}{name}.{}", std::process::id()));
        let place = || fs::write(&draft, content).and_then(|()| fs::rename(&draft, self.path.join(name)));
        // Another process that works here may have tidied up in between.
        let placed =
            place().or_else(|error| if error.kind() == io::ErrorKind::NotFound { place() } else { Err(error) });
        if placed.is_err() {
            let _ = fs::remove_file(&draft);
        }
        placed
    }
}
