//! `rtflash migrate`: from one allocation to another on what runs.

use crate::common::{file, rtflash};
use serde_json::json;

const TASKS: &str = r#"{"name": "camera", "write": {"pages": 24, "period": "60ms"}, "data_size": "16MiB"},
    {"name": "view", "read": {"pages": 40, "period": "50ms"}, "data_size": "4MiB"},
    {"name": "log", "write": {"pages": 4, "period": "100ms"}, "data_size": "2MiB"}"#;

fn set(name: &str, chips: u32, more: &str) -> String {
    let text = format!(r#"{{"device": {{"profile": "dgist-2021", "chips": {chips}}}, "tasks": [{TASKS}]{more}}}"#);
    file(name, text).display().to_string()
}

/// The allocation of a set by an algorithm.
fn allocated(set: &str, name: &str, algorithm: &str) -> String {
    let run = rtflash(&["alloc", set, "--analysis", "sound", "--algorithm", algorithm, "--format", "json"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    file(name, run.stdout).display().to_string()
}

#[test]
fn a_way_is_found_there_and_back_and_runs() {
    let set = set("migrate-set.json", 8, "");
    let old = allocated(&set, "migrate-old.json", "best-fit");
    let new = allocated(&set, "migrate-new.json", "equal-split");
    let placed = |path: &str| {
        let text = std::fs::read_to_string(path).expect("an allocation");
        let all: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let clusters = all["clusters"].as_array().expect("clusters").iter();
        let mut busy: Vec<String> = clusters
            .filter(|cluster| cluster["tasks"] != json!([]))
            .map(|cluster| format!("{} {}", cluster["chips"], cluster["tasks"]))
            .collect();
        busy.sort();
        busy
    };
    for (from, to) in [(&old, &new), (&new, &old)] {
        let run = rtflash(&["migrate", from, to, &set, "--run", "--format", "json"]);
        let answer = run.json();
        assert_eq!((run.status, &answer["found"]), (0, &true.into()), "{} {}", run.stdout, run.stderr);
        let stages = answer["stages"].as_array().expect("stages");
        let runs =
            |stage: &serde_json::Value| stage["executed"]["passes"] == true && stage["executed"]["operations"] != 0;
        assert!(!stages.is_empty() && stages.iter().all(runs), "{answer}");
        let all: u64 = stages.iter().map(|stage| stage["over_within_ns"].as_u64().expect("a time")).sum();
        assert_eq!(answer["within_ns"], all);
        // The final state is an allocation, and the one that was asked for.
        let after = file("migrate-after.json", run.stdout).display().to_string();
        assert_eq!(placed(&after), placed(to));
        let check = rtflash(&["check", &set, "--allocation", &after, "--analysis", "sound", "--format", "json"]);
        assert_eq!(check.status, 0, "{} {}", check.stdout, check.stderr);
        let again = rtflash(&["migrate", &after, to, &set]);
        assert!(again.status == 0 && again.stdout.contains("its tasks run on these chips already"), "{}", again.stdout);
    }
    let text = rtflash(&["migrate", &old, &new, &set]).stdout;
    assert!(text.contains("writes go to both places from then on") && text.contains("erased first"), "{text}");
}

/// A task that writes to zones goes round once, and copies nothing; a task that moves twice is one
/// task.
#[test]
fn zones_are_filled_by_their_owners() {
    let tasks = r#"{"name": "camera", "write": {"pages": 24, "period": "60ms", "access": "stream"},
            "read": {"pages": 8, "period": "60ms"}, "data_pages": 720},
        {"name": "view", "read": {"pages": 40, "period": "50ms"}, "data_pages": 720},
        {"name": "log", "write": {"pages": 4, "period": "100ms", "access": "stream"}, "data_pages": 240}"#;
    let text = format!(r#"{{"device": {{"profile": "dgist-2021", "chips": 12}}, "tasks": [{tasks}]}}"#);
    let set = file("migrate-zones-set.json", text).display().to_string();
    let zoned = ["--analysis", "zoned"];
    let [old, new] = ["best-fit", "equal-split"].map(|algorithm| {
        let run = rtflash(&[&["alloc", &set, "--algorithm", algorithm, "--format", "json"], &zoned[..]].concat());
        file(&format!("migrate-zones-{algorithm}.json"), run.stdout).display().to_string()
    });
    let text = rtflash(&[&["migrate", &old, &new, &set], &zoned[..]].concat()).stdout;
    let verdicts = "Theorem 1 (Kim 2021)  not asked\nGuarantee on device   yes, with these clusters\n";
    assert!(text.starts_with(&format!("{verdicts}found: 3 tasks to move, in 4 stages")), "{text}");
    assert!(text.contains("log: 240 pages (1.966 MB) from chip 0, by its own next 60 requests"), "{text}");
    for (from, to) in [(&old, &new), (&new, &old)] {
        let run = rtflash(&[&["migrate", from, to, &set, "--run", "--format", "json"], &zoned[..]].concat());
        let answer = run.json();
        assert_eq!((run.status, &answer["found"]), (0, &true.into()), "{} {}", run.stdout, run.stderr);
        let stages = answer["stages"].as_array().expect("stages");
        assert!(stages.iter().all(|stage| stage["executed"]["passes"] == true), "{answer}");
        for moved in stages.iter().flat_map(|stage| stage["moves"].as_array().expect("moves")) {
            let copied = moved["task"] == "view";
            assert_eq!((moved["mirrored"] == false, moved["round_requests"].is_null()), (copied, copied), "{answer}");
            assert_eq!(moved["pages_a_period"].is_null(), !copied, "{answer}");
        }
    }
}

#[test]
fn where_no_chip_is_free_it_cannot_tell() {
    let set = set("migrate-tight-set.json", 2, "");
    let old = allocated(&set, "migrate-tight-old.json", "global");
    let new = allocated(&set, "migrate-tight-new.json", "best-fit");
    let run = rtflash(&["migrate", &old, &new, &set, "--format", "json"]);
    let answer = run.json();
    assert_eq!((run.status, &answer["found"]), (3, &false.into()), "{} {}", run.stdout, run.stderr);
    assert_eq!(answer["missing"][0]["reason"], "chip", "{answer}");
    let text = rtflash(&["migrate", &old, &new, &set]).stdout;
    let verdicts = "Theorem 1 (Kim 2021)  not asked\nGuarantee on device   cannot tell: no way was found\n";
    assert!(text.starts_with(&format!("{verdicts}cannot tell: no way was found")), "{text}");
}

/// A reader has no writes to go anywhere, and a cluster that is full is said to be full.
#[test]
fn a_reader_moves_where_a_row_is_left() {
    let moves = |data: u32| {
        let text = format!(
            r#"{{"device": {{"profile": "dgist-2021", "chips": 2}}, "tasks": [
                {{"name": "log", "write": {{"pages": 1, "period": "400ms"}}, "data_pages": 131000}},
                {{"name": "view", "read": {{"pages": 4, "period": "400ms"}}, "data_pages": {data}}}]}}"#
        );
        let set = file(&format!("migrate-full-{data}.json"), text).display().to_string();
        let old = allocated(&set, &format!("migrate-full-{data}-old.json"), "equal-split");
        let new = allocated(&set, &format!("migrate-full-{data}-new.json"), "best-fit");
        let json = rtflash(&["migrate", &old, &new, &set, "--format", "json"]).json();
        (rtflash(&["migrate", &old, &new, &set]).stdout, json)
    };
    let (text, full) = moves(72);
    assert_eq!(
        (&full["missing"][0]["reason"], &full["missing"][0]["task"]),
        (&json!("full"), &json!("view")),
        "{full}"
    );
    assert!(text.contains("view: the cluster would be full"), "{text}");
    let (text, found) = moves(71);
    assert_eq!(found["stages"][0]["moves"][0]["mirrored"], json!(false), "{found}");
    assert!(text.contains("view: 71 pages (581.6 kB) from chip 1") && !text.contains("both places"), "{text}");
}

