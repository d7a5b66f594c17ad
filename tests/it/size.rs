//! `rtflash size` does what its interface says.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::common::{file, root, rtflash, rtflash_with_input};
use serde_json::{Value, json};

/// A file with the device's field set to a value.
fn on(name: &str, set: &str, field: &str, value: Value) -> String {
    let text = std::fs::read_to_string(root().join(set)).expect("a task set");
    let mut parsed: Value = serde_json::from_str(&text).expect("JSON");
    parsed["device"][field] = value;
    file(name, parsed.to_string()).display().to_string()
}

#[test]
fn what_it_reports_alloc_confirms() {
    let set = "tasksets/case-study.json";
    // Every command has the same default.
    assert_eq!(rtflash(&["size", set, "--format", "json"]).json()["analysis"], "thesis");
    let run = rtflash(&["size", set, "--analysis", "sound", "--format", "json"]);
    let answer = run.json();
    assert_eq!((run.status, run.stderr.as_str(), &answer["schedulable"]), (0, "", &json!(true)));
    assert_eq!((&answer["analysis"], &answer["algorithm"]), (&json!("sound"), &json!("best-fit")));
    let passes = |field: &str, value: Value| {
        rtflash(&["alloc", &on("size-x.json", set, field, value), "--analysis", "sound"]).status
    };
    let fewest = answer["chips"]["fewest"].as_u64().expect("a number");
    assert_eq!(answer["chips"]["every_smaller_tried"], json!(true));
    assert_eq!((passes("chips", json!(fewest)), passes("chips", json!(fewest - 1))), (0, 1));
    let ratio = answer["logical_ratio"]["largest"].as_f64().expect("a number");
    let next = format!("{:.3}", ratio + 0.001).parse::<f64>().expect("a number");
    assert_eq!((passes("logical_ratio", json!(ratio)), passes("logical_ratio", json!(next))), (0, 1));
    assert!(answer["load"]["largest_factor"].as_f64().is_some_and(|factor| factor > 1.0));
    let write = &answer["tasks"][0]["write"];
    let period = write["shortest_period_ns"].as_u64().expect("a number");
    assert!(
        period < write["period_ns"].as_u64().expect("a number")
            && write["more_pages"].as_i64().is_some_and(|more| more > 0)
    );
    assert!(answer["cost"]["with_jobs"]["pages_per_day"].as_f64() > answer["cost"]["pages_per_day"].as_f64());
    assert!(answer["cost"]["lifetime_years"].as_f64().is_some_and(|years| years > 0.0));
}

#[test]
fn a_lifetime_is_told_where_the_device_says_what_blocks_endure() {
    let set = on("size-cycles.json", "tasksets/case-study.json", "erase_cycles", json!(3000));
    let answer = rtflash(&["size", &set, "--analysis", "thesis", "--format", "json"]).json();
    // By hand: 24 pages every 30 ms, twice with garbage collection, on two chips of 1024 blocks of
    // 256 pages.
    let years: f64 = 1024.0 * 3000.0 / (24.0 / 0.03 * 2.0 / 2.0 / 256.0 * 86_400.0) / 365.25;
    let cluster = &answer["cost"]["clusters"][0];
    assert_eq!((&cluster["tasks"], &cluster["write_amplification"]), (&json!(["t1"]), &json!(2.0)));
    assert!(cluster["lifetime_years"].as_f64().is_some_and(|told| (told / years - 1.0).abs() < 1e-9), "{cluster}");
    let text = rtflash(&["size", &set, "--analysis", "thesis"]).stdout;
    assert!(text.contains("11.4 days") && text.contains("worn evenly"), "{text}");
    let zero = on("size-no-cycles.json", "tasksets/case-study.json", "erase_cycles", json!(0));
    let run = rtflash(&["size", &zero]);
    assert!(run.status == 2 && run.stderr.contains("device.erase_cycles"), "{}", run.stderr);
}

