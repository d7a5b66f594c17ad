//! Flushes, writes that go through the cache, discards, and volatile write caches.

use rtflash_host::bound::{Why, bounds};
use rtflash_host::run::{EmmcCost, HostDevice, JobReport, Scenario, WriteCache, read_scenario, run};
use rtflash_host::scheduler::{K2Settings, SchedulerSettings};
use rtflash_model::random::Stream;
use rtflash_testkit::cases;

use crate::bounds::{scenario as random, searched};
use crate::draws::ns;

const CACHE: &str = r#""cache": { "size": "8KiB", "drain": "102400kB", "flush": "3us", "fua": FUA,
    "write": { "first": "5us", "next": "5us", "per_kib": "0us" } },"#;

/// A device of which each read takes 10 µs and each write 20 µs. With a cache a write takes 5 µs,
/// and 4 KiB drain in 40 µs.
fn emmc(attach: &str, fields: &str, jobs: &str) -> Result<Scenario, String> {
    let text = format!(
        r#"{{ "device": {{ "kind": "emmc", "attach": "{attach}", {fields} "read": {{ "first": "10us", "next": "10us", "per_kib": "0us" }},
            "write": {{ "first": "20us", "next": "20us", "per_kib": "0us" }} }}, "host": {{ "max_sectors": "64KiB" }},
            "jobs": [{jobs}], "duration": "10ms" }}"#
    );
    read_scenario(&text, None).map_err(|wrong| wrong.to_string())
}

fn ran(scenario: &Scenario) -> Vec<JobReport> {
    run(scenario, 1).expect("a short run")
}

/// The longest and the sum of the latencies of each step, in microseconds.
fn of_steps(report: &JobReport) -> Vec<(u64, u64)> {
    let of = |latencies: &rtflash_host::run::Latencies| {
        let sum = u64::try_from(latencies.sum()).expect("a short sum");
        (latencies.max().unwrap_or(0) / 1_000, sum / 1_000)
    };
    report.steps.iter().map(|step| of(&step.latencies)).collect()
}

