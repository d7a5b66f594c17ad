//! Whether a task may be added to what runs, asked of everybody the long way; and a set for each
//! part of the rules that is there for a few of them.

use rtflash_alloc::admission::{
    AddedHow, AdmissionRefusal, Admitted, Decision, Removals, RunningDevice, StreamRefusal, admit, removable_within,
    served_streams,
};
use rtflash_alloc::allocator::{Allocator, BestFit, EqualSplit, Global};
use rtflash_analysis::certified::certify_beside;
use rtflash_analysis::{DemandTest, Work, analysis_relying_on};
use rtflash_model::random::Stream;
use rtflash_model::{
    Access, Arrivals, Certificate, ChipId, Cluster, ClusterId, Collection, Device, DeviceSpec, Id, Job, LogicalRatio,
    Placement, Reliance, Request, Shortest, Span, Task, TaskId, TaskSet,
};
use rtflash_testkit::ns;

/// A small device, with a command and a second page register or without.
fn small(chips: u32, chips_per_channel: u32, times: [u64; 4]) -> DeviceSpec {
    let [page_read, page_program, block_erase, page_transfer] = times.map(ns);
    DeviceSpec {
        chips,
        chips_per_channel,
        blocks_per_chip: 64,
        pages_per_block: 4,
        page_size: 512,
        logical_ratio: LogicalRatio::from_decimal(50, 2).expect("a half"),
        page_read,
        page_program,
        block_erase,
        page_transfer,
        ..DeviceSpec::default()
    }
}

fn drawn_device(rng: &mut Stream) -> Option<Device> {
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

fn drawn_task(rng: &mut Stream, number: u64) -> Task {
    let request = |rng: &mut Stream| {
        let period = rng.within(200, 4_000);
        let request = Request::new(rng.within(1, 5), ns(period))?;
        let request = request.with_access(rng.one_of(&[Access::Random, Access::Sequential, Access::Stream]));
        if rng.within(0, 3) > 0 {
            return Some(request);
        }
        let longest = period * rng.one_of(&[1, 1, 3]);
        let deadline = rng.within(period / 2, longest);
        request.with_deadline(Some(ns(deadline)))?.with_jitter(ns(rng.within(0, deadline / 4)))
    };
    let kinds = rng.within(0, 3);
    let read = (kinds != 0).then(|| request(rng)).flatten();
    let write = (kinds != 1 || read.is_none()).then(|| request(rng)).flatten();
    // A chip has 128 logical pages.
    let data_pages = (rng.within(0, 5) == 0).then(|| rng.within(60, 200));
    Task { name: format!("t{number}"), read, write, data_pages }
}

/// The task with shorter periods.
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
    set_with(device, tasks, &[])
}

fn set_with(device: Device, tasks: &[Task], jobs: &[Job]) -> TaskSet {
    TaskSet::new(device, tasks.to_vec(), jobs.to_vec()).expect("a set")
}

/// The running clusters with one more task in one of them.
fn with_task(running: &RunningDevice, position: usize, task: TaskId) -> RunningDevice {
    let mut with = running.clone();
    with.clusters[position].tasks.push(task);
    with.clusters[position].tasks.sort_unstable();
    with
}

/// Jobs that read a page each.
fn reading(gap: u64) -> Job {
    Job { name: "scan".into(), read_pages: 1, write_pages: 0, arrivals: Arrivals::Every(ns(gap)) }
}

/// Sets of which the first tasks run.
struct Asked {
    test: DemandTest,
    running: RunningDevice,
    tasks: Vec<Task>,
    /// None, or those of a stream, so that clusters get servers.
    jobs: Vec<Job>,
    device: Device,
    first: usize,
}

