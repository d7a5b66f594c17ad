//! The task that could not be placed, and why. A load, a demand and a number of pages each have a
//! name of their own.

use rtflash_alloc::allocator::{Outcome, Unplaced, unplaced_by_part_ftl};
use rtflash_analysis::reason::{NoRoomForGc, Reason, TooLong};
use rtflash_model::TaskSet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::parts::{Text, task_name, task_names};

/// The task that could not be placed, in an answer.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct UnplacedAnswer<'a> {
    /// Its name.
    pub task: Text<'a>,
    /// Why: `load`, utilizations sum to too much; `demand`, demand and blocking exceed an interval;
    /// `data`, the declared data do not fit; `request`, one request can never be served: it takes
    /// longer than its period, or the write requests are too large for the blocks that there are.
    pub reason: Text<'static>,
    /// The lowest U that a cluster would have reached with it; where its cluster was given, or left
    /// overloaded by a merge, U of that cluster with all its tasks. Under the sound analyses the
    /// long-run load. Null where it was no utilization that was too much.
    pub best_utilization: Option<f64>,
    /// That cluster's position when the algorithm gave up; with `part-ftl`, 0 for its data chips.
    pub cluster: usize,
    /// Its number of chips.
    pub chips: u32,
    /// The other tasks in it.
    pub with: Vec<Text<'a>>,
    /// `demand`: L, the length of an interval that is too short.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval_ns: Option<u64>,
    /// `demand`: dbf(L) + B(L), what there is to do in it, blocking included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub demand_ns: Option<u128>,
    /// `demand`: dbf(L) + B(L) − L.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excess_ns: Option<u128>,
    /// `data`: pages of data of the cluster's tasks, this one's included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_pages: Option<u128>,
    /// `data`: logical pages that they take: as many, or in a stripe each task's rounded up to
    /// whole rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needed_pages: Option<u128>,
    /// `data`: logical pages of the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logical_pages: Option<u128>,
    /// `data`: `data_pages` in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_bytes: Option<u128>,
    /// `data`: `needed_pages` in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needed_bytes: Option<u128>,
    /// `data`: `logical_pages` in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logical_bytes: Option<u128>,
    /// `request`, where it takes too long: `read` or `write`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<Text<'static>>,
    /// `request`, where it takes too long: its pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_pages: Option<u64>,
    /// `request`, where it takes too long: the least time that it takes on any cluster of the
    /// device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_ns: Option<u128>,
    /// `request`, where it takes too long: what nothing interrupts and can have begun before it,
    /// such as an erase that garbage collection needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocking_ns: Option<u128>,
    /// `request`, where it takes too long: its period, which is not longer, or `window_ns` is
    /// shorter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period_ns: Option<u64>,
    /// `request`, where it takes too long and has a deadline or a jitter: the least time from its
    /// release to its deadline, which is shorter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_ns: Option<u64>,
    /// `request`, where the write requests are too large: blocks that they and the data need of
    /// each chip, at least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needed_blocks: Option<u64>,
    /// `request`, where the write requests are too large: blocks of a chip.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u64>,
}

impl<'a> UnplacedAnswer<'a> {
    /// The answer for a task, its reason and its cluster.
    fn new(set: &'a TaskSet, unplaced: &Unplaced) -> UnplacedAnswer<'a> {
        let blank = UnplacedAnswer {
            task: task_name(set, unplaced.task).into(),
            reason: unplaced.reason.name().into(),
            best_utilization: unplaced.best_utilization(),
            cluster: unplaced.cluster,
            chips: unplaced.chips,
            with: task_names(set, &unplaced.others),
            ..UnplacedAnswer::default()
        };
        match unplaced.reason {
            Reason::Load { .. } => blank,
            Reason::Demand(excess) => UnplacedAnswer {
                interval_ns: Some(excess.interval.as_ns()),
                demand_ns: Some(excess.demand_ns),
                excess_ns: Some(excess.excess_ns()),
                ..blank
            },
            Reason::Data(space) => {
                let device = set.device();
                UnplacedAnswer {
                    data_pages: Some(space.data_pages),
                    needed_pages: Some(space.needed_pages),
                    logical_pages: Some(space.logical_pages),
                    data_bytes: Some(device.bytes(space.data_pages)),
                    needed_bytes: Some(device.bytes(space.needed_pages)),
                    logical_bytes: Some(device.bytes(space.logical_pages)),
                    ..blank
                }
            }
            Reason::Request(TooLong { writes, pages, least_ns, blocking_ns, period, window, .. }) => UnplacedAnswer {
                request: Some(if writes { "write" } else { "read" }.into()),
                request_pages: Some(pages),
                request_ns: Some(least_ns),
                blocking_ns: (blocking_ns > 0).then_some(blocking_ns),
                period_ns: Some(period.as_ns()),
                window_ns: (window < period).then(|| window.as_ns()),
                ..blank
            },
            Reason::Blocks(NoRoomForGc { needed_blocks, blocks }) => {
                UnplacedAnswer { needed_blocks: Some(needed_blocks), blocks: Some(blocks), ..blank }
            }
        }
    }

    /// The answer for an outcome: where it is a no, and PaRT-FTL's, whose test names no task, where
    /// the data do not fit.
    pub fn of(set: &'a TaskSet, outcome: &Outcome) -> Option<UnplacedAnswer<'a>> {
        match outcome {
            Outcome::NotSchedulable(failure) => Some(UnplacedAnswer::new(set, &failure.unplaced)),
            Outcome::Partitioned(verdict) => {
                unplaced_by_part_ftl(verdict, set).map(|unplaced| UnplacedAnswer::new(set, &unplaced))
            }
            Outcome::Schedulable(_) | Outcome::Impossible(_) | Outcome::CannotTell(_) => None,
        }
    }
}