fn steps(steps: &str) -> String {
    format!(r#"{{ "name": "a", "count": 1, "steps": [{steps}] }}"#)
}

#[test]
fn a_chain_alone_by_hand() {
    const W: &str = r#"{ "op": "write", "size": "4KiB" }"#;
    const FUA: &str = r#"{ "op": "write", "size": "4KiB", "fua": true }"#;
    const FLUSH: &str = r#"{ "op": "flush" }"#;
    let (off, cache) = ("", |fua: &str| CACHE.replace("FUA", fua));
    let (on, through) = (cache("false"), cache("true"));
    let one = |all: &[u64]| -> Vec<(u64, u64)> { all.iter().map(|&us| (us, us)).collect() };
    let table = [
        ("no cache", off, format!("{W}, {FLUSH}"), one(&[20, 0])),
        ("no cache, FUA", off, format!("{FUA}, {FLUSH}"), one(&[20, 0])),
        // 4 KiB less what has drained in 5 µs take 35 µs.
        ("a flush", &on, format!("{W}, {FLUSH}"), one(&[5, 38])),
        ("nothing to flush", &on, format!("{FLUSH}, {W}"), one(&[3, 5])),
        (
            "drained before",
            &on,
            format!(r#"{{ "op": "write", "size": "4KiB", "think": "90us" }}, {FLUSH}"#),
            one(&[5, 3]),
        ),
        // The cache holds two of them: at 10 µs there are 7 KiB in it, and at 40 µs there are 8.
        ("full", &on, r#"{ "op": "write", "size": "4KiB", "times": 4 }"#.into(), vec![(40, 80)]),
        ("longer than the cache", &on, r#"{ "op": "write", "size": "16KiB" }"#.into(), one(&[80])),
        // The data, and a flush behind it.
        ("FUA by a flush", &on, format!("{FUA}, {FLUSH}"), one(&[43, 3])),
        ("FUA", &through, format!("{FUA}, {FLUSH}"), one(&[20, 3])),
        // 4 KiB of the write before drain while the other one is written.
        ("FUA behind a write", &through, format!("{W}, {FUA}, {FLUSH}"), one(&[5, 20, 18])),
    ];
    for (name, fields, of, expected) in table {
        for attach in ["usb", "mmc", "mmc-cqe", "tags"] {
            let scenario = emmc(attach, fields, &steps(&of)).expect("a scenario");
            assert_eq!(of_steps(&ran(&scenario)[0]), expected, "{name}, {attach}");
        }
    }
}

/// A flush goes ahead of what is queued, and one flush is for all that wait for one.
#[test]
fn flushes_go_ahead_and_are_shared() {
    let job = |name: &str, phase: &str, steps: &str| {
        format!(r#"{{ "name": "{name}", "phase": "{phase}", "count": 1, "steps": [{steps}] }}"#)
    };
    let flush_first = r#"{ "op": "flush" }, { "op": "read", "size": "4KiB" }"#;
    let jobs = [
        job("a", "0us", r#"{ "op": "write", "size": "4KiB" }, { "op": "flush" }"#),
        job("b", "6us", r#"{ "op": "read", "size": "4KiB" }"#),
        job("c", "6us", flush_first),
        job("d", "7us", flush_first),
    ];
    for (attach, read, flushes, reads) in [
        // The first flush ends at 43 µs, the second one at 46 µs, and then the reads follow.
        ("usb", 50, [40, 39], [20, 30]),
        // The run of b's process waits in the driver: its read goes first.
        ("mmc", 47, [50, 49], [10, 20]),
        // The card's queue has that read before.
        ("mmc-cqe", 47, [50, 49], [10, 20]),
    ] {
        let scenario = emmc(attach, &CACHE.replace("FUA", "false"), &jobs.join(", ")).expect("a scenario");
        let all: Vec<_> = ran(&scenario).iter().map(of_steps).collect();
        assert_eq!(all[0], [(5, 5), (38, 38)], "{attach}");
        assert_eq!(all[1], [(read, read)], "{attach}");
        assert_eq!([all[2][0].0, all[3][0].0], flushes, "{attach}");
        assert_eq!([all[2][1].0, all[3][1].0], reads, "{attach}");
    }
}

/// On a card a flush goes ahead of what was put aside: `b` waits in the driver, and `c` is aside.
/// The run of `b` issues all, each command as the one before ends.
#[test]
fn a_flush_of_a_card_goes_to_the_front() {
    let read = |name: &str, phase: u32| {
        format!(r#"{{ "name": "{name}", "op": "read", "size": "4KiB", "phase": "{phase}us", "count": 1 }}"#)
    };
    let steps = r#"{ "op": "flush" }, { "op": "read", "size": "4KiB" }"#;
    let flush = format!(r#"{{ "name": "d", "phase": "3us", "count": 1, "steps": [{steps}] }}"#);
    let jobs = [read("a", 0), read("b", 1), read("c", 2), flush].join(", ");
    let reports = ran(&emmc("mmc", &CACHE.replace("FUA", "false"), &jobs).expect("a scenario"));
    let longest: Vec<u64> = reports.iter().filter_map(|report| report.latencies.max()).collect();
    // The flush runs from 20 to 23 µs, `c` from 23 to 33, and the read behind the flush to 43.
    assert_eq!((longest, of_steps(&reports[3])), (vec![10_000, 19_000, 31_000, 40_000], vec![(20, 20), (20, 20)]));
}

/// A flush waits for data of others for 5 s at most. Writes of 3 s each have a flush behind them.
/// At 6 s, as the second one ends, the flush of 1 s is old enough, and goes ahead of the third one.
#[test]
fn a_flush_waits_for_data_for_five_seconds() {
    let cost = |first: &str| format!(r#"{{ "first": "{first}", "next": "{first}", "per_kib": "0us" }}"#);
    let job = |name: &str, phase: &str, step: &str| {
        format!(r#"{{ "name": "{name}", "phase": "{phase}", "count": 1, "steps": [{step}] }}"#)
    };
    let write = r#"{ "op": "write", "size": "4KiB", "fua": true }"#;
    let flush = r#"{ "op": "flush" }, { "op": "read", "size": "4KiB" }"#;
    let (three, ten) = (cost("3s"), cost("10us"));
    let writes = [("a", "0us"), ("b", "1us"), ("c", "2us")].map(|(name, phase)| job(name, phase, write)).join(", ");
    let text = format!(
        r#"{{ "device": {{ "kind": "emmc", "attach": "usb", "read": {ten}, "write": {three},
            "cache": {{ "size": "1MiB", "drain": "1GB", "flush": "3us", "write": {three} }} }},
            "jobs": [{writes}, {}], "duration": "20s" }}"#,
        job("d", "1s", flush)
    );
    let reports = ran(&read_scenario(&text, None).expect("a scenario"));
    let ends = reports.iter().map(|report| of_steps(report)[0].0).collect::<Vec<_>>();
    assert_eq!(ends, [6_000_003, 6_000_002, 9_000_004, 5_000_003]);
}

/// A request that goes through the cache is not merged, neither into another one nor the other way.
#[test]
fn writes_through_the_cache_are_not_merged() {
    let job = |name: &str, phase: u32, from: u32, fua: bool| {
        let write = format!(r#"{{ "op": "write", "from": "{from}KiB", "size": "4KiB", "fua": {fua} }}"#);
        format!(r#"{{ "name": "{name}", "phase": "{phase}us", "count": 1, "steps": [{write}] }}"#)
    };
    for fuas in [[false, true], [true, false], [true, true], [false, false]] {
        let jobs = [job("a", 0, 64, false), job("b", 1, 0, fuas[0]), job("c", 2, 4, fuas[1])];
        let mut scenario = emmc("usb", &CACHE.replace("FUA", "true"), &jobs.join(", ")).expect("a scenario");
        scenario.host.merge = true;
        scenario.scheduler = SchedulerSettings::K2(K2Settings { max_inflight: 1, ..K2Settings::k2() });
        let ends: Vec<u64> =
            ran(&scenario).iter().zip(0..).map(|(report, phase)| of_steps(report)[0].0 + phase).collect();
        // The cache holds 3.5 KiB at 5 µs: 4 KiB fit, and of 8 KiB more 3.5 have to drain first.
        let expected = match fuas {
            [false, true] => [5, 10, 30],
            [true, false] => [5, 25, 30],
            [true, true] => [5, 25, 45],
            [false, false] => [5, 40, 40],
        };
        assert_eq!(ends, expected, "{fuas:?}");
    }
}

/// A flush waits for the data of a write that has a flush behind it.
#[test]
fn flushes_wait_for_data_in_flight() {
    let jobs = r#"{ "name": "a", "count": 1, "steps": [{ "op": "write", "size": "4KiB", "fua": true }] },
        { "name": "b", "phase": "2us", "count": 1, "steps": [{ "op": "flush" }, { "op": "read", "size": "4KiB" }] }"#;
    let scenario = emmc("usb", &CACHE.replace("FUA", "false"), jobs).expect("a scenario");
    let reports = ran(&scenario);
    assert_eq!((of_steps(&reports[0]), of_steps(&reports[1])), (vec![(43, 43)], vec![(41, 41), (10, 10)]));
}

/// A job flushes after every n-th write, and not behind its last one.
#[test]
fn a_job_flushes_after_writes() {
    let of = |fields: &str, cache: &str, attach: &str| {
        let job = format!(r#"{{ "name": "a", "op": "write", "size": "4KiB", {fields} }}"#);
        let report = ran(&emmc(attach, cache, &job).expect("a scenario")).remove(0);
        (report.latencies.count(), of_steps(&report), report.steps[0].latencies.count())
    };
    let cache = &CACHE.replace("FUA", "true");
    for attach in ["usb", "mmc", "mmc-cqe"] {
        // Two writes hold 8 KiB but what has drained in 10 µs: 70 µs, and the flush 3 µs.
        let eight = r#""count": 8, "fsync": 2"#;
        assert_eq!(of(eight, cache, attach), (8, vec![(73, 219)], 3), "{attach}");
        assert_eq!(of(eight, "", attach), (8, vec![(0, 0)], 0), "{attach}");
        // A write and a flush take 43 µs.
        assert_eq!(of(r#""until": "430us", "fsync": 1"#, cache, attach), (10, vec![(38, 380)], 10), "{attach}");
        let two = of(r#""depth": 2, "submit": "async", "count": 9, "fsync": 3"#, cache, attach);
        assert_eq!((two.0, two.2), (9, 2), "{attach}");
    }
}

#[test]
fn a_discard_has_a_cost_of_its_own() {
    let discard = r#""discard": { "first": "2us", "next": "1us", "per_kib": "1us" },"#;
    let of = |fields: &str| {
        let scenario = emmc("usb", fields, &steps(r#"{ "op": "discard", "size": "4KiB" }"#)).expect("a scenario");
        of_steps(&ran(&scenario)[0])[0].0
    };
    assert_eq!((of(""), of(discard), of(&format!("{discard}{}", CACHE.replace("FUA", "true")))), (20, 6, 6));
}

/// A page takes 55 µs to be programmed: on one chip, one after the other.
fn nvme(fields: &str, of: &str) -> Result<Scenario, String> {
    let text = format!(
        r#"{{ "device": {{ "kind": "nvme", "flash": {{ "profile": "dgist-2021", "chips": 1, "chips_per_channel": 1,
            "page_size": 4096, "page_program": "50us", "page_transfer": "5us" }}, {fields}
            "read": {{ "controller": "1us" }}, "write": {{ "controller": "9us", "latency": "5us" }} }},
            "jobs": [{}], "duration": "10ms" }}"#,
        steps(of)
    );
    read_scenario(&text, None).map_err(|wrong| wrong.to_string())
}

#[test]
fn a_drive_flushes_its_buffer() {
    const FIELDS: &str = r#""buffer": 16, "drain": 1, "flush": { "controller": "3us", "latency": "2us" },
        "discard": { "controller": "4us", "latency": "1us" },"#;
    let table = [
        // In the buffer at 9 µs, programmed at 64 µs.
        ("a page", FIELDS, r#"{ "op": "write", "size": "4KiB" }, { "op": "flush" }"#, vec![14, 52]),
        ("three pages", FIELDS, r#"{ "op": "write", "size": "12KiB" }, { "op": "flush" }"#, vec![14, 162]),
        ("nothing", FIELDS, r#"{ "op": "flush" }, { "op": "write", "size": "4KiB" }"#, vec![5, 14]),
        ("safe", r#""buffer": 16,"#, r#"{ "op": "write", "size": "4KiB" }, { "op": "flush" }"#, vec![14, 0]),
        ("FUA", FIELDS, r#"{ "op": "write", "size": "4KiB", "fua": true }, { "op": "flush" }"#, vec![69, 5]),
        ("discard", FIELDS, r#"{ "op": "discard", "size": "64KiB" }, { "op": "flush" }"#, vec![5, 5]),
        ("as a write", r#""buffer": 16,"#, r#"{ "op": "discard", "size": "4KiB" }"#, vec![14]),
    ];
    for (name, fields, of, expected) in table {
        let found = of_steps(&ran(&nvme(fields, of).expect("a scenario"))[0]);
        assert_eq!(found.iter().map(|step| step.0).collect::<Vec<u64>>(), expected, "{name}");
    }
}

#[test]
fn faults_are_named() {
    const READ: &str = r#"{ "op": "read", "size": "4KiB" }"#;
    let slow = r#""slow": { "every": "1s", "for": "1ms", "extra": "1us" }"#;
    let table = [
        (
            emmc("usb", "", &steps(r#"{ "op": "read", "size": "4KiB", "fua": true }"#)),
            "`fua` of a step that does not write",
        ),
        (emmc("usb", r#""cache": { "size": "8KiB" },"#, &steps(READ)), "missing field `drain`"),
        (
            emmc(
                "usb",
                &CACHE.replace(r#""next""#, &format!(r#"{slow}, "next""#)).replace("FUA", "true"),
                &steps(READ),
            ),
            "episodes of these commands alone",
        ),
        (nvme(r#""flush": { "controller": "3us" },"#, READ), "a flush of a drive without a `buffer`"),
        (
            emmc(
                "usb",
                "",
                r#"{ "name": "a", "op": "write", "size": "4KiB", "rate": "1MB", "flush": "1s", "fsync": 1 }"#,
            ),
            "a job that writes back, and flushes the device's cache",
        ),
        (nvme(r#""buffer": 1, "cache": {},"#, READ), "unknown field `cache`"),
    ];
    for (scenario, problem) in table {
        let wrong = scenario.expect_err(problem);
        assert!(wrong.contains(problem), "{problem}: {wrong}");
    }
}

/// No bound is derived beside flushes of a cache; without a cache a flush is nothing.
#[test]
fn bounds_refuse_flushes() {
    let jobs = r#"{ "name": "reader", "class": "rt", "op": "read", "size": "4KiB", "every": "1ms" },
        { "name": "logger", "steps": [{ "op": "write", "size": "4KiB", "fua": true }] }"#;
    let terms = |fields: &str| {
        let mut scenario = emmc("usb", fields, jobs).expect("a scenario");
        scenario.scheduler = SchedulerSettings::K2(K2Settings { max_inflight: 1, ..K2Settings::k2() });
        bounds(&scenario).remove(0).terms
    };
    assert!(terms("").is_ok());
    let why = terms(&CACHE.replace("FUA", "true")).expect_err("no bound");
    assert_eq!(why, Why::Flushes { job: "logger".to_owned() });
    assert!(why.is_open());
}

/// No latency in front of a cache that no job flushes exceeds a bound, and some come near to one.
#[test]
fn bounds_hold_in_front_of_a_cache() {
    let (mut exceeded, mut nearest) = (0, 0.0_f64);
    for seed in 0..cases(60) {
        let mut rng = Stream::numbered(seed, b"h-caches", 0);
        let mut scenario = random(seed);
        let HostDevice::Emmc(emmc) = &mut scenario.device else { panic!("an eMMC") };
        let mut cost =
            || EmmcCost { first: ns(rng.within(1, 60)), next: ns(rng.within(1, 60)), per_kib: ns(0), slow: None };
        let (write, discard) = (cost(), cost());
        let (size, drain) = (rng.within(1, 16) << 10, rng.within(10, 400) * 1_000_000_000);
        emmc.cache = Some(WriteCache { size, drain, write, flush: ns(1), fua: false });
        emmc.discard = Some(discard);
        let found = bounds(&scenario);
        let longest = searched(&scenario, &found, seed, 6);
        // The bounds of a cache that is never full.
        let mut endless = scenario.clone();
        let HostDevice::Emmc(emmc) = &mut endless.device else { panic!("an eMMC") };
        emmc.cache = Some(WriteCache { size, drain: u64::MAX, write, flush: ns(1), fua: false });
        let bounded = |found: Vec<rtflash_host::bound::Bound>| -> Vec<u64> {
            found.into_iter().filter_map(|bound| Some(bound.terms.ok()?.bound().as_ns())).collect()
        };
        let (all, less) = (bounded(found), bounded(bounds(&endless)));
        for (&longest, &bound) in longest.iter().zip(&all) {
            assert!(longest <= bound, "seed {seed}");
            nearest = nearest.max(longest as f64 / bound as f64);
        }
        if all.len() == less.len() {
            exceeded += u32::from(longest.iter().zip(&less).any(|(longest, bound)| longest > bound));
        }
    }
    // Without the time that a full cache takes, they do not.
    assert!(exceeded > 0 && nearest > 0.9, "{exceeded}, {nearest}");
}
