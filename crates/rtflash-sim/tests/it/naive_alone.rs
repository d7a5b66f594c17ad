//! The twin on its own: schedules short enough to be worked out by hand, and what no schedule may
//! do.

use rtflash_testkit::ns;
use std::collections::HashMap;

use rtflash_model::{
    Allocation, Arrivals, ChipId, Cluster, ClusterId, Device, DeviceSpec, Instant, Job, LogicalRatio, Lpn, Request,
    Task, TaskId, TaskSet,
};
use rtflash_plan::{
    Aging, Arrival, BlockId, ClusterTerms, Dispatch, Grant, Options, Pattern, Period, Plan, Service, SourceId, Timing,
    Victims,
};
use rtflash_trace::{Action, JobId, Kind, NONE, Record};

/// t_r = 3, t_w = 5, t_e = 9, t_d = 1; P = 4, half of them valid: α = 2. All chips on one channel.
fn device(chips: u32, blocks: u32) -> Device {
    Device::new(DeviceSpec {
        chips,
        chips_per_channel: chips,
        blocks_per_chip: blocks,
        pages_per_block: 4,
        page_size: 512,
        logical_ratio: LogicalRatio::HALF,
        page_read: ns(3),
        page_program: ns(5),
        block_erase: ns(9),
        page_transfer: ns(1),
        ..DeviceSpec::default()
    })
    .unwrap()
}

fn at(nanoseconds: u64) -> Instant {
    Instant::from_ns(nanoseconds).unwrap()
}

/// A task of (pages, period) each.
fn task(name: &str, read: Option<(u64, u64)>, write: Option<(u64, u64)>) -> Task {
    let request = |(pages, period)| Request::new(pages, ns(period)).unwrap();
    Task { name: name.into(), read: read.map(request), write: write.map(request), data_pages: None }
}

/// A plan in which the cluster of each (chips, tasks) serves these; T^g is the same, numerator and
/// denominator, for all writers.
fn plan(device: Device, tasks: Vec<Task>, jobs: Vec<Job>, clusters: &[(&[u32], &[u32])], gc: (u128, u128)) -> Plan {
    let costs = Timing::new(device.page_read(), device.page_program(), device.page_transfer()).unwrap();
    let set = TaskSet::new(device, tasks, jobs).unwrap();
    let clusters: Vec<Cluster> =
        clusters.iter().map(|(chips, tasks)| Cluster::of(chips.iter().copied(), tasks.iter().copied())).collect();
    let allocation = Allocation::new(device.chips(), set.tasks().len(), &clusters).unwrap();
    let terms: Vec<ClusterTerms> = clusters
        .iter()
        .map(|cluster| {
            let period = |&task: &TaskId| set.tasks()[task].write.and_then(|_| Period::new(gc.0, gc.1));
            ClusterTerms::Utilization { page_delay: ns(0), gc_periods: cluster.tasks.iter().map(period).collect() }
        })
        .collect();
    Plan::new(&set, &allocation, costs, &terms).unwrap()
}

fn options(duration: u64, dispatch: Dispatch) -> Options {
    Options {
        times: rtflash_plan::Times::Worst,
        duration: at(duration),
        dispatch,
        service: Service::Tbs,
        victims: Victims::Actual,
        aging: Aging::Worst,
        pattern: Pattern::Sequential,
        seed: 7,
        ..Options::default()
    }
}

/// The records, a line each.
fn lines(plan: &Plan, options: &Options, arrivals: &[Arrival]) -> Vec<String> {
    let name = |job: JobId| plan.job_name(job);
    let line = |record: &Record| match record {
        Record::Release(it) => {
            format!("{} release {} due {:?}", it.at.as_ns(), name(it.job), it.deadline.map(Instant::as_ns))
        }
        Record::Complete(it) => format!("{} complete {}", it.at.as_ns(), name(it.job)),
        Record::Starved(it) => format!("{} starved {} chip {}", it.at.as_ns(), name(it.job), it.chip),
        Record::Operation(it) => {
            let what = match it.action {
                Action::Read => "read",
                Action::Program => "program",
                Action::Erase | Action::ErasePart => "erase",
            };
            let page = if it.page == NONE { String::new() } else { format!(".{} = {}", it.page, it.lpn) };
            let (start, end) = (it.start.as_ns(), it.end.as_ns());
            format!("{start}-{end} chip {} {what} {}{page} {}", it.chip, it.block, name(it.job))
        }
        Record::Transfer(it) => format!("{}-{} bus chip {}", it.start.as_ns(), it.end.as_ns(), it.chip),
        _ => unreachable!("it tells of events alone"),
    };
    crate::naive::run(plan, options, arrivals).iter().map(line).collect()
}

