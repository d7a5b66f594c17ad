//! Zones: a recorder whose tasks own zones, from the command line.

use std::path::{Path, PathBuf};

use crate::common::{rtflash, rtflash_with_input};

/// Two chips: a camera that writes so and reads what it has recorded, and who plays it.
fn set(access: &str, more: &str) -> String {
    let device = r#""profile":"dgist-2021","chips":2,"chips_per_channel":2"#;
    let write = format!(r#"{{"pages":24,"period":"30ms","access":"{access}"}}"#);
    let read = r#"{"pages":40,"period":"36ms","access":"sequential"}"#;
    format!(
        r#"{{"device":{{{device}}},"tasks":[{{"name":"camera","read":{read},"write":{write},"data_pages":100000{more}}}]}}"#
    )
}

const ZONED: [&str; 4] = ["--algorithm", "global", "--analysis", "zoned"];

fn alloc(set: &str, options: &[&str]) -> (i32, String) {
    let run = rtflash_with_input(&[&["alloc", "-"], &ZONED[..], options].concat(), set.as_bytes());
    (run.status, run.stdout + &run.stderr)
}

fn file(name: &str, text: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-zoned", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    let path = directory.join(name);
    std::fs::write(&path, text).expect("a file");
    path
}

/// A chart of a run of the set, as text and as a figure.
fn charts(set: &str, allocation: &str, name: &str) -> (String, String) {
    let svg = file(&format!("{name}.svg"), "");
    let [path, allocation] = [file(&format!("{name}.json"), set), file(&format!("{name}-allocation.json"), allocation)];
    let [path, allocation, svg] = [&path, &allocation, &svg].map(|path| path.to_str().expect("a name"));
    let stretch = ["--duration", "2s", "--gantt", "0ms..1s", "--gantt-out", svg];
    let run = rtflash(&[&["exec", path, "--allocation", allocation, "--analysis", "zoned"], &stretch[..]].concat());
    assert_eq!(run.status, 0, "{}{}", run.stdout, run.stderr);
    (run.stdout, std::fs::read_to_string(svg).expect("a figure"))
}

/// Charts call a reset a reset, and what a collector does by its name where there is one.
#[test]
fn charts_call_resets_by_their_name() {
    let (_, allocation) = alloc(&set("stream", ""), &["--format", "json"]);
    let (text, svg) = charts(&set("stream", ""), &allocation, "one");
    let legend = "A B … its writes  # zone reset  * not real-time";
    assert!(text.contains(legend) && !text.contains("GC erase") && !text.contains("GC copy"), "{text}");
    assert!(svg.contains(">zone reset</text>") && svg.contains(": zone reset, "), "{svg}");
    assert!(!svg.contains("GC "), "{svg}");

    // A stripe beside it.
    let write = r#"{"pages":24,"period":"60ms","access":"stream"}"#;
    let tasks = ["camera", "log"].map(|name| format!(r#"{{"name":"{name}","write":{write}}}"#)).join(",");
    let both = format!(r#"{{"device":{{"profile":"dgist-2021","chips":4,"chips_per_channel":2}},"tasks":[{tasks}]}}"#);
    let cluster = |analysis: &str, at: usize| {
        let split = ["--algorithm", "equal-split", "--analysis", analysis, "--format", "json"];
        let run = rtflash_with_input(&[&["alloc", "-"], &split[..]].concat(), both.as_bytes());
        assert_eq!(run.status, 0, "{}{}", run.stdout, run.stderr);
        let answer: serde_json::Value = serde_json::from_str(&run.stdout).expect("an answer");
        answer["clusters"][at].to_string()
    };
    let clusters = format!(r#"{{"clusters":[{},{}]}}"#, cluster("zoned", 0), cluster("stripe", 1));
    let (text, svg) = charts(&both, &clusters, "both");
    assert!(text.contains("+ GC copy  # GC erase, zone reset  *"), "{text}");
    for part in [">GC erase, zone reset</text>", ": zone reset, ", ": GC erase, "] {
        assert!(svg.contains(part), "{part} in {svg}");
    }
}

#[test]
fn a_recorder_is_promised_verified_run_and_explained() {
    let (status, answer) = alloc(&set("stream", ""), &["--format", "json"]);
    assert_eq!(status, 0, "{answer}");
    // Both chips of the channel are its own: a read of 130 us, a program of 580 us. Docs, Section
    // 16, has four chips a channel.
    assert!(answer.contains("\"kind\":\"zoned\"") && !answer.contains("\"alpha\":"), "{answer}");
    let slack = 30_000_000 - 12 * 580_000 - 5_000_000 - 130_000;
    assert!(answer.contains(&format!("\"slack_ns\":{slack}")), "{answer}");
    let [path, allocation] = [file("set.json", &set("stream", "")), file("allocation.json", &answer)];
    let [path, allocation] = [&path, &allocation].map(|path| path.to_str().expect("a name"));
    let given = ["--allocation", allocation, "--analysis", "zoned"];
    let run = |command: &str, more: &[&str]| {
        let run = rtflash(&[&[command, path], &given[..], more].concat());
        assert_eq!(run.status, 0, "{command}: {}{}", run.stdout, run.stderr);
        run.stdout
    };
    run("check", &[]);
    let exec = run("exec", &["--duration", "2s", "--aging", "random", "--format", "json"]);
    assert!(exec.contains("\"missed\":0") || !exec.contains("\"missed\""), "{exec}");
    let explained = run("explain", &[]);
    for line in ["zoned: every chip is an EDF processor of its own; a zone has 512 pages", "reset", "Theorem 7"] {
        assert!(explained.contains(line), "{line} in {explained}");
    }
}

#[test]
fn who_jumps_is_refused() {
    for access in ["sequential", "random"] {
        let (status, answer) = alloc(&set(access, ""), &[]);
        assert_ne!(status, 0, "{answer}");
        assert!(answer.contains("write requests need") && answer.contains("--analysis stripe"), "{answer}");
    }
}
