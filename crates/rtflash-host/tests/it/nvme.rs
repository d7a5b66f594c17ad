//! Runs in front of an NVMe drive: against a drive that is written down plainly, where the flash
//! has nothing to wait for; and what holds in any case.

use rtflash_testkit::ns;
use std::collections::HashMap;

use rtflash_host::run::{
    Between, CommandCost, Costs, Host, HostDevice, Job, JobPattern, JobReleases, Nvme, RunEvent, Scenario, Slow, Watch,
    read_scenario, run, run_watched,
};
use rtflash_host::scheduler::{K2Settings, MqDeadlineSettings, SchedulerSettings, UserCentricSettings};
use rtflash_host::{Class, Command, Op};
use rtflash_judge::Checks;
use rtflash_model::random::Stream;
use rtflash_model::{ClusterId, DeviceSpec, Instant, LogicalRatio, Span};
use rtflash_plan::Aging;
use rtflash_trace::{Observer, Record};

fn at(nanoseconds: u64) -> Instant {
    Instant::from_ns(nanoseconds).expect("a short time")
}

const PAGE: u64 = 512;

fn flash(rng: &mut Stream, chips: u32, chips_per_channel: u32, blocks_per_chip: u32) -> rtflash_model::Device {
    let spec = DeviceSpec {
        chips,
        chips_per_channel,
        blocks_per_chip,
        pages_per_block: 8,
        page_size: 512,
        logical_ratio: LogicalRatio::from_decimal(6, 1).expect("a ratio"),
        page_read: ns(rng.within(1, 40)),
        page_program: ns(rng.within(1, 90)),
        block_erase: ns(rng.within(1, 200)),
        page_transfer: ns(rng.within(1, 9)),
        ..DeviceSpec::default()
    };
    rtflash_model::Device::new(spec).expect("a device")
}

fn costs(rng: &mut Stream) -> Costs {
    let mut cost = || {
        let (controller, per_kib) = (ns(rng.within(1, 9)), ns(rng.one_of(&[0, 0, 3])));
        let latency = rng.one_of(&[0, 1, 25]);
        let latency_per_kib = ns(if latency == 25 { 2 } else { 0 });
        CommandCost { controller, per_kib, latency: ns(latency), latency_per_kib, slow: slow(rng) }
    };
    Costs { sequential: cost(), random: cost() }
}

/// Episodes in every other case.
fn slow(rng: &mut Stream) -> Option<Slow> {
    let mut between = |longest| {
        let shortest = rng.within(1, longest);
        Between { shortest: ns(shortest), longest: ns(shortest + rng.within(0, longest)) }
    };
    let (every, length) = (between(200), between(90));
    (rng.within(0, 1) == 0).then(|| Slow { every, length, extra: ns(rng.within(1, 60)) })
}

fn job(name: String, op: Op, cpu: u32) -> Job {
    Job {
        name,
        op,
        pattern: JobPattern::Sequential,
        from: 0,
        span: None,
        size: PAGE,
        class: Class::BestEffort,
        level: 4,
        cpu,
        user_centric: false,
        is_async: false,
        releases: JobReleases::Closed { depth: 1, think: ns(1) },
        phase: Instant::START,
        count: None,
        until: None,
        pace: None,
        ..Job::default()
    }
}

