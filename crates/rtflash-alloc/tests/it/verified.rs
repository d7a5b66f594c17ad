//! The verdicts of the demand tests on allocations of any origin are those of the verifier, which
//! shares no code with them: verdicts, the reliance of each cluster, and every number that is
//! shown.

use rtflash_analysis::certified::{certified, held, holding, is_independent, reliances, reports};
use rtflash_analysis::{ClusterReport, Work};
use rtflash_model::random::Stream;
use rtflash_model::{
    Access, Allocation, Certificate, ChipId, Cluster, Collection, Device, DeviceSpec, Id, LogicalRatio, Placement,
    Reliance, Request, Shortest, Span, Task, TaskId, TaskSet,
};
use rtflash_testkit::ns;
use rtflash_verify::{CertifiedClusterVerification, verify_certified};

use rtflash_testkit::cases;

fn device(rng: &mut Stream) -> Option<Device> {
    let read = rng.within(1, 25);
    let (failing, suspends) = (rng.within(0, 7) == 0, rng.within(0, 3) == 0);
    let spec = DeviceSpec {
        chips: rng.small(1, 9),
        chips_per_channel: rng.small(1, 5),
        blocks_per_chip: rng.small(20, 120),
        pages_per_block: rng.small(2, 8),
        page_size: 512,
        erase_cycles: None,
        command: (rng.within(0, 7) == 0).then(|| ns(rng.within(0, 4))),
        page_registers: (rng.within(0, 2) == 0).then_some(2),
        spare_blocks: failing.then(|| rng.small(1, 3)),
        program_failures: (failing && rng.within(0, 1) == 0).then(|| rng.small(0, 1)),
        wear_gap: read.is_multiple_of(5).then_some(2),
        wear_passes: read.is_multiple_of(5).then_some(2 + u32::try_from(read / 5).expect("small")),
        erase_suspend: suspends.then(|| ns(rng.within(1, 4))),
        erase_resume: suspends.then(|| ns(rng.within(0, 3))),
        page_read_includes_transfer: None,
        page_program_includes_transfer: None,
        times: None,
        shortest: Shortest { page_read: (rng.within(0, 5) == 0).then(|| ns(read.div_ceil(2))), ..Shortest::default() },
        logical_ratio: LogicalRatio::from_decimal(rng.within(10, 60).into(), 2).ok()?,
        page_read: ns(read),
        page_program: ns(rng.within(1, 60)),
        block_erase: ns(rng.within(if suspends { 5 } else { 1 }, 120)),
        page_transfer: ns(rng.within(1, 12)),
    };
    Device::new(described(spec)).ok()
}

/// Says what the times contain, or says nothing of it. On the chip all take as long as before.
fn described(spec: DeviceSpec) -> DeviceSpec {
    let says = |number: u32| [None, Some(false), Some(true)][usize::try_from(number % 3).expect("small")];
    let (read, program) = (says(spec.blocks_per_chip), says(spec.pages_per_block));
    let whole = |time: Span, inside: Option<bool>| match inside {
        Some(true) => time.saturating_add(spec.page_transfer),
        _ => time,
    };
    DeviceSpec {
        page_read: whole(spec.page_read, read),
        page_program: whole(spec.page_program, program),
        shortest: Shortest { page_read: spec.shortest.page_read.map(|time| whole(time, read)), ..spec.shortest },
        page_read_includes_transfer: read,
        page_program_includes_transfer: program,
        ..spec
    }
}

/// Clusters of any chips, some of which are left over, with any tasks: a sketch of an allocation.
struct Division {
    set: TaskSet,
    allocation: Allocation,
}

