//! The JSON answer of `exec`, and of `check` for a trace.

mod run;
mod tables;

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::parts::{Nanoseconds, RawMeta, Text, meta};
use crate::verdicts::Verdicts;

/// The answer of `rtflash exec --format json` for one task set, on one line.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ExecAnswer<'a> {
    /// "pass" where no check fails, "fail" where one does, null where nothing could be run.
    pub verdict: Option<Text<'static>>,
    /// The verdict of Theorem 1 on the set, and its guarantee.
    #[serde(flatten)]
    pub verdicts: Verdicts,
    /// Why nothing could be run; or what the allocation relies on beyond what was granted, which
    /// makes the exit status 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The algorithm that divided the chips; null for an allocation that was given.
    pub algorithm: Option<Text<'a>>,
    /// The analysis whose costs, delays, periods and shares were obeyed.
    pub analysis: Text<'a>,
    /// Whether the analysis accepts the allocation.
    pub predicted_schedulable: Option<bool>,
    /// The reliance of clusters with certificates that hold: `nothing`, `neighbours` or `queue`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relies_on: Option<Text<'static>>,
    /// The part of that reliance that the run does not obey, if any: its late requests break no
    /// promise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disobeys: Option<String>,
    /// Notes for the reader: on jobs that get nothing, erases that are not suspended, and the trace
    /// of a run that was stopped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// How it was run.
    #[serde(flatten)]
    pub settings: Settings,
    /// The finding of every checker.
    pub checks: Vec<CheckLine<'a>>,
    /// Real-time reads and writes.
    pub requests: Vec<JobsLine<'a>>,
    /// GC jobs.
    pub gc: Vec<JobsLine<'a>>,
    /// Jobs that are not real-time.
    pub jobs: Vec<JobsLine<'a>>,
    /// All operations that were begun.
    pub operations: OperationCounts,
    /// Pages a second that were read and written for jobs that are not real-time.
    pub non_rt_pages_per_s: f64,
    /// The chip of the device that was erased most often; null where nothing was run.
    pub wear: Option<WearLine>,
    /// The clusters, in order.
    pub clusters: Vec<ClusterLine<'a>>,
    /// The chips, in order.
    pub chips: Vec<ChipLine>,
    /// The channels, in order.
    pub channels: Vec<ChannelLine>,
    /// The task set's own `meta`, as it was written.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "meta")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub meta: Option<RawMeta<'a>>,
}

/// How a run was made; for a trace, as far as it tells.
#[derive(Debug, Default, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Settings {
    /// How long, in simulated time.
    pub duration_ns: u64,
    /// How long it was to be, where a signal ended it early; else left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped_before_ns: Option<u64>,
    /// `serial` or `parallel`.
    pub dispatch: Text<'static>,
    /// `tbs` or `background`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<Text<'static>>,
    /// `actual` or `worst`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub victims: Option<Text<'static>>,
    /// `worst`, `random` or `fresh`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aging: Option<Text<'static>>,
    /// `uniform`, `sequential`, `hot-cold` or `one-chip`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<Text<'static>>,
    /// `worst`, `best` or `random`: how long operations take where the device states ranges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<Text<'static>>,
    /// `actual` or `worst`: what a page waits for its bus, with certificates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<Text<'static>>,
    /// `periodic`, `at-erases`, `random` or `file`: when the first requests are released.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phases: Option<Text<'static>>,
    /// True where `--releases` states releases, which goes before `phases`, `arrivals` and `times`;
    /// else left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub releases: Option<bool>,
    /// `sporadic` where requests come later than a period after each other; else left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Text<'static>>,
    /// True where requests that come early are held, and larger ones cut; else left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub police: Option<bool>,
    /// The trims of tasks, as `--trim` says it; left out if nothing is trimmed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trims: Option<Vec<Text<'static>>>,
    /// `round-robin` where the bus is not first come, first served; else left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arbitration: Option<Text<'static>>,
    /// `highest` or `random` where ties are not broken as usual; else left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ties: Option<Text<'static>>,
    /// Whether idle chips of a superblock take pages of other requests, with certificates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backfill: Option<bool>,
    /// Failures in a thousand programs and erases that can fail; left out if none do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faults: Option<u16>,
    /// The seed of the randomness.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// A check in an [`ExecAnswer`]. Bound and observation are those of the worst observation: bounds
