//! Schedulability analyses: one trait, a file for each analysis.
//!
//! An analysis answers two questions: what utilization a task has in a cluster of s chips, and whether a cluster is
//! schedulable. Nothing else in this crate knows which analysis is in use.

mod alone;
mod cluster;
mod demand;
mod part_ftl;
mod sound;
mod thesis;
mod thesis_evaluated;

use rtflash_model::generate::PageCosts;
use rtflash_model::{Device, Placement, Reliance, Span, Task};

pub use alone::fits_alone;
pub(crate) use cluster::terms;
pub use cluster::{ClusterReport, GcReport, report_cluster, server_share, test_cluster};
pub use demand::{GcDemand, StreamDemand, TaskDemand, reclaimed_pages};
pub use part_ftl::PartFtl;
pub use sound::{Sound, Stripe, Superblock};
pub use thesis::Thesis;
pub use thesis_evaluated::ThesisEvaluated;

/// Something an analysis takes for granted about the device or its use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Assumption {
    /// A short name, in kebab case, the same wherever the assumption is checked.
    pub name: &'static str,
    /// The assumption in a sentence.
    pub statement: &'static str,
}

/// A schedulability analysis.
///
/// Those of the thesis have the form of Theorem 1: a cluster is schedulable iff blocking and the tasks' utilizations sum to at most one. The sound ones
/// have [`Analysis::placements`]: they test a cluster where it is placed, by processor demand ([`crate::sound`]).
pub trait Analysis: Sync {
    /// What the user calls it.
    fn name(&self) -> &'static str;

    /// What it is, in a line.
    fn summary(&self) -> &'static str;

    /// All that it takes for granted.
    fn assumes(&self) -> &'static [Assumption];

    /// The placements of pages under which it tests clusters by processor demand; none for the form of Theorem 1. Where there are any, the costs and
    /// utilizations below are those by which generated tasks are measured, and decide nothing else.
    fn placements(&self) -> &'static [Placement] {
        &[]
    }

    /// The most that a promise of an analysis with [`Analysis::placements`] may rely on; the others do not ask.
    fn relies_on(&self) -> Reliance {
        Reliance::default()
    }

    /// The cost of one page, the factors of C^r and C^w in Eqs. (IV.1) and (IV.2).
    fn page_costs(&self, device: &Device) -> PageCosts;

    /// D(s): transfer delay charged to each page in a cluster of `chips` chips, the factor of D^r and D^w in Eqs. (IV.5) and (IV.6).
    /// Below `page_transfer` · `chips_per_channel`.
    fn transfer_delay(&self, device: &Device, chips: u32) -> Span;

    /// All terms of a task's utilization in a cluster of `chips` chips, exactly: Eqs. (IV.1) to (IV.7).
    fn demand(&self, device: &Device, task: &Task, chips: u32) -> TaskDemand {
        TaskDemand::new(device, task, chips, self.page_costs(device), self.transfer_delay(device, chips))
    }
}

/// The analyses with a constant of [`Reliance`].
macro_rules! all {
    ($granted:expr) => {
        [
            &Thesis,
            &ThesisEvaluated,
            &Stripe { rely_on: $granted },
            &Superblock { rely_on: $granted },
            &Sound { rely_on: $granted },
        ]
    };
}

/// Every analysis that has a name, where promises may rely on the neighbours.
pub static ANALYSES: [&dyn Analysis; 5] = relying_on(Reliance::Neighbours);

/// Every analysis that has a name, where promises may rely on so much.
const fn relying_on(granted: Reliance) -> [&'static dyn Analysis; 5] {
    match granted {
        Reliance::Nothing => all!(Reliance::Nothing),
        Reliance::Neighbours => all!(Reliance::Neighbours),
        Reliance::Queue => all!(Reliance::Queue),
    }
}

/// The analysis of that name.
pub fn analysis(name: &str) -> Option<&'static dyn Analysis> {
    analysis_relying_on(name, Reliance::default())
}

/// The analysis of that name, its promises relying on so much at most.
pub fn analysis_relying_on(name: &str, granted: Reliance) -> Option<&'static dyn Analysis> {
    relying_on(granted).into_iter().find(|analysis| analysis.name() == name)
}

/// The assumptions that both readings of Theorem 1 share.
const SERIAL: Assumption = Assumption {
    name: "serial-cluster",
    statement: "a cluster serves one page operation, or one step of a GC pass on all its chips, at a time (Eqs. IV.1, IV.2)",
};
const GC_COST: Assumption = Assumption {
    name: "victim-bound",
    statement: "a victim block holds at most ceil(lambda P) valid pages, because valid pages spread evenly over all blocks (Eq. IV.3)",
};
const GC_PERIOD: Assumption = Assumption {
    name: "gc-keeps-pace",
    statement: "GC at the period T^g frees alpha pages on every chip of the cluster before the task has written them, because writes spread evenly over the chips (Eq. IV.4)",
};
const BLOCKING: Assumption = Assumption {
    name: "one-blocking-erase",
    statement: "a request waits at most once, for at most one operation of a later deadline, and none is longer than t_e (Theorem 1)",
};
const DEADLINES: Assumption = Assumption {
    name: "implicit-deadlines",
    statement: "each request is due within its period, and arrives no sooner than a period after the one before (Section 4.1.1)",
};
const CAPACITY: Assumption = Assumption {
    name: "data-fit",
    statement: "the tasks' data fit the logical space of their cluster; the thesis has no test for it",
};
