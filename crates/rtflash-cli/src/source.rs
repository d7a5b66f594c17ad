//! Where input comes from.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::CommandFailure;

/// A file or standard input, with the name it has in complaints.
pub struct InputSource {
    /// What complaints call it.
    pub name: String,
    reader: Box<dyn Read + Send>,
}

impl InputSource {
    /// Opens a file, or standard input for `-`.
    ///
    /// # Errors
    /// Where it cannot be opened or is a folder.
    pub fn open(path: &Path) -> Result<InputSource, CommandFailure> {
        if path.as_os_str() == "-" {
            return Ok(InputSource { name: "<stdin>".into(), reader: Box::new(io::stdin()) });
        }
        let name = path.display().to_string();
        let failure = |error: &io::Error| CommandFailure(format!("cannot read {name}: {error}"));
        let file = File::open(path).map_err(|error| failure(&error))?;
        if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
            return Err(CommandFailure(format!("cannot read {name}: it is a folder")));
        }
        Ok(InputSource { name, reader: Box::new(file) })
    }
}

impl Read for InputSource {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer)
    }
}

/// The name and text of a file that holds one value.
pub fn read(path: &Path) -> Result<(String, String), CommandFailure> {
    let mut source = InputSource::open(path)?;
    let mut bytes = Vec::new();
    source
        .read_to_end(&mut bytes)
        .map_err(|error| CommandFailure::io(&format!("cannot read {}", source.name), &error))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| CommandFailure(format!("cannot read {}: it is not text in UTF-8", source.name)))?;
    Ok((source.name, text))
}
