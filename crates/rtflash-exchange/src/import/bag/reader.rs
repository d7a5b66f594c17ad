//! A bag, record by record.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead, Read};

use mcap::records::{Record, op};
use mcap::sans_io::{LinearReadEvent, LinearReader, LinearReaderOptions};
use mcap::{MAGIC, parse_record};

use super::chunk::decompress;
use super::{Bag, BagError, HEAD, MAX_MESSAGES, MAX_RECORD, RECORD_HEAD, Topic};
use crate::import::lines::{LineFound, Lines};

/// Reads the messages of a bag, and of bags behind it in the same file. A damaged chunk or record
/// is refused, and the next one is read. The sum of a chunk is checked if it has one. Fails if it
/// cannot be read, is no bag, or has no messages.
pub fn read_bag(mut from: impl BufRead) -> Result<Bag, BagError> {
    let mut found = BagReader::default();
    loop {
        let broken = found.bag(&mut from)?;
        found.end_of_bag();
        if let Some(BrokenOff { problem, behind }) = broken {
            let unread = behind + io::copy(&mut from, &mut io::sink())?;
            found.refuse(format!("{problem}; {unread} bytes from there on are not read"), unread);
            break;
        }
        if from.fill_buf()?.is_empty() {
            break;
        }
    }
    found.into_bag()
}

/// A bag whose records end in front of its end.
struct BrokenOff {
    problem: String,
    /// Bytes that were read behind the last record.
    behind: u64,
}

/// Damage to a file, and how many bytes are not read for it.
struct Damage {
    problem: String,
    unread: u64,
}

#[derive(Default)]
struct BagReader {
    /// Topics of the channels of this bag.
    channels: HashMap<u16, String>,
    /// Messages of this bag, by channel.
    messages: BTreeMap<u16, Vec<(u64, u64)>>,
    topics: BTreeMap<String, Vec<(u64, u64)>>,
    attachments: Vec<(u64, u64)>,
    others: Vec<(u64, u64)>,
    last: Option<u64>,
    /// Bytes of records in front of all messages.
    ahead: u64,
    in_summary: bool,
    summary_bytes: u64,
    bags: u64,
    unread_bytes: u64,
    unread_parts: u64,
    lines: Lines,
    records: u64,
}

impl BagReader {
    /// Reads one bag, up to its end or to where it breaks off.
    fn bag(&mut self, from: &mut impl Read) -> Result<Option<BrokenOff>, BagError> {
        let options = LinearReaderOptions::default().with_emit_chunks(true).with_record_length_limit(MAX_RECORD);
        let mut reader = LinearReader::new_with_options(options);
        let (mut read, mut of_records) = (0, 0);
        while let Some(event) = reader.next_event() {
            match event {
                Ok(LinearReadEvent::ReadRequest(wanted)) => {
                    let more = retried(|| from.read(reader.insert(wanted)))?;
                    reader.notify_read(more);
                    read += more as u64;
                }
                Ok(LinearReadEvent::Record { data, opcode }) => {
                    if of_records == 0 {
                        self.bags += 1;
                        of_records = MAGIC.len() as u64;
                        self.untimed(of_records);
                    }
                    of_records += (HEAD + data.len()) as u64;
                    self.take(opcode, data);
                }
                Err(error) => {
                    return Ok(Some(BrokenOff { problem: error.to_string(), behind: read - of_records }));
                }
            }
            if self.lines.read + self.others.len() as u64 > MAX_MESSAGES {
                return Err(BagError::TooLarge);
            }
        }
        Ok(None)
    }

    fn refuse(&mut self, problem: String, unread: u64) {
        self.unread_bytes += unread;
        self.unread_parts += u64::from(unread > 0);
        self.lines.count(self.records, LineFound::Refused(problem));
    }

    /// One more record, which is refused if it is damaged.
    fn take(&mut self, opcode: u8, data: &[u8]) {
        self.records += 1;
        self.in_summary |= matches!(opcode, op::DATA_END | op::FOOTER);
        if let Err(Damage { problem, unread }) = self.record(opcode, data) {
            self.refuse(format!("{problem}; {unread} bytes are not read"), unread);
        }
    }

