//! Traces of runs: what viewers ask for, and the same numbers as in the report.

use std::collections::{BTreeMap, BTreeSet};

use rtflash_host::run::{LengthMeasure, QueueTrace, read_scenario, run, run_watched};
use serde_json::Value;

const SCENARIO: &str = r#"{
    "device": { "kind": "emmc", "depth": 3, "read": { "first": "200us", "next": "100us", "per_kib": "10us" },
        "write": { "first": "500us", "next": "300us", "per_kib": "15us" } },
    "host": { "max_sectors": "64KiB", "merge": true }, "scheduler": "k2",
    "jobs": [
        { "name": "rt \"1\"", "op": "read", "pattern": "random", "span": "1GiB", "size": "16KiB", "class": "rt", "think": "2ms" },
        { "name": "log", "op": "write", "size": "20KiB", "class": "idle", "depth": 9 } ],
    "duration": "300ms" }"#;

fn ns(value: &Value) -> u64 {
    let text = value.to_string();
    let (whole, rest) = text.split_once('.').unwrap_or((&text, "0"));
    whole.parse::<u64>().expect("a number") * 1_000
        + format!("{rest:0<3}").parse::<u64>().expect("at most three decimals")
}

#[test]
fn a_trace_shows_the_run() {
    let scenario = read_scenario(SCENARIO, None).expect("a scenario");
    let trace = QueueTrace::new(&scenario, Vec::new()).expect("memory takes all");
    let mut watch = (LengthMeasure::new(scenario.warmup), trace);
    let reports = run_watched(&scenario, 1, &mut watch).expect("a run");
    assert_eq!(reports, run(&scenario, 1).expect("a run"), "what is looked at changes nothing");
    let (lengths, trace) = watch;
    let (lengths, bytes) =
        (lengths.finish(scenario.duration), trace.finish(scenario.duration).expect("memory takes all"));
    let json: Value = serde_json::from_slice(&bytes).expect("JSON");

    let mut tracks = BTreeSet::new();
    let mut open: BTreeMap<(String, String), (u64, Value)> = BTreeMap::new();
    let (mut latencies, mut most, mut merged) = (vec![Vec::new(); 2], [0, 0], 0);
    for event in json["traceEvents"].as_array().expect("an array") {
        let text = |key: &str| event[key].as_str().expect("a string").to_owned();
        let track = (event["pid"].as_u64().expect("a process"), event["tid"].as_u64());
        if text("ph") == "M" {
            tracks.insert(track);
            continue;
        }
        let now = ns(&event["ts"]);
        assert!(now <= scenario.duration.as_ns());
        match text("ph").as_str() {
            "b" => {
                assert!(tracks.contains(&track), "named before it is used: {event}");
                assert_eq!(open.insert((text("cat"), text("id")), (now, event["name"].clone())), None, "{event}");
            }
            "e" => {
                let (begin, name) = open.remove(&(text("cat"), text("id"))).expect("begun");
                assert_eq!(event["name"], name);
                if let Some(latency) = event["args"]["latency_ns"].as_u64() {
                    assert_eq!(latency, now - begin);
                    let job = scenario.jobs.iter().position(|job| name == job.name.as_str()).expect("a job");
                    latencies[job].push(latency);
                }
            }
            "C" => {
                let queue = usize::from(event["name"] == "inside");
                most[queue] = event["args"]["requests"].as_u64().expect("a number").max(most[queue]);
            }
            "i" => merged += 1,
            phase => panic!("{phase}"),
        }
    }
    assert!(open.is_empty(), "{open:?}");
    assert!(merged > 10, "{merged}");
    assert_eq!(most, [lengths.waiting.max, lengths.inside.max]);
    for (latencies, report) in latencies.iter().zip(&reports) {
        let sum: u128 = latencies.iter().map(|&latency| u128::from(latency)).sum();
        assert_eq!((latencies.len() as u64, sum), (report.latencies.count(), report.latencies.sum()));
    }
}

/// A writer that accepts a limited number of bytes.
struct Full(usize);

impl std::io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self.0.checked_sub(bytes.len()) {
            Some(left) => self.0 = left,
            None => return Err(std::io::Error::other("full")),
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn what_cannot_be_written_is_told() {
    let scenario = read_scenario(SCENARIO, None).expect("a scenario");
    let mut trace = QueueTrace::new(&scenario, Full(9_000)).expect("room for the names");
    run_watched(&scenario, 1, &mut trace).expect("a run");
    assert!(trace.finish(scenario.duration).is_err());
}

/// A chain has a slice of its own from its begin to its end, around those of its I/Os and flushes.
#[test]
fn a_trace_shows_chains() {
    let text = SCENARIO.split("\"jobs\"").next().expect("a device").replace(
        "\"depth\": 3,",
        r#""depth": 3, "cache": { "size": "64KiB", "drain": "1MB", "flush": "1ms",
            "write": { "first": "50us", "next": "50us", "per_kib": "0us" } },"#,
    );
    let jobs = r#""jobs": [{ "name": "a", "every": "100ms", "steps": [{ "op": "write", "size": "4KiB" }, { "op": "flush" }] }],
        "duration": "201ms" }"#;
    let scenario = read_scenario(&(text + jobs), None).expect("a scenario");
    let mut trace = QueueTrace::new(&scenario, Vec::new()).expect("memory takes all");
    let reports = run_watched(&scenario, 1, &mut trace).expect("a run");
    let bytes = trace.finish(scenario.duration).expect("memory takes all");
    let json: Value = serde_json::from_slice(&bytes).expect("JSON");
    let events = json["traceEvents"].as_array().expect("an array");
    let of = |cat: &str, phase: &str| -> Vec<&Value> {
        events.iter().filter(|event| event["cat"] == cat && event["ph"] == phase).collect()
    };
    let ends = of("chain", "e");
    assert_eq!((of("chain", "b").len(), of("io", "b").len(), ends.len()), (3, 6, 3));
    let latencies: u128 = ends.iter().filter_map(|end| end["args"]["latency_ns"].as_u64()).map(u128::from).sum();
    assert_eq!((latencies, reports[0].latencies.count()), (reports[0].latencies.sum(), 2));
    assert_eq!(ends[2]["args"]["pending"], true);
    let flushes = of("device", "b").into_iter().filter(|begin| begin["args"]["op"] == "flush").count();
    assert_eq!(flushes, 3);
}
