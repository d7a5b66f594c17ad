//! Requests that go on where the one before ended: declared, drawn, promised, verified and run.

use std::path::{Path, PathBuf};

use crate::common::{rtflash, rtflash_with_input};

/// Two chips read 142 pages each every 20 ms, and a logger adds a page every ms.
const SET: &str = r#"{"device":{"profile":"dgist-2021","chips":2},"tasks":[
    {"name":"map","read":{"pages":284,"period":"20ms","access":"sequential"}},
    {"name":"log","read":{"pages":1,"period":"1ms","access":"stream"}}]}"#;

/// On both chips, whatever neighbours do.
const HOW: [&str; 6] = ["--algorithm", "global", "--analysis", "stripe", "--rely-on", "nothing"];

fn scratch(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-streams-{name}", std::process::id()));
    std::fs::create_dir_all(&path).expect("a directory");
    path
}

#[test]
fn a_stream_is_promised_where_sequential_requests_are_not() {
    let alloc = |set: &str| {
        let run = rtflash_with_input(&[&["alloc", "-", "--format", "json"], &HOW[..]].concat(), set.as_bytes());
        assert_eq!(run.stderr, "");
        (run.status, run.stdout)
    };
    let (status, answer) = alloc(SET);
    assert_eq!(status, 0, "{answer}");
    // (142 + 10) pages of 130 us in 20 ms.
    assert!(answer.contains("\"slack_ns\":240000"), "{answer}");
    assert_eq!(alloc(&SET.replace("stream", "sequential")).0, 1);

    let directory = scratch("streams");
    let [set, allocation] = ["set.json", "allocation.json"].map(|name| directory.join(name));
    std::fs::write(&set, SET).expect("a file");
    std::fs::write(&allocation, &answer).expect("a file");
    let [set, allocation] = [&set, &allocation].map(|path| path.to_str().expect("a name"));
    let granted = ["--analysis", "stripe", "--rely-on", "nothing"];
    let check = rtflash(&[&["check", set, "--allocation", allocation], &granted[..]].concat());
    assert_eq!(check.status, 0, "{}{}", check.stdout, check.stderr);
    let exec = rtflash(&[&["exec", set, "--allocation", allocation, "--duration", "2s"], &granted[..]].concat());
    assert_eq!(exec.status, 0, "{}{}", exec.stdout, exec.stderr);

    // This certificate is too weak for a request that can begin anywhere.
    let jumps = directory.join("jumps.json");
    std::fs::write(&jumps, SET.replace("stream", "sequential")).expect("a file");
    let jumps = jumps.to_str().expect("a name");
    let check = rtflash(&[&["check", jumps, "--allocation", allocation], &granted[..]].concat());
    assert_eq!(check.status, 1, "{}{}", check.stdout, check.stderr);
}

#[test]
fn wide_stripes_help_who_appends_single_pages() {
    let set = |access: &str| {
        let write = format!(r#"{{"pages":1,"period":"10ms","access":"{access}"}}"#);
        let logs: Vec<String> = (0..5).map(|log| format!(r#"{{"name":"l{log}","write":{write}}}"#)).collect();
        let device = r#"{"profile":"dgist-2021","chips":4,"logical_ratio":0.9}"#;
        format!(r#"{{"device":{device},"tasks":[{}]}}"#, logs.join(","))
    };
    // To collect for a page takes some 5 ms of a chip. So each chip has time for one of the logs;
    // of a stream on all four chips each has a quarter.
    for algorithm in ["clustering-bfd", "clustering-search", "exact"] {
        let status = |access: &str| {
            let command = ["alloc", "-", "--analysis", "stripe", "--rely-on", "nothing", "--algorithm", algorithm];
            rtflash_with_input(&command, set(access).as_bytes()).status
        };
        assert_eq!(["random", "sequential", "stream"].map(status), [1, 1, 0], "{algorithm}");
    }
}

#[test]
fn sets_of_streams_are_drawn_and_small_requests_too() {
    let sets = |more: &[&str]| -> Vec<serde_json::Value> {
        let run = rtflash(&[&["gen", "--util", "1.0", "--sets", "8", "--tasks", "16", "--seed", "7"], more].concat());
        assert_eq!((run.status, run.stderr.as_str()), (0, ""));
        run.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    };
    let requests = |sets: &[serde_json::Value]| -> Vec<serde_json::Value> {
        let tasks = sets.iter().flat_map(|set| set["tasks"].as_array().expect("tasks"));
        tasks.flat_map(|task| [task["read"].clone(), task["write"].clone()]).collect()
    };
    let streams = sets(&["--access", "stream"]);
    assert!(streams.iter().all(|set| set["meta"]["access"] == "stream" && set["meta"].get("period").is_none()));
    assert!(requests(&streams).iter().all(|request| request["access"] == "stream"));
    let small = sets(&["--period", "5ms..50ms"]);
    assert!(small.iter().all(|set| set["meta"]["period"] == "5ms..50ms"));
    let pages = |sets: &[serde_json::Value]| -> u64 {
        requests(sets).iter().map(|request| request["pages"].as_u64().expect("a number")).sum()
    };
    // A tenth of the period, and about a tenth of the pages.
    assert!(pages(&small) * 5 < pages(&streams), "{} and {}", pages(&small), pages(&streams));
    assert_eq!(sets(&["--period", "100ms..500ms"]), sets(&[]), "the thesis's periods");
    let bounded = sets(&["--period", "5ms..50ms", "--pages", "1..16"]);
    assert!(bounded.iter().all(|set| set["meta"]["pages"] == "1..16"));
    let most = |sets: &[serde_json::Value]| requests(sets).iter().filter_map(|request| request["pages"].as_u64()).max();
    assert!(most(&small) > Some(16) && most(&bounded) == Some(16));
    for wrong in ["0..16", "16..1", "many", "1..", "-1..4"] {
        let run = rtflash(&["gen", "--util", "1", &format!("--pages={wrong}")]);
        assert!(run.status == 2 && run.stderr.contains("such as 1..16"), "{wrong}: {}", run.stderr);
    }
    for wrong in ["5ms", "50ms..5ms", "0s..1s", "1..2"] {
        let run = rtflash(&["gen", "--util", "1", "--period", wrong]);
        assert!(run.status == 2 && run.stderr.contains("such as 5ms..50ms"), "{wrong}: {}", run.stderr);
    }
}

#[test]
fn experiments_say_what_they_drew() {
    let out = scratch("streams-experiment").join("out");
    let out = out.to_str().expect("a name");
    let how = ["--access", "stream", "--period", "5ms..50ms", "--pages", "2", "--no-figure", "--out", out];
    let measure = ["experiment", "schedulability", "--util", "0.5", "--sets", "3", "--algorithms", "best-fit"];
    let run = rtflash(&[&measure[..], &["--analyses", "stripe"], &how[..]].concat());
    assert_eq!(run.status, 0, "{}", run.stderr);
    let manifest = std::fs::read_to_string(Path::new(out).join("manifest.json")).expect("a manifest");
    assert!(
        manifest.contains("\"access\": \"stream\"") && manifest.contains("\"period\": \"5ms..50ms\""),
        "{manifest}"
    );
    assert!(manifest.contains("\"--period\"") && manifest.contains("\"pages\": \"2..2\""), "{manifest}");
}
