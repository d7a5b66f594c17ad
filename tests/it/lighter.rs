//! Certificates under lighter loads: what relies on nothing stays promised, what is accepted is
//! kept when it is run, and what is weakened below what docs/analysis.md (Section 8) needs is
//! refused.

use rtflash::alloc::allocator::{Outcome, allocator};
use rtflash::alloc::analysis::{Thesis, analysis_relying_on};
use rtflash::check::{CertifiedVerification, verify_certified};
use rtflash::exec::{Aging, Dispatch, Options, Pattern, Phases, Placed, Service, Times, Victims, Waits};
use rtflash::model::random::Stream;
use rtflash::model::{
    Access, Allocation, Arrivals, Certificate, Cluster, Collection, Device, DeviceSpec, Id, Instant, Job, LogicalRatio,
    Placement, Reliance, Request, Task, TaskId, TaskSet,
};
use rtflash::run::execute;
use rtflash_testkit::ns;

const BOTH: [Placement; 2] = [Placement::Stripe, Placement::Superblock];

fn device(rng: &mut Stream) -> Option<Device> {
    Device::new(DeviceSpec {
        chips: rng.small(1, 7),
        chips_per_channel: rng.small(1, 4),
        blocks_per_chip: rng.small(10, 30),
        pages_per_block: rng.small(2, 8),
        page_size: 512,
        logical_ratio: LogicalRatio::from_decimal(rng.within(10, 60).into(), 2).ok()?,
        page_read: ns(rng.within(1, 25)),
        page_program: ns(rng.within(1, 60)),
        block_erase: ns(rng.within(1, 120)),
        page_transfer: ns(rng.within(1, 12)),
        ..DeviceSpec::default()
    })
    .ok()
}

/// A set that fills its device more or less.
fn draw(rng: &mut Stream) -> Option<TaskSet> {
    let device = device(rng)?;
    let count = rng.within(1, 5);
    let chips = u64::from(device.chips());
    // Some sets read about as much as the buses carry.
    let reading = rng.within(0, 1) == 0;
    let explicit = rng.within(0, 2) == 0;
    let (most, hurry) = if reading { (20, 4) } else { (3, 1) };
    let tasks = (0..count).map(|number| {
        let access = rng.one_of(&[Access::Random, Access::Sequential, Access::Sequential, Access::Stream]);
        let mut request = |cost: u64| {
            let pages = rng.within(1, most * chips);
            let period = pages * cost * count * rng.within(4, 20) / (2 * chips * hurry) + rng.within(10, 60);
            let request = Request::new(pages, ns(period))?.with_access(access);
            if !explicit {
                return Some(request);
            }
            // Due in the second half of the period, and late by up to a third of that.
            let deadline = period - rng.within(0, period / 2);
            request.with_deadline(Some(ns(deadline)))?.with_jitter(ns(rng.within(0, deadline / 3)))
        };
        let [read, write] = [request(40), request(130)];
        let kinds = if reading && number > 0 { 1 } else { rng.within(0, 2) };
        let data_pages = (rng.within(0, 2) == 0).then(|| rng.within(1, 16));
        Task {
            name: format!("t{number}"),
            read: read.filter(|_| kinds != 0),
            write: write.filter(|_| kinds != 1),
            data_pages,
        }
    });
    let tasks: Vec<Task> = tasks.collect();
    let job = Job { name: "log".into(), read_pages: 1, write_pages: 2, arrivals: Arrivals::Every(ns(900)) };
    let jobs = if rng.within(0, 1) == 0 { vec![] } else { vec![job] };
    TaskSet::new(device, tasks, jobs).ok()
}

/// Longer periods, later deadlines, less jitter, fewer pages, less data, requests and tasks that
/// are gone: the set, and where each of its tasks was.
fn lighter(set: &TaskSet, rng: &mut Stream) -> Option<(TaskSet, Vec<usize>)> {
    let (mut tasks, mut old) = (vec![], vec![]);
    for (position, task) in set.tasks().iter().enumerate() {
        let mut request = |request: Request| {
            let pages = if rng.within(0, 2) == 0 { rng.within(1, request.pages()) } else { request.pages() };
            let period = match rng.within(0, 4) {
                0 => request.period().as_ns() + rng.within(0, 3),
                1 => request.period().as_ns() * rng.within(10, 40) / 10,
                _ => request.period().as_ns(),
            };
            let longer = request.with_pages(pages)?.with_period(ns(period))?;
            let made = match (rng.within(0, 2), request.stated_deadline()) {
                (0, Some(deadline)) => {
                    let later = rng.within(deadline.as_ns(), period);
                    let less = rng.within(0, request.jitter().as_ns());
                    longer.with_deadline(Some(ns(later)))?.with_jitter(ns(less))?
                }
                _ => longer,
            };
            (rng.within(0, 9) > 0).then_some(made)
        };
        let (read, write) = (task.read.and_then(&mut request), task.write.and_then(&mut request));
        let data_pages = task.data_pages.map(|pages| rng.within(1, pages));
        if (read.is_some() || write.is_some()) && rng.within(0, 7) > 0 {
            tasks.push(Task { read, write, data_pages, ..task.clone() });
            old.push(position);
        }
    }
    Some((TaskSet::new(*set.device(), tasks, set.jobs().to_vec()).ok()?, old))
}

