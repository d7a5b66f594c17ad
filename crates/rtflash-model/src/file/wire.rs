//! The written form of task sets and allocations, as serde and schemars see it. The doc comments
//! are the schema's descriptions.

pub(super) mod device;
mod scalars;

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::alternatives;
use crate::task::Access;
use device::{ChangedDevice, FullDevice};
pub(super) use scalars::{Duration, LongerThanZero, Time, TimeOrShare};

/// A real-time I/O task set with the flash device that it runs on.
#[derive(Serialize, JsonSchema)]
#[serde(rename = "TaskSet", deny_unknown_fields)]
pub(super) struct TaskSetWire<'a> {
    /// The flash device.
    pub(super) device: DeviceWire,
    /// The real-time tasks. Names differ, also from those of the jobs.
    pub(super) tasks: Vec<TaskWire<'a>>,
    /// Streams of I/O jobs that are not real-time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) jobs: Option<Vec<JobWire<'a>>>,
    /// The file's remarks about itself: any value; it is passed through.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub(super) meta: Option<&'a RawValue>,
}

/// A flash device: a profile's name, a profile with some fields changed, or all fields.
#[derive(Serialize, JsonSchema)]
#[serde(rename = "Device", untagged)]
pub(super) enum DeviceWire {
    Profile(ProfileName),
    /// Only read, never written: a changed profile is written in full.
    #[allow(dead_code)]
    Changed(ChangedDevice),
    Full(FullDevice),
}

/// The name of a device that rtflash knows.
#[derive(Serialize)]
pub(super) struct ProfileName(pub(super) &'static str);

/// A real-time I/O task, with a read request, a write request, or both.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename = "Task", deny_unknown_fields)]
#[schemars(transform = alternatives::task)]
#[schemars(extend("anyOf" = [
    { "required": ["read"], "properties": { "read": { "not": { "type": "null" } } } },
    { "required": ["write"], "properties": { "write": { "not": { "type": "null" } } } }
]))]
pub(super) struct TaskWire<'a> {
    /// Its name among all tasks and jobs.
    #[schemars(length(min = 1))]
    pub(super) name: &'a str,
    /// (r, T^r).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) read: Option<RequestWire>,
    /// (w, T^w).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) write: Option<RequestWire>,
    /// Pages that it keeps: its data. No fewer than a sequential request of it has, no more than
    /// the logical pages of the device.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub(super) data_pages: Option<u64>,
}

/// A number of pages every period, each request due a deadline after its nominal arrival. Two of
/// amount (`pages` or `size`), period (`period` or `every`) and `rate` are given.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename = "Request", deny_unknown_fields)]
#[schemars(transform = alternatives::request)]
pub(super) struct RequestWire {
    /// Pages a request.
    #[schemars(range(min = 1))]
    pub(super) pages: u64,
    /// T: the period, the least time between two nominal arrivals.
    pub(super) period: LongerThanZero,
    /// D: the relative deadline, counted from the nominal arrival; the period where it is left out.
    /// Longer than the period where requests wait in a buffer of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) deadline: Option<LongerThanZero>,
    /// J: the release jitter, the longest time from the nominal arrival to the release. Shorter
    /// than the deadline and the period; none where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) jitter: Option<Duration>,
    /// Which pages; `random` where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) access: Option<Access>,
}

/// A stream of I/O jobs that are not real-time and that read or write pages, or both.
#[derive(Serialize, JsonSchema)]
#[serde(rename = "Job", deny_unknown_fields)]
#[schemars(transform = alternatives::job)]
pub(super) struct JobWire<'a> {
    /// Its name among all jobs and tasks.
    #[schemars(length(min = 1))]
    pub(super) name: &'a str,
    /// Pages that each job reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) read_pages: Option<u64>,
    /// Pages that each job writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) write_pages: Option<u64>,
    /// When they arrive.
    pub(super) arrivals: ArrivalsWire<'a>,
}

/// When jobs arrive.
#[derive(Serialize, JsonSchema)]
#[serde(rename = "Arrivals", rename_all = "lowercase")]
pub(super) enum ArrivalsWire<'a> {
    /// One at time 0 and one after each such time, which may be a share such as "1/30s".
    Every(TimeOrShare),
    /// A fresh gap between these two, drawn each time; the shorter one first.
    Uniform([LongerThanZero; 2]),
    /// One at time 0, and a fresh gap with this mean and an exponential distribution, drawn each
    /// time.
    Poisson(TimeOrShare),
    /// At these times after the start, in order.
    At(#[schemars(with = "Vec<Time>")] Cow<'a, [Time]>),
    /// Several at once.
    #[serde(untagged)]
    Bursts(BurstsWire),
}

/// Jobs that arrive several at once.
#[derive(Serialize, JsonSchema)]
#[serde(rename = "Bursts", deny_unknown_fields)]
pub(super) struct BurstsWire {
    /// The time between two bursts. The first one is at time 0.
    pub(super) every: TimeOrShare,
    /// The jobs of a burst.
    #[schemars(range(min = 1))]
    pub(super) burst: u64,
}