fn divide(rng: &mut Stream) -> Option<Division> {
    let device = device(rng)?;
    let chips = u64::from(device.chips());
    let count = rng.within(1, chips);
    let in_order = rng.within(0, 1) == 0;
    let mut clusters = vec![Cluster::default(); usize::try_from(count).expect("a few")];
    for chip in 0..device.chips() {
        let owner = if in_order { u64::from(chip) * count / chips } else { rng.within(0, count) };
        if let Some(cluster) = clusters.get_mut(usize::try_from(owner).expect("a few")) {
            cluster.chips.push(ChipId(chip));
        }
    }
    clusters.retain(|cluster| !cluster.chips.is_empty());
    let (reading, load) = (rng.within(0, 1) == 0, rng.within(5, 16));
    let mut tasks = Vec::new();
    for cluster in &mut clusters {
        let size = u64::from(cluster.size());
        for _ in 0..rng.one_of(&[0, 1, 1, 2, 3]) {
            cluster.tasks.push(TaskId::from_index(tasks.len()));
            let task = task(rng, &device, size, reading, load)?;
            tasks.push(Task { name: format!("t{}", tasks.len()), ..task });
        }
    }
    let allocation = Allocation::new(device.chips(), tasks.len(), &clusters).ok()?;
    Some(Division { set: TaskSet::new(device, tasks, vec![]).ok()?, allocation })
}

/// A task that takes some tenths of the time of so many chips.
fn task(rng: &mut Stream, device: &Device, chips: u64, reading: bool, load: u64) -> Option<Task> {
    let access = rng.one_of(&[Access::Random, Access::Sequential, Access::Sequential, Access::Stream, Access::Stream]);
    let explicit = rng.within(0, 2) == 0;
    let mut request = |most: u64, cost: Span, weight: u64| {
        let pages = rng.within(1, most * chips);
        let share = if access == Access::Random { 1 } else { chips };
        let cost = cost.as_ns() + device.page_transfer().as_ns();
        let period = pages.div_ceil(share) * cost * 40 / (load * weight) + rng.within(10, 60);
        let request = Request::new(pages, ns(period))?.with_access(access);
        if !explicit {
            return Some(request);
        }
        let deadline = period * rng.one_of(&[1, 1, 3]) - rng.within(0, period / 2);
        request.with_deadline(Some(ns(deadline)))?.with_jitter(ns(rng.within(0, deadline / 3)))
    };
    let read = request(if reading { 40 } else { 4 }, device.page_read(), 3)?;
    let write = request(3, device.page_program(), 1)?;
    let kinds = if reading { rng.one_of(&[0, 0, 0, 2]) } else { rng.within(0, 2) };
    let data_pages = (rng.within(0, 5) == 0).then(|| rng.within(60, 150 * chips));
    Some(Task {
        name: String::new(),
        read: (kinds != 1).then_some(read),
        write: (kinds != 0).then_some(write),
        data_pages,
    })
}

fn near(left: f64, right: f64) -> bool {
    (left - right).abs() < 1e-9 * (1.0 + right.abs())
}

/// The shares of the tightest interval, as the verifier has them; waiting is shown as reading and
/// writing. If chips of the cluster wait for more than others, the two charge it differently, and
/// with commands passes wait, too.
fn assert_shares(report: &ClusterReport, found: &CertifiedClusterVerification, one_channel: bool, commands: bool) {
    let Some(shares) = found.shares else {
        assert_eq!([report.utilization, report.blocking, report.read, report.write, report.gc], [0.0; 5]);
        return;
    };
    let what = || format!("{report:?}\n{found:?}");
    if found.holds == Some(false) && !near(report.utilization, shares.utilization) {
        // The verifier shows another interval only if the stated one does not fail.
        return assert!(report.utilization <= 1.0, "{}", what());
    }
    assert!(near(report.utilization, shares.utilization), "{}", what());
    assert!(near(report.blocking, shares.blocking), "{}", what());
    // Passes wait where no request is due.
    let requests = shares.reads + shares.writes;
    let (gc, waiting) = if requests > 0.0 { (shares.gc, shares.waiting) } else { (shares.gc + shares.waiting, 0.0) };
    let requests = requests + waiting;
    assert!(near(report.gc + report.read + report.write, gc + requests), "{}", what());
    assert!(!one_channel && commands || near(report.gc, gc), "{}", what());
    assert!(!one_channel || near(report.read * shares.writes, report.write * shares.reads), "{}", what());
}

