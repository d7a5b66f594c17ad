//! Deadlines before the end of the period, and release jitter: what takes them keeps them, and what
//! does not says so.

use std::path::{Path, PathBuf};

use crate::common::{rtflash, rtflash_with_input};

/// A writer that is due early and may be late, and a reader.
const SET: &str = r#"{"device":{"profile":"dgist-2021","chips":4},"tasks":[
    {"name":"camera","write":{"pages":24,"period":"60ms","deadline":"40ms","jitter":"2ms","access":"sequential"}},
    {"name":"map","read":{"pages":40,"period":"36ms"}}]}"#;

/// The set with all requests due at the end of their periods.
fn implicit() -> String {
    SET.replace(r#","deadline":"40ms","jitter":"2ms""#, "")
}

/// A directory of its own for one test.
fn scratch(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-deadlines-{name}", std::process::id()));
    std::fs::create_dir_all(&path).expect("a directory");
    path
}

#[test]
fn theorem_1_refuses_them_wherever_it_is_asked() {
    let sentence = "knows implicit deadlines only, and the write request of `camera` has a deadline of 40ms";
    for analysis in ["thesis", "thesis-evaluated"] {
        for command in [
            vec!["alloc", "-", "--format", "json"],
            vec!["alloc", "-", "--algorithm", "part-ftl", "--format", "json"],
            vec!["alloc", "-", "--algorithm", "exact", "--format", "json"],
            vec!["alloc", "-", "--algorithm", "global", "--format", "json"],
            vec!["explain", "-", "--format", "json"],
            vec!["size", "-", "--format", "json"],
            vec!["exec", "-", "--format", "json"],
        ] {
            let command = [command, vec!["--analysis", analysis]].concat();
            let run = rtflash_with_input(&command, SET.as_bytes());
            assert_eq!(run.status, 3, "{command:?}: {}{}", run.stdout, run.stderr);
            assert!(run.stdout.contains(sentence) && !run.stdout.contains("\"schedulable\":true"), "{}", run.stdout);
        }
        let jitter = implicit().replace(r#""period":"36ms""#, r#""period":"36ms","jitter":"1us""#);
        let run = rtflash_with_input(&["alloc", "-", "--analysis", analysis], jitter.as_bytes());
        assert_eq!(run.status, 3);
        assert!(run.stdout.contains("the read request of `map` has a release jitter of 1us"), "{}", run.stdout);
        // A deadline that is the period changes nothing.
        let same = implicit().replace(r#""period":"36ms""#, r#""period":"36ms","deadline":"36ms","jitter":"0ms""#);
        let answer =
            |set: &str| rtflash_with_input(&["alloc", "-", "--analysis", analysis, "--format", "json"], set.as_bytes());
        assert_eq!(answer(&same).stdout, answer(&implicit()).stdout);
    }
    // The sound analysis speaks beside it.
    let run = rtflash_with_input(&["alloc", "-", "--guarantee", "--format", "json"], SET.as_bytes());
    assert!(
        run.stdout.contains("\"schedulable\":null") && run.stdout.contains("\"guaranteed\":true"),
        "{}",
        run.stdout
    );
}

#[test]
fn a_given_allocation_is_refused_too() {
    let path = scratch("deadlines-given").join("allocation.json");
    let clusters = r#"{"clusters":[{"chips":[0,1],"tasks":["camera"]},{"chips":[2,3],"tasks":["map"]}]}"#;
    std::fs::write(&path, clusters).expect("a file");
    let path = path.to_str().expect("a name");
    for command in ["check", "explain", "exec"] {
        let run = |set: &str, analysis: &str| {
            let args = [command, "-", "--allocation", path, "--analysis", analysis, "--format", "json"];
            rtflash_with_input(&args, set.as_bytes())
        };
        let refused = run(SET, "thesis");
        assert_eq!(refused.status, 3, "{command}: {}{}", refused.stdout, refused.stderr);
        assert!(refused.stdout.contains("implicit deadlines only"), "{}", refused.stdout);
        assert_eq!(run(&implicit(), "thesis").status, 0, "{command}");
        assert_eq!(run(SET, "sound").status, 0, "{command}");
    }
}

#[test]
fn what_the_sound_analyses_accept_is_kept() {
    for analysis in ["stripe", "superblock", "sound"] {
        for phases in ["periodic", "at-erases"] {
            let args =
                ["exec", "-", "--analysis", analysis, "--duration", "2s", "--phases", phases, "--format", "json"];
            let run = rtflash_with_input(&args, SET.as_bytes());
            assert_eq!(run.status, 0, "{}{}", run.stdout, run.stderr);
            assert!(run.stdout.contains("\"deadline_ns\":40000000"), "{}", run.stdout);
        }
    }
    // Due sooner than it can be written.
    let hasty = SET.replace("\"40ms\"", "\"7ms\"").replace("\"2ms\"", "\"1ms\"");
    let run = rtflash_with_input(&["alloc", "-", "--analysis", "sound", "--format", "json"], hasty.as_bytes());
    assert_eq!(run.status, 1, "{}", run.stdout);
    // The period goes down to the deadline, and no further.
    let run = rtflash_with_input(&["size", "-", "--analysis", "sound", "--format", "json"], SET.as_bytes());
    assert!(run.stdout.contains("\"shortest_period_ns\":40000000"), "{}", run.stdout);
}

/// A recorder with four buffers, which is late with one (docs/applying.md).
#[test]
fn deadlines_beyond_the_period_are_kept() {
    let recorder = |deadline: &str| {
        format!(
            r#"{{"device":{{"profile":"dgist-2021","chips":2}},"tasks":[{{"name":"camera",
            "write":{{"pages":12,"period":"8ms","deadline":"{deadline}","access":"stream"}}}}]}}"#
        )
    };
    let run = |args: &[&str], set: &str| {
        rtflash_with_input(&[args, &["--analysis", "sound", "--format", "json"]].concat(), set.as_bytes())
    };
    let late = run(&["alloc", "-"], &recorder("8ms"));
    assert_eq!(late.status, 1, "{}{}", late.stdout, late.stderr);
    for phases in ["periodic", "at-erases"] {
        let kept = run(&["exec", "-", "--duration", "2s", "--phases", phases], &recorder("32ms"));
        assert_eq!(kept.status, 0, "{}{}", kept.stdout, kept.stderr);
        assert!(kept.stdout.contains("\"deadline_ns\":32000000"), "{}", kept.stdout);
    }
    // Theorem 1 tests and runs such a set, and its verdict is that of the period.
    let buffered = implicit().replace(r#""period":"60ms""#, r#""period":"60ms","deadline":"180ms""#);
    for args in [["alloc", "-"], ["exec", "-"]] {
        let run = |set: &str| rtflash_with_input(&args, set.as_bytes()).status;
        assert_eq!(run(&buffered), run(&implicit()), "{args:?}");
    }
}

