//! Runs in front of an eMMC, against a host that is written down plainly.

use rtflash_host::run::{
    Attach, Emmc, EmmcCost, Host, HostDevice, Job, JobPattern, JobReleases, Kernel, Scenario, WriteBack, run,
};
use rtflash_host::scheduler::{
    BfqSettings, Cut, K2Settings, KyberSettings, MinimalEffortSettings, MqDeadlineSettings, SchedulerSettings, Split,
    UserCentricSettings,
};
use rtflash_host::{Class, Op};
use rtflash_model::random::Stream;
use rtflash_model::{Instant, Span};
use rtflash_testkit::ns;

use crate::plain_host::Plain;

fn at(nanoseconds: u64) -> Instant {
    Instant::from_ns(nanoseconds).expect("a short time")
}

fn scheduler(rng: &mut Stream) -> SchedulerSettings {
    let split = Split { cut: Cut::Rest, max_sectors: 4_096 * rng.within(1, 3), multiples: false };
    let k2 = K2Settings { max_inflight: rng.small(1, 3), ..K2Settings::k2() };
    let kyber = KyberSettings { tokens: [2, 1, 1, 1], batches: [2, 1, 1, 1], targets: [ns(400), ns(900), ns(9)] };
    let expire = ns(rng.within(0, 300));
    let deadline = MqDeadlineSettings {
        read_expire: expire,
        write_expire: expire,
        prio_aging_expire: ns(rng.within(100, 900)),
        writes_starved: rng.small(0, 2),
        fifo_batch: rng.small(1, 3),
        async_depth: (rng.within(0, 1) == 0).then_some(rng.small(1, 4)),
    };
    let minimal = MinimalEffortSettings { rate: 20_000_000_000, slice: ns(rng.within(50, 400)), max_reads: 4 };
    let fair = BfqSettings { budget: rng.within(1, 64) << 10 };
    rng.one_of(&[
        SchedulerSettings::None,
        SchedulerSettings::K2(k2),
        SchedulerSettings::K2(K2Settings { split: Some(split), ..k2 }),
        SchedulerSettings::MqDeadline(deadline),
        SchedulerSettings::Bfq(fair),
        SchedulerSettings::Kyber(kyber),
        SchedulerSettings::MinimalEffort(minimal),
        SchedulerSettings::UserCentric(UserCentricSettings::default()),
    ])
}

fn scenario(seed: u64) -> Scenario {
    let mut rng = Stream::numbered(seed, b"host-run", 0);
    let mut cost = || EmmcCost {
        first: ns(rng.within(1, 60)),
        next: ns(rng.within(1, 40)),
        per_kib: ns(rng.within(0, 4)),
        slow: None,
    };
    let (read, write) = (cost(), cost());
    let job = |number: u64, rng: &mut Stream| {
        let releases = match rng.within(0, 4) {
            0 | 1 => JobReleases::Every { period: ns(rng.within(100, 900)), jitter: Span::ZERO },
            2 | 3 => JobReleases::Closed { depth: rng.small(1, 3), think: ns(rng.one_of(&[0, 0, 1, 50, 300])) },
            _ => {
                let flush = ns(rng.within(1, 900));
                JobReleases::WriteBack(WriteBack { rate: rng.within(1, 90_000_000_000), flush })
            }
        };
        let is_closed = matches!(releases, JobReleases::Closed { .. });
        let phase = rng.one_of(&[0, 0, 7, 100]);
        Job {
            name: number.to_string(),
            op: rng.one_of(&[Op::Read, Op::Write]),
            pattern: JobPattern::Sequential,
            from: rng.within(0, 3) << 12,
            span: (rng.within(0, 1) == 0).then_some(96 << 10),
            size: rng.within(1, 24) << 10,
            class: rng.one_of(&Class::ALL),
            level: u8::try_from(rng.within(0, 7)).expect("a level"),
            cpu: rng.small(0, 1),
            user_centric: rng.within(0, 1) == 0,
            is_async: rng.within(0, 1) == 0,
            releases,
            phase: at(phase),
            count: (rng.within(0, 3) == 0).then_some(rng.within(0, 9)),
            until: (rng.within(0, 5) == 0).then_some(at(phase + rng.within(1, 4_000))),
            pace: (is_closed && rng.within(0, 2) == 0).then_some(rng.within(1_000_000_000, 90_000_000_000)),
            ..Job::default()
        }
    };
    let jobs = (0..rng.within(1, 4)).map(|number| job(number, &mut rng)).collect();
    let attach = rng.one_of(&[Attach::Unstated, Attach::Tags, Attach::Budget]);
    Scenario {
        device: HostDevice::Emmc(Box::new(Emmc {
            attach,
            // An attachment by tags has one command more in flight than tags.
            depth: rng.small(1, 3) + u32::from(attach == Attach::Tags),
            read,
            write,
            discard: None,
            cache: None,
            slow: None,
        })),
        host: Host {
            cpus: 2,
            max_sectors: rng.within(4, 16) << 10,
            requests: rng.small(6, 20),
            turnaround: ns(rng.one_of(&[0, 0, 3, 40])),
            merge: rng.within(0, 1) == 0,
            page_cache: None,
            requests_before: (rng.within(0, 1) == 0).then_some(rng.small(1, 6)),
            kernel: rng.one_of(&Kernel::ALL),
            hz: 250,
            overhead: ns(seed % 3 * 40),
        },
        scheduler: scheduler(&mut rng),
        jobs,
        duration: at(rng.within(2_000, 6_000)),
        warmup: at(rng.one_of(&[0, 500])),
    }
}

