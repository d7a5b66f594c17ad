//! Readers of real excerpts, and what they refuse. The files were made on a loop device (kernel
//! 6.18, fio 3.33).

use std::fs;
use std::num::NonZeroU32;

use rtflash_drive::read::fio_json::{FioRun, LoggedJob};
use rtflash_drive::read::fio_log::{job_of, read_log};
use rtflash_drive::read::{TraceRead, read_trace};
use rtflash_drive::{Done, DriveSample, MeasurementRefused, add_trace};
use rtflash_host::Op;

fn excerpt(name: &str) -> String {
    fs::read_to_string(format!("{}/tests/measured/{name}", env!("CARGO_MANIFEST_DIR"))).expect("an excerpt")
}

fn trace(text: &str) -> Result<(TraceRead, Vec<Done>), MeasurementRefused> {
    let mut all = Vec::new();
    let read = read_trace(text.as_bytes(), None, |done| all.push(done))?;
    Ok((read, all))
}

fn log(text: &str, job: &LoggedJob) -> Result<Vec<Done>, MeasurementRefused> {
    let mut all = Vec::new();
    read_log(text.as_bytes(), job, |done| all.push(done))?;
    Ok(all)
}

fn refusal<T: std::fmt::Debug>(of: Result<T, MeasurementRefused>) -> String {
    of.expect_err("a refusal").0
}

#[test]
fn ftrace_at_depth_1_is_lone_commands() {
    let (read, all) = trace(&excerpt("ftrace-randread-qd1.txt")).expect("a trace");
    assert_eq!((read.seen.paired, read.refused, read.resolution), (300, 0, 1_000));
    // The first line: 16 KiB at sector 252968, from 4414.972255 to 4414.973688.
    let first = all[0];
    assert_eq!((first.op, first.size, first.from, first.service()), (Op::Read, 16_384, 252_968 * 512, 1_433_000));
    // Others were issued by a worker of io_uring.
    assert_eq!(all.iter().filter(|done| done.process == NonZeroU32::new(20_657)).count(), 262);
    // An I/O of 1 MiB went out as two commands: the second one continues the first.
    let parts: Vec<&Done> = all.iter().filter(|done| done.continues).collect();
    assert!(parts.len() > 10 && parts.iter().all(|done| done.size == 524_288 && done.others == 1), "{}", parts.len());
    assert_eq!(parts[0].service(), 4_414_978_108_000 - 4_414_977_550_000);
    assert!(all.iter().filter(|done| done.is_alone()).count() > 200);
}

#[test]
fn a_scheduler_s_insertions_are_passed_over() {
    let (read, all) = trace(&excerpt("ftrace-mq-deadline.txt")).expect("a trace");
    assert_eq!(read.refused, 0);
    let writes = all.iter().filter(|done| done.op == Op::Write).count();
    assert!(writes > 20 && writes < all.len() && all.iter().all(|done| done.size <= 524_288));
}

#[test]
fn ends_without_a_begin_are_those_in_flight_at_the_begin() {
    let (read, all) = trace(&excerpt("ftrace-qd32.txt")).expect("a trace");
    assert!((1..=32).contains(&read.seen.unpaired), "{:?}", read.seen);
    assert!((30..=34).contains(&read.seen.most_in_flight), "{:?}", read.seen);
    assert!(all.iter().all(|done| done.service() <= done.residence()));
}