#[test]
fn a_trace_is_judged_by_the_task_set() {
    let directory = scratch("deadlines-trace");
    let (set, trace) = (directory.join("set.json"), directory.join("trace.jsonl"));
    std::fs::write(&set, SET).expect("a file");
    let [set, trace] = [&set, &trace].map(|path| path.to_str().expect("a name").to_owned());
    let run = rtflash(&["exec", &set, "--analysis", "sound", "--duration", "400ms", "--trace", &trace]);
    assert_eq!(run.status, 0, "{}{}", run.stdout, run.stderr);
    let check = || rtflash(&["check", &set, "--trace", &trace, "--analysis", "sound", "--duration", "400ms"]);
    assert_eq!(check().status, 0);
    // With less jitter than there was, some releases are too late; with another deadline, all
    // deadlines are wrong.
    for (was, is) in [("\"2ms\"", "\"1us\""), ("\"40ms\"", "\"41ms\"")] {
        std::fs::write(&set, SET.replace(was, is)).expect("a file");
        let run = check();
        assert_eq!(run.status, 1, "{is}: {}{}", run.stdout, run.stderr);
        std::fs::write(&set, SET).expect("a file");
    }
}

#[test]
fn generated_deadlines_change_nothing_else() {
    let sets = |more: &[&str]| {
        let run =
            rtflash(&[&["gen", "--util", "0.5..1.5", "--step", "0.5", "--sets", "5", "--seed", "7"], more].concat());
        assert_eq!((run.status, run.stderr.as_str()), (0, ""));
        run.stdout
    };
    let (plain, due) = (sets(&[]), sets(&["--deadline", "0.5..1.0"]));
    let parse = |text: &str| -> Vec<serde_json::Value> {
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    };
    let mut stripped = parse(&due);
    for set in &mut stripped {
        assert_eq!(set["meta"]["deadline"], "0.5..1");
        set["meta"].as_object_mut().expect("an object").remove("deadline");
        for task in set["tasks"].as_array_mut().expect("tasks") {
            for request in ["read", "write"] {
                assert!(task[request].as_object_mut().expect("a request").remove("deadline").is_some());
            }
        }
    }
    assert_eq!(stripped, parse(&plain));
    assert_eq!(sets(&["--deadline", "0.5..1.0", "--jobs", "3"]), due);
    let wrong = rtflash(&["gen", "--util", "1", "--deadline", "0.5..1.5"]);
    assert!(wrong.status == 2 && wrong.stderr.contains("such as 0.5..1.0"), "{}", wrong.stderr);
}

#[test]
fn experiments_take_them_under_the_sound_analyses_alone() {
    let directory = scratch("deadlines-experiment").join("out");
    let out = directory.to_str().expect("a name");
    let experiment = |analyses: &str| {
        rtflash(&[
            "experiment",
            "schedulability",
            "--util",
            "0.5",
            "--sets",
            "3",
            "--deadline",
            "0.5..1.0",
            "--algorithms",
            "global",
            "--analyses",
            analyses,
            "--no-figure",
            "--out",
            out,
        ])
    };
    let refused = experiment("sound,thesis");
    assert_eq!(refused.status, 2);
    assert!(refused.stderr.contains("thesis knows implicit deadlines only"), "{}", refused.stderr);
    assert!(!directory.exists(), "something was begun");
    let run = experiment("sound");
    assert_eq!(run.status, 0, "{}", run.stderr);
    let manifest = std::fs::read_to_string(directory.join("manifest.json")).expect("a manifest");
    assert!(manifest.contains("\"deadline\": \"0.5..1\"") && manifest.contains("--deadline"), "{manifest}");
}

/// Nothing is looked for where the analysis has nothing to say: no limit is "not found".
#[test]
fn a_size_that_cannot_be_told_is_not_made_up() {
    let run = rtflash_with_input(&["size", "-"], SET.as_bytes());
    assert_eq!(run.status, 3, "{run:?}");
    assert!(run.stdout.contains("implicit deadlines only") && !run.stdout.contains("none found"), "{}", run.stdout);
}