/// A drive whose flash has nothing to wait for: pages are read by who has them alone, or written to
/// one idle chip after the other.
fn without_contention(case: u64) -> Scenario {
    let mut rng = Stream::numbered(5, b"nvmetwin", case);
    let (chips, reads) = (6, rng.within(0, 2) == 0);
    let flash = flash(&mut rng, chips, 1, 60);
    let (read, write) = (costs(&mut rng), costs(&mut rng));
    let mut nvme = Nvme::new(&flash, None, read, write).expect("a drive");
    nvme.queues = Some(rng.small(1, 4));
    nvme.entries = rng.small(2, 9);
    nvme.inside = rng.small(1, 6);
    nvme.buffer = if reads { 0 } else { rng.small(1, 12) };
    nvme.drain = Some(rng.small(1, chips));
    let jobs = (0..rng.small(1, 5)).map(|number| {
        let think = ns(rng.within(1, 60));
        let own = Job { phase: at(rng.within(0, 30)), ..job(format!("j{number}"), Op::Read, number) };
        if reads {
            // A page of its own, on a chip of its own.
            let (from, size) = (u64::from(number) * PAGE, rng.within(1, PAGE));
            return Job { from, size, span: Some(PAGE), releases: JobReleases::Closed { depth: 1, think }, ..own };
        }
        let size = rng.one_of(&[100, PAGE, 3 * PAGE, 700]);
        let span = Some((size + PAGE * rng.within(0, 9)).max(size));
        let (depth, from) = (rng.small(1, 4), rng.within(0, 2_000));
        let pattern = rng.one_of(&[JobPattern::Sequential, JobPattern::Random]);
        Job { op: Op::Write, pattern, from, size, span, releases: JobReleases::Closed { depth, think }, ..own }
    });
    let jobs: Vec<Job> = jobs.collect();
    let cpus = 5;
    Scenario {
        device: HostDevice::Nvme(Box::new(nvme)),
        host: Host {
            cpus,
            max_sectors: 1 << 20,
            requests: 1_000,
            turnaround: Span::ZERO,
            merge: false,
            ..Host::default()
        },
        scheduler: SchedulerSettings::None,
        jobs,
        duration: at(1_500),
        warmup: Instant::START,
    }
}

/// A command in the plain drive.
struct Plain {
    command: Command,
    fetched: u64,
    cost: CommandCost,
    /// Pages that it still waits for.
    pages: Vec<u64>,
    ends: Option<u64>,
}

impl Plain {
    /// Behind controller and flash.
    fn latency(&self) -> u64 {
        let bytes = self.command.size * self.cost.latency_per_kib.as_ns();
        self.cost.latency.as_ns() + bytes.div_ceil(1_024)
    }
}

/// The additional time of an episode for a command that begins now: all episodes are drawn anew,
/// from the start on.
fn extra(op: Op, cost: &CommandCost, seed: u64, now: u64) -> u64 {
    let Some(slow) = cost.slow else { return 0 };
    let what = if op == Op::Read { b"slow-rea" } else { b"slow-wri" };
    let mut begin = 0;
    for number in 0.. {
        let mut stream = Stream::numbered(seed, what, number);
        let mut draw = |of: Between| of.shortest.as_ns() + stream.below(of.longest.as_ns() - of.shortest.as_ns() + 1);
        begin += draw(slow.every);
        let end = begin + draw(slow.length);
        if now < end {
            break;
        }
        // The next one counts from here.
        begin = end;
    }
    if begin <= now { slow.extra.as_ns() } else { 0 }
}

/// The state of the plain drive.
#[derive(Default)]
struct Drive {
    seed: u64,
    queues: Vec<Vec<Command>>,
    turn: usize,
    inside: Vec<Plain>,
    count: u64,
    ended_at: Vec<(Op, u64)>,
    /// The number of the command that the controller has, and until when; those that wait for it.
    controller: Option<(u64, u64)>,
    controlled: Vec<u64>,
    /// Pages in the buffer that are not being programmed; pages being programmed or read, with the
    /// end, and for whom.
    buffered: Vec<u64>,
    programs: Vec<u64>,
    reads: Vec<(u64, u64)>,
    /// Pages that found no room, with their commands.
    stalled: Vec<(u64, u64)>,
}

impl Drive {
    fn of(&mut self, number: u64) -> &mut Plain {
        self.inside.iter_mut().find(|plain| plain.fetched == number).expect("it is inside")
    }

