//! The output of `rtflash host fit`, `host protocol` and `host datasheet` with `--format json`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The output of `rtflash host fit --format json`: one line. The device itself, with all of its
/// evidence, is in the file of `--out`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct DriveFitAnswer {
    /// All kinds that were fitted, the chosen one first.
    pub kinds: Vec<DriveKind>,
    /// The factor between odd and even rounds, without a model.
    pub noise: f64,
    /// How far the line is off, by operation and size.
    pub residuals: Vec<DriveResidual>,
    /// Percentiles of rounds that the fit has not seen.
    pub held_out: Vec<DrivePercentile>,
    /// Why no bound can be claimed; null if one can.
    pub no_bound: Option<String>,
    /// The sentences that rest on this measurement.
    pub claims: Vec<String>,
    /// Things to know.
    pub notes: Vec<String>,
}

/// A kind of device in a [`DriveFitAnswer`].
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct DriveKind {
    /// Its name.
    pub kind: String,
    /// How many times too long or too short it predicts percentiles: their geometric mean, 1 is
    /// exact.
    pub factor: f64,
}

/// How far the line is off at a size, in a [`DriveFitAnswer`].
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct DriveResidual {
    /// `read` or `write`.
    pub op: String,
    /// Bytes of each command.
    pub size: u64,
    /// Lone commands of this kind.
    pub commands: u64,
    /// Their median, in nanoseconds.
    pub p50_ns: u64,
    /// The time by the line, in nanoseconds.
    pub predicted_ns: u64,
}

/// A percentile of held-out rounds in a [`DriveFitAnswer`].
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct DrivePercentile {
    /// `read` or `write`.
    pub op: String,
    /// Which one, in ten thousandths; 10,000 is the longest.
    pub of_ten_thousand: u64,
    /// As measured, in nanoseconds.
    pub measured_ns: u64,
    /// As predicted by the chosen kind, in nanoseconds.
    pub predicted_ns: u64,
    /// Times too long or too short.
    pub factor: f64,
    /// The factor between odd and even rounds, without a model; null if there are too few commands.
    pub noise: Option<f64>,
}

/// The output of `rtflash host protocol --format json`: one line.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct DriveProtocolAnswer {
    /// The drive that the job file overwrites.
    pub filename: String,
    /// Bytes of it that are overwritten, from the first one on.
    pub bytes: u64,
    /// How long the measurement takes, in seconds.
    pub seconds: u64,
    /// Rounds of it.
    pub rounds: u64,
    /// How Linux reaches the drive, as `host fit --attach` accepts it; null if this machine does
    /// not state it.
    pub attach: Option<String>,
    /// The job file for fio.
    pub job_file: String,
}

/// The output of `rtflash host datasheet --format json`: one line.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct DatasheetAnswer {
    /// The lifetime in days; null if it was not asked for.
    pub lifetime_days: Option<u64>,
    /// Bytes of the I/O of the least times.
    pub io: u64,
    /// The least time of a read, in nanoseconds; null without its bandwidth.
    pub read_least_ns: Option<u64>,
    /// The least time of a write, in nanoseconds; null without its bandwidth.
    pub write_least_ns: Option<u64>,
    /// The most reads a second; null if it was not stated.
    pub read_iops: Option<u64>,
    /// The most writes a second; null if it was not stated.
    pub write_iops: Option<u64>,
}
