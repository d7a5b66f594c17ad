//! `rtflash host order` does what docs/host.md says.

mod common;

use common::{Run, rtflash_with_input};

fn order(script: &str) -> Run {
    rtflash_with_input(&["host", "order", "-"], script.as_bytes())
}

/// What is handed out for each `ask`, by a script of these steps.
fn handed(scheduler: &str, steps: &[&str]) -> Vec<String> {
    let run = order(&format!(r#"{{ "scheduler": {scheduler}, "script": [{}] }}"#, steps.join(",")));
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{scheduler}");
    let ids = |line: &serde_json::Value| {
        let ids = line.as_array().expect("an array").iter().map(|id| id.as_str().expect("an id"));
        ids.collect::<Vec<_>>().join(" ")
    };
    run.json_lines().iter().map(ids).collect()
}

#[test]
fn the_script_of_the_documentation() {
    let text = std::fs::read_to_string(common::root().join("docs/host.md")).expect("the page");
    let script = text.split("```json").nth(1).and_then(|rest| rest.split("```").next()).expect("a script");
    let run = order(script);
    assert_eq!((run.status, run.stdout.as_str()), (0, "[\"b\"]\n[\"a.0\"]\n"), "{run:?}");
}

#[test]
fn levels_and_bounds_of_k2() {
    let steps = [
        r#"{ "at": "0ms", "insert": [ { "id": "e", "op": "read", "size": "4KiB" }, { "id": "i", "op": "read", "size": "4KiB", "class": "idle" },
            { "id": "r7", "op": "write", "size": "512KiB", "class": "rt", "level": 7 }, { "id": "r0", "op": "read", "size": "4KiB", "class": "rt", "level": 0 } ] }"#,
        r#"{ "at": "0ms", "ask": 3 }"#,
        r#"{ "at": "1ms", "complete": ["r7"] }"#,
        r#"{ "at": "1ms", "insert": [ { "id": "late", "op": "read", "size": "4KiB", "class": "rt", "level": 3 } ] }"#,
        r#"{ "at": "1ms", "ask": 9 }"#,
        r#"{ "at": "2ms", "complete": ["late", "r0"] }"#,
        r#"{ "at": "2ms", "ask": 9 }"#,
    ];
    assert_eq!(handed(r#"{ "name": "k2", "max_inflight": 2 }"#, &steps), ["r0 r7", "late", "e i"]);
    assert_eq!(handed(r#"{ "name": "k2", "max_inflight": 2, "levels": "one" }"#, &steps), ["r7 r0", "late", "e i"]);
    let one_of_the_rest = r#"{ "name": "k2", "max_inflight": 2, "max_inflight_rest": 1 }"#;
    assert_eq!(handed(one_of_the_rest, &steps), ["r0 r7", "late", "e"]);
}

#[test]
fn what_k2_split_cuts() {
    let steps = [
        r#"{ "at": "0ms", "insert": [ { "id": "w", "op": "write", "size": "10KiB", "class": "idle" },
            { "id": "x", "op": "write", "size": "12KiB", "class": "idle" }, { "id": "y", "op": "write", "size": "12KiB" },
            { "id": "z", "op": "write", "size": "12KiB", "class": "rt" } ] }"#,
        r#"{ "at": "0ms", "ask": 99 }"#,
    ];
    let split = |more: &str| {
        let scheduler = format!(r#"{{ "name": "k2-split", "max_inflight": 99, "max_sectors": "7KiB"{more} }}"#);
        handed(&scheduler, &steps)
    };
    assert_eq!(split(""), ["z w x.0 x.1 x.2 y"]);
    assert_eq!(split(r#", "multiples": false"#), ["z w.0 w.1 w.2 x.0 x.1 x.2 y"]);
    assert_eq!(split(r#", "cut": "rest""#), ["z w.0 w.1 w.2 x.0 x.1 x.2 y.0 y.1 y.2"]);
    assert_eq!(split(r#", "cut": "rest", "multiples": true"#), ["z w x.0 x.1 x.2 y.0 y.1 y.2"]);
}

#[test]
fn mq_deadline_expires_to_the_millisecond_and_ages() {
    let insert = r#"{ "at": "0ms", "insert": [ { "id": "a", "op": "read", "from": "40KiB", "size": "4KiB" },
        { "id": "b", "op": "read", "from": "80KiB", "size": "4KiB" } ] }"#;
    let more = r#"{ "at": "0ms", "insert": [ { "id": "c", "op": "read", "from": "4KiB", "size": "4KiB" } ] }"#;
    let later = |at: &str| {
        let ask = format!(r#"{{ "at": "{at}", "ask": 9 }}"#);
        handed(r#"{ "name": "mq-deadline", "fifo_batch": 1 }"#, &[insert, r#"{ "at": "0ms", "ask": 1 }"#, more, &ask])
    };
    // Upwards from the last; what lies below when nothing does above; the oldest first once it is expired.
    assert_eq!(later("499ms"), ["a", "b c"]);
    let expired = handed(
        r#"{ "name": "mq-deadline", "fifo_batch": 1 }"#,
        &[
            r#"{ "at": "0ms", "insert": [ { "id": "old", "op": "read", "from": "80KiB", "size": "4KiB" } ] }"#,
            r#"{ "at": "1ms", "insert": [ { "id": "new", "op": "read", "from": "4KiB", "size": "4KiB" } ] }"#,
            r#"{ "at": "500ms", "ask": 2 }"#,
        ],
    );
    assert_eq!(expired, ["old new"]);
    let classes = |at: &str| {
        handed(
            r#""mq-deadline""#,
            &[
                r#"{ "at": "0ms", "insert": [ { "id": "idle", "op": "read", "size": "4KiB", "class": "idle" } ] }"#,
                r#"{ "at": "1ms", "insert": [ { "id": "rt", "op": "read", "size": "4KiB", "class": "rt" } ] }"#,
                &format!(r#"{{ "at": "{at}", "ask": 2 }}"#),
            ],
        )
    };
    // What is inside hides what is below, until that is ten seconds old.
    assert_eq!(classes("9999ms"), ["rt"]);
    assert_eq!(classes("10s"), ["idle rt"]);
}

#[test]
fn kyber_adjusts_its_depth() {
    let reads = |name: &str, count: u32| {
        let request = |id: u32| format!(r#"{{ "id": "{name}{id}", "op": "read", "size": "4KiB" }}"#);
        (0..count).map(request).collect::<Vec<_>>().join(",")
    };
    let ended: Vec<String> = (0..500).map(|id| format!("\"a{id}\"")).collect();
    let steps = [
        // A write of twice its target: judged at 120 ms, and for want of samples not before 1,120 ms.
        r#"{ "at": "0ms", "insert": [ { "id": "w", "op": "write", "size": "4KiB" } ] }"#.to_owned(),
        r#"{ "at": "0ms", "ask": 1 }"#.to_owned(),
        r#"{ "at": "20ms", "complete": ["w"] }"#.to_owned(),
        // Reads of half their target, enough of them: judged at 1,201 ms.
        format!(r#"{{ "at": "1100ms", "insert": [{}] }}"#, reads("a", 500)),
        r#"{ "at": "1100ms", "ask": 600 }"#.to_owned(),
        format!(r#"{{ "at": "1101ms", "complete": [{}] }}"#, ended.join(",")),
        format!(r#"{{ "at": "1200ms", "insert": [{}] }}"#, reads("b", 600)),
        r#"{ "at": "1200999us", "ask": 100 }"#.to_owned(),
        r#"{ "at": "1201ms", "ask": 600 }"#.to_owned(),
    ];
    let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
    let handed = handed(r#"{ "name": "kyber", "read_tokens": 500 }"#, &steps);
    let counts: Vec<usize> = handed.iter().map(|ids| ids.split_whitespace().count()).collect();
    // The write's latency shows congestion: reads are half as deep from then on.
    assert_eq!(counts, [1, 500, 100, 150]);
}

#[test]
fn what_is_wrong_is_pointed_at() {
    let wrong = |scheduler: &str, steps: &str, says: &[&str]| {
        let run = order(&format!("{{ \"scheduler\": {scheduler},\n \"script\": [{steps}] }}"));
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{run:?}");
        for says in says {
            assert!(run.stderr.contains(says), "`{says}` in {}", run.stderr);
        }
    };
    wrong(r#""k3""#, "", &["there is no scheduler `k3`", ":1:16", "expected `k2`"]);
    wrong(r#"{ "name": "k2-split", "max_sectors": "0KiB" }"#, "", &["`max_sectors` is zero", "scheduler.max_sectors"]);
    wrong(r#"{ "name": "k2", "max_inflight": 0 }"#, "", &["`max_inflight` is zero", "a whole number from 1 up"]);
    wrong(r#"{ "name": "k2", "cut": "rest" }"#, "", &["unknown field `cut`"]);
    let step = r#"{ "at": "1ms", "ask": 1 }, { "at": "0ms", "ask": 1 }"#;
    wrong(r#""none""#, step, &["before the step before", "script[1].at", ":2:48"]);
    wrong(r#""none""#, r#"{ "at": "1ms" }"#, &["a step in which nothing happens"]);
    wrong(r#""none""#, r#"{ "at": "1ms", "complete": ["a"] }"#, &["nothing is called `a`", "script[0].complete[0]"]);
    let insert = r#"{ "at": "0ms", "insert": [{ "id": "a", "op": "read", "size": "4KiB" }, { "id": "a", "op": "read", "size": "4KiB" }] }"#;
    wrong(r#""none""#, insert, &["a second request or piece is called `a`", "script[0].insert[1].id"]);
    let insert = r#"{ "at": "0ms", "insert": [{ "id": "a", "op": "read", "size": "4KiB" }] }, { "at": "0ms", "complete": ["a"] }"#;
    wrong(r#""none""#, insert, &["`a` is not inside", "script[1].complete[0]"]);
    let insert = r#"{ "at": "0ms", "insert": [{ "id": "a", "op": "read", "size": "900TiB", "class": "idle" }] }"#;
    wrong(r#"{ "name": "k2-split", "max_sectors": "4KiB" }"#, insert, &["is cut into 241591910400 pieces"]);
}
