//! The answers of `rtflash export … --format json`, of `check --mqsim` and of `check --fio`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::parts::Text;

/// The answer of `rtflash export … --format json`: one line. `export.json` beside the files repeats
/// it: `check` reads the request from there.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ExportAnswer<'a> {
    /// The target: `mqsim`, `fio`, `femu`, `nvme` or `firmware`.
    pub to: Text<'a>,
    /// The files that were written, `export.json` apart.
    pub files: Vec<Text<'a>>,
    /// For FEMU the option, for a drive the script, for firmware the geometry of its memory in
    /// Rust; absent where other files are written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Text<'a>>,
    /// The differences there, and what is not kept: sentences.
    pub notes: Vec<Text<'a>>,
    /// Bytes of a page there; null where nothing is replayed.
    pub page_bytes: Option<u64>,
    /// The requests of the tasks, in the order of flows or jobs.
    pub streams: Vec<ExportedStream<'a>>,
}

/// The requests of one kind of a task, as they were exported.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ExportedStream<'a> {
    /// Its name there.
    pub name: Text<'a>,
    /// The task's name.
    pub task: Text<'a>,
    /// `read` or `write`.
    pub operation: Text<'a>,
    /// Pages of each request.
    pub pages: u64,
    /// How many requests there are.
    pub requests: u64,
    /// Their period, in nanoseconds.
    pub period_ns: u64,
}

/// The answer of `check --mqsim` and `check --fio` under `--format json`: one line.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ReplayAnswer<'a> {
    /// Whose results they are: `mqsim` or `fio`.
    pub from: Text<'a>,
    /// Whether every request was served and met its deadline; null where the results are too coarse
    /// to tell, or a stream lagged.
    pub holds: Option<bool>,
    /// The requests of the tasks.
    pub streams: Vec<ReplayLine<'a>>,
}

/// The outcome of the requests of one kind of a task.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ReplayLine<'a> {
    /// The task's name.
    pub task: Text<'a>,
    /// `read` or `write`.
    pub operation: Text<'a>,
    /// Requests that were exported.
    pub requests: u64,
    /// Requests that were handed in there.
    pub handed_in: u64,
    /// Requests that were served.
    pub served: u64,
    /// Their relative deadline, in nanoseconds.
    pub deadline_ns: u64,
    /// The median of those that were handed in, in nanoseconds; null if the result lacks it, or if
    /// fewer than ten requests are above it.
    pub p50_ns: Option<u64>,
    /// Their 99th percentile, in the same way.
    pub p99_ns: Option<u64>,
    /// Their 99.9th percentile, in the same way.
    pub p999_ns: Option<u64>,
    /// The longest of them took so long at least, in nanoseconds; null where none was served.
    pub longest_ns: Option<u64>,
    /// How long they were handed in and served, in nanoseconds; null where each is handed in at its
    /// time, whatever became of those in front of it.
    pub lasted_ns: Option<u64>,
    /// Whether that was over 1 % longer than their periods: then the drive had less to do than the
    /// task set asks for.
    pub lagged: bool,
    /// Whether all were in time; null where the result is too coarse to tell, or where they lagged
    /// and none was late by itself.
    pub in_time: Option<bool>,
}
