//! Streams of task sets and of allocations: one value or many, right or wrong, and what reads them
//! back.

mod common;

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use common::{Run, file, root, rtflash, rtflash_with_input};
use serde_json::{Value, json};

const GOOD: &str = r#"{"device":"dgist-2021","tasks":[{"name":"a","read":{"pages":1,"period":"1s"}}],"meta":7}"#;
const HEAVY: &str = r#"{"device":"dgist-2021","tasks":[{"name":"a","read":{"pages":1000,"period":"1ms"}}]}"#;
const BAD: &str =
    "{\"device\":\"dgist-2021\",\n \"tasks\":[{\"name\":\"µ\",\"read\":{\"pages\":0,\"period\":\"1s\"}},3]}";

/// Yes, a wrong one over two lines, no, one that is no JSON, cannot tell (under `exact`).
fn stream() -> String {
    let many: Vec<String> =
        (0..17).map(|n| format!(r#"{{"name":"t{n}","read":{{"pages":1,"period":"1s"}}}}"#)).collect();
    let many = format!(r#"{{"device":"dgist-2021","tasks":[{}]}}"#, many.join(","));
    [GOOD, BAD, HEAVY, "hello", &many].join("\n")
}

fn told(run: &Run) -> Vec<(Value, Value)> {
    let verdict = |line: &Value| match (line.get("error"), line.get("verdict")) {
        (Some(error), _) => error["path"].clone(),
        (None, Some(verdict)) => verdict.clone(),
        (None, None) => line["schedulable"].clone(),
    };
    run.json_lines().iter().map(|line| (line["line"].clone(), verdict(line))).collect()
}

fn path(name: &str, content: &str) -> String {
    file(name, content).display().to_string()
}

#[test]
fn one_value_is_no_stream() {
    for command in ["alloc", "explain", "size", "exec"] {
        let run = rtflash_with_input(&[command, "-", "--format", "json"], GOOD.as_bytes());
        assert!(run.stdout.starts_with(r#"{"format":1,""#), "{command}: {}", run.stdout);
        assert!(run.json().get("line").is_none() && run.status == 0, "{command}: {run:?}");
        for wrong in [BAD, "hello", ""] {
            let run = rtflash_with_input(&[command, "-", "--format", "json"], wrong.as_bytes());
            assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{command} {wrong}");
            assert!(run.stderr.contains("<stdin>:"), "{command} {wrong}");
        }
    }
    // White space around it makes no second one.
    let run = rtflash_with_input(&["alloc", "-", "--format", "json"], format!("\n\n {GOOD}\n\n").as_bytes());
    assert!(run.json().get("line").is_none());
}

#[test]
fn of_many_each_has_its_line() {
    for (command, yes) in
        [("alloc", json!(true)), ("explain", json!(true)), ("size", json!(true)), ("exec", json!("pass"))]
    {
        let options: &[&str] = if command == "exec" { &["--duration", "2s"] } else { &[] };
        let call =
            [&[command, "-", "--format", "json", "--algorithm", "exact", "--analysis", "thesis"], options].concat();
        let run = rtflash_with_input(&call, stream().as_bytes());
        let no = if command == "exec" { json!(null) } else { json!(false) };
        let expected = [(1, yes), (2, json!("tasks[0].read.pages")), (4, no), (5, json!("")), (6, json!(null))];
        let expected: Vec<_> = expected.into_iter().map(|(line, verdict)| (json!(line), verdict)).collect();
        assert_eq!(told(&run), expected, "{command}: {}", run.stderr);
        assert_eq!(run.status, 2);
        assert!(run.stdout.lines().all(|line| line.starts_with(r#"{"format":1,"line":"#)), "{}", run.stdout);
        let error = &run.json_lines()[1]["error"];
        assert_eq!((&error["line"], &error["column"]), (&json!(3), &json!(39)), "{error}");
        assert!(error["message"].as_str().is_some_and(|message| message.contains("zero")), "{error}");
        // In words all of it, as ever.
        for place in ["<stdin>:3:39", "<stdin>:3:57", "<stdin>:5:1"] {
            assert!(run.stderr.contains(place), "{command} {place}: {}", run.stderr);
        }
        assert_eq!(run.json_lines()[0]["meta"], 7);
    }
    let text = rtflash_with_input(&["alloc", "-"], stream().as_bytes()).stdout;
    let starts: Vec<&str> = text.lines().filter_map(|line| line.split_once(": ")).map(|(start, _)| start).collect();
    assert_eq!(starts, ["line 1", "line 4", "line 6"], "{text}");
}

#[test]
fn places_are_those_in_the_file() {
    // The second value on a line, and one behind characters of more than a byte.
    let input = format!("{GOOD} {{\"device\":\"µ\", \"tasks\":[]}}\n\n  {BAD}");
    let run = rtflash_with_input(&["alloc", "-", "--format", "json"], input.as_bytes());
    let column = GOOD.len() + 2 + 10;
    let lines = run.json_lines();
    assert_eq!(
        (&lines[1]["line"], &lines[1]["error"]["line"], &lines[1]["error"]["column"]),
        (&json!(1), &json!(1), &json!(column))
    );
    assert_eq!(lines[1]["error"]["path"], "device");
    assert_eq!(
        (&lines[2]["line"], &lines[2]["error"]["line"], &lines[2]["error"]["column"]),
        (&json!(3), &json!(4), &json!(39))
    );
}

/// The line that begins an answer, once it is there.
struct Talk {
    child: std::process::Child,
    answers: std::sync::mpsc::Receiver<String>,
}

impl Talk {
    fn with(format: &str) -> Talk {
        let mut child = Command::new(env!("CARGO_BIN_EXE_rtflash"))
            .args(["alloc", "-", "--format", format])
            .current_dir(root())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, answers) = std::sync::mpsc::channel();
        std::thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Talk { child, answers }
    }

    fn say(&mut self, line: &str) {
        let stdin = self.child.stdin.as_mut().expect("a pipe");
        writeln!(stdin, "{line}").and_then(|()| stdin.flush()).expect("it listens");
    }
}

#[test]
fn the_first_answer_waits_for_the_second_value_and_the_others_do_not() {
    for (format, start) in [("json", r#"{"format":1,"line":"#), ("text", "line ")] {
        let mut talk = Talk::with(format);
        talk.say(GOOD);
        talk.say(GOOD);
        // Blocks until they are there: without an answer this test does not end.
        for number in 1..=2 {
            assert!(talk.answers.recv().expect("an answer").starts_with(&format!("{start}{number}")));
        }
        talk.say(HEAVY);
        assert!(talk.answers.recv().expect("an answer").starts_with(&format!("{start}3")));
        drop(talk.child.stdin.take());
        assert_eq!(talk.child.wait().expect("it ends").code(), Some(1));
    }
}

#[test]
fn what_alloc_prints_is_read_back() {
    let sets = path("read-back-sets.jsonl", &stream());
    let made = rtflash(&["alloc", &sets, "--algorithm", "exact", "--format", "json"]);
    let allocations = path("read-back.jsonl", &made.stdout);
    let place = json!("tasks[0].read.pages");
    let verdicts = |command: &str| {
        let run = rtflash(&[command, &sets, "--allocation", &allocations, "--format", "json"]);
        assert_eq!(run.status, 2, "{command}: {}", run.stderr);
        assert_eq!(run.json_lines().len(), 5, "{command}: {}", run.stdout);
        told(&run)
    };
    let expected = |yes: Value, no: Value| {
        let each = [(1, yes), (2, place.clone()), (4, no), (5, json!("")), (6, json!(null))];
        each.map(|(line, verdict)| (json!(line), verdict)).to_vec()
    };
    assert_eq!(verdicts("check"), expected(json!(true), json!(false)));
    assert_eq!(verdicts("explain"), expected(json!(true), json!(false)));
    assert_eq!(verdicts("exec"), expected(json!("pass"), json!(null)));
    // Without the wrong ones: no is the worst but cannot tell.
    let sets = path("read-back-fine.jsonl", &[GOOD, HEAVY].join("\n"));
    let lines: Vec<&str> = made.stdout.lines().collect();
    let allocations = path("read-back-fine-allocations.jsonl", &[lines[0], lines[2]].join("\n"));
    for command in ["check", "explain", "exec"] {
        assert_eq!(rtflash(&[command, &sets, "--allocation", &allocations]).status, 1, "{command}");
    }
}

#[test]
fn lines_that_hold_no_allocation() {
    let clusters = r#"{"clusters":[{"chips":[0],"tasks":["a"]}]}"#;
    let part = r#"{"format":1,"schedulable":true,"algorithm":"part-ftl","clusters":[]}"#;
    let error = r#"{"format":1,"line":2,"error":{"message":"zero pages","path":"x","line":2,"column":5}}"#;
    for (line, status, schedulable) in [
        (clusters, 0, json!(true)),
        (r#"{"format":1,"schedulable":false,"clusters":[],"unplaced":{}}"#, 1, json!(false)),
        (r#"{"schedulable":null,"clusters":[],"reason":"17 tasks"}"#, 3, json!(null)),
        (part, 3, json!(null)),
    ] {
        let allocation = path("single.json", line);
        let set = path("single-set.json", GOOD);
        for command in ["check", "explain", "exec"] {
            let run = rtflash(&[command, &set, "--allocation", &allocation, "--format", "json"]);
            assert_eq!(run.status, status, "{command} {line}: {run:?}");
            if command != "exec" {
                assert_eq!(run.json()["schedulable"], schedulable, "{command} {line}");
            }
            let text = rtflash(&[command, &set, "--allocation", &allocation]);
            assert!(text.status == status && !(text.stdout.clone() + &text.stderr).is_empty(), "{command} {line}");
        }
    }
    for line in [error, r#"{"format":2,"clusters":[{"chips":[0],"tasks":["a"]}]}"#, "{", ""] {
        let (allocation, set) = (path("single-wrong.json", line), path("single-set.json", GOOD));
        for command in ["check", "explain", "exec"] {
            let run = rtflash(&[command, &set, "--allocation", &allocation, "--format", "json"]);
            assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{command} {line}");
            assert!(run.stderr.contains(&allocation), "{command} {line}: {}", run.stderr);
        }
    }
    let (sets, allocations) =
        (path("two.jsonl", &[GOOD, GOOD].join("\n")), path("two-a.jsonl", &[clusters, error].join("\n")));
    let run = rtflash(&["check", &sets, "--allocation", &allocations, "--format", "json"]);
    let fault = &run.json_lines()[1]["error"];
    assert_eq!((&fault["line"], &fault["path"]), (&json!(2), &json!("error")), "{fault}");
    assert!(fault["message"].as_str().is_some_and(|message| message.contains("zero pages")), "{fault}");
}

#[test]
fn both_streams_are_as_long() {
    let clusters = r#"{"clusters":[{"chips":[0],"tasks":["a"]}]}"#;
    let [one, two, three] = [1, 2, 3].map(|count| path(&format!("sets-{count}.jsonl"), &[GOOD; 3][..count].join("\n")));
    let [a1, a2] = [1, 2].map(|count| path(&format!("allocations-{count}.jsonl"), &[clusters; 2][..count].join("\n")));
    for command in ["check", "explain", "exec"] {
        let lines = |sets: &str, allocations: &str, status: i32| {
            let run = rtflash(&[command, sets, "--allocation", allocations, "--format", "json"]);
            assert_eq!(run.status, status, "{command}: {}", run.stderr);
            run.json_lines().iter().map(|line| line.get("error").is_none()).collect::<Vec<_>>()
        };
        assert_eq!(lines(&one, &a1, 0), [true]);
        assert_eq!(lines(&two, &a2, 0), [true, true]);
        // Each set has its line, also where there is no allocation for it.
        assert_eq!(lines(&three, &a2, 2), [true, true, false]);
        assert_eq!(lines(&three, &a1, 2), [true, false, false]);
        // One value is no stream, and something is wrong.
        assert_eq!(lines(&one, &a2, 2), [true; 0]);
        let run = rtflash_with_input(&[command, "-", "--allocation", "-"], b"");
        assert!(run.status == 2 && run.stderr.contains("both"), "{command}: {}", run.stderr);
    }
}

#[test]
fn a_meta_of_several_lines_makes_an_answer_of_one() {
    let set = r#"{ "device": "dgist-2021", "tasks": [{ "name": "a", "read": { "pages": 1, "period": "1s" } }], "meta": {
        "source":
        "a paper" } }"#;
    for command in ["alloc", "explain", "size", "exec"] {
        let run = rtflash_with_input(&[command, "-", "--format", "json"], set.as_bytes());
        assert_eq!((run.status, run.stdout.lines().count()), (0, 1), "{run:?}");
        assert_eq!(run.json()["meta"]["source"], "a paper");
    }
}