    fn drain(&mut self, nvme: &Nvme, now: u64) {
        let spec = nvme.plan().device();
        loop {
            while let Some(&(number, page)) = self.stalled.first() {
                let known = self.buffered.contains(&page);
                if !known && self.buffered.len() + self.programs.len() >= nvme.buffer as usize {
                    break;
                }
                if !known {
                    self.buffered.push(page);
                }
                self.stalled.remove(0);
                let plain = self.of(number);
                let place = plain.pages.iter().position(|&other| other == page).expect("it waits for it");
                plain.pages.remove(place);
                if plain.pages.is_empty() {
                    plain.ends = Some(now + plain.latency());
                }
            }
            if self.buffered.is_empty() || self.programs.len() >= nvme.drain.expect("it is said") as usize {
                return;
            }
            self.buffered.remove(0);
            self.programs.push(now + spec.page_transfer().as_ns() + spec.page_program().as_ns());
        }
    }

    fn controlled(&mut self, nvme: &Nvme, number: u64, now: u64) {
        let spec = nvme.plan().device();
        let logical = u64::from(nvme.plan().clusters()[ClusterId(0)].layout.logical_pages());
        let plain = self.of(number);
        let command = plain.command;
        let pages = command.from / PAGE..=(command.from + command.size - 1) / PAGE;
        plain.pages = pages.map(|page| page % logical).collect();
        let pages = plain.pages.clone();
        if command.op == Op::Read {
            self.reads.push((now + spec.page_read().as_ns() + spec.page_transfer().as_ns(), number));
        } else {
            self.stalled.extend(pages.into_iter().map(|page| (number, page)));
        }
    }

    fn advance(&mut self, nvme: &Nvme, now: u64) -> Vec<Command> {
        self.programs.retain(|&end| end != now);
        for number in self.reads.iter().filter(|&&(end, _)| end == now).map(|&(_, number)| number).collect::<Vec<_>>() {
            let plain = self.of(number);
            plain.ends = Some(now + plain.latency());
        }
        self.reads.retain(|&(end, _)| end != now);
        self.drain(nvme, now);
        if let Some((number, end)) = self.controller
            && end == now
        {
            self.controller = None;
            self.controlled(nvme, number, now);
            self.drain(nvme, now);
        }
        let ended = self.inside.iter().filter(|plain| plain.ends == Some(now)).map(|plain| plain.command).collect();
        self.inside.retain(|plain| plain.ends != Some(now));
        self.fetch(nvme);
        ended
    }

    fn fetch(&mut self, nvme: &Nvme) {
        while self.inside.len() < nvme.inside as usize && self.queues.iter().any(|queue| !queue.is_empty()) {
            let queue = self.turn % self.queues.len();
            self.turn += 1;
            if self.queues[queue].is_empty() {
                continue;
            }
            let command = self.queues[queue].remove(0);
            let costs = if command.op == Op::Read { nvme.read } else { nvme.write };
            let known = self.ended_at.iter().position(|&end| end == (command.op, command.from));
            if let Some(known) = known {
                self.ended_at.remove(known);
            }
            self.ended_at.push((command.op, command.from + command.size));
            if self.ended_at.len() > 64 {
                self.ended_at.remove(0);
            }
            let cost = if known.is_some() { costs.sequential } else { costs.random };
            self.inside.push(Plain { command, fetched: self.count, cost, pages: Vec::new(), ends: None });
            self.controlled.push(self.count);
            self.count += 1;
        }
    }

    fn settle(&mut self, now: u64) {
        if self.controller.is_none() && !self.controlled.is_empty() {
            let (number, seed) = (self.controlled.remove(0), self.seed);
            let plain = self.of(number);
            let size = (plain.command.size * plain.cost.per_kib.as_ns()).div_ceil(1_024);
            let end = now + plain.cost.controller.as_ns() + size + extra(plain.command.op, &plain.cost, seed, now);
            self.controller = Some((number, end));
        }
    }
}

