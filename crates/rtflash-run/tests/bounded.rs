//! The memory of a run does not grow with its length: under every dispatch, with servers and in the
//! background.

#![cfg(target_os = "linux")]

use std::fs;

use rtflash_alloc::allocator::{Allocator, EqualSplit, Global};
use rtflash_analysis::{Analysis, Stripe, Superblock, Thesis};
use rtflash_model::{Device, DeviceSpec, Instant, Reliance, TaskSet, read_task_set};
use rtflash_plan::{Dispatch, Options, Service, Victims};
use rtflash_run::execute;

/// The most memory that this process has ever had, in KiB.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    line.trim().trim_end_matches("kB").trim().parse().expect("a number")
}

fn case_study() -> TaskSet {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tasksets/case-study.json");
    read_task_set(&fs::read_to_string(path).expect("the case study")).expect("a task set").set
}

/// The set on smaller chips, whose tables are soon in use as a whole.
fn small(set: &TaskSet) -> TaskSet {
    let spec = DeviceSpec { blocks_per_chip: 64, ..set.device().spec() };
    set.on(Device::new(spec).expect("a device")).expect("no data are declared")
}

/// More channels than there are groups: some clusters are run together that share nothing.
fn wide() -> TaskSet {
    let task = |number: u32| {
        let (pages, period) = (1 + number % 2, 20 + number % 7);
        format!(
            r#"{{ "name": "t{number}", "read": {{ "pages": {pages}, "period": "{period}ms" }}, "write": {{ "pages": 1, "period": "{period}ms" }} }}"#
        )
    };
    let tasks: Vec<String> = (0..96).map(task).collect();
    let text = format!(
        r#"{{ "device": {{ "profile": "dgist-2021", "chips": 96, "chips_per_channel": 1, "blocks_per_chip": 24, "pages_per_block": 16, "block_erase": "1ms" }}, "tasks": [{}] }}"#,
        tasks.join(",")
    );
    read_task_set(&text).expect("a task set").set
}

/// By how many KiB the peak of memory grows if a run is ten times as long.
fn growth(set: &TaskSet, by: (&dyn Allocator, &dyn Analysis), options: Options, milliseconds: u64) -> u64 {
    let (allocator, analysis) = by;
    let outcome = allocator.allocate(set, analysis);
    let allocation = outcome.allocation().expect("one that can be run");
    let peaks = [milliseconds, 10 * milliseconds].map(|length| {
        let options = Options { duration: Instant::from_ns(length * 1_000_000).expect("short"), ..options.clone() };
        execute(set, allocation, analysis, &options, None).expect("it runs");
        peak()
    });
    // Linux adds up the pages of threads now and then: what it calls a peak may have been higher.
    peaks[1].saturating_sub(peaks[0])
}

/// A case to run: a name, a set, its allocator, and the options of the run.
type Case<'c> = (&'c str, &'c TaskSet, (&'c dyn Allocator, &'c dyn Analysis), Options);

fn grow(milliseconds: u64) -> Vec<(String, u64)> {
    let (case, wide) = (small(&case_study()), wide());
    let (stripe, superblock) = (Stripe { rely_on: Reliance::Neighbours }, Superblock { rely_on: Reliance::Neighbours });
    let plain = Options::default();
    let parallel = Options { dispatch: Dispatch::Parallel, ..plain.clone() };
    let background = Options { service: Service::Background, ..plain.clone() };
    let worst = Options { victims: Victims::Worst, ..plain.clone() };
    let runs: [Case<'_>; 8] = [
        ("serial", &case, (&EqualSplit, &Thesis), plain.clone()),
        ("background", &case, (&EqualSplit, &Thesis), background.clone()),
        ("worst victims", &case, (&Global, &Thesis), worst.clone()),
        ("parallel", &case, (&EqualSplit, &Thesis), parallel.clone()),
        ("stripe", &case, (&EqualSplit, &stripe), plain.clone()),
        ("superblock", &case, (&EqualSplit, &superblock), worst.clone()),
        ("many groups", &wide, (&EqualSplit, &Thesis), plain.clone()),
        ("many parallel groups", &wide, (&EqualSplit, &Thesis), parallel.clone()),
    ];
    runs.into_iter().map(|(name, set, by, options)| (name.to_owned(), growth(set, by, options, milliseconds))).collect()
}

#[test]
fn ten_times_the_run_takes_no_more_memory() {
    let grown = grow(1_000);
    println!("{grown:?} KiB");
    // Response times are kept one by one up to a limit; the rest is pages of the system.
    assert!(grown.iter().all(|&(_, kib)| kib < 3_000), "{grown:?} KiB");
}

/// A hundred seconds and a thousand: `cargo test --release -p rtflash-run --test bounded -- --ignored`.
#[test]
#[ignore = "takes minutes"]
fn a_thousand_seconds_take_no_more_memory_than_a_hundred() {
    let grown = grow(100_000);
    println!("{grown:?} KiB");
    assert!(grown.iter().all(|&(_, kib)| kib < 3_000), "{grown:?} KiB");
}
