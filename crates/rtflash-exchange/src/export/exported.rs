//! What an export is, or why there is none.

use std::fmt;

/// Requests of all streams together, at most: some 300 MB of text.
pub const MAX_REQUESTS: u128 = 10_000_000;

/// A file of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportedFile {
    /// Its name, without a folder.
    pub name: String,
    /// What is in it.
    pub text: String,
}

/// What is to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    /// Files for one folder.
    pub files: Vec<ExportedFile>,
    /// What is different there, or not kept: sentences.
    pub notes: Vec<String>,
    /// Bytes of a page there.
    pub page_bytes: u64,
}

/// Why a task set or an allocation cannot be exported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotExported {
    /// No task reads or writes.
    NoRequests,
    /// More requests than the target has streams: how many, and how many at most.
    TooManyStreams(usize, usize),
    /// The cluster at this position is no rectangle of channels and ways.
    NoRectangle(usize),
    /// A request of this task has more bytes than a command may have.
    TooLarge(String),
    /// More requests in this time than a file of them should have.
    TooMany(u128),
    /// A chip has too few blocks: how many are needed.
    TooFewBlocks(u64),
    /// The spare blocks of a cluster, at this λ, are fewer than this number a chip.
    TooFull(u64),
    /// A field of the device is larger than the target's: its name.
    OutOfRange(&'static str),
    /// No clock of the bus is near to the transfer of a page: the nearest takes this number of ns.
    NoClock(u64),
    /// A page is no multiple of 512 bytes.
    NoSectors,
    /// A task's data, or the cluster's, have fewer pages than a request of this task.
    NoRoom(String),
}

impl fmt::Display for NotExported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotExported::NoRequests => write!(f, "no task reads or writes"),
            NotExported::TooManyStreams(streams, most) => {
                write!(f, "{streams} requests, and there can be {most} streams")
            }
            NotExported::NoRectangle(cluster) => write!(
                f,
                "cluster {cluster} is no rectangle: the same ways on each of its channels (`alloc --shape rectangles`)"
            ),
            NotExported::TooLarge(task) => write!(f, "a request of `{task}` has more than 65535 sectors of 512 bytes"),
            NotExported::TooMany(requests) => {
                write!(f, "{requests} requests in this time, more than {}", MAX_REQUESTS)
            }
            NotExported::TooFewBlocks(needed) => write!(f, "a chip has too few blocks: at least {needed} are needed"),
            NotExported::TooFull(spare) => {
                write!(f, "too little is spare: at least {spare} blocks of a chip have to be (`logical_ratio`)")
            }
            NotExported::OutOfRange(field) => write!(f, "`{field}` is too large there"),
            NotExported::NoClock(nearest) => {
                write!(
                    f,
                    "a page crosses the bus there in {nearest} ns at the nearest: more than 5 % from `page_transfer`"
                )
            }
            NotExported::NoSectors => write!(f, "`page_size` is no multiple of 512 bytes"),
            NotExported::NoRoom(task) => write!(f, "a request of `{task}` is larger than the data it has there"),
        }
    }
}

impl std::error::Error for NotExported {}
