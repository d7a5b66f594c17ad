//! The answer of `rtflash import … --format json`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::parts::{RawMeta, Text, meta};

/// The answer of `rtflash import … --format json`: one line.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ImportAnswer<'a> {
    /// The kind of input: `mcap`, `mqsim`, `fio`, `blkparse` or `msr`.
    pub from: Text<'a>,
    /// Lines that hold a request; of a bag its messages, of a configuration nothing.
    pub read: u64,
    /// Lines that are well-formed and hold something else.
    pub passed_over: u64,
    /// Lines that could not be read. Their content is missing in the answer: the exit status is 3.
    pub refused: u64,
    /// The first twenty of those that could not be read.
    pub first_refused: Vec<RefusedAnswer<'a>>,
    /// For a bag or a trace: the times of its messages or requests, and the bytes that they move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extent: Option<ExtentAnswer>,
    /// For a bag or a trace: why its times are implausible, sentences. Times in another unit are
    /// the usual cause.
    #[serde(default)]
    pub warnings: Vec<Text<'a>>,
    /// For a trace of requests: how many requests of all devices move no data, such as discards and
    /// write zeroes. They are among the lines that are passed over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without_data: Option<u64>,
    /// For a bag: the writes of the recorder, which are the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorder: Option<RecorderAnswer>,
    /// For a bag: its topics.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topics: Option<Vec<TopicAnswer<'a>>>,
    /// For a trace of requests: the most bytes and pages that come in windows of 1, 2, 4, 8, … ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curve: Option<Vec<CurveAnswer>>,
    /// For a configuration: what of it a device cannot keep, sentences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_kept: Option<Vec<Text<'a>>>,
    /// For a configuration: the device, as a task set may have it.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "meta")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub device: Option<RawMeta<'a>>,
    /// For a bag or a trace: the task set.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "meta")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub task_set: Option<RawMeta<'a>>,
}

/// A line that could not be read.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct RefusedAnswer<'a> {
    /// Which line, from 1; of a bag, which record.
    pub line: u64,
    /// The fault of the line.
    pub problem: Text<'a>,
}

/// When the messages of a bag or the requests of a trace came, and how much they move.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ExtentAnswer {
    /// When the first one came, in nanoseconds of the file's own clock.
    pub first_ns: u64,
    /// From the first one to the last one, in nanoseconds.
    pub length_ns: u64,
    /// Bytes of all of them; of a bag, of its other records, too.
    pub bytes: u128,
    /// Bytes a second on average, rounded down; null where all came at one time.
    pub mean_bytes_per_s: Option<u64>,
}

/// The writes of a bag's recorder.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RecorderAnswer {
    /// The most bytes in any window of the flush interval's length: messages, attachments, and
    /// other records in front of the summary.
    pub most_bytes: u64,
    /// When the first such window begins, in nanoseconds of the recorder's clock.
    pub most_begins_ns: u64,
    /// Attachments.
    pub attachments: u64,
    /// Bytes of their records.
    pub attachment_bytes: u128,
    /// Bytes of indexes, heads of chunks, schemas, channels and metadata.
    pub other_bytes: u128,
    /// Bytes of the summary, which is written once, when the recorder stops: it is in no window.
    pub summary_bytes: u64,
    /// Bags in the file, one behind the other.
    pub bags: u64,
    /// Bytes of the file that were not read, as they are damaged or behind damage: the task lacks
    /// them.
    pub unread_bytes: u64,
    /// In how many places: chunks, records, the end of a bag that breaks off.
    pub unread_parts: u64,
}

/// A topic of a bag.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TopicAnswer<'a> {
    /// Its name.
    pub topic: Text<'a>,
    /// How many messages it has.
    pub messages: u64,
    /// Bytes of their records.
    pub bytes: u128,
    /// The most bytes in any window of the flush interval's length.
    pub most_bytes: u64,
    /// When the first such window begins, in nanoseconds of the recorder's clock.
    pub most_begins_ns: u64,
}

/// A point of an arrival curve.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct CurveAnswer {
    /// The window's length. Requests that come at its beginning or later and before its end are in
    /// it.
    pub window_ns: u64,
    /// The most bytes that are read in any such window.
    pub read_bytes: u64,
    /// The most bytes that are written in any such window.
    pub write_bytes: u64,
    /// The most bytes of both together.
    pub bytes: u64,
    /// The most pages that are read in any such window: those that requests touch, each request's
    /// counted anew.
    pub read_pages: u64,
    /// The most pages that are written in any such window.
    pub write_pages: u64,
    /// The most pages of both together. A task of this many pages once a window covers the trace.
    pub pages: u64,
}
