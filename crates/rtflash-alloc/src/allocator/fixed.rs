//! Algorithms whose clusters do not depend on the test: global and equal split.

use rtflash_analysis::{Analysis, Work};
use rtflash_model::{Cluster, TaskSet};

use super::{Allocator, Outcome, tested};

/// One cluster of all chips, shared by all tasks.
#[derive(Debug, Clone, Copy, Default)]
pub struct Global;

/// One cluster a task, the first (m mod n) with a chip more. For more tasks than chips, task i
/// goes to chip i mod m. The published figure calls it Full-Isolation.
#[derive(Debug, Clone, Copy, Default)]
pub struct EqualSplit;

impl Allocator for Global {
    fn name(&self) -> &'static str {
        "global"
    }

    fn summary(&self) -> &'static str {
        "one cluster of all chips for all tasks"
    }

    fn divide(&self, set: &TaskSet, analysis: &dyn Analysis, work: &Work) -> Outcome {
        tested(set, analysis, &equal_clusters(set, 1), work)
    }
}

impl Allocator for EqualSplit {
    fn name(&self) -> &'static str {
        "equal-split"
    }

    fn summary(&self) -> &'static str {
        "one cluster for each task, the chips shared equally"
    }

    fn divide(&self, set: &TaskSet, analysis: &dyn Analysis, work: &Work) -> Outcome {
        // As many clusters as tasks, but no more than chips; without tasks every chip is its own.
        let chips = set.device().chips();
        let clusters = set.tasks().count().min(chips);
        tested(set, analysis, &equal_clusters(set, if clusters == 0 { chips } else { clusters }), work)
    }

    /// A demand test tries organisations of each cluster.
    fn relative_work(&self, _tasks: usize) -> u64 {
        16
    }
}

/// At least one cluster and no more than chips, which share chips and tasks equally.
fn equal_clusters(set: &TaskSet, clusters: u32) -> Vec<Cluster> {
    let (chips, tasks) = (set.device().chips(), set.tasks().count());
    let (each, more) = (chips / clusters, chips % clusters);
    let mut next = 0;
    let cluster = |position: u32| {
        let end = next + each + u32::from(position < more);
        let chips = next..end;
        next = end;
        Cluster::of(chips, (position..tasks).step_by(clusters as usize))
    };
    (0..clusters).map(cluster).collect()
}