fn asked(rng: &mut Stream) -> Option<Asked> {
    let device = drawn_device(rng)?;
    let first = usize::try_from(rng.within(1, 5)).expect("few");
    let mut tasks: Vec<Task> = (0..first as u64 + 3).map(|number| drawn_task(rng, number)).collect();
    // Their data may be more than the device holds.
    TaskSet::new(device, tasks.clone(), Vec::new()).ok()?;
    let granted = rng.one_of(&[Reliance::Nothing, Reliance::Neighbours, Reliance::Queue]);
    let analysis = analysis_relying_on(rng.one_of(&["stripe", "superblock", "sound"]), granted)?;
    let test = analysis.demand_test()?.on(&device);
    let allocator: &dyn Allocator = rng.one_of(&[&EqualSplit as &dyn Allocator, &Global, &BestFit]);
    let jobs = if rng.within(0, 3) == 0 { vec![reading(1_000_000)] } else { Vec::new() };
    let mut found = None;
    for _ in 0..rng.one_of(&[1, 4, 12]) {
        let begun = set_with(device, &tasks[..first], &jobs);
        let outcome = allocator.allocate(&begun, analysis);
        let Some(allocation) = outcome.allocation() else { break };
        let (allocation, certification) = test.certified(&begun, allocation, &Work::new());
        if !certification.failing.is_empty() {
            break;
        }
        let RunningDevice { clusters, certificates } = RunningDevice::new(&begun, &allocation)?;
        // A cluster that serves jobs alone is left out, so that there are free chips beside
        // servers.
        let pairs = clusters.into_iter().zip(certificates);
        let (clusters, certificates) = pairs.filter(|(cluster, _)| !cluster.tasks.is_empty()).unzip();
        found = Some((RunningDevice { clusters, certificates }, tasks[..first].to_vec()));
        tasks[..first].iter_mut().for_each(|task| *task = busier(task));
    }
    let (running, begun) = found?;
    tasks[..first].clone_from_slice(&begun);
    Some(Asked { test, running, tasks, jobs, device, first })
}