/// The kinds of lines where an allocation is expected: an allocation, or another line that `rtflash
/// alloc --format json` prints.
#[derive(JsonSchema)]
#[schemars(rename = "AllocationLine", untagged)]
#[allow(dead_code)]
pub(super) enum AllocationLine {
    Allocation(AllocationWire),
    Nothing(NoAllocation),
    Error(NoAnswer),
}

/// The record of an allocation that was not found. Other fields are passed over.
#[derive(JsonSchema)]
#[allow(dead_code)]
pub(super) struct NoAllocation {
    /// The format of the line.
    format: Option<AnswerFormat>,
    /// False: the allocator found none. Null: the allocator cannot tell.
    #[schemars(required, extend("enum" = [false, null]))]
    schedulable: Option<bool>,
    /// None.
    #[schemars(length(max = 0))]
    clusters: Option<Vec<ClusterWire>>,
}

/// The record of a task set that is wrong. Other fields are passed over.
#[derive(JsonSchema)]
#[allow(dead_code)]
pub(super) struct NoAnswer {
    /// The format of the line.
    format: Option<AnswerFormat>,
    /// The fault.
    error: ErrorWire,
}

/// The fault. Other fields are passed over.
#[derive(JsonSchema)]
#[schemars(rename = "Error")]
#[allow(dead_code)]
pub(super) struct ErrorWire {
    /// In words.
    message: String,
}

/// The format of answers that is read.
pub(super) struct AnswerFormat;

/// An allocation: clusters of chips, and the tasks that each cluster serves. Other fields are
/// passed over.
#[derive(JsonSchema)]
#[schemars(rename = "Allocation")]
#[allow(dead_code)]
pub(super) struct AllocationWire {
    /// The format of the line; it may be left out.
    format: Option<AnswerFormat>,
    /// The clusters. No chip is in two, and every task is in one.
    clusters: Vec<ClusterWire>,
}

/// A cluster. Other fields are passed over.
#[derive(JsonSchema)]
#[schemars(rename = "Cluster")]
#[allow(dead_code)]
pub(super) struct ClusterWire {
    /// Its chips: numbers from 0, channel by channel.
    #[schemars(length(min = 1), extend("uniqueItems" = true))]
    chips: Vec<u32>,
    /// The names of its tasks. If every task of the set is in a cluster, other names are those of
    /// tasks that are gone.
    #[schemars(extend("uniqueItems" = true))]
    tasks: Option<Vec<String>>,
    /// The promise of a sound analysis to it.
    certificate: Option<CertificateWire>,
    /// The stated reliance, which `check` judges.
    relies_on: Option<RelianceWire>,
}

/// The reliance of a cluster that holds, from the least to the most.
#[derive(JsonSchema)]
#[schemars(rename = "Reliance", rename_all = "lowercase")]
#[allow(dead_code)]
pub(super) enum RelianceWire {
    /// Nothing but its certificate.
    Nothing,
    /// Clusters on its channels that move no more than their tasks do.
    Neighbours,
    /// And a bus that serves first come, first served.
    Queue,
}

/// The promise of a sound analysis to a cluster: the device runs by it. Other fields are passed
/// over.
#[derive(JsonSchema)]
#[schemars(rename = "Certificate")]
#[allow(dead_code)]
pub(super) struct CertificateWire {
    /// How pages are placed.
    kind: KindWire,
    /// U_s in thousandths.
    #[schemars(range(max = 1000))]
    server_thousandths: Option<u32>,
    /// D_g; null where no real-time task writes.
    gc_deadline_ns: Option<u64>,
    /// α; null, as the next three, where nothing is ever written.
    reclaimed_pages: Option<u64>,
    /// H.
    reserve_pages: Option<u64>,
    /// v.
    victim_pages: Option<u64>,
    /// F.
    open_blocks: Option<u64>,
    /// The tightest L; null without tasks.
    tightest_ns: Option<u64>,
    /// Its slack.
    slack_ns: Option<i64>,
    /// Whether a superblock may backfill (true). The promise to a superblock that may not supposes
    /// that it does not.
    backfill: Option<bool>,
}

/// How pages are placed: `stripe`, `cached-stripe`, `superblock`, `cached-superblock` or `zoned`.
#[derive(JsonSchema)]
#[schemars(rename = "Placement", rename_all = "kebab-case")]
#[allow(dead_code)]
pub(super) enum KindWire {
    /// The address of a page fixes its chip.
    Stripe,
    /// The address of a page fixes its chip, and chips use two page registers.
    CachedStripe,
    /// Rows are striped over the chips as they are written.
    Superblock,
    /// Rows are striped over the chips as they are written, and chips use two page registers.
    CachedSuperblock,
    /// Each task has zones of its own: blocks on every chip, which its writes go round in.
    Zoned,
}