/// Latencies of each job, ascending, nanosecond by nanosecond; where I/Os lie is as a run had it.
fn plainly(scenario: &Scenario, seed: u64, places: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let HostDevice::Nvme(nvme) = &scenario.device else { panic!("no drive") };
    let queues = nvme.queues.expect("it is said") as usize;
    let mut drive = Drive { seed, queues: vec![Vec::new(); queues], ..Drive::default() };
    let mut latencies = vec![Vec::new(); scenario.jobs.len()];
    let mut released = vec![0; scenario.jobs.len()];
    let mut planned: Vec<(u64, usize)> = Vec::new();
    for (number, job) in scenario.jobs.iter().enumerate() {
        let JobReleases::Closed { depth, .. } = job.releases else { panic!("a closed job") };
        planned.extend((0..depth).map(|_| (job.phase.as_ns(), number)));
    }
    let (mut ready, mut ios): (Vec<Command>, Vec<(usize, u64)>) = (Vec::new(), Vec::new());
    for now in 0..=scenario.duration.as_ns() {
        for command in drive.advance(nvme, now) {
            let (job, since) = ios[usize::try_from(command.id).expect("few")];
            latencies[job].push(now - since);
            let JobReleases::Closed { think, .. } = scenario.jobs[job].releases else { panic!("a closed job") };
            planned.push((now + think.as_ns(), job));
        }
        let mut due: Vec<usize> = planned.iter().filter(|&&(at, _)| at == now).map(|&(_, job)| job).collect();
        due.sort_unstable();
        for job in due {
            let from = places[job].get(released[job]).copied().unwrap_or(0);
            released[job] += 1;
            ready.push(Command { id: ios.len() as u64, ..scenario.whole(job, from).expect("a job") });
            ios.push((job, now));
        }
        while !ready.is_empty() && drive.queues.iter().all(|queue| queue.len() < nvme.entries as usize) {
            let command = ready.remove(0);
            drive.queues[command.cpu as usize % queues].push(command);
            drive.fetch(nvme);
        }
        drive.settle(now);
    }
    latencies.iter_mut().for_each(|of| of.sort_unstable());
    latencies
}

/// The places of each job's I/Os, in order of release.
#[derive(Default)]
struct Places(Vec<Vec<u64>>);

impl Watch for Places {
    fn see(&mut self, _: Instant, what: &RunEvent<'_>) {
        if let RunEvent::Queued { command, .. } = what {
            self.0[command.job as usize].push(command.from);
        }
    }
}

#[test]
fn a_drive_without_contention_does_what_the_plain_one_does() {
    let mut counted = 0;
    for case in 0..600 {
        let scenario = without_contention(case);
        let mut places = Places(vec![Vec::new(); scenario.jobs.len()]);
        let reports = run_watched(&scenario, case, &mut places).expect("few I/Os");
        for (job, (report, plain)) in reports.iter().zip(plainly(&scenario, case, &places.0)).enumerate() {
            let sum: u128 = plain.iter().map(|&latency| u128::from(latency)).sum();
            let ours = (report.latencies.count(), report.latencies.max(), report.latencies.sum());
            assert_eq!(ours, (plain.len() as u64, plain.last().copied(), sum), "case {case}, job {job}: {scenario:?}");
            counted += plain.len();
        }
    }
    assert!(counted > 20_000, "{counted}");
}

