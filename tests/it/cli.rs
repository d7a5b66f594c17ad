//! The commands do what their interface says.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::common::{file, root, rtflash, rtflash_with_input};

const SETS: [&str; 4] =
    ["tasksets/case-study.json", "tasksets/motivation.json", "tasksets/drone.json", "tasksets/overload.json"];
const ALGORITHMS: [&str; 8] =
    ["clustering-bfd", "best-fit", "clustering-search", "global", "full-isolation", "equal-split", "part-ftl", "exact"];
const ANALYSES: [&str; 13] = [
    "thesis",
    "thesis-evaluated",
    "chang",
    "gftl",
    "rftl",
    "lazy-rtgc",
    "stock",
    "dhara",
    "dhara-15",
    "dhara-priority",
    "dhara-15-priority",
    "dhara-1",
    "dhara-45-priority",
];

#[test]
fn the_judge_agrees_with_every_allocation() {
    for set in SETS {
        for algorithm in ALGORITHMS {
            for analysis in ANALYSES {
                // The field's schemes take long, searches under them longer: rationals.
                let searches = ["clustering-search", "exact"].contains(&algorithm);
                let long = searches || ["tasksets/motivation.json", "tasksets/drone.json"].contains(&set);
                if long && !analysis.starts_with("thesis") {
                    continue;
                }
                let answer =
                    rtflash(&["alloc", set, "--algorithm", algorithm, "--analysis", analysis, "--format", "json"]);
                let json = answer.json();
                if json["clusters"].as_array().expect("clusters").is_empty() {
                    continue;
                }
                let path =
                    file(&format!("{algorithm}-{analysis}-{}.json", set.len()), &answer.stdout).display().to_string();
                let check = rtflash(&["check", set, "--allocation", &path, "--analysis", analysis, "--format", "json"]);
                assert_eq!(
                    (check.status, &check.json()["schedulable"]),
                    (answer.status, &json["schedulable"]),
                    "{set} {algorithm}"
                );
                assert_eq!(check.stderr, "");
                let explain = rtflash(&["explain", set, "--allocation", &path, "--analysis", analysis]);
                assert_eq!(explain.status, answer.status, "{set} {algorithm}");
            }
        }
    }
}

/// Utilizations are the same numbers wherever they are said, to the last digit.
#[test]
fn explain_has_the_numbers_of_check() {
    let sets = rtflash(&["gen", "--util", "0.7..1.9", "--step", "0.3", "--sets", "8"]).stdout;
    let allocations = rtflash_with_input(&["alloc", "-", "--format", "json"], sets.as_bytes()).stdout;
    let (sets, allocations) = (file("numbers.jsonl", sets), file("numbers-allocations.jsonl", allocations));
    let (sets, allocations) = (sets.display().to_string(), allocations.display().to_string());
    let [check, explain] = ["check", "explain"].map(|command| {
        let answers = rtflash(&[command, &sets, "--allocation", &allocations, "--format", "json"]).json_lines();
        let clusters = answers.iter().flat_map(|answer| answer["clusters"].as_array().expect("clusters"));
        let numbers = clusters.map(|cluster| (cluster["utilization"].to_string(), cluster["blocking"].to_string()));
        numbers.collect::<Vec<_>>()
    });
    assert!(check.len() > 100, "{}", check.len());
    assert_eq!(check, explain);
}

