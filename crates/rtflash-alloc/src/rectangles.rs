//! Clusters that others' devices can express: rectangles of channels and ways.
//!
//! NVM sets, simulators with streams and most firmware know a group of chips as some channels and
//! the same ways on each of them. Under a utilization test it is the number of chips that decides,
//! not where they are; so clusters are laid out anew, as large as they are, or larger by free chips
//! where no rectangle has their size. Under a demand test each layout is certified anew.
//!
//! The search is of bounded length: the largest clusters first, each in every shape and at every
//! place, with no chip more than needed at first, then with one more, and so on.

use std::collections::HashSet;

use rtflash_analysis::verdict::passing_charged;
use rtflash_analysis::{Analysis, DemandTest, Work, WorkBound};
use rtflash_model::{Allocation, ChipId, ChipRectangle, Cluster, Placement, TaskSet};

/// Chips that are looked at while clusters are laid out, at most.
const MAX_ITERATIONS: u64 = 20_000_000;
const MOST_TESTS: u64 = 256;
/// Work of the tests of sound analyses, in requests looked at in an interval, at most.
const MAX_TEST_WORK: u64 = 100_000_000;

/// `None` where no layout is found that passes. `allocation` passes, and so does the result. The
/// work is bounded, so that `None` is no proof.
pub fn in_rectangles(set: &TaskSet, analysis: &dyn Analysis, allocation: &Allocation) -> Option<Allocation> {
    let clusters = allocation.clusters();
    let (mut busy, mut free) = (Vec::new(), 0);
    for (position, cluster) in clusters.into_iter().enumerate() {
        if cluster.tasks.is_empty() {
            free += cluster.size();
            continue;
        }
        let placement = allocation.certificate(position).map(|certificate| certificate.placement);
        busy.push(Block { cluster, placement });
    }
    if busy.iter().all(|block| ChipRectangle::of(set.device(), &block.cluster.chips).is_some()) {
        return Some(allocation.clone());
    }
    // The largest first; of those that are as large, in order.
    busy.sort_by_key(|block| std::cmp::Reverse(block.cluster.size()));
    let work = Work::new();
    let grid = TakenChips::new(set.device().chips(), set.device().chips_per_channel());
    let mut layout = LayoutSearch {
        set,
        analysis,
        test: analysis.demand_test(),
        busy,
        laid: Vec::new(),
        grid,
        failed: HashSet::new(),
        iterations: MAX_ITERATIONS,
        tests: MOST_TESTS,
        bound: work.bound(MAX_TEST_WORK),
        work: &work,
    };
    (0..=free).find_map(|extra| layout.place(extra))
}

struct Block {
    cluster: Cluster,
    placement: Option<Placement>,
}

struct TakenChips {
    ways: u32,
    taken: Vec<bool>,
}

#[derive(Clone, Copy)]
struct LaidRectangle {
    channel: u32,
    way: u32,
    channels: u32,
    ways: u32,
}

impl TakenChips {
    fn new(chips: u32, ways: u32) -> TakenChips {
        TakenChips { ways: ways.min(chips), taken: vec![false; chips as usize] }
    }

    fn channels(&self) -> u32 {
        u32::try_from(self.taken.len()).expect("chips have 32 bits").div_ceil(self.ways)
    }

    fn chips(&self, of: LaidRectangle) -> impl Iterator<Item = usize> + use<> {
        let per_channel = self.ways as usize;
        let of_channel = move |channel: u32| {
            (of.way..of.way + of.ways).map(move |way| channel as usize * per_channel + way as usize)
        };
        (of.channel..of.channel + of.channels).flat_map(of_channel)
    }

    /// Whether all of them are there, and free; and how many were looked at.
    fn is_free(&self, of: LaidRectangle) -> (bool, u64) {
        let mut iterations = 0;
        let all = self.chips(of).all(|chip| {
            iterations += 1;
            self.taken.get(chip) == Some(&false)
        });
        (all, iterations)
    }

    fn mark(&mut self, of: LaidRectangle, taken: bool) {
        for chip in self.chips(of) {
            self.taken[chip] = taken;
        }
    }
}

struct LayoutSearch<'a> {
    set: &'a TaskSet,
    analysis: &'a dyn Analysis,
    test: Option<DemandTest>,
    busy: Vec<Block>,
    laid: Vec<LaidRectangle>,
    grid: TakenChips,
    /// Under a utilization test: sizes that did not pass, wherever they are.
    failed: HashSet<Vec<u32>>,
    iterations: u64,
    tests: u64,
    work: &'a Work,
    bound: WorkBound<'a>,
}