#[test]
fn a_trace_that_lost_events_is_refused() {
    let text = excerpt("ftrace-randread-qd1.txt");
    let marked = format!("{text}CPU:1 [LOST 342 EVENTS]\n");
    assert!(refusal(trace(&marked)).contains("larger buffers"));
    // Without the mark, too: every fiftieth command has no end, or no begin.
    let command = |at: u64, event: &str| {
        let (seconds, us) = (at / 1_000, at % 1_000 * 1_000 + u64::from(event == "complete") * 300);
        format!("x-1 [000] ..... {seconds}.{us:06}: block_rq_{event}: 8,0 R () {} + 8 [x]\n", at * 8)
    };
    let whole = |lost: &str| -> String {
        let events = (1..3_000).flat_map(|at| [(at, "issue"), (at, "complete")]);
        events.filter(|&(at, event)| at % 50 != 0 || event != lost).map(|(at, event)| command(at, event)).collect()
    };
    assert_eq!(trace(&whole("")).expect("a trace").1.len(), 2_999);
    assert!(refusal(trace(&whole("complete"))).contains("lost events"));
    assert!(refusal(trace(&whole("issue"))).contains("lost events"));
    assert!(refusal(trace("cpu 1\nnothing\n")).contains("no trace of block commands"));
    // One processor behind another.
    assert!(refusal(trace(&whole("").repeat(2))).contains("times of the trace go back"));
    let ticks = "fio-1 [000] 123456789: block_rq_issue: 7,0 R 4096 () 8 + 8 [fio]\n";
    assert!(refusal(trace(ticks)).contains("-C mono"));
}

#[test]
fn perf_and_blkparse_say_the_same() {
    let perf = "fio  328 [000]  1.000000001: block:block_rq_issue: 8,0 WS 4096 () 8 + 8 [fio]\n\
        swapper 0 [001] 1.000250002: block:block_rq_complete: 8,0 WS () 8 + 8 [0]\n";
    let blkparse = "  8,0    1        1     1.000000001   328  Q  WS 8 + 8 [fio]\n\
          8,0    1        2     1.000000001   328  D  WS 8 + 8 [fio]\n\
          8,0    1        3     1.000000002   328  D  WS 4096 + 8 [fio]\n\
          8,16   1        9     1.000000002   328  D   R 8 + 8 [fio]\n\
          8,0    0        4     1.000250002     0  C  WS 8 + 8 [0]\n\
          8,0    0        5     1.000300000     0  C  WS 4096 + 8 [-5]\n\
        CPU0 (8,0):\n Reads Queued: 1\nSkips: 0 forward (0 -   0.0%)\n";
    let (one, other) = (trace(perf).expect("perf"), trace(blkparse).expect("blkparse"));
    assert_eq!(one.1, vec![Done { is_joined: false, ..other.1[0] }]);
    assert_eq!(one.1[0].process, NonZeroU32::new(328));
    assert_eq!((one.1[0].op, one.1[0].service(), one.0.resolution), (Op::Write, 250_001, 1));
    assert_eq!((other.0.seen.failed, other.0.seen.of_others, other.1.len()), (1, 1, 1));
    let skipped = blkparse.replace("Skips: 0", "Skips: 3");
    assert!(refusal(trace(&skipped)).contains("blktrace lost events"));
}

/// A process with its group of threads, a read and a write of one place in flight, and the commands
/// of other drives.
#[test]
fn lines_of_other_machines() {
    let line =
        |at: u64, event: &str, of: &str| format!("io-30 (   28) [001] .... 1.{at:06}: block_rq_{event}: {of} [io]\n");
    let text = [
        line(1, "issue", "8,0 WS 4096 () 32 + 8"),
        line(2, "issue", "8,0 R 4096 () 32 + 8"),
        line(5, "complete", "8,0 R () 32 + 8"),
        line(9, "complete", "8,0 WS () 32 + 8"),
        line(10, "complete", "8,0 WS () 32 + 0"),
    ];
    let (read, all) = trace(&text.concat()).expect("a trace");
    let times: Vec<_> = all.iter().map(|done| (done.op, done.process, done.residence())).collect();
    assert_eq!(
        (times, read.seen.unpaired),
        (vec![(Op::Read, NonZeroU32::new(30), 3_000), (Op::Write, NonZeroU32::new(30), 8_000)], 0)
    );
    let other = |at| line(at, "issue", "179,0 R 4096 () 32 + 8") + &line(at + 5, "complete", "179,0 R () 32 + 8");
    let few = text.concat() + &other(20) + &other(30);
    assert_eq!(trace(&few).expect("a trace").0.seen.of_others, 4);
    let many = few + &other(40);
    assert!(refusal(trace(&many)).contains("(2 of 8:0, 3 of 179:0): choose yours with --of"), "{many}");
    assert_eq!(read_trace(many.as_bytes(), Some((8, 0)), |_| {}).expect("a trace").seen.paired, 2);
}

