//! Charts say what happened, no more than fits, and nothing that breaks what shows them.

use proptest::prelude::*;
use rtflash_model::{ChipId, ClusterId, Lpn, TIME_LIMIT_NS};
use rtflash_plan::{BlockId, ClusterTerms, Period, SourceId, Timing};
use rtflash_trace::Record;

use super::axis::{TimeAxis, cell_of, cell_start, cells, joined};
use super::*;
use crate::samples::{any_record, at, plan, run};

fn chart(records: &[Record], from: u64, to: u64, end: u64) -> Gantt {
    let mut gantt = Gantt::new(&plan(), at(from), at(to));
    records.iter().for_each(|record| gantt.record(record));
    gantt.finish(at(end));
    gantt
}

fn well_formed(svg: &str) -> bool {
    let tree = resvg::usvg::Tree::from_str(svg, &resvg::usvg::Options::default());
    tree.is_ok_and(|tree| tree.size().width() > 1199.0)
}

#[test]
fn a_stretch_as_text() {
    let chart = chart(&run(100_000_000), 10_000_000, 40_000_000, 100_000_000);
    let expected = "\
time (ms)            10      15      20      25      30      35
                     |       |       |       |       |       |
cluster 0: a camera
  chip 0             A....+++#########.......*.*+++#########...a.*.**.
  chip 1             .....+++#########.......**.+++#########...a.**...
  chip 2             .....+++#########........**+++#########...a..**..
  camera.read                                                  X
  camera.write       =
  misses                 ^!                  ^ !                 ^ !
cluster 1: a a<b>&\"c\"\\#9�é
  chip 3             .....+++#########..........+++#########..........
  chip 4             .....+++#########..........+++#########..........
  a<b>&\"c\"\\#9�é.read                 X
  a<b>&\"c\"\\#9�é.wri…
channels
  bus 0              ........................*.*...............a.***..
  bus 1              ................a........*................a..*...
  bus 2              ................a................................

a b … a task's reads  A B … its writes  + GC copy  # GC erase  * not real-time  . idle
> release  < deadline  X both  = from release to completion  ! missed deadline
misses: ! a deadline that is missed  ^ the release of a job that misses it
10ms to 40ms, 612.245us a column
missed: log#1, released at 12.5ms, due at 13.5ms, still pending
missed: log#2, released at 25ms, due at 26ms, complete at 26.550001ms, 550.001us late
missed: log#3, released at 37.5ms, due at 38.5ms, complete at 39.050001ms, 550.001us late
";
    assert_eq!(chart.text(70), expected);
}

#[test]
fn a_figure_is_well_formed_and_says_what_is_missed() {
    let chart = chart(&run(100_000_000), 0, 6_000_000, 100_000_000);
    let svg = chart.svg();
    for part in [
        "cluster 1",
        "chip 4",
        "bus 2",
        "time (us)",
        ">5500<",
        ">camera.gc#0</text>",
        ">log#0</text>",
        "missed deadline",
    ] {
        assert!(svg.contains(part), "{part}");
    }
    assert!(svg.contains("<title>log#0: not real-time, 50.001us to 550.001us</title>"));
    assert!(svg.contains("a&lt;b&gt;&amp;&quot;c&quot;\\#9\u{fffd}é.gc#0"));
    // Four pages of the log, and their transfers, two of them drawn as one; on each chip three
    // pages copied and an erase.
    let boxes = |class: &str| {
        let start = format!("<rect class=\"{class}\"");
        svg.lines().filter(|line| line.starts_with(&start) && line.contains("<title>")).count()
    };
    assert_eq!((boxes("v0"), boxes("o0"), boxes("e0"), boxes("r0"), boxes("p0")), (4 + 3, 5 * 6, 5, 0, 0));
    assert!(!svg.contains("coarsely"));
    assert!(well_formed(&svg));
}

#[test]
fn a_long_stretch_is_drawn_coarsely_and_says_so() {
    let job = JobId { source: SourceId(0), index: 0 };
    let mut gantt = Gantt::new(&plan(), at(0), at(3_000_000_000));
    for second in 0..1_500_000 {
        // Different jobs, so that nothing can be joined exactly.
        let job = JobId { index: second, ..job };
        let (start, end, action, kind) = (at(second * 2000), at(second * 2000 + 1500), Action::Read, Kind::Read);
        gantt.operation(&Operation {
            start,
            end,
            cluster: ClusterId(0),
            chip: ChipId(1),
            action,
            job,
            kind,
            block: BlockId(0),
            page: 0,
            lpn: Lpn(0),
        });
    }
    assert!(gantt.bars <= gantt.max && gantt.coarse.is_some());
    let svg = gantt.svg();
    assert!(svg.matches("<rect").count() <= 20_000 + 100, "{}", svg.matches("<rect").count());
    assert!(svg.contains("Drawn coarsely: a box shows what takes most of 2.777778ms."));
    // Nothing is lost: the chip is busy throughout.
    assert!(gantt.text(60).contains(&"a".repeat(39)), "{}", gantt.text(60));
}

