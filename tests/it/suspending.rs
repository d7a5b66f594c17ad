//! Erases that are suspended, as the command has them: promised, explained, run, and judged by a
//! trace.

use std::path::Path;

use crate::common::{rtflash, rtflash_with_input};

/// Two chips of few blocks, who writes, and reads that come a little more often than an erase is
/// long.
fn set(more: &str) -> String {
    let device = r#""profile":"dgist-2021","chips":2,"blocks_per_chip":40,"pages_per_block":16"#;
    let tasks =
        r#"{"name":"log","write":{"pages":8,"period":"60ms"}},{"name":"control","read":{"pages":2,"period":"4900us"}}"#;
    format!(r#"{{"device":{{{device}{more}}},"tasks":[{tasks}]}}"#)
}

const SUSPENDS: &str = r#","erase_suspend":"100us","erase_resume":"50us""#;

#[test]
fn who_comes_more_often_than_an_erase_is_long_is_in_time() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-suspending", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    let [path, trace] = ["set.json", "trace.jsonl"].map(|name| directory.join(name));
    std::fs::write(&path, set(SUSPENDS)).expect("a file");
    let [path, trace] = [&path, &trace].map(|path| path.to_str().expect("a name"));
    for analysis in ["stripe", "superblock"] {
        let by = ["--algorithm", "global", "--analysis", analysis];
        let alloc = |set: &str| rtflash_with_input(&[&["alloc", "-"], &by[..]].concat(), set.as_bytes()).status;
        assert_eq!((alloc(&set("")), alloc(&set(SUSPENDS))), (1, 0), "{analysis}");
        let explain = rtflash(&[&["explain", path], &by[..]].concat()).stdout;
        assert!(explain.contains("c_s = t_s + t_u = 100us + 50us = 150us"), "{explain}");
        let options = ["--duration", "8s", "--trace", trace];
        let exec = rtflash(&[&["exec", path], &by[..], &options].concat());
        assert_eq!(exec.status, 0, "{}{}", exec.stdout, exec.stderr);
        let records = std::fs::read_to_string(trace).expect("a trace");
        assert!(records.lines().filter(|line| line.contains("\"erase-part\"")).count() > 1, "{analysis}");
        let check = rtflash(&[&["check", path], &by[..], &["--trace", trace]].concat());
        assert_eq!(check.status, 0, "{}{}", check.stdout, check.stderr);
        // Parts that the trace omits have not happened.
        let silent: Vec<&str> = records.lines().filter(|line| !line.contains("\"erase-part\"")).collect();
        std::fs::write(trace, silent.join("\n") + "\n").expect("a file");
        assert_eq!(rtflash(&[&["check", path], &by[..], &["--trace", trace]].concat()).status, 1);
    }
    std::fs::remove_dir_all(directory).expect("it was made here");
}

#[test]
fn firmware_suspends_and_says_so() {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-suspending.bin", std::process::id()));
    let options = ["export", "firmware", "-", "--analysis", "stripe", "--out"];
    let export =
        rtflash_with_input(&[&options[..], &[out.to_str().expect("a name")]].concat(), set(SUSPENDS).as_bytes());
    assert_eq!(export.status, 0, "{}", export.stderr);
    assert!(export.stderr.contains("erases are suspended in 1 of the clusters"), "{}", export.stderr);
    std::fs::remove_file(out).expect("the image was written");
}

/// If no erase is suspended although the device can, `explain` says why.
#[test]
fn where_erases_block_it_is_said_why() {
    let said = |set: &str| {
        let out =
            rtflash_with_input(&["explain", "-", "--algorithm", "global", "--analysis", "stripe"], set.as_bytes());
        assert!(out.status < 2, "{}", out.stderr);
        out.stdout
    };
    let slower = |more: &str| set(&[SUSPENDS, more].concat()).replace("4900us", "60ms");
    let commands = slower(r#","command":"1us""#);
    let server = slower("").replacen(
        "\"tasks\":",
        r#""jobs":[{"name":"batch","write_pages":1,"arrivals":{"every":"1s"}}],"tasks":"#,
        1,
    );
    for (set, why) in [(commands, "commands use the bus"), (server, "the cluster has a server")] {
        let explain = said(&set);
        assert!(explain.contains(&format!("no erase is suspended here, as {why}")), "{why}: {explain}");
    }
    for set in [set(SUSPENDS), set("").replace("4900us", "60ms")] {
        assert!(!said(&set).contains("no erase is suspended"));
    }
}
