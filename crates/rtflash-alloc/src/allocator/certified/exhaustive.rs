//! Every partition, every size, every place: what `exact` tries where its clusters hold only next
//! to the right neighbours.

use std::collections::BTreeMap;

use rtflash_model::{Allocation, ChipId, Cluster, Placement, TaskId};

use super::Problem;
use super::organisations::{Organisation, Organisations};
use super::sizes::DemandSizes;
use crate::allocator::exact;
use crate::certified::TrialAnswers;

type DemandSubsets<'s, 'a> = exact::Subsets<DemandSizes<'s, 'a>>;

/// Chips of all allocations that are tried, together.
const TRIED: u64 = 48_000;
/// What a trial counts for, where a step towards one counts for one.
const TRIAL: u64 = 64;
/// Channels beyond which clusters are only tried one behind the other.
const MOST_CHANNELS: usize = 64;

/// Looks for an allocation that holds. `organisations` and `subsets` are as if no page ever waited
/// for the bus: no subset holds in fewer chips. What is tried is bounded; on small devices it is
/// everything.
pub(super) fn search(
    problem: Problem<'_>,
    organisations: &Organisations<'_>,
    subsets: &DemandSubsets<'_, '_>,
    given_up: &mut bool,
) -> Option<Allocation> {
    let device = problem.set.device();
    let chips = u64::from(device.chips());
    let mut search = ExhaustiveSearch {
        problem,
        organisations,
        given_up,
        left: TRIED / chips.max(4) * TRIAL,
        trials: TrialAnswers::default(),
        fitting: BTreeMap::new(),
    };
    // First each partition as it needs the fewest chips, then what is left of the work shared
    // among them.
    let partitions = subsets.partitions(usize::try_from(search.left / TRIAL / 4).expect("a few thousand"));
    let all: Vec<Vec<TaskBlock>> = partitions.into_iter().map(|parts| search.parts(subsets, parts)).collect();
    for parts in &all {
        let sizes: Vec<u32> = parts.iter().map(|part| part.least).collect();
        // Enough for one trial.
        if let Some(found) = search.places(parts, &sizes, TRIAL + (parts.len() * MOST_CHANNELS) as u64) {
            return Some(found);
        }
    }
    for (position, parts) in all.iter().enumerate() {
        let (before, share) = (search.left, search.left / (all.len() - position) as u64);
        if let Some(found) = search.sizes(parts, before - share) {
            return Some(found);
        }
    }
    None
}

/// Tasks that are to share a cluster, and how many chips it has at least.
#[derive(Debug)]
struct TaskBlock {
    block: usize,
    tasks: Vec<TaskId>,
    least: u32,
}

struct ExhaustiveSearch<'s> {
    problem: Problem<'s>,
    organisations: &'s Organisations<'s>,
    given_up: &'s mut bool,
    left: u64,
    trials: TrialAnswers,
    /// The placements with which a subset of the tasks holds in a cluster of some size, without any
    /// waiting.
    fitting: BTreeMap<(usize, u32), Vec<Placement>>,
}