#[test]
fn biosnoop_is_for_slow_drives() {
    let heading = "TIME(s)     COMM           PID     DISK      T SECTOR     BYTES  LAT(ms)\n";
    let slow = format!("{heading}0.010000    my job         1       mmcblk0   W 8192       4096   9.50\n");
    let (read, all) = trace(&slow).expect("a trace");
    assert_eq!(
        (all[0].residence(), all[0].from, all[0].op, read.resolution),
        (9_500_000, 8192 * 512, Op::Write, 10_000)
    );
    assert!(refusal(trace(&slow.replace("9.50", "0.12"))).contains("too coarse"));
    // Its times begin at the first end: what was issued before took all of its time.
    let first = slow.replace("0.010000", "0.000000");
    assert_eq!(trace(&first).expect("a trace").1[0].residence(), 9_500_000);
    // A flush has no disk, and 8 bytes.
    let flush = "0.020000    ?              0              R 0          8         2.89\n";
    assert_eq!(trace(&(slow.clone() + flush)).expect("a trace").1.len(), 1);
    let other = slow.lines().last().map_or_else(String::new, |line| line.replace("mmcblk0", "sda    "));
    assert!(refusal(trace(&(slow + &other))).contains("biosnoop -d sda"));
}

#[test]
fn fio_s_log_is_read_by_its_json() {
    let run = FioRun::read(&excerpt("fio-jsonplus.json")).expect("JSON of fio");
    let jobs = run.jobs().expect("direct I/O");
    assert_eq!((jobs[0].has_offset, jobs[0].has_issue, jobs[0].depth), (true, false, 1));
    let text = excerpt("fio-lat-offset-prio.log");
    let all = log(&text, job_of("l_r_lat.1.log", &jobs).expect("a job")).expect("a log");
    assert_eq!((all.len(), all[0].residence(), all[0].size, all[0].from), (400, 3_845_036, 16_384, 129_519_616));
    // Times in milliseconds overlap: one command at a time takes what fio says, all of it.
    assert!(all.iter().all(|done| done.service() == done.residence()));
    // Quantiles of json+: 30,001 I/Os, half of them within fio's own median of `lat`.
    let bins = run.bins().expect("bins");
    assert_eq!((bins[0].op, bins[0].count()), (Op::Read, 30_001));
    assert_eq!(bins[0].percentile(5_000), Some(70_144));
    // Behind a think time the drive was idle.
    assert!(jobs[0].think == 0 && all.iter().all(|done| done.idle == 0));
    let thinks = log(&text, &LoggedJob { think: 2_000_000, ..jobs[0].clone() }).expect("a log");
    assert!(thinks.iter().all(|done| done.idle == 2_000_000));
    // A JSON that says something else is not that of this log.
    let other = LoggedJob { has_offset: false, ..jobs[0].clone() };
    assert!(refusal(log(&text, &other)).contains("6 columns, and its JSON says 5"));
    let deep = LoggedJob { depth: 32, ..jobs[0].clone() };
    assert!(refusal(log(&text, &deep)).contains("--trace"));
    // Clones run beside each other.
    let cloned =
        excerpt("fio-jsonplus.json").replace("\"iodepth\" : \"1\"", "\"iodepth\" : \"2\", \"numjobs\" : \"4\"");
    assert_eq!(FioRun::read(&cloned).and_then(|run| run.jobs()).expect("jobs")[0].depth, 8);
    // A log in microseconds is that of an older fio.
    let in_us = text.lines().map(|line| {
        let (ms, rest) = line.split_once(", ").expect("columns");
        let (ns, rest) = rest.split_once(", ").expect("columns");
        format!("{ms}, {}, {rest}\n", ns.parse::<u64>().expect("a time") / 1_000)
    });
    let wrong = refusal(log(&in_us.collect::<String>(), &jobs[0]));
    assert!(wrong.contains("ns, and its JSON says 701 to "), "{wrong}");
}

