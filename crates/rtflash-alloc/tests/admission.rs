//! Whether a task may be added to what runs, asked of everybody the long way; and a set for each
//! part of the rules that is there for a few of them.

use rtflash_alloc::Work;
use rtflash_alloc::allocator::{Allocator, BestFit, EqualSplit, Global};
use rtflash_alloc::analysis::{DemandTest, analysis_relying_on};
use rtflash_alloc::certified::admission::{AddedHow, Decision, RunningDevice};
use rtflash_alloc::certified::certify_beside;
use rtflash_model::random::Stream;
use rtflash_model::{
    Access, Certificate, ChipId, Cluster, ClusterId, Device, DeviceSpec, Id, LogicalRatio, Placement, Reliance,
    Request, Shortest, Span, Task, TaskId, TaskSet,
};

struct Rng(Stream);

impl Rng {
    fn within(&mut self, low: u64, high: u64) -> u64 {
        low + self.0.below(high - low + 1)
    }

    fn small(&mut self, low: u32, high: u32) -> u32 {
        u32::try_from(self.within(low.into(), high.into())).expect("small")
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[usize::try_from(self.within(0, all.len() as u64 - 1)).expect("a place")]
    }
}

fn ns(time: u64) -> Span {
    Span::from_ns(time).expect("a short time")
}

/// A small device, with a command and a second page register or without.
fn small(chips: u32, chips_per_channel: u32, times: [u64; 4]) -> DeviceSpec {
    let [page_read, page_program, block_erase, page_transfer] = times.map(ns);
    DeviceSpec {
        page_read_includes_transfer: None,
        page_program_includes_transfer: None,
        chips,
        chips_per_channel,
        blocks_per_chip: 64,
        pages_per_block: 4,
        page_size: 512,
        shortest: Shortest::default(),
        erase_cycles: None,
        command: None,
        page_registers: None,
        logical_ratio: LogicalRatio::from_decimal(50, 2).expect("a half"),
        page_read,
        page_program,
        block_erase,
        page_transfer,
    }
}

fn drawn_device(rng: &mut Rng) -> Option<Device> {
    let times = [20, 40, 60, 12].map(|most| rng.within(1, most));
    let shortest = Shortest { page_read: (rng.within(0, 1) == 0).then(|| ns(times[0])), ..Shortest::default() };
    let spec = DeviceSpec {
        blocks_per_chip: rng.small(8, 40),
        pages_per_block: rng.small(1, 8),
        command: (rng.within(0, 5) == 0).then(|| ns(rng.within(1, 4))),
        page_registers: (rng.within(0, 3) == 0).then_some(2),
        logical_ratio: LogicalRatio::from_decimal(rng.within(10, 75).into(), 2).ok()?,
        shortest,
        ..small(rng.small(1, 8), rng.small(1, 5), times)
    };
    Device::new(spec).ok()
}

fn drawn_task(rng: &mut Rng, number: u64) -> Task {
    let request = |rng: &mut Rng| {
        let period = rng.within(200, 4_000);
        let request = Request::new(rng.within(1, 5), ns(period))?;
        let request = request.with_access(rng.one_of(&[Access::Random, Access::Sequential, Access::Stream]));
        if rng.within(0, 3) > 0 {
            return Some(request);
        }
        let deadline = rng.within(period / 2, period);
        request.with_deadline(Some(ns(deadline)))?.with_jitter(ns(rng.within(0, deadline / 4)))
    };
    let kinds = rng.within(0, 3);
    let read = (kinds != 0).then(|| request(rng)).flatten();
    let write = (kinds != 1 || read.is_none()).then(|| request(rng)).flatten();
    Task { name: format!("t{number}"), read, write, data_pages: None }
}

/// The same task with shorter periods.
fn busier(task: &Task) -> Task {
    let shorter = |of: Request| {
        let part = |time: Span| ns((time.as_ns() * 4 / 5).max(1));
        let deadline = of.stated_deadline().map(part);
        let busier = of.with_period(part(of.period()))?.with_deadline(deadline)?;
        busier.with_jitter(ns(of.jitter().as_ns() * 4 / 5))
    };
    let of = |request: Option<Request>| request.map(|request| shorter(request).unwrap_or(request));
    Task { read: of(task.read), write: of(task.write), ..task.clone() }
}

fn set_of(device: Device, tasks: &[Task]) -> TaskSet {
    TaskSet::new(device, tasks.to_vec(), Vec::new()).expect("a set")
}

/// What runs with a task more in one of its clusters.
fn with_task(running: &RunningDevice, position: usize, task: TaskId) -> RunningDevice {
    let mut with = running.clone();
    with.clusters[position].tasks.push(task);
    with.clusters[position].tasks.sort_unstable();
    with
}

/// Sets of which the first tasks run.
struct Asked {
    test: DemandTest,
    running: RunningDevice,
    tasks: Vec<Task>,
    device: Device,
    first: usize,
}

