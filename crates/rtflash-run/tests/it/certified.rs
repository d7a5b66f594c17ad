//! The device keeps the promises of the sound analyses: random sets that they accept, under
//! everything that is meant to break them.

use rtflash_analysis::certified::{ChannelContention, Choice, ChosenGc, choose};
use rtflash_analysis::{Thesis, Work};
use rtflash_judge::Finding;
use rtflash_model::random::Stream;
use rtflash_model::{
    Access, Allocation, Arrivals, Certificate, ChipId, Cluster, Collection, Device, DeviceSpec, Instant, Job,
    LogicalRatio, Placement, Reliance, Request, Shortest, Span, Task, TaskSet,
};
use rtflash_plan::{Aging, Dispatch, Options, Pattern, Phases, Placed, Service, Times, Victims, Waits};
use rtflash_run::execute;
use rtflash_testkit::ns;

use rtflash_testkit::cases;

/// The certificate of a cluster, whatever its neighbours do, if the analysis finds one. Background
/// jobs need a server's reserve and blocking.
fn certify(
    set: &TaskSet,
    cluster: &Cluster,
    placement: Placement,
    server: u32,
    background: bool,
) -> Option<Certificate> {
    let clusters = std::slice::from_ref(cluster);
    let work = Work::new();
    let placed = ChannelContention::new(set, clusters, vec![placement], vec![0], Reliance::Nothing, &work)
        .in_the_worst_case(0)?;
    let server = if background { server.max(1) } else { server };
    let Choice::Holds(gc) = choose(&placed.processor, &placed.contentions, server, &work) else { return None };
    let collection = gc.map(ChosenGc::to_collection);
    Some(Certificate { placement, collection, server_thousandths: server, backfill: true, tightest: None })
}

/// A set on a small device, with an allocation that the sound analyses accept.
struct Case {
    set: TaskSet,
    allocation: Allocation,
    options: Options,
}

fn device(rng: &mut Stream) -> Option<Device> {
    let transfer = rng.within(1, 10);
    let read = rng.within(1, 25);
    let (program, erase) = (rng.within(1, 80), rng.within(1, 200));
    let mut shortest = |most: u64| Some(ns(rng.within(1, most))).filter(|_| most.is_multiple_of(2));
    let shortest = Shortest {
        page_read: shortest(read),
        page_program: shortest(program),
        block_erase: shortest(erase),
        page_transfer: shortest(transfer),
    };
    let spec = DeviceSpec {
        chips: rng.small(1, 6),
        chips_per_channel: rng.small(1, 3),
        blocks_per_chip: rng.small(8, 24),
        pages_per_block: rng.small(2, 8),
        page_size: 512,
        shortest,
        logical_ratio: LogicalRatio::from_decimal(rng.within(10, 70).into(), 2).ok()?,
        page_read: ns(read),
        page_program: ns(program),
        block_erase: ns(erase),
        page_transfer: ns(transfer),
        ..DeviceSpec::default()
    };
    Device::new(spec).ok()
}

fn tasks(rng: &mut Stream, chips: u32) -> Vec<Task> {
    let access = rng.one_of(&Access::ALL);
    let count = rng.within(1, 4);
    let request = |rng: &mut Stream, most: u64, cost: u64| {
        let pages = rng.within(1, most);
        let period = pages * cost * count * rng.within(2, 8) * if access == Access::Random { 1 } else { 2 } / 2;
        Request::new(pages, ns(period.max(40) + rng.within(0, 100))).map(|request| request.with_access(access))
    };
    let task = |number: u64, rng: &mut Stream| {
        let kinds = rng.within(0, 2);
        let read = (kinds != 0).then(|| request(rng, u64::from(chips) * 3, 40)).flatten();
        let write = (kinds != 1).then(|| request(rng, u64::from(chips) * 2, 150)).flatten();
        let data_pages = (rng.within(0, 3) == 0).then(|| rng.within(1, 20));
        Task { name: format!("t{number}"), read, write, data_pages }
    };
    (0..count).map(|number| task(number, rng)).collect()
}

