//! Chips with two page registers: promised, verified and run by the sound analyses.

use std::path::Path;

use crate::common::{rtflash, rtflash_with_input};

/// Two chips on one channel read `pages` pages in stripes every 20 ms.
fn set(pages: u32, more: &str) -> String {
    let device = r#""profile":"dgist-2021","chips":2,"chips_per_channel":2"#;
    let read = format!(r#"{{"pages":{pages},"period":"20ms","access":"sequential"}}"#);
    format!(r#"{{"device":{{{device}{more}}},"tasks":[{{"name":"map","read":{read}}}]}}"#)
}

const REGISTERS: &str = r#","page_registers":2"#;
const STRIPE: [&str; 4] = ["--algorithm", "global", "--analysis", "stripe"];

/// The status of `alloc` and what it prints.
fn alloc(set: &str, options: &[&str]) -> (i32, String) {
    let run = rtflash_with_input(&[&["alloc", "-"], options].concat(), set.as_bytes());
    (run.status, run.stdout + &run.stderr)
}

fn json(set: &str) -> String {
    let (status, answer) = alloc(set, &[&STRIPE[..], &["--format", "json"]].concat());
    assert_eq!(status, 0, "{answer}");
    answer
}

#[test]
fn pages_are_sensed_while_others_are_moved() {
    let slack = |answer: &str| {
        let (_, behind) = answer.split_once("\"slack_ns\":").expect("a certificate");
        behind.split(['}', ',']).next().expect("a number").to_owned()
    };
    assert_eq!(alloc(&set(400, ""), &STRIPE).0, 1, "200 pages of 130 us are more than 20 ms");
    // The commands take 80 us each, and the last one leaves behind a transfer of the other chip:
    // 160 us in all.
    let most = json(&set(490, REGISTERS));
    assert!(most.contains("\"kind\":\"cached-stripe\""), "{most}");
    assert_eq!(slack(&most), (20_000_000 - 245 * 80_000 - 160_000).to_string(), "{most}");
    assert_eq!(alloc(&set(498, REGISTERS), &STRIPE).0, 1, "249 pages of 80 us and 160 us for 20 ms");
}

/// A superblock of both chips: each page of 50 us, as its transfer of 40 us is hidden, and the last
/// one leaves behind them. With one register a page is 90 us.
#[test]
fn superblocks_sense_pages_while_others_are_moved() {
    const SUPERBLOCK: [&str; 4] = ["--algorithm", "global", "--analysis", "superblock"];
    assert_eq!(alloc(&set(222, ""), &SUPERBLOCK).0, 0);
    assert_eq!(alloc(&set(223, ""), &SUPERBLOCK).0, 1);
    let (status, most) = alloc(&set(398, REGISTERS), &[&SUPERBLOCK[..], &["--format", "json"]].concat());
    assert_eq!(status, 0, "{most}");
    assert!(most.contains("\"kind\":\"cached-superblock\"") && !most.contains("backfill"), "{most}");
    let slack = 20_000_000 - 398 * 50_000 - 50_000 - 40_000;
    assert!(most.contains(&format!("\"slack_ns\":{slack}")), "{most}");
    assert_eq!(alloc(&set(399, REGISTERS), &SUPERBLOCK).0, 1);
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-rows", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    let [path, allocation] = ["set.json", "allocation.json"].map(|name| directory.join(name));
    std::fs::write(&path, set(398, REGISTERS)).expect("a file");
    std::fs::write(&allocation, most).expect("a file");
    let [path, allocation] = [&path, &allocation].map(|path| path.to_str().expect("a name"));
    let given = ["--allocation", allocation, "--analysis", "superblock"];
    let check = rtflash(&[&["check", path], &given[..]].concat());
    assert_eq!(check.status, 0, "{}{}", check.stdout, check.stderr);
    let exec = rtflash(&[&["exec", path], &given[..], &["--duration", "1s", "--format", "json"]].concat());
    assert_eq!(exec.status, 0, "{}{}", exec.stdout, exec.stderr);
    assert!(exec.stdout.contains("\"max_response_ns\":19940000"), "{}", exec.stdout);
    let explain = rtflash(&[&["explain", path], &given[..]].concat());
    assert_eq!(explain.status, 0, "{}{}", explain.stdout, explain.stderr);
    let costs = "longer = 50.000us, c_w = t_w, or what the bus takes where that is longer = 500.000us";
    for line in ["cached-superblock: the cluster is one EDF processor", costs] {
        assert!(explain.stdout.contains(line), "{line} in {}", explain.stdout);
    }
}

/// The device of `set` with commands of 1 us: t_b is 41 us.
const COMMANDS: &str = r#","page_registers":2,"command":"1us""#;

/// The longest response, in nanoseconds, of a run by an allocation that has just been made; the
/// allocation is verified, too, and `explain` says this of it.
fn longest_with_commands(set: &str, analysis: &str, kind: &str, line: &str) -> String {
    let options = ["--algorithm", "global", "--analysis", analysis];
    let (status, answer) = alloc(set, &[&options[..], &["--format", "json"]].concat());
    assert_eq!(status, 0, "{answer}");
    assert!(answer.contains(&format!("\"kind\":\"{kind}\"")), "{answer}");
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-told-{kind}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    let [path, allocation] = ["set.json", "allocation.json"].map(|name| directory.join(name));
    std::fs::write(&path, set).expect("a file");
    std::fs::write(&allocation, answer).expect("a file");
    let [path, allocation] = [&path, &allocation].map(|path| path.to_str().expect("a name"));
    let given = ["--allocation", allocation, "--analysis", analysis];
    let check = rtflash(&[&["check", path], &given[..]].concat());
    assert_eq!(check.status, 0, "{}{}", check.stdout, check.stderr);
    let explain = rtflash(&[&["explain", path], &given[..]].concat());
    assert!(explain.stdout.contains(line) && explain.stdout.contains("Lemma 23"), "{}", explain.stdout);
    let exec = rtflash(&[&["exec", path], &given[..], &["--duration", "1s", "--format", "json"]].concat());
    assert_eq!(exec.status, 0, "{}{}", exec.stdout, exec.stderr);
    let (_, longest) = exec.stdout.split_once("\"max_response_ns\":").expect("a response");
    longest.split([',', '}']).next().expect("a number").to_owned()
}

/// Each page of a stripe waits for the other chip, receives its command within that, and is sensed:
/// 92 us. With one register it is 173 us. B is 92 us and b, 82 us.
#[test]
fn commands_go_with_pages_of_a_stripe() {
    let one_register = r#","command":"1us""#;
    assert_eq!([230, 231].map(|pages| alloc(&set(pages, one_register), &STRIPE).0), [0, 1]);
    assert_eq!([430, 431].map(|pages| alloc(&set(pages, COMMANDS), &STRIPE).0), [0, 1]);
    // One after the other from 51 us on, 82 us for two; the last two without a command behind them.
    let line = "c_r = 1 t_b + t_c + max(t_r, t_d) = 92.000us";
    let longest = longest_with_commands(&set(430, COMMANDS), "stripe", "cached-stripe", line);
    assert_eq!(longest, (51_000 + 214 * 82_000 + 2 * 40_000).to_string());
}

/// A pass with two registers takes as long as with one: 128 copies of 550 us and an erase of 5 ms,
/// each behind a command of 1 us and a wait of 41 us.
#[test]
fn explain_says_what_passes_wait_for_with_commands() {
    let write = r#""write":{"pages":4,"period":"200ms"},"read""#;
    let both = set(300, COMMANDS).replace("\"read\"", write);
    let run = rtflash_with_input(&[&["explain", "-"], &STRIPE[..]].concat(), both.as_bytes());
    assert_eq!(run.status, 0, "{run:?}");
    for line in ["cached-stripe", "C_g = 128 (t_r + t_w) + t_e + 129 (t_c + 1 t_b) = 80.818ms"] {
        assert!(run.stdout.contains(line), "{line} in {}", run.stdout);
    }
}

/// A superblock of the whole channel waits for no other chip: a page is 51 us for 91. B is 51 us
/// and 41.
#[test]
fn commands_go_with_pages_of_a_superblock() {
    const SUPERBLOCK: [&str; 4] = ["--algorithm", "global", "--analysis", "superblock"];
    let one_register = r#","command":"1us""#;
    assert_eq!([219, 220].map(|pages| alloc(&set(pages, one_register), &SUPERBLOCK).0), [0, 1]);
    assert_eq!([390, 391].map(|pages| alloc(&set(pages, COMMANDS), &SUPERBLOCK).0), [0, 1]);
    let line = "c_r = 0 t_b + t_c + max(t_r, t_d) = 51.000us";
    let longest = longest_with_commands(&set(390, COMMANDS), "superblock", "cached-superblock", line);
    assert_eq!(longest, (390 * 51_000 + 40_000).to_string());
}

/// B where a superblock reads alone: a page of another task in the array, and the last page that
/// leaves. Three pages of 50 us, 50 us and 40 us are all that there is of 240 us, and a
/// nanosecond behind the other task's first page they take all but that.
#[test]
fn what_a_superblock_that_reads_is_blocked_by_is_needed() {
    let set = |deadline: &str| {
        let short = format!(r#""read":{{"pages":3,"period":"20ms","deadline":"{deadline}"}}"#);
        let device = r#""profile":"dgist-2021","chips":2,"chips_per_channel":2,"page_registers":2"#;
        let long = r#""read":{"pages":100,"period":"100ms"}"#;
        format!(r#"{{"device":{{{device}}},"tasks":[{{"name":"short",{short}}},{{"name":"long",{long}}}]}}"#)
    };
    const SUPERBLOCK: [&str; 4] = ["--algorithm", "global", "--analysis", "superblock"];
    assert_eq!(alloc(&set("239999ns"), &SUPERBLOCK).0, 1);
    assert_eq!(alloc(&set("240us"), &SUPERBLOCK).0, 0);
    let releases = ["--releases", r#"{"short":{"read":{"offset":"1ns"}}}"#, "--duration", "100ms", "--format", "json"];
    let run = rtflash_with_input(&[&["exec", "-"], &SUPERBLOCK[..], &releases[..]].concat(), set("240us").as_bytes());
    assert_eq!(run.status, 0, "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("\"max_response_ns\":239999"), "{}", run.stdout);
}

#[test]
fn what_is_promised_is_verified_and_run() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-registers", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    let [path, allocation] = ["set.json", "allocation.json"].map(|name| directory.join(name));
    std::fs::write(&path, set(490, REGISTERS)).expect("a file");
    std::fs::write(&allocation, json(&set(490, REGISTERS))).expect("a file");
    let [path, allocation] = [&path, &allocation].map(|path| path.to_str().expect("a name"));
    let given = ["--allocation", allocation, "--analysis", "stripe"];
    let check = rtflash(&[&["check", path], &given[..]].concat());
    assert_eq!(check.status, 0, "{}{}", check.stdout, check.stderr);
    let exec = rtflash(&[&["exec", path], &given[..], &["--duration", "1s", "--format", "json"]].concat());
    assert_eq!(exec.status, 0, "{}{}", exec.stdout, exec.stderr);
    // The worst case: all pages of both chips, one transfer after another, behind the first page.
    assert!(exec.stdout.contains("\"max_response_ns\":19650000"), "{}", exec.stdout);
    // A device with one register does not do what the certificate says.
    for other in ["", r#","page_registers":1"#] {
        let set = set(490, other);
        let check = rtflash_with_input(&[&["check", "-"], &given[..]].concat(), set.as_bytes());
        assert_eq!(check.status, 1, "{}{}", check.stdout, check.stderr);
        assert!(check.stdout.contains("chips of this device cannot work so"), "{}{}", check.stdout, check.stderr);
        let exec = rtflash_with_input(&[&["exec", "-"], &given[..]].concat(), set.as_bytes());
        assert_ne!(exec.status, 0, "{}{}", exec.stdout, exec.stderr);
    }
}

#[test]
fn a_recorded_run_is_judged_again() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-trace", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    let [path, trace] = ["set.json", "trace.jsonl"].map(|name| directory.join(name));
    let both =
        set(200, REGISTERS).replace("\"read\"", r#""write":{"pages":16,"period":"15ms","access":"sequential"},"read""#);
    std::fs::write(&path, both).expect("a file");
    let [path, trace_path] = [&path, &trace].map(|path| path.to_str().expect("a name"));
    let run = rtflash(&[&["exec", path], &STRIPE[..], &["--duration", "300ms", "--trace", trace_path]].concat());
    assert_eq!(run.status, 0, "{}{}", run.stdout, run.stderr);
    let check = |trace: &str| rtflash(&[&["check", path, "--trace", trace], &STRIPE[..]].concat());
    let again = check(trace_path);
    assert_eq!(again.status, 0, "{}{}", again.stdout, again.stderr);
    // A page sensed a microsecond too early is found out.
    let text = std::fs::read_to_string(&trace).expect("a trace");
    let mut reads = text.lines().filter(|line| line.contains("\"op\":\"read\"") && line.contains("\"kind\":\"read\""));
    let line = reads.nth(9).expect("pages that are read");
    let (_, start) = line.split_once("\"start\":").expect("a start");
    let start: u64 = start.split(',').next().expect("a number").parse().expect("a number");
    let early = line.replacen(&format!("\"start\":{start}"), &format!("\"start\":{}", start - 1_000), 1);
    std::fs::write(&trace, text.replacen(line, &early, 1)).expect("a file");
    let found = check(trace_path);
    assert_eq!(found.status, 1, "{}{}", found.stdout, found.stderr);
}

#[test]
fn explain_says_what_a_second_register_changes() {
    let run = rtflash_with_input(&[&["explain", "-"], &STRIPE[..]].concat(), set(490, REGISTERS).as_bytes());
    assert_eq!(run.status, 0, "{run:?}");
    let costs = "longer = 80.000us, c_w = t_w, or what the bus takes where that is longer = 500.000us";
    for line in ["cached-stripe: every chip is an EDF processor", costs] {
        assert!(run.stdout.contains(line), "{line} in {}", run.stdout);
    }
}

#[test]
fn a_sweep_may_go_along_registers() {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-registers-swept", std::process::id()));
    let experiment = ["experiment", "schedulability", "--util", "5.2", "--sets", "20", "--analyses", "stripe"];
    let sweep = ["--algorithms", "best-fit", "--access", "sequential", "--sweep", "page_registers=1,2", "--out"];
    let run = rtflash(&[&experiment[..], &sweep[..], &[out.to_str().expect("a name")]].concat());
    assert_eq!(run.status, 0, "{run:?}");
    let table = std::fs::read_to_string(out.join("results.csv")).expect("a table");
    let mut lines = table.lines();
    let head: Vec<&str> = lines.next().expect("a head").split(',').collect();
    let at = |name: &str| head.iter().position(|&of| of == name).unwrap_or_else(|| panic!("{name} in {head:?}"));
    let [registers, schedulable] = ["page_registers", "schedulable"].map(at);
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.iter().map(|row| row[registers]).collect::<Vec<_>>(), ["1", "2"], "{table}");
    let [one, two] = [0, 1].map(|row| rows[row][schedulable].parse::<u32>().expect("a count"));
    assert!(one < two, "{table}");
}
