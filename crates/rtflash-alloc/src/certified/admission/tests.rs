//! Decisions that may take little.

use rtflash_model::generate::{Accesses, Generator, PeriodRange, SetOptions, SetSpec, Utilization, Writes};
use rtflash_model::{Device, DeviceSpec, Id, LogicalRatio, Reliance, Span, TaskId, TaskSet};

use super::{AddedHow, Decision, RunningDevice, admit, decide};
use crate::allocator::{Allocator, BestFit};
use crate::analysis::{DemandTest, analysis_relying_on, fits_alone};
use crate::work::Work;

const TASKS: u32 = 8;

/// A question about an eighth task, of a seed and of a total utilization in tenths, on 16 chips.
fn question(name: &str, commands: bool, (seed, tenths, index): (u64, u64, u64)) -> Option<Question> {
    let analysis = analysis_relying_on(name, Reliance::Queue)?;
    let test = analysis.demand_test()?;
    let spec = DeviceSpec {
        chips: 16,
        logical_ratio: LogicalRatio::from_decimal(75, 2).ok()?,
        command: commands.then_some(Span::from_us(1)),
        ..Device::profile("dgist-2021")?.spec()
    };
    let device = Device::new(spec).ok()?;
    let options = SetOptions::new(SetSpec {
        device,
        tasks: TASKS,
        generator: Generator::UUniFast,
        page_costs: analysis.page_costs(&device),
        writes: Writes::Drawn,
        accesses: Accesses::Stream,
        deadlines: None,
        periods: PeriodRange::default(),
        pages: None,
        seed,
    });
    let utilization = Utilization::from_billionths(tenths * 100_000_000)?;
    let set = options.ok()?.draw(utilization, index, |device, task| fits_alone(analysis, device, task)).ok()?;
    let few = set.tasks().as_slice()[..TASKS as usize - 1].to_vec();
    let begun = TaskSet::new(device, few, Vec::new()).ok()?;
    let running = RunningDevice::new(&begun, BestFit.allocate(&begun, analysis).allocation()?)?;
    Some(Question { test, set, running })
}

struct Question {
    test: DemandTest,
    set: TaskSet,
    running: RunningDevice,
}

impl Question {
    /// What is decided where it may take so much, and what that was charged.
    fn decided(&self, most: u64) -> (Decision, u64) {
        let Question { test, set, running } = self;
        let (work, granted) = (Work::new(), (test.placements, test.rely_on));
        let charged = work.bound(u64::MAX);
        let decision = work.deciding(most, || decide(set, running, TaskId(TASKS - 1), granted, &work));
        (decision, u64::MAX - charged.left())
    }
}

/// Where little may be taken the answer is the same, or a no.
#[test]
fn what_may_take_little_is_no_other_yes() {
    let (mut same, mut cut) = (0, 0);
    for (seed, tenths) in (1..=12).flat_map(|seed| (1..=6).map(move |step| (seed, 8 * step))) {
        let Some(question) = question("sound", seed % 2 == 0, (seed, tenths, 0)) else { continue };
        let (in_full, _) = question.decided(u64::MAX);
        for most in [0, 300, 1_000, 3_000, 10_000, 20_000, 30_000] {
            match question.decided(most) {
                (decision, _) if decision == in_full => same += 1,
                (Decision::Refused(clusters), _) => {
                    assert_eq!(clusters.len(), question.running.clusters.len());
                    cut += 1;
                }
                (decision, _) => panic!("seed {seed}, {tenths}: {decision:?} in {most}, and {in_full:?}"),
            }
        }
    }
    assert!(same > 100 && cut > 100, "{same}, {cut}");
}

/// A search that is long is given up, near what it may take. Here it would take six times as long
/// as 100 µs.
#[test]
fn a_long_search_is_given_up() {
    let question = question("sound", false, (47, 36, 6)).expect("a question");
    let (in_full, charged) = question.decided(u64::MAX);
    assert!(matches!(&in_full, Decision::Admitted(admitted) if admitted.change == AddedHow::NewCluster), "{in_full:?}");
    assert!(charged > 100_000, "{charged}");
    for most in [20_000, 48_000, 100_000] {
        let (decision, charged) = question.decided(most);
        assert!(matches!(decision, Decision::Refused(_)), "{most}: {decision:?}");
        assert!(charged < most + most / 10, "{most}: {charged}");
    }
    let Question { test, set, running } = &question;
    let decision = admit(set, running, TaskId::from_index(7), (test.placements, test.rely_on), &Work::new());
    assert!(matches!(decision, Decision::Refused(_)), "{decision:?}");
}
