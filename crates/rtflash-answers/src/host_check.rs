//! The output of `rtflash host check --format json`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The output of `rtflash host check --format json`: one line.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct DriveCheckAnswer {
    /// Whether the drive kept all limits; null if no command had a limit.
    pub holds: Option<bool>,
    /// The limits of the fitted device, one for each operation and size.
    pub limits: Vec<DriveLimit>,
}

/// The limits of one operation and size in a [`DriveCheckAnswer`], next to what was measured.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct DriveLimit {
    /// `read` or `write`.
    pub op: String,
    /// Bytes of each command.
    pub size: u64,
    /// Commands of this kind that were measured.
    pub commands: u64,
    /// The fit's 99th percentile, in nanoseconds.
    pub above_ns: u64,
    /// The most commands above it in any 1,000 in a row.
    pub above: u64,
    /// The most that the limit permits.
    pub most: u64,
    /// The longest command, in nanoseconds; null if there was none.
    pub longest_ns: Option<u64>,
    /// The limit for a single command, in nanoseconds.
    pub limit_ns: u64,
    /// Whether both limits were kept; null without a command.
    pub holds: Option<bool>,
}