/// Files of a recorder, and compressed ones, are named with the command that makes text of them.
#[test]
fn files_that_are_no_text_are_named() {
    let files: [(&[u8], &str); 7] = [
        (b"\x1f\x8b\x08\x00", "`gunzip`"),
        (b"\xfd7zXZ\x00", "`xz -d`"),
        (b"\x28\xb5\x2f\xfd\x04", "`zstd -d`"),
        (b"BZh91AY", "`bunzip2`"),
        (b"\x17\x08\x44tracing6", "`trace-cmd report`"),
        (b"PERFILE2h\x00", "`perf script`"),
        (b"\x07tae\x01\x00", "`blkparse`"),
    ];
    for (bytes, what) in files {
        let found = refusal(add_trace(&mut DriveSample::default(), "t.dat", bytes, None));
        assert!(found.starts_with("t.dat: the file is ") && found.contains(what), "{found}");
    }
    assert!(refusal(add_trace(&mut DriveSample::default(), "t", &b"\x00\x00"[..], None)).contains("no trace"));
}

#[test]
fn the_two_cases_are_refused() {
    let run = FioRun::read(&excerpt("fio-buffered.json")).expect("JSON of fio");
    assert_eq!(refusal(run.jobs()), "job `b` is buffered, so its log times the page cache: measure with direct=1");
    let job = FioRun::read(&excerpt("fio-jsonplus.json")).and_then(|run| run.jobs()).expect("jobs").remove(0);
    for kind in ["bw", "iops", "slat"] {
        let named = refusal(job_of(&format!("l_r_{kind}.1.log"), std::slice::from_ref(&job)));
        assert!(named.contains("`_lat.`"), "{named}");
    }
    let windowed = refusal(log(&excerpt("fio-windowed.log"), &job));
    assert!(windowed.contains("log_avg_msec=0"), "{windowed}");
    let old = excerpt("fio-jsonplus.json").replace("fio-3.33", "fio-2.21");
    assert!(refusal(FioRun::read(&old)).contains("fio 3.28 or later"));
}

/// The formats of `flush_samples` (fio's iolog.c): 3.28 to 3.37 without the time of issue, with or
/// without offset, the priority as a number or in hexadecimal digits; 3.38 and later with it.
#[test]
fn formats_of_other_fio_versions() {
    let read = |text: &str, has_offset: bool, has_issue: bool| {
        let job =
            LoggedJob { name: "a".into(), log: None, has_offset, has_issue, depth: 1, extremes: [None; 2], think: 0 };
        log(text, &job).map(|all| (all[0].residence(), all[0].size, all[0].from, all[0].issued))
    };
    let before = 3_600_000_000_000;
    let at = 5_000_000 - 250_000 + before;
    assert_eq!(read("5, 250000, 0, 4096, 0\n", false, false), Ok((250_000, 4_096, 0, at)));
    assert_eq!(read("5, 250000, 0, 4096, 0x2004\n", false, false), Ok((250_000, 4_096, 0, at)));
    assert_eq!(read("5, 250000, 0, 4096, 8192, 1\n", true, false), Ok((250_000, 4_096, 8_192, at)));
    assert_eq!(read("5, 250000, 0, 4096, 8192, 0x2004\n", true, false), Ok((250_000, 4_096, 8_192, at)));
    assert_eq!(read("5, 250000, 0, 4096, 0x2004, 4750000\n", false, true), Ok((250_000, 4_096, 0, 4_750_000)));
    // A log of latency has the column of issue times, and 0 in it: milliseconds count.
    assert_eq!(read("5, 250000, 0, 4096, 8192, 0x2004, 0\n", true, true), Ok((250_000, 4_096, 8_192, at)));
    for (given, ns) in [("2000", 2_000_000), ("2ms", 2_000_000), ("1s", 1_000_000_000), ("1x", 0)] {
        let option = format!("\"thinktime\" : \"{given}\", \"log_avg_msec\" : \"0\"");
        let json = excerpt("fio-jsonplus.json").replace("\"log_avg_msec\" : \"0\"", &option);
        assert_eq!(FioRun::read(&json).and_then(|run| run.jobs()).expect("jobs")[0].think, ns, "{given}");
    }
    // Before 3.28 there was no priority.
    assert!(refusal(read("5, 250000, 0, 4096\n", false, false)).contains("fio 3.28 or later"));
    // `log_window_value=both` (3.37) has a column more.
    let windows = excerpt("fio-jsonplus.json").replace("\"log_avg_msec\" : \"0\"", "\"log_avg_msec\" : \"500\"");
    for version in ["fio-3.28", "fio-3.33", "fio-3.41", "fio-3.38-12-gabcdef"] {
        let run = FioRun::read(&excerpt("fio-jsonplus.json").replace("fio-3.33", version)).expect("JSON of fio");
        assert_eq!((run.jobs().expect("jobs").len(), run.bins().expect("bins").len()), (1, 1));
        let run = FioRun::read(&windows.replace("fio-3.33", version)).expect("JSON of fio");
        assert!(refusal(run.jobs()).contains("log_avg_msec=0"));
    }
}