#[test]
fn runs_are_those_of_a_plain_host() {
    let (mut ended, mut waited) = (0, 0);
    for seed in 0..1_500 {
        let scenario = scenario(seed);
        let reports = run(&scenario, 1).expect("short runs");
        let expected = Plain::latencies(&scenario);
        for (report, expected) in reports.iter().zip(&expected) {
            let sum: u128 = expected.iter().map(|&latency| u128::from(latency)).sum();
            let told = (report.latencies.count(), report.latencies.sum(), report.latencies.max());
            assert_eq!(told, (expected.len() as u64, sum, expected.last().copied()), "seed {seed}: {scenario:#?}");
            for (rank, latency) in expected.iter().enumerate() {
                let share = u32::try_from((rank + 1) * 10_000 / expected.len()).expect("at most ten thousand");
                assert!(report.latencies.percentile(share).is_some_and(|found| found <= *latency));
            }
            ended += expected.len();
            waited += expected.iter().filter(|&&latency| latency > 400).count();
        }
    }
    assert!(ended > 30_000 && waited > 5_000, "{ended} {waited}");
}

/// Reads of 64 KiB behind one write of 512 KiB, by hand: 200 us + 64 · 10 us = 840 us, and 500 us +
/// 512 · 15 us = 8,180 us.
#[test]
fn a_reader_behind_a_writer() {
    let us = Span::from_us;
    let reader = Job {
        name: "reader".into(),
        op: Op::Read,
        pattern: JobPattern::Sequential,
        from: 0,
        span: None,
        size: 64 << 10,
        class: Class::RealTime,
        level: 0,
        cpu: 0,
        user_centric: false,
        is_async: false,
        releases: JobReleases::Every { period: us(10_000), jitter: Span::ZERO },
        phase: at(1_000),
        count: Some(1),
        until: None,
        pace: None,
        ..Job::default()
    };
    let writer = Job {
        name: "writer".into(),
        op: Op::Write,
        size: 512 << 10,
        class: Class::Idle,
        releases: JobReleases::Closed { depth: 1, think: Span::ZERO },
        phase: at(0),
        ..reader.clone()
    };
    let mut scenario = Scenario {
        device: HostDevice::Emmc(Box::new(Emmc {
            attach: Attach::default(),
            depth: 1,
            read: EmmcCost { first: us(200), next: us(100), per_kib: us(10), slow: None },
            write: EmmcCost { first: us(500), next: us(300), per_kib: us(15), slow: None },
            discard: None,
            cache: None,
            slow: None,
        })),
        host: Host {
            cpus: 1,
            max_sectors: 1_280 << 10,
            requests: 1_024,
            turnaround: us(5),
            merge: false,
            page_cache: None,
            ..Host::default()
        },
        scheduler: SchedulerSettings::K2(K2Settings::k2()),
        jobs: vec![reader, writer],
        duration: at(100_000_000),
        warmup: at(0),
    };
    let max = |scenario: &Scenario| {
        run(scenario, 1).expect("a run").iter().map(|job| job.latencies.max()).collect::<Vec<_>>()
    };
    // It waits for the rest of the write, and for the turnaround.
    assert_eq!(max(&scenario), [Some(8_180_000 - 1_000 + 5_000 + 840_000), Some(8_180_000)]);
    // In pieces of 4 KiB: the first one takes 560 us, each of the other 127 360 us and a
    // turnaround.
    let split = Split { cut: Cut::Rest, max_sectors: 4 << 10, multiples: false };
    scenario.scheduler = SchedulerSettings::K2(K2Settings { max_inflight: 1, split: Some(split), ..K2Settings::k2() });
    let write = 560_000 + 5_000 + 840_000 + 5_000 + 127 * 365_000 - 5_000;
    assert_eq!(max(&scenario), [Some(560_000 - 1_000 + 5_000 + 840_000), Some(write)]);
}