#[test]
fn a_reader() {
    let plan = plan(device(1, 12), vec![task("a", Some((2, 20)), None)], vec![], &[(&[0], &[0])], (1, 1));
    // 9 data blocks, 18 logical pages, which go round the blocks.
    let expected = [
        "0 release a.read#0 due Some(20)",
        "0-3 chip 0 read 0.0 = 0 a.read#0",
        "2-3 bus chip 0",
        "3-6 chip 0 read 1.0 = 1 a.read#0",
        "5-6 bus chip 0",
        "6 complete a.read#0",
    ];
    assert_eq!(lines(&plan, &options(20, Dispatch::Serial), &[]), expected);
    assert_eq!(lines(&plan, &options(20, Dispatch::Parallel), &[]), expected);
}

#[test]
fn a_run_that_ends_within_an_operation() {
    let plan = plan(device(1, 12), vec![task("a", Some((2, 20)), None)], vec![], &[(&[0], &[0])], (1, 1));
    let lines = |duration| lines(&plan, &options(duration, Dispatch::Serial), &[]);
    assert_eq!(
        lines(4)[1..],
        ["0-3 chip 0 read 0.0 = 0 a.read#0", "2-3 bus chip 0", "3-6 chip 0 read 1.0 = 1 a.read#0", "5-6 bus chip 0"]
    );
    assert_eq!(lines(3)[1..], ["0-3 chip 0 read 0.0 = 0 a.read#0", "2-3 bus chip 0"]);
    assert_eq!(lines(6).last().unwrap(), "6 complete a.read#0");
    assert!(lines(0).is_empty());
}

#[test]
fn a_writer_with_gc() {
    let plan = plan(device(1, 12), vec![task("a", None, Some((2, 100)))], vec![], &[(&[0], &[0])], (50, 1));
    // R = 2 + 2 + 8 = 12 pages, as many as are free at the start: GC has to run. Blocks 0 to 8 hold
    // two valid pages each.
    let expected = [
        "0 release a.write#0 due Some(100)",
        "0 release a.gc#0 due Some(50)",
        "0-3 chip 0 read 0.0 = 0 a.gc#0",
        "3-8 chip 0 program 9.0 = 0 a.gc#0",
        "8-11 chip 0 read 0.1 = 9 a.gc#0",
        "11-16 chip 0 program 9.1 = 9 a.gc#0",
        "16-25 chip 0 erase 0 a.gc#0",
        "25 complete a.gc#0",
        "25-30 chip 0 program 0.0 = 0 a.write#0",
        "25-26 bus chip 0",
        "30-35 chip 0 program 0.1 = 1 a.write#0",
        "30-31 bus chip 0",
        "35 complete a.write#0",
        // Block 1 has lost its logical page 1.
        "50 release a.gc#1 due Some(100)",
        "50-53 chip 0 read 1.1 = 10 a.gc#1",
        "53-58 chip 0 program 9.2 = 10 a.gc#1",
        "58-67 chip 0 erase 1 a.gc#1",
        "67 complete a.gc#1",
    ];
    assert_eq!(lines(&plan, &options(100, Dispatch::Serial), &[]), expected);
    assert_eq!(lines(&plan, &options(100, Dispatch::Parallel), &[]), expected);
    // The worst victims: block 1 has one valid page, so its copy is copied again.
    let worst = Options { victims: Victims::Worst, ..options(100, Dispatch::Serial) };
    let expected_worst = [
        "50-53 chip 0 read 1.1 = 10 a.gc#1",
        "53-58 chip 0 program 9.2 = 10 a.gc#1",
        "58-61 chip 0 read 9.2 = 10 a.gc#1",
        "61-66 chip 0 program 9.3 = 10 a.gc#1",
        "66-75 chip 0 erase 1 a.gc#1",
        "75 complete a.gc#1",
    ];
    assert_eq!(lines(&plan, &worst, &[])[..14], expected[..14]);
    assert_eq!(lines(&plan, &worst, &[])[14..], expected_worst);
    assert_eq!(lines(&plan, &Options { dispatch: Dispatch::Parallel, ..worst }, &[])[14..], expected_worst);
}

