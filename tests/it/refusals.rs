//! Bad input of every kind: exit 2, the place named, what would be right, and nothing on standard
//! output.

use crate::common::{file, rtflash, rtflash_with_input};

/// A task set on one line around this device and these tasks.
fn set(device: &str, tasks: &str) -> String {
    format!(r#"{{"device":{device},"tasks":{tasks}}}"#)
}

/// A task set with this as its only task.
fn task(task: &str) -> String {
    set(r#""dgist-2021""#, &format!("[{task}]"))
}

/// A task set with this as its only job.
fn job(job: &str) -> String {
    format!(r#"{{"device":"dgist-2021","tasks":[],"jobs":[{job}]}}"#)
}

/// A task set on the profile with this field of the device changed.
fn device(field: &str) -> String {
    set(&format!(r#"{{"profile":"dgist-2021",{field}}}"#), "[]")
}

/// Whether the input is refused at this path with these words.
fn check(input: &[u8], path: &str, words: &str) {
    let run = rtflash_with_input(&["alloc", "-", "--format", "json"], input);
    let shown = String::from_utf8_lossy(&input[..input.len().min(200)]);
    assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{shown}\n{}", run.stderr);
    assert!(run.stderr.contains("--> <stdin>:"), "no place in\n{}", run.stderr);
    assert!(path.is_empty() || run.stderr.contains(&format!("at {path}\n")), "{shown}: not at {path}\n{}", run.stderr);
    assert!(run.stderr.contains(words), "{shown}: no `{words}` in\n{}", run.stderr);
    assert!(run.stderr.contains("help: "), "{shown}: no help in\n{}", run.stderr);
}

#[test]
fn values_of_every_wrong_kind() {
    let read = |request: &str| task(&format!(r#"{{"name":"a","read":{request}}}"#));
    let table: &[(String, &str, &str)] = &[
        (read(r#"{"pages":1,"period":36}"#), "tasks[0].read.period", "unit"),
        (read(r#"{"pages":1,"period":"36"}"#), "tasks[0].read.period", "unit"),
        (read(r#"{"pages":1,"period":"36 sec"}"#), "tasks[0].read.period", "sec"),
        (read(r#"{"pages":1,"period":"-1ms"}"#), "tasks[0].read.period", "below zero"),
        (read(r#"{"pages":1,"period":"0ms"}"#), "tasks[0].read.period", "zero"),
        (read(r#"{"pages":1,"period":"0.5ns"}"#), "tasks[0].read.period", "whole number of nanoseconds"),
        (read(r#"{"pages":1,"period":"9223372036854775808ns"}"#), "tasks[0].read.period", "2^63"),
        // Null says that it is left out, as `every` may say it in its place.
        (read(r#"{"pages":1,"period":null}"#), "tasks[0].read", "missing field `period`"),
        (read(r#"{"pages":1,"period":null,"every":"1/0s"}"#), "tasks[0].read.every", "share"),
        (read(r#"{"size":"4","period":"1s"}"#), "tasks[0].read.size", "bytes"),
        (read(r#"{"size":"4KiB","pages":1,"period":"1s"}"#), "tasks[0].read.size", "not both"),
        (read(r#"{"rate":"4MB/s"}"#), "tasks[0].read.rate", "how large"),
        (read(r#"{"rate":"4MB","pages":1}"#), "tasks[0].read.rate", "MB/s"),
        (read(r#"{"pages":1,"period":[]}"#), "tasks[0].read.period", ""),
        (read(r#"{"pages":1}"#), "tasks[0].read", "period"),
        (read(r#"{"period":"1s"}"#), "tasks[0].read", "pages"),
        (read(r#"{"pages":0,"period":"1s"}"#), "tasks[0].read.pages", "zero"),
        (read(r#"{"pages":-4,"period":"1s"}"#), "tasks[0].read.pages", ""),
        (read(r#"{"pages":1.5,"period":"1s"}"#), "tasks[0].read.pages", "whole"),
        (read(r#"{"pages":"4","period":"1s"}"#), "tasks[0].read.pages", "whole"),
        (read(r#"{"pages":99999999999999999999,"period":"1s"}"#), "tasks[0].read.pages", ""),
        (read(r#"{"pages":9000000000000000000,"period":"1s"}"#), "tasks[0].read.pages", "2^63"),
        (read(r#"{"pages":1,"pages":2,"period":"1s"}"#), "tasks[0].read.pages", ""),
        (read(r#"{"pages":1,"perod":"1s","period":"1s"}"#), "tasks[0].read.perod", "period"),
        (read("3"), "tasks[0].read", ""),
        (
            read(r#"{"pages":1,"period":"1s","access":"sequental"}"#),
            "tasks[0].read.access",
            "`sequential`, the nearest",
        ),
        (
            read(r#"{"pages":1,"period":"1s","access":"mixed"}"#),
            "tasks[0].read.access",
            "`random`, `sequential` or `stream`",
        ),
        (read(r#"{"pages":1,"period":"1s","access":1}"#), "tasks[0].read.access", "`random`, `sequential` or `stream`"),
        (task(r#"{"name":"a","read":{"pages":1,"period":"1s"},"data_pages":0}"#), "tasks[0].data_pages", "zero"),
        (
            task(r#"{"name":"a","read":{"pages":1,"period":"1s"},"data_pages":2097153}"#),
            "tasks[0].data_pages",
            "2097152",
        ),
        (
            task(r#"{"name":"a","write":{"pages":9,"period":"1s","access":"sequential"},"data_pages":8}"#),
            "tasks[0].write.pages",
            "does not fit in the task's data of 8 pages",
        ),
        (task(r#"{"name":"a"}"#), "tasks[0]", "neither reads nor writes"),
        (task(r#"{"read":{"pages":1,"period":"1s"}}"#), "tasks[0]", "name"),
        (task(r#"{"name":"","read":{"pages":1,"period":"1s"}}"#), "tasks[0].name", "empty name"),
        (task(r#"{"name":7,"read":{"pages":1,"period":"1s"}}"#), "tasks[0].name", ""),
        (task(r#"{"name":"a","raed":{"pages":1,"period":"1s"}}"#), "tasks[0].raed", "read"),
        (
            task(r#"{"name":"a","read":{"pages":1,"period":"1s"}},{"name":"a","read":{"pages":1,"period":"1s"}}"#),
            "tasks[1].name",
            "taken",
        ),
        (task("[]"), "tasks[0]", ""),
        (set(r#""dgist-2021""#, "{}"), "tasks", ""),
        (r#"{"device":"dgist-2021"}"#.into(), "", "tasks"),
        (r#"{"tasks":[]}"#.into(), "", "device"),
        (r#"{"device":"dgist-2021","tasks":[],"taks":[]}"#.into(), "taks", "tasks"),
        (set(r#""dgist-2020""#, "[]"), "device", "dgist-2021"),
        (set("7", "[]"), "device", ""),
        (set("{}", "[]"), "device", "chips"),
        (device(r#""chips":0"#), "device.chips", "zero"),
        (device(r#""chips":1048577"#), "device.chips", "2^20"),
        (device(r#""chips":4294967296"#), "device.chips", ""),
        (device(r#""chips_per_channel":0"#), "device.chips_per_channel", "zero"),
        (device(r#""logical_ratio":0"#), "device.logical_ratio", "(0, 1)"),
        (device(r#""logical_ratio":1.0"#), "device.logical_ratio", "(0, 1)"),
        (device(r#""logical_ratio":-0.5"#), "device.logical_ratio", "(0, 1)"),
        (device(r#""logical_ratio":"0.5""#), "device.logical_ratio", ""),
        (device(r#""logical_ratio":0.999"#), "device.logical_ratio", "free no page"),
        (device(r#""page_read":50"#), "device.page_read", "unit"),
        (device(r#""block_erase":"0s""#), "device.block_erase", "zero"),
        (device(r#""page_program":"200y""#), "device.page_program", "y"),
        (device(r#""chip":4"#), "device.chip", "chips"),
        (job(r#"{"name":"j","arrivals":{"every":"1s"}}"#), "jobs[0]", "neither reads nor writes"),
        (job(r#"{"name":"j","read_pages":1}"#), "jobs[0]", "arrivals"),
        (job(r#"{"name":"j","read_pages":1,"arrivals":{}}"#), "jobs[0].arrivals", "every"),
        (job(r#"{"name":"j","read_pages":1,"arrivals":{"every":"0s"}}"#), "jobs[0].arrivals.every", "zero"),
        (job(r#"{"name":"j","read_pages":1,"arrivals":{"every":"1s","at":["1s"]}}"#), "jobs[0].arrivals", ""),
        (job(r#"{"name":"j","read_pages":1,"arrivals":{"uniform":["1s"]}}"#), "jobs[0].arrivals.uniform", ""),
        (
            job(r#"{"name":"j","read_pages":1,"arrivals":{"uniform":["2s","1s"]}}"#),
            "jobs[0].arrivals.uniform",
            "longer",
        ),
        (job(r#"{"name":"j","read_pages":1,"arrivals":{"at":["2s","1s"]}}"#), "jobs[0].arrivals.at[1]", "earlier"),
    ];
    for (input, path, words) in table {
        check(input.as_bytes(), path, words);
    }
}

#[test]
fn what_is_not_a_task_set_at_all() {
    let deep = "[".repeat(200_000);
    let table: [&[u8]; 12] = [
        b"",
        b"   \n\n",
        b"null",
        b"[]",
        b"42",
        b"\"task set\"",
        b"{",
        b"{\"device\": \"dgist-2021\",}",
        b"hello",
        b"\xff\xfe\x00",
        b"\0\0\0",
        deep.as_bytes(),
    ];
    for input in table {
        check(input, "", "error: ");
    }
}

#[test]
fn all_mistakes_of_a_file_are_told_in_one_go_each_with_its_place() {
    let path = file(
        "many.json",
        "{\n  \"device\": { \"profile\": \"dgist-2021\", \"chip\": 4 },\n  \"tasks\": [\n    { \"name\": \"a\", \"read\": { \"pages\": 0, \"period\": 36 } },\n    { \"name\": \"a\" }\n  ]\n}\n",
    );
    let name = path.display().to_string();
    let run = rtflash(&["alloc", &name]);
    assert_eq!((run.status, run.stdout.as_str()), (2, ""));
    for place in ["2:40", "4:39", "4:52", "5:5", "5:15"] {
        assert!(run.stderr.contains(&format!("--> {name}:{place}\n")), "{place}:\n{}", run.stderr);
    }
}

#[test]
fn a_bad_line_does_not_stop_a_batch() {
    let good = r#"{"device":"dgist-2021","tasks":[{"name":"a","read":{"pages":1,"period":"1s"}}]}"#;
    let heavy = r#"{"device":"dgist-2021","tasks":[{"name":"a","read":{"pages":1000,"period":"1ms"}}]}"#;
    for (lines, status, answers) in [
        (vec![good, good], 0, "true true"),
        (vec![good, heavy, good], 1, "true false true"),
        (vec![good, "{\"device\": \"dgist-2021\", \"tasks\": [", heavy, good], 2, "true false true"),
        (vec![r#"{"device":"#, good], 2, "true"),
    ] {
        let run = rtflash_with_input(&["alloc", "-", "--format", "json"], lines.join("\n").as_bytes());
        let answered = run.json_lines().into_iter().filter(|answer| answer.get("error").is_none());
        let told: Vec<String> = answered.map(|answer| answer["schedulable"].to_string()).collect();
        assert_eq!((run.status, told.join(" ").as_str()), (status, answers), "{}", run.stderr);
        if let Some(bad) = lines.iter().position(|line| serde_json::from_str::<serde_json::Value>(line).is_err()) {
            assert!(run.stderr.contains(&format!("<stdin>:{}:", bad + 1)), "{}", run.stderr);
        }
    }
    // A file of another kind has a hundred thousand lines that are wrong: the first hundred do.
    for (bad, left_out) in [(100, None), (300, Some("… and 200 more values of the stream are wrong"))] {
        let run = rtflash_with_input(&["size", "-"], format!("{{]\n{good}\n").repeat(bad).as_bytes());
        assert_eq!((run.status, run.stderr.matches("error: ").count()), (2, 100), "{}", run.stderr);
        let last = run.stderr.lines().last().filter(|line| line.starts_with('…'));
        assert_eq!((last, run.stdout.matches("Theorem 1 (Kim").count()), (left_out, bad));
    }
    // Cannot tell, no, yes: 3 is worse than 1.
    let many: Vec<String> =
        (0..17).map(|n| format!(r#"{{"name":"t{n}","read":{{"pages":1,"period":"1s"}}}}"#)).collect();
    let lines = [set(r#""dgist-2021""#, &format!("[{}]", many.join(","))), heavy.to_owned(), good.to_owned()];
    let run =
        rtflash_with_input(&["alloc", "-", "--format", "json", "--algorithm", "exact"], lines.join("\n").as_bytes());
    let told: Vec<String> = run.json_lines().iter().map(|answer| answer["schedulable"].to_string()).collect();
    assert_eq!((run.status, told.join(" ").as_str()), (3, "null false true"));
}

#[test]
fn allocations_that_are_none() {
    let clusters = |text: &str| format!(r#"{{"clusters":[{text}]}}"#);
    let table: &[(String, &str)] = &[
        (String::new(), ""),
        ("[]".into(), ""),
        ("{}".into(), "clusters"),
        (clusters(r#"{"tasks":["t1","t2","t3","t4"]}"#), "chips"),
        (clusters(r#"{"chips":[],"tasks":["t1","t2","t3","t4"]}"#), "chip"),
        (clusters(r#"{"chips":[4],"tasks":["t1","t2","t3","t4"]}"#), "4"),
        (clusters(r#"{"chips":[-1],"tasks":["t1","t2","t3","t4"]}"#), ""),
        (clusters(r#"{"chips":[0,0],"tasks":["t1","t2","t3","t4"]}"#), "0"),
        (clusters(r#"{"chips":[0],"tasks":["t1","t2"]},{"chips":[0],"tasks":["t3","t4"]}"#), "0"),
        (clusters(r#"{"chips":[0],"tasks":["t1","t2","t3"]}"#), "t4"),
        (clusters(r#"{"chips":[0],"tasks":["t1","t2","t3","t4","t4"]}"#), "t4"),
        (clusters(r#"{"chips":[0],"tasks":["t1","t2","t3","t44"]}"#), "t4"),
        (clusters(r#"{"chips":[0],"tasks":[1]}"#), ""),
    ];
    for (number, (input, words)) in table.iter().enumerate() {
        let path = file(&format!("allocation-{number}.json"), input).display().to_string();
        let run = rtflash(&["check", "tasksets/case-study.json", "--allocation", &path]);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{input}\n{}", run.stderr);
        assert!(run.stderr.contains(&path) && run.stderr.contains(words), "{input}\n{}", run.stderr);
    }
}

#[test]
fn calls_that_make_no_sense() {
    for call in [
        "alloc",
        "alloc nowhere.json",
        "alloc tasksets",
        "alloc tasksets/case-study.json --algorithm best",
        "alloc tasksets/case-study.json --analysis none",
        "alloc tasksets/case-study.json --format xml",
        "alloc tasksets/case-study.json --fast",
        "check tasksets/case-study.json",
        "frobnicate",
        "gen",
        "gen --util 4..1",
        "gen --util 0",
        "gen --util x",
        "gen --util -1",
        "gen --util 1 --step 0",
        "gen --util 9 --tasks 3",
        "gen --util 0.1..3.1 --tasks 3",
        "gen --util 3 --tasks 3 --generator integer-shares",
        "gen --util 1 --sets 0",
        "experiment schedulability --tasks 3 --out no/such/folder",
        "experiment schedulability --util 9 --tasks 3 --out no/such/folder",
        "experiment schedulability --util 3 --sweep tasks=2,4 --out no/such/folder",
        "experiment schedulability --sets 0 --out no/such/folder",
        "experiment schedulability --step 0 --out no/such/folder",
        "experiment schedulability --tasks 2 --util 1 --write-heavy 3 --out no/such/folder",
        "experiment schedulability --shard 4/4 --out no/such/folder",
        "exec tasksets/case-study.json --memory 5",
        "exec tasksets/case-study.json --memory 0GiB",
        "exec tasksets/case-study.json --duration 1s --gantt 1s..2s",
        "gen --util 1 --tasks 0",
        "gen --util 1 --tasks 8 --write-heavy 9",
        "gen --util 1 --device dgist",
        "gen --util 1 --device {}",
        "gen --util 1 --generator random",
        "gen --util 1 --generator heavy-writers",
        "gen --generator heavy-writers --write-share 1",
        "gen --generator integer-shares",
        "gen --util 3 --tasks 1001 --generator randfixedsum",
        "gen --util 1 --period-distribution log",
        "gen --util 1 --jobs 0",
        "gen --util 1 --out no/such/folder/x",
        "schema nothing",
        "completions nothing",
        "explain nowhere.json",
        "size nowhere.json",
        "size tasksets/case-study.json --analysis none",
        "size",
    ] {
        let run = rtflash(&call.split(' ').collect::<Vec<_>>());
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{call}\n{}", run.stderr);
        assert!(run.stderr.contains("error: "), "{call}\n{}", run.stderr);
    }
}

#[test]
fn a_call_that_nothing_can_come_of_names_its_options() {
    for (call, options) in [
        ("gen --util 9 --tasks 3", "--util 9 --tasks 3: no set of 3 tasks has a utilization of 9"),
        ("gen --util 1 --sets 0", "--sets 0"),
        ("gen --util 3 --tasks 1001 --generator randfixedsum", "--tasks 1001: 1001 tasks are too many: at most 1000"),
        ("gen --util 1 --tasks 2 --write-heavy 3", "--write-heavy 3 --tasks 2"),
        ("experiment schedulability --tasks 3 --out no", "no set has a utilization of 3.1"),
        ("experiment schedulability --util 3 --sweep tasks=2,4 --out no", "no set with tasks=2"),
        ("exec tasksets/case-study.json --duration 1s --gantt 1s..2s", "--gantt 1s..2s"),
    ] {
        let run = rtflash(&call.split(' ').collect::<Vec<_>>());
        assert!(run.stderr.contains(options), "{call}\n{}", run.stderr);
    }
    // A set that can be drawn at some point is drawn.
    let run = rtflash(&["gen", "--util", "2.5", "--tasks", "3", "--sets", "1", "--write-share", "0"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
}