/// Anything: full drives that collect, few chips, reads ahead, all schedulers.
fn anything(case: u64) -> Scenario {
    let mut rng = Stream::numbered(6, b"nvmetwin", case);
    let (chips, ways, blocks) = (rng.small(1, 5), rng.small(1, 3), rng.small(8, 20));
    let flash = flash(&mut rng, chips, ways, blocks);
    let (read, write) = (costs(&mut rng), costs(&mut rng));
    let fill = rng.one_of(&[None, Some(LogicalRatio::HALF)]);
    let mut nvme = Nvme::new(&flash, fill, read, write).expect("a drive");
    nvme.aging = rng.one_of(&[Aging::Fresh, Aging::Random, Aging::Worst]);
    nvme.queues = rng.one_of(&[None, Some(1), Some(3)]);
    nvme.entries = rng.small(1, 40);
    nvme.inside = rng.small(1, 12);
    nvme.buffer = rng.one_of(&[0, 1, 7, 60]);
    nvme.drain = rng.one_of(&[None, Some(1), Some(3)]);
    nvme.read_ahead = rng.one_of(&[0, 0, 1, 4]);
    let within = ns(rng.within(10, 2_000));
    nvme.ends_within = rng.one_of(&[None, Some(within)]);
    let cpus = rng.small(1, 4);
    let jobs = (0..rng.small(1, 5)).map(|number| {
        let size = rng.one_of(&[1, 100, PAGE, 5 * PAGE, 3_000]);
        let releases = if rng.within(0, 3) > 0 {
            JobReleases::Closed { depth: rng.small(1, 9), think: ns(rng.one_of(&[0, 0, 50])) }
        } else {
            let period = rng.within(200, 3_000);
            JobReleases::Every { period: ns(period), jitter: ns(rng.within(0, period - 1)) }
        };
        Job {
            pattern: rng.one_of(&[JobPattern::Sequential, JobPattern::Random]),
            from: rng.within(0, 40_000),
            span: Some(size.max(rng.within(1, 60_000))),
            size,
            class: rng.one_of(&Class::ALL),
            user_centric: rng.within(0, 2) == 0,
            is_async: false,
            releases,
            phase: at(rng.within(0, 300)),
            count: rng.one_of(&[None, Some(40)]),
            ..job(format!("j{number}"), rng.one_of(&[Op::Read, Op::Write]), number % cpus)
        }
    });
    let jobs: Vec<Job> = jobs.collect();
    let user_centric = UserCentricSettings { separated: true, shortest: true, high_priority: true };
    Scenario {
        device: HostDevice::Nvme(Box::new(nvme)),
        host: Host {
            cpus,
            max_sectors: 2_048,
            requests: 64,
            turnaround: ns(rng.one_of(&[0, 13])),
            merge: false,
            ..Host::default()
        },
        scheduler: rng.one_of(&[
            SchedulerSettings::None,
            SchedulerSettings::K2(K2Settings { max_inflight: 3, ..K2Settings::k2() }),
            SchedulerSettings::MqDeadline(MqDeadlineSettings::default()),
            SchedulerSettings::UserCentric(user_centric),
        ]),
        jobs,
        duration: at(rng.within(2_000, 30_000)),
        warmup: Instant::START,
    }
}

/// Counts what comes and goes, and hands what the flash does to its checkers.
struct Counted<'a> {
    nvme: &'a Nvme,
    checks: Checks<'a>,
    /// When each command was handed over.
    inside: HashMap<u64, Instant>,
    ended: u64,
    late: u64,
    longest: Span,
    erases: u64,
}

impl Watch for Counted<'_> {
    fn see(&mut self, now: Instant, what: &RunEvent<'_>) {
        match what {
            RunEvent::HandedOver(command) => assert_eq!(self.inside.insert(command.id, now), None),
            RunEvent::Ended(command) => {
                let since = self.inside.remove(&command.id).expect("it was handed over");
                let costs = if command.op == Op::Read { self.nvme.read } else { self.nvme.write };
                let of = |cost: CommandCost| cost.controller(command.size).saturating_add(cost.latency(command.size));
                assert!(now.since(since) >= of(costs.sequential).min(of(costs.random)));
                self.longest = self.longest.max(now.since(since));
                self.ended += 1;
            }
            RunEvent::Late { took, .. } => {
                assert!(Some(*took) > self.nvme.ends_within);
                self.late += 1;
            }
            _ => {}
        }
    }

    fn looks_inside(&self) -> bool {
        true
    }

    fn inside(&mut self, record: &Record) {
        if let Record::Operation(operation) = record {
            self.erases += u64::from(operation.action == rtflash_trace::Action::Erase);
        }
        self.checks.record(record);
    }
}

