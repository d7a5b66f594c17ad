//! Buffered writes, the kernel's flusher, and `fsync` of what is in memory.

use rtflash_host::bound::{Why, bounds};
use rtflash_host::run::{JobReport, RunEvent, Scenario, Watch, read_fio, read_scenario, read_setup, run, run_watched};
use rtflash_host::tune::{Objective, TuneOptions, tune};
use rtflash_host::{Class, Op};
use rtflash_model::Instant;
use rtflash_model::random::Stream;
use rtflash_testkit::cases;

const CACHE: &str = r#""cache": { "size": "8KiB", "drain": "102400kB", "flush": "3us",
    "write": { "first": "5us", "next": "5us", "per_kib": "0us" } },"#;

/// A device of which each read takes 10 µs and each write 20 µs, and memory that takes 4 KiB a µs.
fn setup(attach: &str, cache: &str, memory: &str) -> String {
    format!(
        r#""device": {{ "kind": "emmc", "attach": "{attach}", {cache} "read": {{ "first": "10us", "next": "10us", "per_kib": "0us" }},
            "write": {{ "first": "20us", "next": "20us", "per_kib": "0us" }} }},
            "host": {{ "max_sectors": "64KiB", "page_cache": {{ {memory}, "copy": "4096MB" }} }}"#
    )
}

