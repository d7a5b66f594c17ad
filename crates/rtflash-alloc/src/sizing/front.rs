//! Devices on which a set passes, none of them better in every respect than another: a Pareto
//! front over chips, channels, λ and the algorithm.

use rtflash_model::{Device, DeviceSpec, LogicalRatio, MAX_CHIPS, TaskSet};

use super::{MAX_TEST_WORK, MOST_WORK, RATIO_STEPS};
use crate::allocator::{ALLOCATORS, Allocator, PartFtlTest, excluded};
use crate::analysis::{Analysis, Test};
use crate::certified::never_served;
use crate::reason::TooLong;
use crate::work::{Work, WorkBound};

/// The axes of a front; everything else stays as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FrontAxes {
    /// The number of chips: fewer are better.
    pub chips: bool,
    /// The number of channels, with the same number of chips on each, the last one perhaps partly
    /// filled: fewer are better. Without it a channel has as many chips as it has now.
    pub channels: bool,
    /// λ: a larger one is better.
    pub logical_ratio: bool,
    /// The algorithm that divides the chips: the one that was asked for, else any other that takes
    /// no longer.
    pub algorithm: bool,
}

/// A device on which the set passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrontPoint {
    /// Its chips.
    pub chips: u32,
    /// Its channels.
    pub channels: u32,
    /// Its λ, in steps of 1/[`RATIO_STEPS`] or the device's own: the next step was tried and fails,
    /// or is not looked at.
    pub logical_ratio: LogicalRatio,
    /// The algorithm that finds an allocation.
    pub algorithm: &'static str,
}

/// A Pareto front.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Front {
    /// Its points: chips ascending, then channels.
    pub points: Vec<FrontPoint>,
    /// Whether the work was enough for every number of chips up to where the front ends.
    pub complete: bool,
}

/// A front looks at up to so many times the device's chips, and [`MORE_CHIPS`] more.
pub const TIMES_CHIPS: u32 = 16;
/// See [`TIMES_CHIPS`].
pub const MORE_CHIPS: u32 = 256;
/// Values of λ that are tried for a number of chips before the largest is looked for between two of
/// them: data may ask for more, garbage collection for less.
const PROBES: usize = 20;

/// The front of a set. More chips than the device has are looked at until its own λ passes, and no
/// larger λ with them.
pub fn front(set: &TaskSet, allocator: &dyn Allocator, analysis: &dyn Analysis, axes: FrontAxes) -> Front {
    front_within(set, allocator, analysis, axes, (MOST_WORK, MAX_TEST_WORK))
}

/// The same with so much work: tasks times chips in all trials, each times how much longer than
/// Theorem 1 and best fit it takes; and that of the tests.
pub(crate) fn front_within(
    set: &TaskSet,
    allocator: &dyn Allocator,
    analysis: &dyn Analysis,
    axes: FrontAxes,
    (most, most_tested): (u64, u64),
) -> Front {
    if unserved(set, analysis).is_some() {
        return Front { points: Vec::new(), complete: true };
    }
    let work = Work::new();
    let tasks = set.tasks().len();
    let others = ALLOCATORS.into_iter().filter(|other| {
        let is_quick = other.relative_work(tasks) <= allocator.relative_work(tasks);
        axes.algorithm && is_quick && ![allocator.name(), PartFtlTest.name()].contains(&other.name())
    });
    let search = FrontSearch {
        set,
        allocators: std::iter::once(allocator).chain(others.map(|other| other as &dyn Allocator)).collect(),
        analysis,
        axes,
        ratios: ratios(set.device().logical_ratio()),
        work: &work,
        tested: work.bound(most_tested),
    };
    search.front(most)
}

/// The first request that no number of chips would serve in time, under a demand test.
pub(crate) fn unserved(set: &TaskSet, analysis: &dyn Analysis) -> Option<(usize, TooLong)> {
    let test = analysis.demand_test()?.on(set.device());
    let served_by = |pages: u64| u32::try_from(pages).map_or(MAX_CHIPS, |pages| pages.clamp(1, MAX_CHIPS));
    set.tasks().iter().enumerate().find_map(|(at, task)| {
        let pages = task.requests().map(|(request, _)| request.pages()).fold(1, u64::max);
        let chips = served_by(pages).max(set.device().chips());
        never_served(set.device(), test.placements, task, chips).map(|too_long| (at, too_long))
    })
}

