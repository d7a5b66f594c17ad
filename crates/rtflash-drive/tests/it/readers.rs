//! Readers of real excerpts, and what they refuse. The files were made on a loop device (kernel
//! 6.18, fio 3.33).

use std::fs;

use rtflash_drive::read::fio_json::{FioRun, LoggedJob};
use rtflash_drive::read::fio_log::{job_of, read_log};
use rtflash_drive::read::{TraceRead, read_trace};
use rtflash_drive::{Done, MeasurementRefused};
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
    assert_eq!((one.1[0].op, one.1[0].service(), one.0.resolution), (Op::Write, 250_001, 1));
    assert_eq!((other.0.seen.failed, other.0.seen.of_others, other.1.len()), (1, 1, 1));
    let skipped = blkparse.replace("Skips: 0", "Skips: 3");
    assert!(refusal(trace(&skipped)).contains("blktrace lost events"));
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
    // A JSON that says something else is not that of this log.
    let other = LoggedJob { has_offset: false, ..jobs[0].clone() };
    assert!(refusal(log(&text, &other)).contains("6 columns, and its JSON says 5"));
    let deep = LoggedJob { depth: 32, ..jobs[0].clone() };
    assert!(refusal(log(&text, &deep)).contains("--trace"));
}

#[test]
fn the_two_cases_are_refused() {
    let run = FioRun::read(&excerpt("fio-buffered.json")).expect("JSON of fio");
    assert_eq!(refusal(run.jobs()), "job `b` is buffered, so its log times the page cache: measure with direct=1");
    let job = FioRun::read(&excerpt("fio-jsonplus.json")).and_then(|run| run.jobs()).expect("jobs").remove(0);
    let windowed = refusal(log(&excerpt("fio-windowed.log"), &job));
    assert!(windowed.contains("log_avg_msec=0"), "{windowed}");
    let old = excerpt("fio-jsonplus.json").replace("fio-3.33", "fio-2.21");
    assert!(refusal(FioRun::read(&old)).contains("fio 3.28 or later"));
}

#[test]
fn issue_times_of_fio_3_38_are_exact() {
    let job = LoggedJob { name: "a".into(), log: None, has_offset: true, has_issue: true, depth: 1 };
    let all =
        log("1, 250000, 0, 4096, 8192, 0x0000, 1000000\n2, 300000, 1, 4096, 0, 0, 1500000\n", &job).expect("a log");
    assert_eq!((all[0].issued, all[0].ended, all[1].idle), (1_000_000, 1_250_000, 250_000));
}