/// differ from task to task.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct CheckLine<'a> {
    /// The assumption's name.
    pub name: Text<'a>,
    /// The assumption in a sentence.
    pub assumption: Text<'a>,
    /// The unit of bound and observation: `ns`, `pages` or `times`.
    pub unit: Text<'static>,
    /// The promised value; null if nothing was observed.
    pub bound: Option<u64>,
    /// The worst that was observed.
    pub observed: Option<u64>,
    /// Whether no observation was above its bound; null where nothing of the kind was observed.
    pub holds: Option<bool>,
    /// How many were.
    pub violations: u64,
    /// When and where the worst happened.
    pub worst: Option<WorstLine>,
}

/// When and where the worst happened.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct WorstLine {
    /// When.
    pub at_ns: u64,
    /// For which job.
    pub job: Option<String>,
    /// In which cluster.
    pub cluster: Option<u32>,
    /// On which chip.
    pub chip: Option<u32>,
}

/// The jobs of one source.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct JobsLine<'a> {
    /// The task's name; for jobs that are not real-time, the stream's.
    pub task: Text<'a>,
    /// The stream's name, for jobs that are not real-time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<Text<'a>>,
    /// `read`, `write`, `gc` or `server`.
    pub kind: Text<'static>,
    /// Jobs released.
    pub released: u64,
    /// Jobs complete.
    pub completed: u64,
    /// Jobs released and not complete.
    pub pending: u64,
    /// Complete jobs that were late.
    pub misses: u64,
    /// Pending jobs that are late.
    pub overdue: u64,
    /// Pending jobs that found the queue full; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_taken: Option<NotTaken>,
    /// The longest response time; null where no job is complete.
    pub max_response_ns: Option<u64>,
    /// The relative deadline; null for jobs that are not real-time: each has its own, or none.
    pub deadline_ns: Option<Nanoseconds>,
    /// Half of all response times are not longer.
    pub p50_ns: Option<u64>,
    /// 99 of 100 are not longer.
    pub p99_ns: Option<u64>,
    /// 999 of 1000 are not longer.
    pub p999_ns: Option<u64>,
}

/// Jobs of a stream that outgrows its server.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub struct NotTaken {
    /// How many found the queue full.
    pub jobs: u64,
    /// When the first of them came.
    pub since_ns: u64,
}

/// Operations that were begun.
#[derive(Debug, Default, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub struct OperationCounts {
    /// Pages read, GC included.
    pub reads: u64,
    /// Pages programmed, GC included.
    pub programs: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Pages moved over buses.
    pub transfers: u64,
}

/// A cluster in an [`ExecAnswer`].
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ClusterLine<'a> {
    /// Its chips.
    pub chips: Cow<'a, [u32]>,
    /// The names of its tasks.
    pub tasks: Vec<Text<'a>>,
    /// The mean share of time in which its chips were occupied.
    #[serde(rename = "use")]
    pub used: f64,
    /// GC passes.
    pub gc_passes: u64,
    /// Pages that GC copied.
    pub pages_copied: u64,
    /// Pages that tasks and jobs wrote.
    pub pages_written: u64,
    /// Pages that tasks trimmed, each time that one was; left out where none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages_trimmed: Option<u64>,
    /// Pages programmed over pages written; null where none was.
    pub write_amplification: Option<f64>,
    /// Pages a second that were read and written for jobs that are not real-time.
    pub non_rt_pages_per_s: f64,
    /// The chip of the cluster that was erased most often.
    pub wear: Option<WearLine>,
}

/// The chip that was erased most often, the lowest among equals, as measured from the start of the
/// run to its end.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub struct WearLine {
    /// The span that was measured: the whole run.
    pub measured_ns: u64,
    /// The chip.
    pub chip: u32,
    /// Its erases.
    pub erases: u64,
    /// As many a day.
    pub erases_per_day: f64,
    /// How often each of its blocks was erased, in the mean. Below one, what was on the device at
    /// the start is still at work.
    pub turns: f64,
    /// Years of 365.25 days until its blocks have been erased as often as they endure, all alike,
    /// if it goes on so; null where it was not erased, or the device has no `erase_cycles`.
    pub lifetime_years: Option<f64>,
}

/// A chip in an [`ExecAnswer`].
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ChipLine {
    /// Its number.
    pub chip: usize,
    /// The share of time in which it was occupied.
    #[serde(rename = "use")]
    pub used: f64,
    /// Pages read.
    pub reads: u64,
    /// Pages programmed.
    pub programs: u64,
    /// Blocks erased.
    pub erases: u64,
}

/// A channel in an [`ExecAnswer`].
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ChannelLine {
    /// Its number.
    pub channel: usize,
    /// The share of time in which its bus was occupied.
    #[serde(rename = "use")]
    pub used: f64,
    /// Pages moved.
    pub transfers: u64,
}