#[test]
fn gc_is_left_out_above_the_reserve() {
    let plan = plan(device(1, 12), vec![task("a", None, Some((2, 100)))], vec![], &[(&[0], &[0])], (51, 2));
    let lines = lines(&plan, &options(80, Dispatch::Serial), &[]);
    assert_eq!(
        lines[6..],
        [
            "16-25 chip 0 erase 0 a.gc#0",
            // Released at ⌊25.5⌋, due at 51, with 14 free pages: R + αs, not above.
            "25 release a.gc#1 due Some(51)",
            "25 complete a.gc#0",
            "25-28 chip 0 read 1.0 = 1 a.gc#1",
            "28-33 chip 0 program 9.2 = 1 a.gc#1",
            "33-36 chip 0 read 1.1 = 10 a.gc#1",
            "36-41 chip 0 program 9.3 = 10 a.gc#1",
            "41-50 chip 0 erase 1 a.gc#1",
            "50 complete a.gc#1",
            "50-55 chip 0 program 0.0 = 0 a.write#0",
            "50-51 bus chip 0",
            // With 15 free pages it is left out.
            "51 release a.gc#2 due Some(77)",
            "55 complete a.gc#2",
            "55-60 chip 0 program 0.1 = 1 a.write#0",
            "55-56 bus chip 0",
            "60 complete a.write#0",
            // And with 14 the next one is not.
            "76 release a.gc#3 due Some(102)",
            "76-79 chip 0 read 2.0 = 2 a.gc#3",
            "79-84 chip 0 program 1.0 = 2 a.gc#3",
        ]
    );
}

#[test]
fn two_chips_want_the_bus() {
    let parallel = plan(device(2, 12), vec![task("a", Some((2, 20)), None)], vec![], &[(&[0, 1], &[0])], (1, 1));
    let expected = [
        "0 release a.read#0 due Some(20)",
        "0-3 chip 0 read 0.0 = 0 a.read#0",
        "0-4 chip 1 read 0.0 = 1 a.read#0",
        "2-3 bus chip 0",
        "3-4 bus chip 1",
        "4 complete a.read#0",
    ];
    assert_eq!(lines(&parallel, &options(20, Dispatch::Parallel), &[]), expected);
    // Two clusters, the one with the higher chip first.
    let tasks = vec![task("a", Some((1, 20)), None), task("b", None, Some((1, 20)))];
    let serial = plan(device(2, 12), tasks, vec![], &[(&[1], &[0]), (&[0], &[1])], (30, 1));
    let expected = [
        "0 release a.read#0 due Some(20)",
        "0 release b.write#0 due Some(20)",
        "0 release b.gc#0 due Some(30)",
        "0-5 chip 0 program 9.0 = 0 b.write#0",
        "0-3 chip 1 read 0.0 = 0 a.read#0",
        "0-1 bus chip 0",
        "2-3 bus chip 1",
        "3 complete a.read#0",
        "5 complete b.write#0",
        "5-8 chip 0 read 0.1 = 9 b.gc#0",
    ];
    assert_eq!(lines(&serial, &options(6, Dispatch::Serial), &[]), expected);
}

