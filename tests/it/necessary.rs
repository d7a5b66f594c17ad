//! Proofs that no allocation will do, as the command says them (docs/analysis.md, Section 12).

use std::path::Path;

use crate::common::{rtflash, rtflash_with_input};
use serde_json::{Value, json};

/// Reads whose pages have to cross one channel, each so often.
fn reading(pages: u64, period: &str) -> String {
    let task =
        |name: &str| json!({ "name": name, "read": { "pages": pages, "period": period, "access": "sequential" } });
    json!({ "device": { "profile": "dgist-2021", "chips": 4 }, "tasks": [task("left"), task("right")] }).to_string()
}

#[test]
fn a_no_says_where_no_allocation_would_do() {
    // 2 · 300 pages of 40 us every 20 ms are 1.2 of the channel's time.
    let set = reading(300, "20ms");
    for analysis in
        ["thesis", "thesis-evaluated", "stripe", "superblock", "sound", "zoned", "necessary", "necessary-with-zones"]
    {
        let run = rtflash_with_input(&["alloc", "-", "--analysis", analysis], set.as_bytes());
        assert_eq!(run.status, 1, "{run:?}");
        let proof = "the bus of the channel would have to carry 1.20 of its time.";
        assert!(run.stdout.to_lowercase().lines().any(|line| line.ends_with(proof)), "{}", run.stdout);
        let answer =
            rtflash_with_input(&["alloc", "-", "--analysis", analysis, "--format", "json"], set.as_bytes()).json();
        assert_eq!(answer["impossible"], json!({ "reason": "bus", "load": 1.2 }));
    }
    let answer = rtflash_with_input(&["size", "-", "--analysis", "sound", "--format", "json"], set.as_bytes()).json();
    assert_eq!((&answer["chips"]["at_least"], &answer["impossible"]["reason"]), (&json!(5), &json!("bus")));
    assert!(answer["chips"]["fewest"].as_u64().is_some_and(|fewest| fewest >= 5));
    let text = rtflash_with_input(&["size", "-", "--analysis", "sound"], set.as_bytes()).stdout;
    assert!(
        text.contains(
            "(with fewer than 5 chips no allocation meets every deadline at a logical_ratio of 0.5, whatever the \
             algorithm)"
        ),
        "{text}"
    );
}

#[test]
fn each_reason_has_its_numbers_and_its_words() {
    let device = json!({ "profile": "dgist-2021", "chips": 2 });
    let of = |tasks: Value| json!({ "device": device, "tasks": tasks }).to_string();
    let data = |name: &str| json!({ "name": name, "read": { "pages": 1, "period": "1s" }, "data_pages": 200_000 });
    let short = |name: &str| json!({ "name": name, "read": { "pages": 20, "period": "1s", "deadline": "1ms", "access": "sequential" } });
    let cases = [
        (
            of(json!([data("a"), data("b")])),
            json!({ "reason": "data", "data_pages": 400_000, "logical_pages": 262_144 }),
            "the tasks keep 400,000 pages (3.277 GB) of data, and the device has 262,144 logical pages (2.147 GB)",
        ),
        (
            of(json!([{ "name": "big", "read": { "pages": 100, "period": "8ms" } }])),
            json!({ "reason": "request", "task": "big", "request": "read", "request_pages": 100, "pages_on_one_chip": 100, "if_full": true,
                "request_ns": 9_000_000, "window_ns": 8_000_000 }),
            "a read of task big (100 pages (819.2 kB), 100 of which may be on one chip) takes 9ms at least, on all 2 chips and by \
             itself, and has 8ms (if all logical pages are in use",
        ),
        (
            of(json!([{ "name": "log", "write": { "pages": 100, "period": "27ms", "access": "sequential" } }])),
            json!({ "reason": "chips", "load": 55.953_125 / 54.0, "gc_load": 1.953_125 / 54.0, "if_full": false }),
            "each chip would have to be busy 1.04 of its time, 0.04 of it with garbage collection that nothing can avoid.",
        ),
        (
            of(json!([short("a"), short("b")])),
            json!({ "reason": "window", "of": "bus", "interval_ns": 1_000_000, "demand_ns": 1_600_000, "available_ns": 1_000_000 }),
            "in an interval of 1ms there is 1.6ms of work for the channel, which can do 1ms",
        ),
    ];
    for (set, proof, words) in cases {
        let run = rtflash_with_input(&["alloc", "-", "--analysis", "necessary", "--format", "json"], set.as_bytes());
        let text = rtflash_with_input(&["alloc", "-", "--analysis", "necessary"], set.as_bytes()).stdout;
        let answer = run.json();
        for (name, expected) in proof.as_object().unwrap() {
            let found = &answer["impossible"][name];
            let near = found.as_f64().zip(expected.as_f64()).is_some_and(|(found, near)| (found - near).abs() < 1e-9);
            assert!(found == expected || near, "{name}: {found} for {expected}");
        }
        assert_eq!(
            answer["impossible"].as_object().map(|proof| proof.len()),
            proof.as_object().map(|proof| proof.len())
        );
        assert!(text.to_lowercase().contains(&words.to_lowercase()), "{text}");
    }
}