/// The numbers of tasks and garbage collection.
fn assert_terms(set: &TaskSet, report: &ClusterReport, cluster: &Cluster, certificate: &Certificate) {
    assert!(near(report.server * 1_000.0, certificate.server_thousandths.into()));
    let tasks: Vec<&Task> = cluster.tasks.iter().map(|&task| &set.tasks()[task]).collect();
    let collection = certificate.collection;
    let periods = tasks.iter().flat_map(|task| task.read.into_iter().chain(task.write)).map(|it| it.period());
    let least = periods.chain(collection.and_then(|it| it.deadline)).min().map(|it| it.as_ns());
    assert_eq!(report.min_period.map(|it| it.to_f64()), least.map(|it: u64| it as f64));
    let collected = |&task: &TaskId| set.tasks()[task].write.is_some() && !certificate.placement.is_zoned();
    let writers: Vec<TaskId> = cluster.tasks.iter().copied().filter(collected).collect();
    assert_eq!(report.gc_tasks.iter().map(|gc| gc.task).collect::<Vec<_>>(), writers);
    let Some(collection) = collection else { return };
    for gc in &report.gc_tasks {
        let write = set.tasks()[gc.task].write.expect("a writer");
        let pages = match (certificate.placement, write.access()) {
            (Placement::Stripe | Placement::CachedStripe, Access::Sequential) => {
                write.pages().div_ceil(cluster.size().into()) as f64
            }
            (Placement::Stripe | Placement::CachedStripe, Access::Stream) => {
                write.pages() as f64 / f64::from(cluster.size())
            }
            _ => write.pages() as f64,
        };
        let period = collection.reclaimed_pages as f64 * write.period().as_ns() as f64 / pages;
        assert!(near(gc.period.to_f64(), period), "{gc:?}");
        if certificate.placement.is_by_chip() {
            let device = set.device();
            let [t_r, t_w, t_e, t_c] =
                [device.page_read(), device.page_program(), device.block_erase(), device.command()].map(Span::as_ns);
            let own = collection.victim_pages * (t_c + t_r + t_w) + t_c + t_e;
            // With commands each step waits for the bus, too, for one request of each other chip.
            let others = device.chips_per_channel().min(device.chips()) - 1;
            let waits = (collection.victim_pages + 1) * u64::from(others) * device.bus_hold().as_ns();
            let most = own + if device.has_commands() { waits } else { 0 };
            assert!((own..=most).contains(&gc.cost.as_ns()), "{gc:?}");
        }
    }
}

/// The certificates with one number of one of them changed, and which one that is.
fn altered(rng: &mut Stream, allocation: &Allocation) -> Option<(usize, Allocation)> {
    let mut certificates: Vec<Certificate> =
        (0..allocation.len()).map(|at| allocation.certificate(at).copied()).collect::<Option<_>>()?;
    let at = usize::try_from(rng.below(allocation.len() as u64)).expect("a few");
    // Both ways to wait for neighbours.
    let of = certificates.get_mut(at)?;
    of.backfill ^= rng.within(0, 1) == 0 && of.placement == Placement::Superblock;
    let mut changed = |number: u64| match rng.within(0, 4) {
        0 => 0,
        1 => number + rng.within(2, 300),
        2 => number.saturating_sub(rng.within(2, 5)),
        3 => number + 1,
        _ => number.saturating_sub(1),
    };
    let collection = certificates.get_mut(at)?.collection.as_mut()?;
    let deadline = collection.deadline.map_or(0, Span::as_ns);
    let numbers = [
        changed(collection.reclaimed_pages),
        changed(collection.reserve_pages),
        changed(collection.victim_pages),
        changed(collection.open_blocks),
        changed(deadline),
    ];
    match rng.within(0, 5) {
        0 => collection.reclaimed_pages = numbers[0],
        1 => collection.reserve_pages = numbers[1],
        2 => collection.victim_pages = numbers[2],
        3 => collection.open_blocks = numbers[3],
        4 => collection.deadline = Span::from_ns(numbers[4]).filter(|_| collection.deadline.is_some()),
        _ => (collection.victim_pages, collection.reclaimed_pages) = (numbers[2], numbers[0]),
    }
    Some((at, allocation.clone().with_certificates(certificates.into_iter().map(Some).collect())))
}