/// 10 MB/s in I/Os of 64 KiB, flushed every 20 ms: 3.05 I/Os each time. Each takes 500 us + 64 · 15
/// us = 1,460 us.
#[test]
fn a_cache_is_written_back() {
    let text = r#"{
        "device": { "kind": "emmc", "read": { "first": "1us", "next": "1us", "per_kib": "0us" },
            "write": { "first": "500us", "next": "300us", "per_kib": "15us" } },
        "jobs": [ { "name": "cache", "op": "write", "size": "64KiB", "rate": "10MB", "flush": "20ms", "phase": "1ms" } ],
        "duration": "1001ms" }"#;
    let scenario = rtflash_host::run::read_scenario(text, None).expect("a scenario");
    let reports = run(&scenario, 1).expect("a run");
    let latencies = &reports[0].latencies;
    // Fifty flushes, the last of them at the very end: 152.59 I/Os, and 149.54 by the one before.
    assert_eq!((latencies.count(), latencies.max()), (149, Some(4 * 1_460_000)));
    let fourth = (1..50).filter(|flush| flush * 200_000 / 65_536 - (flush - 1) * 200_000 / 65_536 == 4).count() as u128;
    assert_eq!(latencies.sum(), (149 - fourth) / 3 * (1 + 2 + 3) * 1_460_000 + fourth * 4 * 1_460_000);
}

/// Reads of 1 ms each, and 10 ms more of those that begin from 20 ms on and before 25 ms, from 45
/// ms on and before 50 ms, …
#[test]
fn slow_episodes() {
    let text = r#"{
        "device": { "kind": "emmc", "read": { "first": "1ms", "next": "1ms", "per_kib": "0us" },
            "write": { "first": "1ms", "next": "1ms", "per_kib": "0us" }, "slow": { "every": "20ms", "for": "5ms", "extra": "10ms" } },
        "jobs": [ { "name": "reader", "op": "read", "size": "4KiB", "depth": 1 } ], "duration": "100ms" }"#;
    let scenario = rtflash_host::run::read_scenario(text, None).expect("a scenario");
    let reports = run(&scenario, 1).expect("a run");
    // 20 reads, one of 11 ms until 31 ms, 14 until 45 ms, one until 56 ms, 14 until 70 ms, one
    // until 81 ms, 14 until 95 ms.
    let latencies = &reports[0].latencies;
    assert_eq!((latencies.count(), latencies.sum(), latencies.max()), (65, 95_000_000, Some(11_000_000)));
    let HostDevice::Emmc(emmc) = &scenario.device else { panic!("an eMMC") };
    let read = scenario.whole(0, 0).expect("a read");
    assert_eq!((emmc.service(&read, true), emmc.longest(&read, true)), (Span::from_us(1_000), Span::from_us(11_000)));
}

