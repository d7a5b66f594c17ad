//! The optimum: an allocation whenever there is one, by search over all partitions of the tasks.

use rtflash_model::{Allocation, TaskSet};

use super::best_fit::ClusteringBfd;
use super::clusters::index;
use super::loads::Loads;
use super::sizes::Sizes;
use super::{Allocator, Limit, Outcome, Strategy};
use crate::analysis::Analysis;

/// Exact allocation: finds one whenever one exists, and among those one that leaves the most guaranteed capacity to jobs that are not
/// real-time.
///
/// The objective is Σ U_s(φ), Eq. (IV.10), over all clusters, where every chip that the tasks do not need is a cluster of its own with
/// U_s = 1; it is reached to within 10⁻⁹. Whether an allocation exists is decided exactly.
///
/// Let s(Q) be the smallest size at which the task subset Q is schedulable. A larger size is never better: each further chip costs the
/// objective 1 and cannot lower U by as much. So the search is over partitions into blocks of those sizes, by dynamic
/// programming over subsets with the trade-off between chips used and capacity left. Up to [`Exact::MAX_TASKS`] tasks.
///
/// Under an analysis that tests clusters where they are placed, the search is over the same partitions, each subset in the smallest cluster of any form
/// that holds wherever it is: the fewest chips, then the least to do on them. Where these are too many chips, and would not be if no page ever waited for
/// the bus, it goes on to clusters that hold only next to the right neighbours: partitions with less waiting, confirmed where their chips are, what
/// `clustering-search` finds, and at last every partition, size, placement and choice of channels, as far as some thousand trials go. On small devices
/// that is all there are; on larger ones a no is then not proved.
#[derive(Debug, Clone, Copy, Default)]
pub struct Exact;

impl Exact {
    /// Tasks that it searches.
    pub const MAX_TASKS: usize = 16;
    /// Evaluations of a task's utilization after which it gives up. Only devices of a very large number of chips get there.
    const MAX_WORK: u64 = 1 << 34;
}

impl Allocator for Exact {
    fn name(&self) -> &'static str {
        "exact"
    }

    fn summary(&self) -> &'static str {
        "an allocation whenever there is one, with the most capacity left (up to 16 tasks)"
    }

    fn strategy(&self) -> Option<Strategy> {
        Some(Strategy::Exact)
    }

    fn by_utilization(&self, set: &TaskSet, analysis: &dyn Analysis) -> Outcome {
        let tasks = set.tasks().len();
        if tasks > Exact::MAX_TASKS {
            return Outcome::CannotTell(Limit::TooManyTasks { tasks, limit: Exact::MAX_TASKS });
        }
        let Some(blocks) = Blocks::new(set, analysis) else {
            return Outcome::CannotTell(Limit::TooMuchWork { limit: Exact::MAX_WORK });
        };
        match blocks.best_partition() {
            Some(partition) => blocks
                .to_allocation(&partition)
                .map_or(Outcome::CannotTell(Limit::TooMuchWork { limit: 0 }), Outcome::Schedulable),
            // Where there is no allocation, Clustering-BFD finds none either, and knows where it got stuck.
            None => ClusteringBfd.by_utilization(set, analysis),
        }
    }
}

/// A block that no cluster size makes schedulable.
const NEVER: u32 = u32::MAX;

/// The smallest cluster for each subset of the tasks; a subset is a bit mask.
struct Blocks {
    tasks: usize,
    chips: u32,
    /// s(Q), or `NEVER`.
    size: Vec<u32>,
    /// s(Q) − 1 + U(Q at s(Q)): what the block takes of Σ U_s, of which there would be m.
    cost: Vec<f64>,
}

/// A partition of a subset: how many chips it uses, what it costs, its last block, and which entry of the rest comes before.
#[derive(Debug, Clone, Copy)]
struct Entry {
    chips: u32,
    cost: f64,
    block: usize,
    rest: u32,
}

