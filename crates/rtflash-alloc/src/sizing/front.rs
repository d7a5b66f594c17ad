//! Devices on which a set passes, none of them better in every respect than another: a Pareto
//! front over chips, channels, λ and the algorithm.

use std::cell::Cell;
use std::collections::BTreeMap;

use rtflash_analysis::certified::never_served;
use rtflash_analysis::reason::TooLong;
use rtflash_analysis::{Analysis, Test, Work, WorkBound};
use rtflash_model::{Device, DeviceSpec, LogicalRatio, MAX_CHIPS, TaskSet};

use super::{LargestRatio, MAX_TEST_WORK, MOST_WORK, RATIO_STEPS, SizingLimit};
use crate::allocator::{ALLOCATORS, Allocator, PartFtlTest, excluded};

/// The axes of a front; everything else stays as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FrontAxes {
    /// The number of chips: fewer are better.
    pub chips: bool,
    /// Channels with equally many chips, the last perhaps partly filled: fewer are better. Without
    /// it a channel has as many chips as now.
    pub channels: bool,
    /// λ: a larger one is better.
    pub logical_ratio: bool,
    /// The algorithm: the one asked for, else any that takes no longer.
    pub algorithm: bool,
}

/// A device on which the set passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrontPoint {
    /// Its chips.
    pub chips: u32,
    /// Its channels.
    pub channels: u32,
    /// A step or the device's own: every larger step fails, or is not looked at.
    pub logical_ratio: LogicalRatio,
    /// The algorithm that finds an allocation.
    pub algorithm: &'static str,
}

/// A Pareto front.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Front {
    /// Its points: chips ascending, then channels.
    pub points: Vec<FrontPoint>,
    /// λ is looked for in steps of 1/`steps`: [`RATIO_STEPS`], or fewer if the work is not enough.
    pub steps: u32,
    /// Each number of chips was tried; false if the work is not enough for the coarsest steps.
    pub complete: bool,
}

/// A front has up to this many times the device's chips, and [`MORE_CHIPS`] more.
pub const TIMES_CHIPS: u32 = 16;
/// See [`TIMES_CHIPS`].
pub const MORE_CHIPS: u32 = 256;
/// More chips than the device has are tried until its own λ passes, and no larger λ with them.
pub fn front(set: &TaskSet, allocator: &dyn Allocator, analysis: &dyn Analysis, axes: FrontAxes) -> Front {
    front_within(set, allocator, analysis, axes, MOST_WORK, MAX_TEST_WORK)
}

/// `most`: tasks times chips in all trials, each times its time relative to Theorem 1 and best fit.
/// `most_tested`: the work of the tests.
pub(crate) fn front_within(
    set: &TaskSet,
    allocator: &dyn Allocator,
    analysis: &dyn Analysis,
    axes: FrontAxes,
    most: u64,
    most_tested: u64,
) -> Front {
    if !unserved(set, analysis).is_empty() {
        return Front { points: Vec::new(), steps: RATIO_STEPS, complete: true };
    }
    let work = Work::new();
    FrontSearch::new(set, allocator, analysis, axes, most, work.bound(most_tested), &work).front()
}

pub(crate) fn largest_ratio(
    set: &TaskSet,
    allocator: &dyn Allocator,
    analysis: &dyn Analysis,
    most: u64,
    tested: WorkBound<'_>,
    work: &Work,
) -> SizingLimit<LargestRatio> {
    if !unserved(set, analysis).is_empty() {
        return SizingLimit::Nothing;
    }
    let axes = FrontAxes { logical_ratio: true, ..FrontAxes::default() };
    let search = FrontSearch::new(set, allocator, analysis, axes, most, tested, work);
    let device = set.device();
    let (mut largest, mut tried) = (None, None);
    for (places, steps) in GRIDS {
        let than = largest.map(|(ratio, _)| ratio);
        largest = search.better((device.chips(), device.chips_per_channel()), than, places).or(largest);
        if search.is_used_up() {
            break;
        }
        tried = Some(steps);
    }
    match (largest, tried) {
        (Some((ratio, _)), Some(steps)) => SizingLimit::At(LargestRatio { ratio, steps }),
        (None, _) if !search.is_used_up() => SizingLimit::Nothing,
        _ => SizingLimit::TooMuchWork,
    }
}

pub(crate) struct UnservedTask {
    pub(crate) task: usize,
    pub(crate) requests: Vec<TooLong>,
}

/// The tasks with requests that no number of chips would serve in time, under a demand test.
pub(crate) fn unserved(set: &TaskSet, analysis: &dyn Analysis) -> Vec<UnservedTask> {
    let Some(test) = analysis.demand_test().map(|test| test.on(set.device())) else { return Vec::new() };
    let served_by = |pages: u64| u32::try_from(pages).map_or(MAX_CHIPS, |pages| pages.clamp(1, MAX_CHIPS));
    let tasks = set.tasks().iter().enumerate().map(|(at, task)| {
        let pages = task.requests().map(|(request, _)| request.pages()).fold(1, u64::max);
        let chips = served_by(pages).max(set.device().chips());
        UnservedTask { task: at, requests: never_served(set.device(), test.placements, task, chips).collect() }
    });
    tasks.filter(|unserved| !unserved.requests.is_empty()).collect()
}

