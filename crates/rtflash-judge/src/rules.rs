//! What dispatching and garbage collection are judged by: Theorem 1, or certificates.

use rtflash_model::{ChipId, ClusterId, Instant, PerId, Span};
use rtflash_plan::resume::{NoState, Rest, Resume, State, resume};
use rtflash_plan::{Certified, Dispatch, Plan, Promise, Releases, Victims};
use rtflash_trace::Release;
use serde::{Deserialize, Serialize};

use super::assumptions::Assumption;
use super::gauge::{Gauge, Gauges};
use crate::checks::blocking::Blocking;
use crate::checks::collect::Collections;
use crate::checks::failures::FailedBlocks;
use crate::checks::longest::lateness;
use crate::checks::order::{ParallelEdf, SerialEdf, SerialIdling, UnderWay};
use crate::checks::passes::{Collecting, Passes};
use crate::checks::processors::Processors;
use crate::shadow::jobs::Pending;

/// The checkers that only one of the two kinds of plan has.
#[derive(Debug)]
pub(super) enum Rules<'a> {
    Utilization(Box<ByUtilization>),
    Certified(Box<ByCertificates<'a>>),
}

/// Those of a plan that is run by Theorem 1.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ByUtilization {
    pub(super) passes: Passes,
    pub(super) blocking: Blocking,
    pub(super) order: Order,
    /// By cluster under serial dispatch, by chip under parallel dispatch.
    pub(super) under_way: UnderWay,
}

/// Who goes first, under either dispatch.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Order {
    Serial(SerialEdf, SerialIdling),
    Parallel(ParallelEdf),
}

