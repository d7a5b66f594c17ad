//! A robot's bag: a file of messages in the format MCAP, version 0 (its specification:
//! mcap.dev/spec).
//!
//! A recorder keeps messages as they come and writes them to one file every so often, at the *flush
//! interval*. A flush writes everything that came since the flush before: never more than the most
//! that comes in any window of the interval's length. So a bag becomes one task that writes that
//! much once an interval, a stream, as a file that grows is. No flush of the bag's own records is
//! larger, whatever the recorder's phase is.
//!
//! Each record of the data section comes at a time: a message and an attachment when they are
//! logged, the entry of an index with its message, and any other record (heads of chunks and of
//! indexes, schemas, channels, metadata) with the message in front of it. The summary behind the
//! data is written once, when the recorder stops, and comes in no window.

mod chunk;
mod reader;

use std::io;

use rtflash_model::{Access, Request, Span, Task};

pub use self::reader::read_bag;
use crate::import::curve::most_in_window;
use crate::import::extent::Extent;
use crate::import::lines::Lines;

/// Bytes of a record, and of what is compressed in a chunk, at most. Recorders write chunks of a
/// few MiB.
pub const MAX_RECORD: usize = 1 << 30;

/// Messages, and entries of indexes, that a bag can have: some three gigabytes of memory.
pub const MAX_MESSAGES: u64 = 100_000_000;

/// Bytes of a record in front of its content: opcode and length.
const HEAD: usize = 1 + 8;

/// Bytes of a message's record in front of its data: opcode, length, channel, sequence number, two
/// times (MCAP's specification, Section "Message").
pub const RECORD_HEAD: u64 = HEAD as u64 + 2 + 4 + 8 + 8;

/// The messages of one topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topic {
    /// Its name.
    pub name: String,
    /// For each message, the time of its log entry (ns of the recorder's clock) and the bytes of
    /// its record; by time.
    pub messages: Vec<(u64, u64)>,
}

/// The most that comes in a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FullestWindow {
    /// Bytes in it.
    pub bytes: u64,
    /// When it begins (the first of those that are as full), in ns of the recorder's clock.
    pub begins: u64,
}

/// The content of a bag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bag {
    /// Topics that have messages, by name.
    pub topics: Vec<Topic>,
    /// For each attachment, the time of its log entry and the bytes of its record; by time.
    pub attachments: Vec<(u64, u64)>,
    /// Bytes of the other records of the data section: when they come, and how many; by time.
    pub others: Vec<(u64, u64)>,
    /// Bytes of the summary and of what is behind it.
    pub summary_bytes: u64,
    /// Bags in the file, one behind the other.
    pub bags: u64,
    /// Bytes that were not read: damaged records and chunks (as they are in the file, if a chunk
    /// cannot be unpacked), and all that is behind a fault that hides where records begin.
    pub unread_bytes: u64,
    /// In how many places: records, chunks, the end of a bag that breaks off.
    pub unread_parts: u64,
    /// How its messages were read. Each fault is counted as one that is refused: a damaged chunk
    /// or record, a channel that nothing describes, the place where a bag breaks off. Its place is
    /// the number of the record.
    pub messages: Lines,
}

/// Why there is no bag.
#[derive(Debug, thiserror::Error)]
pub enum BagError {
    /// It cannot be read.
    #[error("{0}")]
    Io(io::Error),
    /// It is no bag, or holds no message: why.
    #[error("{0}")]
    NoMessages(String),
    /// It has more than [`MAX_MESSAGES`].
    #[error("more than {MAX_MESSAGES} messages: cut the bag in pieces")]
    TooLarge,
}

impl From<io::Error> for BagError {
    fn from(error: io::Error) -> Self {
        BagError::Io(error)
    }
}

fn fullest(of: &[(u64, u64)], length: Span) -> FullestWindow {
    let times = || of.iter().copied();
    let (bytes, begins) = most_in_window(times(), times(), length.as_ns());
    FullestWindow { bytes, begins }
}

impl Topic {
    /// The fullest window of this length. A window that begins at t has the messages that are
    /// logged at t or later and before t plus its length.
    ///
    /// ```
    /// use rtflash_exchange::import::bag::Topic;
    /// use rtflash_model::Span;
    ///
    /// let topic = Topic { name: "/scan".into(), messages: vec![(0, 100), (7_000, 300), (9_000, 300), (10_000, 50)] };
    /// let fullest = topic.fullest_window(Span::from_us(10));
    /// assert_eq!((fullest.bytes, fullest.begins), (700, 0));
    /// ```
    pub fn fullest_window(&self, length: Span) -> FullestWindow {
        fullest(&self.messages, length)
    }
}

impl Bag {
    /// The fullest window of this length, with all messages, attachments and other records.
    pub fn fullest_window(&self, length: Span) -> FullestWindow {
        let mut all: Vec<(u64, u64)> = self.timed_messages().chain(self.timed_others()).collect();
        all.sort_unstable();
        fullest(&all, length)
    }

    /// When its messages came, and the bytes of all records that come in a window; `None` if it has
    /// no messages.
    pub fn extent(&self) -> Option<Extent> {
        let mut extent = Extent::of(self.timed_messages())?;
        extent.bytes += self.timed_others().map(|(_, bytes)| u128::from(bytes)).sum::<u128>();
        Some(extent)
    }

    fn timed_messages(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.topics.iter().flat_map(|topic| topic.messages.iter().copied())
    }

    fn timed_others(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.attachments.iter().chain(&self.others).copied()
    }

    /// The task of a recorder that writes the bag out once a `flush` interval, to pages of
    /// `page_size` bytes. The recorder fills one buffer while `waiting` others are written: a
    /// buffer is due when the recorder fills it again, `waiting` intervals later. `None` if the
    /// interval or `waiting` is zero, the deadline is 2⁶³ ns or more, or the bag is empty.
    pub fn task(&self, flush: Span, waiting: u32, page_size: u32) -> Option<Task> {
        let pages = self.fullest_window(flush).bytes.div_ceil(u64::from(page_size));
        let due = flush.as_ns().checked_mul(waiting.into()).and_then(Span::from_ns)?;
        let write = Request::new(pages, flush)?.with_access(Access::Stream);
        let write = write.with_deadline((due != flush).then_some(due))?;
        Some(Task { name: "recorder".into(), read: None, write: Some(write), data_pages: None })
    }
}
