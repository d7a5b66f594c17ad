//! The changes that would make a set schedulable that is not: computed by allocating again, never
//! guessed.

mod served;

use rtflash_analysis::reason::Reason;
use rtflash_analysis::{Analysis, Work};
use rtflash_model::{DeviceSpec, LogicalRatio, MAX_CHIPS, Task, TaskSet};

use crate::allocator::{Allocator, BestFit, ClusteringBfd, ClusteringSearch, EqualSplit, Global, Outcome};
use crate::sizing::{
    Front, FrontAxes, FrontPoint, LargestRatio, MORE_CHIPS, RATIO_STEPS, TIMES_CHIPS, at_load, front_within,
    largest_ratio, nearest, with_device,
};

pub use served::{LONGER, RequestTime, ServedBy, Supposed};

/// Changes each of which alone makes the set schedulable. `None`: no such change was found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Advice {
    /// The needs of each task with requests that no number of chips serves.
    pub served: Vec<ServedBy>,
    /// The changes that the others suppose; `None` if nothing was found that serves all of them.
    pub supposed: Option<Supposed>,
    /// A number of chips above the device's that is enough.
    pub chips: Option<MoreChips>,
    /// A number of channels above the device's that is enough, with as many chips.
    pub channels: Option<u32>,
    /// Chips and λ together, perhaps by another algorithm, or with other channels if nothing else
    /// was found. `None` also if `chips` says as much.
    pub together: Option<Front>,
    /// The largest λ that passes, or if data do not fit, the first step with which they do.
    pub logical_ratio: Option<LargestRatio>,
    /// The share of today's load that passes, in thousandths: periods grow by its inverse.
    pub load_permille: Option<u32>,
    /// For data that do not fit: how much of them would.
    pub less_data: Option<LessData>,
    /// Another algorithm that finds an allocation, under the same analysis.
    pub algorithm: Option<&'static str>,
    /// Failures at once, below today's, with which the set passes, and not with one more.
    pub program_failures: Option<u32>,
}

/// Data that would fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LessData {
    /// In thousandths, and the next does not fit: pages rounded down, at least one, and with
    /// sequential requests at least as many as they have.
    pub permille: u32,
    /// All data then, in pages, of the tasks that declare any.
    pub pages: u128,
}

/// A number of chips that is enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MoreChips {
    /// The number.
    pub chips: u32,
    /// Whether every number between the device's and it was tried and fails.
    pub fewest: bool,
    /// If this leaves a channel partly filled.
    pub whole_channels: Option<u32>,
}

/// Tasks times chips up to which every number of chips is tried.
const THOROUGH: u64 = 20_000;
/// Tasks times chips above which nothing is tried: longer than a person waits.
const TOO_LARGE: u64 = 1_000_000;

const MAX_WORK: u64 = 150_000_000;
const MOST_TOGETHER: u64 = 2_000_000;

/// Looks for changes that help; deterministic and bounded. No device of more than [`TIMES_CHIPS`]
/// times the chips, and [`MORE_CHIPS`], is tried, and none where a request takes too long on any.
pub fn advise(set: &TaskSet, allocator: &dyn Allocator, analysis: &dyn Analysis) -> Advice {
    if size(set, set.device().chips()) > TOO_LARGE {
        return Advice::default();
    }
    let (served, mended) = served::served_by(set, allocator, analysis);
    if served.is_empty() {
        return changes(set, allocator, analysis);
    }
    let Some((supposed, set)) = mended else { return Advice { served, ..Advice::default() } };
    let enough = allocator.allocate(&set, analysis).is_schedulable() == Some(true);
    let advice = if enough { Advice::default() } else { changes(&set, allocator, analysis) };
    Advice { served, supposed: Some(Supposed { enough, ..supposed }), ..advice }
}

fn most_chips(set: &TaskSet) -> u32 {
    set.device().chips().saturating_mul(TIMES_CHIPS).saturating_add(MORE_CHIPS).min(MAX_CHIPS)
}

