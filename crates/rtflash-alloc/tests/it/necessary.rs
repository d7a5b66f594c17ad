//! The necessary tests against the verifier's, and against what the sound analyses accept.

use rtflash_alloc::allocator::{Allocator, BestFit, ClusteringSearch, Exact, Global};
use rtflash_analysis::necessary::{fewest_chips, impossible, impossible_with_zones};
use rtflash_analysis::{
    Analysis, Necessary, NecessaryWithZones, Sound, Stripe, Superblock, Zoned, analyses_and_baselines,
};
use rtflash_model::generate::PageCosts;
use rtflash_model::random::Stream;
use rtflash_model::{Access, Device, DeviceSpec, Reliance, Request, Span, Task, TaskSet};
use rtflash_testkit::cases;

use crate::common::draw;

/// The set with other deadlines, jitters, data and a device that says what its times contain.
fn varied(rng: &mut Stream, set: &TaskSet) -> Option<TaskSet> {
    let stated = |rng: &mut Stream| [None, Some(false), Some(true)][usize::try_from(rng.within(0, 2)).unwrap()];
    let device = Device::new(DeviceSpec {
        page_read_includes_transfer: stated(rng),
        page_program_includes_transfer: stated(rng),
        ..set.device().spec()
    })
    .ok()?;
    let mut due = |request: Request| {
        let longest = rng.one_of(&[10, 10, 10, 40]);
        let deadline = (request.period().as_ns() * rng.within(5, longest) / 10).max(1);
        let jitter = deadline.min(request.period().as_ns()) * rng.within(0, 3) / 10;
        request.with_deadline(Span::from_ns(deadline))?.with_jitter(Span::from_ns(jitter)?)
    };
    let mut tasks: Vec<Task> = set.tasks().iter().cloned().collect();
    for task in &mut tasks {
        task.read = task.read.and_then(&mut due).or(task.read);
        task.write = task.write.and_then(&mut due).or(task.write);
    }
    let all = u64::try_from(device.logical_pages()).ok()?.max(1);
    for task in &mut tasks {
        task.data_pages = Some(rng.within(1, all)).filter(|data| data % 3 > 0);
    }
    TaskSet::new(device, tasks, vec![]).ok()
}

/// A yes of two analyses says nothing, and a no of one of them holds with zones, too.
#[test]
fn a_yes_of_necessary_tests_says_nothing() {
    let of = |analysis: &dyn Analysis| (analysis.is_necessary(), analysis.bounds_zones());
    assert_eq!([of(&Necessary), of(&NecessaryWithZones)], [(true, false), (true, true)]);
    assert!(analyses_and_baselines().all(|analysis| of(analysis) == (false, false)));
}

#[test]
fn what_is_impossible_is_so_to_the_verifier() {
    let mut rng = Stream::numbered(7, b"necessar", 0);
    let mut found = std::collections::BTreeMap::<Option<&str>, u32>::new();
    for _ in 0..cases(700_u32) {
        let Some(plain) = draw(&mut rng, 8, 6) else { continue };
        let varied = varied(&mut rng, &plain);
        for set in [Some(plain), varied].into_iter().flatten() {
            for inside in [false, true] {
                let costs = match inside {
                    true => PageCosts::transfer_inside(set.device()),
                    false => PageCosts::transfer_on_top(set.device()),
                };
                let name = impossible(&set, costs).map(|of| of.name());
                assert_eq!(name, rtflash_verify::impossible(&set, inside, 10_000_000_000), "{set:?}");
                *found.entry(name).or_default() += 1;
                let name = impossible_with_zones(&set, costs).map(|of| of.name());
                assert_eq!(name, rtflash_verify::impossible_with_zones(&set, inside, 10_000_000_000), "{set:?}");
            }
        }
    }
    assert!(found.len() == 6 && found.values().all(|&count| count >= 4), "{found:?}");
}