/// A certificate that states another number holds in both or in neither, and so do its neighbours',
/// as long as nothing less is stated than the load needs.
#[test]
fn what_holds_of_altered_certificates_does_in_both() {
    let mut verdicts = [0; 3];
    for case in 0..cases(4_000) {
        let mut rng = Stream::numbered(2, b"verified", case);
        let Some(Division { set, allocation }) = divide(&mut rng) else { continue };
        let granted = rng.one_of(&Reliance::ALL);
        let (allocation, _) = certified(&set, &allocation, &Placement::COLLECTING, granted, &Work::new());
        let Some((altered, allocation)) = altered(&mut rng, &allocation) else { continue };
        let verification = verify_certified(&set, &allocation, &Placement::COLLECTING, granted);
        let held_so = |granted: Reliance| holding(&set, &allocation, granted, &Work::new());
        let holding = held_so(granted);
        let enough = verification.clusters[altered].discrepancies.is_empty();
        // A cluster that may rely on more holds at least as well.
        let alone = held_so(Reliance::Nothing);
        assert!(alone.iter().zip(&holding).all(|(alone, granted)| !alone || *granted), "case {case}: {allocation:?}");
        for (position, judged) in verification.clusters.iter().enumerate() {
            let holds = judged.in_time == Some(true) && judged.discrepancies.is_empty();
            assert_eq!(
                holding[position], holds,
                "case {case}, cluster {position}: {judged:?}\n{allocation:?}\n{set:?}"
            );
            verdicts[if enough { usize::from(holds) } else { 2 }] += 1;
        }
    }
    println!("{verdicts:?}");
    assert!(verdicts.iter().all(|&times| times > 100), "{verdicts:?}");
}

/// Certificates that are there stay, and those that were missing are made: what fails then is what
/// the verifier says fails.
#[test]
fn missing_certificates_are_made_next_to_the_others() {
    let (mut kept, mut failing) = (0, 0);
    for case in 0..cases(2_000) {
        let mut rng = Stream::numbered(3, b"verified", case);
        let Some(Division { set, allocation }) = divide(&mut rng) else { continue };
        let granted = rng.one_of(&Reliance::ALL);
        let (whole, _) = certified(&set, &allocation, &Placement::COLLECTING, granted, &Work::new());
        let some = (0..whole.len()).map(|at| whole.certificate(at).copied().filter(|_| rng.within(0, 2) > 0));
        let some: Vec<Option<Certificate>> = some.collect();
        let given = allocation.with_certificates(some.clone());
        let (made, found) = certified(&set, &given, &Placement::COLLECTING, granted, &Work::new());
        let verification = verify_certified(&set, &made, &Placement::COLLECTING, granted);
        for (position, judged) in verification.clusters.iter().enumerate() {
            if let Some(certificate) = &some[position] {
                assert_eq!(made.certificate(position), Some(certificate), "case {case}");
                kept += 1;
            }
            let holds = judged.holds == Some(true);
            failing += u32::from(!holds);
            assert_eq!(
                found.failing.contains(&position),
                !holds,
                "case {case}, {position}: {judged:?}\n{made:?}\n{set:?}"
            );
        }
    }
    println!("{kept} {failing}");
    assert!(kept > 650 && failing > 160, "{kept} {failing}");
}

/// The counts of comparisons.
#[derive(Debug, Default)]
struct Compared {
    /// Clusters that do not hold, and that do.
    verdicts: [u32; 2],
    /// By what they rely on.
    relied: [u32; 3],
    /// In time, and the data do not fit.
    too_full: u32,
    servers: u32,
    waits: u32,
    /// In time, as long as they do not backfill.
    strict: u32,
}

