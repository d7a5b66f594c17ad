//! Ctrl-C: `exec` and `soak` print what there is, and end by the signal.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::{file, root, rtflash};

const SIGINT: i32 = 2;
const SIGTERM: i32 = 15;

/// Whether a line of /proc/…/status has a signal in its mask.
fn has(process: u32, mask: &str, signal: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).expect("a process");
    let bits = status.lines().find_map(|line| line.strip_prefix(mask)).expect("a mask");
    u64::from_str_radix(bits.trim(), 16).expect("a number") >> (signal - 1) & 1 == 1
}

fn started(words: &str, stdout: Stdio) -> Child {
    let mut run = Command::new(env!("CARGO_BIN_EXE_rtflash"));
    run.args(words.split_whitespace()).current_dir(root()).stdout(stdout).stderr(Stdio::piped());
    run.spawn().expect("the command starts")
}

/// Waits until something is so of a process, for a minute at most.
fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Sends a signal, and says which one: tests that a shell starts in the background ignore Ctrl-C,
/// and so do the processes that they start.
fn send(run: &Child) -> i32 {
    let signal = stops(run);
    let sent = Command::new("kill").arg(format!("-{signal}")).arg(run.id().to_string()).status();
    assert!(sent.expect("kill").success());
    signal
}

fn stops(run: &Child) -> i32 {
    if has(run.id(), "SigIgn:", SIGINT) { SIGTERM } else { SIGINT }
}

