//! Wear that is levelled, as a user has it.

use std::collections::HashMap;
use std::path::Path;

use crate::common::{rtflash, rtflash_with_input};
use serde_json::Value;

/// A chip of few blocks, most of which hold data that no task overwrites.
fn set(more: &str) -> String {
    let device = r#""profile":"dgist-2021","chips":1,"blocks_per_chip":64,"pages_per_block":32"#;
    let tasks = r#"[{"name":"log","write":{"pages":8,"period":"50ms"},"data_pages":160},
        {"name":"map","read":{"pages":8,"period":"50ms"},"data_pages":700}]"#;
    format!(r#"{{"device":{{{device}{more}}},"tasks":{tasks}}}"#)
}

/// The least and the most erases of a block in a run, and what `exec` says of it.
fn erases(more: &str, name: &str) -> (u32, u32, Value) {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-wear-{name}.jsonl", std::process::id()));
    let trace = file.to_str().expect("a path");
    let args = ["exec", "-", "--analysis", "stripe", "--duration", "400s", "--trace", trace, "--format", "json"];
    let run = rtflash_with_input(&args, set(more).as_bytes());
    assert_eq!(run.status, 0, "{}", run.stderr);
    let text = std::fs::read_to_string(&file).expect("a trace");
    std::fs::remove_file(&file).expect("it was written");
    let mut counts: HashMap<u64, u32> = (0..64).map(|block| (block, 0)).collect();
    for line in text.lines().filter(|line| line.contains(r#""op":"erase""#)) {
        let erase: Value = serde_json::from_str(line).expect("a record");
        *counts.entry(erase["block"].as_u64().expect("a block")).or_default() += 1;
    }
    let answer = serde_json::from_str(&run.stdout).expect("an answer");
    (*counts.values().min().expect("blocks"), *counts.values().max().expect("blocks"), answer)
}

fn alpha(more: &str) -> u64 {
    let run = rtflash_with_input(&["alloc", "-", "--analysis", "stripe", "--format", "json"], set(more).as_bytes());
    assert_eq!(run.status, 0, "{}", run.stderr);
    let answer: Value = serde_json::from_str(&run.stdout).expect("an answer");
    answer["clusters"][0]["certificate"]["reclaimed_pages"].as_u64().expect("a number")
}

#[test]
fn blocks_are_worn_alike_where_a_device_says_so() {
    let (least, most, _) = erases("", "uneven");
    assert!(least == 0 && most > 150, "{least} to {most}");
    for (more, name) in [(r#","wear_gap":4"#, "even"), (r#","wear_gap":4,"wear_passes":4"#, "surely")] {
        let (least, most, answer) = erases(more, name);
        assert!(least > 30 && most < 80 && most - least <= 24, "{more}: {least} to {most}");
        let checks = answer["checks"].as_array().expect("checks");
        let of = checks.iter().find(|check| check["name"] == "levelled-wear").expect("it is looked at");
        assert!(of["holds"] == true && checks.iter().all(|check| check["holds"] != false), "{answer}");
    }
}

#[test]
fn alpha_leaves_jobs_for_wear() {
    let whole = alpha("");
    assert_eq!(alpha(r#","wear_gap":4"#), whole);
    let less = [32, 8, 4, 2].map(|passes| alpha(&format!(r#","wear_gap":4,"wear_passes":{passes}"#)));
    // ⌈15/32⌉, ⌈15/8⌉, ⌈15/4⌉, ⌈15/2⌉ less, where v stays what it is.
    assert_eq!((whole, less), (15, [14, 13, 11, 7]));
}

#[test]
fn firmware_levels_wear_and_says_so() {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-wear.bin", std::process::id()));
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-wear.json", std::process::id()));
    std::fs::write(&file, set(r#","wear_gap":4"#)).expect("a file");
    let run = rtflash(&["export", "firmware", file.to_str().expect("a path"), "--out", out.to_str().expect("a path")]);
    assert!(run.status == 0 && run.stderr.contains("- wear is levelled: how often"), "{}", run.stderr);
    std::fs::remove_file(out).expect("the image was written");
}

/// A GC job that moves pages takes no longer than a pass, also where a server's pass makes room for
/// it: it ends with the first row for which there is not room (rule B4).
#[test]
fn pages_are_moved_in_the_time_of_a_pass() {
    let times = r#""page_read":"5us","page_program":"300us","block_erase":"50us","page_transfer":"5us""#;
    let device = format!(
        r#""profile":"dgist-2021","chips":2,"chips_per_channel":2,"blocks_per_chip":34,"pages_per_block":4,
        "logical_ratio":0.5,{times},"wear_gap":1"#
    );
    let load = r#""tasks":[{"name":"a","write":{"pages":6,"period":"9ms"}}],
        "jobs":[{"name":"j","write_pages":1,"arrivals":{"every":"1200us"}}]"#;
    let by = ["--analysis", "superblock", "--algorithm", "global", "--server", "tbs", "--duration", "2s"];
    let how = ["--pattern", "hot-cold", "--aging", "random", "--format", "json"];
    let set = format!("{{\"device\":{{{device}}},{load}}}");
    let run = rtflash_with_input(&[&["exec", "-"], &by[..], &how[..]].concat(), set.as_bytes());
    assert_eq!(run.status, 0, "{}{}", run.stdout, run.stderr);
    let answer: Value = serde_json::from_str(&run.stdout).expect("an answer");
    let checks = answer["checks"].as_array().expect("checks");
    let cost = checks.iter().find(|check| check["name"] == "gc-cost").expect("it is looked at");
    assert!(cost["holds"] == true && cost["observed"].as_u64() > Some(600_000), "{cost}");
}