/// The rest of a cut I/O is a part of it, when it is issued after the first part has ended, too.
#[test]
fn the_rest_of_a_cut_io_continues_it() {
    let event = |us: u64, what: &str| format!("fio-1 [000] ..... 1.{us:06}: {what} [fio]\n");
    let parts = [
        event(1, "block_split: 7,0 R 0 / 1024"),
        event(2, "block_rq_issue: 7,0 R 524288 () 0 + 1024 be,0,4"),
        event(300, "block_rq_complete: 7,0 R () 0 + 1024 be,0,4"),
        event(340, "block_rq_issue: 7,0 R 524288 () 1024 + 1024 be,0,4"),
        event(640, "block_rq_complete: 7,0 R () 1024 + 1024 be,0,4"),
        // The next one begins there by chance: it is an I/O of its own.
        event(700, "block_rq_issue: 7,0 R 4096 () 2048 + 8 be,0,4"),
        event(800, "block_rq_complete: 7,0 R () 2048 + 8 be,0,4"),
    ];
    let continues = |text: &str| trace(text).expect("a trace").1.iter().map(|done| done.continues).collect::<Vec<_>>();
    assert_eq!(continues(&parts.concat()), [false, true, false]);
    assert_eq!(continues(&parts[1..].concat()), [false, false, false], "without the event nothing says so");
    let blkparse = "  7,0 1 1 1.000000001 328 X R 0 / 1024 [fio]\n  7,0 1 2 1.000000002 328 D R 0 + 1024 [fio]\n\
          7,0 1 3 1.000300000 0 C R 0 + 1024 [0]\n  7,0 1 4 1.000340000 328 D R 1024 + 1024 [fio]\n\
          7,0 1 5 1.000640000 0 C R 1024 + 1024 [0]\n";
    assert_eq!(continues(blkparse), [false, true]);
}

#[test]
fn issue_times_of_fio_3_38_are_exact() {
    let job = LoggedJob {
        name: "a".into(),
        log: None,
        has_offset: true,
        has_issue: true,
        depth: 1,
        extremes: [None; 2],
        think: 0,
    };
    let all =
        log("1, 250000, 0, 4096, 8192, 0x0000, 1000000\n2, 300000, 1, 4096, 0, 0, 1500000\n", &job).expect("a log");
    assert_eq!((all[0].issued, all[0].ended, all[1].idle), (1_000_000, 1_250_000, 250_000));
}
