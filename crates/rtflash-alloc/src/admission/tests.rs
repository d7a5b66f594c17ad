//! Decisions that may take little.

use rtflash_analysis::certified::certify;
use rtflash_analysis::{DemandTest, Work, analysis_relying_on, fits_alone};
use rtflash_model::generate::{Accesses, Generator, PeriodRange, SetOptions, SetSpec, Utilization, Writes};
use rtflash_model::{
    Access, Cluster, Device, DeviceSpec, Id, LogicalRatio, Placement, Reliance, Request, Span, Task, TaskId, TaskSet,
};

use super::{AddedHow, Decision, RunningDevice, admit, decide};
use crate::allocator::{Allocator, BestFit};

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
    /// The decision under this limit, and the charge.
    fn decided(&self, most: u64) -> (Decision, u64) {
        let Question { test, set, running } = self;
        let (work, granted) = (Work::new(), (test.placements, test.rely_on));
        let charged = work.bound(u64::MAX);
        let decision = work.deciding(most, || decide(set, running, TaskId(TASKS - 1), granted, &work));
        (decision, u64::MAX - charged.left())
    }
}

/// A small limit gives an equal answer, or a no.
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
    let decision = admit(*test, set, running, TaskId::from_index(7), &Work::new());
    assert!(matches!(decision, Decision::Refused(_)), "{decision:?}");
}

/// Rows of a superblock that does not backfill may be charged more where it is known what a
/// neighbour does: it is tested again by the terms that the neighbour is to have.
#[test]
fn who_is_late_by_the_new_terms_refuses_them() {
    let [page_read, page_program, block_erase, page_transfer] =
        [7, 5, 8, 20].map(Span::from_ns).map(|time| time.expect("short"));
    let spec = DeviceSpec {
        chips: 10,
        chips_per_channel: 5,
        blocks_per_chip: 60,
        pages_per_block: 4,
        page_size: 512,
        logical_ratio: LogicalRatio::from_decimal(50, 2).expect("a half"),
        page_read,
        page_program,
        block_erase,
        page_transfer,
        ..Device::profile("dgist-2021").expect("a profile").spec()
    };
    let device = Device::new(spec).expect("a device");
    let ns = |time: u64| Span::from_ns(time).expect("short");
    let request = |pages: u64, period: u64| Request::new(pages, ns(period));
    let written = request(12, 1_066).expect("a request").with_access(Access::Stream);
    let written = written.with_deadline(Some(ns(765))).expect("below the period");
    let tasks = [(None, Some(written)), (request(2, 1_227), request(1, 903)), (request(1, 8_373), None)];
    let added = (request(2, 455), request(2, 836));
    let tasks = tasks.into_iter().chain([added]).enumerate();
    let task = |(number, (read, write))| Task { name: format!("{number}"), read, write, data_pages: None };
    let tasks: Vec<Task> = tasks.map(task).collect();
    let clusters = [&[0, 5, 6, 7, 8][..], &[1, 2, 3], &[4]].into_iter().zip(0..);
    let cluster = |(chips, task): (&[u32], u32)| Cluster::of(chips.iter().copied(), [task]);
    let clusters: Vec<Cluster> = clusters.map(cluster).collect();
    let placements = [Placement::Superblock, Placement::Stripe, Placement::Stripe];
    let begun = TaskSet::new(device, tasks[..3].to_vec(), Vec::new()).expect("a set");
    let certified = |granted| certify(&begun, &clusters, &placements, granted, &Work::new());
    let anywhere = certified(Reliance::Nothing);
    let found = if anywhere.failing.is_empty() { anywhere } else { certified(Reliance::Queue) };
    let mut certificates: Vec<_> = found.certificates.into_iter().collect::<Option<_>>().expect("certificates");
    certificates[0].backfill = false;
    let running = RunningDevice::of_parts(&begun, clusters, certificates);
    assert_eq!(running.late(&begun, Reliance::Queue, &Work::new()), None);
    let set = TaskSet::new(device, tasks, Vec::new()).expect("a set");
    let decision = admit(
        DemandTest { placements: &[Placement::Stripe], rely_on: Reliance::Queue },
        &set,
        &running,
        TaskId(3),
        &Work::new(),
    );
    assert!(matches!(decision, Decision::Refused(_)), "{decision:?}");
}