const JOBS: &str = r#", "jobs": [{"name": "web", "read_pages": 2, "arrivals": {"every": "1s"}}]"#;

/// Servers in the way get no more jobs, and are left out first. Others go on.
#[test]
fn servers_in_the_way_are_left_out() {
    let set = set("migrate-jobs-set.json", 8, JOBS);
    let sound = ["--analysis", "sound", "--rely-on", "nothing", "--format", "json"];
    let run = rtflash(&[&["alloc", &set, "--algorithm", "best-fit"], &sound[..]].concat());
    assert_eq!(run.status, 0, "{}", run.stderr);
    let mut new: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    let old = file("migrate-jobs-old.json", run.stdout).display().to_string();
    // The first cluster, and as many free chips, in each other's place.
    let clusters = new["clusters"].as_array_mut().expect("clusters");
    let chips = clusters[0]["chips"].as_array().expect("chips").clone();
    let free: Vec<usize> = (1..clusters.len()).filter(|&at| clusters[at]["tasks"] == json!([])).collect();
    let free = &free[free.len() - chips.len()..];
    let moved: Vec<serde_json::Value> = free.iter().map(|&at| clusters[at]["chips"][0].clone()).collect();
    for (&at, chip) in free.iter().zip(&chips) {
        clusters[at]["chips"] = json!([chip]);
    }
    clusters[0]["chips"] = json!(moved);
    let new = file("migrate-jobs-new.json", new.to_string()).display().to_string();
    let call = ["migrate", &old, &new, &set, "--assume", "nothing"];
    let run = rtflash(&[&call[..], &["--run", "--format", "json"]].concat());
    let answer = run.json();
    assert_eq!((run.status, &answer["found"]), (0, &true.into()), "{} {}", run.stdout, run.stderr);
    let left_out = answer["left_out"]["chips"].as_array().expect("servers");
    let gone: Vec<&serde_json::Value> = left_out.iter().flat_map(|chips| chips.as_array().expect("chips")).collect();
    assert!(chips.iter().chain(&moved).all(|chip| gone.contains(&chip)), "{answer}");
    let serves = |cluster: &&serde_json::Value| cluster["certificate"]["server_thousandths"] != 0;
    assert!(answer["clusters"].as_array().expect("clusters").iter().any(|cluster| serves(&cluster)), "{answer}");
    assert!(answer["stages"].as_array().expect("stages").iter().all(|stage| stage["executed"]["passes"] == true));
    assert!(rtflash(&call).stdout.contains("get no more jobs"));
    // If all chips are asked for, no server stays.
    let split = rtflash(&[&["alloc", &set, "--algorithm", "equal-split"], &sound[..]].concat());
    let split = file("migrate-jobs-split.json", split.stdout).display().to_string();
    let call = ["migrate", &old, &split, &set, "--assume", "nothing"];
    let run = rtflash(&[&call[..], &["--format", "json"]].concat());
    let answer = run.json();
    assert_eq!((run.status, &answer["unserved"]["stream"]), (3, &"web".into()), "{} {}", run.stdout, run.stderr);
    assert!(rtflash(&call).stdout.contains("web: "), "{}", rtflash(&call).stdout);
}

