//! The cost of an allocation: pages written, erases, lifetime. In doubles, for a reader: no verdict
//! is decided by them.

use rtflash_analysis::verdict::{report, victim};
use rtflash_analysis::{Analysis, baseline};
use rtflash_model::{Allocation, Arrivals, Cluster, Job, Task, TaskSet};

use super::expected::{expected, in_all};
use super::overwriting::OverwriteOrder;
use super::wear::{ClusterCost, Expected, NS_A_DAY, Wear, request_pages};

const NO_COPIES: f64 = 1.0;

/// The cost of an allocation, at most, if every request arrives as often as it may.
#[derive(Debug, Clone, PartialEq)]
pub struct AllocationCost {
    /// Chips of the device that it is for.
    pub chips: u32,
    /// Each cluster, in order.
    pub clusters: Vec<ClusterCost>,
    /// All clusters: erases of the chip that has most, and the life of the block worn first.
    pub tasks: Wear,
    /// `None` where no job writes at a known rate, or no cluster serves them.
    pub with_jobs: Option<Wear>,
    /// Tasks overwrite in order, from a start in order to a strewn one; `None` without writers.
    pub in_rings: Option<Expected>,
    /// If every task overwrites any of its pages.
    pub anywhere: Option<Expected>,
    /// Positions of writing jobs whose arrivals are single times, and so no rate.
    pub left_out: Vec<usize>,
}

/// Under a demand test the allocation has certificates. Jobs' pages are spread evenly over the
/// chips of all clusters with a server, as which one serves a job is not known.
pub fn cost(set: &TaskSet, analysis: &dyn Analysis, allocation: &Allocation) -> AllocationCost {
    let device = set.device();
    let clusters = allocation.clusters();
    let serves: Vec<bool> = report(set, analysis, allocation).iter().map(|report| report.server > 0.0).collect();
    let serving: usize =
        clusters.iter().zip(&serves).filter(|(_, serves)| **serves).map(|(cluster, _)| cluster.chips.len()).sum();
    let job_pages: f64 = set.jobs().iter().filter_map(job_pages).fold(0.0, |sum, pages| sum + pages);
    let scheme = baseline(analysis.name());
    let per_chip = if serving > 0 { job_pages / serving as f64 } else { 0.0 };
    let one = |(position, cluster): (usize, Cluster)| {
        let writes = || cluster.tasks.iter().filter_map(|&task| set.tasks().get(task)?.write);
        let zones = allocation.certificate(position).is_some_and(|certificate| certificate.placement.is_zoned());
        let victim = victim(set, analysis, allocation.certificate(position));
        let tasks: Vec<&Task> = cluster.tasks.iter().filter_map(|&task| set.tasks().get(task)).collect();
        let of_scheme = scheme.and_then(|scheme| scheme.write_amplification(device, &tasks, cluster.size()));
        // 1 + v/α; where tasks own zones nothing is copied.
        let write_amplification = match zones {
            true => writes().next().map(|_| NO_COPIES),
            false => of_scheme.or(victim.map(|(valid, reclaimed)| 1.0 + valid as f64 / reclaimed as f64)),
        };
        let writes = writes();
        let pages = writes.map(request_pages).fold(0.0, |sum, pages| sum + pages);
        // Estimates are of a device that collects the emptiest block.
        let in_order = |cluster: &Cluster, order: OverwriteOrder| match of_scheme {
            Some(_) => None,
            None => expected(set, analysis, cluster, allocation.certificate(position), order, write_amplification),
        };
        let wear = |pages: f64| Wear::new(set, pages, write_amplification.unwrap_or(NO_COPIES), cluster.chips.len());
        ClusterCost {
            wear: wear(pages),
            with_jobs: (serves[position] && per_chip > 0.0)
                .then(|| wear(pages + per_chip * cluster.chips.len() as f64)),
            in_rings: in_order(&cluster, OverwriteOrder::Ring),
            anywhere: in_order(&cluster, OverwriteOrder::Anywhere),
            write_amplification,
            chips: cluster.chips,
            tasks: cluster.tasks,
        }
    };
    let clusters: Vec<ClusterCost> = clusters.into_iter().enumerate().map(one).collect();
    let whole = |wear: fn(&ClusterCost) -> Wear| clusters.iter().map(wear).fold(Wear::default(), Wear::and);
    AllocationCost {
        chips: device.chips(),
        tasks: whole(|cluster| cluster.wear),
        with_jobs: (per_chip > 0.0).then(|| whole(|cluster| cluster.with_jobs.unwrap_or(cluster.wear))),
        in_rings: in_all(&clusters, |cluster| cluster.in_rings),
        anywhere: in_all(&clusters, |cluster| cluster.anywhere),
        left_out: (0..set.jobs().len()).filter(|&job| left_out(&set.jobs()[job])).collect(),
        clusters,
    }
}

fn job_pages(job: &Job) -> Option<f64> {
    let (jobs, time) = job.arrivals.rate()?;
    Some(job.write_pages as f64 * jobs as f64 / time as f64 * NS_A_DAY)
}

fn left_out(job: &Job) -> bool {
    job.write_pages > 0 && matches!(job.arrivals, Arrivals::At(_))
}