/// The allocation's clusters and certificates for the tasks that are left.
fn carried_over(allocation: &Allocation, set: &TaskSet, old: &[usize]) -> Allocation {
    let left = |task: &TaskId| old.iter().position(|&was| was == task.index()).map(TaskId::from_index);
    let clusters = allocation
        .clusters()
        .into_iter()
        .map(|cluster| Cluster { tasks: cluster.tasks.iter().filter_map(left).collect(), chips: cluster.chips });
    let clusters: Vec<Cluster> = clusters.collect();
    let carried = Allocation::new(set.device().chips(), set.tasks().len(), &clusters).expect("a partition");
    carried.with_certificates((0..allocation.len()).map(|at| allocation.certificate(at).copied()).collect())
}

fn verify(set: &TaskSet, allocation: &Allocation) -> CertifiedVerification {
    verify_certified(set, allocation, &BOTH, Reliance::Queue)
}

/// Sets that are accepted, with their allocations.
fn accepted(seed: u64, cases: u64) -> impl Iterator<Item = (u64, Stream, TaskSet, Allocation)> {
    (0..cases).filter_map(move |case| {
        let mut rng = Stream::numbered(seed, b"lighter\0", case);
        let set = draw(&mut rng)?;
        let algorithm = rng.one_of(&["clustering-bfd", "full-isolation", "equal-split"]);
        let algorithm = allocator(algorithm).expect("an algorithm");
        let sound = analysis_relying_on("sound", Reliance::Queue).expect("an analysis");
        match algorithm.allocate(&set, sound) {
            Outcome::Schedulable(allocation) => Some((case, rng, set, allocation)),
            _ => None,
        }
    })
}

#[test]
fn certificates_stay_valid_for_lighter_loads() {
    // Clusters that rely on nothing; others, and those of them that are refused.
    let (mut independent, mut leaning, mut lost) = (0, 0, 0);
    for (case, mut rng, set, allocation) in accepted(1, 4_000) {
        let before = verify(&set, &allocation);
        assert!(before.accepts(), "case {case}: {before:?}");
        let Some((set, old)) = lighter(&set, &mut rng) else { continue };
        let after = verify(&set, &carried_over(&allocation, &set, &old));
        for (was, is) in before.clusters.iter().zip(&after.clusters) {
            assert!(is.discrepancies.is_empty(), "case {case}: {is:?}");
            if was.relies_on == Some(Reliance::Nothing) {
                independent += 1;
                assert_eq!((is.holds, is.relies_on), (Some(true), Some(Reliance::Nothing)), "case {case}: {is:?}");
            } else {
                leaning += 1;
                lost += u32::from(is.holds != Some(true));
            }
        }
    }
    println!("{independent} rely on nothing, {leaning} lean, {lost} lost");
    assert!(independent > 1_000 && leaning > 50 && lost * 5 < leaning, "{independent} {leaning} {lost}");
}

fn options(rng: &mut Stream, set: &TaskSet, independent: bool) -> Options {
    let requests = set.tasks().iter().flat_map(|task| [task.read, task.write]).flatten();
    let longest = requests.map(|request| request.period().as_ns()).max().unwrap_or(1_000);
    let waits = if independent { rng.one_of(&[Waits::Actual, Waits::Worst]) } else { Waits::Actual };
    Options {
        duration: Instant::from_ns(longest * rng.within(20, 60)).expect("a short time"),
        dispatch: Dispatch::Serial,
        service: Service::Tbs,
        victims: rng.one_of(&[Victims::Actual, Victims::Worst]),
        aging: rng.one_of(&[Aging::Worst, Aging::Worst, Aging::Random]),
        pattern: rng.one_of(&[Pattern::Uniform, Pattern::OneChip, Pattern::Fullest, Pattern::HotCold]),
        times: Times::Worst,
        seed: rng.within(0, 999),
        placed: Placed { waits, ..Placed::default() },
        phases: rng.one_of(&[Phases::Periodic, Phases::AtErases]),
        ..Options::default()
    }
}