/// The set with its periods multiplied by `parts` / `of`.
fn hurried(set: &TaskSet, parts: u64, of: u64) -> Option<TaskSet> {
    let hurried = |request: Request| {
        let period = Span::from_ns((request.period().as_ns() * parts / of).max(1))?;
        Some(Request::new(request.pages(), period)?.with_access(request.access()))
    };
    let tasks = set.tasks().iter().map(|task| Task {
        read: task.read.and_then(hurried),
        write: task.write.and_then(hurried),
        ..task.clone()
    });
    TaskSet::new(*set.device(), tasks.collect(), set.jobs().to_vec()).ok()
}

fn draw(seed: u64, case: u64) -> Option<Case> {
    let mut rng = Stream::numbered(seed, b"certify\0", case);
    let device = device(&mut rng)?;
    let tasks = tasks(&mut rng, device.chips());
    let jobs = if rng.within(0, 1) == 0 {
        vec![]
    } else {
        let arrivals = Arrivals::Uniform(ns(rng.within(1, 500)), ns(rng.within(500, 4_000)));
        let (read_pages, write_pages) = (rng.within(0, 6), rng.within(1, 6));
        vec![Job { name: "log".to_owned(), read_pages, write_pages, arrivals }]
    };
    let mut set = TaskSet::new(device, tasks, jobs).ok()?;
    let count = rng.small(1, device.chips().min(2));
    let mut clusters: Vec<Cluster> = vec![Cluster::default(); count as usize];
    // In turns or one after another.
    let turns = rng.within(0, 1) == 0;
    for chip in 0..device.chips() {
        let cluster = if turns { chip % count } else { chip * count / device.chips() };
        clusters[cluster as usize].chips.push(ChipId(chip));
    }
    for task in set.tasks().ids() {
        clusters[rng.small(0, count - 1) as usize].tasks.push(task);
    }
    let service = if set.jobs().is_empty() { Service::Tbs } else { rng.one_of(&[Service::Tbs, Service::Background]) };
    let background = service == Service::Background;
    let mut choice = || {
        let server = if set.jobs().is_empty() || background { 0 } else { rng.one_of(&[50, 100, 250]) };
        (rng.one_of(&Placement::COLLECTING), server)
    };
    let choices: Vec<(Placement, u32)> = clusters.iter().map(|_| choice()).collect();
    // The shortest periods that are accepted: nearest to the limit.
    let (scaled, certificates) = [3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 26, 32].into_iter().find_map(|sixteenths| {
        let scaled = hurried(&set, sixteenths, 16)?;
        let certificate = |(cluster, &(placement, server)): (&Cluster, &(Placement, u32))| {
            certify(&scaled, cluster, placement, server, background).map(Some)
        };
        let certificates: Option<Vec<_>> = clusters.iter().zip(&choices).map(certificate).collect();
        Some((scaled.clone(), certificates?))
    })?;
    set = scaled;
    let allocation = Allocation::new(device.chips(), set.tasks().len(), &clusters).ok()?;
    let allocation = allocation.with_certificates(certificates);
    let patterns = [Pattern::Uniform, Pattern::HotCold, Pattern::OneChip, Pattern::Fullest, Pattern::Fullest];
    let requests = set.tasks().iter().flat_map(|task| [task.read, task.write]).flatten();
    let longest = requests.map(|request| request.period().as_ns()).max()?;
    let options = Options {
        duration: Instant::from_ns(longest * rng.within(10, 60))?,
        dispatch: Dispatch::Serial,
        service,
        victims: rng.one_of(&[Victims::Actual, Victims::Worst]),
        aging: rng.one_of(&[Aging::Worst, Aging::Worst, Aging::Random, Aging::Fresh]),
        pattern: rng.one_of(&patterns),
        times: rng.one_of(&[Times::Worst, Times::Best, Times::Random]),
        seed: case,
        placed: Placed {
            backfill: rng.within(0, 3) > 0,
            waits: rng.one_of(&[Waits::Actual, Waits::Worst]),
            ..Placed::default()
        },
        phases: rng.one_of(&[Phases::Periodic, Phases::AtErases]),
        ..Options::default()
    };
    Some(Case { set, allocation, options })
}

