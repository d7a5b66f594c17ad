//! `rtflash explain` of a given allocation: it says what `check` says of it.

use crate::common::{Run, file, rtflash};
use serde_json::{Value, json};

/// A log and who reads, on two chips of a channel.
const SET: &str = r#"{"device": {"chips": 2, "chips_per_channel": 2, "blocks_per_chip": 12,
    "pages_per_block": 8, "page_size": 4096, "logical_ratio": 0.5, "page_read": "5us", "page_program": "20us",
    "block_erase": "60us", "page_transfer": "4us"},
    "tasks": [{"name": "log", "write": {"pages": 2, "period": "4ms", "access": "sequential"}},
        {"name": "view", "read": {"pages": 2, "period": "1200us", "access": "sequential"}}]}"#;

fn answers(set: &str, allocation: &Value) -> [Run; 3] {
    let allocation = file("explain-allocation.json", allocation.to_string()).display().to_string();
    let by = [set, "--allocation", &allocation, "--analysis", "sound"];
    let run = |command: &str, more: &[&str]| rtflash(&[&[command], &by[..], more].concat());
    [run("check", &["--format", "json"]), run("explain", &["--format", "json"]), run("explain", &[])]
}

/// Nanoseconds of a time as the text has it.
fn ns(time: &str) -> f64 {
    let digits = time.trim_end_matches(char::is_alphabetic);
    let unit = match &time[digits.len()..] {
        "s" => 1e9,
        "ms" => 1e6,
        "us" => 1e3,
        "ns" => 1.0,
        other => panic!("{other} in {time}"),
    };
    digits.parse::<f64>().expect("a number") * unit
}

/// The sum of the tightest interval, L less the server's share, demand and blocking: what is left
/// is the slack that is printed. Gives the word behind it.
fn adds_up(text: &str, server_thousandths: f64) -> String {
    let line = text.lines().find(|line| line.contains("tightest interval: L")).expect("a line");
    let after = |what: &str| {
        let rest = &line[line.find(what).expect("it is there") + what.len()..];
        rest.split([' ', ',', ':']).next().expect("a time")
    };
    let [length, demand, blocking] = ["L = ", "demand ", "blocking "].map(|what| ns(after(what)));
    let slack = after("slack ");
    let slack = if let Some(below) = slack.strip_prefix('-') { -ns(below) } else { ns(slack) };
    let left = length * (1.0 - server_thousandths / 1e3) - demand - blocking;
    assert!((left - slack).abs() <= 1e-3 * length, "{line}");
    line.rsplit(": ").next().expect("a verdict").to_owned()
}

/// The interval that is explained is the one that `check` judges, with all that it notes.
#[test]
fn explain_shows_the_interval_of_the_verdict() {
    let set = file("explain-refused.json", SET).display().to_string();
    let found = rtflash(&["alloc", &set, "--analysis", "sound", "--algorithm", "global", "--format", "json"]);
    let mut allocation = found.json();
    // Collection is due too soon, and the numbers of the load are another one's.
    allocation["clusters"][0]["certificate"]["gc_deadline_ns"] = json!(100_000);
    allocation["clusters"][0]["utilization"] = json!(0.25);
    let [check, explain, text] = answers(&set, &allocation);
    let [checked, explained] = [check.json(), explain.json()].map(|answer| answer["clusters"][0].clone());
    assert_eq!((check.status, explain.status), (1, 1));
    assert_eq!(explained["notes"], checked["notes"]);
    let states = |note: &Value| note.as_str().is_some_and(|note| note.starts_with("it states a utilization of 0.25"));
    assert!(checked["notes"].as_array().expect("notes").iter().any(states), "{checked}");
    let share = checked["utilization"].as_f64().expect("a share");
    let reason = format!("cluster 0 has a demand of {share:.2} in its tightest interval, the limit is 1");
    assert_eq!(check.json()["guarantee"]["reason"], json!(reason));
    assert!(text.stdout.contains("\ncluster 0: chips 0-1\n"), "{}", text.stdout);
    assert!(explained["certificate"]["slack_ns"].as_i64().expect("a slack") < 0, "{explained}");
}

