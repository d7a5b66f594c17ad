//! `exec --checkpoint`: a run that is broken off is gone on with, and its answer is that of a run
//! that was not; no other run takes the file for its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Run, root, rtflash};

/// A file that is not there yet, for one test.
fn place(name: &str) -> PathBuf {
    let path =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-checkpoint-{name}.checkpoint", std::process::id()));
    let _ = fs::remove_file(&path);
    path
}

/// `exec` with a file for its state.
fn exec(options: &str, checkpoint: &Path) -> Run {
    let path = checkpoint.display().to_string();
    let words = ["exec", "--format", "json"].into_iter().chain(options.split_whitespace());
    rtflash(&words.chain(["--checkpoint", &path]).collect::<Vec<_>>())
}

fn started(options: &str, checkpoint: &Path) -> Child {
    Command::new(env!("CARGO_BIN_EXE_rtflash"))
        .args(["exec", "--format", "json"])
        .args(options.split_whitespace())
        .args(["--checkpoint-every", "1ms", "--checkpoint"])
        .arg(checkpoint)
        .current_dir(root())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the command starts")
}

/// The time that a run has reached, by its file.
fn reached(checkpoint: &Path) -> Option<u64> {
    let bytes = fs::read(checkpoint).ok()?;
    let line = bytes.split(|&byte| byte == b'\n').nth(1)?;
    let line: serde_json::Value = serde_json::from_slice(line).expect("a line of JSON");
    Some(line["at_ns"].as_u64().expect("nanoseconds"))
}

/// Waits until the run has gone on from `from`; `false` where it has ended.
fn wait_for_more(run: &mut Child, checkpoint: &Path, from: Option<u64>) -> bool {
    let begun = Instant::now();
    while reached(checkpoint) <= from {
        if run.try_wait().expect("a child").is_some() {
            return false;
        }
        assert!(begun.elapsed() < Duration::from_secs(120), "nothing is kept in two minutes");
        std::thread::sleep(Duration::from_millis(1));
    }
    true
}

const RUNS: [&str; 3] = [
    "tasksets/case-study.json --duration 60s --set device.blocks_per_chip=64",
    "tasksets/case-study.json --duration 60s --set device.blocks_per_chip=64 --dispatch parallel --server background --jobs 2",
    "tasksets/case-study.json --duration 60s --set device.blocks_per_chip=64 --analysis sound",
];

#[test]
fn a_run_that_is_killed_goes_on() {
    for (number, options) in RUNS.into_iter().enumerate() {
        let checkpoint = place(&format!("killed-{number}"));
        let words: Vec<&str> = ["exec", "--format", "json"].into_iter().chain(options.split_whitespace()).collect();
        let whole = rtflash(&words);
        let (mut from, mut times) = (None, 0);
        for _ in 0..5 {
            let mut run = started(options, &checkpoint);
            let is_broken_off =
                wait_for_more(&mut run, &checkpoint, from) && run.try_wait().expect("a child").is_none();
            run.kill().expect("it is ended");
            run.wait().expect("it has ended");
            times += usize::from(is_broken_off);
            from = reached(&checkpoint);
        }
        assert!(times >= 2, "{options}: it was broken off {times} times");
        let last = exec(options, &checkpoint);
        assert_eq!((last.status, &last.stdout), (whole.status, &whole.stdout), "{options}");
        assert!(last.stderr.starts_with("note: goes on at "), "{last:?}");
        // The state at the end is an answer, too.
        let again = exec(options, &checkpoint);
        assert_eq!((again.status, &again.stdout), (whole.status, &whole.stdout), "{options}");
        assert_eq!(again.stderr, format!("note: goes on at 60s, from {}\n", checkpoint.display()));
    }
}

/// A signal ends the run as ever, but only when its state has been kept.
#[cfg(unix)]
#[test]
fn a_signal_waits_for_the_state() {
    use std::os::unix::process::ExitStatusExt;

    let (options, checkpoint) = (RUNS[0].replace("60s", "100000s"), place("signal"));
    let mut run = started(&options, &checkpoint);
    assert!(wait_for_more(&mut run, &checkpoint, None));
    run.kill().expect("it is ended");
    run.wait().expect("it has ended");
    let before = reached(&checkpoint);
    // This run would keep its state after a minute, without a request to.
    let mut run = Command::new(env!("CARGO_BIN_EXE_rtflash"))
        .args(["exec", "--format", "json"])
        .args(options.split_whitespace())
        .arg("--checkpoint")
        .arg(&checkpoint)
        .current_dir(root())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    // It has begun when it says where it goes on.
    let mut note = String::new();
    let mut stderr = std::io::BufReader::new(run.stderr.take().expect("standard error is piped"));
    std::io::BufRead::read_line(&mut stderr, &mut note).expect("a note");
    assert!(note.starts_with("note: goes on at"), "{note}");
    std::thread::sleep(Duration::from_millis(300));
    let ended = Command::new("kill").args(["-TERM", &run.id().to_string()]).status().expect("kill");
    assert!(ended.success());
    let output = run.wait_with_output().expect("it ends");
    assert_eq!((output.status.signal(), output.stdout), (Some(15), Vec::new()));
    assert!(reached(&checkpoint) > before, "{before:?}");
    fs::remove_file(&checkpoint).expect("it is there");
}