/// The claims that hold for any run.
const ALWAYS_HOLD: [&str; 10] = [
    "chip-exclusion",
    "bus-exclusion",
    "page-order",
    "mapping",
    "conservation",
    "releases",
    "completion",
    "operation-lengths",
    "transfers",
    "bus-order",
];

#[test]
fn commands_come_to_an_end_and_the_flash_keeps_its_rules() {
    let (mut ended, mut late, mut erases) = (0, 0, 0);
    for case in 0..400 {
        let scenario = anything(case);
        let HostDevice::Nvme(nvme) = &scenario.device else { panic!("no drive") };
        let checks = Checks::new(nvme.plan(), rtflash_plan::Dispatch::Parallel, &[ClusterId(0)]);
        let mut counted =
            Counted { nvme, checks, inside: HashMap::new(), ended: 0, late: 0, longest: Span::ZERO, erases: 0 };
        let reports = run_watched(&scenario, case, &mut counted).expect("few I/Os");
        assert_eq!(run(&scenario, case).expect("few I/Os"), reports, "case {case}: looking changes nothing");
        let queues = u64::from(nvme.queues.unwrap_or(scenario.host.cpus));
        assert!(counted.inside.len() as u64 <= u64::from(nvme.inside) + queues * u64::from(nvme.entries));
        assert!(nvme.ends_within.is_none_or(|within| counted.late == 0 || counted.longest > within), "case {case}");
        let findings = counted.checks.finish(scenario.duration);
        for finding in findings.iter().filter(|finding| ALWAYS_HOLD.contains(&finding.assumption.name())) {
            assert!(finding.gauge.holds(), "case {case}: {finding:?} {scenario:?}");
        }
        assert!(counted.ended > 0, "case {case}");
        (ended, late, erases) = (ended + counted.ended, late + counted.late, erases + counted.erases);
    }
    assert!(ended > 50_000 && late > 500 && erases > 3_000, "{ended} {late} {erases}");
}

/// A drive in a file.
fn drive(more: &str, jobs: &str) -> String {
    format!(
        r#"{{ "device": {{ "kind": "nvme", "flash": {{ "profile": "dgist-2021", "chips": 8, "chips_per_channel": 2, "blocks_per_chip": 64,
            "page_size": 4096 }}, "read": {{ "controller": "5us", "latency": "10us" }},
            "write": {{ "sequential": {{ "controller": "8us" }}, "random": {{ "controller": "10us", "per_kib": "1us", "latency": "2us" }} }} {more} }},
            "jobs": [ {jobs} ], "duration": "200ms" }}"#
    )
}

fn median(more: &str, jobs: &str) -> u64 {
    let scenario = read_scenario(&drive(more, jobs), None).expect("a scenario");
    run(&scenario, 1).expect("a run")[0].latencies.percentile(5_000).expect("I/Os")
}

