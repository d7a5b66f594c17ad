//! Small input never exhausts memory: every command under a limit of address space.

#![cfg(target_os = "linux")]

use std::process::Command;

use crate::common::{file, root};

/// Runs the command with at most `kib` KiB of address space. Returns the exit status, if it ended
/// by itself, and what it printed.
fn within(kib: u64, args: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new("sh")
        .args(["-c", &format!("ulimit -v {kib}; exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_rtflash")])
        .args(args)
        .current_dir(root())
        .output()
        .expect("the command starts");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn path(name: &str, content: &str) -> String {
    file(name, content).display().to_string()
}

fn device(fields: &str) -> String {
    format!(
        r#"{{"device":{{"profile":"dgist-2021",{fields}}},"tasks":[{{"name":"a","read":{{"pages":1,"period":"1s"}},"write":{{"pages":1,"period":"1s"}}}}]}}"#
    )
}

#[test]
fn half_a_million_faults_are_counted_in_little_memory() {
    // With all of them kept each of these would take some three hundred megabytes.
    let elements = vec!["1"; 500_000].join(",");
    let tasks = format!(r#"{{"device":"dgist-2021","tasks":[{elements}]}}"#);
    let jobs = format!(r#"{{"device":"dgist-2021","tasks":[],"jobs":[{elements}]}}"#);
    let clusters = format!(r#"{{"clusters":[{elements}]}}"#);
    let [tasks, jobs, clusters] =
        [("wrong-tasks.json", tasks), ("wrong-jobs.json", jobs), ("wrong-clusters.json", clusters)]
            .map(|(name, text)| path(name, &text));
    for call in [
        vec!["alloc", &tasks],
        vec!["alloc", &jobs],
        vec!["check", "tasksets/case-study.json", "--allocation", &clusters],
    ] {
        let (status, stdout, stderr) = within(200_000, &call);
        assert_eq!((status, stdout.as_str()), (Some(2), ""), "{call:?}: {stderr}");
        let more = stderr.lines().last().and_then(|line| line.strip_prefix("… and ")?.strip_suffix(" more"));
        assert_eq!(more, Some("499980"), "{call:?}: {stderr}");
    }
}

#[test]
fn a_device_too_large_is_refused_with_the_memory_it_would_take() {
    let large = path("large.json", &device(r#""chips":64,"blocks_per_chip":16384,"pages_per_block":512"#));
    for analysis in ["thesis", "sound"] {
        let (status, stdout, stderr) =
            within(4_000_000, &["exec", &large, "--analysis", analysis, "--duration", "1ms", "--format", "json"]);
        assert_eq!((status, stderr.as_str()), (Some(3), ""), "{stdout}");
        let answer: serde_json::Value = serde_json::from_str(&stdout).expect("an answer");
        let reason = answer["reason"].as_str().expect("a reason");
        assert!(reason.contains("GiB of memory, and 2.0 GiB are allowed (--memory"), "{reason}");
    }
}

/// The stated work of a run is no less than its real work: with that limit it does not abort.
#[test]
fn what_a_run_takes_is_known_before() {
    // The program itself, its threads and what is not counted.
    const BESIDE: u64 = 160 << 20;
    for (name, fields, options) in [
        ("one", r#""chips":1,"blocks_per_chip":4096,"pages_per_block":256"#, "--aging worst"),
        ("wide", r#""chips":16,"blocks_per_chip":1024,"pages_per_block":64"#, "--aging random"),
        (
            "channels",
            r#""chips":512,"chips_per_channel":1,"blocks_per_chip":64,"pages_per_block":16"#,
            "--dispatch parallel",
        ),
        ("chip", r#""chips":4,"blocks_per_chip":1024,"pages_per_block":256"#, "--pattern one-chip"),
    ] {
        let set = path(&format!("takes-{name}.json"), &device(fields));
        for analysis in ["thesis", "sound"] {
            if (analysis, options) == ("sound", "--dispatch parallel") {
                // Certificates say how chips are kept busy.
                continue;
            }
            let mut call = vec!["exec", &set, "--analysis", analysis, "--duration", "10ms", "--memory", "1KiB"];
            call.extend(options.split(' '));
            let (status, stdout, _) = within(4_000_000, &call);
            assert_eq!(status, Some(3), "{name} {analysis}: {stdout}");
            let needed = stdout.split("would take ").nth(1).and_then(|rest| rest.split(" of memory").next());
            let (amount, unit) = needed.and_then(|needed| needed.split_once(' ')).expect("an amount");
            let unit = ["KiB", "MiB", "GiB"].iter().position(|name| *name == unit).expect("a unit");
            let needed = amount.parse::<f64>().expect("a number") * 1024f64.powi(i32::try_from(unit).expect("few"));
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Some MiB.
            let limit = (BESIDE + (needed * 1_024.0) as u64) >> 10;
            call[7] = "1GiB";
            let (status, stdout, stderr) = within(limit, &call);
            assert!(matches!(status, Some(0 | 1)), "{name} {analysis} {limit}: {stdout} {stderr}");
        }
    }
}

#[test]
fn options_beyond_all_measure_are_refused() {
    let out = std::env::temp_dir().join(format!("rtflash-beyond-{}", std::process::id()));
    let out = out.display().to_string();
    for kind in ["schedulability", "write-heavy", "bandwidth"] {
        let call = ["experiment", kind, "--tasks", "4294967295", "--sets", "1", "--no-figure", "--out", &out];
        let (status, stdout, stderr) = within(1_000_000, &call);
        assert_eq!((status, stdout.as_str()), (Some(2), ""), "{kind}: {stderr}");
        assert!(stderr.contains("too many: at most"), "{stderr}");
    }
}