#[test]
fn many_misses_are_counted() {
    let mut gantt = Gantt::new(&plan(), at(0), at(1_000_000));
    for index in 0..12_000 {
        let job = JobId { source: SourceId(0), index };
        let deadline = Some(at(20));
        gantt.release(&Release { at: at(10), job, kind: Kind::Read, deadline, pages: 1, cluster: Some(ClusterId(0)) });
        gantt.complete(&Complete { at: at(30), job });
    }
    assert!(gantt.text(80).contains("and 11980 more missed deadlines"));
    assert!(gantt.svg().contains("11000 further missed deadlines are not marked."));
}

#[test]
fn ticks_are_round_and_as_many_as_fit() {
    let labels = |from, to, room| {
        let axis = TimeAxis::new(from, to, room);
        let labels: Vec<_> = axis.ticks.into_iter().map(|(_, label)| label).collect();
        format!("{} {}", labels.join(" "), axis.unit)
    };
    assert_eq!(labels(0, 36_000_000, 80), "0 5 10 15 20 25 30 35 ms");
    assert_eq!(labels(0, 36_000_000, 12), "0 20 ms");
    assert_eq!(labels(999_999_999, 1_000_000_003, 80), "999999999 1000000000 1000000001 1000000002 ns");
    assert_eq!(labels(0, 10_000_000_000, 80), "0 1 2 3 4 5 6 7 8 9 s");
}

#[test]
fn the_longest_share_of_a_cell_is_shown() {
    let job = |index| JobId { source: SourceId(0), index };
    let bar = |start, end, index, look| ChartBar { start, end, job: job(index), look };
    let bars =
        [bar(0, 3, 0, Look::Read), bar(3, 7, 1, Look::Write), bar(7, 10, 2, Look::Read), bar(25, 30, 3, Look::Erase)];
    let shown = cells(&bars, 0, 40, 4);
    assert_eq!(shown, [Some((Look::Read, job(0))), None, Some((Look::Erase, job(3))), None]);
    assert_eq!(joined(&bars, 0, 40, 4), [bar(0, 10, 0, Look::Read), bar(20, 30, 3, Look::Erase)]);
}

/// A plan of one cluster with two tasks, on a device with chips that are left free.
fn two_tasks() -> Plan {
    let text = r#"{
        "device": { "chips": 4, "chips_per_channel": 2, "blocks_per_chip": 16, "pages_per_block": 8, "page_size": 4096,
            "logical_ratio": 0.5, "page_read": "50us", "page_program": "500us", "block_erase": "5ms", "page_transfer": "20us" },
        "tasks": [
            { "name": "radar", "read": { "pages": 4, "period": "10ms" } },
            { "name": "lidar", "read": { "pages": 2, "period": "10ms" }, "write": { "pages": 1, "period": "20ms" } }
        ]
    }"#;
    let set = rtflash_model::read_task_set(text).expect("a task set").set;
    let cluster =
        |chips: &[u32], tasks: &[u32]| rtflash_model::Cluster::of(chips.iter().copied(), tasks.iter().copied());
    let clusters = [cluster(&[0], &[0, 1]), cluster(&[1], &[]), cluster(&[2], &[]), cluster(&[3], &[])];
    let allocation = rtflash_model::Allocation::new(4, 2, &clusters).expect("an allocation");
    let us = rtflash_model::Span::from_us;
    let timing = Timing::new(us(50), us(500), us(20)).expect("a timing");
    let terms = |gc_periods| ClusterTerms::Utilization { page_delay: us(20), gc_periods };
    let gc = terms(vec![None, Period::new(40_000_000, 1)]);
    Plan::new(&set, &allocation, timing, &[gc, terms(vec![]), terms(vec![]), terms(vec![])]).expect("a plan")
}