fn ratios(own: LogicalRatio) -> Vec<LogicalRatio> {
    let places = RATIO_STEPS.ilog10();
    let steps = (1..RATIO_STEPS).filter_map(|step| LogicalRatio::from_decimal(step.into(), places).ok());
    let mut all: Vec<LogicalRatio> = steps.collect();
    if let Err(at) = all.binary_search(&own) {
        all.insert(at, own);
    }
    all
}

/// Chips, and how many of them a channel has.
type Ways = (u32, u32);

/// Coarse steps are tried first, so that less work finds the largest of those.
const GRIDS: [(u32, u32); 3] = [(1, 10), (2, 100), (3, RATIO_STEPS)];

struct FrontSearch<'a> {
    set: &'a TaskSet,
    allocators: Vec<&'a dyn Allocator>,
    analysis: &'a dyn Analysis,
    axes: FrontAxes,
    ratios: Vec<LogicalRatio>,
    work: &'a Work,
    /// Tasks times chips of the trials that were made, and of those that may be made.
    trials: Cell<u64>,
    most: u64,
    tested: WorkBound<'a>,
}

impl<'a> FrontSearch<'a> {
    fn new(
        set: &'a TaskSet,
        allocator: &'a dyn Allocator,
        analysis: &'a dyn Analysis,
        axes: FrontAxes,
        most: u64,
        tested: WorkBound<'a>,
        work: &'a Work,
    ) -> FrontSearch<'a> {
        let tasks = set.tasks().len();
        let others = ALLOCATORS.into_iter().filter(|other| {
            let is_quick = other.relative_work(tasks) <= allocator.relative_work(tasks);
            axes.algorithm && is_quick && ![allocator.name(), PartFtlTest.name()].contains(&other.name())
        });
        FrontSearch {
            set,
            allocators: std::iter::once(allocator).chain(others.map(|other| other as &dyn Allocator)).collect(),
            analysis,
            axes,
            ratios: ratios(set.device().logical_ratio()),
            work,
            trials: Cell::new(0),
            most,
            tested,
        }
    }

    fn front(&self) -> Front {
        let mut found = BTreeMap::new();
        let mut front = Front { points: Vec::new(), steps: GRIDS[0].1, complete: false };
        for (places, steps) in GRIDS {
            let points = self.points(places, &mut found);
            let complete = !self.is_used_up();
            // The work ended within these steps, so their points can be too small.
            if complete || !front.complete {
                front = Front { points, steps, complete };
            }
            if !complete {
                break;
            }
        }
        front
    }

    /// λ in steps of so few decimal places. `found`: the largest λ with fewer, for each device.
    fn points(&self, places: u32, found: &mut BTreeMap<Ways, (LogicalRatio, &'static str)>) -> Vec<FrontPoint> {
        let device = self.set.device();
        let (now, own) = (device.chips(), device.logical_ratio());
        let last = if self.axes.chips { now.saturating_mul(TIMES_CHIPS).saturating_add(MORE_CHIPS) } else { now };
        let mut points: Vec<FrontPoint> = Vec::new();
        for chips in if self.axes.chips { 1 } else { now }..=last.min(MAX_CHIPS) {
            for ways in self.ways(chips) {
                let channels = chips.div_ceil(ways);
                let as_good = points.iter().filter(|point| point.chips <= chips && point.channels <= channels);
                let reached = as_good.map(|point| point.logical_ratio).max();
                let before = found.get(&(chips, ways)).map(|&(ratio, _)| ratio);
                if let Some(better) = self.better((chips, ways), reached.max(before), places) {
                    found.insert((chips, ways), better);
                }
                if self.is_used_up() {
                    return points;
                }
                let largest = found.get(&(chips, ways)).filter(|&&(ratio, _)| Some(ratio) > reached);
                points.extend(largest.map(|&(logical_ratio, algorithm)| FrontPoint {
                    chips,
                    channels,
                    logical_ratio,
                    algorithm,
                }));
            }
            if chips >= now && points.iter().any(|point| point.logical_ratio >= own) {
                break;
            }
        }
        points
    }

    fn is_used_up(&self) -> bool {
        self.trials.get() > self.most || self.tested.left() == 0
    }

    fn ways(&self, chips: u32) -> Vec<u32> {
        let ways = self.set.device().chips_per_channel();
        if !self.axes.channels {
            return vec![ways];
        }
        let mut all: Vec<u32> = (1..=chips.min(ways)).rev().map(|ways| chips.div_ceil(chips.div_ceil(ways))).collect();
        all.dedup();
        all
    }

    /// `None` if λ leaves no page to be reclaimed.
    fn device(&self, chips: u32, ways: u32, logical_ratio: LogicalRatio) -> Option<Device> {
        let spec = DeviceSpec { chips, chips_per_channel: ways, logical_ratio, ..self.set.device().spec() };
        Device::new(spec).ok()
    }

    fn on(&self, chips: u32, ways: u32, logical_ratio: LogicalRatio) -> Option<TaskSet> {
        let set = self.set.on(self.device(chips, ways, logical_ratio)?).ok()?;
        let data: u128 = set.tasks().iter().filter_map(|task| task.data_pages).map(u128::from).sum();
        (data <= set.device().logical_pages()).then_some(set)
    }

    /// The largest step above `than` that passes; the device's own λ is one of the coarsest.
    /// Passing is not monotone in λ: every step is tried, from the largest down.
    fn better(
        &self,
        (chips, ways): Ways,
        than: Option<LogicalRatio>,
        places: u32,
    ) -> Option<(LogicalRatio, &'static str)> {
        let device = self.set.device();
        let own = device.logical_ratio();
        let is_asked = |&ratio: &LogicalRatio| {
            than.is_none_or(|than| ratio > than)
                && if self.axes.logical_ratio { chips <= device.chips() || ratio <= own } else { ratio == own }
        };
        let asked: Vec<LogicalRatio> = self.ratios.iter().copied().filter(is_asked).collect();
        // Data that have room have it at each larger λ; what is impossible remains so.
        let devices = asked.partition_point(|&ratio| self.device(chips, ways, ratio).is_some());
        let asked = &asked[..devices];
        let asked = &asked[asked.partition_point(|&ratio| self.on(chips, ways, ratio).is_none())..];
        let is_sound = matches!(self.analysis.test(), Test::Demand(_));
        let is_possible = |set: &TaskSet| !is_sound || excluded(set, self.analysis).is_none();
        let possible = asked.partition_point(|&ratio| self.on(chips, ways, ratio).is_some_and(|set| is_possible(&set)));
        let places_of = |ratio: LogicalRatio| if ratio == own { 1 } else { ratio.to_decimal().1 };
        let mut steps = asked[..possible].iter().rev().copied().filter(|&ratio| places_of(ratio) == places);
        steps.find_map(|ratio| Some((ratio, self.passes(chips, ways, ratio)?)))
    }

    /// The first algorithm that finds an allocation; `None` also once the work is done.
    fn passes(&self, chips: u32, ways: u32, ratio: LogicalRatio) -> Option<&'static str> {
        let set = self.on(chips, ways, ratio)?;
        let tasks = set.tasks().len();
        let longer = match self.analysis.test() {
            Test::Linear(_) => 1,
            Test::Demand(_) => 16,
            Test::Utilization(_) | Test::Cluster(_) => 64,
        };
        self.allocators.iter().find_map(|allocator| {
            if self.is_used_up() {
                return None;
            }
            let work = allocator.relative_work(tasks).max(1).saturating_mul(longer * u64::from(chips));
            self.trials.set(self.trials.get().saturating_add(work.saturating_mul(tasks.max(1) as u64)));
            let passes = allocator.divide(&set, self.analysis, self.work).is_schedulable() == Some(true);
            passes.then(|| allocator.name())
        })
    }
}

