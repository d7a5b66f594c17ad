//! MMC cards: the driver that waits for each command, and what is said of attachments.

use rtflash_host::bound::{Why, bounds};
use rtflash_host::run::{RunEvent, Scenario, Watch, read_scenario, run, run_watched};
use rtflash_model::Instant;

/// Four reads of 1 ms at the begin, and one in real time 0.5 ms later.
fn scenario(attach: &str, scheduler: &str) -> Result<Scenario, String> {
    let text = format!(
        r#"{{ "device": {{ "kind": "emmc", "attach": {attach}, "read": {{ "first": "1ms", "next": "1ms", "per_kib": "0us" }},
            "write": {{ "first": "1ms", "next": "1ms", "per_kib": "0us" }} }}, "scheduler": {scheduler},
        "jobs": [ {{ "name": "be", "op": "read", "size": "4KiB", "depth": 4, "count": 4 }},
            {{ "name": "rt", "op": "read", "size": "4KiB", "class": "rt", "phase": "500us", "count": 1 }} ],
        "duration": "10ms" }}"#
    );
    read_scenario(&text, None).map_err(|error| format!("{error:?}"))
}

/// The longest latency of a job, in microseconds.
fn longest(scenario: &Scenario, job: usize) -> u64 {
    let ns = run(scenario, 1).expect("a short run")[job].latencies.max();
    ns.expect("an I/O") / 1_000
}

