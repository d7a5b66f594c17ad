//! What `rtflash soak --format json` prints.

#![allow(missing_docs)] // What a name says the schema does not say again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::parts::Text;

/// What `rtflash soak --format json` prints.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct SoakAnswer {
    /// The seed that repeats the search.
    pub seed: u64,
    /// Cases that were asked for.
    pub runs: u64,
    /// Cases that were over when a signal ended the search; left out where it ended by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped_after: Option<u64>,
    /// Sets that the analysis accepts, where each is run many times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sets: Option<u64>,
    /// Cases that the analysis accepts and that were run.
    pub judged: u64,
    /// The mean real-time load of the fullest cluster of each case, garbage collection included
    /// (world `sound`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_load: Option<f64>,
    /// What broke.
    pub broken: Vec<BrokenLine>,
    /// What a term that is left out of the test is for (`--without`). What was accepted so was no
    /// promise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<WithoutLine>,
}

/// A term that was left out of the test, and what broke.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct WithoutLine {
    pub term: Text<'static>,
    /// The term in the letters of docs/analysis.md.
    pub letters: Text<'static>,
    /// Sets that the test accepts without it. Where certificates state the same with the term, it
    /// rejects each of them.
    pub sets: u64,
    /// Runs of them.
    pub runs: u64,
    /// Runs in which a request or a job of garbage collection was late.
    pub late: u64,
    /// The first of these, else the first in which anything broke.
    pub first_run: Option<u64>,
    /// The checks that fail, each with the number of runs.
    pub checks: Vec<CheckCount>,
    /// A small set with which it does. `exec` refuses it, as nothing is promised.
    #[schemars(with = "serde_json::Value")]
    pub task_set: Option<Box<RawValue>>,
}

/// How often a check failed.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct CheckCount {
    pub name: Text<'static>,
    pub runs: u64,
}

/// An assumption that broke.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct BrokenLine {
    pub name: Text<'static>,
    pub runs: u64,
    pub first_run: u64,
    pub bound: Option<u64>,
    pub observed: Option<u64>,
    /// The command that runs the smallest case found, with the task set on standard input.
    pub command: String,
    /// The smallest case found.
    #[schemars(with = "serde_json::Value")]
    pub task_set: Option<Box<RawValue>>,
}

/// What `rtflash soak --climb --format json` prints.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ClimbAnswer {
    /// The seed that repeats the search.
    pub seed: u64,
    /// Runs of each line, at most.
    pub runs: u64,
    /// The runs of all lines until a signal stopped the search; left out if none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_after: Option<u64>,
    /// How far it came.
    pub climbed: Vec<ClimbLine>,
}

/// How late a climber makes one request.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ClimbLine {
    /// What the row of the table "What is necessary" leaves out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<Text<'static>>,
    /// What ran it: `executor`, or `channel`, a plain simulation of one channel.
    pub on: Text<'static>,
    pub request: String,
    /// The latest end found, counted from the deadline: above zero if a job was late. In
    /// nanoseconds on the executor, in units of the row on the channel; null where no job was due.
    pub latest: Option<i64>,
    pub late: bool,
    /// Runs that were made.
    pub runs: u64,
    /// With which arrivals, of each request in the order of the set.
    pub arrivals: Vec<ArrivalsLine>,
}

/// When the jobs of a request arrive.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ArrivalsLine {
    pub request: String,
    /// The first one, in units.
    pub first: u64,
    /// So much more than a period lies between two, in units; behind the list its last entry holds.
    pub gaps: Vec<u64>,
    /// How long its operations take, where they may be shorter: thousandths of the way from the
    /// shortest to the longest.
    pub length: u16,
    /// Nanoseconds of a unit; null on the channel.
    pub unit_ns: Option<u64>,
}