/// On zones a device shows all of its pages, and nothing says that they are in use.
#[test]
fn what_zones_take_is_not_impossible_with_zones() {
    let mut rng = Stream::numbered(9, b"necessar", 0);
    let zoned = Zoned::relying_on(Reliance::Neighbours);
    let [mut accepted, mut proofs, mut beyond] = [0; 3];
    for number in 0..cases(400_u32) {
        let Some(plain) = draw(&mut rng, 6, 4) else { continue };
        let Some(set) = varied(&mut rng, &plain).and_then(|set| in_zones(&mut rng, &set, number % 4 == 0)) else {
            continue;
        };
        let costs = PageCosts::transfer_on_top(set.device());
        let [there, collecting] = [impossible_with_zones(&set, costs), impossible(&set, costs)];
        // A rule that holds everywhere holds where something collects.
        assert!(there.is_none() || collecting.is_some(), "{there:?}: {set:?}");
        let takes = [&BestFit as &dyn Allocator, &Global, &Exact]
            .iter()
            .any(|allocator| allocator.allocate(&set, &zoned).is_schedulable() == Some(true));
        assert!(!(takes && there.is_some()), "{there:?}: {set:?}");
        accepted += u32::from(takes);
        proofs += u32::from(there.is_some());
        beyond += u32::from(takes && collecting.is_some());
    }
    assert!(accepted > 40 && proofs > 40 && beyond > 0, "{accepted} {proofs} {beyond}");
}

/// The set with streams for writes, some of its tasks with as many data as a device shows.
fn in_zones(rng: &mut Stream, set: &TaskSet, large: bool) -> Option<TaskSet> {
    let all = u64::try_from(set.device().logical_pages()).ok()?.max(1);
    let tasks = set.tasks().iter().map(|task| Task {
        write: task.write.map(|write| write.with_access(Access::Stream)),
        data_pages: if large { Some(rng.within(all.div_ceil(2), all)) } else { None },
        ..task.clone()
    });
    TaskSet::new(*set.device(), tasks.collect(), vec![]).ok()
}

#[test]
fn what_a_sound_analysis_accepts_is_not_impossible() {
    let mut rng = Stream::numbered(8, b"necessar", 0);
    let granted = Reliance::Queue;
    let analyses: [&dyn Analysis; 3] =
        [&Stripe::relying_on(granted), &Superblock::relying_on(granted), &Sound::relying_on(granted)];
    let allocators: [&dyn Allocator; 4] = [&BestFit, &Global, &ClusteringSearch, &Exact];
    let mut counts = [0; 3];
    for _ in 0..cases(130_u32) {
        let Some(plain) = draw(&mut rng, 6, 4) else { continue };
        let varied = varied(&mut rng, &plain);
        for set in [Some(plain), varied].into_iter().flatten() {
            let costs = PageCosts::transfer_on_top(set.device());
            let impossible = impossible(&set, costs);
            let accepted = analyses.iter().any(|analysis| {
                allocators.iter().any(|allocator| allocator.allocate(&set, *analysis).is_schedulable() == Some(true))
            });
            assert!(!(accepted && impossible.is_some()), "{impossible:?}: {set:?}");
            counts[usize::from(impossible.is_some()) + 2 * usize::from(accepted)] += 1;
            if accepted {
                let fewest = fewest_chips(&set, costs).expect("the device's own are enough");
                assert!(fewest <= set.device().chips());
                let fewer = fewest.checked_sub(1).filter(|&chips| chips > 0);
                let on = |chips| set.on(Device::new(DeviceSpec { chips, ..set.device().spec() }).ok()?).ok();
                assert!(
                    fewer.and_then(on).is_none_or(|set| rtflash_analysis::necessary::impossible(&set, costs).is_some())
                );
            }
        }
    }
    // Neither, impossible, accepted.
    assert!(counts.iter().all(|&count| count >= 16), "{counts:?}");
}