/// Commands of 1 ms, one after the other. Reads that begin in 20 ms to 25 ms, 45 ms to 50 ms, …
/// take 10 ms more; writes in 30 ms to 33 ms, 63 ms to 66 ms, … 20 ms more; and all of them in 40
/// ms to 41 ms, 81 ms to 82 ms, … 100 us more.
#[test]
fn slow_episodes_of_an_operation() {
    let text = r#"{
        "device": { "kind": "emmc",
            "read": { "first": "1ms", "next": "1ms", "per_kib": "0us", "slow": { "every": "20ms", "for": "5ms", "extra": "10ms" } },
            "write": { "first": "1ms", "next": "1ms", "per_kib": "0us", "slow": { "every": "30ms", "for": "3ms", "extra": "20ms" } },
            "slow": { "every": "40ms", "for": "1ms", "extra": "100us" } },
        "jobs": [ { "name": "one", "op": "read", "size": "4KiB", "depth": 1 } ], "duration": "90ms" }"#;
    let found = ["read", "write", "discard"].map(|op| {
        let text = text.replace("\"op\": \"read\"", &format!("\"op\": \"{op}\""));
        let scenario = rtflash_host::run::read_scenario(&text, None).expect("a scenario");
        let latencies = run(&scenario, 1).expect("a run")[0].latencies.clone();
        let HostDevice::Emmc(emmc) = &scenario.device else { panic!("an eMMC") };
        let most = emmc.longest(&scenario.whole(0, 0).expect("an I/O"), true);
        (latencies.count(), latencies.sum(), latencies.max().unwrap_or(0), most.as_ns())
    });
    // Reads: 20, one until 31 ms, 9, one until 41.1 ms, 4, one until 56.1 ms, 14, one until 81.1
    // ms, one until 82.2 ms, 7 until 89.2 ms. Writes: 30, one until 51 ms, 12, one until 84 ms, 6.
    // An operation other than a read is a write.
    let writes = (50, 90_000_000, 21_000_000, 21_100_000);
    assert_eq!(found, [(59, 89_200_000, 11_000_000, 11_100_000), writes, writes]);
}

/// The rest of an I/O of 68 KiB becomes part of another one of 4 KiB behind it: that is the first
/// command of the short one, though not of the long one.
#[test]
fn a_merged_command_is_the_first_of_an_io() {
    let text = r#"{
        "device": { "kind": "emmc", "read": { "first": "100us", "next": "10us", "per_kib": "0us" },
            "write": { "first": "1us", "next": "1us", "per_kib": "0us" } },
        "host": { "max_sectors": "64KiB", "merge": true }, "scheduler": "mq-deadline",
        "jobs": [ { "name": "short", "op": "read", "from": "68KiB", "size": "4KiB", "count": 1 },
            { "name": "long", "op": "read", "size": "68KiB", "count": 1 } ],
        "duration": "1s" }"#;
    let scenario = rtflash_host::run::read_scenario(text, None).expect("a scenario");
    let max: Vec<_> = run(&scenario, 1).expect("a run").iter().map(|job| job.latencies.max()).collect();
    assert_eq!(max, [Some(200_000), Some(200_000)]);
}