    fn record(&mut self, opcode: u8, data: &[u8]) -> Result<(), Damage> {
        let bytes = (HEAD + data.len()) as u64;
        let all = |problem: String| Damage { problem, unread: bytes };
        // An attachment is not parsed: its time stands at its begin, and no more is asked of it.
        if opcode == op::ATTACHMENT {
            let at = data.first_chunk::<8>().ok_or_else(|| all("an attachment without a time".into()))?;
            self.attachments.push((u64::from_le_bytes(*at), bytes));
            return Ok(());
        }
        let is_read = matches!(opcode, op::CHANNEL | op::MESSAGE | op::CHUNK | op::MESSAGE_INDEX);
        let record = is_read.then(|| parse_record(opcode, data)).transpose();
        match record.map_err(|error| all(error.to_string()))? {
            Some(Record::Message { header, data }) => {
                self.last = Some(header.log_time);
                let message = (header.log_time, data.len() as u64 + RECORD_HEAD);
                self.messages.entry(header.channel_id).or_default().push(message);
                self.lines.count(self.records, LineFound::Read);
            }
            Some(Record::Chunk { header, data: compressed }) => {
                let content = decompress(&header.compression, &compressed, header.uncompressed_size).map_err(all)?;
                if header.uncompressed_crc != 0 && crc32fast::hash(&content) != header.uncompressed_crc {
                    return Err(all("a chunk whose sum does not agree with its content".into()));
                }
                let read = self.content(&content);
                self.untimed(bytes - compressed.len() as u64);
                return read;
            }
            Some(Record::MessageIndex(index)) => {
                let entries = 16 * index.records.len() as u64;
                index.records.iter().for_each(|entry| self.comes(entry.log_time, 16));
                self.untimed(bytes.saturating_sub(entries));
            }
            Some(Record::Channel(channel)) => {
                self.channels.insert(channel.id, channel.topic);
                self.untimed(bytes);
            }
            _ => self.untimed(bytes),
        }
        Ok(())
    }

    /// Bytes that come at a time and are of no message.
    fn comes(&mut self, at: u64, bytes: u64) {
        match self.others.last_mut() {
            Some((last, before)) if *last == at => *before += bytes,
            _ => self.others.push((at, bytes)),
        }
    }

    /// Bytes of a record without a time.
    fn untimed(&mut self, bytes: u64) {
        match self.last {
            _ if self.in_summary => self.summary_bytes += bytes,
            Some(last) => self.comes(last, bytes),
            None => self.ahead += bytes,
        }
    }

    /// The records of a chunk. A chunk within a chunk is none of MCAP's.
    fn content(&mut self, content: &[u8]) -> Result<(), Damage> {
        let mut rest = content;
        let behind = |rest: &[u8], problem: String| Damage { problem, unread: rest.len() as u64 };
        while let Some((head, body)) = rest.split_at_checked(HEAD) {
            let length = u64::from_le_bytes(head[1..].try_into().expect("eight bytes"));
            let record = usize::try_from(length).ok().and_then(|length| body.split_at_checked(length));
            let (data, next) = record.ok_or_else(|| behind(rest, "a chunk that ends within a record".into()))?;
            if !matches!(head[0], op::SCHEMA | op::CHANNEL | op::MESSAGE) && head[0] < 0x80 {
                return Err(behind(rest, format!("a record of kind {} within a chunk", head[0])));
            }
            self.take(head[0], data);
            rest = next;
        }
        if rest.is_empty() { Ok(()) } else { Err(behind(rest, "a chunk that ends within a record".into())) }
    }

    /// The channels of a bag mean nothing to the next one. A damaged chunk can have held the
    /// description of a channel: then the summary, or nothing, has its topic.
    fn end_of_bag(&mut self) {
        self.in_summary = false;
        for (channel, messages) in std::mem::take(&mut self.messages) {
            let topic = self.channels.get(&channel).cloned().unwrap_or_else(|| {
                let count = messages.len();
                self.lines.count(
                    self.records,
                    LineFound::Refused(format!("channel {channel}, which has {count} messages, is described nowhere")),
                );
                format!("(channel {channel})")
            });
            self.topics.entry(topic).or_default().extend(messages);
        }
        self.channels.clear();
    }

    fn into_bag(mut self) -> Result<Bag, BagError> {
        let first = self.topics.values().flatten().map(|(at, _)| *at).min();
        let Some(first) = first else {
            return Err(BagError::NoMessages(match self.lines.first_refused.first() {
                Some(refused) => format!("no message in it: {}", refused.problem),
                None => "no message in it".into(),
            }));
        };
        if self.ahead > 0 {
            self.others.push((first, self.ahead));
        }
        self.attachments.sort_unstable();
        self.others.sort_unstable();
        let sorted = |(name, mut messages): (String, Vec<(u64, u64)>)| {
            messages.sort_unstable();
            Topic { name, messages }
        };
        Ok(Bag {
            topics: self.topics.into_iter().map(sorted).collect(),
            attachments: self.attachments,
            others: self.others,
            summary_bytes: self.summary_bytes,
            bags: self.bags,
            unread_bytes: self.unread_bytes,
            unread_parts: self.unread_parts,
            messages: self.lines,
        })
    }
}

/// Reads again if a signal came between.
fn retried(mut read: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match read() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