impl LayoutSearch<'_> {
    fn is_over(&self) -> bool {
        self.iterations == 0 || self.tests == 0 || self.bound.left() == 0
    }

    fn place(&mut self, extra: u32) -> Option<Allocation> {
        let Some(block) = self.busy.get(self.laid.len()) else {
            return if extra == 0 { self.tested() } else { None };
        };
        let size = block.cluster.size();
        let is_last = self.laid.len() + 1 == self.busy.len();
        // The last one has all that is left over.
        for more in if is_last { extra } else { 0 }..=extra {
            for (channels, ways) in self.shapes(size.checked_add(more)?) {
                for channel in 0..=self.grid.channels() - channels {
                    for way in 0..=self.grid.ways - ways {
                        let field = LaidRectangle { channel, way, channels, ways };
                        let (is_free, iterations) = self.grid.is_free(field);
                        self.iterations = self.iterations.saturating_sub(iterations);
                        if self.is_over() {
                            return None;
                        }
                        if !is_free {
                            continue;
                        }
                        self.grid.mark(field, true);
                        self.laid.push(field);
                        let found = self.place(extra - more);
                        self.laid.pop();
                        self.grid.mark(field, false);
                        if found.is_some() {
                            return found;
                        }
                    }
                }
            }
        }
        None
    }

    /// Those first that are on as many channels as the cluster was.
    fn shapes(&self, chips: u32) -> Vec<(u32, u32)> {
        let cluster = &self.busy[self.laid.len()].cluster;
        let mut channels: Vec<u32> = cluster.chips.iter().map(|chip| chip.0 / self.grid.ways).collect();
        channels.dedup();
        let was = u32::try_from(channels.len()).expect("channels have 32 bits");
        let most = self.grid.channels().min(chips);
        let fitting =
            (1..=most).filter(|channels| chips.is_multiple_of(*channels) && chips / channels <= self.grid.ways);
        let mut shapes: Vec<(u32, u32)> = fitting.map(|channels| (channels, chips / channels)).collect();
        shapes.sort_by_key(|(channels, _)| channels.abs_diff(was));
        shapes
    }

    /// The chips left are free, each by itself.
    fn tested(&mut self) -> Option<Allocation> {
        let sizes: Vec<u32> = self.laid.iter().map(|field| field.channels * field.ways).collect();
        if self.test.is_none() && self.failed.contains(&sizes) {
            return None;
        }
        self.tests -= 1;
        let chip = |chip: usize| u32::try_from(chip).expect("chips have 32 bits");
        let mut clusters: Vec<(Cluster, Option<Placement>)> = Vec::new();
        for (block, field) in self.busy.iter().zip(&self.laid) {
            let chips = self.grid.chips(*field).map(|at| ChipId(chip(at))).collect();
            clusters.push((Cluster { chips, tasks: block.cluster.tasks.clone() }, block.placement));
        }
        let free = (0..self.grid.taken.len()).filter(|&at| !self.grid.taken[at]).map(|at| ChipId(chip(at)));
        let found = arranged(self.set, self.analysis, self.test, clusters, free, self.work);
        if found.is_none() && self.test.is_none() {
            self.failed.insert(sizes);
        }
        found
    }
}

/// Certified if the analysis has certificates; `None` unless every cluster passes.
pub(crate) fn arranged(
    set: &TaskSet,
    analysis: &dyn Analysis,
    test: Option<DemandTest>,
    mut clusters: Vec<(Cluster, Option<Placement>)>,
    free: impl Iterator<Item = ChipId>,
    work: &Work,
) -> Option<Allocation> {
    clusters.extend(free.map(|chip| (Cluster::of([chip.0], []), test.map(DemandTest::idle))));
    clusters.sort_by_key(|(cluster, _)| cluster.chips.first().copied());
    let (clusters, placements): (Vec<Cluster>, Vec<Option<Placement>>) = clusters.into_iter().unzip();
    let allocation = Allocation::new(set.device().chips(), set.tasks().len(), &clusters).ok()?;
    let Some(test) = test else {
        let passes = passing_charged(set, analysis, &allocation, work).into_iter().all(|passes| passes);
        return passes.then_some(allocation);
    };
    let placements: Vec<Placement> = placements.into_iter().collect::<Option<_>>()?;
    let certified = test.certify(set, &clusters, &placements, work);
    certified.failing.is_empty().then(|| allocation.with_certificates(certified.certificates))
}
