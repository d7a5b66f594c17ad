//! The checks of dispatching and garbage collection: Theorem 1, or certificates.

use rtflash_model::{ChipId, ClusterId, Instant, PerId, Span};
use rtflash_plan::resume::{NoState, Rest, Resume, State, resume};
use rtflash_plan::{Certified, Dispatch, Kind, Plan, Promise, Releases};
use serde::{Deserialize, Serialize};

use super::gauge::Gauges;
use crate::WatchedChip;
use crate::checks::blocking::Blocking;
use crate::checks::collect::Collections;
use crate::checks::failures::FailedBlocks;
use crate::checks::longest::lateness;
use crate::checks::order::{ParallelEdf, SerialEdf, SerialIdling};
use crate::checks::passes::Passes;
use crate::checks::processors::Processors;
use crate::shadow::jobs::Pending;

#[derive(Debug)]
pub(super) enum Rules<'a> {
    Utilization(Box<ByUtilization>),
    Certified(Box<ByCertificates<'a>>),
}

/// Those of a plan that is run by Theorem 1.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ByUtilization {
    pub(super) passes: Passes,
    pub(super) order: Order,
    pub(super) blocking: Blocking,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Order {
    Serial(SerialEdf, SerialIdling),
    Parallel(ParallelEdf),
}

#[derive(Debug)]
pub(super) struct ByCertificates<'a> {
    pub(super) certified: &'a PerId<ClusterId, Certified>,
    pub(super) processors: Processors,
    pub(super) collections: Collections,
    pub(super) failures: FailedBlocks,
}

resume!(['a] ByCertificates<'a> {
    values: [processors, collections, failures],
    parts: [],
    lists: [],
    made: [certified],
});

impl Resume for Rules<'_> {
    fn save(&self, state: &mut State<'_>) {
        match self {
            Rules::Utilization(by) => state.put(&**by),
            Rules::Certified(by) => by.save(state),
        }
    }

    fn restore(&mut self, rest: &mut Rest<'_>) -> Result<(), NoState> {
        match self {
            Rules::Utilization(by) => **by = rest.take()?,
            Rules::Certified(by) => by.restore(rest)?,
        }
        Ok(())
    }
}

impl<'a> Rules<'a> {
    pub(super) fn new(
        plan: &'a Plan,
        dispatch: Dispatch,
        clusters: &[ClusterId],
        watched: &PerId<ChipId, Option<WatchedChip>>,
    ) -> Rules<'a> {
        match plan.promise() {
            Promise::Utilization => Rules::Utilization(Box::new(ByUtilization {
                passes: Passes::new(plan, dispatch, watched.iter().flatten().count()),
                order: match dispatch {
                    Dispatch::Serial => Order::Serial(SerialEdf::new(plan), SerialIdling::new(plan)),
                    Dispatch::Parallel => Order::Parallel(ParallelEdf::new(plan, clusters)),
                },
                blocking: Blocking::new(plan, dispatch),
            })),
            Promise::Certified(certified) => Rules::Certified(Box::new(ByCertificates {
                certified,
                processors: Processors::new(plan, certified, clusters),
                collections: Collections::new(plan, certified, clusters, watched),
                failures: FailedBlocks::new(plan),
            })),
        }
    }

    pub(super) fn is_superblock(&self, cluster: ClusterId) -> bool {
        matches!(self, Rules::Certified(by) if !by.certified[cluster].is_stripe())
    }

    /// How late a job may be: a server's under a certificate alone.
    pub(super) fn lateness(&self, plan: &Plan, pending: &Pending) -> Span {
        match self {
            Rules::Certified(by) if pending.release.kind == Kind::Server => lateness(plan, by.certified, pending),
            Rules::Utilization(_) | Rules::Certified(_) => Span::ZERO,
        }
    }

    pub(super) fn serial(&mut self) -> Option<&mut SerialEdf> {
        let Rules::Utilization(by) = self else { return None };
        match &mut by.order {
            Order::Serial(edf, _) => Some(edf),
            Order::Parallel(_) => None,
        }
    }

    /// In a cluster that never lacked a page: what the pending job waits for should not have idled.
    pub(super) fn end(
        &mut self,
        plan: &Plan,
        watched: &PerId<ChipId, Option<WatchedChip>>,
        cluster: ClusterId,
        duration: Instant,
        pending: &Pending,
        gauges: &mut Gauges,
    ) {
        let superblock = self.is_superblock(cluster);
        let chips = &plan.clusters()[cluster].chips[..];
        match self {
            Rules::Certified(by) => {
                let of = plan.sources()[pending.release.job.source].releases;
                let chips = match &of {
                    Releases::Collected { chip: Some(chip) } => std::slice::from_ref(chip),
                    _ => chips,
                };
                let mut processors = chips.iter().filter_map(|&chip| Some(watched[chip]?.processor));
                if !superblock {
                    by.processors.end_on_chips(processors, duration, pending, gauges);
                } else if let Some(processor) = processors.next() {
                    by.processors.end(processor, chips[0], duration, pending, gauges);
                }
            }
            Rules::Utilization(by) => match &by.order {
                Order::Serial(_, idling) => idling.end(duration, pending, gauges),
                Order::Parallel(edf) => edf.end(chips, duration, pending, gauges),
            },
        }
    }
}