fn text(cache: &str, memory: &str, jobs: &str, duration: &str) -> String {
    format!(r#"{{ {}, "jobs": [{jobs}], "duration": "{duration}" }}"#, setup("usb", cache, memory))
}

fn read(text: &str) -> Result<Scenario, String> {
    read_scenario(text, None).map_err(|wrong| wrong.to_string())
}

/// Writes as they go to the device: µs, class, level, KiB and place in KiB.
#[derive(Default)]
struct Writes(Vec<(u64, Class, u8, u64, u64)>);

impl Watch for Writes {
    fn see(&mut self, now: Instant, what: &RunEvent<'_>) {
        if let RunEvent::Queued { command, .. } = what
            && command.op == Op::Write
        {
            self.0.push((now.as_ns() / 1_000, command.class, command.level, command.size >> 10, command.from >> 10));
        }
    }
}

fn ran(text: &str) -> (Vec<JobReport>, Writes) {
    ran_by("k2", text)
}

fn ran_by(scheduler: &str, text: &str) -> (Vec<JobReport>, Writes) {
    let (scenario, mut writes) = (read_scenario(text, Some(scheduler)).expect("a scenario"), Writes::default());
    (run_watched(&scenario, 1, &mut writes).expect("a short run"), writes)
}

/// The longest latency and the sum of all, in µs, and how many there are.
fn sums(latencies: &rtflash_host::run::Latencies) -> (u64, u64, u64) {
    let sum = u64::try_from(latencies.sum()).expect("a short sum");
    (latencies.max().unwrap_or(0) / 1_000, sum / 1_000, latencies.count())
}

const LARGE: &str = r#""background": "1MiB", "dirty": "2MiB""#;
const BE: Class = Class::BestEffort;

#[test]
fn writes_end_in_memory_and_old_pages_are_written_back() {
    let memory = format!(r#"{LARGE}, "expire": "1ms", "interval": "500us""#);
    let job = r#"{ "name": "a", "op": "write", "size": "4KiB", "class": "rt", "level": 0, "every": "100us", "count": 3, "buffered": true }"#;
    let (reports, writes) = ran(&text("", &memory, job, "10ms"));
    assert_eq!(sums(&reports[0].latencies), (1, 3, 3));
    // The file is dirty from 1 µs on. The flusher looks 500 µs later, and then every 500 µs.
    assert_eq!(writes.0, [(1_001, BE, 4, 12, 0)]);
    assert_eq!(
        (reports[1].name.as_str(), sums(&reports[1].latencies), reports[1].bytes),
        ("writeback", (20, 20, 1), 12_288)
    );
    // A file that is dirty again is young again.
    let again = job.replace(r#""count": 3"#, r#""count": 13"#);
    let times: Vec<u64> = ran(&text("", &memory, &again, "10ms")).1.0.iter().map(|write| write.0).collect();
    assert_eq!(times, [1_001, 2_501]);
}

#[test]
fn above_the_background_threshold_all_is_written_back() {
    let memory = r#""background": "64KiB", "dirty": "1MiB""#;
    let job = r#"{ "name": "a", "op": "write", "size": "4KiB", "count": 40, "buffered": true }"#;
    let (reports, writes) = ran(&text("", memory, job, "10ms"));
    assert_eq!(sums(&reports[0].latencies), (1, 40, 40));
    // 68 KiB are above it, in one I/O of two requests. 24 KiB stay.
    assert_eq!(writes.0, [(17, BE, 4, 64, 0), (17, BE, 4, 4, 64), (34, BE, 4, 64, 68), (34, BE, 4, 4, 132)]);
    assert_eq!((reports[1].latencies.count(), reports[1].bytes), (2, 136 << 10));
    // The flusher waits for the only tag of `none`, and finds more to write when it has it.
    let times: Vec<_> = ran_by("none", &text("", memory, job, "10ms")).1.0.iter().map(|of| (of.0, of.3)).collect();
    assert_eq!(times, [(17, 64), (37, 4), (57, 64), (77, 16)]);
    // A page that is written twice is written back once.
    let same = job.replace(r#""count""#, r#""span": "32KiB", "count""#);
    assert_eq!(ran(&text("", memory, &same, "10ms")).1.0, []);
}

#[test]
fn writers_wait_while_too_much_is_dirty() {
    let memory = r#""background": "64KiB", "dirty": "128KiB""#;
    let job = r#"{ "name": "a", "op": "write", "size": "64KiB", "count": 4, "buffered": true }"#;
    let (reports, writes) = ran(&text("", memory, job, "10ms"));
    // The second write has 128 KiB on their way, for 40 µs. So does the fourth.
    assert_eq!(sums(&reports[0].latencies), (56, 2 * 16 + 2 * 56, 4));
    assert_eq!(writes.0.iter().map(|write| write.0).collect::<Vec<_>>(), [32, 32, 104, 104]);
}

#[test]
fn fsync_writes_in_the_class_of_its_process_and_flushes() {
    let job = |class: &str| {
        format!(
            r#"{{ "name": "a", "op": "write", "size": "4KiB", "class": "{class}", "level": 0, "fsync": 1, "count": 2, "buffered": true }}"#
        )
    };
    // The cache takes 4 KiB in 5 µs. A flush takes 3 µs and drains for the other 35 µs.
    for (cache, us) in [(CACHE, 43), ("", 20)] {
        let (reports, writes) = ran(&text(cache, LARGE, &job("rt"), "1ms"));
        assert_eq!(writes.0, [(1, Class::RealTime, 0, 4, 0)], "{us}");
        assert_eq!((sums(&reports[0].steps[0].latencies), sums(&reports[0].latencies)), ((us, us, 1), (1, 2, 2)));
    }
    // The flusher has some pages on their way in its class, and fsync waits for these.
    let (reports, writes) = ran(&text("", r#""background": "0B", "dirty": "1MiB""#, &job("rt"), "1ms"));
    assert_eq!(writes.0, [(1, BE, 4, 4, 0), (22, BE, 4, 4, 4)]);
    assert_eq!(sums(&reports[0].steps[0].latencies), (20, 20, 1));
}

/// Reads of a mixed job go to the device.
#[test]
fn reads_of_a_buffered_job_are_direct() {
    let job = r#"{ "name": "a", "mix": [{ "op": "read", "size": "4KiB" }, { "op": "write", "size": "4KiB" }], "count": 50, "buffered": true }"#;
    let (reports, writes) = ran(&text("", LARGE, job, "10ms"));
    let (max, sum, count) = sums(&reports[0].latencies);
    let reads = (sum - 50) / 9;
    assert!(max == 10 && count == 50 && (1..50).contains(&reads) && sum == reads * 10 + 50 - reads, "{sum}");
    assert_eq!(writes.0, []);
}

/// Bytes that the device has moved.
#[derive(Default)]
struct Moved(u64);

impl Watch for Moved {
    fn see(&mut self, _: Instant, what: &RunEvent<'_>) {
        if let RunEvent::Ended(command) = what {
            self.0 += command.size;
        }
    }
}

/// `host tune` counts each byte once: reads, what the flusher writes, and what `fsync` writes.
#[test]
fn the_bandwidth_is_that_of_the_device() {
    let memory = r#""background": "64KiB", "dirty": "256KiB""#;
    for fsync in ["", r#", "fsync": 20"#] {
        let job = format!(
            r#"{{ "name": "a", "mix": [{{ "op": "read", "size": "4KiB" }}, {{ "op": "write", "size": "8KiB" }}], "think": "5us", "buffered": true {fsync} }},
               {{ "name": "b", "op": "write", "size": "4KiB", "from": "1GiB", "think": "3us", "buffered": true {fsync} }}"#
        );
        let (scenario, mut moved) = (read(&text("", memory, &job, "100ms")).expect("a scenario"), Moved::default());
        run_watched(&scenario, 1, &mut moved).expect("a short run");
        let options = TuneOptions { runs: 1, samples: 0, ..TuneOptions::new(Objective::Deadline(None), 1) };
        let found = tune(&scenario, &[], options).expect("a short run").none.all.bytes_per_s;
        let device = u128::from(moved.0) * 10;
        // I/Os that are open at the end do not count.
        assert!(device > 100_000_000 && found.abs_diff(device) < device / 50, "{found} {device}");
    }
}

/// An fsync waits for the pages of its own file alone (`file_write_and_wait_range`).
#[test]
fn fsync_waits_for_its_own_file() {
    let jobs = r#"{ "name": "large", "op": "write", "size": "1MiB", "fsync": 1, "count": 2, "buffered": true },
        { "name": "small", "op": "write", "size": "4KiB", "from": "1GiB", "class": "rt", "fsync": 1, "count": 2, "phase": "260us", "buffered": true }"#;
    let (reports, _) = ran(&text("", r#""background": "8MiB", "dirty": "16MiB""#, jobs, "2ms"));
    let flush = |job: usize| sums(&reports[job].steps[0].latencies);
    // Sixteen writes of 64 KiB begin at 256 µs. The small one begins at 276 µs.
    assert_eq!((flush(0), flush(1)), ((340, 340, 1), (35, 35, 1)));
}

#[test]
fn no_bound_beside_a_buffered_job() {
    let jobs = r#"{ "name": "r", "op": "read", "size": "4KiB", "class": "rt", "every": "1ms" },
        { "name": "log", "op": "write", "size": "4KiB", "class": "rt", "level": 0, "every": "1ms", "buffered": true }"#;
    let scenario = read_scenario(&text("", LARGE, jobs, "10ms"), Some("k2")).expect("a scenario");
    let found = bounds(&scenario);
    assert_eq!(found.len(), 2);
    for bound in found {
        let why = bound.terms.expect_err("no bound");
        assert!(why == Why::Buffered { job: "log".into() } && why.is_open());
        assert!(why.to_string().contains("beside `log`, which is buffered"), "{why}");
    }
    let direct = text("", LARGE, jobs, "10ms").replace(r#", "buffered": true"#, "");
    assert!(bounds(&read_scenario(&direct, Some("k2")).expect("a scenario")).iter().all(|bound| bound.terms.is_ok()));
    let advice = scenario.advice();
    assert_eq!(advice.len(), 1);
    assert!(advice[0].starts_with("`log` is buffered: its class and level (rt, 0) are lost"), "{advice:?}");
}

#[test]
fn faults_are_named() {
    let job = |fields: &str| format!(r#"{{ "name": "a", "buffered": true, {fields} }}"#);
    let write = |fields: &str| job(&format!(r#""op": "write", "size": "4KiB" {fields}"#));
    let of = |jobs: &str| text("", LARGE, jobs, "1ms");
    let table = [
        (of(&job(r#""op": "read", "size": "4KiB""#)), "the job writes nothing"),
        (of(&write(r#", "rate": "1MB", "flush": "1ms""#)), "a job that is buffered, and has a `flush` of its own"),
        (of(&write(r#", "submit": "async""#)), "buffered writes are synchronous"),
        (of(&job(r#""steps": [{ "op": "write", "size": "4KiB" }]"#)), "`buffered` of a job with `steps`"),
        (of(&write("")).replace("page_cache", "cpu_cache"), "unknown"),
        (of(&write("")).replace(r#""background": "1MiB","#, ""), "background"),
        (of(&write("")).replace("1MiB", "2MiB"), "`dirty` is not above it"),
        (of(&write("")).replace(r#""max_sectors": "64KiB""#, r#""max_sectors": "4KiB", "requests": 2"#), ""),
    ];
    for (text, problem) in table {
        match read(&text) {
            Ok(_) => assert_eq!(problem, "", "{text}"),
            Err(wrong) => assert!(!problem.is_empty() && wrong.contains(problem), "{wrong}"),
        }
    }
    let memory = r#""page_cache": { "background": "1MiB", "dirty": "2MiB", "copy": "4096MB" }"#;
    let none = of(&write("")).replace(memory, r#""cpus": 1"#);
    assert!(read(&none).expect_err("no page cache").contains("the host has no page cache"));
}

#[test]
fn job_files_of_fio() {
    let with = format!("{{ {} }}", setup("usb", "", LARGE));
    let without = r#"{ "device": { "kind": "emmc", "read": { "first": "10us", "next": "10us", "per_kib": "0us" },
        "write": { "first": "20us", "next": "20us", "per_kib": "0us" } } }"#;
    let read = |setup: &str, options: &str| {
        let text = format!("[a]\nioengine=libaio\niodepth=8\nsize=1m\nprioclass=1\n{options}");
        read_fio(&text, &read_setup(setup, None).expect("a setup"), &mut ()).expect("a job file")
    };
    for (setup, options, is_buffered, remark) in [
        (with.as_str(), "rw=write\ndirect=1", false, ""),
        (&with, "rw=write\nbuffered=0", false, ""),
        (&with, "rw=write\ndirect=0", true, "iodepth"),
        (&with, "rw=write", true, "iodepth"),
        (&with, "rw=randrw", true, "(`direct` is 0 by default)"),
        (&with, "rw=read\ndirect=0", false, "each read goes to the device"),
        (&with, "rw=trim", false, ""),
        (without, "rw=write", false, "`direct`: it is 0 by default, so fio's I/O goes through the page cache"),
        (without, "rw=write\nbuffered=1", false, "`direct`: fio's I/O goes through the page cache"),
    ] {
        let found = read(setup, options);
        let jobs = &found.scenario.jobs;
        assert_eq!(
            (jobs[0].is_buffered, jobs.len(), jobs[0].is_async),
            (is_buffered, 1 + usize::from(is_buffered), !is_buffered),
            "{options}"
        );
        let remarks = found.remarks("x.fio");
        assert!(if remark.is_empty() { remarks.is_empty() } else { remarks.contains(remark) }, "{options}: {remarks}");
    }
    let timed = read(&with, "rw=write\nruntime=2\ntime_based").scenario;
    assert_eq!(timed.duration.as_ns(), 2_000_000_000);
    // The run is over when its jobs are, whatever is dirty then.
    let found = read(&with, "rw=write\nfsync=64").scenario;
    assert_eq!(found.duration, Instant::END);
    let reports = run(&found, 1).expect("a short run");
    assert_eq!((reports[0].latencies.count(), reports[0].steps[0].latencies.count()), (256, 3));
}

/// Each page is written back once, whatever the tags, the driver and the scheduler are.
#[test]
fn all_is_written_back_once() {
    for case in 0..cases(60_u64) {
        let mut key = [3; 32];
        key[..8].copy_from_slice(&case.to_le_bytes());
        let mut rng = Stream::new(key);
        let attach = ["usb", "tags", "mmc", "mmc-cqe"][usize::try_from(rng.below(4)).expect("an attachment")];
        let background = rng.below(200);
        let dirty = background + 1 + rng.below(200);
        let memory = format!(
            r#""background": "{background}KiB", "dirty": "{dirty}KiB", "expire": "{}us", "interval": "{}us""#,
            rng.below(3_000),
            rng.below(900) + 100
        );
        let number = rng.below(3) + 1;
        let (mut jobs, mut all) = (String::new(), 0);
        for job in 0..number {
            let (pages, count) = (rng.below(40) + 1, rng.below(60) + 1);
            let depth = rng.below(4) + 1;
            let class = ["rt", "be", "idle"][usize::try_from(rng.below(3)).expect("a class")];
            all += pages * count * 4_096;
            let comma = if job == 0 { "" } else { "," };
            jobs += &format!(
                r#"{comma} {{ "name": "{job}", "op": "write", "size": "{}KiB", "from": "{job}GiB", "count": {count}, "depth": {depth}, "class": "{class}", "buffered": true }}"#,
                pages * 4
            );
        }
        let scheduler = ["none", "k2", "k2-split", "k2-ahead", "mq-deadline", "kyber", "bfq"]
            [usize::try_from(rng.below(7)).expect("a scheduler")];
        let merge = rng.below(2) == 0;
        let text = format!(r#"{{ {}, "jobs": [{jobs}], "duration": "1s" }}"#, setup(attach, "", &memory));
        let requests = rng.below(30) + 16;
        let text = text.replace(r#""host": {"#, &format!(r#""host": {{ "requests": {requests}, "merge": {merge},"#));
        let scenario = read_scenario(&text, Some(scheduler)).expect("a scenario");
        let reports = run(&scenario, case).expect("a short run");
        let writeback = reports.last().expect("a flusher");
        assert_eq!((writeback.bytes, writeback.open), (all.into(), 0), "{case}: {scheduler} {text}");
        assert!(reports.iter().all(|report| report.open == 0), "{case}: {scheduler} {text}");
    }
}