#[test]
fn what_is_not_excluded_is_not_promised() {
    let run = rtflash(&["alloc", "tasksets/case-study.json", "--analysis", "necessary", "--format", "json"]);
    assert_eq!(run.status, 3);
    let answer = run.json();
    assert_eq!(
        (&answer["schedulable"], &answer["algorithm"], answer.get("impossible")),
        (&Value::Null, &json!("any"), None)
    );
    let run = rtflash(&["alloc", "tasksets/case-study.json", "--analysis", "necessary", "--algorithm", "exact"]);
    assert_eq!((run.status, run.stderr.contains("of all allocations at once")), (2, true), "{run:?}");
}

#[test]
fn an_experiment_has_them_as_the_upper_curve() {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("necessary");
    let directory = out.to_str().unwrap();
    let _ = std::fs::remove_dir_all(&out);
    let run = rtflash(&[
        "experiment",
        "schedulability",
        "--util",
        "3..6",
        "--step",
        "1.5",
        "--sets",
        "6",
        "--access",
        "sequential",
        "--analyses",
        "necessary,stripe",
        "--algorithms",
        "best-fit",
        "--no-figure",
        "--format",
        "json",
        "--out",
        directory,
    ]);
    assert_eq!(run.status, 0, "{run:?}");
    let summary = run.json();
    let [stripe, necessary] = summary["contenders"].as_array().unwrap().as_slice() else { panic!("{summary}") };
    let count = |of: &Value| of["schedulable"].as_u64().unwrap();
    assert_eq!((&stripe["analysis"], &necessary["algorithm"]), (&json!("stripe"), &json!("any")));
    assert!(count(necessary) > count(stripe) && count(stripe) > 0, "{summary}");
    assert_eq!(stripe["of_possible"], json!(count(stripe) as f64 / count(necessary) as f64));
    assert_eq!(summary["gains"], json!([]));
    // The command that the manifest has repeats it: nothing is left to do.
    let manifest: Value = serde_json::from_str(&std::fs::read_to_string(out.join("manifest.json")).unwrap()).unwrap();
    let words: Vec<&str> =
        manifest["command"].as_array().unwrap().iter().skip(1).map(|word| word.as_str().unwrap()).collect();
    let again = rtflash(&[&words[..], &["--no-figure", "--out", directory, "--format", "json"]].concat());
    assert_eq!((again.status, &again.stdout), (0, &run.stdout), "{again:?}");
    let alone = rtflash(&["experiment", "bandwidth", "--analyses", "necessary", "--out", directory]);
    assert_eq!(alone.status, 2, "{alone:?}");
}