#[test]
fn what_is_expected_is_told_beside_the_bound() {
    let sized =
        |analysis: &str| rtflash(&["size", "tasksets/drone.json", "--analysis", analysis, "--format", "json"]).json();
    for analysis in ["thesis", "sound"] {
        let cost = &sized(analysis)["cost"];
        let number = |value: &Value| value.as_f64().expect("a number");
        let bound = number(&cost["clusters"][0]["write_amplification"]);
        let [rings, anywhere] =
            ["in_rings", "anywhere"].map(|order| &cost["clusters"][0][order]["write_amplification"]);
        assert!(1.0 <= number(&rings["least"]) && number(&rings["least"]) <= number(&rings["most"]), "{rings}");
        assert!(
            number(&rings["most"]) <= number(&anywhere["most"]) && number(&anywhere["most"]) <= bound,
            "{anywhere}"
        );
        let years = &cost["in_rings"]["lifetime_years"];
        assert!(
            number(&cost["lifetime_years"]) <= number(&years["least"])
                && number(&years["least"]) <= number(&years["most"])
        );
    }
    let text = rtflash(&["size", "tasksets/drone.json", "--analysis", "sound"]).stdout;
    assert!(text.contains("16.5 days") && text.contains("in rings") && text.contains("with --spread"), "{text}");
}

/// The judge approves of what `--spread` makes, and it lasts about as long as all chips together
/// would.
#[test]
fn free_chips_are_used_where_that_is_asked_for() {
    let set = "tasksets/drone.json";
    for analysis in ["thesis", "sound"] {
        let by = ["--analysis", analysis, "--format", "json"];
        let plain = rtflash(&[&["size", set][..], &by].concat()).json();
        let better = rtflash(&[&["size", set, "--spread"][..], &by].concat()).json();
        assert_eq!((&plain["with_spread"], &better["with_spread"]), (&better["cost"], &Value::Null));
        let years = |cost: &Value| cost["lifetime_years"].as_f64().expect("years");
        assert!(years(&better["cost"]) > 2.5 * years(&plain["cost"]), "{better}");
        let run = rtflash(&[&["alloc", set, "--spread"][..], &by].concat());
        let of = |clusters: &Value| -> Vec<Value> {
            clusters.as_array().expect("clusters").iter().map(|cluster| cluster["chips"].clone()).collect()
        };
        let (chips, sized) = (of(&run.json()["clusters"]), of(&better["cost"]["clusters"]));
        assert_eq!(chips, sized);
        let path = file(&format!("spread-{analysis}.json"), &run.stdout).display().to_string();
        assert_eq!(rtflash(&["check", set, "--allocation", &path, "--analysis", analysis]).status, 0);
        let ran = rtflash(&[&["exec", set, "--spread", "--duration", "2s"][..], &by].concat()).json();
        assert_eq!(of(&ran["clusters"]), chips);
        if analysis == "sound" {
            assert_eq!(ran["verdict"], json!("pass"), "{ran}");
        }
    }
    // An allocation that is given is run as it is.
    assert_eq!(rtflash(&["exec", set, "--spread", "--allocation", "x.json"]).status, 2);
}

#[test]
fn a_set_that_fails_is_sized_all_the_same() {
    let run = rtflash(&["size", "tasksets/overload.json", "--analysis", "thesis", "--format", "json"]);
    let answer = run.json();
    assert_eq!((run.status, &answer["schedulable"]), (1, &json!(false)));
    // The advice of `alloc`.
    assert_eq!((&answer["chips"]["fewest"], &answer["load"]["largest_factor"]), (&json!(7), &json!(0.935)));
    assert_eq!(answer["cost"]["chips"], json!(7));
    let text = rtflash(&["size", "tasksets/overload.json", "--analysis", "thesis"]).stdout;
    assert!(
        text.starts_with("Theorem 1 (Kim 2021)  not schedulable: task camera-3 needs U = 1.73")
            && text.contains("What it costs on 7 chips"),
        "{text}"
    );
    // PaRT-FTL has no test under a sound analysis.
    let run = rtflash(&[
        "size",
        "tasksets/overload.json",
        "--analysis",
        "sound",
        "--algorithm",
        "part-ftl",
        "--format",
        "json",
    ]);
    assert_eq!((run.status, &run.json()["schedulable"], &run.json()["cost"]), (3, &Value::Null, &Value::Null));
}

