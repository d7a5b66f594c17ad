//! Every partition, every size, every place: what `exact` tries where its clusters hold only next
//! to the right neighbours.

use rtflash_model::{Allocation, Placement};

use super::organisations::Organisations;
use super::partition_trials::{MOST_CHANNELS, PartitionTrials, TRIAL};
use super::plans::{Plans, TaskBlock};
use super::sizes::DemandSizes;
use super::{BoundedSearch, refine};
use crate::allocator::exact;

type DemandSubsets<'s, 'a> = exact::Subsets<DemandSizes<'s, 'a>>;

/// Chips of all allocations that are refined, together.
const REFINED: u64 = 16_000;
/// Chips of all allocations that are tried whatever they look like, together.
const TRIED: u64 = 48_000;
/// Partitions that are looked at, times chips.
const MOST_PARTITIONS: u64 = 12_000;
/// So many times as much on devices whose chips have two page registers: there the right neighbours
/// make more of a difference.
const WITH_TWO_REGISTERS: u64 = 10;
/// Fewer chips count as this number.
const FEWEST: u64 = 4;

/// Parts of some sizes, with the placements of pages that each may have.
struct SizedParts<'p> {
    parts: &'p [TaskBlock],
    kinds: Vec<Vec<Placement>>,
}

/// Looks for an allocation that holds. `organisations` and `subsets` are as if no page ever waited
/// for the bus: no subset holds in fewer chips. What is tried is bounded; on small devices it is
/// everything.
pub(super) fn search(
    from: &BoundedSearch<'_>,
    organisations: &Organisations<'_>,
    subsets: &DemandSubsets<'_, '_>,
) -> Option<Allocation> {
    let device = from.problem.set.device();
    let chips = u64::from(device.chips()).max(FEWEST);
    let more = if device.has_cache_register() { WITH_TWO_REGISTERS } else { 1 };
    let (refined, tried) = (more * REFINED / chips * TRIAL, TRIED / chips * TRIAL);
    let mut search = PartitionTrials::new(from, organisations, refined);
    // First those that look best, as they can be refined; then each partition as it needs the
    // fewest chips, then what is left of the work shared among them.
    let partitions = subsets.partitions(usize::try_from(more * MOST_PARTITIONS / chips).expect("a few thousand"));
    let block = |block: usize| {
        let least = subsets.chips_of(block).expect("the blocks of a partition hold somewhere");
        TaskBlock { block, tasks: subsets.members(block), least }
    };
    let all: Vec<Vec<TaskBlock>> =
        partitions.into_iter().map(|blocks| blocks.into_iter().map(block).collect()).collect();
    if let Some(found) = refine::search(&mut search, &all) {
        return Some(found);
    }
    search.left = tried;
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

impl PartitionTrials<'_> {
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

    /// Clusters of these sizes on all chips that differ, with all placements of their pages, for at
    /// most this work.
    fn places(&mut self, parts: &[TaskBlock], sizes: &[u32], most: u64) -> Option<Allocation> {
        self.left = self.left.saturating_sub(1);
        let kinds: Vec<Vec<Placement>> =
            parts.iter().zip(sizes).map(|(part, &size)| self.fitting(part, size)).collect();
        if kinds.iter().any(|kinds| kinds.is_empty()) {
            return None;
        }
        let sized = SizedParts { parts, kinds };
        let floor = self.left.saturating_sub(most);
        let mut plans = Plans::new(self.problem.set.device(), sizes.to_vec());
        if plans.room.len() > MOST_CHANNELS {
            plans.in_order();
            return self.placements(&sized, &plans, floor);
        }
        self.place(&sized, &mut plans, 0, 0, 0, floor)
    }

    /// Gives chips of the channels from `channel` on to the cluster `at`, which has `had` chips
    /// already, then to those behind it.
    fn place(
        &mut self,
        sized: &SizedParts<'_>,
        plans: &mut Plans,
        at: usize,
        channel: usize,
        had: u32,
        floor: u64,
    ) -> Option<Allocation> {
        if self.left <= floor {
            return None;
        }
        self.left -= 1;
        if at == sized.parts.len() {
            return self.placements(sized, plans, floor);
        }
        let wanted = plans.sizes[at] - had;
        if wanted == 0 {
            return self.place(sized, plans, at + 1, 0, 0, floor);
        }
        if channel == plans.room.len() {
            return None;
        }
        let most = wanted.min(plans.room[channel]);
        let most = plans.like_before(at, channel).map_or(most, |before| most.min(before));
        for here in (0..=most).rev() {
            *plans.of(at, channel) = here;
            plans.room[channel] -= here;
            let found = self.place(sized, plans, at, channel + 1, had + here, floor);
            plans.room[channel] += here;
            *plans.of(at, channel) = 0;
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// These chips with all placements of pages.
    fn placements(
        &mut self,
        SizedParts { parts, kinds }: &SizedParts<'_>,
        plans: &Plans,
        floor: u64,
    ) -> Option<Allocation> {
        let test = self.problem.test;
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
            if let Ok(allocation) = self.tried(&clusters, &chosen) {
                return allocation;
            }
        }
        None
    }
}
