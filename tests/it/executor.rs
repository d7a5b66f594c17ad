//! `exec`, `check --trace` and `soak` do what their interface says; and a trace, read by a program
//! that knows nothing of the executor, is is_valid.

use std::collections::{BTreeMap, HashMap};

use crate::common::{file, root, rtflash, rtflash_with_input};
use serde_json::Value;

/// The case study without jobs, or with other fields of the device.
fn case_study(device: &str) -> String {
    let text = std::fs::read_to_string(root().join("tasksets/case-study.json")).expect("the case study");
    text.replace(r#""chips_per_channel": 2"#, device)
}

fn exec(set: &str, args: &[&str]) -> (i32, Value) {
    let run = rtflash_with_input(&[&["exec", "-", "--format", "json"], args].concat(), set.as_bytes());
    assert_eq!(run.stdout.lines().count(), 1, "{run:?}");
    (run.status, run.json())
}

fn broken(answer: &Value) -> Vec<&str> {
    let checks = answer["checks"].as_array().expect("checks");
    checks.iter().filter(|check| check["holds"] == false).map(|check| check["name"].as_str().expect("a name")).collect()
}

fn late(answer: &Value) -> u64 {
    let lines = answer["requests"].as_array().expect("requests");
    lines.iter().map(|line| line["misses"].as_u64().unwrap_or(0) + line["overdue"].as_u64().unwrap_or(0)).sum()
}

#[test]
fn the_case_study_meets_its_deadlines_for_a_minute() {
    // Without a shared bus every check holds, and with worst victims too.
    for victims in ["actual", "worst"] {
        let (status, answer) =
            exec(&case_study(r#""chips_per_channel": 1"#), &["--duration", "60s", "--victims", victims]);
        assert_eq!((status, &answer["verdict"], broken(&answer)), (0, &"pass".into(), vec![]), "{victims}");
        assert_eq!(answer["predicted_schedulable"], true);
    }
    // Two clusters share a channel that the printed D(s) charges nothing for.
    for victims in ["actual", "worst"] {
        let (status, answer) =
            exec(&case_study(r#""chips_per_channel": 2"#), &["--duration", "60s", "--victims", victims]);
        assert_eq!((status, late(&answer)), (1, 0), "{victims}");
        assert_eq!(broken(&answer), ["server-deadlines", "service", "bus-wait"]);
        let jobs = &answer["jobs"][0];
        assert_eq!((&jobs["released"], &jobs["kind"]), (&4800.into(), &"server".into()));
    }
    let (status, answer) = exec(&case_study(r#""chips_per_channel": 2"#), &["--algorithm", "global"]);
    assert_eq!((status, &answer["predicted_schedulable"]), (1, &false.into()));
    assert!(late(&answer) > 1_000 && broken(&answer).contains(&"deadlines"), "{answer}");
}

/// Reads a trace line by line with a map of its own, and stops at the first thing that must not be.
fn is_valid(trace: &str, cluster_wide: bool) -> BTreeMap<String, u64> {
    #[derive(Clone)]
    struct Job {
        deadline: u64,
        release: u64,
        pages: u64,
        cluster: u64,
        done: u64,
        kind: String,
    }
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let mut jobs: HashMap<String, Job> = HashMap::new();
    let mut free_at: HashMap<(&str, u64), u64> = HashMap::new();
    let mut next_page: HashMap<(u64, u64), u64> = HashMap::new();
    let mut places: HashMap<(u64, u64), (u64, u64, u64)> = HashMap::new();
    let mut last = 0;
    for line in trace.lines() {
        let event: Value = serde_json::from_str(line).expect("JSON");
        if event.get("op").or(event.get("release")).or(event.get("complete")).is_none() {
            // How it came to that.
            continue;
        }
        let number = |name: &str| event[name].as_u64().unwrap_or_else(|| panic!("no {name} in {line}"));
        let mut count = |name: &str| *counts.entry(name.to_owned()).or_default() += 1;
        if event.get("release").is_some() {
            let job = Job {
                deadline: event["deadline"].as_u64().unwrap_or(u64::MAX),
                release: number("release"),
                pages: number("pages"),
                cluster: event["cluster"].as_u64().unwrap_or(u64::MAX),
                done: 0,
                kind: event["kind"].as_str().expect("a kind").to_owned(),
            };
            assert!(number("release") >= last, "{line}");
            last = number("release");
            assert!(jobs.insert(event["job"].as_str().expect("a job").to_owned(), job).is_none(), "twice: {line}");
            count("released");
            continue;
        }
        if event.get("complete").is_some() {
            let job = jobs.remove(event["job"].as_str().expect("a job")).expect("released and not complete");
            assert!(number("complete") >= last && job.done == job.pages, "{line}");
            last = number("complete");
            count(if number("complete") > job.deadline { "late" } else { "in time" });
            count(&format!("{} complete", job.kind));
            assert!(job.release <= number("complete"));
            continue;
        }
        let (start, end, op) = (number("start"), number("end"), event["op"].as_str().expect("an operation"));
        assert!(start >= last && end > start, "{line}");
        last = start;
        let place = if op == "transfer" { ("channel", number("channel")) } else { ("chip", number("chip")) };
        let free = free_at.insert(place, end).unwrap_or(0);
        assert!(free <= start, "two at a time: {line}");
        count(op);
        if op == "transfer" {
            continue;
        }
        let name = event["job"].as_str().expect("a job");
        let cluster = number("cluster");
        if cluster_wide {
            let deadline = jobs[name].deadline;
            let earliest = jobs.values().filter(|job| job.cluster == cluster).map(|job| job.deadline).min();
            assert!(Some(deadline) == earliest, "{deadline} before {earliest:?}: {line}");
        }
        let job = jobs.get_mut(name).expect("an operation of a pending job");
        if event["kind"] != "gc" {
            job.done += 1;
        }
        let block = (number("chip"), number("block"));
        if op == "erase" {
            next_page.insert(block, 0);
            assert!(!places.values().any(|place| (place.0, place.1) == block), "a valid page is erased: {line}");
            continue;
        }
        let (page, lpn) = (number("page"), (cluster, number("lpn")));
        if op == "program" {
            let next = next_page.insert(block, page + 1).unwrap_or(page);
            assert_eq!(next, page, "out of order: {line}");
            places.insert(lpn, (block.0, block.1, page));
        } else {
            let known = *places.entry(lpn).or_insert((block.0, block.1, page));
            assert_eq!(known, (block.0, block.1, page), "stale: {line}");
        }
    }
    counts
}

#[test]
fn a_trace_read_by_somebody_else_is_lawful() {
    let set = case_study(r#""chips_per_channel": 2, "blocks_per_chip": 32"#);
    for (number, args) in [
        &["--victims", "actual"][..],
        &["--victims", "worst", "--seed", "9"],
        &["--dispatch", "parallel"],
        &["--server", "background", "--aging", "random", "--pattern", "hot-cold"],
        &["--algorithm", "global", "--pattern", "one-chip"],
        &["--analysis", "thesis-evaluated", "--algorithm", "equal-split", "--pattern", "sequential"],
    ]
    .iter()
    .enumerate()
    {
        let path = file(&format!("trace-{number}.jsonl"), "").display().to_string();
        let (_, answer) = exec(&set, &[&["--duration", "3s", "--trace", &path][..], args].concat()[..]);
        let text = std::fs::read_to_string(&path).expect("the trace");
        let serial = !args.contains(&"parallel");
        let counts = is_valid(&text, serial && !broken(&answer).contains(&"gc-keeps-pace"));
        let operations = &answer["operations"];
        for (name, op) in [("reads", "read"), ("programs", "program"), ("erases", "erase"), ("transfers", "transfer")] {
            assert_eq!(operations[name], counts.get(op).copied().unwrap_or(0), "{args:?} {name}");
        }
        let sum = |name: &str| -> u64 {
            let lines =
                ["requests", "gc", "jobs"].into_iter().flat_map(|list| answer[list].as_array().expect("a list"));
            lines.map(|line| line[name].as_u64().expect("a number")).sum()
        };
        assert_eq!(sum("released"), counts["released"], "{args:?}");
        assert_eq!(sum("completed"), counts["in time"] + counts.get("late").copied().unwrap_or(0), "{args:?}");
        assert_eq!(sum("misses"), counts.get("late").copied().unwrap_or(0), "{args:?}");
        std::fs::remove_file(path).expect("the trace is there");
    }
}

#[test]
fn a_recorded_trace_is_judged_as_the_run_was() {
    let set = file("traced.json", case_study(r#""chips_per_channel": 2, "blocks_per_chip": 32"#));
    let set = set.display().to_string();
    let path = file("judged.jsonl", "").display().to_string();
    for dispatch in ["serial", "parallel"] {
        let run = ["exec", &set, "--duration", "2s", "--trace", &path, "--dispatch", dispatch, "--format", "json"];
        let ran = rtflash(&run);
        let check = ["check", &set, "--trace", &path, "--duration", "2s", "--dispatch", dispatch, "--format", "json"];
        let judged = rtflash(&check);
        let (ran_json, judged_json) = (ran.json(), judged.json());
        assert_eq!(ran.status, judged.status);
        // A check that holds can name any of its worst observations.
        let checks = |answer: &Value| -> Vec<Value> {
            let mut checks = answer["checks"].as_array().expect("checks").clone();
            checks.iter_mut().filter(|check| check["holds"] == true).for_each(|check| check["worst"] = Value::Null);
            checks
        };
        assert_eq!(checks(&ran_json), checks(&judged_json), "{dispatch}");
        for field in ["verdict", "requests", "gc", "jobs", "operations", "clusters", "chips", "channels"] {
            assert_eq!(ran_json[field], judged_json[field], "{dispatch} {field}");
        }
    }
    // A trace that was tampered with: one page elsewhere.
    let text = std::fs::read_to_string(&path).expect("the trace");
    let line = text.lines().find(|line| line.contains(r#""op":"program""#)).expect("a program");
    let event: Value = serde_json::from_str(line).expect("JSON");
    let page = event["page"].as_u64().expect("a page");
    let other = line.replace(&format!(r#""page":{page}"#), &format!(r#""page":{}"#, page + 7));
    let tampered = file("tampered.jsonl", text.replace(line, &other)).display().to_string();
    let args = ["check", &set, "--trace", &tampered, "--dispatch", "parallel", "--format", "json"];
    let judged = rtflash(&args).json();
    assert!(broken(&judged).contains(&"page-order"), "{:?}", broken(&judged));
    let swapped: Vec<&str> = text.lines().rev().collect();
    let swapped = file("swapped.jsonl", swapped.join("\n")).display().to_string();
    let run = rtflash(&["check", &set, "--trace", &swapped]);
    assert!(run.status == 2 && run.stderr.contains("in order of time"), "{run:?}");
    let nonsense = file("nonsense.jsonl", "{\"complete\":1,\"job\":\"nobody#0\"}\n").display().to_string();
    let run = rtflash(&["check", &set, "--trace", &nonsense]);
    assert!(run.status == 2 && run.stderr.contains("line 1") && run.stderr.contains("nobody"), "{run:?}");
}

#[test]
fn the_same_seed_gives_the_same_bytes_whatever_the_threads() {
    let set = case_study(r#""chips_per_channel": 1, "blocks_per_chip": 32"#);
    let paths = ["a", "b", "c"].map(|name| file(&format!("same-{name}.jsonl"), "").display().to_string());
    let runs = [("1", "1"), ("4", "1"), ("1", "2")];
    let answers: Vec<Value> = runs
        .iter()
        .zip(&paths)
        .map(|((jobs, seed), path)| {
            exec(&set, &["--duration", "1s", "--jobs", jobs, "--seed", seed, "--trace", path]).1
        })
        .collect();
    let traces = paths.map(|path| std::fs::read(path).expect("a trace"));
    assert!(answers[0] == answers[1] && traces[0] == traces[1]);
    assert!(traces[0] != traces[2], "another seed, another run");
    let untraced = exec(&set, &["--duration", "1s"]).1;
    assert_eq!(untraced, answers[0], "to look on changes nothing");
}

#[test]
fn what_cannot_be_run_says_why() {
    let few = case_study(r#""chips_per_channel": 2, "blocks_per_chip": 3"#);
    let run = rtflash_with_input(&["exec", "-"], few.as_bytes());
    assert!(run.status == 2 && run.stderr.contains("too few blocks"), "{run:?}");
    let slow = case_study(r#""chips_per_channel": 2, "page_transfer": "60us""#);
    let run = rtflash_with_input(&["exec", "-"], slow.as_bytes());
    assert!(run.status == 3 && run.stdout.contains("page_transfer is longer"), "{run:?}");
    let run =
        rtflash_with_input(&["exec", "-", "--analysis", "thesis-evaluated", "--duration", "100ms"], slow.as_bytes());
    assert!(run.status == 0 || run.status == 1, "the transfer is charged apart there: {run:?}");
    let run = rtflash(&["exec", "tasksets/overload.json"]);
    assert!(run.status == 1 && run.stdout.contains("finds no allocation"), "{run:?}");
    let run = rtflash(&["exec", "tasksets/overload.json", "--format", "json"]);
    assert_eq!((run.status, &run.json()["verdict"]), (1, &Value::Null));
    let run = rtflash(&["exec", "tasksets/case-study.json", "--algorithm", "part-ftl"]);
    assert!(run.status == 3 && run.stdout.contains("no clusters"), "{run:?}");
    let name = r#"{"device":"dgist-2021","tasks":[{"name":"a","read":{"pages":1,"period":"1s"}}],
        "jobs":[{"name":"a.read","read_pages":1,"arrivals":{"every":"1s"}}]}"#;
    let run = rtflash_with_input(&["exec", "-"], name.as_bytes());
    assert!(run.status == 2 && run.stderr.contains("`a.read`"), "{run:?}");
    // With four clusters, apart, each can have a quarter of all pending jobs.
    let reader = |name: &str, period: &str| format!(r#"{{"name":"{name}","read":{{"pages":1,"period":"{period}"}}}}"#);
    let endless = format!(
        r#"{{"device":{{"profile":"dgist-2021","chips":4,"chips_per_channel":1}},"tasks":[{}]}}"#,
        [reader("a", "1ns"), reader("b", "1s"), reader("c", "1s"), reader("d", "1s")].join(",")
    );
    let run = rtflash_with_input(&["exec", "-", "--algorithm", "equal-split"], endless.as_bytes());
    assert!(run.status == 3 && run.stdout.contains("pending"), "{run:?}");
    for (args, says) in [
        (&["--duration", "0s"][..], "no time"),
        (&["--duration", "5"], "without a unit"),
        (&["--trace", "x.txt"], ".jsonl"),
        (&["--gantt", "5ms"], ".."),
        (&["--gantt", "5ms..1ms"], "ends before"),
        (&["--gantt-out", "x.svg"], "--gantt"),
        (&["--gantt", "0..1ms", "--gantt-out", "x.gif"], ".svg or .png"),
        (&["--jobs", "0"], "0"),
    ] {
        let run = rtflash(&[&["exec", "tasksets/case-study.json"], args].concat());
        assert!(run.status == 2 && run.stdout.is_empty() && run.stderr.contains(says), "{args:?} {run:?}");
    }
}

/// Requests that find the queue full are not taken, real-time ones go on, and the trace says so.
#[test]
fn a_stream_that_outgrows_its_server_is_reported() {
    let of = ["--set", "jobs[0].write_pages=8192", "--analysis", "sound", "--duration", "2s"];
    let trace = file("outgrown.jsonl", "").display().to_string();
    let set = "tasksets/case-study.json";
    let run = rtflash(&[&["exec", set, "--trace", &trace, "--format", "json"], &of[..]].concat());
    let answer = run.json();
    assert_eq!((run.status, &answer["verdict"]), (0, &"pass".into()), "{answer}");
    let all = answer["jobs"][0]["released"].as_u64().expect("a number");
    let not_taken = answer["jobs"][0]["not_taken"]["jobs"].as_u64().expect("a number");
    assert_eq!((all, answer["jobs"][0]["pending"].as_u64()), (160, Some(160)));
    // Half of 2^20 pages wait, without those that the server has begun.
    assert!((all - not_taken).abs_diff((1 << 19) / 8192) < 20, "{not_taken}");
    assert!(answer["notes"].to_string().contains("found the queue full, from 887.500ms on"), "{answer}");
    let check = rtflash(&[&["check", set, "--trace", &trace, "--algorithm", "best-fit"], &of[..]].concat());
    assert_eq!(check.status, 0, "{}", check.stdout);
    // A job that is not taken while no other waits has been lost.
    let text = std::fs::read_to_string(&trace).expect("a trace");
    let first = text.lines().find(|line| line.starts_with(r#"{"release":0,"job":"j1#0""#)).expect("a release");
    let lost = r#"{"release":0,"job":"j1#0","kind":"server","deadline":null,"pages":8192,"cluster":null}"#;
    std::fs::write(&trace, text.replacen(first, lost, 1)).expect("it is written");
    let check = rtflash(&[&["check", set, "--trace", &trace, "--algorithm", "best-fit"], &of[..]].concat());
    assert!(check.status == 1 && check.stdout.contains("releases"), "{}", check.stdout);
}

#[test]
fn a_given_allocation_runs_though_the_analysis_rejects_it() {
    let path = file("given.json", r#"{"clusters":[{"chips":[0,1,2,3],"tasks":["t1","t2","t3","t4"]}]}"#);
    let path = path.display().to_string();
    let run = rtflash(&["exec", "tasksets/case-study.json", "--allocation", &path, "--format", "json"]);
    let answer = run.json();
    assert_eq!((run.status, &answer["predicted_schedulable"]), (1, &false.into()));
    assert!(late(&answer) > 100, "an overloaded cluster is late");
    assert_eq!(answer["algorithm"], Value::Null);
    let wrong = file("given-wrong.json", r#"{"clusters":[{"chips":[9],"tasks":["t1"]}]}"#).display().to_string();
    assert_eq!(rtflash(&["exec", "tasksets/case-study.json", "--allocation", &wrong]).status, 2);
}

#[test]
fn streams_are_run_one_by_one() {
    let device = r#"{"profile":"dgist-2021","chips":4,"blocks_per_chip":16}"#;
    let sets = rtflash(&["gen", "--util", "0.2..0.6", "--sets", "2", "--tasks", "3", "--device", device]).stdout;
    let run = rtflash_with_input(&["exec", "-", "--duration", "1s", "--format", "json"], sets.as_bytes());
    let answers = run.json_lines();
    assert_eq!(answers.len(), 10);
    assert!(answers.iter().all(|answer| answer["meta"]["seed"] == 1));
    let run = rtflash_with_input(&["exec", "-", "--duration", "1s", "--trace", "never.jsonl"], sets.as_bytes());
    assert!(run.status == 2 && run.stderr.contains("one task set"), "{run:?}");
    let _ = std::fs::remove_file(root().join("never.jsonl"));
}

#[test]
fn a_stretch_is_drawn() {
    let [svg, png, json] = ["g.svg", "g.png", "g.json"].map(|name| file(name, "").display().to_string());
    let study = "tasksets/case-study.json";
    let run = rtflash(&["exec", study, "--duration", "1s", "--gantt", "0ms..60ms", "--gantt-out", &svg]);
    assert!(run.stdout.contains("chip 3") && run.stdout.contains("bus 1"), "{}", run.stdout);
    let svg = std::fs::read_to_string(svg).expect("the figure");
    assert!(svg.starts_with("<svg") && svg.contains("chip 3"), "{svg}");
    rtflash(&["exec", study, "--duration", "1s", "--gantt", "0ms..60ms", "--gantt-out", &png, "--trace", &json]);
    assert_eq!(&std::fs::read(png).expect("the picture")[..8], b"\x89PNG\r\n\x1a\n");
    let trace: Value = serde_json::from_str(&std::fs::read_to_string(json).expect("the trace")).expect("JSON");
    assert!(trace["traceEvents"].as_array().expect("events").len() > 1_000);
}

#[test]
fn the_search_repeats_itself_and_its_smallest_cases_fail() {
    let args = ["soak", "--runs", "600", "--seed", "4", "--format", "json"];
    let (run, again) = (rtflash(&args), rtflash(&[&args[..], &["--jobs", "1"]].concat()));
    assert_eq!(run.stdout, again.stdout);
    assert_eq!(run.status, 1);
    let answer = run.json();
    let found = answer["broken"].as_array().expect("what broke");
    assert!(found.len() >= 2, "{answer}");
    for case in found {
        let command: Vec<&str> = case["command"].as_str().expect("a command").split(' ').skip(1).collect();
        let set = case["task_set"].to_string();
        let run = rtflash_with_input(&[&command[..], &["--format", "json"]].concat(), set.as_bytes());
        assert!(broken(&run.json()).contains(&case["name"].as_str().expect("a name")), "{case}");
    }
    let sound = rtflash(&["soak", "--runs", "200", "--world", "sound"]);
    assert!(sound.status == 0 && sound.stdout.starts_with("pass: "), "{sound:?}");
}

#[test]
fn data_that_do_not_fit_fail_under_every_organisation_and_what_was_not_seen_does_not_hold() {
    let task = |name: &str| format!(r#"{{"name":"{name}","read":{{"pages":1,"period":"100ms"}},"data_pages":400000}}"#);
    let device = r#"{"profile":"dgist-2021","chips":4}"#;
    let set = format!(r#"{{"device":{device},"tasks":[{},{}]}}"#, task("a"), task("b"));
    for analysis in ["thesis", "stripe", "superblock"] {
        let args = ["--algorithm", "global", "--analysis", analysis, "--duration", "200ms"];
        let (status, answer) = exec(&set, &args);
        assert_eq!((status, broken(&answer)), (1, vec!["data-fit"]), "{analysis}");
        // Nothing is written, so no pass was ever seen.
        let checks = answer["checks"].as_array().expect("checks");
        let of = |name: &str| checks.iter().find(|check| check["name"] == name).expect("a check");
        assert_eq!((&of("data-fit")["bound"], &of("data-fit")["observed"]), (&524_288.into(), &800_000.into()));
        for name in ["gc-cost", "victim-bound", "gc-keeps-pace", "copies"] {
            assert_eq!((&of(name)["holds"], &of(name)["observed"]), (&Value::Null, &Value::Null), "{analysis} {name}");
        }
    }
}

/// Operations that may be shorter: three ways to take them, under every organisation; a recorded
/// run is judged as it was.
#[test]
fn times_within_ranges() {
    let text = std::fs::read_to_string(root().join("tasksets/case-study.json")).expect("the case study");
    let ranges = r#""page_read": "10us..50us", "page_program": "200us..500us", "block_erase": "2ms..5ms",
        "page_transfer": "5us..40us""#;
    let text = text.replace(r#""chips_per_channel": 2"#, &format!("\"chips_per_channel\": 1, {ranges}"));
    let trace = std::env::temp_dir().join(format!("rtflash-times-{}.jsonl", std::process::id()));
    let trace = trace.to_str().expect("a path");
    let set = file("times.json", &text);
    let set = set.to_str().expect("a path");
    for organisation in [&["--analysis", "thesis"][..], &["--dispatch", "parallel"], &["--analysis", "superblock"]] {
        let mut responses = Vec::new();
        for times in ["worst", "random", "best"] {
            let options = [organisation, &["--times", times, "--duration", "1s", "--server", "background"]].concat();
            let (status, answer) = exec(&text, &options);
            assert_eq!((status, broken(&answer)), (0, vec![]), "{organisation:?} {times}: {answer}");
            assert_eq!(answer["times"], *times, "{answer}");
            let of = |line: &Value| line["max_response_ns"].as_u64().unwrap_or(0);
            responses.push(answer["requests"].as_array().expect("requests").iter().map(of).sum::<u64>());
            let recorded = rtflash(&[&["exec", set, "--trace", trace, "--format", "json"], &options[..]].concat());
            assert_eq!(recorded.json()["requests"], answer["requests"], "what is looked at is the same run");
            let analysis = if organisation.contains(&"superblock") { "superblock" } else { "thesis" };
            let dispatch = if organisation.contains(&"parallel") { "parallel" } else { "serial" };
            let allocation = rtflash(&["alloc", set, "--analysis", analysis, "--format", "json"]);
            let allocation = file("times-allocation.json", &allocation.stdout);
            let allocation = allocation.to_str().expect("a path");
            let judged = rtflash(&[
                "check",
                set,
                "--allocation",
                allocation,
                "--analysis",
                analysis,
                "--trace",
                trace,
                "--dispatch",
                dispatch,
                "--format",
                "json",
            ]);
            assert_eq!((judged.status, broken(&judged.json())), (0, vec![]), "{organisation:?} {times}: {judged:?}");
        }
        assert!(responses[0] > responses[1] && responses[1] > responses[2], "{organisation:?}: {responses:?}");
    }
    std::fs::remove_file(trace).expect("the trace was written");
}

/// An option that would change nothing is a fault.
#[test]
fn options_without_effect_are_refused() {
    let with: &[&str] = &["--analysis", "sound"];
    for (organisation, option, word) in [
        (&[][..], &["--waits", "worst"][..], "with certificates alone"),
        (&[], &["--no-backfill"], "with certificates alone"),
        (&[], &["--phases", "at-erases"], "with certificates alone"),
        (with, &["--dispatch", "parallel"], "without certificates alone"),
        (with, &["--times", "best"], "on a device with ranges alone"),
        (&[], &["--times", "random"], "on a device with ranges alone"),
    ] {
        let set = ["exec", "tasksets/case-study.json", "--duration", "200ms"];
        let run = rtflash(&[&set[..], organisation, option].concat());
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{option:?}: {}", run.stderr);
        assert!(run.stderr.contains(word) && run.stderr.contains(option[0]), "{}", run.stderr);
    }
}