#[test]
fn the_longest_wait_is_granted_first() {
    // Chips 0 and 2 read, chips 1 and 3 write.
    let tasks = vec![
        task("a", Some((1, 50)), None),
        task("b", None, Some((1, 50))),
        task("c", Some((1, 50)), None),
        task("d", None, Some((1, 50))),
    ];
    let clusters: [(&[u32], &[u32]); 4] = [(&[0], &[0]), (&[1], &[1]), (&[2], &[2]), (&[3], &[3])];
    let run = |transfer| {
        let spec = DeviceSpec { page_transfer: ns(transfer), ..device(4, 12).spec() };
        let plan = plan(Device::new(spec).unwrap(), tasks.clone(), vec![], &clusters, (50, 1));
        lines(&plan, &options(1, Dispatch::Serial), &[])
    };
    let buses = |all: &[String]| all.iter().filter(|line| line.contains("bus")).cloned().collect::<Vec<_>>();
    // Programs want the bus at 0, reads at 1.
    let all = run(2);
    assert_eq!(buses(&all), ["0-2 bus chip 1", "2-4 bus chip 3", "4-6 bus chip 0", "6-8 bus chip 2"]);
    for operation in [
        "0-6 chip 0 read 0.0 = 0 a.read#0",
        "0-5 chip 1 program 9.0 = 0 b.write#0",
        "0-8 chip 2 read 0.0 = 0 c.read#0",
        "0-7 chip 3 program 9.0 = 0 d.write#0",
    ] {
        assert!(all.iter().any(|line| line == operation), "{operation}: {all:#?}");
    }
    // Reads are all transfer: everybody wants the bus at 0.
    let all = run(3);
    assert_eq!(buses(&all), ["0-3 bus chip 0", "3-6 bus chip 1", "6-9 bus chip 2", "9-12 bus chip 3"]);
}

#[test]
fn a_write_between_gc_read_and_gc_program() {
    // One data block with the logical pages 0 and 1.
    let plan = plan(device(1, 4), vec![task("a", None, Some((1, 8)))], vec![], &[(&[0], &[0])], (100, 1));
    let begin = [
        "0 release a.write#0 due Some(8)",
        "0 release a.gc#0 due Some(100)",
        "0-5 chip 0 program 1.0 = 0 a.write#0",
        "0-1 bus chip 0",
        "5 complete a.write#0",
        "5-8 chip 0 read 0.1 = 1 a.gc#0",
        "8 release a.write#1 due Some(16)",
        // A page that GC has read is overwritten: it is not programmed.
        "8-13 chip 0 program 1.1 = 1 a.write#1",
        "8-9 bus chip 0",
        "13 complete a.write#1",
    ];
    let actual = [
        "13-22 chip 0 erase 0 a.gc#0",
        "16 release a.write#2 due Some(24)",
        "22 complete a.gc#0",
        "22-27 chip 0 program 1.2 = 0 a.write#2",
        "22-23 bus chip 0",
    ];
    // The time of the program passes [13, 18), the time of one more read from 23.
    let worst = [
        "16 release a.write#2 due Some(24)",
        "18-23 chip 0 program 1.2 = 0 a.write#2",
        "18-19 bus chip 0",
        "23 complete a.write#2",
    ];
    for dispatch in [Dispatch::Serial, Dispatch::Parallel] {
        let options = options(24, dispatch);
        assert_eq!(lines(&plan, &options, &[]), [&begin[..], &actual].concat(), "{dispatch:?}");
        let options = Options { victims: Victims::Worst, ..options.clone() };
        assert_eq!(lines(&plan, &options, &[]), [&begin[..], &worst].concat(), "{dispatch:?}");
    }
}

