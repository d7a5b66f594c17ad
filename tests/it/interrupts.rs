//! Ctrl-C: `exec` and `soak` print what there is, and end by the signal.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::common::root;

const SIGINT: i32 = 2;
const SIGTERM: i32 = 15;

/// Whether a line of /proc/…/status has a signal in its mask.
fn has(process: u32, mask: &str, signal: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).expect("a process");
    let bits = status.lines().find_map(|line| line.strip_prefix(mask)).expect("a mask");
    u64::from_str_radix(bits.trim(), 16).expect("a number") >> (signal - 1) & 1 == 1
}

/// What a command prints that is sent a signal while it works, and which signal that was.
fn interrupted(words: &str) -> (Output, i32) {
    let run = Command::new(env!("CARGO_BIN_EXE_rtflash"))
        .args(words.split_whitespace())
        .current_dir(root())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    // Tests that a shell starts in the background ignore Ctrl-C, and so does what they start.
    let signal = if has(run.id(), "SigIgn:", SIGINT) { SIGTERM } else { SIGINT };
    while !has(run.id(), "SigCgt:", signal) {
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(500));
    let sent = Command::new("kill").arg(format!("-{signal}")).arg(run.id().to_string()).status();
    assert!(sent.expect("kill").success());
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
        // What a run of that length prints, but for how long chips and buses were busy.
        let whole = crate::common::rtflash(
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

#[test]
fn an_interrupted_search_prints_what_it_found() {
    for options in ["", "--world stock", "--world stripe --without all"] {
        let (output, signal) = interrupted(&format!("soak --runs 100000000 --format json {options}"));
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
