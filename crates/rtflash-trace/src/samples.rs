//! A plan for the tests of what reads records, here and in other crates.

use rtflash_model::{Allocation, Cluster, Instant, Span, read_task_set};
use rtflash_plan::{ClusterTerms, Period, Plan, Timing};

/// Two clusters (chips 0 to 2 and 3 to 4) of a device of six chips on three channels; names that
/// want escaping.
pub(crate) fn plan() -> Plan {
    let text = r#"{
        "device": { "chips": 6, "chips_per_channel": 2, "blocks_per_chip": 16, "pages_per_block": 8, "page_size": 4096,
            "logical_ratio": 0.5, "page_read": "50us", "page_program": "500us", "block_erase": "5ms", "page_transfer": "20us" },
        "tasks": [
            { "name": "camera", "read": { "pages": 4, "period": "36ms" }, "write": { "pages": 2, "period": "40ms" } },
            { "name": "a<b>&\"c\"\\#9\u0001é", "read": { "pages": 3, "period": "20ms" }, "write": { "pages": 1, "period": "50ms" } }
        ],
        "jobs": [{ "name": "log", "read_pages": 2, "write_pages": 8, "arrivals": { "every": "12.5ms" } }]
    }"#;
    let set = read_task_set(text).expect("a task set").set;
    let clusters = [Cluster::of([0, 1, 2], [0]), Cluster::of([3, 4], [1])];
    let allocation = Allocation::new(6, 2, &clusters).expect("an allocation");
    let timing = Timing::new(Span::from_us(50), Span::from_us(500), Span::from_us(20)).expect("a timing");
    let terms =
        ClusterTerms::Utilization { page_delay: Span::from_us(20), gc_periods: vec![Period::new(40_000_000, 3)] };
    Plan::new(&set, &allocation, timing, &[terms.clone(), terms]).expect("a plan")
}

/// A moment.
pub(crate) fn at(nanoseconds: u64) -> Instant {
    Instant::from_ns(nanoseconds).expect("a moment")
}