/// For any statements of a certificate `explain` and `check` agree, and the sums of the explanation
/// are those of the stated numbers.
#[test]
fn explain_says_what_check_finds() {
    let set = file("explain-set.json", SET).display().to_string();
    let found = rtflash(&["alloc", &set, "--analysis", "sound", "--algorithm", "global", "--format", "json"]);
    assert_eq!(found.status, 0, "{}", found.stdout);
    let altered = |field: &str, value: Value| {
        let mut allocation = found.json();
        allocation["clusters"][0]["certificate"][field] = value;
        allocation
    };
    let server = found.json()["clusters"][0]["certificate"]["server_thousandths"].as_f64().expect("thousandths");
    let cases = [
        (found.json(), server, Some("schedulable")),
        (altered("slack_ns", json!(7)), server, Some("schedulable")),
        (altered("slack_ns", json!(-7)), server, Some("schedulable")),
        (altered("server_thousandths", json!(990)), 990.0, Some("not schedulable")),
        (altered("gc_deadline_ns", json!(100_000)), server, Some("not schedulable")),
        (altered("reserve_pages", json!(3)), server, None),
        (altered("victim_pages", json!(1)), server, None),
    ];
    for (allocation, server, word) in cases {
        let [check, explain, text] = answers(&set, &allocation);
        assert_eq!((explain.status, text.status), (check.status, check.status), "{}", text.stdout);
        let (checked, explained) = (check.json(), explain.json());
        assert_eq!(explained["schedulable"], checked["schedulable"]);
        let [checked, explained] = [&checked, &explained].map(|answer| &answer["clusters"][0]);
        for field in ["schedulable", "in_time", "relies_on", "utilization", "blocking", "demand_share"] {
            assert_eq!(explained.get(field).unwrap_or(&Value::Null), &checked[field], "{field}: {explained}");
        }
        let complaints = checked["complaints"].as_array().expect("complaints");
        assert_eq!(explained.get("complaints").unwrap_or(&json!([])), &checked["complaints"]);
        assert!(complaints.iter().all(|complaint| text.stdout.contains(complaint.as_str().expect("text"))));
        if word == Some("not schedulable") {
            let reason = check.json()["guarantee"]["reason"].to_string();
            let ends = ["exceed an interval of", "in its tightest interval, the limit is 1"];
            assert!(ends.iter().any(|end| reason.contains(end)), "{reason}");
        }
        match word {
            Some(word) => assert_eq!(adds_up(&text.stdout, server), word, "{}", text.stdout),
            None => {
                assert!(!complaints.is_empty() && !text.stdout.contains(": schedulable"), "{}", text.stdout);
                continue;
            }
        }
        // The slack that it states is the one that there is.
        let mut restated = allocation.clone();
        restated["clusters"][0]["certificate"] = explained["certificate"].clone();
        let [check, ..] = answers(&set, &restated);
        let notes = check.json()["clusters"][0]["notes"].to_string();
        assert!(!notes.contains("the slack of"), "{notes}");
    }
}

/// Many tasks of which the sums alone tell that they are in time: as `alloc` and `check` say, so
/// say `explain`, `admit` and `migrate`.
#[test]
fn what_sums_alone_decide_is_explained_so() {
    let task = |number: u64| {
        let (read, write) = (40_000_000 + 7_919 * number, 90_000_000_000u64 + 104_729 * number);
        format!(
            r#"{{"name": "t{number}", "read": {{"pages": 1, "period": "{read}ns"}},
                "write": {{"pages": 1, "period": "{write}ns", "access": "sequential"}}}}"#
        )
    };
    let tasks: Vec<String> = (0..120).map(task).collect();
    let text = format!(r#"{{"device": "dgist-2021", "tasks": [{}]}}"#, tasks.join(","));
    let set = file("explain-many.json", text).display().to_string();
    let found = rtflash(&["alloc", &set, "--analysis", "sound", "--format", "json"]);
    assert_eq!(found.status, 0, "{}", found.stdout);
    let [check, explain, text] = answers(&set, &found.json());
    assert_eq!((check.status, explain.status, text.status), (0, 0, 0), "{}", text.stdout);
    let allocation = file("explain-many-allocation.json", found.stdout).display().to_string();
    let migrate = rtflash(&["migrate", &allocation, &allocation, &set]);
    assert_eq!(migrate.status, 0, "{}{}", migrate.stdout, migrate.stderr);
}