#[test]
fn server_jobs_and_background_jobs() {
    let job = Job { name: "log".into(), read_pages: 1, write_pages: 1, arrivals: Arrivals::Every(ns(20)) };
    let tasks = vec![task("a", Some((1, 10)), None)];
    let plan = plan(device(1, 12), tasks, vec![job], &[(&[0], &[0])], (1, 1));
    let grant = |deadline| Grant { cluster: ClusterId(0), deadline: at(deadline), gc_passes: 0 };
    let arrival = |index, grant| Arrival {
        at: at(20 * index),
        job: JobId { source: SourceId(1), index },
        read_pages: 1,
        write_pages: 1,
        first_page: None,
        grant,
    };
    // Logical pages 0 to 8 are those of the task, 9 to 17 those of the jobs: page 9 is the second
    // one of block 0.
    let served = lines(&plan, &options(20, Dispatch::Serial), &[arrival(0, Some(grant(9)))]);
    assert_eq!(
        served,
        [
            "0 release a.read#0 due Some(10)",
            "0 release log#0 due Some(9)",
            "0-3 chip 0 read 0.1 = 9 log#0",
            "2-3 bus chip 0",
            "3-8 chip 0 program 9.0 = 9 log#0",
            "3-4 bus chip 0",
            "8 complete log#0",
            "8-11 chip 0 read 0.0 = 0 a.read#0",
            "10 release a.read#1 due Some(20)",
            "10-11 bus chip 0",
            "11 complete a.read#0",
            "11-14 chip 0 read 1.0 = 1 a.read#1",
            "13-14 bus chip 0",
            "14 complete a.read#1",
        ]
    );
    let refused = lines(&plan, &options(20, Dispatch::Serial), &[arrival(0, None)]);
    assert_eq!(refused.iter().filter(|line| line.contains("log")).count(), 1, "{refused:#?}");
    let options = Options { service: Service::Background, ..options(40, Dispatch::Serial) };
    let background = lines(&plan, &options, &[arrival(0, None), arrival(1, None)]);
    let of_log: Vec<&str> = background.iter().filter(|line| line.contains("log")).map(String::as_str).collect();
    assert_eq!(
        of_log,
        [
            "0 release log#0 due None",
            "3-6 chip 0 read 0.1 = 9 log#0",
            "6-11 chip 0 program 9.0 = 9 log#0",
            "11 complete log#0",
            "20 release log#1 due None",
            "23-26 chip 0 read 1.1 = 10 log#1",
            "26-31 chip 0 program 9.1 = 10 log#1",
            "31 complete log#1",
        ]
    );
}

#[test]
fn a_write_moves_on_from_a_chip_without_room() {
    // Reserve: 2 pages a chip for the server and for the writer, so 3 blocks a chip; one data
    // block.
    let plan = plan(device(2, 4), vec![task("a", None, Some((1, 5)))], vec![], &[(&[0, 1], &[0])], (100_000, 1));
    // GC comes last. The four logical pages are soon stale in their first blocks, so that a pass
    // there needs no room: all three erased blocks of each chip are written, 24 pages in all.
    let options = options(200, Dispatch::Serial);
    let all = lines(&plan, &Options { aging: Aging::Fresh, ..options.clone() }, &[]);
    let starved = all.iter().position(|line| line.contains("starved")).unwrap();
    let written = all[..starved].iter().filter(|line| line.contains("program") && line.contains("write")).count();
    assert_eq!((written, all[starved].as_str()), (24, "120 starved a.write#24 chip 0"));
    assert_eq!(all[starved + 1..starved + 3], ["120-129 chip 0 erase 0 a.gc#0", "120-129 chip 1 erase 0 a.gc#0"]);
}

#[test]
fn a_write_moves_to_the_queue_of_a_chip_with_room() {
    let plan = plan(device(2, 4), vec![task("a", None, Some((3, 30)))], vec![], &[(&[0, 1], &[0])], (100_000, 1));
    let all = lines(&plan, &Options { aging: Aging::Fresh, ..options(300, Dispatch::Parallel) }, &[]);
    let from = all.iter().position(|line| line.starts_with("240 ")).unwrap();
    // By now the only GC job has run, and 24 pages are written, 12 on each chip. Chip 1 has no
    // erased block left (GC had to copy a page, to its block 2), chip 0 has one.
    assert_eq!(
        all[from..],
        [
            "240 release a.write#8 due Some(270)",
            // Its second page comes from the queue of chip 1.
            "240-245 chip 0 program 3.0 = 0 a.write#8",
            "240-241 bus chip 0",
            "245-250 chip 0 program 3.1 = 1 a.write#8",
            "245-246 bus chip 0",
            "250-255 chip 0 program 3.2 = 2 a.write#8",
            "250-251 bus chip 0",
            "255 complete a.write#8",
            "270 release a.write#9 due Some(300)",
            // The first page and the last one, which stay; the second one is written.
            "270 starved a.write#9 chip 1",
            "270-275 chip 0 program 3.3 = 0 a.write#9",
            "270-271 bus chip 0",
        ]
    );
}