fn asked(rng: &mut Rng) -> Option<Asked> {
    let device = drawn_device(rng)?;
    let first = usize::try_from(rng.within(1, 5)).expect("few");
    let mut tasks: Vec<Task> = (0..first as u64 + 3).map(|number| drawn_task(rng, number)).collect();
    let granted = rng.one_of(&[Reliance::Nothing, Reliance::Neighbours, Reliance::Queue]);
    let analysis = analysis_relying_on(rng.one_of(&["stripe", "superblock", "sound"]), granted)?;
    let test = analysis.demand_test()?.on(&device);
    let allocator: &dyn Allocator = rng.one_of(&[&EqualSplit as &dyn Allocator, &Global, &BestFit]);
    let mut found = None;
    for _ in 0..rng.one_of(&[1, 4, 12]) {
        let begun = set_of(device, &tasks[..first]);
        let outcome = allocator.allocate(&begun, analysis);
        let Some(allocation) = outcome.allocation() else { break };
        let (allocation, certification) = test.certified(&begun, allocation, &Work::new());
        if !certification.failing.is_empty() {
            break;
        }
        found = Some((RunningDevice::new(&begun, &allocation)?, tasks[..first].to_vec()));
        tasks[..first].iter_mut().for_each(|task| *task = busier(task));
    }
    let (running, begun) = found?;
    tasks[..first].clone_from_slice(&begun);
    Some(Asked { test, running, tasks, device, first })
}

/// How often each answer was given.
#[derive(Debug, Default)]
struct Answers {
    kept: usize,
    staged: usize,
    new: usize,
    refused: usize,
}

/// Compares an answer with what all clusters' tests, and the search for certificates, say of it.
fn compare(asked: &Asked, set: &TaskSet, new: TaskId, decision: &Decision, answers: &mut Answers) {
    let (running, test, work) = (&asked.running, asked.test, Work::new());
    let is_in_time = |of: &RunningDevice| of.late(set, test.rely_on, &work).is_none();
    let mut order: Vec<usize> = (0..running.clusters.len()).collect();
    order.sort_by_key(|&at| (running.clusters[at].size(), at));
    let keeps = |at: &usize| is_in_time(&with_task(running, *at, new));
    let kept = order.iter().copied().find(keeps).map(ClusterId::from_index);
    if let Decision::Admitted(admitted) = decision
        && admitted.change == AddedHow::Kept
    {
        answers.kept += 1;
        assert_eq!(
            (Some(admitted.cluster), &with_task(running, admitted.cluster.index(), new)),
            (kept, &admitted.running)
        );
        return;
    }
    assert_eq!(kept, None, "{decision:?}");
    let alone = alone(asked, set, new);
    match decision {
        Decision::Admitted(admitted) => {
            assert!(is_in_time(&admitted.running), "{admitted:?}");
            if admitted.change == AddedHow::NewCluster {
                answers.new += 1;
                assert_eq!(Some(&admitted.running), alone.as_ref());
            } else {
                answers.staged += 1;
            }
        }
        Decision::Refused(clusters) => {
            answers.refused += 1;
            assert_eq!((alone, clusters.len()), (None, running.clusters.len()));
        }
    }
}

/// What would run with the task on free chips, everybody certified once more.
fn alone(Asked { test, running, .. }: &Asked, set: &TaskSet, new: TaskId) -> Option<RunningDevice> {
    let taken: Vec<ChipId> = running.clusters.iter().flat_map(|cluster| cluster.chips.clone()).collect();
    let free: Vec<ChipId> = ChipId::first(set.device().chips()).filter(|chip| !taken.contains(chip)).collect();
    for size in (1..=free.len()).filter(|size| size.is_power_of_two() || *size == free.len()) {
        for &placement in test.placements.iter().filter(|placement| placement.is_possible_on(set.device())) {
            let mut clusters = running.clusters.clone();
            clusters.push(Cluster { chips: free[..size].to_vec(), tasks: vec![new] });
            let mut placements: Vec<Placement> = running.certificates.iter().map(|of| of.placement).collect();
            placements.push(placement);
            let mut given: Vec<Option<Certificate>> = running.certificates.iter().copied().map(Some).collect();
            given.push(None);
            let certified = certify_beside(set, &clusters, &placements, &given, test.rely_on, &Work::new());
            let certificates: Option<Vec<Certificate>> = certified.certificates.into_iter().collect();
            if let (true, Some(mut certificates)) = (certified.failing.is_empty(), certificates) {
                certificates.iter_mut().for_each(|of| of.server_thousandths = 0);
                return Some(RunningDevice { clusters, certificates });
            }
        }
    }
    None
}

/// Only those are asked whom a task concerns. It is as if all were.
#[test]
fn who_is_not_asked_would_agree() {
    let mut answers = Answers::default();
    for case in 0..1_500 {
        let mut rng = Rng(Stream::numbered(1, b"asked\0\0\0", case));
        let Some(mut asked) = asked(&mut rng) else { continue };
        for new in asked.first..asked.tasks.len() {
            let new = TaskId(u32::try_from(new).expect("few"));
            let mut then = None;
            for _ in 0..rng.one_of(&[1, 6, 16]) {
                let set = set_of(asked.device, &asked.tasks);
                let decision = asked.test.admit(&set, &asked.running, new, &Work::new());
                compare(&asked, &set, new, &decision, &mut answers);
                let Decision::Admitted(admitted) = decision else { break };
                then = Some((admitted.running, asked.tasks[new.index()].clone()));
                asked.tasks[new.index()] = busier(&asked.tasks[new.index()]);
            }
            if let Some((running, task)) = then {
                asked.running = running;
                asked.tasks[new.index()] = task;
            }
        }
    }
    println!("{answers:?}");
    let Answers { kept, staged, new, refused } = answers;
    assert!(kept > 2_000 && staged > 1_000 && new > 400 && refused > 800, "{answers:?}");
}
