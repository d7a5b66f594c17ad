//! Every scenario that is shipped runs, and shows what docs/host-claims.md says of it.

use std::fs;

use crate::common::{root, rtflash};

/// The 99th percentile of the real-time job by each of these schedulers, in microseconds.
fn p99(arguments: &[&str]) -> Vec<u64> {
    percentile("p99_ns", arguments)
}

/// Another percentile of the real-time job by each of these schedulers, in microseconds.
fn percentile(which: &str, arguments: &[&str]) -> Vec<u64> {
    let run = rtflash(&[&["host", "run"], arguments, &["--format", "json"]].concat());
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{arguments:?}");
    let of = |line: &serde_json::Value| line["jobs"][0][which].as_u64().expect("a latency") / 1_000;
    run.json_lines().iter().map(of).collect()
}

#[test]
fn each_one_shows_what_it_is_there_for() {
    let near = |found: &[u64], expected: &[u64]| {
        let is_near = |(&found, &expected): (&u64, &u64)| found.abs_diff(expected) * 20 <= expected;
        assert!(found.len() == expected.len() && found.iter().zip(expected).all(is_near), "{found:?}, {expected:?}");
    };
    // K2-split as the file has it; `none`, since K2 has 32 inside by default and the device takes
    // one.
    near(&p99(&["scenarios/large-reads.json", "--scheduler", "k2-split,none"]), &[1_446, 6_839]);
    near(&p99(&["scenarios/large-writes.json", "--scheduler", "k2-split,none"]), &[3_893, 11_600]);
    near(&p99(&["scenarios/many-reads.json", "--scheduler", "none,k2"]), &[60_700, 1_560]);
    let fio = ["scenarios/large-reads.fio", "--device", "scenarios/emmc-2023.json", "--scheduler", "none,k2"];
    near(&p99(&fio), &[6_839, 6_839]);
    // A flush drains what the recorder wrote; without a cache the logger takes 5,940 µs.
    near(&p99(&["scenarios/fsync-logger.json"]), &[15_491]);
    // K2 with one inside as the file has it.
    near(&percentile("p999_ns", &["scenarios/four-writers.json", "--scheduler", "k2,none"]), &[530, 2_981]);
}

#[test]
fn all_have_the_devices_that_were_calibrated_and_none_is_left_out() {
    let read = |name: &str| {
        let text = fs::read_to_string(root().join("scenarios").join(name)).expect("a file");
        serde_json::from_str::<serde_json::Value>(&text).expect("JSON")
    };
    let scenarios =
        ["four-writers.json", "large-reads.json", "large-writes.json", "many-reads.json", "transactions.json"];
    for name in scenarios {
        let scenario = read(name);
        let setup = read(if name == "four-writers.json" { "nvme-2021.json" } else { "emmc-2023.json" });
        assert_eq!((&scenario["device"], &scenario["host"]), (&setup["device"], &setup["host"]), "{name}");
    }
    let folder = fs::read_dir(root().join("scenarios")).expect("the folder");
    let mut files: Vec<String> =
        folder.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name")).collect();
    files.sort();
    let setups = ["emmc-2023.json", "large-reads.fio", "nvme-2021-full.json", "nvme-2021.json"];
    let orders = [
        "fsync-logger.json",
        "kyber-targets.json",
        "user-centric.json",
        "write-effort-flash.json",
        "write-effort-mlc.json",
        "write-effort-tlc.json",
    ];
    let mut all = [&setups[..], &scenarios[..], &orders[..]].concat();
    all.sort_unstable();
    assert_eq!(files, all);
    // A full drive differs in what writes cost, and in nothing else.
    let (partial, full) = (read("nvme-2021.json"), read("nvme-2021-full.json"));
    let mut with_its_writes = partial.clone();
    with_its_writes["device"]["write"] = full["device"]["write"].clone();
    assert!(with_its_writes == full && partial != full);
}