#[test]
fn what_a_drive_is_made_of() {
    let write =
        r#"{ "name": "w", "op": "write", "size": "4KiB", "pattern": "random", "span": "16MiB", "think": "2ms" }"#;
    // To the flash: 10 + 4 + 2 us of the command, and a transfer and a program of 540; or to the
    // buffer.
    assert_eq!((median("", write), median(r#", "buffer": 4"#, write)), (556_000, 16_000));
    let read = r#"{ "name": "r", "op": "read", "size": "4KiB", "think": "1ms" }"#;
    let ahead = median(r#", "read_ahead": 1"#, read);
    assert!(median("", read) == 105_000 && ahead < 17_000, "{ahead}");
    // A buffer that is full lets writes wait for programs.
    let many = r#"{ "name": "w", "op": "write", "size": "4KiB", "pattern": "random", "span": "16MiB", "depth": 32 }"#;
    let stalled = median(r#", "buffer": 8, "drain": 1"#, many);
    assert!((16_000_000..18_000_000).contains(&stalled), "{stalled}");
    // A read of data in the buffer is served there.
    let late = r#"{ "name": "w", "op": "write", "size": "4KiB", "span": "4KiB", "count": 1 }"#;
    let both = format!(
        r#"{{ "name": "r", "op": "read", "size": "4KiB", "span": "4KiB", "phase": "100us", "count": 1 }}, {late}"#
    );
    assert_eq!((median(r#", "buffer": 8"#, &both), median("", &both) > 100_000), (15_000, true));
}

#[test]
fn files_of_drives_that_cannot_be() {
    let job = r#"{ "name": "r", "op": "read", "size": "4KiB" }"#;
    for (more, says) in [
        (r#", "queues": 0"#, "`queues` is zero"),
        (r#", "queues": 70000"#, "too many submission queues"),
        (r#", "inside": 0"#, "`inside` is zero"),
        (r#", "entries": 0"#, "`entries` is zero"),
        (r#", "fill": 1.5"#, "fill"),
        (r#", "read_ahead": 5000"#, "read_ahead"),
        (r#", "aging": "old""#, "aging"),
        (r#", "depth": 4"#, "unknown field `depth`"),
        (r#", "ends_within": "0ms""#, "`ends_within` is zero"),
    ] {
        let wrong = read_scenario(&drive(more, job), None).expect_err(more);
        assert!(wrong.to_string().contains(says), "{more}: {wrong}");
    }
    let free = drive("", job).replace("5us", "0us");
    assert!(read_scenario(&free, None).expect_err("a free controller").to_string().contains("`controller` is zero"));
    let huge = drive("", job).replace(r#""blocks_per_chip": 64"#, r#""blocks_per_chip": 4000000"#);
    assert!(read_scenario(&huge, None).expect_err("a huge drive").to_string().contains("too large"));
    let long = drive("", &job.replace("4KiB", "1GiB"))
        .replace("\"duration\"", "\"host\": { \"max_sectors\": \"1GiB\" }, \"duration\"");
    assert!(read_scenario(&long, None).expect_err("a long request").to_string().contains("more than 65536 pages"));
    let late = r#"{ "name": "rt", "op": "read", "size": "4KiB", "class": "rt", "every": "14us" }"#;
    assert!(read_scenario(&drive("", late), None).expect_err("late").to_string().contains("alone"));
}

/// Faults of a drive's episodes name the file, the line and the field; and episodes take the time
/// that they say.
#[test]
fn slow_episodes_of_a_drive() {
    let with = |slow: &str| {
        let job = r#"{ "name": "w", "op": "write", "size": "4KiB", "depth": 1 }"#;
        let cost = r#""write": { "sequential": { "controller": "8us""#;
        drive("", job).replace(cost, &format!("{cost}, \"slow\": {slow}")).replace("200ms", "100ms")
    };
    let good = r#"{ "every": "20ms", "for": "5ms", "extra": "10ms" }"#;
    let all = |text: &str| run(&read_scenario(text, None).expect("a scenario"), 1).expect("a run")[0].latencies.clone();
    // 8 us of the controller, a transfer and a program: 548 us. The first write is random. One that
    // begins in 20 ms to 25 ms, 45 ms to 50 ms, … takes 10 ms more.
    let (slow, plain) = (all(&with(good)), all(&with(good).replace("10ms", "1ns")));
    assert_eq!(plain.max(), Some(556_000));
    assert!(slow.max() == Some(10_548_000) && plain.count() - slow.count() > 50, "{slow:?}");
    for (wrong, says) in [
        (r#"{ "every": "20ms", "for": "5ms" }"#, "`extra`"),
        (r#"{ "every": "20us", "for": "5ms", "extra": "10ms" }"#, "`every` may be 20us"),
        (r#"{ "every": "20ms", "for": "5ms..4ms", "extra": "10ms" }"#, "`for` begins with its longest"),
        (r#"{ "every": "20ms", "for": "5ms", "extra": "0ms" }"#, "`extra` is zero"),
        (r#"{ "every": "20ms", "for": "5ms", "extra": "1ms", "at": 4 }"#, "unknown field `at`"),
    ] {
        let text = with(wrong);
        let found = read_scenario(&text, None).expect_err(wrong);
        let fault = &found.first()[0];
        // The fault lies within the costs of sequential writes.
        let begin = text.find(wrong).expect("it is there");
        assert!(begin <= fault.range.start && fault.range.end <= begin + wrong.len(), "{wrong}: {fault:?}");
        assert!(fault.to_string().contains("device.write.sequential.slow"), "{wrong}: {fault}");
        assert!(found.first().len() == 1 && found.to_string().contains(says), "{wrong}: {found}");
    }
}

/// The scenario of a drive in docs/host.md.
fn documented() -> String {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/host.md")).expect("the page");
    let text = page.split("```json").find(|text| text.contains("\"nvme\"")).expect("a scenario");
    text.split("```").next().expect("its end").to_owned()
}

#[test]
fn the_drive_of_the_documentation() {
    let scenario = read_scenario(&documented(), None).expect("a scenario");
    let HostDevice::Nvme(nvme) = &scenario.device else { panic!("no drive") };
    assert_eq!((nvme.queues, nvme.inside, nvme.read_ahead, nvme.buffer), (Some(4), 64, 4, 4_096));
    assert_eq!((nvme.ends_within, nvme.write.random.per_kib), (Some(ns(20_000_000)), ns(300)));
    let reports = run(&Scenario { duration: at(50_000_000), ..scenario }, 1).expect("a run");
    assert!(reports.iter().all(|report| report.latencies.count() > 20), "{reports:?}");
}

/// The mean latency of a user-centric reader beside fifty others on six cores.
fn user_centric(entries: u32, settings: [bool; 3]) -> u64 {
    let [separated, shortest, high_priority] = settings;
    let others = [6, 9, 14, 8, 7, 6].iter().enumerate().map(|(cpu, depth)| {
        format!(r#"{{ "name": "c{cpu}", "op": "read", "pattern": "random", "span": "1GiB", "size": "4KiB", "depth": {depth}, "cpu": {cpu} }}"#)
    });
    let text = format!(
        r#"{{ "device": {{ "kind": "nvme", "flash": {{ "profile": "dgist-2021", "chips": 16, "chips_per_channel": 2, "page_size": 4096,
            "blocks_per_chip": 64, "page_transfer": "5us" }}, "inside": 32, "entries": {entries},
            "read": {{ "controller": "4us", "latency": "20us" }}, "write": {{ "controller": "4us" }} }},
            "host": {{ "cpus": 6, "requests": 1024 }},
            "scheduler": {{ "name": "user-centric", "separated": {separated}, "shortest": {shortest}, "high_priority": {high_priority} }},
            "jobs": [ {{ "name": "user", "op": "read", "pattern": "random", "span": "1GiB", "size": "4KiB", "user_centric": true, "cpu": 2 }}, {} ],
            "duration": "100ms" }}"#,
        others.collect::<Vec<_>>().join(",")
    );
    let scenario = read_scenario(&text, None).expect("a scenario");
    run(&scenario, 1).expect("a run")[0].latencies.mean().expect("I/Os")
}

#[test]
fn user_centric_queues_help_where_their_queue_is_the_bottleneck() {
    let (separated, shortest, high_priority) = ([true, false, false], [false, true, false], [false, false, true]);
    let (long, short) = (user_centric(1_024, [false; 3]), user_centric(4, [false; 3]));
    assert!(user_centric(1_024, shortest) < long * 2 / 3);
    assert!(user_centric(4, separated) < short * 9 / 10 && user_centric(4, high_priority) < short * 9 / 10);
    for settings in [separated, shortest, high_priority, [true; 3]] {
        assert!(user_centric(1_024, settings) <= long + long / 50, "{settings:?}");
        assert!(user_centric(4, settings) <= short + short / 50, "{settings:?}");
    }
}
