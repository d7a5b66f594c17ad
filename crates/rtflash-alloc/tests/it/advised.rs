//! Limits and advice, followed: what they name passes, and what they call the largest is it.

use rtflash_alloc::advice::advise;
use rtflash_alloc::allocator::{Allocator, BestFit, ClusteringBfd};
use rtflash_alloc::sizing::{FrontAxes, RATIO_STEPS, front, limits};
use rtflash_analysis::{Analysis, Sound, Thesis};
use rtflash_model::random::Stream;
use rtflash_model::{Device, DeviceSpec, LogicalRatio, Request, Span, Task, TaskSet};

use crate::cases::cases;
use crate::common::{Rng, draw};

/// A small set that suspends erases, whose requests are due before their periods end, and whose
/// tasks keep data.
fn draw_due(rng: &mut Rng, chips: u64, tasks: u64) -> Option<TaskSet> {
    let set = draw(rng, chips, tasks)?;
    let suspend = Span::from_ns(rng.from(0, 300) * 1_000).filter(|time| *time > Span::ZERO);
    let device = DeviceSpec { erase_suspend: suspend, erase_resume: suspend, ..set.device().spec() };
    let device = Device::new(device).ok()?;
    let all = u64::try_from(device.logical_pages()).ok()?;
    let mut due = |task: &Task| {
        let mut sooner = |request: Request| {
            let deadline = request.period().as_ns() * rng.from(3, 10) / 10;
            request.with_deadline(Span::from_ns(deadline)).unwrap_or(request)
        };
        let (read, write) = (task.read.map(&mut sooner), task.write.map(&mut sooner));
        let data_pages = Some(rng.from(1, all) / 4).filter(|&data| data > 60 && data % 2 == 0);
        Task { name: task.name.clone(), read, write, data_pages }
    };
    let tasks = set.tasks().iter().map(&mut due).collect();
    TaskSet::new(device, tasks, vec![]).ok()
}

fn passes(set: &TaskSet, spec: DeviceSpec, (allocator, analysis): (&dyn Allocator, &dyn Analysis)) -> bool {
    let set = Device::new(spec).ok().and_then(|device| set.on(device).ok());
    set.is_some_and(|set| allocator.allocate(&set, analysis).is_schedulable() == Some(true))
}

/// This number of steps of λ between zero and one, and this one, the largest first.
fn steps(count: u32, own: LogicalRatio) -> Vec<LogicalRatio> {
    let places = count.ilog10();
    let steps = (1..count).filter_map(|step| LogicalRatio::from_decimal(step.into(), places).ok());
    let mut steps: Vec<LogicalRatio> = steps.chain([own]).collect();
    steps.sort_unstable_by(|one, other| other.cmp(one));
    steps
}

/// Passing is not monotone in λ: trying each step alone finds the largest. Fronts, limits and
/// advice name the same one.
#[test]
fn no_step_of_the_ratio_above_the_one_called_largest_passes() {
    let mut rng = Rng(Stream::numbered(7, b"largest-", 0));
    let (mut found, mut advised, mut fine) = (0, 0, 0);
    for _ in 0..cases(12_u32) {
        let Some(set) = draw_due(&mut rng, 6, 5) else { continue };
        let (spec, sound) = (set.device().spec(), Sound::default());
        for by in [(&BestFit as &dyn Allocator, &sound as &dyn Analysis), (&ClusteringBfd, &Thesis)] {
            let largest = |chips: u32, most: LogicalRatio, count: u32| {
                let with =
                    |&logical_ratio: &LogicalRatio| passes(&set, DeviceSpec { chips, logical_ratio, ..spec }, by);
                steps(count, spec.logical_ratio).into_iter().filter(|&ratio| ratio <= most).find(with)
            };
            let axes = FrontAxes { chips: true, logical_ratio: true, ..FrontAxes::default() };
            let front = front(&set, by.0, by.1, axes);
            let count = front.steps.expect("enough work for coarse steps");
            fine += u32::from(count == RATIO_STEPS);
            let one = LogicalRatio::from_decimal(999, 3).expect("below one");
            for point in &front.points {
                let most = if point.chips > spec.chips { spec.logical_ratio } else { one };
                assert_eq!(largest(point.chips, most, count), Some(point.logical_ratio), "{point:?} of {set:?}");
                found += 1;
            }
            let (largest, limit) = (largest(spec.chips, one, RATIO_STEPS), limits(&set, by.0, by.1).logical_ratio);
            assert_eq!(
                limit.value().map(|limit| (limit.ratio, limit.steps)),
                largest.map(|ratio| (ratio, RATIO_STEPS))
            );
            let advice = advise(&set, by.0, by.1);
            if advice.less_data.is_none() && advice.request.is_none() && !passes(&set, spec, by) {
                assert_eq!(advice.logical_ratio, largest, "{set:?}");
                advised += u32::from(largest.is_some());
            }
        }
    }
    assert!(found > 0 && advised > 0 && fine > 0, "{found} {advised} {fine}");
}

/// Advice for a request lets its task pass alone on the device.
#[test]
fn a_task_that_follows_advice_passes_alone() {
    let mut rng = Rng(Stream::numbered(7, b"served--", 0));
    let mut followed = [0; 3];
    for _ in 0..cases(30_u32) {
        let Some(set) = draw_due(&mut rng, 4, 1) else { continue };
        // An erase that nothing interrupts.
        let spec = DeviceSpec { erase_suspend: None, erase_resume: None, ..set.device().spec() };
        let Some(set) = Device::new(spec).ok().and_then(|device| set.on(device).ok()) else { continue };
        let sound = Sound::default();
        for allocator in [&BestFit as &dyn Allocator, &ClusteringBfd] {
            let by = (allocator, &sound as &dyn Analysis);
            if passes(&set, spec, by) {
                continue;
            }
            let Some(served) = advise(&set, by.0, by.1).request else { continue };
            let task = &set.tasks().as_slice()[served.task];
            let alone = |task: Task, spec: DeviceSpec| {
                let set = TaskSet::new(Device::new(spec).expect("a device"), vec![task], vec![]).expect("a set");
                assert!(passes(&set, spec, by), "{served:?} of {set:?}");
            };
            let change = |change: &dyn Fn(Request) -> Option<Request>| {
                let changed = |of: Option<Request>, is: bool| if is { of.and_then(change) } else { of };
                let writes = served.too_long.writes;
                Task { read: changed(task.read, !writes), write: changed(task.write, writes), ..task.clone() }
            };
            if let Some(time) = served.suspension {
                alone(task.clone(), DeviceSpec { erase_suspend: Some(time), erase_resume: Some(time), ..spec });
                followed[0] += 1;
            }
            if let Some(deadline) = served.deadline {
                alone(change(&|of| of.with_deadline(Some(deadline))), spec);
                followed[1] += 1;
            }
            if let Some(period) = served.period {
                alone(change(&|of| of.with_deadline(None)?.with_period(period)), spec);
                followed[2] += 1;
            }
        }
    }
    assert!(followed.iter().all(|&followed| followed > 0), "{followed:?}");
}
