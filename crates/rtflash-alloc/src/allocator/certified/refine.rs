//! A few moves for each partition: chips for the cluster with most work, neighbours that move
//! little for those that move much, and one chip more for a cluster that fails.

use std::collections::BTreeSet;

use rtflash_model::{Allocation, Placement, Request, Task};
use rustc_hash::FxHashMap;

use super::organisations::Organisation;
use super::partition_trials::{MOST_CHANNELS, PartitionTrials, TRIAL};
use super::plans::{Plans, TaskBlock};

/// Trials of a partition, at most.
const MOVES: u32 = 12;

struct Division<'p> {
    parts: &'p [TaskBlock],
    sizes: Vec<u32>,
    /// The highest of the loads.
    most: f64,
}

/// What a cluster of some size has to do, roughly.
#[derive(Debug, Clone, Copy)]
struct RoughLoad {
    /// Its load, waits for the bus included, if all chips moved as much.
    load: f64,
    /// The placement of pages with which it is the least.
    placement: Placement,
}

struct Refinement<'r, 's> {
    search: &'r mut PartitionTrials<'s>,
    /// Pages that a chip moves in a nanosecond, the mean of all.
    mean: f64,
    /// What parts have to do, by their subset and size.
    known: FxHashMap<(usize, u32), Option<RoughLoad>>,
}

/// Tries partitions in the order of their highest load, as far as the work that is left goes.
pub(super) fn search(search: &mut PartitionTrials<'_>, all: &[Vec<TaskBlock>]) -> Option<Allocation> {
    let set = search.problem.set;
    let mean = pages(set.tasks().iter()) / f64::from(set.device().chips());
    let mut refinement = Refinement { search, mean, known: FxHashMap::default() };
    let mut divisions: Vec<Division<'_>> = all.iter().filter_map(|parts| refinement.divided(parts)).collect();
    divisions.sort_by(|a, b| a.most.total_cmp(&b.most));
    divisions.into_iter().find_map(|division| refinement.refined(division))
}

impl Refinement<'_, '_> {
    fn chips(&self) -> u32 {
        self.search.problem.set.device().chips()
    }

