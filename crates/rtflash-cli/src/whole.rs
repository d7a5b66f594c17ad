//! Files that are whole or not there: written under another name beside their place, synced, and
//! then put into it.
//!
//! A draft goes where the writing fails or a signal ends the process. A place that has no content
//! to keep (a pipe, a device, `/dev/stdout`) is written as it is.

#[cfg(unix)]
mod interrupted;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

/// The end of drafts' names. They begin with a dot and the name of the file to be.
pub const DRAFT: &str = ".rtflash";
/// Characters of the name of the file that its draft shows: names have an end.
const SHOWN: usize = 40;
/// Links to follow, as the system does.
const LINKS: u32 = 40;
/// The system's names for files that are open already.
const OPEN: [&str; 5] = ["/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/fd", "/proc"];
const BUFFER: usize = 1 << 18;

/// A file that is being written. Dropped before [`WholeFile::finish`], it leaves what was there
/// before.
pub enum WholeFile {
    /// A draft, and the place where it goes.
    Draft { draft: BufWriter<NamedTempFile>, place: PathBuf, _watch: SignalWatch },
    /// A file without content to keep, written as it is.
    Direct(BufWriter<File>),
}

/// As long as it is there, a signal takes the draft away.
pub struct SignalWatch(#[cfg_attr(not(unix), allow(dead_code))] PathBuf);

impl SignalWatch {
    fn new(draft: &Path) -> SignalWatch {
        #[cfg(unix)]
        interrupted::watch(draft);
        SignalWatch(draft.to_owned())
    }
}

impl Drop for SignalWatch {
    fn drop(&mut self) {
        #[cfg(unix)]
        interrupted::forget(&self.0);
    }
}

/// As long as it is there, a signal that would end the process is held until [`SignalHold::obey`];
/// a second one is not.
pub struct SignalHold(());

impl SignalHold {
    pub fn new() -> SignalHold {
        #[cfg(unix)]
        interrupted::hold(true);
        SignalHold(())
    }

    #[allow(clippy::unused_self)] // It is there to be asked.
    pub fn signal(&self) -> Option<i32> {
        #[cfg(unix)]
        return interrupted::held();
        #[cfg(not(unix))]
        None
    }

    /// Ends the process by the signal that is held, if there is one.
    pub fn obey(&self) {
        #[cfg(unix)]
        if let Some(signal) = self.signal() {
            interrupted::end(signal);
        }
    }
}

impl Drop for SignalHold {
    fn drop(&mut self) {
        // One that comes now is not held, and one that came before ends the process now.
        #[cfg(unix)]
        interrupted::hold(false);
        self.obey();
    }
}

impl WholeFile {
    /// A file to be at this path, through links.
    pub fn create(path: &Path) -> io::Result<WholeFile> {
        let direct = |path: &Path| -> io::Result<WholeFile> {
            Ok(WholeFile::Direct(BufWriter::with_capacity(BUFFER, File::create(path)?)))
        };
        let Some(place) = place(path)? else { return direct(path) };
        let there = match fs::metadata(&place) {
            Ok(there) if there.is_file() => Some(there),
            Ok(_) => return direct(&place),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if there.is_some() {
            // A file that must not be written must not be replaced.
            File::options().write(true).open(&place)?;
        }
        let draft = match draft(&place) {
            // A folder to which nothing can be added may have files that can be written.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied && there.is_some() => return direct(&place),
            draft => draft?,
        };
        if let Some(there) = there {
            draft.as_file().set_permissions(there.permissions())?;
        }
        let _watch = SignalWatch::new(draft.path());
        Ok(WholeFile::Draft { draft: BufWriter::with_capacity(BUFFER, draft), place, _watch })
    }

    /// Puts the file into its place, once it is on the disk.
    pub fn finish(self) -> io::Result<()> {
        match self {
            WholeFile::Direct(mut file) => file.flush(),
            WholeFile::Draft { draft, place, _watch } => {
                let draft = draft.into_inner().map_err(io::IntoInnerError::into_error)?;
                tolerant(draft.as_file().sync_all())?;
                draft.persist(&place).map_err(|error| error.error)?;
                sync_folder(folder(&place))
            }
        }
    }
}

impl WholeFile {
    fn writer(&mut self) -> &mut dyn Write {
        match self {
            WholeFile::Draft { draft, .. } => draft,
            WholeFile::Direct(file) => file,
        }
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer().flush()
    }
}

pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = WholeFile::create(path)?;
    file.write_all(content)?;
    file.finish()
}

/// Whether this is the name of a draft of a file of which `is_name` knows the name.
pub fn is_draft(name: &str, is_name: impl Fn(&str) -> bool) -> bool {
    let inner = name.strip_prefix('.').and_then(|name| name.strip_suffix(DRAFT));
    inner.and_then(|inner| inner.rsplit_once('.')).is_some_and(|(name, _)| is_name(name))
}

/// The place that a path leads to through links; `None` where it is a name that the system gives to
/// something open.
fn place(path: &Path) -> io::Result<Option<PathBuf>> {
    let mut place = path.to_owned();
    for _ in 0..LINKS {
        if OPEN.iter().any(|open| place.starts_with(open)) {
            return Ok(None);
        }
        match fs::read_link(&place) {
            Ok(to) => place = folder(&place).join(to),
            // No link, or nothing yet.
            Err(_) => return Ok(Some(place)),
        }
    }
    Err(io::Error::other("too many links, one to the other"))
}

fn draft(place: &Path) -> io::Result<NamedTempFile> {
    let name = place.file_name().unwrap_or(OsStr::new("file")).to_string_lossy();
    let shown: String = name.chars().take(SHOWN).collect();
    let prefix = format!(".{shown}.");
    let mut builder = Builder::new();
    builder.prefix(&prefix).suffix(DRAFT);
    #[cfg(unix)]
    {
        // As any new file: the user's mask decides.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder(place))
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Sees to it that a new name in a folder is on the disk.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { tolerant(File::open(folder)?.sync_all()) } else { Ok(()) }
}

/// Some file systems have nothing to sync.
fn tolerant(synced: io::Result<()>) -> io::Result<()> {
    synced.or_else(|error| {
        let none = matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported);
        if none { Ok(()) } else { Err(error) }
    })
}

#[cfg(test)]
mod tests;