/// Those of a plan that is run by certificates.
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
    /// For these clusters, which have `watched` chips.
    pub(super) fn new(plan: &'a Plan, dispatch: Dispatch, clusters: &[ClusterId], watched: usize) -> Rules<'a> {
        match plan.promise() {
            Promise::Utilization => {
                let (order, places) = match dispatch {
                    Dispatch::Serial => {
                        (Order::Serial(SerialEdf::new(plan), SerialIdling::new(plan)), plan.clusters().count())
                    }
                    Dispatch::Parallel => (Order::Parallel(ParallelEdf::new(plan, clusters)), plan.device().chips()),
                };
                Rules::Utilization(Box::new(ByUtilization {
                    passes: Passes::new(plan, dispatch, watched),
                    blocking: Blocking::default(),
                    order,
                    under_way: UnderWay::new(places),
                }))
            }
            Promise::Certified(certified) => Rules::Certified(Box::new(ByCertificates {
                certified,
                processors: Processors::new(plan, certified, clusters),
                collections: Collections::new(plan, certified, clusters),
                failures: FailedBlocks::new(plan),
            })),
        }
    }

    pub(super) fn setup(&mut self, victims: Victims) {
        match self {
            Rules::Utilization(by) => by.passes.setup(victims),
            Rules::Certified(by) => by.collections.setup(victims),
        }
    }

    /// Whether a cluster is one superblock.
    pub(super) fn is_superblock(&self, cluster: ClusterId) -> bool {
        match self {
            Rules::Utilization(_) => false,
            Rules::Certified(by) => !by.certified[cluster].is_stripe(),
        }
    }

    /// How late a server's job may be.
    pub(super) fn lateness(&self, plan: &Plan, pending: &Pending) -> Span {
        match self {
            Rules::Utilization(_) => Span::ZERO,
            Rules::Certified(by) => lateness(plan, by.certified, pending),
        }
    }

    /// The gauges of garbage collection.
    pub(super) fn collecting(&mut self) -> &mut Collecting {
        match self {
            Rules::Utilization(by) => &mut by.passes.gc,
            Rules::Certified(by) => &mut by.collections.gc,
        }
    }

    /// A job waits again, or for the first time.
    pub(super) fn waits(&mut self, pending: &Pending) {
        if let Rules::Utilization(by) = self
            && let Order::Serial(edf, _) = &mut by.order
        {
            edf.waits(pending);
        }
    }

    /// A job has found no page on the processor of a chip.
    pub(super) fn starves(&mut self, chip: ChipId) {
        if let Rules::Certified(by) = self {
            by.processors.starves(chip);
            by.processors.processor(chip).into_iter().for_each(|processor| by.failures.starves(processor));
        }
    }

    /// A job is complete, or starved.
    pub(super) fn leaves(&mut self, pending: &Pending) {
        if let Rules::Utilization(by) = self
            && let Order::Serial(edf, _) = &mut by.order
        {
            edf.leaves(pending);
        }
    }

    /// The run is over, and a job is pending in a cluster, under parallel dispatch or certificates:
    /// what it waits for should not have idled.
    pub(super) fn end_on_chips(&mut self, plan: &Plan, cluster: ClusterId, duration: Instant, pending: &Pending) {
        let superblock = self.is_superblock(cluster);
        let chips = &plan.clusters()[cluster].chips;
        match self {
            Rules::Certified(by) if superblock => by.processors.end(chips[0], duration, pending),
            Rules::Certified(by) => match plan.sources()[pending.release.job.source].releases {
                Releases::Collected { chip: Some(chip) } => by.processors.end_on_chips(&[chip], duration, pending),
                _ => by.processors.end_on_chips(chips, duration, pending),
            },
            Rules::Utilization(by) => {
                if let Order::Parallel(edf) = &mut by.order {
                    edf.end(chips, duration, pending);
                }
            }
        }
    }

    /// The run is over. Releases of GC jobs that are not as they should be are added to `releases`.
    pub(super) fn finish(&mut self, duration: Instant, releases: &mut Gauge) {
        if let Rules::Certified(by) = self {
            by.collections.finish(duration);
            by.failures.finish(duration);
            releases.merge(&by.collections.releases);
        }
    }

    /// What they have found, and what is found of `wear` that is levelled.
    pub(super) fn found(&self, wear: Option<Gauge>, gauges: &mut Gauges) {
        use Assumption::*;
        let gc = match self {
            Rules::Utilization(by) => {
                let (order, idling) = match &by.order {
                    Order::Serial(edf, idling) => (&edf.gauge, &idling.gauge),
                    Order::Parallel(edf) => (&edf.gauge, &edf.idling),
                };
                gauges.add(GcCost, &by.passes.cost);
                gauges.add(VictimBound, &by.passes.victims);
                gauges.add(OneBlockingErase, &by.blocking.gauge);
                gauges.add(EdfOrder, order);
                gauges.add(WorkConserving, idling);
                &by.passes.gc
            }
            Rules::Certified(by) => {
                gauges.add(GcCost, &by.collections.cost);
                gauges.add(VictimBound, &by.collections.victims);
                gauges.add(OneBlockingErase, &by.processors.blocking);
                gauges.add(EdfOrder, &by.processors.order);
                gauges.add(WorkConserving, &by.processors.idling);
                gauges.add(BusWait, &by.processors.waits);
                gauges.add(OpenBlocks, &by.collections.open);
                gauges.add(Reserve, &by.collections.reserve);
                if by.failures.may_fail() || wear.is_some() {
                    gauges.add(Failures, &by.failures.gauge);
                }
                &by.collections.gc
            }
        };
        gauges.add(VictimChoice, &gc.choice);
        gauges.add(Copies, &gc.copies);
        gauges.add(GcLeftOut, &gc.left_out);
        gauges.add(Padding, &gc.padding);
        wear.iter().for_each(|wear| gauges.add(LevelledWear, wear));
    }
}

impl ByUtilization {
    /// Looks for operations under way that block a job released now.
    pub(super) fn look_for_blocking(&mut self, release: &Release, pending: &mut Pending, plan: &Plan) {
        let Some(cluster) = release.cluster else { return };
        let (erase, deadline) = (plan.device().block_erase(), pending.deadline());
        let chips = &plan.clusters()[cluster].chips;
        match &self.order {
            Order::Serial(..) => {
                if let Some(left) = self.under_way.blocks(cluster.index(), release.at, deadline) {
                    self.blocking.blocked(left, erase, pending, chips[0]);
                }
            }
            Order::Parallel(_) => {
                for &chip in chips {
                    if let Some(left) = self.under_way.blocks(chip.index(), release.at, deadline) {
                        pending.blockers.push((chip, left));
                    }
                }
            }
        }
    }
}