#[test]
fn what_is_wrong_is_said() {
    let plain = set("migrate-wrong-set.json", 8, "");
    let old = allocated(&plain, "migrate-wrong-old.json", "best-fit");
    let thesis = rtflash(&["alloc", &plain, "--format", "json"]).stdout;
    let thesis = file("migrate-wrong-thesis.json", thesis).display().to_string();
    let fewer = std::fs::read_to_string(&old).expect("an allocation").replace("\"log\"", "\"other\"");
    let fewer = file("migrate-wrong-fewer.json", fewer).display().to_string();
    for (call, says) in [
        (&[old.as_str(), &thesis, &plain][..], "has no certificate"),
        (&[&old, &fewer, &plain], "`other` is not in the task set"),
        (&[&old, "nowhere.json", &plain], "nowhere.json"),
        (&[&old, &old, &plain, "--buffer-pages", "1"], "--buffer-pages"),
        (&[&old, &old, &plain, "--analysis", "thesis"], "possible values: stripe, superblock, sound, zoned"),
    ] {
        let run = rtflash(&[&["migrate"], call].concat());
        assert!(run.status == 2 && run.stderr.contains(says), "{call:?}: {} {}", run.stdout, run.stderr);
    }
}

/// The files are right, and yet nothing can be said.
#[test]
fn what_cannot_be_told_is_status_3() {
    let set = set("untold-set.json", 8, "");
    let old = allocated(&set, "untold-old.json", "best-fit");
    let zoned = rtflash(&["migrate", &old, &old, &set, "--analysis", "zoned"]);
    assert!(
        zoned.status == 3 && zoned.stderr.contains("zoned does not analyse this set"),
        "{} {}",
        zoned.status,
        zoned.stderr
    );
    assert!(zoned.stdout.is_empty());
    let twice = rtflash(&["migrate", "-", &old, "-"]);
    assert!(twice.status == 2 && twice.stderr.contains("standard input"), "{}", twice.stderr);
}

