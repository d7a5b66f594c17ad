//! Groups in the order of their loads: which of many a task is tried in, without looking at all of
//! them. To look at all takes 1.9 times the instructions for 1,000 tasks on 1,024 chips.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// Groups that a task is tried in, at most, before it gets more chips.
const TRIED: usize = 24;
/// Groups that are made larger for a task, at most.
const GROWN: usize = 8;
/// Less than this is not left of a group's chips with a task that it holds.
const LEAST_SLACK: f64 = -0.25;

/// A load, by the total order of doubles.
#[derive(Debug, Clone, Copy)]
struct OrderedLoad(f64);

impl PartialEq for OrderedLoad {
    fn eq(&self, other: &OrderedLoad) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for OrderedLoad {}

impl PartialOrd for OrderedLoad {
    fn partial_cmp(&self, other: &OrderedLoad) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for OrderedLoad {
    fn cmp(&self, other: &OrderedLoad) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// A task's own smallest cluster, as far as groups are chosen by it.
#[derive(Debug, Clone, Copy)]
pub(super) struct AloneTask {
    /// What it takes of all chips: its load times its chips.
    pub(super) work: f64,
}

impl AloneTask {
    /// What is left of a group's chips with the task, as far as one can tell.
    fn slack(self, size: u32, load: f64) -> f64 {
        1.0 - load - self.work / f64::from(size)
    }
}

/// The groups that have chips, by their size and load.
#[derive(Debug, Default)]
pub(super) struct GroupsByLoad {
    of_size: BTreeMap<u32, BTreeSet<(OrderedLoad, usize)>>,
    /// Size and load of each group.
    known: Vec<(u32, f64)>,
}

impl GroupsByLoad {
    /// A group has this size and load now.
    pub(super) fn set(&mut self, position: usize, size: u32, load: f64) {
        if self.known.len() <= position {
            self.known.resize(position + 1, (0, 0.0));
        }
        let (size_before, load_before) = std::mem::replace(&mut self.known[position], (size, load));
        if let Some(groups) = self.of_size.get_mut(&size_before) {
            groups.remove(&(OrderedLoad(load_before), position));
            if groups.is_empty() {
                self.of_size.remove(&size_before);
            }
        }
        if size > 0 {
            self.of_size.entry(size).or_default().insert((OrderedLoad(load), position));
        }
    }

    /// The groups that a task is tried in as they are: the fullest first.
    pub(super) fn joinable(&self, alone: AloneTask, tried: &mut Vec<usize>) {
        let mut fullest = Greatest::of(TRIED);
        // The largest first, in which a task adds the least to the load.
        for (&size, groups) in self.of_size.iter().rev() {
            // A little further than those with the least slack, which then decides.
            let most = 1.0 - LEAST_SLACK - alone.work / f64::from(size) + 1e-9;
            let below = groups.range(..=(OrderedLoad(most), usize::MAX)).rev();
            let room = below.filter(|(load, _)| alone.slack(size, load.0) > LEAST_SLACK);
            let (mut count, mut last) = (0, None);
            for &(load, position) in room {
                // Of equal ones all, as the lower positions come last here.
                if count >= TRIED && last != Some(load) || !fullest.offer(load, position) {
                    break;
                }
                (count, last) = (count + 1, Some(load));
            }
        }
        fullest.into_positions(tried);
    }

    /// The groups that are given more chips for a task: those with the most room first.
    pub(super) fn growable(&self, alone: AloneTask, tried: &mut Vec<usize>) {
        let mut with_room = Greatest::of(GROWN);
        for (&size, groups) in self.of_size.iter().rev() {
            let (mut count, mut last) = (0, None);
            for &(load, position) in groups {
                let slack = OrderedLoad(alone.slack(size, load.0));
                // Loads that differ may leave the same.
                if count >= GROWN && last != Some(slack) || !with_room.offer(slack, position) {
                    break;
                }
                (count, last) = (count + 1, Some(slack));
            }
        }
        with_room.into_positions(tried);
    }
}

/// The positions of the greatest numbers, of equal ones the lowest positions first.
struct Greatest {
    most: usize,
    /// The greatest numbers so far, ascending.
    numbers: Vec<OrderedLoad>,
    /// Whatever was among them when it was offered.
    offered: Vec<(OrderedLoad, usize)>,
}

impl Greatest {
    fn of(most: usize) -> Greatest {
        Greatest { most, numbers: Vec::with_capacity(most), offered: Vec::with_capacity(2 * most) }
    }

    /// Takes one more. Whether it may be among them: no smaller number is, either, if not.
    fn offer(&mut self, number: OrderedLoad, position: usize) -> bool {
        if self.numbers.len() == self.most {
            let least = self.numbers[0];
            if number < least {
                return false;
            }
            self.numbers.remove(0);
        }
        let at = self.numbers.partition_point(|&other| other < number);
        self.numbers.insert(at, number);
        self.offered.push((number, position));
        true
    }

    fn into_positions(mut self, positions: &mut Vec<usize>) {
        self.offered.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        positions.extend(self.offered.into_iter().take(self.most).map(|(_, position)| position));
    }
}

#[cfg(test)]
mod tests {
    use rtflash_model::random::Stream;

    use super::*;

    /// All groups looked at and sorted.
    fn by_looking(groups: &[(u32, f64)], alone: AloneTask) -> (Vec<usize>, Vec<usize>) {
        let slack = |at: usize| alone.slack(groups[at].0, groups[at].1);
        let mut joinable: Vec<usize> = (0..groups.len()).filter(|&at| groups[at].0 > 0).collect();
        let mut growable = joinable.clone();
        joinable.retain(|&at| slack(at) > LEAST_SLACK);
        joinable.sort_by(|&a, &b| groups[b].1.total_cmp(&groups[a].1).then(a.cmp(&b)));
        growable.sort_by(|&a, &b| slack(b).total_cmp(&slack(a)).then(a.cmp(&b)));
        joinable.truncate(TRIED);
        growable.truncate(GROWN);
        (joinable, growable)
    }

    /// Many groups with few loads, so that there are ties, changed again and again.
    #[test]
    fn the_index_finds_what_looking_at_all_finds() {
        let mut cut = 0;
        for number in 0..300 {
            let mut random = Stream::numbered(3, b"fullness", number);
            let count = 1 + usize::try_from(random.below(120)).expect("few");
            let (mut index, mut groups) = (GroupsByLoad::default(), vec![(0, 0.0); count]);
            for _ in 0..400 {
                let at = usize::try_from(random.below(count as u64)).expect("few");
                // Few sizes and loads for some, and loads that differ by less than their slack can.
                let (sizes, of) = [(5, 16), (5, 1 << 40), (2, 3)][usize::try_from(number % 3).expect("one of three")];
                let size = u32::try_from(random.below(sizes)).expect("few");
                let load = random.below(of) as f64 / of as f64 + if random.below(20) == 0 { 0.5 } else { 0.0 };
                let load = if load == 0.0 { random.below(9) as f64 * 1e-20 } else { load };
                index.set(at, size, load);
                groups[at] = (size, load);
            }
            for tenths in 0..20 {
                let alone = AloneTask { work: f64::from(tenths) / 10.0 };
                let (mut joinable, mut growable) = (Vec::new(), Vec::new());
                index.joinable(alone, &mut joinable);
                index.growable(alone, &mut growable);
                cut += usize::from(joinable.len() == TRIED);
                assert_eq!((joinable, growable), by_looking(&groups, alone), "{number} {tenths}");
            }
        }
        assert!(cut > 500, "{cut}");
    }
}
