//! What an allocation costs: pages written, erases, lifetime. In doubles, for a reader: no verdict is decided by them.

use rtflash_model::{Allocation, Arrivals, Cluster, Job, Request, TaskSet};

use super::expected::{Expected, expected, in_all};
use super::overwriting::Order;
use crate::analysis::Analysis;
use crate::verdict::{report, victim};

const NS_A_DAY: f64 = 86_400e9;
const DAYS_A_YEAR: f64 = 365.25;

/// What an allocation costs, at most, if every request arrives as often as it may.
#[derive(Debug, Clone, PartialEq)]
pub struct Cost {
    /// Chips of the device that it is for.
    pub chips: u32,
    /// Each cluster, in order.
    pub clusters: Vec<ClusterCost>,
    /// The device: pages of all clusters together; erases of the chip that has most, and the lifetime of the block that is worn first.
    pub tasks: Wear,
    /// The same with jobs that are not real-time; `None` where none writes at a known rate, or no cluster serves them.
    pub with_jobs: Option<Wear>,
    /// What is to be expected where every task overwrites its data in order, round and round; `None` where no task writes, or the data do not fit.
    pub in_rings: Option<Expected>,
    /// The same where every task overwrites any of its pages.
    pub anywhere: Option<Expected>,
    /// Positions of the jobs that write and are left out, because their arrivals are single times and no rate.
    pub left_out: Vec<usize>,
}

/// What a cluster costs.
#[derive(Debug, Clone, PartialEq)]
pub struct ClusterCost {
    /// Its chips, ascending.
    pub chips: Vec<u32>,
    /// Its tasks, as positions in the set, ascending.
    pub tasks: Vec<usize>,
    /// Pages programmed for each page written, at most: 1 + v/α under an analysis with certificates, 1 + ⌈λP⌉/α under the others. `None` where
    /// nothing is ever written.
    pub write_amplification: Option<f64>,
    /// What its real-time tasks do to it.
    pub wear: Wear,
    /// The same with its part of the jobs that are not real-time; `None` where it serves none.
    pub with_jobs: Option<Wear>,
    /// What is to be expected of its tasks where each overwrites its data in order, round and round; `None` where none writes, or the data do not fit.
    pub in_rings: Option<Expected>,
    /// The same where each overwrites any of its pages.
    pub anywhere: Option<Expected>,
}

/// What writing does to chips, if it wears all blocks of a cluster evenly.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Wear {
    /// Pages written a day.
    pub pages: f64,
    /// Pages that garbage collection copies a day, at most.
    pub gc_pages: f64,
    /// Block erases a day and chip that this makes, if all blocks of the cluster are worn evenly.
    pub erases: f64,
    /// Years (of 365.25 days) until a block has been erased as often as it endures, at least; `None` where nothing is written, or the device
    /// does not say.
    pub lifetime_years: Option<f64>,
}

impl Wear {
    pub(super) fn new(set: &TaskSet, pages: f64, amplification: f64, chips: usize) -> Wear {
        let device = set.device();
        let programmed = pages * amplification;
        // What is programmed has been erased.
        let erases = programmed / f64::from(device.pages_per_block()) / chips.max(1) as f64;
        let endured = device.erase_cycles().map(|cycles| f64::from(cycles) * f64::from(device.blocks_per_chip()));
        let lifetime_years = endured.filter(|_| erases > 0.0).map(|endured| endured / erases / DAYS_A_YEAR);
        Wear { pages, gc_pages: programmed - pages, erases, lifetime_years }
    }

    /// Both together.
    pub(super) fn and(self, other: Wear) -> Wear {
        let shorter = match (self.lifetime_years, other.lifetime_years) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        Wear {
            pages: self.pages + other.pages,
            gc_pages: self.gc_pages + other.gc_pages,
            erases: self.erases.max(other.erases),
            lifetime_years: shorter,
        }
    }
}

/// What an allocation costs. Under a demand test it has certificates.
///
/// Which cluster serves a job is not known beforehand: jobs' pages are spread evenly over the chips of all clusters that have a server.
pub fn cost(set: &TaskSet, analysis: &dyn Analysis, allocation: &Allocation) -> Cost {
    let device = set.device();
    let clusters = allocation.clusters();
    let serves: Vec<bool> = report(set, analysis, allocation).iter().map(|report| report.server > 0.0).collect();
    let serving: usize =
        clusters.iter().zip(&serves).filter(|(_, serves)| **serves).map(|(cluster, _)| cluster.chips.len()).sum();
    let job_pages: f64 = set.jobs().iter().filter_map(job_pages).fold(0.0, |sum, pages| sum + pages);
    let per_chip = if serving > 0 { job_pages / serving as f64 } else { 0.0 };
    let one = |(position, cluster): (usize, Cluster)| {
        let victim = victim(set, analysis, allocation.certificate(position));
        // 1 + v/α.
        let write_amplification = victim.map(|(valid, reclaimed)| 1.0 + valid as f64 / reclaimed as f64);
        let writes = cluster.tasks.iter().filter_map(|&task| set.tasks().get(task)?.write);
        let pages = writes.map(request_pages).fold(0.0, |sum, pages| sum + pages);
        let in_order = |cluster: &Cluster, order: Order| {
            expected(set, analysis, cluster, allocation.certificate(position), order, write_amplification)
        };
        let wear = |pages: f64| Wear::new(set, pages, write_amplification.unwrap_or(1.0), cluster.chips.len());
        ClusterCost {
            wear: wear(pages),
            with_jobs: (serves[position] && per_chip > 0.0)
                .then(|| wear(pages + per_chip * cluster.chips.len() as f64)),
            in_rings: in_order(&cluster, Order::Ring),
            anywhere: in_order(&cluster, Order::Anywhere),
            write_amplification,
            chips: cluster.chips,
            tasks: cluster.tasks,
        }
    };
    let clusters: Vec<ClusterCost> = clusters.into_iter().enumerate().map(one).collect();
    let whole = |wear: fn(&ClusterCost) -> Wear| clusters.iter().map(wear).fold(Wear::default(), Wear::and);
    Cost {
        chips: device.chips(),
        tasks: whole(|cluster| cluster.wear),
        with_jobs: (per_chip > 0.0).then(|| whole(|cluster| cluster.with_jobs.unwrap_or(cluster.wear))),
        in_rings: in_all(&clusters, |cluster| cluster.in_rings),
        anywhere: in_all(&clusters, |cluster| cluster.anywhere),
        left_out: (0..set.jobs().len()).filter(|&job| left_out(&set.jobs()[job])).collect(),
        clusters,
    }
}

/// Pages a day.
pub(super) fn request_pages(write: Request) -> f64 {
    write.pages() as f64 / write.period().as_ns() as f64 * NS_A_DAY
}

/// Pages a day that a job stream writes, in the mean; `None` where it has no rate.
fn job_pages(job: &Job) -> Option<f64> {
    let gap = match &job.arrivals {
        Arrivals::Every(gap) => gap.as_ns() as f64,
        Arrivals::Uniform(low, high) => f64::midpoint(low.as_ns() as f64, high.as_ns() as f64),
        Arrivals::At(_) => return None,
    };
    Some(job.write_pages as f64 / gap * NS_A_DAY)
}

fn left_out(job: &Job) -> bool {
    job.write_pages > 0 && matches!(job.arrivals, Arrivals::At(_))
}