/// The output of a command that gets a signal while it works, and which signal that was.
fn interrupted(words: &str) -> (Output, i32) {
    let run = started(words, Stdio::piped());
    wait_until("it holds signals", || has(run.id(), "SigCgt:", stops(&run)));
    std::thread::sleep(Duration::from_millis(200));
    let signal = send(&run);
    (run.wait_with_output().expect("it ends"), signal)
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

#[test]
fn an_interrupted_run_prints_what_it_came_to() {
    for options in ["--analysis sound --set device.chips=32", "", "--dispatch parallel --server background"] {
        let call = format!("exec tasksets/case-study.json --duration 1000000s {options}");
        let (output, signal) = interrupted(&format!("{call} --format json"));
        assert_eq!(output.status.signal(), Some(signal), "{output:?}");
        let answer = json(&output);
        assert_eq!(answer["stopped_before_ns"], 1_000_000_000_000_000u64, "{answer}");
        let ran = answer["duration_ns"].as_u64().expect("a time");
        assert!(ran > 0 && ran < 1_000_000_000_000_000, "{ran}");
        // The output of a run of that length, but for how long chips and buses were busy.
        let whole = rtflash(
            &format!("exec tasksets/case-study.json --duration {ran}ns {options} --format json")
                .split_whitespace()
                .collect::<Vec<_>>(),
        );
        let whole: Value = serde_json::from_str(&whole.stdout).expect("an answer");
        for field in ["verdict", "duration_ns", "checks", "requests", "gc", "jobs", "operations", "wear"] {
            assert_eq!(answer[field], whole[field], "{options}: {field}");
        }
        assert!(whole.get("stopped_before_ns").is_none());
    }
    let (output, signal) = interrupted("exec tasksets/case-study.json --duration 1000000s");
    assert_eq!(output.status.signal(), Some(signal), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(text.contains("where a signal stopped the run of 1000000s"), "{text}");
}

/// A trace of a run that is stopped ends with a whole record, and is that of a run of that length.
#[test]
fn an_interrupted_run_leaves_its_trace() {
    // Blocks that are few are soon prepared.
    let set = "tasksets/case-study.json --set device.blocks_per_chip=64";
    for options in ["", "--analysis sound --set device.chips=32"] {
        let trace = file("stopped.jsonl", "").display().to_string();
        let call = format!("exec {set} --duration 1000000s --format json {options} --trace {trace}");
        let (output, signal) = interrupted(&call);
        assert_eq!(output.status.signal(), Some(signal), "{output:?}");
        let ran = json(&output)["duration_ns"].as_u64().expect("a time");
        assert!(ran < 1_000_000_000_000_000, "{ran}");
        // The answer says how to judge it.
        let answer = json(&output);
        let note = answer["notes"].as_array().and_then(|notes| notes.last()).and_then(Value::as_str).expect("a note");
        let call = note.split('`').nth(1).and_then(|call| call.strip_prefix("rtflash ")).expect("a call");
        let call = format!("{call} --format json");
        let judged = rtflash(&call.split_whitespace().collect::<Vec<_>>());
        assert_eq!(judged.json()["duration_ns"], ran, "{note}");
        for field in ["verdict", "requests", "gc", "jobs", "operations"] {
            assert_eq!(judged.json()[field], json(&output)[field], "{options}: {field}");
        }
    }
    let trace = file("stopped.json", "").display().to_string();
    let (output, signal) = interrupted(&format!("exec {set} --duration 1000000s --trace {trace}"));
    assert_eq!(output.status.signal(), Some(signal), "{output:?}");
    #[derive(serde::Deserialize)]
    struct Trace {
        #[serde(rename = "traceEvents")]
        events: Vec<serde::de::IgnoredAny>,
    }
    let read: Trace = serde_json::from_slice(&fs::read(trace).expect("a trace")).expect("whole records");
    assert!(read.events.len() > 100, "{}", read.events.len());
}

/// Each answer of a stream is there once it and all before it are made.
#[test]
fn an_interrupted_stream_has_its_first_answers() {
    let set = |pages: u32, period: &str| {
        let request = format!(r#"{{"pages": {pages}, "period": "{period}"}}"#);
        format!(r#"{{"device": "dgist-2021", "tasks": [{{"name": "a", "read": {request}}}]}}"#)
    };
    let sets = file("interrupted.jsonl", [set(1, "900s"), set(2, "900s"), set(100, "100ms")].join("\n"));
    let answers = file("interrupted.out", "");
    let call = format!("exec {} --duration 100000s --format json", sets.display());
    let run = started(&call, fs::File::create(&answers).expect("a file").into());
    let lines = || fs::read_to_string(&answers).expect("answers").lines().count();
    wait_until("two answers", || lines() >= 2);
    let signal = send(&run);
    assert_eq!(run.wait_with_output().expect("it ends").status.signal(), Some(signal));
    let text = fs::read_to_string(&answers).expect("answers");
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("a line")).collect();
    assert_eq!(lines.iter().map(|line| line["line"].as_u64()).collect::<Vec<_>>(), [Some(1), Some(2)]);
}

/// A device that takes long to prepare holds no signal.
#[test]
fn a_device_that_is_prepared_stops_at_once() {
    let task = r#"{"name": "a", "read": {"pages": 1, "period": "1s"}}"#;
    let device = r#"{"profile": "dgist-2021", "chips": 32, "blocks_per_chip": 8192, "pages_per_block": 256}"#;
    let set = file("prepared.json", format!(r#"{{"device": {device}, "tasks": [{task}]}}"#)).display().to_string();
    let run = started(&format!("exec {set} --aging random --memory 8GiB"), Stdio::piped());
    std::thread::sleep(Duration::from_millis(500));
    let (begun, signal) = (Instant::now(), send(&run));
    let output = run.wait_with_output().expect("it ends");
    assert_eq!(output.status.signal(), Some(signal), "{output:?}");
    assert!(begun.elapsed() < Duration::from_secs(2) && output.stdout.is_empty(), "{output:?}");
}

#[test]
fn an_interrupted_search_prints_what_it_found() {
    for world in ["any", "sound"] {
        let (output, signal) = interrupted(&format!("soak --runs 100000000 --format json --world {world}"));
        assert_eq!(output.status.signal(), Some(signal), "{output:?}");
        let answer = json(&output);
        let after = answer["stopped_after"].as_u64().expect("a number of cases");
        assert!(answer["runs"] == 100_000_000 && after < 100_000_000, "{answer}");
        assert!(answer["judged"].as_u64().is_some_and(|judged| judged <= after), "{answer}");
    }
    let (output, signal) = interrupted("soak --runs 100000000");
    assert_eq!(output.status.signal(), Some(signal), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(text.contains(" of 100000000 cases (stopped by a signal) drawn from seed"), "{text}");
}