#[test]
fn tasks_of_a_cluster_differ_and_free_chips_are_folded() {
    let plan = two_tasks();
    let mut gantt = Gantt::new(&plan, at(0), at(20_000_000));
    let source = |name: &str| plan.sources().enumerate().find(|(_, source)| source.name == name).expect("a source").0;
    let mut job = |name: &str, kind: Kind, chip: u32, start: u64, end: u64, deadline: u64| {
        let job = JobId { source: source(name), index: 0 };
        gantt.release(&Release {
            at: at(0),
            job,
            kind,
            deadline: Some(at(deadline)),
            pages: 1,
            cluster: Some(ClusterId(0)),
        });
        let action = if kind == Kind::Write { Action::Program } else { Action::Read };
        let (start, end) = (at(start), at(end));
        gantt.operation(&Operation {
            start,
            end,
            cluster: ClusterId(0),
            chip: ChipId(chip),
            action,
            job,
            kind,
            block: BlockId(0),
            page: 0,
            lpn: Lpn(0),
        });
        gantt.complete(&Complete { at: end, job });
    };
    job("radar.read", Kind::Read, 0, 0, 4_000_000, 10_000_000);
    job("lidar.read", Kind::Read, 0, 4_000_000, 12_000_000, 10_000_000);
    job("lidar.write", Kind::Write, 0, 12_000_000, 18_000_000, 20_000_000);
    gantt.finish(at(20_000_000));
    let expected = "\
time (ms)     0   2   4   6   8   10  12  14  16  18
              |   |   |   |   |   |   |   |   |   |
cluster 0: a radar, b lidar
  chip 0      aaaaaaaabbbbbbbbbbbbbbbbBBBBBBBBBBBB....
  radar.read  >========           <
  lidar.read  >===================!====
  lidar.write >====================================
free and idle: chip 1-3
idle: bus 0-1
";
    let text = gantt.text(54);
    assert!(text.starts_with(expected), "{text}");
    assert!(!text.contains("cluster 1") && !text.contains("misses:"), "{text}");
    assert!(text.contains("missed: lidar.read#0"), "{text}");
    let svg = gantt.svg();
    assert!(svg.contains("free and idle: chip 1-3") && !svg.contains(">cluster 1") && well_formed(&svg));
    // Hues of their own, of the operation's colour; the late part of the response is marked.
    let drawn = |class: &str| {
        svg.lines().any(|line| line.starts_with(&format!("<rect class=\"{class}\"")) && line.contains("<title>"))
    };
    assert!(drawn("r0") && drawn("r1") && drawn("p1") && !drawn("p0"), "{svg}");
    assert!(
        svg.contains("<rect class=\"lt\"") && svg.contains("<path class=\"up\"") && svg.contains("<path class=\"dn\"")
    );
    for name in ["radar", "lidar", "release", "deadline", "radar.read", "lidar.write"] {
        assert!(svg.contains(&format!(">{name}</text>")), "{name}");
    }
}

#[test]
fn hues_are_different() {
    let all: std::collections::BTreeSet<&str> = Look::ALL.into_iter().flat_map(Look::hues).collect();
    assert_eq!(all.len(), Look::ALL.len() * look::HUES);
    assert_eq!((Look::Read.character(1), Look::Write.character(25), Look::Write.character(26)), ('b', 'Z', '?'));
}

proptest! {
    #[test]
    fn cells_cover_the_stretch(from in 0..TIME_LIMIT_NS - 1, length in 1..TIME_LIMIT_NS, count in 1..300_usize, place in 0.0..1.0) {
        let to = from.saturating_add(length).min(TIME_LIMIT_NS);
        prop_assert_eq!((cell_start(from, to, count, 0), cell_start(from, to, count, count)), (from, to));
        #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let moment = (from + ((to - from) as f64 * place) as u64).min(to - 1);
        let cell = cell_of(from, to, count, moment);
        prop_assert!(cell < count);
        prop_assert!(cell_start(from, to, count, cell) <= moment && moment < cell_start(from, to, count, cell + 1));
    }

    #[test]
    fn ticks_are_within(from in 0..TIME_LIMIT_NS - 1, length in 1..TIME_LIMIT_NS, room in 0..200_usize) {
        let to = from.saturating_add(length).min(TIME_LIMIT_NS);
        let axis = TimeAxis::new(from, to, room);
        prop_assert!(axis.ticks.len() <= 13);
        prop_assert!(axis.ticks.iter().all(|(tick, _)| (from..to).contains(tick)));
        prop_assert!(axis.ticks.is_sorted());
    }

    #[test]
    fn any_records_are_drawn(
        records in prop::collection::vec(any_record(), 0..40),
        from in 0..TIME_LIMIT_NS, to in 0..TIME_LIMIT_NS, width in 0..300_usize,
    ) {
        for (from, to) in [(from, to), (0, TIME_LIMIT_NS - 1), (to, to.saturating_add(7).min(TIME_LIMIT_NS - 1))] {
            let chart = chart(&records, from, to, to);
            let text = chart.text(width);
            let mut drawn = text.lines().filter(|line| ["  chip", "  bus", "  misses"].iter().any(|lane| line.starts_with(lane)));
            prop_assert!(drawn.all(|line| line.chars().count() <= width.max(21 + 16)), "{text}");
            prop_assert!(text.chars().all(|c| c == '\n' || !c.is_control()));
            let svg = chart.svg();
            prop_assert!(well_formed(&svg));
        }
    }
}