#[test]
fn no_other_run_takes_it() {
    let checkpoint = place("other");
    let options = "tasksets/case-study.json --duration 1s";
    assert_eq!(exec(options, &checkpoint).status, 1);
    let kept = fs::read(&checkpoint).expect("kept");
    let others = [
        ("--seed 2", "the length, seed or option of the run is not the same"),
        ("--duration 2s", "the length, seed or option of the run is not the same"),
        ("--set device.block_erase=3ms", "the task set is not the same"),
        ("--analysis thesis-evaluated --algorithm global", "the analysis is not the same"),
        ("--algorithm global", "the allocation is not the same"),
    ];
    for (more, problem) in others {
        let more = more.replace("--duration 2s", "");
        let other = if more.is_empty() { options.replace("1s", "2s") } else { format!("{options} {more}") };
        let run = exec(&other, &checkpoint);
        assert!(run.status == 2 && run.stdout.is_empty() && run.stderr.contains(problem), "{other}: {run:?}");
        assert_eq!(fs::read(&checkpoint).expect("kept"), kept);
    }
    // Damage, everywhere in the file.
    for seed in 0..40_usize {
        let mut damaged = kept.clone();
        let at = (seed * 7_919 * 31) % kept.len();
        damaged[at] ^= 1 << (seed % 8);
        fs::write(&checkpoint, &damaged).expect("written");
        let run = exec(options, &checkpoint);
        assert!(run.status == 2 && run.stdout.is_empty(), "{at}: {run:?}");
        assert!(["checksum", "no checkpoint"].iter().any(|word| run.stderr.contains(word)), "{at}: {run:?}");
    }
    for (content, problem) in [
        (&kept[..kept.len() / 2], "checksum"),
        (&kept[..30], "checksum"),
        (b"{\"device\":\"dgist-2021\"}".as_slice(), "no checkpoint, so it is left as it is"),
    ] {
        fs::write(&checkpoint, content).expect("written");
        let run = exec(options, &checkpoint);
        assert!(run.status == 2 && run.stderr.contains(problem), "{run:?}");
        assert_eq!(fs::read(&checkpoint).expect("there"), content);
    }
    // A file that is empty is one to be written.
    fs::write(&checkpoint, "").expect("written");
    assert_eq!(exec(options, &checkpoint).status, 1);
    assert_eq!(fs::read(&checkpoint).expect("kept"), kept);
}

#[test]
fn calls_that_make_no_sense_are_refused() {
    let checkpoint = place("calls");
    for (options, problem) in [
        ("tasksets/case-study.json --trace out.jsonl", "cannot be used with"),
        ("tasksets/case-study.json --gantt 0ms..1ms", "cannot be used with"),
        ("tasksets/case-study.json --checkpoint-every soon", "expected a time such as 60s"),
    ] {
        let run = exec(options, &checkpoint);
        assert!(run.status == 2 && run.stdout.is_empty() && run.stderr.contains(problem), "{options}: {run:?}");
        assert!(!checkpoint.exists());
    }
    let run = exec("tasksets/case-study.json --duration 10ms", Path::new("/nowhere/at/all"));
    assert!(run.status == 2 && run.stderr.contains("--checkpoint /nowhere/at/all: "), "{run:?}");
    let run = exec("tasksets/case-study.json --duration 10ms", Path::new("tests"));
    assert!(run.status == 2 && run.stderr.contains("it is no regular file"), "{run:?}");
    let line = fs::read_to_string(root().join("tasksets/case-study.json")).expect("the case study").replace('\n', " ");
    let path = checkpoint.display().to_string();
    let words = ["exec", "-", "--format", "json", "--duration", "10ms", "--checkpoint", &path];
    let run = crate::common::rtflash_with_input(&words, format!("{line}\n{line}\n").as_bytes());
    assert!(run.status == 2 && run.stderr.contains("take one task set"), "{run:?}");
}