/// How often each answer was given.
#[derive(Debug, Default)]
struct Answers {
    kept: usize,
    staged: usize,
    new: usize,
    /// The new ones that got a server.
    serving: usize,
    refused: usize,
    /// Refused, as a decision may take no more.
    given_up: usize,
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
    let alone = alone(asked, set, new);
    if matches!(decision, Decision::Refused(_)) && (kept.is_some() || alone.is_some()) {
        // It would take longer than a decision may.
        answers.given_up += 1;
        return;
    }
    assert_eq!(kept, None, "{decision:?}");
    match decision {
        Decision::Admitted(admitted) => {
            assert!(is_in_time(&admitted.running), "{admitted:?}");
            if admitted.change == AddedHow::NewCluster {
                answers.new += 1;
                let alone = alone.expect("a cluster of its own");
                assert_eq!(admitted.running.clusters, alone.clusters);
                // If there are no jobs no server is looked for, and other terms will do.
                if !asked.jobs.is_empty() {
                    assert_eq!(admitted.running, alone);
                }
                assert_eq!(admitted.running.certificates.last(), tightened(&admitted.running, set, test).last());
                answers.serving +=
                    usize::from(admitted.running.certificates.last().expect("it").server_thousandths > 0);
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

/// Certificates, each with the interval on which its cluster comes nearest to missing a deadline.
fn tightened(running: &RunningDevice, set: &TaskSet, test: DemandTest) -> Vec<Certificate> {
    running.clone().tightened(set, test.rely_on, &Work::new()).certificates
}

/// The clusters with the task on free chips, all certified once more.
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
            if let (true, Some(certificates)) = (certified.failing.is_empty(), certificates) {
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
        let mut rng = Stream::numbered(1, b"asked\0\0\0", case);
        let Some(mut asked) = asked(&mut rng) else { continue };
        for new in asked.first..asked.tasks.len() {
            let new = TaskId(u32::try_from(new).expect("few"));
            let mut then = None;
            for _ in 0..rng.one_of(&[1, 6, 16]) {
                let set = set_with(asked.device, &asked.tasks, &asked.jobs);
                let decision = admit(asked.test, &set, &asked.running, new, &Work::new());
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
    let Answers { kept, staged, new, serving, refused, given_up } = answers;
    assert!(given_up < 40, "{answers:?}");
    assert!(kept > 2_000 && staged > 1_000 && new > 400 && serving > 50 && refused > 800, "{answers:?}");
}

fn reads(name: &str, pages: u64, period: u64) -> Task {
    Task { name: name.into(), read: Request::new(pages, ns(period)), write: None, data_pages: None }
}

fn writes(name: &str, pages: u64, period: u64) -> Task {
    Task { name: name.into(), read: None, write: Request::new(pages, ns(period)), data_pages: None }
}

/// A stripe's certificate with a reserve for what is written within the deadline.
fn stripe(deadline: u64, reserve_pages: u64) -> Certificate {
    let collection = Collection {
        deadline: Some(ns(deadline)),
        reclaimed_pages: 2,
        reserve_pages,
        victim_pages: 2,
        open_blocks: 2 + reserve_pages / 4,
    };
    Certificate {
        placement: Placement::Stripe,
        collection: Some(collection),
        server_thousandths: 0,
        backfill: true,
        tightest: None,
    }
}

fn by_stripes(granted: Reliance) -> DemandTest {
    analysis_relying_on("stripe", granted).and_then(|of| of.demand_test()).expect("a demand test")
}

/// A chip of its own for each of these lists of tasks, by these certificates, all in time.
fn chip_each(set: &TaskSet, granted: Reliance, tasks: &[&[u32]], certificates: &[Certificate]) -> RunningDevice {
    let cluster = |(chip, tasks): (u32, &&[u32])| Cluster {
        chips: vec![ChipId(chip)],
        tasks: tasks.iter().copied().map(TaskId).collect(),
    };
    let clusters = (0..).zip(tasks).map(cluster).collect();
    let running = RunningDevice::of_parts(set, clusters, certificates.to_vec());
    assert_eq!(running.late(set, granted, &Work::new()), None);
    running
}

fn admitted(decision: Decision) -> Box<Admitted> {
    let Decision::Admitted(admitted) = decision else { panic!("{decision:?}") };
    admitted
}

fn stages(decision: Decision) -> usize {
    let AddedHow::Staged(stages) = admitted(decision).change else { panic!("no change of terms") };
    stages.len()
}

/// The waits of an extra pass's commands for neighbours are charged nowhere: beside neighbours that
/// are relied on no reserve grows.
#[test]
fn beside_known_neighbours_no_extra_pass_has_commands() {
    let decide = |granted, command| {
        let spec = DeviceSpec { command, ..small(2, 2, [10, 20, 40, 5]) };
        let set = set_of(
            Device::new(spec).expect("a device"),
            &[writes("t0", 1, 4_000), reads("t1", 1, 4_000), writes("t2", 10, 8_000)],
        );
        let quiet = Certificate { collection: None, ..stripe(1, 1) };
        let running = chip_each(&set, granted, &[&[0], &[1]], &[stripe(4_000, 4), quiet]);
        admit(by_stripes(granted), &set, &running, TaskId(2), &Work::new())
    };
    assert_eq!(stages(decide(Reliance::Neighbours, None)), 2);
    assert_eq!(stages(decide(Reliance::Nothing, Some(ns(2)))), 2);
    let refused = decide(Reliance::Neighbours, Some(ns(2)));
    let why = [AdmissionRefusal::Reserve, AdmissionRefusal::NoReserve];
    assert_eq!(refused, Decision::Refused((0..).map(ClusterId).zip(why).collect()));
}

/// If tests count how often a cluster collects, its change is over once no busy interval has it: of
/// a neighbour that reads for 40 · 15 ns at a time, and of its own, by the new terms.
#[test]
fn a_change_is_over_when_all_were_idle_once_more() {
    let job = ns(40 * 15);
    let decide = |neighbour: Task, new: Task, command| {
        let spec = DeviceSpec { command, ..small(2, 2, [10, 20, 40, 5]) };
        let set = set_of(Device::new(spec).expect("a device"), &[writes("t0", 1, 4_000), neighbour, new]);
        let quiet = Certificate { collection: None, ..stripe(1, 1) };
        let granted = Reliance::Neighbours;
        let running = chip_each(&set, granted, &[&[0], &[1]], &[stripe(40_000, 13), quiet]);
        let admitted = admitted(admit(by_stripes(granted), &set, &running, TaskId(2), &Work::new()));
        assert!(matches!(&admitted.change, AddedHow::Staged(stages) if stages.len() == 1), "{admitted:?}");
        admitted.ready_within
    };
    let few = || reads("t1", 1, 100_000);
    let many = || reads("t1", 40, 100_000);
    let both = || Task { read: many().read, ..writes("t2", 1, 4_000) };
    // Copies and erases do not use the bus.
    assert!(decide(many(), both(), None) < job);
    assert!(decide(few(), writes("t2", 1, 4_000), Some(ns(1))) < job);
    assert!(decide(many(), writes("t2", 1, 4_000), Some(ns(1))) >= job);
    assert!(decide(few(), both(), Some(ns(1))) >= job);
}

/// Chips of a cluster change their terms at different instants, and (T'') counts how often the
/// others collect: nobody changes terms by it, before or after.
#[test]
fn no_cluster_changes_its_terms_by_the_queue() {
    let device = Device::new(small(3, 3, [10, 17, 5, 11])).expect("a device");
    let sequential = |task: Task| Task {
        read: task.read.map(|read| read.with_access(Access::Sequential)),
        write: task.write.map(|write| write.with_access(Access::Sequential)),
        ..task
    };
    let both = Task { write: Request::new(1, ns(8_182)), ..reads("t0", 60, 1_297) };
    let tasks = [both, reads("t1", 15, 706), writes("t2", 1, 3_141)].map(sequential);
    let set = set_of(device, &tasks);
    let cluster = |chips: &[u32], task: u32| Cluster {
        chips: chips.iter().copied().map(ChipId).collect(),
        tasks: vec![TaskId(task)],
    };
    let clusters = vec![cluster(&[0, 1], 0), cluster(&[2], 1)];
    let quiet = Certificate { collection: None, ..stripe(1, 1) };
    let granted = Reliance::Queue;
    let running = RunningDevice::of_parts(&set, clusters, vec![stripe(16_364, 5), quiet]);
    assert_eq!(running.late(&set, granted, &Work::new()), None);
    // By other terms, which begin with no more than there is, all would be in time by (T'').
    let mut then = with_task(&running, 0, TaskId(2));
    assert_eq!(then.late(&set, granted, &Work::new()), Some(ClusterId(0)));
    then.certificates[0] = stripe(3_141, 5);
    assert_eq!(then.late(&set, granted, &Work::new()), None);
    assert_eq!(then.late(&set, Reliance::Neighbours, &Work::new()), Some(ClusterId(0)));
    let why = [AdmissionRefusal::Late, AdmissionRefusal::NoReserve];
    let refused = admit(by_stripes(granted), &set, &running, TaskId(2), &Work::new());
    assert_eq!(refused, Decision::Refused((0..).map(ClusterId).zip(why).collect()));
}

/// How often a cluster collects while its terms change is not known: where neighbours count that,
/// they have to be in time whatever it does.
#[test]
fn neighbours_know_nothing_of_a_cluster_that_changes() {
    let decide = |command| {
        let spec = DeviceSpec { command, ..small(2, 2, [10, 20, 40, 5]) };
        let tasks = [writes("t0", 1, 4_000), reads("t1", 40, 800), writes("t2", 1, 4_000)];
        let set = set_of(Device::new(spec).expect("a device"), &tasks);
        let quiet = Certificate { collection: None, ..stripe(1, 1) };
        let granted = Reliance::Neighbours;
        let running = chip_each(&set, granted, &[&[0], &[1]], &[stripe(40_000, 13), quiet]);
        let mut then = with_task(&running, 0, TaskId(2));
        then.certificates[0] = stripe(4_000, 5);
        assert_eq!(then.late(&set, granted, &Work::new()), None);
        admit(by_stripes(granted), &set, &running, TaskId(2), &Work::new())
    };
    // Copies and erases do not use the bus.
    assert_eq!(stages(decide(None)), 1);
    let why = [AdmissionRefusal::Neighbour(ClusterId(1)), AdmissionRefusal::NoReserve];
    assert_eq!(decide(Some(ns(1))), Decision::Refused((0..).map(ClusterId).zip(why).collect()));
}

/// A task may be left out when its cluster was idle, so that passes of its pages are over, and
/// then all were once more.
#[test]
fn a_task_is_left_out_after_two_idle_times() {
    let device = Device::new(small(2, 2, [10, 20, 40, 5])).expect("a device");
    let set = set_of(device, &[reads("t0", 40, 100_000), reads("t1", 1, 4_000), reads("t2", 40, 100_000)]);
    let quiet = Certificate { collection: None, ..stripe(1, 1) };
    let granted = Reliance::Neighbours;
    let running = chip_each(&set, granted, &[&[0, 1], &[2]], &[quiet, quiet]);
    let within = removable_within(&set, &running, TaskId(1), granted, &Work::new()).expect("it may end");
    assert!(within >= ns(4_000 + 2 * 40 * 15), "{within:?}");
}

/// The time until a cluster is idle is found once for all of its tasks.
#[test]
fn nothing_is_tested_again_for_another_task() {
    let device = Device::new(small(4, 2, [10, 20, 40, 5])).expect("a device");
    let tasks: Vec<Task> = (0..40).map(|number| reads(&format!("t{number}"), 1, 40_000)).collect();
    let set = set_of(device, &tasks);
    let quiet = Certificate { collection: None, ..stripe(1, 1) };
    let of = |chip: u32| (10 * chip..10 * chip + 10).collect::<Vec<u32>>();
    let places = [of(0), of(1), of(2), of(3)];
    let places: Vec<&[u32]> = places.iter().map(Vec::as_slice).collect();
    let running = chip_each(&set, Reliance::Neighbours, &places, &[quiet; 4]);
    let work = Work::new();
    let removals = Removals::new(&set, &running, Reliance::Neighbours, &work);
    let first = [0, 20].map(|task| removals.within(TaskId(task)));
    let after = work.bound(u64::MAX);
    for task in set.tasks().ids() {
        let within = removals.within(task);
        assert_eq!(within, first[usize::from(task.0 >= 20)]);
        assert_eq!(within, removable_within(&set, &running, task, Reliance::Neighbours, &Work::new()));
    }
    assert!(first[0].is_some() && after.left() == u64::MAX, "{first:?}");
}

/// A server may never be idle: a cluster that has one goes on by its terms. Without jobs nobody has
/// a server.
#[test]
fn a_cluster_with_a_server_changes_no_terms() {
    let device = Device::new(small(2, 2, [10, 20, 40, 5])).expect("a device");
    let tasks = [writes("t0", 1, 4_000), writes("t1", 10, 8_000)];
    let job = reading(9_000);
    let analysis = analysis_relying_on("stripe", Reliance::Nothing).expect("an analysis");
    let decide = |jobs: Vec<Job>, chips: u32| {
        let device = Device::new(DeviceSpec { chips, ..device.spec() }).expect("a device");
        let begun = TaskSet::new(device, tasks[..1].to_vec(), jobs.clone()).expect("a task");
        let set = TaskSet::new(device, tasks.to_vec(), jobs).expect("two tasks");
        let one = Cluster { chips: vec![ChipId(0)], tasks: vec![TaskId(0)] };
        let certified = certify_beside(
            &begun,
            std::slice::from_ref(&one),
            &[Placement::Stripe],
            &[None],
            Reliance::Nothing,
            &Work::new(),
        );
        let certificate = certified.certificates[0].expect("in time");
        assert!(certificate.server_thousandths > 0);
        let running = RunningDevice::of_parts(&begun, vec![one], vec![certificate]);
        assert_eq!(running.late(&begun, Reliance::Nothing, &Work::new()), None);
        let test = analysis.demand_test().expect("a demand test");
        admit(test, &set, &running, TaskId(1), &Work::new())
    };
    let with_a_server = decide(vec![job.clone()], 1);
    assert_eq!(with_a_server, Decision::Refused(vec![(ClusterId(0), AdmissionRefusal::Server)]));
    let without = admitted(decide(Vec::new(), 1));
    assert!(matches!(&without.change, AddedHow::Staged(_)), "{without:?}");
    assert_eq!(without.running.certificates[0].server_thousandths, 0);
    let beside = admitted(decide(vec![job], 2));
    assert_eq!(beside.change, AddedHow::NewCluster);
    assert!(beside.running.certificates.iter().all(|of| of.server_thousandths > 0), "{beside:?}");
}

/// A job stream goes where a server has room for it in the long run, to a nanosecond.
#[test]
fn a_stream_takes_what_a_server_has_left() {
    let device = Device::new(small(2, 1, [10, 20, 40, 5])).expect("a device");
    let reading = |pages: u64, gap: u64| Job {
        name: format!("r{pages}"),
        read_pages: pages,
        write_pages: 0,
        arrivals: Arrivals::Every(ns(gap)),
    };
    let tasks = [writes("t0", 1, 4_000), writes("t1", 1, 800)];
    let set = |jobs: Vec<Job>| TaskSet::new(device, tasks.to_vec(), jobs).expect("a set");
    let one = |number: u32| Cluster { chips: vec![ChipId(number)], tasks: vec![TaskId(number)] };
    let (clusters, granted, work) = (vec![one(0), one(1)], Reliance::Nothing, Work::new());
    let begun = set(vec![reading(1, 1)]);
    let certified =
        certify_beside(&begun, &clusters, &[Placement::Stripe; 2], &[None, None], granted, &work).certificates;
    let certificates: Vec<Certificate> = certified.into_iter().map(|of| of.expect("in time")).collect();
    let served = |jobs: Vec<Job>, shares: [u32; 2]| {
        let of = |(certificate, share): (&Certificate, u32)| Certificate { server_thousandths: share, ..*certificate };
        let certificates = certificates.iter().zip(shares).map(of).collect();
        let set = set(jobs);
        served_streams(&set, &RunningDevice::of_parts(&set, clusters.clone(), certificates), granted, &work)
    };
    let [most, less] = [certificates[0].server_thousandths, certificates[1].server_thousandths];
    assert!(most > less && less > 0, "{most} {less}");
    // A page takes t_r + t_d = 15 ns: one every 15/U_s.
    let full = |share: u32| 15_000_u64.div_ceil(share.into());
    let [first, second] = [0, 1].map(ClusterId);
    assert_eq!(served(vec![reading(1, full(most))], [most, less]), [Ok(first)]);
    assert_eq!(served(vec![reading(1, full(most) - 1)], [most, less]), [Err(StreamRefusal::Full)]);
    assert_eq!(served(vec![reading(1, full(most)), reading(2, 2 * full(less))], [most, less]), [Ok(first), Ok(second)]);
    let both = vec![reading(1, full(less)), reading(2, 2 * full(less)), reading(3, 3 * full(less))];
    assert_eq!(served(both, [less, less]), [Ok(first), Ok(second), Err(StreamRefusal::Full)]);
    assert_eq!(served(vec![reading(1, 10_000)], [0, 0]), [Err(StreamRefusal::NoServer)]);
    // Writes take their part of passes: t_w + t_d, and C_g/α.
    let gc = certificates[0].collection.expect("it collects");
    let pass = gc.victim_pages * (10 + 20) + 40;
    let writing = |gap: u64| Job { read_pages: 0, write_pages: 1, ..reading(1, gap) };
    let cost = 25 * gc.reclaimed_pages + pass;
    let gap = (cost * 1_000).div_ceil(gc.reclaimed_pages * u64::from(most));
    assert_eq!(served(vec![writing(gap)], [most, 0]), [Ok(first)]);
    assert_eq!(served(vec![writing(gap - 1)], [most, 0]), [Err(StreamRefusal::Full)]);
}

/// On free chips a task gets a server only where there are jobs for it.
#[test]
fn a_new_cluster_has_a_server_for_jobs_alone() {
    let device = Device::new(small(2, 1, [10, 20, 40, 5])).expect("a device");
    // It writes, and the first one's cluster has no reserve.
    let set = set_of(device, &[reads("t0", 1, 4_000), writes("t1", 1, 4_000)]);
    let quiet = Certificate { collection: None, ..stripe(1, 1) };
    let one = Cluster { chips: vec![ChipId(0)], tasks: vec![TaskId(0)] };
    let running = RunningDevice::of_parts(&set, vec![one], vec![quiet]);
    let added = admitted(admit(by_stripes(Reliance::Nothing), &set, &running, TaskId(1), &Work::new()));
    assert_eq!((&added.change, added.running.certificates[1].server_thousandths), (&AddedHow::NewCluster, 0));
}
