//! The files of an export, or the reason that there is none.

/// Requests of all streams together, at most: some 300 MB of text.
pub const MAX_REQUESTS: u128 = 10_000_000;

/// A file of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportedFile {
    /// Its name, without a folder.
    pub name: String,
    /// Its content.
    pub text: String,
}

/// The files to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    /// Files for one folder.
    pub files: Vec<ExportedFile>,
    /// The differences there, and what is not kept: sentences.
    pub notes: Vec<String>,
    /// Bytes of a page there.
    pub page_bytes: u64,
}

/// Why a task set or an allocation cannot be exported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotExported {
    /// No task reads or writes.
    #[error("no task reads or writes")]
    NoRequests,
    /// More requests than the target has streams: how many, and how many at most.
    #[error("{0} requests, and there can be {1} streams")]
    TooManyStreams(usize, usize),
    /// The cluster at this position is no rectangle of channels and ways.
    #[error("cluster {0} is no rectangle: the same ways on each of its channels (`alloc --shape rectangles`)")]
    NoRectangle(usize),
    /// A request of this task has more bytes than a command may have.
    #[error("a request of `{0}` has more than 65535 sectors of 512 bytes")]
    TooLarge(String),
    /// More requests in this time than a file of them should have.
    #[error("{0} requests in this time, more than {MAX_REQUESTS}")]
    TooMany(u128),
    /// A chip has too few blocks: how many are needed.
    #[error("a chip has too few blocks: at least {0} are needed")]
    TooFewBlocks(u64),
    /// The spare blocks of a cluster, at this λ, are fewer than this number a chip.
    #[error("too little is spare: at least {0} blocks of a chip have to be (`logical_ratio`)")]
    TooFull(u64),
    /// A field of the device is larger than the target's: its name.
    #[error("`{0}` is too large there")]
    OutOfRange(&'static str),
    /// No clock of the bus is near to the transfer of a page: the nearest takes this number of ns.
    #[error("a page crosses the bus there in {0} ns at the nearest: more than 5 % from `page_transfer`")]
    NoClock(u64),
    /// A page is no multiple of 512 bytes.
    #[error("`page_size` is no multiple of 512 bytes")]
    NoSectors,
    /// A request of this task is due behind the next one, and one at a time is on its way there.
    #[error("a request of `{0}` has a deadline beyond its period, and one at a time is on its way there")]
    Buffered(String),
    /// A burst of this stream has more jobs than fio gets processes: how many at most.
    #[error("a burst of `{0}` has more than {1} jobs, and each needs a process of fio")]
    Burst(String, u64),
    /// A task's data, or the cluster's, have fewer pages than a request of this task.
    #[error("a request of `{0}` is larger than the data it has there")]
    NoRoom(String),
}