/// Every λ that is tried, ascending.
fn ratios(own: LogicalRatio) -> Vec<LogicalRatio> {
    let places = RATIO_STEPS.ilog10();
    let steps = (1..RATIO_STEPS).filter_map(|step| LogicalRatio::from_decimal(step.into(), places).ok());
    let mut all: Vec<LogicalRatio> = steps.collect();
    if let Err(at) = all.binary_search(&own) {
        all.insert(at, own);
    }
    all
}

struct FrontSearch<'a> {
    set: &'a TaskSet,
    allocators: Vec<&'a dyn Allocator>,
    analysis: &'a dyn Analysis,
    axes: FrontAxes,
    ratios: Vec<LogicalRatio>,
    work: &'a Work,
    tested: WorkBound<'a>,
}

impl FrontSearch<'_> {
    fn front(&self, most: u64) -> Front {
        let device = self.set.device();
        let (now, own) = (device.chips(), device.logical_ratio());
        let last = if self.axes.chips { now.saturating_mul(TIMES_CHIPS).saturating_add(MORE_CHIPS) } else { now };
        let mut front = Front { points: Vec::new(), complete: true };
        let mut trials = 0u64;
        for chips in if self.axes.chips { 1 } else { now }..=last.min(MAX_CHIPS) {
            for ways in self.ways(chips) {
                let point = self.point(chips, ways, &front.points, &mut trials);
                if trials > most || self.tested.left() == 0 {
                    // What was looked for last may be found too small.
                    return Front { complete: false, ..front };
                }
                front.points.extend(point);
            }
            if chips >= now && front.points.iter().any(|point| point.logical_ratio >= own) {
                break;
            }
        }
        front
    }

    /// How many chips a channel may have, most first.
    fn ways(&self, chips: u32) -> Vec<u32> {
        let ways = self.set.device().chips_per_channel();
        if !self.axes.channels {
            return vec![ways];
        }
        let mut all: Vec<u32> = (1..=chips.min(ways)).rev().map(|ways| chips.div_ceil(chips.div_ceil(ways))).collect();
        all.dedup();
        all
    }

    /// The largest λ that passes on so many chips, so many on each channel, if none of these points
    /// is as good.
    fn point(&self, chips: u32, ways: u32, points: &[FrontPoint], trials: &mut u64) -> Option<FrontPoint> {
        let device = self.set.device();
        let (own, channels) = (device.logical_ratio(), chips.div_ceil(ways));
        let better = points.iter().filter(|point| point.chips <= chips && point.channels <= channels);
        let reached = better.map(|point| point.logical_ratio).max();
        let data: u128 = self.set.tasks().iter().filter_map(|task| task.data_pages).map(u128::from).sum();
        let on = |logical_ratio: LogicalRatio| {
            let spec = DeviceSpec { chips, chips_per_channel: ways, logical_ratio, ..device.spec() };
            self.set.on(Device::new(spec).ok()?).ok().filter(|set| data <= set.device().logical_pages())
        };
        let is_asked = |&ratio: &LogicalRatio| {
            reached.is_none_or(|reached| ratio > reached)
                && if self.axes.logical_ratio { chips <= device.chips() || ratio <= own } else { ratio == own }
        };
        let asked: Vec<LogicalRatio> = self.ratios.iter().copied().filter(is_asked).collect();
        // Data that have room have it at each larger λ.
        let asked = &asked[asked.partition_point(|&ratio| on(ratio).is_none())..];
        let mut passes = |ratio: LogicalRatio| {
            let set = on(ratio)?;
            if matches!(self.analysis.test(), Test::Demand(_)) && excluded(&set, self.analysis).is_some() {
                return None;
            }
            let (tasks, chips) = (set.tasks().len(), u64::from(chips));
            let longer = match self.analysis.test() {
                Test::Linear(_) => 1,
                Test::Demand(_) => 16,
                Test::Utilization(_) | Test::Cluster(_) => 64,
            };
            self.allocators.iter().find_map(|allocator| {
                if self.tested.left() == 0 {
                    return None;
                }
                let work = allocator.relative_work(tasks).saturating_mul(longer * chips);
                *trials = trials.saturating_add(work.saturating_mul(tasks.max(1) as u64));
                let passes = allocator.divide(&set, self.analysis, self.work).is_schedulable() == Some(true);
                passes.then(|| allocator.name())
            })
        };
        let (logical_ratio, algorithm) = largest(asked, &mut passes)?;
        Some(FrontPoint { chips, channels, logical_ratio, algorithm })
    }
}

