//! The source of input.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use rtflash_model::MAX_FRAME;

use crate::CommandFailure;

pub struct InputSource {
    pub name: String,
    reader: Box<dyn Read + Send>,
}

impl InputSource {
    /// Opens a file, or standard input for `-`.
    pub fn open(path: &Path) -> Result<InputSource, CommandFailure> {
        if path.as_os_str() == "-" {
            return Ok(InputSource { name: "<stdin>".into(), reader: Box::new(io::stdin()) });
        }
        let name = path.display().to_string();
        let failure = |error: &io::Error| CommandFailure(format!("cannot read {name}: {error}"));
        let file = File::open(path).map_err(|error| failure(&error))?;
        if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
            fail!("cannot read {name}: it is a folder");
        }
        Ok(InputSource { name, reader: Box::new(file) })
    }
}

impl Read for InputSource {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer)
    }
}

#[cfg(any(test, feature = "exchange"))]
pub fn at_most_one_from_stdin(paths: &[&Path]) -> Result<(), CommandFailure> {
    if paths.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
        fail!("only one of the files can come from standard input");
    }
    Ok(())
}

pub fn read(path: &Path) -> Result<(String, String), CommandFailure> {
    read_within(InputSource::open(path)?, MAX_FRAME)
}

fn read_within(mut source: InputSource, most: usize) -> Result<(String, String), CommandFailure> {
    let mut bytes = Vec::new();
    Read::by_ref(&mut source)
        .take(most as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| CommandFailure::io(&format!("cannot read {}", source.name), &error))?;
    if bytes.len() > most {
        fail!("cannot read {}: it is longer than {most} bytes", source.name);
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| CommandFailure(format!("cannot read {}: it is not text in UTF-8", source.name)))?;
    Ok((source.name, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_end_is_not_read_to_its_end() {
        let endless = || InputSource { name: "endless".into(), reader: Box::new(io::repeat(b' ')) };
        let failure = read_within(endless(), 1 << 16).expect_err("too long");
        assert_eq!(failure.0, "cannot read endless: it is longer than 65536 bytes");
        let short = |bytes| InputSource { name: "short".into(), reader: Box::new(io::repeat(b' ').take(bytes)) };
        assert_eq!(read_within(short(9), 9).expect("not too long").1.len(), 9);
        assert!(read_within(short(10), 9).is_err());
    }

    #[test]
    fn standard_input_is_read_once() {
        let [stdin, file] = ["-", "file"].map(Path::new);
        assert!(at_most_one_from_stdin(&[stdin, file, file]).is_ok() && at_most_one_from_stdin(&[file, file]).is_ok());
        assert!(at_most_one_from_stdin(&[stdin, file, stdin]).is_err());
    }
}
