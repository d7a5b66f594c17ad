//! A robot's bag: a file of messages in the format MCAP, version 0 (its specification:
//! mcap.dev/spec).
//!
//! A recorder keeps messages as they come and writes them out every so often, at the *flush
//! interval*. What it writes at one flush is what has come since the last one: never more than the
//! most that comes in any window of the interval's length. So each topic becomes a task that writes
//! that much once an interval, a stream, as what is appended to a file is. Whatever the recorder's
//! phase is, no flush of the bag's own messages is larger.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::io::{self, Read};

use mcap::parse_record;
use mcap::records::Record;
use mcap::sans_io::{LinearReadEvent, LinearReader, LinearReaderOptions};
use rtflash_model::{Access, Request, Span, Task};
use ruzstd::decoding::StreamingDecoder;

use crate::curve::most_in_window;
use crate::lines::{LineFound, Lines};

/// Bytes of a record, and of what is compressed in a chunk, at most. Recorders write chunks of a
/// few MiB.
pub const MAX_RECORD: usize = 1 << 30;

/// Messages that a bag may have: some two gigabytes of memory.
pub const MAX_MESSAGES: u64 = 100_000_000;

/// Bytes of a message's record in front of its data: opcode, length, channel, sequence number, two
/// times (MCAP's specification, Section "Message").
pub const RECORD_HEAD: u64 = 1 + 8 + 2 + 4 + 8 + 8;

/// The messages of one topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topic {
    /// Its name.
    pub name: String,
    /// Of each message, when it was logged (ns of the recorder's clock) and how many bytes its
    /// record has; by time.
    pub messages: Vec<(u64, u64)>,
}

/// What comes at most of a topic in a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FullestWindow {
    /// Bytes in it.
    pub bytes: u64,
    /// When it begins (the first of those that are as full), in ns of the recorder's clock.
    pub begins: u64,
}

/// What a bag holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bag {
    /// Topics that have messages, by name.
    pub topics: Vec<Topic>,
    /// What became of its messages. Where it breaks off or is damaged, the first fault is counted
    /// as one that is refused, its place is the number of the record; what is behind the fault is
    /// not read.
    pub messages: Lines,
}

/// Why there is no bag.
#[derive(Debug)]
pub enum BagError {
    /// It cannot be read.
    Io(io::Error),
    /// It is no bag, or holds no message: why.
    NoMessages(String),
    /// It has more than [`MAX_MESSAGES`].
    TooLarge,
}

impl fmt::Display for BagError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BagError::Io(error) => write!(f, "{error}"),
            BagError::NoMessages(why) => write!(f, "{why}"),
            BagError::TooLarge => write!(f, "more than {MAX_MESSAGES} messages: cut the bag in pieces"),
        }
    }
}

impl std::error::Error for BagError {}

impl Topic {
    /// The fullest window of this length. A window that begins at t has the messages that are
    /// logged at t or later and before t plus its length.
    ///
    /// ```
    /// use rtflash_import::bag::Topic;
    /// use rtflash_model::Span;
    ///
    /// let topic = Topic { name: "/scan".into(), messages: vec![(0, 100), (7_000, 300), (9_000, 300), (10_000, 50)] };
    /// let fullest = topic.fullest_window(Span::from_us(10));
    /// assert_eq!((fullest.bytes, fullest.begins), (700, 0));
    /// ```
    pub fn fullest_window(&self, length: Span) -> FullestWindow {
        let messages = || self.messages.iter().copied();
        let (bytes, begins) = most_in_window(messages(), messages(), length.as_ns());
        FullestWindow { bytes, begins }
    }

    /// The task of a recorder that writes it out once a `flush` interval, to pages of `page_size`
    /// bytes. `None` where the interval is zero or the topic has no messages. A topic without a
    /// name is `(no name)`.
    pub fn task(&self, flush: Span, page_size: u32) -> Option<Task> {
        let pages = self.fullest_window(flush).bytes.div_ceil(u64::from(page_size));
        let write = Request::new(pages, flush)?.with_access(Access::Stream);
        let name = if self.name.is_empty() { "(no name)" } else { &self.name };
        Some(Task { name: name.to_owned(), read: None, write: Some(write), data_pages: None })
    }
}

/// Reads the messages of a bag. The sum of a compressed chunk is checked where it has one.
///
/// # Errors
/// Where it cannot be read, is no bag, or has no messages.
pub fn read_bag(mut from: impl Read) -> Result<Bag, BagError> {
    let options = LinearReaderOptions::default().with_emit_chunks(true).with_record_length_limit(MAX_RECORD);
    let mut reader = LinearReader::new_with_options(options);
    let mut found = BagReader::default();
    while let Some(event) = reader.next_event() {
        let problem = match event {
            Ok(LinearReadEvent::ReadRequest(wanted)) => {
                let read = retried(|| from.read(reader.insert(wanted))).map_err(BagError::Io)?;
                reader.notify_read(read);
                continue;
            }
            Ok(LinearReadEvent::Record { data, opcode }) => found.record(opcode, data).err(),
            Err(error) => Some(error.to_string()),
        };
        if found.lines.read > MAX_MESSAGES {
            return Err(BagError::TooLarge);
        }
        if let Some(problem) = problem {
            found.lines.count(found.records, LineFound::Refused(problem));
            break;
        }
    }
    found.into_bag()
}

