//! The counters of a trace for Perfetto are what the engine itself counts.

use std::collections::BTreeMap;

use crate::common::rtflash;
use serde_json::Value;

/// Runs with a trace of either form and gives both.
fn traces(name: &str, options: &[&str]) -> (Vec<Value>, Vec<Value>) {
    let texts = ["json", "jsonl"].map(|ending| {
        let path = std::env::temp_dir().join(format!("rtflash-counters-{name}-{}.{ending}", std::process::id()));
        let trace = path.to_str().expect("a path");
        let call = ["exec", "tasksets/case-study.json", "--duration", "2s", "--trace", trace, "--quiet"];
        let run = rtflash(&[&call, options].concat());
        assert!(run.status < 2, "{run:?}");
        let text = std::fs::read_to_string(&path).expect("a trace");
        std::fs::remove_file(&path).expect("it is there");
        text
    });
    let perfetto: Value = serde_json::from_str(&texts[0]).expect("JSON");
    let events = perfetto["traceEvents"].as_array().expect("events").clone();
    (events, texts[1].lines().map(|line| serde_json::from_str(line).expect("JSON")).collect())
}

/// Free pages of each cluster by time, as the counters have them.
fn free_pages(events: &[Value]) -> BTreeMap<u64, Vec<(u64, u64)>> {
    let mut free: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
    for event in events.iter().filter(|event| event["ph"] == "C" && event["name"] == "free") {
        let micros = event["ts"].as_f64().expect("a time");
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Three seconds.
        let at = (micros * 1_000.0).round() as u64;
        let cluster = event["pid"].as_u64().expect("a process") - 3;
        free.entry(cluster).or_default().push((at, event["args"]["pages"].as_u64().expect("pages")));
    }
    free
}

/// At each moment at which the engine says how many pages are free, of a cluster that is one
/// processor, the counter says so, too. Requests that begin at that moment take their pages
/// afterwards.
fn compare(name: &str, options: &[&str]) -> u32 {
    let (events, records) = traces(name, options);
    let free = free_pages(&events);
    let mut taken: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    for record in &records {
        // A copyback takes its page as it begins, with a read.
        let first = if name == "stripe" && record["kind"] == "gc" { "read" } else { "program" };
        if record["op"] == first {
            let of = |field: &str| record[field].as_u64().expect("a number");
            *taken.entry((of("cluster"), of("start"))).or_default() += 1;
        }
    }
    let mut compared = 0;
    for record in &records {
        let Some(at) = record["left_out"].as_u64().or(record["reserve"].as_u64()) else { continue };
        let cluster = record["cluster"].as_u64().expect("a cluster");
        let samples = &free[&cluster];
        let last = samples.partition_point(|&(time, _)| time <= at);
        let counted = samples[last - 1].1 + taken.get(&(cluster, at)).copied().unwrap_or(0);
        assert_eq!(Some(counted), record["free"].as_u64(), "{name}: {record}");
        compared += 1;
    }
    compared
}

const FAILING: [&str; 4] = ["--set", "device.spare_blocks=6", "--faults", "20"];

#[test]
fn free_pages_are_those_of_the_engine() {
    for (name, options, least) in [
        ("serial", &["--algorithm", "equal-split"][..], 20),
        ("fresh", &["--algorithm", "equal-split", "--aging", "fresh"], 20),
        // A chip each: every cluster is one processor.
        ("stripe", &["--analysis", "stripe", "--algorithm", "equal-split"], 20),
        ("superblock", &["--analysis", "superblock", "--algorithm", "global"], 20),
        // Blocks fail, at programs and at erases.
        ("stripe", &[&["--analysis", "stripe", "--algorithm", "equal-split"][..], &FAILING].concat(), 20),
        ("superblock", &[&["--analysis", "superblock", "--algorithm", "global"][..], &FAILING].concat(), 20),
    ] {
        let compared = compare(name, options);
        assert!(compared >= least, "{name}: {compared}");
    }
}