impl Compared {
    /// The verdict on a division is that of the verifier.
    fn compare(&mut self, division: Division, placements: &[Placement], granted: Reliance, case: u64) {
        let Division { set, allocation } = division;
        let (allocation, found) = certified(&set, &allocation, placements, granted, &Work::new());
        let verification = verify_certified(&set, &allocation, placements, granted);
        let in_time = holding(&set, &allocation, granted, &Work::new());
        let (held, reports) = (held(&set, &allocation, granted), reports(&set, &allocation, granted));
        let needed = reliances(&set, &allocation);
        let whole = allocation.is_certified();
        for (position, judged) in verification.clusters.iter().enumerate() {
            let what = || format!("case {case}, cluster {position}: {judged:?}\n{allocation:?}\n{set:?}");
            assert_eq!(found.failing.contains(&position), judged.holds != Some(true), "{}", what());
            let (Some(certificate), true) = (allocation.certificate(position), whole) else { continue };
            assert_eq!(Some(in_time[position]), judged.in_time, "{}", what());
            assert_eq!(needed[position], judged.relies_on, "{}", what());
            let held = held[position].as_ref().expect("what is certified is enough");
            assert_eq!(held.space.fits(), judged.data_fits, "{}", what());
            assert!(judged.discrepancies.is_empty(), "{}", what());
            // Next to a cluster that fails, nothing is certified in the end.
            assert!(!found.failing.is_empty() || judged.notes.is_empty(), "{}", what());
            let channels = judged.cluster.chips.iter().map(|&chip| set.device().channel_of(chip.0));
            let one_channel = channels.clone().min() == channels.max();
            assert_shares(
                &reports[position],
                judged,
                one_channel && certificate.backfill,
                !certificate.backfill || set.device().has_commands(),
            );
            assert_terms(&set, &reports[position], &judged.cluster, certificate);
            self.verdicts[usize::from(in_time[position])] += 1;
            if let Some(needed) = needed[position].filter(|_| !judged.cluster.tasks.is_empty()) {
                self.relied[needed as usize] += 1;
            }
            self.too_full += u32::from(in_time[position] && !judged.data_fits);
            self.servers += u32::from(certificate.server_thousandths > 0);
            self.waits += u32::from(judged.shares.is_some_and(|shares| shares.waiting != 0.0));
            self.strict += u32::from(!certificate.backfill && in_time[position]);
        }
        let independent = whole && needed.iter().all(|&it| it == Some(Reliance::Nothing));
        assert_eq!(is_independent(&set, &allocation), independent);
    }
}

#[test]
fn what_is_said_is_what_the_verifier_says() {
    let mut all = Compared::default();
    for case in 0..cases(4_000) {
        let mut rng = Stream::numbered(1, b"verified", case);
        let Some(division) = divide(&mut rng) else { continue };
        let granted = rng.one_of(&Reliance::ALL);
        let placements: &[Placement] =
            rng.one_of(&[&Placement::COLLECTING, &[Placement::Stripe], &[Placement::Superblock]]);
        // Some superblocks without stripes have two page registers.
        let two = case % 3 > 0 && placements == [Placement::Superblock] && division.set.device().has_cache_register();
        all.compare(division, if two { &[Placement::CachedSuperblock] } else { placements }, granted, case);
    }
    println!("{all:?}");
    assert!(all.verdicts.iter().chain(&all.relied).all(|&times| times > 15), "{all:?}");
    assert!(all.too_full > 6 && all.servers > 160 && all.waits > 65, "{all:?}");
}

/// If commands use the bus, most clusters have two page registers.
#[test]
fn what_is_said_of_commands_and_two_registers_is_what_the_verifier_says() {
    const CACHED: [&[Placement]; 3] = [
        &[Placement::CachedStripe],
        &[Placement::CachedSuperblock],
        &[Placement::CachedStripe, Placement::CachedSuperblock, Placement::Superblock],
    ];
    let mut all = Compared::default();
    for case in 0..cases(1_200) {
        let mut rng = Stream::numbered(9, b"verified", case);
        let Some(Division { set, allocation }) = divide(&mut rng) else { continue };
        let spec = DeviceSpec {
            command: Some(ns(rng.within(1, 4))),
            page_registers: Some(2),
            wear_gap: None,
            wear_passes: None,
            spare_blocks: None,
            program_failures: None,
            erase_suspend: None,
            erase_resume: None,
            ..set.device().spec()
        };
        let Ok(device) = Device::new(spec) else { continue };
        let Ok(set) = TaskSet::new(device, set.tasks().as_slice().to_vec(), set.jobs().to_vec()) else { continue };
        let (granted, placements) = (rng.one_of(&Reliance::ALL), rng.one_of(&CACHED));
        all.compare(Division { set, allocation }, placements, granted, case);
    }
    println!("{all:?}");
    assert!(all.verdicts.iter().all(|&times| times > 100) && all.servers > 30, "{all:?}");
}

