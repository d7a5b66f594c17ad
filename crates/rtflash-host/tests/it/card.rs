//! MMC cards: the driver that waits for each command, and what is said of attachments.

use rtflash_host::bound::{Why, bounds};
use rtflash_host::run::{Scenario, read_scenario, run};

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