/// The second process waits in the driver, the third one's command is put aside, and the fourth one
/// finds the driver busy by that. So the real-time read waits for three commands, and the process
/// that waits in the driver issues the third one, too: it sees the end of its own 1 ms late.
#[test]
fn a_process_that_waits_in_the_driver_issues_what_was_put_aside() {
    let k2 = r#"{ "name": "k2" }"#;
    let of = |attach: &str| scenario(attach, k2).expect("a scenario");
    assert_eq!((longest(&of(r#""usb""#), 1), longest(&of(r#""usb""#), 0)), (1_500, 5_000));
    assert_eq!((longest(&of(r#""mmc""#), 1), longest(&of(r#""mmc""#), 0)), (3_500, 5_000));
    let ends: Vec<u64> = {
        let report = run(&of(r#""mmc""#), 1).expect("a short run");
        let latencies = &report[0].latencies;
        (1..=4).filter_map(|quarter| latencies.percentile(quarter * 2_500)).map(|ns| ns / 1_000).collect()
    };
    assert_eq!(ends, [1_000, 2_000, 3_000, 5_000]);
}

/// K2 that lets one command out has a bound on such a card, and no other scheduler has.
#[test]
fn bounds_on_a_card_need_one_command_at_a_time() {
    let why = |scheduler: &str, attach: &str| {
        let scenario = scenario(attach, scheduler).expect("a scenario");
        bounds(&scenario).remove(0).terms.err().map(|why| (why.is_open(), why))
    };
    for scheduler in [r#""none""#, r#""mq-deadline""#, r#"{ "name": "k2", "max_inflight": 2 }"#] {
        assert_eq!(why(scheduler, r#""mmc""#), Some((true, Why::List)), "{scheduler}");
        assert_eq!(why(scheduler, r#""mmc-cqe""#), None, "{scheduler}");
    }
    assert_eq!(why(r#"{ "name": "k2", "max_inflight": 1 }"#, r#""mmc""#), None);
}

/// A card without command queueing has the driver's 64 tags, and one with it 3 to 32.
#[test]
fn the_depth_of_a_card_follows_its_attachment() {
    for (attach, tags) in [(r#""mmc""#, 64), (r#""mmc-cqe""#, 32), (r#""mmc-cqe", "depth": 3"#, 3)] {
        assert_eq!(scenario(attach, r#""none""#).map(|scenario| scenario.tags()), Ok(tags), "{attach}");
    }
    for attach in [r#""mmc", "depth": 1"#, r#""mmc-cqe", "depth": 2"#, r#""mmc-cqe", "depth": 33"#] {
        assert!(scenario(attach, r#""none""#).is_err(), "{attach}");
    }
}

/// Latencies of each job in microseconds, sorted.
struct Ends(Vec<Vec<u64>>);

impl Watch for Ends {
    fn see(&mut self, now: Instant, what: &RunEvent<'_>) {
        if let RunEvent::Finished { job, released, .. } = *what {
            self.0[job].push(now.since(released).as_ns() / 1_000);
            self.0[job].sort_unstable();
        }
    }
}

fn ends(attach: &str, [read, write]: [&str; 2], host: &str, scheduler: &str, jobs: &[Short]) -> Vec<Vec<u64>> {
    let time = |first: &str| format!(r#"{{ "first": "{first}", "next": "{first}", "per_kib": "0us" }}"#);
    let (read, write) = (time(read), time(write));
    let jobs = jobs.iter().map(Short::text).collect::<Vec<_>>().join(", ");
    let text = format!(
        r#"{{ "device": {{ "kind": "emmc", "attach": {attach}, "read": {read}, "write": {write} }}, "host": {{ {host} }},
            "scheduler": {scheduler}, "jobs": [{jobs}], "duration": "300ms" }}"#
    );
    let scenario = read_scenario(&text, None).unwrap_or_else(|wrong| panic!("{wrong}\n{text}"));
    let mut ends = Ends(vec![Vec::new(); scenario.jobs.len()]);
    run_watched(&scenario, 1, &mut ends).expect("a short run");
    ends.0
}

/// A job of short I/Os.
struct Short {
    name: &'static str,
    op: &'static str,
    class: &'static str,
    /// In microseconds.
    phase: u32,
    depth: u32,
    count: u32,
    kib: u32,
    more: &'static str,
}

impl Short {
    fn text(&self) -> String {
        let Short { name, op, class, phase, depth, count, kib, more } = self;
        let at = name.as_bytes()[0] - b'a';
        format!(
            r#"{{ "name": "{name}", "op": "{op}", "size": "{kib}KiB", "class": "{class}", "phase": "{phase}us",
                "from": "{at}GiB", "depth": {depth}, "count": {count}{more} }}"#
        )
    }
}

const READS: Short = Short { name: "a", op: "read", class: "be", phase: 0, depth: 1, count: 1, kib: 4, more: "" };
const WRITES: Short = Short { op: "write", ..READS };
const ASYNC: &str = r#", "submit": "async""#;

/// Linux 6.12.117 has these latencies in the guest of tests/linux, within 0.1 %. Each scenario
/// needs other parts of the driver.
#[test]
fn runs_of_the_queue_are_those_of_the_kernel() {
    type Row =
        (&'static str, [&'static str; 2], &'static str, &'static str, &'static [Short], &'static [&'static [u64]]);
    let table: [Row; 7] = [
        (
            "lists of one command",
            ["3ms", "1ms"],
            "",
            r#""mq-deadline""#,
            &[
                Short { phase: 2_600, depth: 4, count: 4, ..READS },
                Short { name: "b", class: "rt", phase: 5_700, ..READS },
                Short { name: "c", phase: 1_300, ..READS },
            ],
            &[&[4_700, 7_700, 10_700, 17_400], &[10_600], &[3_000]],
        ),
        (
            "a worker",
            ["3ms", "1ms"],
            "",
            r#""mq-deadline""#,
            &[
                Short { phase: 1_300, ..WRITES },
                Short {
                    name: "b",
                    class: "idle",
                    phase: 400,
                    depth: 4,
                    count: 5,
                    more: r#", "submit": "async", "think": "1100us""#,
                    ..WRITES
                },
            ],
            &[&[4_100], &[3_000, 3_000, 3_000, 4_000, 4_500]],
        ),
        (
            "no scheduler",
            ["3ms", "1ms"],
            "",
            r#""none""#,
            &[Short { phase: 400, ..READS }, Short { name: "b", depth: 3, count: 3, ..WRITES }],
            &[&[5_600], &[1_000, 2_000, 3_000]],
        ),
        (
            "a process that waits for a tag",
            ["1ms", "10ms"],
            r#", "requests": [256, 4]"#,
            r#""mq-deadline""#,
            &[
                Short { depth: 3, count: 2, more: ASYNC, ..WRITES },
                Short { name: "b", phase: 2_600, depth: 3, count: 4, more: ASYNC, ..WRITES },
            ],
            &[&[10_000, 20_000], &[27_400, 30_000, 37_400, 47_400]],
        ),
        (
            "lists of several commands again",
            ["1ms", "10ms"],
            "",
            r#"{"name": "mq-deadline", "prio_aging_expire": "8ms"}"#,
            &[
                Short { class: "idle", phase: 5_700, depth: 3, count: 2, more: ASYNC, ..READS },
                Short { name: "b", phase: 2_600, depth: 4, count: 4, ..READS },
                Short { name: "c", class: "rt", phase: 1_300, depth: 3, count: 3, ..READS },
            ],
            &[&[6_300, 7_300], &[4_100, 5_100, 6_100, 7_100], &[1_000, 2_000, 3_000]],
        ),
        (
            "3 ms behind a list aside",
            ["1ms", "10ms"],
            r#", "requests": [256, 6]"#,
            r#""mq-deadline""#,
            &[
                Short { phase: 2_600, depth: 4, count: 8, more: ASYNC, ..READS },
                Short { name: "b", class: "rt", phase: 1_300, count: 4, more: r#", "think": "3700us""#, ..WRITES },
                Short { name: "c", depth: 3, count: 3, ..WRITES },
            ],
            &[
                &[16_000, 16_000, 16_000, 28_000, 40_400, 41_400, 42_400, 43_400],
                &[10_000, 11_300, 12_300, 38_700],
                &[10_000, 20_000, 30_000],
            ],
        ),
        (
            "3 ms after which the driver is still busy",
            ["1ms", "10ms"],
            r#", "requests": [128, 256]"#,
            r#""mq-deadline""#,
            &[
                Short {
                    class: "idle",
                    phase: 4_100,
                    depth: 8,
                    count: 8,
                    more: r#", "submit": "async", "think": "1007us""#,
                    ..READS
                },
                Short { name: "b", phase: 25_200, ..WRITES },
                Short { name: "c", phase: 300, depth: 2, count: 2, ..WRITES },
                Short { name: "d", class: "idle", phase: 18_400, ..READS },
                Short { name: "e", phase: 600, count: 2, more: r#", "think": "1047us""#, ..READS },
            ],
            &[
                &[20_900, 21_900, 22_900, 35_900, 36_900, 37_900, 38_900, 39_900],
                &[11_800],
                &[10_000, 20_000],
                &[26_600],
                &[1_000, 20_700],
            ],
        ),
    ];
    for (name, times, host, scheduler, jobs, expected) in table {
        let host = format!(r#""hz": 1000{host}"#);
        assert_eq!(ends(r#""mmc""#, times, &host, scheduler, jobs), expected, "{name}");
    }
}

/// A process that finds no tag runs the queue itself, so it can wait in the driver, too. Linux
/// 6.12.117 has these latencies in the guest of tests/linux, within 0.1 %.
#[test]
fn a_process_that_finds_no_tag_runs_the_queue() {
    type Row = (&'static str, [&'static str; 2], u32, &'static [Short], &'static [&'static [u64]]);
    let table: [Row; 4] = [
        // It runs the queue without what is in its plug.
        (
            r#""mq-deadline""#,
            ["3ms", "1ms"],
            6,
            &[
                Short { phase: 5_100, count: 2, more: r#", "think": "1130us""#, ..READS },
                Short { name: "b", class: "rt", phase: 5_400, depth: 6, count: 6, more: ASYNC, ..WRITES },
                Short { name: "c", phase: 700, depth: 3, count: 3, ..WRITES },
            ],
            &[&[3_000, 10_770], &[3_700, 4_700, 5_700, 6_700, 7_700, 8_700], &[1_000, 2_000, 3_000]],
        ),
        (
            r#""mq-deadline""#,
            ["1ms", "10ms"],
            4,
            &[
                Short { class: "idle", phase: 400, depth: 6, count: 6, ..WRITES },
                Short { name: "b", phase: 5_800, count: 2, ..WRITES },
            ],
            &[&[10_000, 20_000, 30_000, 40_000, 50_000, 60_000], &[10_000, 64_600]],
        ),
        (
            r#""mq-deadline""#,
            ["3ms", "1ms"],
            8,
            &[
                Short { phase: 100, depth: 3, count: 3, ..WRITES },
                Short { name: "b", phase: 400, depth: 6, count: 6, more: ASYNC, ..READS },
                Short { name: "c", class: "rt", phase: 700, depth: 6, count: 6, more: ASYNC, ..READS },
            ],
            &[
                &[1_000, 2_000, 3_000],
                &[5_700, 8_700, 30_600, 33_600, 36_600, 39_600],
                &[14_400, 14_400, 17_400, 20_400, 23_400, 26_400],
            ],
        ),
        (
            r#""kyber""#,
            ["1ms", "10ms"],
            6,
            &[
                Short { class: "rt", phase: 2_600, depth: 6, count: 6, ..READS },
                Short { name: "b", phase: 5_800, depth: 6, count: 6, more: ASYNC, ..READS },
                Short { name: "c", class: "idle", phase: 5_900, depth: 3, count: 3, ..WRITES },
            ],
            &[
                &[1_000, 2_000, 3_000, 4_000, 5_000, 6_000],
                &[5_800, 5_800, 5_800, 6_800, 37_800, 38_800],
                &[16_700, 26_700, 36_700],
            ],
        ),
    ];
    for (scheduler, times, tags, jobs, expected) in table {
        let host = format!(r#""hz": 1000, "requests": [256, {tags}]"#);
        assert_eq!(ends(r#""mmc""#, times, &host, scheduler, jobs), expected, "{scheduler}, {tags} tags");
    }
}

/// Four commands have the tags of such a card, and a fifth one waits for a tag outside the
/// scheduler. The guest has these latencies, too.
#[test]
fn a_command_waits_for_a_tag_of_the_card() {
    let jobs = [Short { depth: 6, count: 6, ..READS }, Short { name: "b", class: "rt", phase: 500, ..READS }];
    let found = ends(r#""mmc-cqe", "depth": 4"#, ["1ms", "2ms"], "", r#""mq-deadline""#, &jobs);
    assert_eq!(found, [vec![1_000, 2_000, 3_000, 4_000, 5_000, 7_000], vec![5_500]]);
}

/// K2 has one command inside and nothing for the second run. The end of the command runs the queue.
#[test]
fn a_scheduler_that_keeps_all_is_asked_at_the_end() {
    let k2 = r#"{ "name": "k2", "max_inflight": 1 }"#;
    assert_eq!(ends(r#""mmc""#, ["1ms"; 2], "", k2, &[Short { depth: 2, count: 2, ..READS }]), [[1_000, 2_000]]);
}

/// A list has the 64 tags and a command that waits for one; the command that runs holds a tag. So
/// 65 commands go ahead of the real-time read, or 64. The guest has these latencies, too.
#[test]
fn a_list_has_the_tags_of_the_driver() {
    let jobs = [
        Short { class: "rt", ..WRITES },
        Short { name: "b", phase: 1_300, depth: 80, count: 80, ..READS },
        Short { name: "c", class: "rt", phase: 20_400, ..READS },
    ];
    let times = ["1ms", "10ms"];
    let longest = |scheduler: &str, host: &str| {
        let ends = ends(r#""mmc""#, times, &format!(r#""hz": 1000{host}"#), scheduler, &jobs);
        [ends[1].len() as u64, ends[1][79], ends[2][0]]
    };
    assert_eq!(longest(r#""mq-deadline""#, ""), [80, 95_700, 58_600]);
    // All are as old while the write runs.
    assert_eq!(longest(r#"{"name": "mq-deadline", "prio_aging_expire": "3ms"}"#, ""), [80, 88_700, 70_600]);
    // The delay alone asks again: the write's completion does not end it, 50 us later.
    assert_eq!(longest(r#""mq-deadline""#, r#", "turnaround": "50us""#), [80, 99_400, 61_850]);
    // A list is full while a command runs.
    let jobs = [
        Short { phase: 100, depth: 100, count: 100, ..READS },
        Short { name: "b", class: "rt", phase: 60_400, ..READS },
        Short { name: "c", phase: 90_700, depth: 40, count: 40, more: ASYNC, ..READS },
    ];
    let found = ends(r#""mmc""#, times, r#""hz": 1000"#, r#""mq-deadline""#, &jobs);
    assert_eq!([found[0][99], found[1][0], found[2][0]], [103_900, 14_700, 14_300]);
}

/// Under `none` a process that finds none of the 64 tags leaves its plug to the software queue and
/// the worker. First, middle and last latencies are those of the guest, within 0.1 %.
#[test]
fn a_process_that_sleeps_leaves_its_plug_to_the_worker() {
    let jobs = [
        Short { phase: 2_100, depth: 80, count: 80, more: ASYNC, ..WRITES },
        Short { name: "b", phase: 400, depth: 70, count: 70, more: ASYNC, ..READS },
    ];
    let found = ends(r#""mmc""#, ["3ms", "1ms"], r#""hz": 1000"#, r#""none""#, &jobs);
    let some = |of: &[u64]| [of[0], of[of.len() / 2], of[of.len() - 1]];
    assert_eq!(some(&found[0]), [118_300, 135_300, 204_300]);
    assert_eq!(some(&found[1]), [154_000, 164_000, 290_000]);
    // Its plug is empty as it goes on, so 32 further requests fit.
    let jobs = [
        Short { phase: 2_100, depth: 66, count: 66, more: ASYNC, ..READS },
        Short { name: "b", phase: 1_400, depth: 70, count: 70, more: ASYNC, ..READS },
        Short { name: "c", phase: 700, ..WRITES },
    ];
    let found = ends(r#""mmc""#, ["1ms", "2ms"], r#""hz": 1000"#, r#""none""#, &jobs);
    assert_eq!(some(&found[0]), [47_600, 66_600, 108_600]);
    assert_eq!(some(&found[1]), [75_300, 92_300, 137_300]);
    // It leaves its plug where it runs the queue and waits in the driver, too.
    let jobs = [
        Short { phase: 1_100, depth: 66, count: 66, more: ASYNC, ..READS },
        Short { name: "b", phase: 1_400, depth: 40, count: 40, ..WRITES },
    ];
    let found = ends(r#""mmc""#, ["1ms", "2ms"], r#""hz": 1000"#, r#""none""#, &jobs);
    assert_eq!(some(&found[0]), [123_000, 123_000, 146_000]);
    assert_eq!(some(&found[1]), [33_700, 73_700, 111_700]);
}

/// A process that submits 40 I/Os runs the queue after 32 of them, and sees no end before all 32
/// are issued. Up to two I/Os it submits one by one. The guest has these latencies, too.
#[test]
fn a_full_plug_runs_the_queue() {
    let jobs = |depth, count| {
        [
            Short { depth, count, more: ASYNC, ..READS },
            Short { name: "b", class: "rt", phase: 2_500, ..READS },
            Short { name: "c", phase: 3_700, ..WRITES },
        ]
    };
    let found = ends(r#""mmc""#, ["1ms", "2ms"], r#""hz": 1000"#, r#""mq-deadline""#, &jobs(40, 40));
    let all: Vec<u64> = std::iter::repeat_n(32_000, 32).chain((39..=46).map(|at| at * 1_000)).collect();
    assert_eq!(found, [all, vec![30_500], vec![34_300]]);
    let found = ends(r#""mmc""#, ["1ms", "2ms"], r#""hz": 1000"#, r#""mq-deadline""#, &jobs(2, 6));
    assert_eq!(found, [vec![1_000, 2_000, 2_000, 2_000, 6_000, 6_000], vec![2_500], vec![8_300]]);
}

/// A plug is full if its first request has 128 KiB, and the last one plays no part. A job goes
/// round through 192 KiB by I/Os of 64 KiB: its first request of the second round is one I/O alone.
/// One through 128 KiB begins that round with its second I/O, and the next one lies ahead of it.
/// The guest has these latencies.
#[test]
fn the_first_request_of_a_plug_says_that_it_is_full() {
    let found = |more, depth, count| {
        let jobs = [Short { depth, count, kib: 64, more, ..READS }];
        ends(r#""mmc""#, ["1ms", "2ms"], r#""hz": 1000, "merge": true"#, r#""mq-deadline""#, &jobs).remove(0)
    };
    let alike = |groups: &[(usize, u64)]| -> Vec<u64> {
        groups.iter().flat_map(|&(number, ms)| std::iter::repeat_n(ms * 1_000, number)).collect()
    };
    assert_eq!(found(r#", "submit": "async", "span": "192KiB""#, 8, 16), alike(&[(7, 2), (6, 3), (3, 5)]));
    assert_eq!(found(r#", "submit": "async", "span": "128KiB""#, 7, 14), alike(&[(1, 2), (10, 3), (2, 4), (1, 6)]));
}

/// Under `none` a process itself issues the commands that it submits together. If the driver is
/// busy, it leaves all but the first to the software queue. The guest has these latencies, too.
#[test]
fn the_software_queue_is_that_of_the_kernel() {
    let jobs = [
        Short { depth: 3, count: 3, more: ASYNC, ..READS },
        Short { name: "b", phase: 400, depth: 3, count: 3, more: ASYNC, ..WRITES },
        Short { name: "c", phase: 700, depth: 4, count: 4, more: ASYNC, ..READS },
    ];
    let found = ends(r#""mmc""#, ["3ms", "1ms"], r#""hz": 1000"#, r#""none""#, &jobs);
    assert_eq!(found, [vec![6_000, 6_000, 9_000], vec![9_600, 13_600, 14_600], vec![12_300, 17_300, 20_300, 23_300]]);
}

/// A process that was woken for a tag runs the queue before it takes that. So a command that a
/// real-time one has hidden goes ahead of its own. The guest has these latencies, too.
#[test]
fn a_process_that_wakes_up_asks_before_it_takes_a_tag() {
    let jobs = [
        Short { class: "rt", ..WRITES },
        Short { name: "b", phase: 300, ..WRITES },
        Short { name: "c", class: "rt", phase: 700, depth: 2, count: 2, ..WRITES },
        Short { name: "d", phase: 800, ..READS },
    ];
    let host = r#""hz": 1000, "requests": [2, 256]"#;
    let found = ends(r#""tags", "depth": 1"#, ["1ms", "2ms"], host, r#""mq-deadline""#, &jobs);
    assert_eq!(found, [vec![2_000], vec![3_700], vec![6_300, 8_300], vec![4_200]]);
}