#[test]
fn lighter_loads_are_kept_on_the_device() {
    let (mut runs, mut erases) = (0, 0);
    for (case, mut rng, set, allocation) in accepted(2, 400) {
        let Some((set, old)) = lighter(&set, &mut rng) else { continue };
        let allocation = carried_over(&allocation, &set, &old);
        let verification = verify(&set, &allocation);
        if !verification.accepts() {
            continue;
        }
        let independent = verification.clusters.iter().all(|cluster| cluster.relies_on == Some(Reliance::Nothing));
        let options = options(&mut rng, &set, independent);
        let Ok(executed) = execute(&set, &allocation, &Thesis, &options, None) else { continue };
        let broken: Vec<_> = executed.findings.iter().filter(|finding| !finding.gauge.holds()).collect();
        assert!(broken.is_empty(), "case {case}: {broken:#?}\n{options:?}\n{allocation:?}\n{set:?}");
        runs += 1;
        erases += executed.report.operations().erases;
    }
    println!("{runs} runs, {erases} erases");
    assert!(runs > 60 && erases > 500, "{runs} {erases}");
}

/// A number that is less, or more, than stated.
type Weaker = fn(&mut Collection);

#[test]
fn weakened_certificates_are_refused() {
    let weaker: [Weaker; 7] = [
        |of| of.reclaimed_pages += 1,
        |of| of.reserve_pages -= 1,
        |of| of.victim_pages += 1,
        |of| of.victim_pages = of.victim_pages.wrapping_sub(1),
        |of| of.open_blocks -= 1,
        |of| of.reclaimed_pages = 0,
        |of| of.reserve_pages = 0,
    ];
    let mut refused = [0; 7];
    for (case, _, set, allocation) in accepted(3, 300) {
        for position in 0..allocation.len() {
            let collection = allocation.certificate(position).and_then(|certificate| certificate.collection);
            for (weaken, refused) in weaker.iter().zip(&mut refused) {
                let Some(mut collection) = collection else { continue };
                weaken(&mut collection);
                if collection.victim_pages == u64::MAX {
                    continue;
                }
                let found = verify(&set, &with_collection(&allocation, position, collection));
                assert!(
                    !found.accepts() && !found.clusters[position].discrepancies.is_empty(),
                    "case {case}: {found:?}"
                );
                *refused += 1;
            }
        }
    }
    assert!(refused.iter().all(|&times| times > 100), "{refused:?}");
}

fn with_collection(allocation: &Allocation, position: usize, collection: Collection) -> Allocation {
    let certificates = (0..allocation.len()).map(|at| {
        let certificate = *allocation.certificate(at)?;
        let collection = if at == position { Some(collection) } else { certificate.collection };
        Some(Certificate { collection, ..certificate })
    });
    allocation.clone().with_certificates(certificates.collect())
}

/// If a lighter load needs less than is stated, the number said to be enough is, and one less is
/// not.
#[test]
fn what_would_do_is_the_least_that_does() {
    let mut tried = [0; 3];
    for (case, mut rng, set, allocation) in accepted(4, 800) {
        let Some((set, old)) = lighter(&set, &mut rng) else { continue };
        let allocation = carried_over(&allocation, &set, &old);
        let verification = verify(&set, &allocation);
        for (position, cluster) in verification.clusters.iter().enumerate().filter(|(_, it)| it.holds == Some(true)) {
            let Some(stated) = allocation.certificate(position).and_then(|it| it.collection) else { continue };
            for note in &cluster.notes {
                let Some((number, _)) = note.split_once(", where ").and_then(|(_, rest)| rest.split_once(" would"))
                else {
                    continue;
                };
                let least: u64 = number.parse().expect("a number");
                let (which, change): (usize, fn(Collection, u64) -> Collection) = match note.as_bytes()[0] {
                    b'H' => (0, |of, pages| Collection { reserve_pages: pages, ..of }),
                    b'F' => (1, |of, open_blocks| Collection { open_blocks, ..of }),
                    b'v' => (2, |of, victim_pages| Collection { victim_pages, ..of }),
                    _ => continue,
                };
                let complaints = |collection: Collection| {
                    verify(&set, &with_collection(&allocation, position, collection)).clusters[position]
                        .discrepancies
                        .len()
                };
                assert_eq!(complaints(change(stated, least)), 0, "case {case}: {note}");
                if least > 0 {
                    assert!(complaints(change(stated, least - 1)) > 0, "case {case}: {note}");
                }
                tried[which] += 1;
            }
        }
    }
    assert!(tried.iter().all(|&times| times > 5), "{tried:?}");
}
