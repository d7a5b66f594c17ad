//! Schedulability analyses: whether real-time I/O tasks meet their deadlines on a flash device. One
//! trait, a file for each analysis.
//!
//! - Equations (IV.1) to (IV.9) of the thesis, Theorem 1: [`Thesis`], [`ThesisEvaluated`].
//! - [`certified`]: demand tests, whose yes is a certificate (docs/analysis.md).
//! - [`server`]: Total Bandwidth Servers, Eqs. (IV.10) to (IV.12).
//! - [`verdict`]: what an analysis of either kind says of a given allocation.
//! - [`necessary`]: proofs that no allocation meets every deadline.
//! - [`reason`]: why a task could not be placed: load, demand, data or a request.
//!
//! "The thesis" is Kim, *Dynamic Task-to-chip Allocation for Real-time I/O Guarantees in Flash
//! Storage Systems*, DGIST 2021; its equations are cited by number. Verdicts are exact: U = 1 is
//! schedulable, anything above is not, and where doubles cannot decide, integers of any size do.
//!
//! An analysis says by which [`Test`] it tests a cluster. Allocators, reports, advice, sizing and
//! experiments ask that test and nothing else, so what an analysis of your own says is what they go
//! by: `examples/own_analysis.rs` has two.

// For random processors that tests of other crates share.
#[cfg(test)]
extern crate self as rtflash_analysis;

mod alone;
mod certificate;
pub mod certified;
mod cluster;
mod cluster_report;
mod deadlines;
mod demand;
mod demand_test;
mod field;
mod fraction;
mod gc;
mod long_run;
pub mod necessary;
mod organisation;
#[cfg(test)]
#[path = "../../rtflash-testkit/src/processors.rs"]
mod random_processors;
pub mod reason;
pub mod server;
mod sound;
mod task_demand;
mod test;
mod thesis;
mod time;
pub mod verdict;
mod work;
mod workload;

use rtflash_model::generate::PageCosts;
use rtflash_model::{Device, Placement, Reliance, Span, Task, TaskSet};

pub use crate::cluster_report::{ClusterReport, GcReport};
pub use crate::field::part_ftl::PartFtl;
pub use crate::field::{
    BASELINES, Baseline, BaselineTerm, Chang, Dhara, FIFO_DRIVE, Gftl, LazyRtgc, Rftl, Room, RoomUnit, Stock, baseline,
};
pub use crate::task_demand::{GcDemand, StreamDemand, TaskDemand, reclaimed_pages};
pub use crate::thesis::evaluated::ThesisEvaluated;
pub use alone::fits_alone;
pub use cluster::{
    cluster_verdict, linear_task_terms, linear_terms, report_cluster, server_share, task_load, test_cluster,
};
pub use deadlines::{Untestable, UntestableCause};
pub use demand_test::DemandTest;
pub use fraction::{Fraction, Rational};
pub use necessary::{Necessary, NecessaryWithZones};
pub use sound::{Sound, Stripe, Superblock, Zoned};
pub use test::{ClusterTest, ClusterVerdict, LinearTest, Test, UtilizationTest};
pub use thesis::Thesis;
pub use work::{PlacementProgress, Work, WorkBound};

/// Something an analysis takes for granted about the device or its use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Assumption {
    /// A short name, in kebab case, the same wherever the assumption is checked.
    pub name: &'static str,
    /// The assumption in a sentence.
    pub statement: &'static str,
}

/// A schedulability analysis.
pub trait Analysis: Sync {
    /// Its name. Two analyses of one name count as the same one.
    fn name(&self) -> &'static str;

    /// Its description, in a line.
    fn summary(&self) -> &'static str;

    /// All that it takes for granted.
    fn assumes(&self) -> &'static [Assumption] {
        &[]
    }

    /// Under Theorem 1 the factors of C^r and C^w, Eqs. (IV.1) and (IV.2). They measure generated
    /// tasks, and time the executor's operations where no certificate does. By default t_r and t_w,
    /// with the transfer where the device says so.
    fn page_costs(&self, device: &Device) -> PageCosts {
        PageCosts::transfer_inside(device)
    }

    /// Whether it knows D < T and release jitter. If not, allocators refuse a set that has one, and
    /// [`cluster_verdict`] passes no such cluster.
    fn takes_deadlines(&self) -> bool {
        false
    }

    /// Whether it knows that commands use the bus ([`Device::has_commands`]). If not, allocators
    /// refuse the device, and [`cluster_verdict`] passes no cluster.
    fn takes_commands(&self) -> bool {
        matches!(self.test(), Test::Demand(_))
    }

    /// Why allocators refuse a set like this and [`cluster_verdict`] passes none of it, if so.
    fn undefined(&self, _set: &TaskSet) -> Option<&'static str> {
        None
    }

    /// How it tests a cluster. Always the same.
    fn test(&self) -> Test<'_>;
}