#[test]
fn a_wrong_statement_in_an_allocation_is_pointed_out() {
    let path =
        file("stated.json", r#"{"clusters":[{"chips":[0,1,2,3],"tasks":["t1","t2","t3","t4"],"utilization":0.5}]}"#);
    let run = rtflash(&["check", "tasksets/case-study.json", "--allocation", &path.display().to_string()]);
    assert_eq!(run.status, 1);
    assert!(
        run.stdout.starts_with("Theorem 1 (Kim 2021)  not schedulable: cluster 0 has U = 1.26, the limit is 1"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("it states a utilization of 0.5"), "{}", run.stdout);
}

#[test]
fn streams_of_sets_are_checked_with_streams_of_allocations() {
    let sets = rtflash(&["gen", "--util", "1.0..2.0", "--sets", "5"]).stdout;
    let allocations = rtflash_with_input(&["alloc", "-", "--format", "json"], sets.as_bytes()).stdout;
    let solved: Vec<_> =
        sets.lines().zip(allocations.lines()).filter(|(_, answer)| answer.contains("\"schedulable\":true")).collect();
    let (sets, allocations): (Vec<_>, Vec<_>) = solved.into_iter().unzip();
    let (set_file, allocation_file) =
        (file("sets.jsonl", sets.join("\n")), file("allocations.jsonl", allocations.join("\n")));
    let check =
        |sets: &str, allocations: &str| rtflash(&["check", sets, "--allocation", allocations, "--format", "json"]);
    let (sets_name, name) = (set_file.display().to_string(), allocation_file.display().to_string());
    let run = check(&sets_name, &name);
    assert_eq!((run.status, run.json_lines().len()), (0, sets.len()), "{}", run.stderr);
    let short = file("short.jsonl", allocations[1..].join("\n"));
    assert_eq!(check(&sets_name, &short.display().to_string()).status, 2);
}

/// Under the field's schemes a program finds the terms, too, and they add up.
#[test]
fn the_terms_of_a_scheme_are_in_the_data() {
    for analysis in ANALYSES {
        let call = ["explain", "tasksets/motivation.json", "--algorithm", "global", "--analysis", analysis];
        let json = rtflash(&[&call[..], &["--format", "json"]].concat()).json();
        let cluster = &json["clusters"][0];
        if analysis.starts_with("thesis") {
            assert!(cluster["scheme"].is_null() && !cluster["tasks"].as_array().expect("tasks").is_empty());
            continue;
        }
        let terms = cluster["scheme"]["terms"].as_array().expect("terms");
        let share = |term: &serde_json::Value| {
            let [times, cost, period] = ["times", "cost_ns", "period_ns"].map(|name| term[name].as_f64().expect(name));
            let share = term["utilization"].as_f64().expect("a share");
            assert!((share - times * cost / period).abs() < 1e-9 * share, "{analysis}: {term}");
            share
        };
        let sum: f64 = terms.iter().map(share).sum();
        let fit = cluster["scheme"]["rooms"].as_array().expect("rooms").iter().all(|room| room["fits"] == true);
        assert_eq!(cluster["in_time"].as_bool(), Some(sum <= 1.0 && fit), "{analysis}");
        assert!(!fit || (cluster["utilization"].as_f64().expect("U") - sum).abs() < 1e-9 * sum, "{analysis}");
    }
}

#[test]
fn explain_has_every_equation() {
    let run = rtflash(&["explain", "tasksets/case-study.json"]);
    assert_eq!(run.status, 0);
    for equation in ["IV.1", "IV.2", "IV.3", "IV.4", "IV.5", "IV.6", "IV.7", "IV.9", "IV.10", "IV.11", "IV.12"] {
        assert!(
            run.stdout.contains(&format!("{equation})")) || run.stdout.contains(&format!("{equation},")),
            "{equation}:\n{}",
            run.stdout
        );
    }
    assert!(
        run.stdout.contains("75.4ms / 300ms") && run.stdout.contains("largest term: write of t1, 0.4000"),
        "{}",
        run.stdout
    );
    assert!(!run.stdout.contains('\u{1b}'));
    let json = rtflash(&["explain", "tasksets/overload.json", "--format", "json"]);
    assert_eq!((json.status, &json.json()["schedulable"]), (1, &serde_json::Value::Bool(false)));
    // A failure without clusters shows the tasks alone.
    assert!(rtflash(&["explain", "tasksets/overload.json"]).stdout.contains("no allocation to explain"));
    assert_eq!(rtflash(&["explain", "tasksets/case-study.json", "--algorithm", "part-ftl"]).status, 3);
}

#[test]
fn what_cannot_be_told_has_a_reason() {
    let run = rtflash(&["alloc", "tasksets/motivation.json", "--algorithm", "part-ftl", "--format", "json"]);
    let json = run.json();
    assert_eq!((run.status, &json["schedulable"]), (3, &serde_json::Value::Null));
    assert!(json["reason"].as_str().expect("a reason").contains("4 chips"));
}

/// A no of PaRT-FTL's test names the chips and their utilization, and claims no division.
#[test]
fn a_no_of_part_ftl_has_a_number() {
    let set = ["alloc", "tasksets/overload.json", "--algorithm", "part-ftl"];
    let (text, json) = (rtflash(&set), rtflash(&[&set[..], &["--format", "json"]].concat()));
    assert_eq!((text.status, json.status), (1, 1), "{text:?}");
    let most = |mode: &str| json.json()[format!("{mode}_utilization")].as_f64().expect("a utilization");
    let mode = if most("read") > most("write") { "read" } else { "write" };
    let reason = format!("the chips in {mode} mode have U = {:.2}, the limit is 1", most(mode));
    assert!(text.stdout.contains(&reason), "{text:?}");
    assert!(text.stdout.contains("part-ftl finds no division of ") && !text.stdout.contains("divides"), "{text:?}");
}

/// Sets of heavy writers state what was drawn; one period is a range.
#[test]
fn sets_state_what_was_drawn() {
    let options = ["--generator", "heavy-writers", "--write-heavy", "2", "--tasks", "4", "--sets", "3"];
    let run = rtflash(&[&["gen"], &options[..]].concat());
    assert_eq!(run.status, 0, "{run:?}");
    for line in run.stdout.lines() {
        let set: serde_json::Value = serde_json::from_str(line).expect("a set");
        let tasks = set["tasks"].as_array().expect("tasks");
        let (mean, drawn) = (&set["meta"]["utilization"], set["meta"]["drawn_utilization"].as_f64().expect("a sum"));
        assert!(tasks.len() == 4 && *mean == 1.7 && (1.0..2.4).contains(&drawn) && drawn != 1.7, "{line}");
    }
    let plain = rtflash(&["gen", "--util", "0.5", "--sets", "1"]);
    assert!(!plain.stdout.contains("drawn_utilization"), "{plain:?}");
    let one = rtflash(&["gen", "--util", "0.5", "--sets", "2", "--period", "5ms..5ms"]);
    assert_eq!(one.status, 0, "{one:?}");
    let none = rtflash(&["gen", "--util", "7.99", "--sets", "1", "--generator", "uunifast-discard"]);
    assert!(none.status == 3 && none.stderr.contains("draws of 8 tasks with utilization 7.99"), "{none:?}");
    // The other generator is named if it draws the set: next to 8, no task fits alone.
    for (utilization, draws) in [("7.99", false), ("7.2", true)] {
        let call = ["gen", "--util", utilization, "--sets", "1", "--seed", "2", "--generator"];
        let [discard, other] =
            ["uunifast-discard", "randfixedsum"].map(|generator| rtflash(&[&call[..], &[generator]].concat()));
        assert_eq!((discard.status, other.status == 0), (3, draws), "{discard:?} {other:?}");
        assert_eq!(discard.stderr.contains("the generator randfixedsum draws such sets"), draws, "{discard:?}");
    }
}

/// Generators and distributions are what the sets say that they were drawn by.
#[test]
fn sets_name_their_generator_and_the_distribution_of_periods() {
    for generator in ["uunifast-discard", "randfixedsum"] {
        let options = ["--generator", generator, "--period", "1ms..1s", "--period-distribution", "log-uniform"];
        let run = rtflash(&[&["gen", "--util", "1.5", "--sets", "40", "--tasks", "4"][..], &options].concat());
        assert_eq!((run.status, run.stdout.lines().count()), (0, 40), "{}", run.stderr);
        let meta =
            format!(r#""generator":"{generator}","tasks":4,"period":"1ms..1s","period_distribution":"log-uniform","#);
        assert!(run.stdout.lines().all(|line| line.contains(&meta)), "{}", run.stdout);
    }
    assert!(!rtflash(&["gen", "--util", "1.5"]).stdout.contains("period_distribution"));
}

/// Every machine gives these bytes.
#[test]
fn generated_sets_are_pinned() {
    for (options, first) in [
        (vec![], r#"{"device":"dgist-2021","tasks":[{"name":"t1","read":{"pages":"#),
        (
            vec!["--generator", "integer-shares", "--analysis", "thesis-evaluated", "--write-heavy", "3"],
            r#"{"device":"dgist-2021","tasks":[{"name":"t1","read":{"pages":"#,
        ),
    ] {
        let command = [vec!["gen", "--util", "2.5", "--sets", "3", "--seed", "7"], options].concat();
        let run = rtflash(&command);
        assert_eq!((run.status, run.stdout.lines().count()), (0, 3), "{}", run.stderr);
        assert!(run.stdout.starts_with(first), "{}", run.stdout);
        assert_eq!(rtflash(&[command, vec!["--jobs", "3"]].concat()).stdout, run.stdout);
    }
    let pinned = rtflash(&["gen", "--util", "1.5", "--sets", "1", "--seed", "7", "--tasks", "2"]).stdout;
    assert_eq!(pinned, include_str!("pinned-set.json"));
}

#[test]
fn sets_of_another_access_are_the_same_otherwise() {
    let gen_with = |access: &[&str]| {
        let run =
            rtflash(&[&["gen", "--util", "0.5..2.5", "--step", "1", "--sets", "20", "--seed", "7"], access].concat());
        assert_eq!((run.status, run.stderr.as_str()), (0, ""));
        run
    };
    let plain = gen_with(&[]).stdout;
    assert!(!plain.contains("access"));
    assert_eq!(gen_with(&["--access", "random"]).stdout, plain);
    let sequential = gen_with(&["--access", "sequential"]).stdout;
    let mixed = gen_with(&["--access", "mixed"]).stdout;
    for (sets, name, at_all) in [(&sequential, "sequential", 60 * 16..=60 * 16), (&mixed, "mixed", 400..=560)] {
        let meta = format!(r#""tasks":8,"access":"{name}","analysis""#);
        assert!(sets.lines().all(|line| line.contains(&meta)), "{sets}");
        let request = r#","access":"sequential"}"#;
        assert!(at_all.contains(&sets.matches(request).count()), "{}", sets.matches(request).count());
        let without = sets.replace(&meta, r#""tasks":8,"analysis""#).replace(request, "}");
        assert_eq!(without, plain);
    }
    // The sets do not depend on the threads, and `alloc` reads them.
    assert_eq!(gen_with(&["--access", "mixed", "--jobs", "3"]).stdout, mixed);
    let alloc = |sets: &str| rtflash_with_input(&["alloc", "-", "--format", "json"], sets.as_bytes());
    let verdicts =
        |sets: &str| alloc(sets).json_lines().iter().map(|answer| answer["schedulable"].clone()).collect::<Vec<_>>();
    assert_eq!(verdicts(&mixed), verdicts(&plain));
    let run = rtflash(&["gen", "--util", "1", "--access", "sequental"]);
    assert!(run.status == 2 && run.stderr.contains("'sequential'"), "{}", run.stderr);
}

#[test]
fn a_set_does_not_depend_on_other_points() {
    let all = rtflash(&["gen", "--util", "0.5..1.5", "--step", "0.25", "--sets", "4"]).stdout;
    let one = rtflash(&["gen", "--util", "1.0", "--sets", "2"]).stdout;
    let points: Vec<String> = all
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON")["meta"]["utilization"].to_string())
        .collect();
    assert_eq!(points.len(), 20);
    assert_eq!(all.lines().skip(8).take(2).collect::<Vec<_>>(), one.lines().collect::<Vec<_>>());
    let last = rtflash(&["gen", "--util", "0.1..0.25", "--sets", "1"]).json_lines();
    assert_eq!(
        last.iter().map(|set| set["meta"]["utilization"].to_string()).collect::<Vec<_>>(),
        ["0.1", "0.2", "0.25"]
    );
}

#[test]
fn the_device_of_gen_may_be_a_name_a_file_or_json() {
    let path = file("device.json", r#"{"profile":"dgist-2021","chips":8}"#).display().to_string();
    let from_file = rtflash(&["gen", "--util", "1", "--sets", "1", "--device", &path]);
    let inline = rtflash(&["gen", "--util", "1", "--sets", "1", "--device", r#"{"profile":"dgist-2021","chips":8}"#]);
    assert_eq!((from_file.status, &from_file.stdout), (0, &inline.stdout));
    assert_eq!(inline.json()["device"]["chips"], 8);
    let out = file("out.jsonl", "");
    let quiet = rtflash(&["gen", "--util", "1", "--sets", "1", "--device", &path, "--out", &out.display().to_string()]);
    assert_eq!((quiet.status, quiet.stdout.as_str()), (0, ""));
    assert_eq!(std::fs::read_to_string(out).expect("the file"), from_file.stdout);
}

#[test]
fn a_closed_pipe_is_no_error() {
    for command in
        [vec!["gen", "--util", "1", "--sets", "100000"], vec!["alloc", "tasksets/large.json", "--format", "json"]]
    {
        let mut child = Command::new(env!("CARGO_BIN_EXE_rtflash"))
            .args(&command)
            .current_dir(root())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let mut line = Vec::new();
        BufReader::with_capacity(16, child.stdout.take().expect("a pipe"))
            .read_until(b',', &mut line)
            .expect("a first piece");
        let output = child.wait_with_output().expect("the command ends");
        assert_eq!(
            (output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()),
            (Some(0), ""),
            "{command:?}"
        );
    }
}

#[test]
fn there_are_completions_and_help() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(rtflash(&["completions", shell]).stdout.contains("rtflash"), "{shell}");
    }
    assert!(rtflash(&["--help"]).stdout.lines().all(|line| line.chars().count() <= 100));
}

#[test]
fn the_committed_schemas_are_those_that_the_command_prints() {
    let mut names: Vec<String> = std::fs::read_dir(root().join("schemas"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .map(|path| path.file_stem().and_then(|stem| stem.to_str()).expect("a name").to_owned())
        .collect();
    names.sort();
    assert!(names.len() > 15, "{names:?}");
    for name in names {
        let text = std::fs::read_to_string(root().join(format!("schemas/{name}.json"))).expect("a schema");
        assert_eq!(rtflash(&["schema", &name]).stdout, text, "schemas/{name}.json is not what `schema {name}` prints");
    }
}

/// A drive that answers a write too late has a load below 1: the reason is its response.
#[test]
fn a_late_answer_is_a_reason() {
    let text = r#"{"device": {"profile": "dgist-2021", "chips": 1, "chips_per_channel": 1},
        "tasks": [{"name": "w", "write": {"pages": 1, "period": "40ms"}}]}"#;
    let set = file("late.json", text).display().to_string();
    let stock = rtflash(&["alloc", &set, "--analysis", "stock"]);
    assert_eq!(stock.status, 1, "{}", stock.stdout);
    assert!(!stock.stdout.contains("less than 0.01 %"), "{}", stock.stdout);
    let allocation = file("late-allocation.json", rtflash(&["alloc", &set, "--format", "json"]).stdout);
    let check = rtflash(&["check", &set, "--allocation", &allocation.display().to_string(), "--analysis", "stock"]);
    let reason = "Test of stock         not schedulable: cluster 0 fails: a write takes up to";
    assert!(check.stdout.contains(reason), "{}", check.stdout);
    assert!(check.stdout.contains("and the shortest period of writes is 40ms\n"), "{}", check.stdout);
}

/// Options and commands that have other names than at first accept the first ones.
#[test]
fn old_spellings_are_accepted() {
    const SET: &str = "tasksets/case-study.json";
    let pairs: [[&[&str]; 2]; 5] = [
        [
            &["alloc", SET, "--analysis", "sound", "--assume", "fifo-bus"],
            &["alloc", SET, "--analysis", "sound", "--rely-on", "queue"],
        ],
        [
            &["alloc", SET, "--analysis", "sound", "--assume", "neighbour-load"],
            &["alloc", SET, "--analysis", "sound", "--rely-on", "neighbours"],
        ],
        [
            &["gen", "--util", "0.5", "--sets", "2", "--threads", "1"],
            &["gen", "--util", "0.5", "--sets", "2", "--jobs", "1"],
        ],
        [
            &["exec", SET, "--duration", "10ms", "--preconditioning", "fresh", "--shaper"],
            &["exec", SET, "--duration", "10ms", "--aging", "fresh", "--police"],
        ],
        [&["falsify", "--runs", "1", "--threads", "1"], &["soak", "--runs", "1", "--jobs", "1"]],
    ];
    for [new, old] in pairs {
        let (new, old) = (rtflash(new), rtflash(old));
        assert!(new.status < 2, "{new:?}");
        assert_eq!((new.status, new.stdout), (old.status, old.stdout));
    }
}