/// The largest of these that passes, and by which algorithm: the first of some, from the largest
/// down, and then by bisection.
fn largest(
    asked: &[LogicalRatio],
    passes: &mut impl FnMut(LogicalRatio) -> Option<&'static str>,
) -> Option<(LogicalRatio, &'static str)> {
    let mut failing = asked.len();
    let mut found = None;
    for probe in 0..PROBES.min(asked.len()) {
        let at = asked.len() - 1 - probe * asked.len() / PROBES.min(asked.len());
        match passes(asked[at]) {
            Some(algorithm) => {
                found = Some((at, algorithm));
                break;
            }
            None => failing = at,
        }
    }
    let (mut passing, mut algorithm) = found?;
    while passing + 1 < failing {
        let middle = usize::midpoint(passing, failing);
        match passes(asked[middle]) {
            Some(name) => (passing, algorithm) = (middle, name),
            None => failing = middle,
        }
    }
    Some((asked[passing], algorithm))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocator::BestFit;
    use crate::analysis::Thesis;
    use rtflash_model::{Request, Span, Task};

    /// Writers that four chips do not carry, with half of each chip full of data.
    fn set() -> TaskSet {
        let spec = Device::profile("dgist-2021").expect("a profile").spec();
        let device = Device::new(DeviceSpec { chips: 3, ..spec }).expect("a device");
        let writer = |index| Task {
            name: format!("w{index}"),
            read: None,
            write: Request::new(24, Span::from_us(30_000)),
            data_pages: Some(60_000),
        };
        TaskSet::new(device, (0..3).map(writer).collect(), vec![]).expect("a set")
    }

    /// Each point passes, the next λ does not, and no point is as good as another in all respects.
    #[test]
    fn points_pass_and_none_is_better_than_another() {
        let set = set();
        let on = |chips, logical_ratio| {
            let device = Device::new(DeviceSpec { chips, logical_ratio, ..set.device().spec() }).expect("a device");
            set.on(device).is_ok_and(|set| BestFit.allocate(&set, &Thesis).is_schedulable() == Some(true))
        };
        let own = set.device().logical_ratio();
        assert!(!on(3, own));
        let axes = FrontAxes { chips: true, logical_ratio: true, ..FrontAxes::default() };
        let front = front(&set, &BestFit, &Thesis, axes);
        assert!(front.complete && front.points.len() > 1, "{front:?}");
        let all = ratios(own);
        for point in &front.points {
            assert!(on(point.chips, point.logical_ratio), "{point:?}");
            let next = all.iter().find(|&&ratio| ratio > point.logical_ratio).expect("below one");
            assert!(!on(point.chips, *next) || *next > own, "{point:?}");
        }
        assert!(
            front
                .points
                .windows(2)
                .all(|two| two[0].chips < two[1].chips && two[0].logical_ratio < two[1].logical_ratio)
        );
        assert_eq!(front.points.last().map(|last| last.logical_ratio), Some(own));
        let fewer = front_within(&set, &BestFit, &Thesis, axes, (1, 1));
        assert!(!fewer.complete && fewer.points.is_empty());
    }

    #[test]
    fn a_channel_has_each_number_of_chips_once() {
        let set = set();
        let device = Device::new(DeviceSpec { chips: 8, chips_per_channel: 4, ..set.device().spec() }).expect("one");
        let set = set.on(device).expect("a set");
        let work = Work::new();
        let search = |channels| FrontSearch {
            set: &set,
            allocators: vec![&BestFit],
            analysis: &Thesis,
            axes: FrontAxes { channels, ..FrontAxes::default() },
            ratios: Vec::new(),
            work: &work,
            tested: work.bound(1),
        };
        assert_eq!(search(false).ways(8), [4]);
        assert_eq!(search(true).ways(8), [4, 3, 2, 1]);
        assert_eq!(search(true).ways(2), [2, 1]);
    }
}
