//! `rtflash host` does what docs/host.md says.

use crate::common::{Run, rtflash, rtflash_with_input};

fn order(script: &str) -> Run {
    rtflash_with_input(&["host", "order", "-"], script.as_bytes())
}

/// The commands handed out for each `ask`, by a script of these steps.
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
    let text = std::fs::read_to_string(crate::common::root().join("docs/host.md")).expect("the page");
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
    // Upwards from the last; what lies below when nothing does above; the oldest first once it is
    // expired.
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
    // A request inside hides lower classes, until it is ten seconds old.
    assert_eq!(classes("9999ms"), ["rt"]);
    assert_eq!(classes("10s"), ["idle rt"]);
}

#[test]
fn nothing_is_due_beyond_the_end_of_time() {
    let end = "9223372036854775807ns";
    let read = |id: &str, from: &str| format!(r#"{{ "id": "{id}", "op": "read", "from": "{from}", "size": "4KiB" }}"#);
    let steps = [
        format!(r#"{{ "at": "{end}", "insert": [{}] }}"#, read("x", "10B")),
        format!(r#"{{ "at": "{end}", "ask": 1 }}"#),
        format!(r#"{{ "at": "{end}", "insert": [{}, {}] }}"#, read("a", "5B"), read("b", "20B")),
        format!(r#"{{ "at": "{end}", "ask": 1 }}"#),
    ];
    let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
    assert_eq!(handed(r#"{ "name": "mq-deadline", "fifo_batch": 1 }"#, &steps), ["x", "b"]);
}

#[test]
fn kyber_adjusts_its_depth() {
    let reads = |name: &str, count: u32| {
        let request = |id: u32| format!(r#"{{ "id": "{name}{id}", "op": "read", "size": "4KiB" }}"#);
        (0..count).map(request).collect::<Vec<_>>().join(",")
    };
    let ended: Vec<String> = (0..500).map(|id| format!("\"a{id}\"")).collect();
    let steps = [
        // A write of twice its target: judged at 120 ms, and for want of samples not before 1,120
        // ms.
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
    // A request that is cut, and one that is not, also like a piece.
    let cut = r#"{ "name": "k2-split", "max_sectors": "4KiB", "cut": "rest" }"#;
    for (first, second, called) in
        [("a 8", "a 4", "a"), ("a 4", "a 8", "a"), ("a 8", "a.1 4", "a.1"), ("a.1 4", "a 8", "a")]
    {
        let request = |of: &str| {
            let (id, size) = of.split_once(' ').expect("two words");
            format!(r#"{{ "id": "{id}", "op": "read", "size": "{size}KiB" }}"#)
        };
        let insert = format!(r#"{{ "at": "0ms", "insert": [{}, {}] }}"#, request(first), request(second));
        wrong(cut, &insert, &[&format!("a second request or piece is called `{called}`"), "script[0].insert[1].id"]);
    }
    let insert = r#"{ "at": "0ms", "insert": [{ "id": "a", "op": "read", "size": "4KiB" }] }, { "at": "0ms", "complete": ["a"] }"#;
    wrong(r#""none""#, insert, &["`a` is not inside", "script[1].complete[0]"]);
    let insert = r#"{ "at": "0ms", "insert": [{ "id": "a", "op": "read", "size": "900TiB", "class": "idle" }] }"#;
    wrong(r#"{ "name": "k2-split", "max_sectors": "4KiB" }"#, insert, &["is cut into 241591910400 pieces"]);
}

/// The scenario of the documentation, with something else in it.
fn scenario(from: &str, to: &str) -> String {
    let text = std::fs::read_to_string(crate::common::root().join("docs/host.md")).expect("the page");
    let scenario = text.split("```json").nth(2).and_then(|rest| rest.split("```").next()).expect("a scenario");
    assert!(scenario.contains(from), "{from}");
    scenario.replace(from, to)
}

#[test]
fn the_scenario_of_the_documentation_by_every_scheduler() {
    let names = ["none", "k2", "k2-split", "mq-deadline", "kyber", "bfq", "minimal-effort", "user-centric"];
    let call = ["host", "run", "-", "--scheduler", &names.join(","), "--format", "json"];
    let run = rtflash_with_input(&call, scenario("", "").as_bytes());
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run:?}");
    let answers = run.json_lines();
    let max = |at: usize| answers[at]["jobs"][0]["max_ns"].as_u64().expect("a latency");
    assert_eq!(answers.iter().map(|answer| answer["scheduler"].as_str().expect("a name")).collect::<Vec<_>>(), names);
    // 64 KiB take 840 us. K2-split has at most one piece of 4 KiB before them, K2 a write of 512
    // KiB; `none` four of them.
    assert!(max(2) <= 840_000 + 560_000, "{}", max(2));
    assert!(max(1) > 5_000_000 && max(1) <= 840_000 + 8_180_000, "{}", max(1));
    assert!(max(0) > 3 * 8_180_000, "{}", max(0));
    let csv = rtflash_with_input(&["host", "run", "-", "--format", "csv"], scenario("", "").as_bytes()).stdout;
    assert_eq!(
        (csv.lines().count(), csv.lines().nth(1).map(|line| line.starts_with("k2-split,\"rt\","))),
        (3, Some(true))
    );
    let other =
        rtflash_with_input(&["host", "run", "-", "--seed", "2", "--scheduler", "k2"], scenario("", "").as_bytes());
    assert!(other.stdout.contains("p99.99"), "{other:?}");
}

#[test]
fn scenarios_that_cannot_be_are_pointed_at() {
    for (from, to, says) in [
        (r#""requests": 1024"#, r#""requests": 100"#, "cut into 128 pieces, and there are 100 tags"),
        (r#""jobs": ["#, r#""jobs": [], "x": ["#, "unknown field `x`"),
        (r#""think": "2ms""#, r#""every": "839us""#, "takes 840us alone, and the next one comes after 839us"),
        (r#""think": "2ms""#, r#""every": "10ms", "depth": 2"#, "a job with a period, and with I/Os that are replaced"),
        (r#""think": "2ms""#, r#""every": "10ms", "jitter": "10ms""#, "as late as the next one is due"),
        (r#""span": "1GiB", "#, "", "a random job without `span`"),
        (r#""first": "200us""#, r#""first": "0us""#, "`first` is zero"),
        (r#""max_sectors": "4KiB""#, r#""max_sectors": "0B""#, "`max_sectors` is zero"),
        (r#""warmup": "1s""#, r#""warmup": "10s""#, "nothing is left behind the warm-up"),
        (r#""name": "log""#, r#""name": "rt""#, "a second job is called `rt`"),
        (r#""level": 0"#, r#""level": 8"#, "`level` is too large"),
        (r#""level": 0"#, r#""cpu": 4"#, "there is no core 4"),
        (r#""think": "2ms""#, r#""flush": "2ms""#, "`flush` of a job without `rate`"),
        (r#""think": "2ms""#, r#""flush": "2ms", "rate": "1MB""#, "only writes are written back"),
        (
            r#""depth": 4"#,
            r#""flush": "2ms", "rate": "1MB", "depth": 4"#,
            "a job that writes back, and has I/Os that are replaced",
        ),
        (r#""depth": 4"#, r#""every": "2ms", "rate": "1MB""#, "a job with a period, and with a rate"),
        (r#""depth": 4"#, r#""phase": "2ms", "until": "2ms""#, "it begins only at 2ms"),
        (
            r#""depth": 1,"#,
            r#""slow": { "every": "3s..1s", "for": "1ms", "extra": "1ms" },"#,
            "`every` begins with its longest",
        ),
        (
            r#""depth": 1,"#,
            r#""slow": { "every": "1us", "for": "1ms", "extra": "1ms" },"#,
            "expected times from 1ms up",
        ),
        (r#""depth": 1,"#, r#""slow": { "every": "1s", "for": "0ms", "extra": "1ms" },"#, "`for` may be 0ns"),
        (
            r#""per_kib": "15us""#,
            r#""per_kib": "15us", "slow": { "every": "1s", "for": "1ms", "extra": "0ms" }"#,
            "`extra` is zero",
        ),
        (r#""kind": "emmc""#, r#""kind": "ufs""#, "there is no kind of device `ufs`"),
        (r#""depth": 4"#, r#""depth": 4000000000"#, "4000000000 I/Os at a time"),
    ] {
        let run = rtflash_with_input(&["host", "run", "-"], scenario(from, to).as_bytes());
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{to}: {run:?}");
        assert!(run.stderr.contains(says) && run.stderr.contains("<stdin>:"), "`{says}` in {}", run.stderr);
    }
    let none = r#"{ "device": { "kind": "emmc", "read": { "first": "1us", "next": "1us", "per_kib": "0us" },
        "write": { "first": "1us", "next": "1us", "per_kib": "0us" } }, "jobs": [], "duration": "1s" }"#;
    let run = rtflash_with_input(&["host", "run", "-"], none.as_bytes());
    assert!(run.status == 2 && run.stderr.contains("no jobs"), "{run:?}");
    // More than the device can do, for ever: given up, not hung.
    let flood = scenario(r#""depth": 4"#, r#""every": "1us""#);
    let run = rtflash_with_input(&["host", "run", "-"], flood.as_bytes());
    assert!(run.status == 3 && run.stderr.contains("wait at"), "{run:?}");
}

#[test]
fn bounds_beside_runs() {
    let scenario = r#"{ "device": { "kind": "emmc", "attach": "usb", "read": { "first": "200us", "next": "100us", "per_kib": "10us" },
            "write": { "first": "500us", "next": "300us", "per_kib": "15us" } }, "host": { "requests": 1024 },
        "scheduler": { "name": "k2-split", "max_sectors": "4KiB", "cut": "rest" },
        "jobs": [ { "name": "rt", "op": "read", "size": "64KiB", "class": "rt", "think": "2ms" },
            { "name": "log", "op": "write", "size": "512KiB", "class": "idle", "depth": 4 } ], "duration": "1s" }"#;
    let bound = |status: i32, more: &[&str]| {
        let arguments = [&["host", "bound", "-"], more].concat();
        let run = rtflash_with_input(&arguments, scenario.as_bytes());
        assert_eq!((run.status, run.stderr.as_str()), (status, ""), "{run:?}");
        run
    };
    // A piece of 4 KiB: 500 us + 4 · 15 us, or less behind a first one. The read: 200 us + 64 · 10
    // us.
    let answer = &bound(0, &["--format", "json"]).json_lines()[0];
    assert_eq!(answer["scheduler"], "k2-split");
    let job = serde_json::json!({ "name": "rt", "bound_ns": 1_400_000, "deadline_ns": null, "in_time": null, "rule": "H1", "why": null,
        "steps": null, "terms": { "inside_ns": 560_000, "ahead_ns": 0, "own_ns": 840_000 } });
    assert_eq!(answer["jobs"], serde_json::json!([job]));
    let other = &bound(3, &["--format", "json", "--scheduler", "k2,mq-deadline,kyber"]).json_lines();
    let bounds: Vec<_> = other.iter().map(|answer| answer["jobs"][0]["bound_ns"].as_u64()).collect();
    assert_eq!(bounds, [Some(9_020_000), Some(9_020_000), None]);
    assert!(other[2]["jobs"][0]["why"].is_string() && other[1]["jobs"][0]["rule"] == "H4");
    let unstated = scenario.replace(r#""attach": "usb", "#, "");
    let run = rtflash_with_input(&["host", "bound", "-", "--scheduler", "mq-deadline"], unstated.as_bytes());
    assert!(run.status == 3 && run.stdout.contains("`attach`"), "{run:?}");
    let text = bound(0, &[]).stdout;
    assert!(text.contains("1.4ms") && text.contains("the bounds rest on:\n  tags: "), "{text}");
    let clauses = answer["rests_on"].as_array().expect("clauses");
    assert!(clauses.iter().any(|clause| clause == "inside: commands inside at once: 1 at most"), "{clauses:?}");
    // Without times of the device, the bound is not decided.
    let drive = r#"{ "device": { "kind": "nvme", "flash": { "profile": "dgist-2021", "blocks_per_chip": 64 },
            "read": { "controller": "5us" }, "write": { "controller": "9us" } }, "scheduler": "k2",
        "jobs": [ { "name": "rt", "op": "read", "size": "4KiB", "class": "rt", "think": "2ms" } ], "duration": "1s" }"#;
    let run = rtflash_with_input(&["host", "bound", "-"], drive.as_bytes());
    assert!(run.status == 3 && run.stdout.contains("`ends_within`"), "{run:?}");
    assert!(bound(3, &["--scheduler", "bfq"]).stdout.contains("for budgets"));
    assert!(bound(3, &["--scheduler", "kyber"]).stdout.contains("serves all classes alike"));
}

/// A directory of its own for one test.
fn scratch(name: &str) -> std::path::PathBuf {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-order-{name}", std::process::id()));
    std::fs::create_dir_all(&path).expect("a directory");
    path
}

#[test]
fn certified_clusters_from_files_beside_the_scenario() {
    let folder = scratch("clusters");
    let set = r#"{ "device": { "profile": "dgist-2021", "chips": 4, "chips_per_channel": 2 }, "tasks": [
        { "name": "camera", "write": { "pages": 24, "period": "60ms", "deadline": "40ms" } },
        { "name": "map", "read": { "pages": 40, "period": "36ms" } } ] }"#;
    let file = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("a file");
        path.display().to_string()
    };
    let allocated =
        crate::common::rtflash(&["alloc", &file("set.json", set), "--analysis", "sound", "--format", "json"]);
    file("allocation.json", &allocated.stdout);
    let scenario = |device: &str| {
        format!(
            r#"{{ "device": {{ "kind": "clusters", {device} }}, "scheduler": {{ "name": "k2", "max_inflight_rest": 2 }},
            "jobs": [ {{ "name": "log", "op": "write", "size": "64KiB", "depth": 2 }} ], "duration": "2s" }}"#
        )
    };
    let run = |device: &str| {
        let path = file("scenario.json", &scenario(device));
        crate::common::rtflash(&["host", "run", &path, "--format", "json"])
    };
    let own = run(r#""taskset": "set.json""#);
    assert_eq!((own.status, own.stderr.as_str()), (0, ""));
    let names: Vec<String> =
        own.json_lines()[0]["jobs"].as_array().expect("jobs").iter().map(|job| job["name"].to_string()).collect();
    assert_eq!(names, [r#""camera.write""#, r#""map.read""#, r#""log""#]);
    assert_eq!(run(r#""taskset": "set.json", "allocation": "allocation.json""#).stdout, own.stdout);
    let inline = format!(r#""taskset": {set}, "allocation": {}"#, allocated.stdout.trim());
    assert_eq!(run(&inline).stdout, own.stdout);
    for (device, says) in [
        (r#""taskset": "none.json""#, "cannot read"),
        (r#""taskset": "allocation.json""#, "allocation.json: "),
        (r#""taskset": "set.json", "allocation": "set.json""#, "missing field `clusters`"),
        (r#""taskset": { "device": "dgist-2021", "tasks": [ { "name": 3 } ] }"#, "at device.taskset.tasks[0]"),
        (r#""allocation": "allocation.json""#, "missing field `taskset`"),
    ] {
        let wrong = run(device);
        assert!(wrong.status == 2 && wrong.stderr.contains(says), "{device}: {}", wrong.stderr);
    }
}

#[test]
fn commands_that_take_longer_than_the_drive_says_are_told_of() {
    let scenario = |within: &str| {
        format!(
            r#"{{ "device": {{ "kind": "nvme", "flash": {{ "profile": "dgist-2021", "blocks_per_chip": 64 }}, "read": {{ "controller": "5us" }},
            "write": {{ "controller": "5us" }}, "ends_within": "{within}" }},
            "jobs": [ {{ "name": "r", "op": "read", "size": "4KiB", "count": 10 }} ], "duration": "10ms" }}"#
        )
    };
    let run = |within: &str| rtflash_with_input(&["host", "run", "-"], scenario(within).as_bytes());
    assert_eq!((run("96us").status, run("95us").stderr.as_str()), (0, ""));
    let late = run("94us");
    assert!(
        late.status == 0 && late.stderr.contains("commands took longer than `ends_within`, first at 95us"),
        "{}",
        late.stderr
    );
}

/// A deadline of its own decides about a job: in a run by its latencies, in `bound` and `tune` by
/// its bound, which is 1.4 ms.
#[test]
fn deadlines_of_jobs_are_judged() {
    let scenario = |deadline: &str, class: &str| {
        format!(
            r#"{{ "device": {{ "kind": "emmc", "depth": 1,
                "read": {{ "first": "200us", "next": "100us", "per_kib": "10us" }},
                "write": {{ "first": "500us", "next": "300us", "per_kib": "15us" }} }},
            "scheduler": {{ "name": "k2-split", "max_inflight": 1, "max_sectors": "4KiB", "cut": "rest" }},
            "jobs": [ {{ "name": "rt", "op": "read", "pattern": "random", "span": "1GiB", "size": "64KiB",
                "class": "{class}", "level": 0, "think": "2ms"{deadline} }},
                {{ "name": "log", "op": "write", "size": "512KiB", "class": "idle", "depth": 1 }} ],
            "duration": "1s" }}"#
        )
    };
    let asked = |deadline: &str, command: &[&str]| {
        let text = scenario(&format!(r#", "deadline": "{deadline}""#), "rt");
        rtflash_with_input(&[&["host"], command, &["-"]].concat(), text.as_bytes())
    };
    // The longest read of this run takes between 0.9 and 1.4 ms.
    for (deadline, run, bound) in [("900us", 1, 1), ("1399us", 0, 1), ("1400us", 0, 0)] {
        let ran = asked(deadline, &["run", "--format", "json"]);
        let job = &ran.json_lines()[0]["jobs"][0];
        assert_eq!((ran.status, job["late"].as_u64() > Some(0)), (run, run == 1), "{deadline}: {ran:?}");
        let found = asked(deadline, &["bound", "--format", "json"]);
        assert_eq!((found.status, &found.json_lines()[0]["jobs"][0]["in_time"]), (bound, &(bound == 0).into()));
        let tuned = asked(deadline, &["tune", "--objective", "deadline", "--scheduler", "k2-split"]);
        assert_eq!(tuned.status, bound, "{deadline}: {tuned:?}");
        let share = asked(deadline, &["tune", "--objective", "bandwidth-share=1%", "--scheduler", "k2-split"]);
        assert_eq!(share.status, run, "{deadline}: {share:?}");
    }
    let refused = rtflash_with_input(&["host", "run", "-"], scenario(r#", "deadline": "1ms""#, "be").as_bytes());
    assert!(refused.status == 2 && refused.stderr.contains("not real-time"), "{refused:?}");
}

/// A drive that breaks its word lets a run exceed a bound: the exit status is a no.
#[test]
fn a_run_that_exceeds_a_bound_is_a_no() {
    let scenario = |within: &str| {
        format!(
            r#"{{ "scheduler": "k2", "device": {{ "kind": "nvme", "flash": {{ "profile": "dgist-2021",
            "blocks_per_chip": 64 }}, "read": {{ "controller": "5us" }}, "write": {{ "controller": "5us" }},
            "ends_within": "{within}" }}, "jobs": [ {{ "name": "r", "op": "read", "size": "4KiB", "class": "rt",
            "every": "1ms" }} ], "duration": "10ms" }}"#
        )
    };
    let run = |within: &str| {
        let call = ["host", "run", "-", "--format", "json"];
        let run = rtflash_with_input(&call, scenario(within).as_bytes());
        let assumptions = run.json_lines()[0]["assumptions"].clone();
        let bounds = assumptions.as_array().expect("assumptions").iter().find(|seen| seen["name"] == "bounds");
        (run.status, bounds.expect("a line")["holds"] == false)
    };
    let bound = rtflash_with_input(&["host", "bound", "-"], scenario("20us").as_bytes());
    assert_eq!(bound.status, 0, "{bound:?}");
    assert_eq!([run("200us"), run("20us")], [(0, false), (1, true)]);
}

/// The scenario of the documentation: its tasks have the deadlines of their certificates, as long
/// as places are kept for them.
#[test]
fn bounds_of_certified_clusters() {
    let page = std::fs::read_to_string(crate::common::root().join("docs/host.md")).expect("the page");
    let scenario = page.split("```json\n").find(|text| text.contains(r#""kind": "clusters""#)).expect("a scenario");
    let scenario =
        scenario.split("```").next().expect("its text").replace(r#""duration": "20s""#, r#""duration": "2s""#);
    let bounds = |text: &str, status: i32| {
        let run = rtflash_with_input(&["host", "bound", "-", "--format", "json"], text.as_bytes());
        assert_eq!((run.status, run.stderr.as_str()), (status, ""), "{run:?}");
        run.json_lines()[0]["jobs"].as_array().expect("jobs").clone()
    };
    let found = bounds(&scenario, 0);
    let of = |job: &serde_json::Value| (job["rule"].to_string(), job["bound_ns"].as_u64());
    assert_eq!(
        found.iter().map(of).collect::<Vec<_>>(),
        [(r#""H3""#.to_owned(), Some(40_000_000)), (r#""H3""#.to_owned(), Some(36_000_000))]
    );
    let ran = rtflash_with_input(&["host", "run", "-", "--format", "json"], scenario.as_bytes());
    for (job, bound) in ran.json_lines()[0]["jobs"].as_array().expect("jobs").iter().zip(&found) {
        assert!(job["completed"].as_u64() > Some(20) && job["max_ns"].as_u64() <= bound["bound_ns"].as_u64(), "{job}");
    }
    // Without places of their own they wait for as long as a server pleases.
    let shared = bounds(&scenario.replace(r#", "max_inflight_rest": 2"#, ""), 1);
    assert!(
        shared.iter().all(|job| job["bound_ns"].is_null() && job["why"].to_string().contains("places")),
        "{shared:?}"
    );
}

/// A certificate that `check` refuses is one that nothing is promised by: neither a bound, nor a
/// setting that keeps deadlines.
#[test]
fn a_refused_certificate_bounds_nothing() {
    let set = r#"{ "device": { "profile": "dgist-2021", "chips": 2, "chips_per_channel": 1 }, "tasks": [
        { "name": "a", "write": { "pages": 40, "period": "80ms", "access": "sequential" }, "data_pages": 4096 },
        { "name": "b", "write": { "pages": 6, "period": "10ms", "access": "sequential" }, "data_pages": 4096 } ] }"#;
    let run = rtflash_with_input(&["alloc", "-", "--analysis", "sound", "--format", "json"], set.as_bytes());
    let mut allocation = run.json_lines()[0].clone();
    let ran = |allocation: &serde_json::Value, more: &[&str]| {
        let scenario = format!(
            r#"{{ "device": {{ "kind": "clusters", "taskset": {set}, "allocation": {allocation} }},
                "scheduler": {{ "name": "k2", "max_inflight": 16 }}, "jobs": [], "duration": "1s" }}"#
        );
        rtflash_with_input(&[&["host"], more].concat(), scenario.as_bytes())
    };
    let bound = ["bound", "-"];
    let tune = ["tune", "-", "--objective", "deadline", "--scheduler", "k2"];
    assert_eq!([ran(&allocation, &bound).status, ran(&allocation, &tune).status], [0, 0]);
    allocation["clusters"][0]["certificate"]["server_thousandths"] = 999.into();
    let (bound, tune) = (ran(&allocation, &bound), ran(&allocation, &tune));
    assert!(bound.status == 1 && bound.stdout.contains("promises nothing"), "{bound:?}");
    assert!(tune.status == 1 && tune.stdout.contains("no setting is as wanted"), "{tune:?}");
}

/// A folder with nothing in it.
fn folder(name: &str) -> std::path::PathBuf {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-host-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("a folder");
    path
}

const DEVICE: &str = r#"{ "device": { "kind": "emmc", "read": { "first": "200us", "next": "100us", "per_kib": "10us" },
    "write": { "first": "500us", "next": "300us", "per_kib": "15us" } }, "host": { "cpus": 2 } }"#;

const JOB_FILE: &str = "; a reader beside a log\n[global]\nioengine=libaio\ndirect=1\nruntime=2\n\n[reader]\nrw=randread\nsize=1g\nbs=64k\nthinktime=2ms\nprioclass=1\nprio=0\n\n\
    [log]\nrw=write\nbs=512k\niodepth=4\nprioclass=3\n";

#[test]
fn job_files_of_fio() {
    let folder = folder("fio");
    let at = |name: &str| folder.join(name).display().to_string();
    std::fs::write(at("device.json"), DEVICE).expect("written");
    std::fs::write(at("jobs.fio"), JOB_FILE).expect("written");
    let run = rtflash(&[
        "host",
        "run",
        &at("jobs.fio"),
        "--device",
        &at("device.json"),
        "--scheduler",
        "none,k2",
        "--format",
        "json",
    ]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run:?}");
    let answers = run.json_lines();
    let name = |job: usize| answers[1]["jobs"][job]["name"].clone();
    assert_eq!((name(0), name(1)), ("reader".into(), "log".into()));
    // One write goes ahead under K2; under `none` all four of them do.
    let max = |at: usize| answers[at]["jobs"][0]["max_ns"].as_u64().expect("a latency");
    assert!(max(1) <= 840_000 + 8_180_000 && max(0) > 3 * 8_180_000, "{} {}", max(0), max(1));
    let piped = ["host", "run", "-", "--device", &at("device.json")];
    assert_eq!(rtflash_with_input(&piped, JOB_FILE.as_bytes()).status, 0);
    // Remarks go to standard error, whatever is printed.
    let more = JOB_FILE.replace("[log]", "group_reporting\n[log]\nend_fsync=1\nrandrepeat=0");
    for command in ["run", "bound"] {
        let remarked = rtflash_with_input(&["host", command, "-", "--device", &at("device.json")], more.as_bytes());
        let how = "no flush follows, and no write goes through the device's cache";
        let lines = [
            "<stdin>: ignored, as they change no I/O: group_reporting, randrepeat".to_owned(),
            format!("<stdin>: differs from fio: `end_fsync`: {how}"),
        ];
        assert!(remarked.stderr.lines().eq(lines), "{remarked:?}");
    }

    let wrong = JOB_FILE.replace("size=1g", "nonsense=1");
    let run = rtflash_with_input(&piped, wrong.as_bytes());
    assert!(
        run.status == 2 && run.stderr.contains("<stdin>:9:1") && run.stderr.contains("unknown option `nonsense`"),
        "{run:?}"
    );
    std::fs::write(at("wrong.json"), DEVICE.replace("emmc", "floppy")).expect("written");
    let run = rtflash(&["host", "run", &at("jobs.fio"), "--device", &at("wrong.json")]);
    assert!(run.status == 2 && run.stderr.contains("wrong.json:1:23"), "{run:?}");
    let run = rtflash(&["host", "run", &at("jobs.fio")]);
    assert!(run.status == 2 && run.stderr.contains("--device FILE says what it runs on"), "{run:?}");
    let run = rtflash_with_input(&piped, scenario("", "").as_bytes());
    assert!(run.status == 2 && run.stderr.contains("--device is for job files"), "{run:?}");
}

#[test]
fn traces_and_figures_are_kept() {
    let folder = folder("kept");
    let at = |name: &str| folder.join(name).display().to_string();
    let call = [
        "host",
        "run",
        "-",
        "--scheduler",
        "none,k2",
        "--trace",
        &at("out.json"),
        "--figures",
        &at("figures"),
        "--format",
        "json",
    ];
    let run = rtflash_with_input(&call, scenario("", "").as_bytes());
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run:?}");
    for name in ["out.none.json", "out.k2.json"] {
        let trace: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(at(name)).expect(name)).expect("JSON");
        assert!(trace["traceEvents"].as_array().is_some_and(|events| events.len() > 1_000), "{name}");
    }
    for name in ["ccdf-rt", "ccdf-log", "latency-rt", "latency-log", "bandwidth"] {
        let svg = std::fs::read_to_string(at(&format!("figures/{name}.svg"))).expect(name);
        assert!(svg.starts_with("<svg") && svg.contains(">k2"), "{name}");
    }
    let answers = run.json_lines();
    let csv = std::fs::read_to_string(at("figures/ccdf-rt.csv")).expect("a table");
    let last = csv.lines().last().and_then(|line| line.split(',').next()).and_then(|ns| ns.parse::<u64>().ok());
    let max = |at: usize| answers[at]["jobs"][0]["max_ns"].as_u64();
    assert_eq!(last, max(0).max(max(1)), "{csv}");
    // All day long there is one command in the device, and the others wait.
    let queues = &answers[1]["queues"];
    assert_eq!((queues["inside"]["max"].as_u64(), queues["waiting"]["max"].as_u64()), (Some(1), Some(4)));
    assert!(queues["waiting"]["mean"].as_f64().is_some_and(|mean| mean > 3.0 && mean < 4.0), "{queues}");
    assert!(
        answers[0]["jobs"][1]["iops"].as_f64().is_some_and(|iops| (iops - 1_072.0 / 9.0).abs() < 1e-9),
        "{}",
        answers[0]
    );

    let run =
        rtflash_with_input(&["host", "run", "-", "--trace", &at("no/such/folder.json")], scenario("", "").as_bytes());
    assert!(run.status == 2 && run.stderr.contains("folder.json"), "{run:?}");
}

/// Settings of K2 and K2-split for objectives: what is chosen is as wanted, and nothing better was.
#[test]
fn settings_are_chosen_for_objectives() {
    let scenario = r#"{ "device": { "kind": "emmc", "attach": "ufs", "depth": 8,
            "read": { "first": "200us", "next": "100us", "per_kib": "10us" },
            "write": { "first": "500us", "next": "300us", "per_kib": "15us" } }, "host": { "requests": 1024 },
        "jobs": [ { "name": "rt", "op": "read", "size": "64KiB", "class": "rt", "every": "40ms" },
            { "name": "log", "op": "write", "size": "256KiB", "class": "idle", "depth": 8 } ], "duration": "2s" }"#;
    let tune = |objective: &str, more: &[&str]| {
        let arguments = [&["host", "tune", "-", "--objective", objective, "--format", "json"], more].concat();
        let run = rtflash_with_input(&arguments, scenario.as_bytes());
        assert_eq!(run.stderr, "", "{run:?}");
        (run.status, run.json_lines()[0].clone())
    };
    let number = |of: &serde_json::Value, field: &str| of[field].as_f64().expect("a number");
    let all = |answer: &serde_json::Value| answer["settings"].as_array().expect("settings").clone();
    let folder = scratch("tuned");
    let figures = folder.display().to_string();
    let (status, answer) = tune("latency-share=20%", &["--figures", &figures]);
    assert_eq!(status, 0);
    // Four queue bounds, and K2-split with 4 to 128 KiB.
    assert_eq!(all(&answer).len(), 4 * 7);
    let chosen = &answer["chosen"];
    let fits = |of: &serde_json::Value| of["wanted_in"] == 5;
    assert!(all(&answer).iter().filter(|of| fits(of)).all(|of| number(of, "latency_share") <= 0.2));
    assert!(fits(chosen) && !all(&answer).iter().all(fits), "{chosen}");
    let most = all(&answer).iter().filter(|of| fits(of)).map(|of| number(of, "bytes_per_s")).fold(0.0, f64::max);
    assert_eq!(number(chosen, "bytes_per_s"), most);
    let lines = answer["sysfs"].as_array().expect("lines");
    let inside = format!("echo {} > /sys/block/<device>/queue/iosched/max_inflight", chosen["max_inflight"]);
    assert!(lines.contains(&inside.into()), "{lines:?}");

    let (_, answer) = tune("bandwidth-share=80%", &["--scheduler", "k2-split"]);
    let fits = |of: &serde_json::Value| of["wanted_in"] == 5;
    assert!(fits(&answer["chosen"]) && !all(&answer).iter().all(fits));
    let least = all(&answer).iter().filter(|of| fits(of)).map(|of| number(of, "latency_share")).fold(9.0, f64::min);
    assert_eq!(number(&answer["chosen"], "latency_share"), least);

    assert_eq!(answer["runs"], 5);
    assert!(answer["run_ns"].as_u64() > Some(2_000_000_000));

    // Here the bound decides: some settings were seen to keep the deadline, and may not.
    let (_, answer) = tune("deadline=5ms", &[]);
    let fits = |of: &serde_json::Value| of["bound_ns"][0].as_u64().is_some_and(|bound| bound <= 5_000_000);
    let kept = |of: &&serde_json::Value| of["p999_ns"][0].as_u64() <= Some(5_000_000);
    assert!(fits(&answer["chosen"]) && all(&answer).iter().filter(kept).any(|of| !fits(of)));
    let (status, answer) = tune("deadline=500us", &[]);
    assert!(status == 1 && answer["chosen"].is_null() && answer["sysfs"].is_null());

    // Lengths of batches of mq-deadline are tried; its writes have all tags.
    let (status, answer) = tune("deadline", &["--scheduler", "mq-deadline"]);
    assert_eq!((status, all(&answer).len()), (0, 5));
    assert!(all(&answer).iter().all(|of| of["bound_ns"][0].is_u64() && of["fifo_batch"].is_u64()));
    let lines = answer["sysfs"].as_array().expect("lines");
    assert!(lines.contains(&"echo 1024 > /sys/block/<device>/queue/iosched/async_depth".into()), "{lines:?}");

    let table = std::fs::read_to_string(folder.join("tradeoff.csv")).expect("a table");
    assert_eq!(table.lines().count(), 2 + 4 * 7);
    assert!(["tradeoff-latency.svg", "tradeoff-bandwidth.svg"].iter().all(|name| folder.join(name).exists()));
    for (text, says) in [("latency-share=101%", "a share up to 100%"), ("deadline=soon", "time"), ("best", "expected")]
    {
        let run = rtflash_with_input(&["host", "tune", "-", "--objective", text], scenario.as_bytes());
        assert!(run.status == 2 && run.stderr.contains(says), "{text}: {}", run.stderr);
    }
    let calm = scenario.replace(r#""class": "rt", "#, "");
    let run = rtflash_with_input(&["host", "tune", "-", "--objective", "deadline"], calm.as_bytes());
    assert!(run.status == 2 && run.stderr.contains("no job is real-time"), "{run:?}");
}

/// A flush may release more than can be kept: that is said, at once.
#[test]
fn flushes_that_are_too_much_end_the_run() {
    for (rate, flush) in [("1000TiB", "100ms"), ("1000GiB", "1ns"), ("30MiB", "100ms")] {
        let scenario = format!(
            r#"{{ "device": {{ "kind": "emmc", "read": {{ "first": "10us", "next": "10us", "per_kib": "1us" }},
                "write": {{ "first": "10us", "next": "10us", "per_kib": "1us" }} }},
            "jobs": [ {{ "name": "z", "op": "write", "size": "1B", "flush": "{flush}", "rate": "{rate}" }} ], "duration": "200ms" }}"#
        );
        let run = rtflash_with_input(&["host", "run", "-"], scenario.as_bytes());
        assert!(run.status == 3 && run.stderr.contains("wait at"), "{rate}: {run:?}");
    }
}