/// A cluster that stays beside zones that are new: what runs in the end is in time cluster by
/// cluster, to `check` as to `admit`, which goes on from there.
#[test]
fn what_ends_beside_zones_is_verified() {
    let tasks = r#"{"name": "camera", "write": {"pages": 24, "period": "60ms", "access": "stream"}, "data_pages": 720},
        {"name": "log", "read": {"pages": 4, "period": "90ms"},
            "write": {"pages": 4, "period": "80ms", "access": "stream"}, "data_pages": 240}"#;
    let text = |more: &str| {
        let device = r#"{"profile": "dgist-2021", "chips": 8, "chips_per_channel": 4}"#;
        format!(r#"{{"device": {device}, "tasks": [{tasks}{more}]}}"#)
    };
    let set = file("migrate-mixed-set.json", text("")).display().to_string();
    // On the chips of one channel.
    let of = |analysis: &str, task: usize| {
        let by = ["--set", "device.chips=4", "--algorithm", "equal-split", "--format", "json", "--analysis", analysis];
        rtflash(&[&["alloc", &set], &by[..]].concat()).json()["clusters"][task].clone()
    };
    let mut moved = of("zoned", 1);
    moved["chips"] = json!([4, 5]);
    let allocation = |name: &str, clusters: serde_json::Value| {
        file(name, json!({ "clusters": clusters }).to_string()).display().to_string()
    };
    let old = allocation("migrate-mixed-old.json", json!([of("sound", 0), of("sound", 1)]));
    let new = allocation("migrate-mixed-new.json", json!([of("sound", 0), moved]));
    let run = rtflash(&["migrate", &old, &new, &set, "--analysis", "zoned", "--run", "--format", "json"]);
    assert_eq!(run.status, 0, "{} {}", run.stdout, run.stderr);
    let answer = run.json();
    let clusters = &answer["clusters"];
    let kinds = [0, 1].map(|at| clusters[at]["certificate"]["kind"].as_str().expect("a kind").to_owned());
    assert_eq!(kinds, ["stripe", "zoned"]);
    let after = file("migrate-mixed-after.json", run.stdout).display().to_string();
    let with = |command: &str, analysis: &str| {
        let more = if command == "exec" { &["--duration", "2s"][..] } else { &[] };
        let by = ["--allocation", &after, "--analysis", analysis];
        rtflash(&[&[command, &set], &by[..], more].concat()).status
    };
    for command in ["check", "explain", "exec"] {
        assert_eq!(with(command, "sound"), 0, "{command}");
    }
    // `check` by `zoned` takes zones alone, and `migrate` says so.
    assert_eq!((&answer["analysis"], &answer["accepted_by"]), (&json!("zoned"), &json!("sound")));
    let told = rtflash(&["migrate", &old, &new, &set, "--analysis", "zoned"]).stdout;
    assert!(told.contains("It then runs on these, which `check --analysis sound` accepts:"), "{told}");
    assert!(
        told.contains("1. To chips 4-5, which are free\n") && told.contains("  cluster 0: chips 0-1: camera"),
        "{told}"
    );
    assert_eq!(["zoned", "stripe"].map(|analysis| with("check", analysis)), [1, 1]);
    let more = r#", {"name": "more", "read": {"pages": 1, "period": "1s"}, "data_pages": 8}"#;
    let more = file("migrate-mixed-more.json", text(more)).display().to_string();
    let admit = rtflash(&["admit", &after, &more, "--format", "json"]);
    assert_eq!(admit.status, 0, "{} {}", admit.stdout, admit.stderr);
    let admitted = file("migrate-mixed-admitted.json", admit.stdout).display().to_string();
    assert_eq!(rtflash(&["check", &more, "--allocation", &admitted, "--analysis", "sound"]).status, 0);
}

/// Tasks whose zones fill their cluster: parts of a task that share its pages need none of their
/// own.
#[test]
fn parts_that_share_pages_need_no_room() {
    let task = |number: u32, period: u32| {
        format!(
            r#"{{"name": "t{number}", "read": {{"pages": 2, "period": "{period}ms", "access": "stream"}},
                "write": {{"pages": 2, "period": "{period}ms", "access": "stream"}}, "data_pages": 64}}"#
        )
    };
    let tasks: Vec<String> = (0..5).map(|number| task(number, 200 + 10 * number)).collect();
    let device = r#"{"chips": 3, "chips_per_channel": 3, "blocks_per_chip": 11, "pages_per_block": 64,
        "page_size": 8192, "logical_ratio": 0.9, "page_read": "50us", "page_program": "500us", "block_erase": "5ms",
        "page_transfer": "40us"}"#;
    let set = format!(r#"{{"device": {device}, "tasks": [{}]}}"#, tasks.join(","));
    let set = file("migrate-full-set.json", set).display().to_string();
    let zoned = ["--analysis", "zoned"];
    let whole = rtflash(
        &[&["alloc", &set, "--algorithm", "global", "--set", "device.chips=1", "--format", "json"], &zoned[..]]
            .concat(),
    );
    assert_eq!(whole.status, 0, "{}", whole.stdout);
    let cluster = |chip: u32| {
        let mut cluster = whole.json()["clusters"][0].clone();
        cluster["chips"] = json!([chip]);
        json!({ "clusters": [cluster] }).to_string()
    };
    let [old, new] = [0, 1].map(|chip| file("migrate-full.json", cluster(chip)).display().to_string());
    let run = rtflash(&[&["migrate", &old, &new, &set, "--run", "--format", "json"], &zoned[..]].concat());
    assert_eq!(run.status, 0, "{} {}", run.stdout, run.stderr);
    assert_eq!(run.json()["stages"][0]["executed"]["passes"], true, "{}", run.stdout);
}

/// If no way is found through many clusters the search ends, and each cluster that is missing has a
/// reason; one that is too full names the task and the utilization.
#[test]
fn a_search_among_many_clusters_ends_with_reasons() {
    let set = "tasksets/large.json";
    let old = allocated(set, "migrate-large-old.json", "best-fit");
    let new = allocated(set, "migrate-large-new.json", "clustering-bfd");
    let run = rtflash(&["migrate", &old, &new, set, "--format", "json"]);
    let answer = run.json();
    let missing = answer["missing"].as_array().expect("clusters");
    assert!(run.status == 3 && missing.len() > 100, "{} {}", run.status, missing.len());
    let full: Vec<_> = missing.iter().filter(|of| of["reason"] == "overloaded").collect();
    let says = |of: &&serde_json::Value| {
        of["task"].is_string() && of["detail"].as_str().is_some_and(|detail| detail.contains("is at least 1."))
    };
    assert!(!full.is_empty() && full.iter().all(says), "{full:?}");
}