/// Reads again where a signal came between.
fn retried(mut read: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match read() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// What has been read of a bag.
#[derive(Default)]
struct BagReader {
    /// Topics of the channels.
    channels: HashMap<u16, String>,
    topics: BTreeMap<String, Vec<(u64, u64)>>,
    lines: Lines,
    records: u64,
}

impl BagReader {
    /// One more record; what is wrong with it otherwise.
    fn record(&mut self, opcode: u8, data: &[u8]) -> Result<(), String> {
        self.records += 1;
        match parse_record(opcode, data).map_err(|error| error.to_string())? {
            Record::Channel(channel) => drop(self.channels.insert(channel.id, channel.topic)),
            Record::Message { header, data } => {
                let Some(topic) = self.channels.get(&header.channel_id) else {
                    return Err(format!(
                        "a message of channel {}, which is not described before it",
                        header.channel_id
                    ));
                };
                let message = (header.log_time, data.len() as u64 + RECORD_HEAD);
                match self.topics.get_mut(topic) {
                    Some(messages) => messages.push(message),
                    None => drop(self.topics.insert(topic.clone(), vec![message])),
                }
                self.lines.count(self.records, LineFound::Read);
            }
            Record::Chunk { header, data } => {
                let content = decompress(&header.compression, &data, header.uncompressed_size)?;
                if header.uncompressed_crc != 0 && crc32fast::hash(&content) != header.uncompressed_crc {
                    return Err("a chunk whose sum does not agree with its content".into());
                }
                self.content(&content)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// The records of a chunk. A chunk within a chunk is none of MCAP's.
    fn content(&mut self, content: &[u8]) -> Result<(), String> {
        let mut rest = content;
        while let Some((head, body)) = rest.split_at_checked(9) {
            let length = u64::from_le_bytes(head[1..].try_into().expect("eight bytes"));
            let record = usize::try_from(length).ok().and_then(|length| body.split_at_checked(length));
            let (data, behind) = record.ok_or("a chunk that ends within a record")?;
            if !matches!(head[0], 3..=5) && head[0] < 0x80 {
                return Err(format!("a record of kind {} within a chunk", head[0]));
            }
            self.record(head[0], data)?;
            rest = behind;
        }
        if rest.is_empty() { Ok(()) } else { Err("a chunk that ends within a record".into()) }
    }

    fn into_bag(self) -> Result<Bag, BagError> {
        if self.topics.is_empty() {
            return Err(BagError::NoMessages(match self.lines.first_refused.first() {
                Some(refused) => format!("no message in it: {}", refused.problem),
                None => "no message in it".into(),
            }));
        }
        let sorted = |(name, mut messages): (String, Vec<(u64, u64)>)| {
            messages.sort_unstable();
            Topic { name, messages }
        };
        Ok(Bag { topics: self.topics.into_iter().map(sorted).collect(), messages: self.lines })
    }
}

/// What was compressed: exactly `size` bytes.
fn decompress(compression: &str, data: &[u8], size: u64) -> Result<Vec<u8>, String> {
    if size > MAX_RECORD as u64 {
        return Err(format!("a chunk of {size} bytes, more than {MAX_RECORD}"));
    }
    let mut content = Vec::new();
    let read = match compression {
        "" => data.take(size + 1).read_to_end(&mut content).map_err(|error| error.to_string()),
        "lz4" => lz4_flex::frame::FrameDecoder::new(data)
            .take(size + 1)
            .read_to_end(&mut content)
            .map_err(|error| error.to_string()),
        "zstd" => zstd(data, size, &mut content),
        other => Err(format!("a chunk compressed by `{other}`, which is neither lz4 nor zstd")),
    };
    read.map_err(|error| format!("a chunk that cannot be decompressed: {error}"))?;
    if content.len() as u64 != size {
        return Err(format!("a chunk that says it has {size} bytes and has others"));
    }
    Ok(content)
}

/// All frames of a text, up to one byte more than `size`.
fn zstd(mut data: &[u8], size: u64, content: &mut Vec<u8>) -> Result<usize, String> {
    while !data.is_empty() && content.len() as u64 <= size {
        let frame = StreamingDecoder::new(&mut data).map_err(|error| error.to_string())?;
        let left = size + 1 - content.len() as u64;
        frame.take(left).read_to_end(content).map_err(|error| error.to_string())?;
    }
    Ok(content.len())
}