impl ExhaustiveSearch<'_> {
    fn parts(&self, subsets: &DemandSubsets<'_, '_>, blocks: Vec<usize>) -> Vec<TaskBlock> {
        let part = |block: usize| {
            let least = subsets.chips_of(block).expect("the blocks of a partition hold somewhere");
            TaskBlock { block, tasks: subsets.members(block), least }
        };
        blocks.into_iter().map(part).collect()
    }

    /// All sizes of the clusters, the smaller sums first, down to so much work left.
    fn sizes(&mut self, parts: &[TaskBlock], floor: u64) -> Option<Allocation> {
        let least: u32 = parts.iter().map(|part| part.least).sum();
        for more in 0..=self.problem.set.device().chips() - least {
            let mut given = vec![0; parts.len()];
            if let Some(found) = self.give(parts, &mut given, 0, more, floor) {
                return Some(found);
            }
            if self.left <= floor {
                break;
            }
        }
        None
    }

    /// Gives `more` chips to the clusters from `next` on, in every way.
    fn give(
        &mut self,
        parts: &[TaskBlock],
        given: &mut Vec<u32>,
        next: usize,
        more: u32,
        floor: u64,
    ) -> Option<Allocation> {
        if self.left <= floor {
            return None;
        }
        if next + 1 >= parts.len() {
            if let Some(last) = given.last_mut() {
                *last = more;
            }
            let sizes: Vec<u32> = parts.iter().zip(given).map(|(part, given)| part.least + *given).collect();
            return self.places(parts, &sizes, self.left - floor);
        }
        for here in (0..=more).rev() {
            given[next] = here;
            if let Some(found) = self.give(parts, given, next + 1, more - here, floor) {
                return Some(found);
            }
        }
        None
    }

    /// Clusters of these sizes on all chips that differ, with all placements of their pages, at
    /// most so many of them.
    fn places(&mut self, parts: &[TaskBlock], sizes: &[u32], most: u64) -> Option<Allocation> {
        self.left = self.left.saturating_sub(1);
        if parts.iter().zip(sizes).any(|(part, &size)| self.fitting(part, size).is_empty()) {
            return None;
        }
        let floor = self.left.saturating_sub(most);
        let device = self.problem.set.device();
        let ways = device.chips_per_channel();
        let starts = (0..device.chips()).step_by(ways as usize);
        let room: Vec<u32> = starts.map(|start| (device.chips() - start).min(ways)).collect();
        let mut plans = Plans { sizes, on: vec![vec![0; room.len()]; sizes.len()], room, ways };
        if plans.room.len() > MOST_CHANNELS {
            plans.in_order();
            return self.placements(parts, &plans, floor);
        }
        self.place(parts, &mut plans, 0, 0, 0, floor)
    }

    /// Gives chips of the channels from `channel` on to the cluster `at`, which has `had` chips
    /// already, then to those behind it.
    fn place(
        &mut self,
        parts: &[TaskBlock],
        plans: &mut Plans<'_>,
        at: usize,
        channel: usize,
        had: u32,
        floor: u64,
    ) -> Option<Allocation> {
        if self.left <= floor {
            return None;
        }
        self.left -= 1;
        if at == parts.len() {
            return self.placements(parts, plans, floor);
        }
        let wanted = plans.sizes[at] - had;
        if wanted == 0 {
            return self.place(parts, plans, at + 1, 0, 0, floor);
        }
        if channel == plans.room.len() {
            return None;
        }
        let most = wanted.min(plans.room[channel]);
        let most = plans.like_before(at, channel).map_or(most, |before| most.min(before));
        for here in (0..=most).rev() {
            plans.on[at][channel] = here;
            plans.room[channel] -= here;
            let found = self.place(parts, plans, at, channel + 1, had + here, floor);
            plans.room[channel] += here;
            plans.on[at][channel] = 0;
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// The placements that a part of this size may have.
    fn fitting(&mut self, part: &TaskBlock, chips: u32) -> &[Placement] {
        let (organisations, placements) = (self.organisations, self.problem.test.placements);
        self.fitting.entry((part.block, chips)).or_insert_with(|| {
            let holds = |placement: &Placement| {
                let organisation = Organisation::on_any_chips(*placement);
                organisations.may_be(organisation, chips)
                    && organisations.load(&part.tasks, organisation, chips).is_some()
            };
            placements.iter().copied().filter(holds).collect()
        })
    }

    /// These chips with all placements of pages.
    fn placements(&mut self, parts: &[TaskBlock], plans: &Plans<'_>, floor: u64) -> Option<Allocation> {
        let Problem { set, test, work, .. } = self.problem;
        let kinds: Vec<Vec<Placement>> =
            parts.iter().zip(plans.sizes).map(|(part, &size)| self.fitting(part, size).to_vec()).collect();
        let ways = kinds.iter().fold(1u64, |ways, kinds| ways.saturating_mul(kinds.len() as u64));
        for number in 0..ways {
            if self.left <= floor {
                return None;
            }
            self.left = self.left.saturating_sub(TRIAL);
            let mut rest = number;
            let next = |kinds: &Vec<Placement>| {
                let kind = usize::try_from(rest % kinds.len() as u64).expect("a position in a list");
                rest /= kinds.len() as u64;
                kinds[kind]
            };
            let chosen: Vec<Placement> = kinds.iter().map(next).collect();
            let (clusters, chosen) = plans.clusters(parts, &chosen, test.idle());
            let trial = test.tried(set, &clusters, &chosen, work, &self.trials);
            *self.given_up |= trial.given_up;
            if !trial.holds {
                continue;
            }
            let certified = test.certify(set, &clusters, &chosen, work);
            if certified.failing.is_empty() {
                let allocation = Allocation::new(set.device().chips(), set.tasks().len(), &clusters).ok()?;
                return Some(allocation.with_certificates(certified.certificates));
            }
        }
        None
    }
}

/// How many chips of each channel each cluster has.
struct Plans<'p> {
    sizes: &'p [u32],
    on: Vec<Vec<u32>>,
    /// Chips of each channel that are free.
    room: Vec<u32>,
    ways: u32,
}

impl Plans<'_> {
    /// One cluster behind the other.
    fn in_order(&mut self) {
        let mut channel = 0;
        for (&size, on) in self.sizes.iter().zip(&mut self.on) {
            let mut left = size;
            while left > 0 && channel < self.room.len() {
                let here = left.min(self.room[channel]);
                on[channel] += here;
                self.room[channel] -= here;
                left -= here;
                channel += usize::from(self.room[channel] == 0);
            }
        }
    }

    /// Chips that the cluster has on the channel before this one, if the two are the same up to
    /// there: of two ways to exchange them one is enough.
    fn like_before(&self, at: usize, channel: usize) -> Option<u32> {
        let before = channel.checked_sub(1)?;
        let given = self.on[at][before];
        let same =
            self.room[before] + given == self.room[channel] && self.on[..at].iter().all(|on| on[before] == on[channel]);
        same.then_some(given)
    }

    /// The clusters and their placements, chips left over as clusters of their own.
    fn clusters(
        &self,
        parts: &[TaskBlock],
        placements: &[Placement],
        free: Placement,
    ) -> (Vec<Cluster>, Vec<Placement>) {
        let mut next: Vec<u32> = (0u32..).step_by(self.ways as usize).take(self.room.len()).collect();
        let mut all: Vec<(Cluster, Placement)> = Vec::new();
        for ((part, on), &placement) in parts.iter().zip(&self.on).zip(placements) {
            let mut chips = Vec::new();
            for (next, &count) in next.iter_mut().zip(on) {
                chips.extend((*next..*next + count).map(ChipId));
                *next += count;
            }
            all.push((Cluster { chips, tasks: part.tasks.clone() }, placement));
        }
        for (next, &room) in next.iter().zip(&self.room) {
            all.extend((*next..*next + room).map(|chip| (Cluster::of([chip], []), free)));
        }
        all.sort_by_key(|(cluster, _)| cluster.chips.first().copied());
        all.into_iter().unzip()
    }
}