fn changes(set: &TaskSet, allocator: &dyn Allocator, analysis: &dyn Analysis) -> Advice {
    // The reason says which way λ has to go, and what else might help.
    let data = match allocator.allocate(set, analysis) {
        Outcome::NotSchedulable(failure) => matches!(failure.unplaced.reason, Reason::Data(_)),
        Outcome::Partitioned(verdict) => !verdict.space.fits(),
        Outcome::Schedulable(_) | Outcome::Impossible(_) | Outcome::CannotTell(_) => false,
    };
    // Blocks that fail need no other λ.
    let fewer = set.device().program_failures() > 0 && !data;
    let part = MAX_WORK / if data || fewer { 8 } else { 4 };
    let other = |allocator: &&'static dyn Allocator| {
        within(part / 8, set, *allocator, analysis, |set, passes| passes(set).then(|| allocator.name()))
    };
    let chips = within(2 * part, set, allocator, analysis, more_chips).map(|more| {
        let whole = |set: &TaskSet, passes: &dyn Fn(&TaskSet) -> bool| whole_channels(set, more.chips, passes);
        MoreChips { whole_channels: within(part / 2, set, allocator, analysis, whole), ..more }
    });
    let together = |axes: FrontAxes, work: u64| {
        let axes = FrontAxes { chips: true, logical_ratio: true, algorithm: true, ..axes };
        front_within(set, allocator, analysis, axes, MOST_TOGETHER, work)
    };
    let mut front = together(FrontAxes::default(), 2 * part);
    if front.points.is_empty() {
        front = together(FrontAxes { channels: true, ..FrontAxes::default() }, part / 2);
    }
    let own = (set.device().logical_ratio(), allocator.name());
    let is_known = |point: &FrontPoint| {
        (point.logical_ratio, point.algorithm) == own && chips.is_some_and(|more| more.chips == point.chips)
    };
    let says_more = front.points.iter().any(|point| !is_known(point));
    Advice {
        served: Vec::new(),
        supposed: None,
        chips,
        channels: within(part / 2, set, allocator, analysis, more_channels),
        together: says_more.then_some(front),
        logical_ratio: if data {
            let higher = within(part, set, allocator, analysis, higher_ratio);
            higher.map(|ratio| LargestRatio { ratio, steps: RATIO_STEPS })
        } else {
            let work = Work::new();
            largest_ratio(set, allocator, analysis, MOST_TOGETHER, work.bound(part), &work).value()
        },
        load_permille: within(part, set, allocator, analysis, less_load),
        less_data: data.then(|| within(part, set, allocator, analysis, less_data)).flatten(),
        algorithm: OTHERS.iter().filter(|other| other.name() != allocator.name()).find_map(other),
        program_failures: fewer.then(|| within(part, set, allocator, analysis, fewer_failures)).flatten(),
    }
}

/// Algorithms of little work that may find what another one does not.
static OTHERS: [&dyn Allocator; 5] = [&ClusteringBfd, &ClusteringSearch, &EqualSplit, &Global, &BestFit];

/// A boundary between what passes and fails; one beside a trial that was left out is none.
fn within<T>(
    max_work: u64,
    set: &TaskSet,
    allocator: &dyn Allocator,
    analysis: &dyn Analysis,
    look: impl FnOnce(&TaskSet, &dyn Fn(&TaskSet) -> bool) -> Option<T>,
) -> Option<T> {
    let work = Work::new();
    let bound = work.bound(max_work);
    let passes =
        |set: &TaskSet| bound.left() > 0 && allocator.divide(set, analysis, &work).is_schedulable() == Some(true);
    look(set, &passes).filter(|_| bound.left() > 0)
}

fn size(set: &TaskSet, chips: u32) -> u64 {
    set.tasks().len() as u64 * u64::from(chips)
}

/// The first that fills whole channels; `None` where `chips` does.
fn whole_channels(set: &TaskSet, chips: u32, passes: &dyn Fn(&TaskSet) -> bool) -> Option<u32> {
    /// More chips are not always better: clusters may wait for each other.
    const TRIED: u32 = 4;
    let ways = set.device().chips_per_channel();
    if chips.is_multiple_of(ways) {
        return None;
    }
    let channels = chips.div_ceil(ways);
    let counts = (channels..channels.saturating_add(TRIED)).filter_map(|channels| channels.checked_mul(ways));
    let mut counts = counts.filter(|&chips| chips <= MAX_CHIPS && size(set, chips) <= TOO_LARGE);
    counts.find(|&chips| with_device(set, |spec| DeviceSpec { chips, ..spec }).is_some_and(|set| passes(&set)))
}