    /// All chips given out, each to the cluster that has most to do till then, of those that have
    /// less to do with a chip more.
    fn divided<'p>(&mut self, parts: &'p [TaskBlock]) -> Option<Division<'p>> {
        let mut sizes: Vec<u32> = parts.iter().map(|part| part.least).collect();
        let of = |(part, &size)| Some(self.rough(part, size)?.load);
        let mut loads: Vec<f64> = parts.iter().zip(&sizes).map(of).collect::<Option<_>>()?;
        'given: for _ in sizes.iter().sum()..self.chips() {
            // Each in turn: mostly the first of them has less to do then.
            let mut asked: Option<usize> = None;
            let (at, load) = loop {
                let next = (0..parts.len()).filter(|&at| asked.is_none_or(|asked| comes_before(&loads, asked, at)));
                let Some(at) = next.reduce(|a, b| if comes_before(&loads, b, a) { b } else { a }) else { break 'given };
                let load = self.rough(&parts[at], sizes[at] + 1).map_or(f64::INFINITY, |rough| rough.load);
                if load < loads[at] {
                    break (at, load);
                }
                asked = Some(at);
            };
            sizes[at] += 1;
            loads[at] = load;
        }
        let most = loads.into_iter().fold(0.0, f64::max);
        Some(Division { parts, sizes, most })
    }

    /// Trials of a partition, with a chip more for a cluster that fails after each.
    fn refined(&mut self, division: Division<'_>) -> Option<Allocation> {
        let Division { parts, mut sizes, .. } = division;
        let mut seen = BTreeSet::new();
        for _ in 0..MOVES {
            if self.search.left == 0 || !seen.insert(sizes.clone()) {
                return None;
            }
            let failing = match self.trial(parts, &sizes)? {
                Ok(allocation) => return Some(allocation),
                Err(failing) => failing,
            };
            if sizes.iter().sum::<u32>() == self.chips() {
                let donor = self.donor(parts, &sizes, failing)?;
                sizes[donor] -= 1;
            }
            sizes[failing] += 1;
        }
        None
    }

    /// Clusters of these sizes, balanced over the channels: the allocation, or a part that fails.
    fn trial(&mut self, parts: &[TaskBlock], sizes: &[u32]) -> Option<Result<Allocation, usize>> {
        self.search.left = self.search.left.saturating_sub(TRIAL);
        let of = |(part, &size)| Some(self.rough(part, size)?.placement);
        let placements: Vec<Placement> = parts.iter().zip(sizes).map(of).collect::<Option<_>>()?;
        let mut plans = Plans::new(self.search.problem.set.device(), sizes.to_vec());
        if plans.room.len() > MOST_CHANNELS {
            plans.in_order();
        } else {
            let rates: Vec<f64> = parts.iter().zip(sizes).map(|(part, &size)| self.rate(part, size)).collect();
            plans.balance(&rates);
        }
        let (clusters, placements) = plans.clusters(parts, &placements, self.search.problem.test.idle());
        match self.search.tried(&clusters, &placements) {
            Ok(allocation) => allocation.map(Ok),
            Err(failing) => parts.iter().position(|part| part.tasks == clusters[failing].tasks).map(Err),
        }
    }

    /// The part other than this one that has the least to do with a chip less.
    fn donor(&mut self, parts: &[TaskBlock], sizes: &[u32], failing: usize) -> Option<usize> {
        let mut donors = Vec::new();
        for donor in (0..parts.len()).filter(|&donor| donor != failing && sizes[donor] > parts[donor].least) {
            if let Some(rough) = self.rough(&parts[donor], sizes[donor] - 1) {
                donors.push((donor, rough.load));
            }
        }
        donors.into_iter().min_by(|a, b| a.1.total_cmp(&b.1)).map(|(donor, _)| donor)
    }

    /// What a part of this size has to do; `None` where it holds with no placement of pages.
    fn rough(&mut self, part: &TaskBlock, size: u32) -> Option<RoughLoad> {
        if let Some(known) = self.known.get(&(part.block, size)) {
            return *known;
        }
        let rough = self.roughly(part, size);
        self.known.insert((part.block, size), rough);
        rough
    }

    fn roughly(&mut self, part: &TaskBlock, size: u32) -> Option<RoughLoad> {
        let device = self.search.problem.set.device();
        let others = f64::from(device.chips_per_channel().min(device.chips()) - 1);
        let (rate, transfer) = (self.rate(part, size), device.page_transfer().as_ns() as f64);
        let wait = transfer * others * rate.min(self.mean);
        // With two registers a page waits while the next one is sensed; the load with all waits has
        // that of chips that move more than the mean.
        let reads = part.tasks.iter().filter_map(|&task| self.search.problem.set.tasks().get(task));
        let reads = reads.filter_map(|task| task.read).map(per_nanosecond).sum::<f64>() / f64::from(size);
        let read = |ways: f64| (device.page_read().as_ns() as f64).max(ways * transfer);
        let hidden = reads * (read(1.0 + others) - read(1.0 + others * (self.mean / rate).min(1.0)));
        let placements = self.search.fitting(part, size);
        let of = |placement: Placement| {
            let organisation = Organisation::on_any_chips(placement);
            let organisations = self.search.organisations;
            let alone = organisations.load(&part.tasks, organisation, size)?;
            let load = if placement.is_cached() {
                let hidden = if placement.is_by_chip() && !device.has_commands() { hidden } else { 0.0 };
                organisations.load_in_the_worst_case(&part.tasks, organisation, size) - hidden
            } else {
                alone + wait
            };
            Some(RoughLoad { load, placement })
        };
        placements.iter().copied().filter_map(of).min_by(|a, b| a.load.total_cmp(&b.load))
    }

    /// Pages that each chip of a part of this size moves in a nanosecond.
    fn rate(&self, part: &TaskBlock, size: u32) -> f64 {
        let tasks = part.tasks.iter().filter_map(|&task| self.search.problem.set.tasks().get(task));
        pages(tasks) / f64::from(size)
    }
}

/// Whether one has more to do than another, or as much and comes first.
fn comes_before(loads: &[f64], one: usize, other: usize) -> bool {
    loads[other].total_cmp(&loads[one]).then(one.cmp(&other)).is_lt()
}

/// Pages that tasks move in a nanosecond.
fn pages<'t>(tasks: impl Iterator<Item = &'t Task>) -> f64 {
    let requests = tasks.flat_map(|task| task.requests()).map(|(request, _)| request);
    requests.map(per_nanosecond).sum()
}

/// Pages that a request moves in a nanosecond.
fn per_nanosecond(request: Request) -> f64 {
    request.pages() as f64 / request.period().as_ns() as f64
}