#[test]
fn gc_in_parallel_keeps_each_chip_at_its_own_pace() {
    // Chip 0 holds the even pages 0 and 2, chip 1 the pages 1 and 3, each in one data block.
    let tasks = vec![task("r", Some((1, 6)), None), task("w", None, Some((1, 200)))];
    let plan = plan(device(2, 4), tasks, vec![], &[(&[0, 1], &[0, 1])], (100, 1));
    let options = Options { pattern: Pattern::OneChip, ..options(20, Dispatch::Parallel) };
    assert_eq!(
        lines(&plan, &options, &[]),
        [
            "0 release r.read#0 due Some(6)",
            "0 release w.write#0 due Some(200)",
            "0 release w.gc#0 due Some(100)",
            "0-3 chip 0 read 0.0 = 0 r.read#0",
            // Chip 1 begins the pass for both.
            "0-3 chip 1 read 0.0 = 1 w.gc#0",
            "2-3 bus chip 0",
            "3 complete r.read#0",
            "3-6 chip 0 read 0.0 = 0 w.gc#0",
            "3-8 chip 1 program 1.0 = 1 w.gc#0",
            "6 release r.read#1 due Some(12)",
            // Between GC read and GC program: the task has the page 0 alone on chip 0, and the page
            // is still at its old place.
            "6-9 chip 0 read 0.0 = 0 r.read#1",
            "8-11 chip 1 read 0.1 = 3 w.gc#0",
            "8-9 bus chip 0",
            "9 complete r.read#1",
            "9-14 chip 0 program 1.0 = 0 w.gc#0",
            "11-16 chip 1 program 1.1 = 3 w.gc#0",
            "12 release r.read#2 due Some(18)",
            "14-17 chip 0 read 1.0 = 0 r.read#2",
            "16-25 chip 1 erase 0 w.gc#0",
            "16-17 bus chip 0",
            "17 complete r.read#2",
            "17-20 chip 0 read 0.1 = 2 w.gc#0",
            "18 release r.read#3 due Some(24)",
        ]
    );
}

/// The rules that no schedule may break, whatever runs.
fn check(plan: &Plan, records: &[Record]) {
    let device = plan.device();
    let mut chip_free = vec![0; device.chips() as usize];
    let mut bus_free = vec![0; device.channels() as usize];
    // The pages programmed to each block, as far as it was erased or began to be programmed in this
    // run.
    let mut programmed: HashMap<(ChipId, BlockId), Vec<Lpn>> = HashMap::new();
    let mut newest: HashMap<(ClusterId, Lpn), (ChipId, BlockId, u32, Instant)> = HashMap::new();
    assert!(records.is_sorted_by_key(Record::order));
    for record in records {
        match record {
            Record::Operation(it) => {
                let free = &mut chip_free[it.chip.index()];
                assert!(*free <= it.start.as_ns() && it.start < it.end, "{it:?}");
                *free = it.end.as_ns();
                let block = (it.chip, it.block);
                match it.action {
                    Action::Read => {
                        let read = programmed.get(&block).map(|pages| pages[it.page as usize]);
                        assert!(read.is_none_or(|lpn| lpn == it.lpn), "{it:?}");
                        // Within an instant the order is that of chips, not of causes: a program
                        // may have come after this read.
                        let place = newest.get(&(it.cluster, it.lpn)).filter(|newest| newest.3 < it.start);
                        let is_newest = place.is_none_or(|at| (at.0, at.1, at.2) == (it.chip, it.block, it.page));
                        assert!(is_newest, "{it:?}");
                    }
                    Action::Program => {
                        let pages = programmed.entry(block).or_default();
                        assert!(pages.len() == it.page as usize && it.page < device.pages_per_block(), "{it:?}");
                        pages.push(it.lpn);
                        newest.insert((it.cluster, it.lpn), (it.chip, it.block, it.page, it.start));
                    }
                    Action::ErasePart => panic!("nothing is suspended here"),
                    Action::Erase => {
                        let holds_newest = |place: &(ChipId, BlockId, u32, Instant)| (place.0, place.1) == block;
                        assert!(!newest.values().any(holds_newest), "{it:?}");
                        programmed.insert(block, Vec::new());
                    }
                }
                let length = it.end.since(it.start);
                let least = match it.action {
                    Action::Read => device.page_read(),
                    Action::Program => device.page_program(),
                    Action::Erase | Action::ErasePart => device.block_erase(),
                };
                assert!(length == least || length > least && it.kind != Kind::Gc, "{it:?}");
            }
            Record::Transfer(it) => {
                let free = &mut bus_free[it.channel.index()];
                assert!(*free <= it.start.as_ns() && it.end.since(it.start) == device.page_transfer(), "{it:?}");
                *free = it.end.as_ns();
            }
            _ => {}
        }
    }
}