/// A card with d tags behind mq-deadline: d + 1 commands are out of the scheduler. Real-time reads
/// hide the others while they are inside, and Linux 6.12.117 asks again behind 3 ms where nothing
/// waited for a tag. Its medians, in User-Mode Linux with time travel, are 7.02, 15.00 and
/// 19.00 ms.
#[test]
fn tags_alone_let_one_command_more_out() {
    for (attach, median) in [
        (r#""attach": "usb""#, 1_460_000),
        (r#""attach": "tags", "depth": 1"#, 7_020_000),
        (r#""attach": "tags", "depth": 2"#, 15_000_000),
        (r#""attach": "tags", "depth": 3"#, 19_000_000),
    ] {
        let text = format!(
            r#"{{"device": {{"kind": "emmc", {attach},
                "read": {{"first": "234us", "next": "234us", "per_kib": "10400ns"}},
                "write": {{"first": "680us", "next": "680us", "per_kib": "14300ns"}}}},
            "host": {{"requests": [2, 256], "hz": 1000}}, "scheduler": {{"name": "mq-deadline", "async_depth": 256}},
            "jobs": [{{"name": "rt", "op": "read", "pattern": "random", "span": "2GiB", "size": "64KiB",
                "class": "rt", "think": "5ms"}},
                {{"name": "bg", "op": "read", "pattern": "random", "from": "2GiB", "span": "2GiB",
                "size": "512KiB", "depth": 4, "think": "20us"}}],
            "duration": "5s", "warmup": "1s"}}"#
        );
        let scenario = rtflash_host::run::read_scenario(&text, None).expect("a scenario");
        let found = run(&scenario, 1).expect("a run")[0].latencies.percentile(5_000).expect("reads");
        assert!(found.abs_diff(median) < median / 100, "{attach}: {found}, {median} in the kernel");
    }
}

/// Real-time writes beside N processes that write, all of whom need one of the tags that
/// mq-deadline leaves to writes. The 99th percentiles are those of Linux 6.12.117.
#[test]
fn writes_wait_for_their_tags_as_in_the_kernel() {
    for (requests, depth, beside, kernel_us) in [
        ("[2, 256]", "", 1, 2_310),
        ("[2, 256]", "", 8, 7_470),
        ("[2, 256]", "", 32, 25_170),
        ("[2, 256]", r#", "async_depth": 6"#, 8, 4_520),
        ("[2, 256]", r#", "async_depth": 256"#, 32, 2_310),
        ("[2, 16, 64]", "", 32, 14_850),
        ("[2, 64, 8]", r#", "async_depth": 256"#, 8, 3_050),
    ] {
        let text = format!(
            r#"{{"device": {{"kind": "emmc", "attach": "usb",
                "read": {{"first": "234us", "next": "234us", "per_kib": "10400ns"}},
                "write": {{"first": "680us", "next": "680us", "per_kib": "14300ns"}}}},
            "host": {{"requests": {requests}}}, "scheduler": {{"name": "mq-deadline"{depth}}},
            "jobs": [{{"name": "rt", "op": "write", "pattern": "random", "span": "2GiB", "size": "64KiB",
                "class": "rt", "think": "20us"}},
                {{"name": "bg", "op": "write", "pattern": "random", "from": "2GiB", "span": "2GiB", "size": "4KiB",
                "class": "idle", "depth": {beside}, "think": "20us"}}],
            "duration": "6s", "warmup": "1s"}}"#
        );
        let scenario = rtflash_host::run::read_scenario(&text, None).expect("a scenario");
        let found = run(&scenario, 1).expect("a run")[0].latencies.percentile(9_900).expect("writes") / 1_000;
        assert!(found.abs_diff(kernel_us) <= kernel_us / 100, "{requests}{depth} {beside}: {found}, {kernel_us}");
    }
}

/// BFQ's idling and its boost of interactive jobs are refused by name; without them it is read.
#[test]
fn what_bfq_leaves_out_is_refused() {
    let read = |parameter: &str| {
        let text = format!(
            r#"{{ "device": {{ "kind": "emmc", "read": {{ "first": "1us", "next": "1us", "per_kib": "0us" }},
                "write": {{ "first": "1us", "next": "1us", "per_kib": "0us" }} }},
            "scheduler": {{ "name": "bfq", {parameter} }},
            "jobs": [ {{ "name": "a", "op": "read", "size": "4KiB" }} ], "duration": "1s" }}"#
        );
        rtflash_host::run::read_scenario(&text, None).map_err(|faults| format!("{faults:?}"))
    };
    for (parameter, name) in [(r#""slice_idle": "8ms""#, "slice_idle"), (r#""low_latency": true"#, "low_latency")] {
        let refused = read(parameter).expect_err("a refusal");
        assert!(refused.contains(&format!("(`{name}`) is not modelled")), "{refused}");
    }
    read(r#""slice_idle": "0ms", "low_latency": false"#).expect("a scenario");
}