#[test]
fn streams_are_answered() {
    let sets = rtflash(&["gen", "--util", "0.5..2.5", "--step", "0.5", "--sets", "1", "--tasks", "3"]).stdout;
    for analysis in ["thesis", "sound"] {
        let run = rtflash_with_input(&["size", "-", "--analysis", analysis, "--format", "json"], sets.as_bytes());
        let answers = run.json_lines();
        assert_eq!((answers.len(), run.status <= 1), (5, true));
        for answer in &answers {
            assert!(answer["meta"]["utilization"].is_number());
        }
    }
    let broken = format!("{sets}{{\"device\": 3}}\n");
    let run = rtflash_with_input(&["size", "-"], broken.as_bytes());
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!((run.status, lines.len()), (2, 5 * 4), "{}", run.stdout);
    for answer in lines.chunks(4) {
        assert!(answer[0].starts_with("line ") && answer[1].starts_with("Theorem 1 (Kim 2021)  "), "{answer:?}");
        assert!(answer[2].starts_with("Guarantee on device   ") && answer[3].contains("fewest chips"), "{answer:?}");
    }
    assert!(run.stderr.contains("<stdin>:6"), "{}", run.stderr);
}

#[test]
fn a_closed_pipe_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_rtflash"))
        .args(["size", "tasksets/case-study.json", "--format", "json"])
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
    assert_eq!((output.status.code(), output.stderr.is_empty()), (Some(0), true));
}

/// A set that only a superblock of one chip serves, as a copy of a stripe would block for too long:
/// one chip is the fewest, by every search.
#[test]
fn superblocks_of_one_chip_are_sized() {
    let device = r#"{"chips": 2, "chips_per_channel": 2, "blocks_per_chip": 22, "pages_per_block": 8,
        "page_size": 4096, "logical_ratio": 0.5, "page_read": "10ns", "page_program": "14ns", "block_erase": "11ns",
        "page_transfer": "7ns", "wear_gap": 1, "wear_passes": 7}"#;
    let write = r#"{"pages": 1, "period": "86ns", "access": "sequential", "deadline": "60ns", "jitter": "18ns"}"#;
    let set = format!(r#"{{"device": {device}, "tasks": [{{"name": "t0", "write": {write}}}]}}"#);
    for algorithm in ["best-fit", "exact"] {
        let by = ["--analysis", "sound", "--algorithm", algorithm, "--format", "json"];
        let answer = rtflash_with_input(&[&["size", "-"], &by[..]].concat(), set.as_bytes()).json();
        assert_eq!((&answer["chips"]["fewest"], &answer["chips"]["every_smaller_tried"]), (&1.into(), &true.into()));
    }
}

/// The expectation for rings from a start in order, and from a strewn one: `exec` measures within
/// that, the latter where no start is named.
#[test]
fn runs_are_within_what_is_expected_of_their_start() {
    let device = r#"{"chips": 1, "chips_per_channel": 1, "blocks_per_chip": 64, "pages_per_block": 32,
        "page_size": 4096, "logical_ratio": 0.85, "page_read": "50us", "page_program": "500us", "block_erase": "5ms",
        "page_transfer": "40us"}"#;
    let write = r#"{"pages": 4, "period": "100ms", "access": "sequential"}"#;
    let set = format!(r#"{{"device": {device}, "tasks": [{{"name": "log", "write": {write}, "data_pages": 1700}}]}}"#);
    let by = ["--analysis", "stripe", "--algorithm", "global", "--format", "json"];
    let run = |words: &[&str]| rtflash_with_input(&[words, &by[..]].concat(), set.as_bytes()).json();
    let expected = &run(&["size", "-"])["cost"]["clusters"][0]["in_rings"];
    let number = |value: &Value| value.as_f64().expect("a number");
    let [least, most] = ["least", "most"].map(|end| number(&expected["write_amplification"][end]));
    let in_order = number(&expected["write_amplification_in_order"]);
    let measured = |start: &[&str]| {
        let exec = ["exec", "-", "--duration", "1000s", "--pattern", "sequential"];
        number(&run(&[&exec[..], start].concat())["clusters"][0]["write_amplification"])
    };
    let (strewn, ordered) = (measured(&[]), measured(&["--aging", "fresh"]));
    assert!(least <= ordered && ordered <= 1.05 * in_order, "{ordered}: {expected}");
    assert!(1.3 * in_order < strewn && strewn <= most, "{strewn}: {expected}");
}