impl Blocks {
    /// `None` where it is too much work.
    fn new(set: &TaskSet, analysis: &dyn Analysis) -> Option<Blocks> {
        let mut sizes = Sizes::new(Loads::new(set, analysis), Exact::MAX_WORK);
        let (tasks, chips) = (set.tasks().len(), set.device().chips());
        let mut blocks = Blocks { tasks, chips, size: vec![1; 1 << tasks], cost: vec![0.0; 1 << tasks] };
        for mask in 1..1usize << tasks {
            // A subset needs at least as many chips as each of its own subsets: utilization grows with the tasks at every size.
            let members = (0..tasks).filter(|task| mask >> task & 1 == 1);
            let least = members.clone().map(|task| blocks.size[mask & !(1 << task)]).max().unwrap_or(1);
            let found =
                if least == NEVER { None } else { sizes.smallest_size(&members.collect::<Vec<_>>(), least, chips) };
            if sizes.exhausted() {
                return None;
            }
            (blocks.size[mask], blocks.cost[mask]) =
                found.map_or((NEVER, 0.0), |(size, share)| (size, f64::from(size - 1) + share.total()));
        }
        Some(blocks)
    }

    /// The blocks of a partition of all tasks into clusters that fit the device, at the least cost.
    fn best_partition(&self) -> Option<Vec<usize>> {
        let all = (1usize << self.tasks) - 1;
        let mut best: Vec<Vec<Entry>> = Vec::with_capacity(all + 1);
        best.push(vec![Entry { chips: 0, cost: 0.0, block: 0, rest: 0 }]);
        for mask in 1..=all {
            let mut entries = Vec::new();
            // Every partition has one block with the highest task: blocks are taken in that order, each partition once.
            let highest = 1usize << mask.ilog2();
            let others = mask & !highest;
            let mut sub = others;
            loop {
                let block = sub | highest;
                if self.size[block] != NEVER {
                    for (rest, entry) in best[mask & !block].iter().enumerate() {
                        let (chips, cost) =
                            (entry.chips.saturating_add(self.size[block]), entry.cost + self.cost[block]);
                        if chips <= self.chips {
                            keep(&mut entries, Entry { chips, cost, block, rest: index(rest) });
                        }
                    }
                }
                if sub == 0 {
                    break;
                }
                sub = (sub - 1) & others;
            }
            best.push(entries);
        }
        let (start, _) = best[all].iter().enumerate().min_by(|a, b| a.1.cost.total_cmp(&b.1.cost))?;
        let (mut mask, mut at, mut partition) = (all, start, Vec::new());
        while mask != 0 {
            let entry = best[mask][at];
            partition.push(entry.block);
            (mask, at) = (mask & !entry.block, entry.rest as usize);
        }
        Some(partition)
    }

    /// Clusters in order of their lowest task, chips given out in order, the chips left over as clusters of their own.
    fn to_allocation(&self, partition: &[usize]) -> Option<Allocation> {
        let mut partition = partition.to_vec();
        partition.sort_unstable_by_key(|block| block.trailing_zeros());
        let mut of_chip = Vec::with_capacity(self.chips as usize);
        let mut of_task = vec![0; self.tasks];
        for (&block, cluster) in partition.iter().zip(0u32..) {
            of_chip.extend(std::iter::repeat_n(cluster, self.size[block] as usize));
            (0..self.tasks).filter(|task| block >> task & 1 == 1).for_each(|task| of_task[task] = cluster);
        }
        let used = index(of_chip.len());
        let first_free = index(partition.len());
        of_chip.extend(first_free..first_free + self.chips.checked_sub(used)?);
        Allocation::from_owners(of_chip, of_task)
    }
}

/// Adds an entry unless another one uses no more chips and costs no more; drops those that it beats so.
fn keep(entries: &mut Vec<Entry>, entry: Entry) {
    if entries.iter().any(|other| other.chips <= entry.chips && other.cost <= entry.cost) {
        return;
    }
    entries.retain(|other| other.chips < entry.chips || other.cost < entry.cost);
    entries.push(entry);
}