/// The division in which all writes are streams, or all but a few requests.
fn of_streams(division: Division, but: impl Fn(usize) -> bool) -> Division {
    let task = |(position, task): (usize, &Task)| Task {
        write: task.write.map(|write| if but(position) { write } else { write.with_access(Access::Stream) }),
        ..task.clone()
    };
    let tasks = division.set.tasks().iter().enumerate().map(task).collect();
    let set = TaskSet::new(*division.set.device(), tasks, vec![]).expect("no less than before");
    Division { set, ..division }
}

/// Clusters with zones, alone and beside others.
#[test]
fn what_zones_hold_is_what_the_verifier_says() {
    let mut all = Compared::default();
    for case in 0..cases(6_000) {
        let mut rng = Stream::numbered(5, b"verified", case);
        let Some(division) = divide(&mut rng) else { continue };
        let granted = rng.one_of(&Reliance::ALL);
        let placements: &[Placement] = rng.one_of(&[
            &[Placement::Zoned],
            &[Placement::Zoned],
            &[Placement::Zoned, Placement::Stripe],
            &Placement::ALL,
        ]);
        all.compare(of_streams(division, |_| false), placements, granted, case);
    }
    println!("{all:?}");
    assert!(all.verdicts.iter().all(|&times| times > 300), "{all:?}");
    assert!(all.relied[0] > 300 && all.relied[1] > 25 && all.waits > 65, "{all:?}");
}

/// Zones that have a server or are of tasks that jump are refused, and so is too much in them: by
/// both, whatever else the certificate states.
#[test]
fn altered_certificates_of_zones_are_judged_alike() {
    let (mut verdicts, mut refused) = ([0; 2], [0; 2]);
    for case in 0..cases(4_000) {
        let mut rng = Stream::numbered(6, b"verified", case);
        let Some(division) = divide(&mut rng) else { continue };
        let jumps = rng.within(0, 2) == 0;
        let Division { set, allocation } = of_streams(division, |position| jumps && position == 0);
        let granted = rng.one_of(&Reliance::ALL);
        let placements = [&Placement::ALL[..], &[Placement::Zoned]][usize::from(rng.within(0, 1) == 0)];
        let (allocation, _) = certified(&set, &allocation, placements, granted, &Work::new());
        let stated: Option<Vec<Certificate>> =
            (0..allocation.len()).map(|at| allocation.certificate(at).copied()).collect();
        let Some(mut stated) = stated else { continue };
        if stated.is_empty() {
            continue;
        }
        let at = usize::try_from(rng.below(stated.len() as u64)).expect("a few");
        let busy = !allocation.clusters()[at].tasks.is_empty();
        let server = rng.within(0, 3) == 0;
        let collection = Collection {
            deadline: Some(ns(rng.within(1, 100))),
            reclaimed_pages: rng.within(0, 4),
            reserve_pages: rng.within(0, 40),
            victim_pages: rng.within(0, 2),
            open_blocks: rng.within(0, 3),
        };
        if rng.within(0, 1) == 0 {
            stated[at].placement = Placement::Zoned;
        }
        if rng.within(0, 1) == 0 {
            stated[at].collection = Some(collection);
        }
        stated[at].server_thousandths = if server { 100 } else { stated[at].server_thousandths };
        let zones = stated[at].placement.is_zoned() && busy;
        let allocation = allocation.with_certificates(stated.into_iter().map(Some).collect());
        let verification = verify_certified(&set, &allocation, &Placement::ALL, granted);
        let holding = holding(&set, &allocation, granted, &Work::new());
        for (position, judged) in verification.clusters.iter().enumerate() {
            let holds = judged.in_time == Some(true) && judged.discrepancies.is_empty();
            assert_eq!(
                holding[position], holds,
                "case {case}, cluster {position}: {judged:?}\n{allocation:?}\n{set:?}"
            );
            verdicts[usize::from(holds)] += 1;
        }
        let jumping = allocation.clusters()[at].tasks.iter().any(|&task| !set.tasks()[task].fits_zones());
        for (times, is_refused) in refused.iter_mut().zip([server, jumping]) {
            assert!(!(zones && is_refused && holding[at]), "case {case}");
            *times += u32::from(zones && is_refused);
        }
    }
    println!("{verdicts:?} {refused:?}");
    assert!(verdicts.iter().all(|&times| times > 500) && refused.iter().all(|&times| times > 20));
}