fn more_channels(set: &TaskSet, passes: &dyn Fn(&TaskSet) -> bool) -> Option<u32> {
    let (chips, ways) = (set.device().chips(), set.device().chips_per_channel());
    (1..ways.min(chips)).rev().find_map(|chips_per_channel| {
        let changed = with_device(set, |spec| DeviceSpec { chips_per_channel, ..spec })?;
        passes(&changed).then(|| chips.div_ceil(chips_per_channel))
    })
}

/// Beyond a bound only doublings are tried, and the gap is bisected.
fn more_chips(set: &TaskSet, passes: &dyn Fn(&TaskSet) -> bool) -> Option<MoreChips> {
    let enough = |chips| with_device(set, |spec| DeviceSpec { chips, ..spec }).is_some_and(|set| passes(&set));
    let now = set.device().chips();
    // One chip for each task and as many again is more than any task needs company or room for, but
    // a task may need many chips by itself.
    let mut tried = now;
    let most = most_chips(set);
    while tried < most && size(set, tried + 1) <= THOROUGH && tried < now.saturating_add(256) {
        tried += 1;
        if enough(tried) {
            return Some(MoreChips { chips: tried, fewest: true, whole_channels: None });
        }
    }
    let (mut failing, mut step) = (tried, tried.max(1));
    let mut passing = loop {
        let chips = failing.saturating_add(step).min(most);
        if size(set, chips) > TOO_LARGE || chips == failing {
            return None;
        }
        if enough(chips) {
            break chips;
        }
        (failing, step) = (chips, step.saturating_mul(2));
    };
    while failing + 1 < passing {
        let middle = u32::midpoint(failing, passing);
        if enough(middle) { passing = middle } else { failing = middle }
    }
    Some(MoreChips { chips: passing, fewest: false, whole_channels: None })
}

/// The smallest λ in thousandths where that is little work, else by doubling and bisection.
fn higher_ratio(set: &TaskSet, passes: &dyn Fn(&TaskSet) -> bool) -> Option<LogicalRatio> {
    const STEPS: u64 = RATIO_STEPS as u64;
    let below = set.device().logical_ratio().floor_of(STEPS);
    let ratio = |step: u64| LogicalRatio::from_decimal(u128::from(step), STEPS.ilog10()).ok();
    let enough = |step: u64| {
        let changed =
            ratio(step).and_then(|ratio| with_device(set, |spec| DeviceSpec { logical_ratio: ratio, ..spec }));
        // A device without room as a whole needs no algorithm's try.
        changed.is_some_and(|set| declared(&set) <= set.device().logical_pages() && passes(&set))
    };
    if STEPS * size(set, set.device().chips()) <= TOO_LARGE {
        return (below + 1..STEPS).find(|&step| enough(step)).and_then(ratio);
    }
    nearest(STEPS - below, |more| enough(below + more)).and_then(|more| ratio(below + more))
}

fn declared(set: &TaskSet) -> u128 {
    set.tasks().iter().filter_map(|task| task.data_pages).map(u128::from).sum()
}

fn less_data(set: &TaskSet, passes: &dyn Fn(&TaskSet) -> bool) -> Option<LessData> {
    let with = |permille: u32| {
        let task = |task: &Task| {
            let requests = [task.read, task.write].into_iter().flatten();
            let rows = requests.filter(|request| request.access().is_consecutive()).map(|request| request.pages());
            let least = rows.fold(1, u64::max);
            let share = |pages: u64| u128::from(pages) * u128::from(permille) / 1_000;
            let data_pages = task.data_pages.map(|pages| u64::try_from(share(pages)).unwrap_or(pages).max(least));
            Task { data_pages, ..task.clone() }
        };
        let tasks = set.tasks().iter().map(task).collect();
        TaskSet::new(*set.device(), tasks, set.jobs().to_vec()).ok()
    };
    let permille = bisected(1_000, |permille| with(permille).is_some_and(|set| passes(&set)));
    let pages = declared(&with(permille)?);
    (permille > 0).then_some(LessData { permille, pages })
}

