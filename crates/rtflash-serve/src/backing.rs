//! The file that keeps the data of all exports, one behind the other.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// A file with the data of all exports.
#[derive(Debug)]
pub struct DataFile {
    file: Mutex<File>,
    /// A second handle of the file, which syncs while others read and write.
    synced: File,
}

impl DataFile {
    /// Opens the file at this path with `size` bytes, and keeps what it contains. Bytes never
    /// written take no blocks. Fails if it cannot be made, is of another size, or another process
    /// keeps its data in it.
    pub fn open(path: &Path, size: u64) -> io::Result<DataFile> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => io::Error::other("another device keeps its data there"),
            TryLockError::Error(error) => error,
        })?;
        match file.metadata()?.len() {
            0 => file.set_len(size)?,
            there if there == size => {}
            there => {
                let says = format!("it has {there} bytes, and the exports have {size}: it is of another allocation");
                return Err(io::Error::new(io::ErrorKind::InvalidInput, says));
            }
        }
        DataFile::new(file)
    }

    fn new(file: File) -> io::Result<DataFile> {
        Ok(DataFile { synced: file.try_clone()?, file: Mutex::new(file) })
    }

    /// A data file of `size` bytes in an open file, which can be without a name and end with the
    /// process. Fails if the file cannot get its size.
    pub fn of(file: File, size: u64) -> io::Result<DataFile> {
        file.set_len(size)?;
        DataFile::new(file)
    }

    fn at(&self, offset: u64) -> io::Result<std::sync::MutexGuard<'_, File>> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(offset))?;
        Ok(file)
    }

    pub(crate) fn read(&self, offset: u64, data: &mut [u8]) -> io::Result<()> {
        self.at(offset)?.read_exact(data)
    }

    pub(crate) fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.at(offset)?.write_all(data)
    }

    pub(crate) fn sync(&self) -> io::Result<()> {
        self.synced.sync_data()
    }
}