fn broken(findings: &[Finding]) -> Vec<&Finding> {
    let promised = |finding: &&Finding| !finding.assumption.name().starts_with("server");
    findings.iter().filter(|finding| !finding.gauge.holds()).filter(promised).collect()
}

/// Runs of accepted cases, with erases in them.
fn run_all(seed: u64, cases: u64) -> (u64, u64, u64) {
    let (mut runs, mut erases, mut operations) = (0, 0, 0);
    for case in 0..cases {
        let Some(Case { set, allocation, options }) = draw(seed, case) else { continue };
        let Ok(executed) = execute(&set, &allocation, &Thesis, &options, None) else { continue };
        // A drawn set need not fit.
        if executed.findings.iter().any(|finding| finding.assumption.name() == "data-fit" && !finding.gauge.holds()) {
            continue;
        }
        let broken = broken(&executed.findings);
        assert!(broken.is_empty(), "case {case} of seed {seed}: {broken:#?}\n{options:?}\n{allocation:?}\n{set:?}");
        runs += 1;
        erases += executed.report.operations().erases;
        operations += executed.report.operations().reads + executed.report.operations().programs;
    }
    (runs, erases, operations)
}

#[test]
fn accepted_sets_miss_nothing_and_break_nothing() {
    let halves = [1, 2].map(|seed| std::thread::spawn(move || run_all(seed, cases(2_000))));
    for half in halves {
        let (runs, erases, operations) = half.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        println!("{runs} runs, {erases} erases, {operations} pages");
        assert!(runs > 160 && erases > 1_600, "{runs} runs, {erases} erases");
    }
}

/// A certificate that says a little less than the truth.
type Falsified = fn(&mut Collection);

/// Which checks break in some run where every certificate is falsified, and how often.
fn falsified(seed: u64, cases: u64, falsify: Falsified) -> std::collections::BTreeMap<&'static str, u32> {
    let mut names = std::collections::BTreeMap::new();
    for case in 0..cases {
        let Some(Case { set, allocation, options }) = draw(seed, case) else { continue };
        let certificates = (0..allocation.len()).map(|cluster| {
            let mut certificate = *allocation.certificate(cluster)?;
            certificate.collection.iter_mut().for_each(falsify);
            Some(certificate)
        });
        let allocation = allocation.clone().with_certificates(certificates.collect());
        let Ok(executed) = execute(&set, &allocation, &Thesis, &options, None) else { continue };
        for finding in broken(&executed.findings) {
            *names.entry(finding.assumption.name()).or_default() += 1;
        }
    }
    names
}

#[test]
fn falsified_certificates_break() {
    let controls: [(&str, Falsified, &str); 5] = [
        ("no reserve", |of| of.reserve_pages = 0, "gc-keeps-pace"),
        ("a block and more of reserve are missing", |of| of.reserve_pages /= 3, "gc-keeps-pace"),
        ("victims of one page less", |of| of.victim_pages = of.victim_pages.saturating_sub(1), "victim-bound"),
        ("one open block less", |of| of.open_blocks -= 1, "open-blocks"),
        (
            "GC due too early",
            |of| of.deadline = of.deadline.and_then(|span| Span::from_ns(span.as_ns() / 4)),
            "deadlines",
        ),
    ];
    for (name, falsify, breaks) in controls {
        let broken = falsified(3, cases(1_500), falsify);
        assert!(broken.get(breaks).is_some_and(|&times| times >= 5), "{name}: {broken:?}");
    }
}

/// Every request comes a little more often than its cluster was certified for.
#[test]
fn requests_that_come_too_often_are_late() {
    let mut late = 0;
    for case in 0..cases(1_500) {
        let Some(Case { set, allocation, options }) = draw(4, case) else { continue };
        let Some(set) = hurried(&set, 3, 5) else { continue };
        let Ok(executed) = execute(&set, &allocation, &Thesis, &options, None) else { continue };
        late += u32::from(!broken(&executed.findings).is_empty());
    }
    assert!(late > 50, "{late}");
}