fn fewer_failures(set: &TaskSet, passes: &dyn Fn(&TaskSet) -> bool) -> Option<u32> {
    let with = |failures: u32| with_device(set, |spec| DeviceSpec { program_failures: Some(failures), ..spec });
    let enough = |failures: u32| with(failures).is_some_and(|set| passes(&set));
    enough(0).then(|| bisected(set.device().program_failures(), enough))
}

fn less_load(set: &TaskSet, passes: &dyn Fn(&TaskSet) -> bool) -> Option<u32> {
    let permille = bisected(1_000, |permille| at_load(set, permille).is_some_and(|set| passes(&set)));
    (permille > 0).then_some(permille)
}

/// A number below `failing` that passes, while the next does not: by bisection.
fn bisected(mut failing: u32, passes: impl Fn(u32) -> bool) -> u32 {
    let mut passing = 0;
    while passing + 1 < failing {
        let middle = u32::midpoint(passing, failing);
        if passes(middle) { passing = middle } else { failing = middle }
    }
    passing
}

#[cfg(test)]
mod tests {
    use rtflash_analysis::Thesis;
    use rtflash_model::{Device, Request, Span};

    use super::*;
    use crate::allocator::{ClusteringBfd, FullIsolation, Global};
    use crate::sizing::LargestRatio;

    fn set(chips: u32, writers: usize) -> TaskSet {
        let spec = Device::profile("dgist-2021").unwrap().spec();
        let device = Device::new(DeviceSpec { chips, ..spec }).unwrap();
        let writer = |index| Task {
            name: format!("w{index}"),
            read: None,
            write: Request::new(24, Span::from_us(30_000)),
            data_pages: None,
        };
        TaskSet::new(device, (0..writers).map(writer).collect(), vec![]).unwrap()
    }

    /// Advice passes, and one step less does not.
    #[test]
    fn advice_is_true_and_tight() {
        for allocator in [&ClusteringBfd as &dyn Allocator, &FullIsolation, &Global] {
            let set = set(3, 3);
            let passes = |set: Option<TaskSet>| allocator.allocate(&set.unwrap(), &Thesis).is_schedulable().unwrap();
            assert!(!passes(Some(set.clone())));
            let advice = advise(&set, allocator, &Thesis);
            if let Some(more) = advice.chips {
                assert!(more.fewest && passes(with_device(&set, |spec| DeviceSpec { chips: more.chips, ..spec })));
                assert!(!passes(with_device(&set, |spec| DeviceSpec { chips: more.chips - 1, ..spec })));
                let ways = set.device().chips_per_channel();
                assert_eq!(more.whole_channels.is_none(), more.chips.is_multiple_of(ways));
                if let Some(chips) = more.whole_channels {
                    assert!(chips.is_multiple_of(ways) && chips > more.chips && chips < more.chips + ways);
                    assert!(passes(with_device(&set, |spec| DeviceSpec { chips, ..spec })));
                }
            }
            if let Some(LargestRatio { ratio, steps }) = advice.logical_ratio {
                assert_eq!(steps, 1_000, "the work is enough for the finest steps");
                assert!(passes(with_device(&set, |spec| DeviceSpec { logical_ratio: ratio, ..spec })));
                let next = LogicalRatio::from_decimal(u128::from(ratio.floor_of(1_000)) + 1, 3).unwrap();
                assert!(!passes(with_device(&set, |spec| DeviceSpec { logical_ratio: next, ..spec })));
            }
            let permille = advice.load_permille.unwrap();
            assert!(passes(at_load(&set, permille)) && !passes(at_load(&set, permille + 1)));
        }
        // More chips help the algorithms that use them, and only those.
        assert!(advise(&set(3, 3), &ClusteringBfd, &Thesis).chips.is_some());
        assert_eq!(advise(&set(3, 3), &FullIsolation, &Thesis).chips, None);
    }
}