#[test]
fn nothing_overlaps() {
    let tasks = || {
        vec![
            task("a", Some((3, 40)), Some((2, 60))),
            task("b", None, Some((5, 150))),
            task("c", Some((2, 35)), None),
            task("d", Some((1, 30)), Some((1, 45))),
        ]
    };
    let jobs = vec![
        Job { name: "log".into(), read_pages: 2, write_pages: 3, arrivals: Arrivals::Every(ns(130)) },
        Job { name: "dump".into(), read_pages: 0, write_pages: 7, arrivals: Arrivals::Every(ns(310)) },
    ];
    let clusters: [(&[u32], &[u32]); 2] = [(&[0, 2, 3], &[0, 1]), (&[1, 4], &[2, 3])];
    let spec = DeviceSpec { chips_per_channel: 2, ..device(5, 11).spec() };
    let plan = plan(Device::new(spec).unwrap(), tasks(), jobs, &clusters, (401, 7));
    let duration: u64 = 3_000;
    let arrivals = |service: Service| {
        let mut arrivals = Vec::new();
        for (source, gap, read_pages, write_pages) in [(9, 130, 2, 3), (10, 310, 0, 7)] {
            for index in 0..duration.div_ceil(gap) {
                let grant = (service == Service::Tbs && index % 9 != 8).then_some(Grant {
                    cluster: ClusterId(u32::from(index % 2 == 1)),
                    deadline: at(index * gap + 200),
                    gc_passes: index % 3,
                });
                arrivals.push(Arrival {
                    at: at(index * gap),
                    job: JobId { source: SourceId(source), index },
                    read_pages,
                    write_pages,
                    first_page: None,
                    grant,
                });
            }
        }
        arrivals.sort_by_key(|arrival| (arrival.at, arrival.job));
        arrivals
    };
    assert_eq!(
        (plan.sources()[SourceId(9)].name.as_str(), plan.sources()[SourceId(10)].name.as_str()),
        ("log", "dump")
    );
    for dispatch in [Dispatch::Serial, Dispatch::Parallel] {
        for service in [Service::Tbs, Service::Background] {
            for victims in [Victims::Actual, Victims::Worst] {
                for aging in [Aging::Worst, Aging::Random, Aging::Fresh] {
                    for pattern in [Pattern::Uniform, Pattern::Sequential, Pattern::HotCold, Pattern::OneChip] {
                        let options = Options {
                            times: rtflash_plan::Times::Worst,
                            duration: at(duration),
                            dispatch,
                            service,
                            victims,
                            aging,
                            pattern,
                            seed: 11,
                            ..Options::default()
                        };
                        let records = crate::naive::run(&plan, &options, &arrivals(service));
                        check(&plan, &records);
                        let completed = records.iter().filter(|record| matches!(record, Record::Complete(_))).count();
                        assert!(completed > 20, "{completed} of {options:?}");
                    }
                }
            }
        }
    }
}