/// Clusters in order, each with a task; the first one has as much to do as this.
fn one_that_is_full(case: u64, load: u64) -> Option<Division> {
    let mut rng = Stream::numbered(4, b"verified", case);
    let device = device(&mut rng)?;
    let size = rng.within(1, 3);
    let (mut clusters, mut tasks) = (Vec::new(), Vec::new());
    for first in (0..u64::from(device.chips())).step_by(usize::try_from(size).expect("a few")) {
        let task = task(&mut rng, &device, size, true, if first == 0 { load } else { 2 })?;
        let chips =
            (first..(first + size).min(device.chips().into())).map(|chip| ChipId(chip.try_into().expect("a few")));
        clusters.push(Cluster { chips: chips.collect(), tasks: vec![TaskId::from_index(tasks.len())] });
        tasks.push(Task { name: format!("t{}", tasks.len()), data_pages: None, ..task });
    }
    let allocation = Allocation::new(device.chips(), tasks.len(), &clusters).ok()?;
    Some(Division { set: TaskSet::new(device, tasks, vec![]).ok()?, allocation })
}

/// A superblock that has as much to do as it can beside neighbours that do little.
#[test]
fn what_superblocks_wait_for_is_what_the_verifier_says() {
    let mut all = Compared::default();
    // In the last one a cluster with commands fails, and another only beside its certificate.
    for case in (0..cases(200)).chain([1_661]) {
        let placements: &[Placement] = if case % 2 == 0 { &[Placement::Superblock] } else { &Placement::COLLECTING };
        for load in (3..30).rev() {
            let Some(division) = one_that_is_full(case, load) else { break };
            all.compare(division, placements, Reliance::Neighbours, case);
        }
    }
    println!("{all:?}");
    assert!(all.strict > 6 && all.verdicts.iter().all(|&times| times > 500), "{all:?}");
}

/// A superblock whose reads wait as long on one channel as they may on the other, where the chip
/// there is known: what holds with nothing known holds all the same.
#[test]
fn more_to_rely_on_is_no_harm() {
    let mut spec = Device::profile("dgist-2021").expect("a profile").spec();
    (spec.chips, spec.chips_per_channel, spec.pages_per_block, spec.blocks_per_chip) = (5, 3, 2, 32);
    (spec.page_read, spec.page_program, spec.block_erase, spec.page_transfer) = (ns(4), ns(8), ns(18), ns(4));
    let task = |name: &str, pages: u64, period: u64| Task {
        name: name.into(),
        read: Request::new(pages, ns(period)),
        write: None,
        data_pages: None,
    };
    let tasks = vec![task("a", 9, 239), task("b", 10, 165), task("c", 3, 289)];
    let set = TaskSet::new(Device::new(spec).expect("a device"), tasks, vec![]).expect("a set");
    let clusters = [(0..2, 0), (2..4, 1), (4..5, 2)]
        .map(|(chips, task)| Cluster { chips: chips.map(ChipId).collect(), tasks: vec![TaskId::from_index(task)] });
    // Nothing is known of the last one.
    let collection =
        Collection { deadline: None, reclaimed_pages: 2, reserve_pages: 3, victim_pages: 0, open_blocks: 3 };
    let certificate = |server_thousandths: u32, backfill: bool| Certificate {
        placement: Placement::Superblock,
        collection: (server_thousandths > 0).then_some(collection),
        server_thousandths,
        backfill,
        tightest: None,
    };
    let certificates = [certificate(0, true), certificate(0, false), certificate(100, true)];
    let allocation = Allocation::new(5, 3, &clusters).expect("an allocation");
    let allocation = allocation.with_certificates(certificates.map(Some).to_vec());
    for granted in Reliance::ALL {
        let verification = verify_certified(&set, &allocation, &Placement::COLLECTING, granted);
        let judged = &verification.clusters[1];
        assert_eq!((judged.holds, judged.relies_on), (Some(true), Some(Reliance::Nothing)), "{granted:?}");
        assert!(holding(&set, &allocation, granted, &Work::new())[1], "{granted:?}");
        assert_eq!(reliances(&set, &allocation)[1], Some(Reliance::Nothing));
    }
}