#[cfg(test)]
mod tests {
    use rtflash_analysis::Thesis;
    use rtflash_model::{Request, Span, Task};

    use super::*;
    use crate::allocator::BestFit;

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
        assert!(front.steps == RATIO_STEPS && front.complete && front.points.len() > 1, "{front:?}");
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
        let fewer = front_within(&set, &BestFit, &Thesis, axes, 1, 1);
        assert!(!fewer.complete && fewer.points.is_empty());
        // With less work, steps are coarser, and the points the largest of those.
        let coarse = front_within(&set, &BestFit, &Thesis, axes, 3_000, MAX_TEST_WORK);
        let steps = coarse.steps;
        assert!(coarse.complete && steps < RATIO_STEPS && !coarse.points.is_empty(), "{coarse:?}");
        for point in &coarse.points {
            let larger = (1..steps).filter_map(|step| LogicalRatio::from_decimal(step.into(), steps.ilog10()).ok());
            let larger = larger.filter(|&ratio| ratio > point.logical_ratio && (point.chips <= 3 || ratio <= own));
            assert_eq!(larger.filter(|&ratio| on(point.chips, ratio)).count(), 0, "{point:?}");
        }
    }

    #[test]
    fn a_channel_has_each_number_of_chips_once() {
        let set = set();
        let device = Device::new(DeviceSpec { chips: 8, chips_per_channel: 4, ..set.device().spec() }).expect("one");
        let set = set.on(device).expect("a set");
        let work = Work::new();
        let search = |channels| {
            let axes = FrontAxes { channels, ..FrontAxes::default() };
            FrontSearch::new(&set, &BestFit, &Thesis, axes, 1, work.bound(1), &work)
        };
        assert_eq!(search(false).ways(8), [4]);
        assert_eq!(search(true).ways(8), [4, 3, 2, 1]);
        assert_eq!(search(true).ways(2), [2, 1]);
    }
}
