//! Blocks that fail, as the command has them: promised, verified, run, and judged by a trace.

use std::path::Path;

use crate::common::{rtflash, rtflash_with_input};

/// Two chips of few blocks, one task that reads and writes.
fn set(more: &str) -> String {
    let device = r#""profile":"dgist-2021","chips":2,"chips_per_channel":2,"blocks_per_chip":32,"pages_per_block":16"#;
    let task = r#"{"name":"log","read":{"pages":4,"period":"40ms"},"write":{"pages":4,"period":"60ms"}}"#;
    format!(r#"{{"device":{{{device}{more}}},"tasks":[{task}]}}"#)
}

const SPARE: &str = r#","spare_blocks":3,"program_failures":1"#;

#[test]
fn blocks_fail_and_nothing_is_late() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-failing", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    let [path, trace] = ["set.json", "trace.jsonl"].map(|name| directory.join(name));
    std::fs::write(&path, set(SPARE)).expect("a file");
    let [path, trace] = [&path, &trace].map(|path| path.to_str().expect("a name"));
    for analysis in ["stripe", "superblock"] {
        let by = ["--algorithm", "global", "--analysis", analysis];
        let options = ["--faults", "200", "--duration", "20s", "--trace", trace, "--format", "json"];
        let exec = rtflash(&[&["exec", path], &by[..], &options].concat());
        assert_eq!(exec.status, 0, "{}{}", exec.stdout, exec.stderr);
        assert!(exec.stdout.contains("\"faults\":200"), "{}", exec.stdout);
        assert!(exec.stdout.contains("\"name\":\"failures\""), "{}", exec.stdout);
        let records = std::fs::read_to_string(trace).expect("a trace");
        let failed = records.lines().filter(|line| line.starts_with("{\"failed\"")).count();
        assert!(failed > 3, "{analysis}: {failed}");
        let check = rtflash(&[&["check", path], &by[..], &["--trace", trace]].concat());
        assert_eq!(check.status, 0, "{}{}", check.stdout, check.stderr);
        // An allocation has the certificates that it is judged by, whatever analysis is named.
        let found = rtflash(&[&["alloc", path, "--format", "json"], &by[..]].concat());
        let given = directory.join("allocation.json");
        std::fs::write(&given, found.stdout).expect("a file");
        let given = given.to_str().expect("a name");
        let check = rtflash(&["check", path, "--allocation", given, "--trace", trace, "--format", "json"]).json();
        assert_eq!((&check["analysis"], &check["predicted_schedulable"]), (&"sound".into(), &true.into()));
        // Failures that the trace omits have not happened.
        let silent: Vec<&str> = records.lines().filter(|line| !line.starts_with("{\"failed\"")).collect();
        std::fs::write(trace, silent.join("\n") + "\n").expect("a file");
        assert_eq!(rtflash(&[&["check", path], &by[..], &["--trace", trace]].concat()).status, 1);
    }
    std::fs::remove_dir_all(directory).expect("it was made here");
}

#[test]
fn faults_need_somebody_who_counts_with_them() {
    let exec = |set: &str, options: &[&str]| {
        let options = [&["exec", "-", "--duration", "1s", "--faults", "5"], options].concat();
        let run = rtflash_with_input(&options, set.as_bytes());
        (run.status, run.stderr)
    };
    let (status, complaint) = exec(&set(""), &["--analysis", "sound"]);
    assert!(status == 2 && complaint.contains("spare_blocks"), "{status} {complaint}");
    let (status, complaint) = exec(&set(SPARE), &["--analysis", "thesis"]);
    assert!(status == 2 && complaint.contains("certificates"), "{status} {complaint}");
    assert_eq!(exec(&set(SPARE), &["--analysis", "sound"]).0, 0);
}

/// An option that changes certified runs alone is refused elsewhere.
#[test]
fn options_of_certified_runs_need_certificates() {
    for option in [&["--waits", "worst"][..], &["--no-backfill"]] {
        let exec = |analysis: &str| {
            let options = [&["exec", "-", "--duration", "1s", "--analysis", analysis], option].concat();
            rtflash_with_input(&options, set("").as_bytes())
        };
        let refused = exec("thesis");
        let says = |what: &str| refused.stderr.contains(what);
        assert!(refused.status == 2 && says(&option.join(" ")) && says("certificates"), "{refused:?}");
        assert_eq!((refused.stdout.as_str(), exec("sound").status), ("", 0));
    }
}

/// With this number of programs that can fail at once nothing fits between two requests; the advice
/// is the largest number of them with which it does.
#[test]
fn fewer_failures_at_once_are_advised() {
    let alloc = |failures: u32, format: &str| {
        let device = format!(
            r#""profile":"dgist-2021","chips":2,"chips_per_channel":2,"blocks_per_chip":64,"pages_per_block":16,
               "spare_blocks":8,"program_failures":{failures}"#
        );
        let task = r#"{"name":"log","write":{"pages":1,"period":"10ms"}}"#;
        let set = format!(r#"{{"device":{{{device}}},"tasks":[{task}]}}"#);
        let options = ["alloc", "-", "--analysis", "stripe", "--algorithm", "global", "--format", format];
        rtflash_with_input(&options, set.as_bytes())
    };
    let most = (0..8).rev().find(|&failures| alloc(failures, "json").status == 0).expect("none may fail");
    assert!(most > 0 && alloc(8, "json").status == 1);
    let (json, text) = (alloc(8, "json"), alloc(8, "text"));
    assert!(json.stdout.contains(&format!("\"program_failures\":{most}")), "{}", json.stdout);
    assert!(text.stdout.contains(&format!("program_failures of {most} instead of 8")), "{}", text.stdout);
    // If none can fail there is nothing to advise.
    assert!(!alloc(0, "json").stdout.contains("program_failures"));
}