impl dyn Analysis + '_ {
    /// How long a page occupies its chip: page costs; under a demand test t_r + t_d and t_w + t_d.
    pub fn occupancy(&self, device: &Device) -> PageCosts {
        match self.test() {
            Test::Demand(_) => PageCosts::transfer_on_top(device),
            Test::Linear(_) | Test::Utilization(_) | Test::Cluster(_) => self.page_costs(device),
        }
    }

    /// Whether its verdict is that of Theorem 1, in either reading.
    pub fn is_theorem(&self) -> bool {
        [Thesis.name(), ThesisEvaluated.name()].contains(&self.name())
    }

    /// Whether it is [`Necessary`] or [`NecessaryWithZones`], whose yes says nothing.
    pub fn is_necessary(&self) -> bool {
        self.name() == Necessary.name() || self.bounds_zones()
    }

    /// Whether it is [`NecessaryWithZones`], whose no holds on devices with zones, too.
    pub fn bounds_zones(&self) -> bool {
        self.name() == NecessaryWithZones.name()
    }

    /// The placements of pages of its [`DemandTest`]; none where it has none.
    pub fn placements(&self) -> &'static [Placement] {
        let Test::Demand(test) = self.test() else { return &[] };
        test.placements
    }

    /// The most that a promise of its [`DemandTest`] relies on; meaningless without one.
    pub fn relies_on(&self) -> Reliance {
        let Test::Demand(test) = self.test() else { return Reliance::default() };
        test.rely_on
    }

    /// Eqs. (IV.1) to (IV.7), exactly; `None` under a [`ClusterTest`]. Under a demand test those of
    /// [`Thesis`], which measure generated tasks and decide nothing.
    pub fn demand(&self, device: &Device, task: &Task, chips: u32) -> Option<TaskDemand> {
        match self.test() {
            Test::Utilization(test) => Some(test.demand(device, task, chips)),
            Test::Cluster(_) => None,
            Test::Linear(_) | Test::Demand(_) => {
                let delay = self.transfer_delay(device, chips);
                Some(TaskDemand::new(device, task, chips, self.page_costs(device), delay))
            }
        }
    }

    /// D(s), charged to each page of a server's job, and what the executor lets a page wait for the
    /// bus. By default what a channel's other chips take: t_d·(m_c − 1).
    pub fn transfer_delay(&self, device: &Device, chips: u32) -> Span {
        match self.test() {
            Test::Linear(test) => test.transfer_delay(device, chips),
            // As with `demand`.
            Test::Demand(_) => Thesis.transfer_delay(device, chips),
            Test::Utilization(_) | Test::Cluster(_) => {
                let others = device.chips_per_channel().min(device.chips()) - 1;
                thesis::times_transfer(device, others)
            }
        }
    }
}

macro_rules! all {
    ($granted:expr) => {
        [
            &Thesis,
            &ThesisEvaluated,
            &Stripe { rely_on: $granted },
            &Superblock { rely_on: $granted },
            &Sound { rely_on: $granted },
            &Zoned { rely_on: $granted },
        ]
    };
}

/// Every analysis that has a name, where promises may rely on the neighbours.
pub static ANALYSES: [&dyn Analysis; 6] = relying_on(Reliance::Neighbours);

const fn relying_on(granted: Reliance) -> [&'static dyn Analysis; 6] {
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

/// Every analysis that has a name, and the field's schemes ([`BASELINES`]).
pub fn analyses_and_baselines() -> impl Iterator<Item = &'static dyn Analysis> {
    ANALYSES.into_iter().chain(BASELINES.map(|of| of as &dyn Analysis))
}

/// One of [`ANALYSES`], [`BASELINES`] or [`NECESSARY`], its promises relying on this at most.
pub fn analysis_relying_on(name: &str, granted: Reliance) -> Option<&'static dyn Analysis> {
    let named = relying_on(granted).into_iter().chain(NECESSARY).find(|analysis| analysis.name() == name);
    named.or_else(|| baseline(name).map(|of| of as &dyn Analysis))
}

/// The necessary tests, under the names that they have as analyses.
pub static NECESSARY: [&dyn Analysis; 2] = [&Necessary, &NecessaryWithZones];

/// The assumptions that both readings of Theorem 1 share.
const SERIAL: Assumption = Assumption {
    name: "serial-cluster",
    statement: "a cluster serves one page operation, or one step of a GC pass on all its chips, at a time (Eqs. IV.1, \
                IV.2)",
};
const GC_COST: Assumption = Assumption {
    name: "victim-bound",
    statement: "a victim block holds at most ceil(lambda P) valid pages, because valid pages spread evenly over all \
                blocks (Eq. IV.3)",
};
const GC_PERIOD: Assumption = Assumption {
    name: "gc-keeps-pace",
    statement: "GC at the period T^g frees alpha pages on every chip of the cluster before the task has written them, \
                because writes spread evenly over the chips (Eq. IV.4)",
};
const BLOCKING: Assumption = Assumption {
    name: "one-blocking-erase",
    statement: "a request waits at most once, for at most one operation of a later deadline, and none is longer than \
                t_e (Theorem 1)",
};
const DEADLINES: Assumption = Assumption {
    name: "implicit-deadlines",
    statement: "each request is due within its period, and arrives no sooner than a period after the one before \
                (Section 4.1.1)",
};
const CAPACITY: Assumption = Assumption {
    name: "data-fit",
    statement: "the tasks' data fit the logical space of their cluster; the thesis has no test for it",
};
