//! The answer of `rtflash serve --format json`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::parts::Text;

/// The answer of `rtflash serve --format json` at its end, on one line. Times are of the device's
/// clock, but for `behind_ns`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ServeAnswer<'a> {
    /// Whether no request was late and no check fails.
    pub passes: bool,
    /// How long the device ran.
    pub duration_ns: u64,
    /// How many times as long everything took on the clock.
    pub slow: u32,
    /// By how much the machine was behind that, at most, on the clock.
    pub behind_ns: u64,
    /// Clients that took an export.
    pub clients: u64,
    /// Connections that were ended because what came was not of the protocol.
    pub malformed: u64,
    /// Commands that the device did not take: writes of zones that did not go on.
    pub refused: u64,
    /// Whether more was pending than can be kept, so that all ended.
    pub overloaded: bool,
    /// The tasks, in order.
    pub exports: Vec<ServedTask<'a>>,
    /// The checks that fail.
    pub broken: Vec<Text<'a>>,
}

/// A task's export, in a [`ServeAnswer`].
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ServedTask<'a> {
    /// The task's name, which is the export's.
    pub task: Text<'a>,
    /// Bytes of its range.
    pub bytes: u64,
    /// Its reads; null where the task does not read.
    pub read: Option<ServedDirection>,
    /// Its writes; null where the task does not write.
    pub write: Option<ServedDirection>,
    /// Pages that clients have trimmed; a page counts as often as it was.
    pub trimmed_pages: u64,
}

/// The outcome of reads or writes, in a [`ServedTask`].
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ServedDirection {
    /// Commands of clients that ended.
    pub commands: u64,
    /// Pages of them.
    pub pages: u64,
    /// Commands that came sooner than the task declares, or were larger, so that a part of them
    /// waited.
    pub held: u64,
    /// The longest time from a command's arrival to its end, waiting included.
    pub longest_command_ns: u64,
    /// Requests that the device had of them.
    pub requests: u64,
    /// The longest time from a request's nominal arrival to its end.
    pub longest_ns: u64,
    /// Their deadline.
    pub deadline_ns: u64,
    /// Requests that ended after it.
    pub late: u64,
}
