//! `exec --phases FILE`, `--releases`, `--police`: requests come as they are stated, and requests
//! that came too early or too large are reported.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::common::{Run, file, rtflash, rtflash_with_input};
use serde_json::Value;

const SET: &str = r#"{"device":"dgist-2021","tasks":[
    {"name":"camera","read":{"pages":4,"period":"40ms"},"write":{"pages":2,"period":"30ms"}},
    {"name":"map","read":{"pages":8,"period":"50ms"}}]}"#;

fn exec(options: &[&str]) -> Run {
    let words = ["exec", "-", "--format", "json", "--algorithm", "global", "--duration", "200ms"];
    rtflash_with_input(&[&words[..], options].concat(), SET.as_bytes())
}

/// The releases of a request (`camera.write`), in microseconds, as a recorded trace has them.
fn releases(request: &str, options: &[&str]) -> Vec<u64> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let trace =
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{number}-patterns.jsonl", std::process::id()));
    let path = trace.display().to_string();
    let run = exec(&[options, &["--trace", &path]].concat());
    assert!(run.status < 2, "{run:?}");
    let text = std::fs::read_to_string(&trace).expect("a trace");
    std::fs::remove_file(&trace).expect("it is there");
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line of JSON"));
    let (task, kind) = request.split_once('.').expect("a task and a kind");
    let of = lines.filter(|line| line.get("release").is_some() && line["kind"] == kind);
    let of = of.filter(|line| line["job"].as_str().is_some_and(|job| job.starts_with(task)));
    of.map(|line| line["release"].as_u64().expect("nanoseconds") / 1_000).collect()
}

fn failing(run: &Run) -> Vec<String> {
    let answer = run.json();
    let checks = answer["checks"].as_array().expect("checks");
    let failing = checks.iter().filter(|check| check["holds"] == false);
    failing.map(|check| check["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn requests_come_as_a_file_says() {
    let stated = r#"{"camera":{"read":"3ms","write":{"offset":"1ms","gaps":["5ms","0ms"]}},"map":{"read":"7ms"}}"#;
    let path = file("patterns.json", stated).display().to_string();
    for options in [&[][..], &["--dispatch", "parallel"], &["--analysis", "sound"]] {
        let stated = [options, &["--phases", &path]].concat();
        assert_eq!(releases("camera.read", &stated), [3_000, 43_000, 83_000, 123_000, 163_000], "{options:?}");
        assert_eq!(releases("camera.write", &stated), [1_000, 36_000, 66_000, 96_000, 126_000, 156_000, 186_000]);
        assert_eq!(releases("map.read", &stated), [7_000, 57_000, 107_000, 157_000]);
        let run = exec(&stated);
        assert_eq!(run.json()["phases"], "file");
        // Under parallel dispatch the thesis's bounds do not hold, whenever requests come.
        assert!(!failing(&run).contains(&"releases".to_owned()), "{options:?}: {run:?}");
    }
}

#[test]
fn what_is_stated_goes_before_the_options() {
    let drawn = |request| releases(request, &["--phases", "random", "--seed", "5"]);
    let stated = r#"{"camera":{"write":{"offset":"1ms"}}}"#;
    let with = |request| releases(request, &["--phases", "random", "--seed", "5", "--releases", stated]);
    assert_eq!((with("camera.read"), with("map.read")), (drawn("camera.read"), drawn("map.read")));
    assert!(with("camera.write") != drawn("camera.write") && with("camera.write")[0] == 1_000);
    // In a file the same; and nothing stated changes nothing.
    let path = file("part.json", stated).display().to_string();
    let of_file = releases("camera.write", &["--phases", "random", "--seed", "5", "--releases", &path]);
    assert_eq!(of_file, with("camera.write"));
    assert_eq!(releases("camera.write", &["--releases", "{}"]), releases("camera.write", &[]));
    let answer = exec(&["--releases", stated]).json();
    assert_eq!((&answer["releases"], &answer["phases"]), (&true.into(), &"periodic".into()));
    assert_eq!(exec(&[]).json().get("releases"), None);
}

#[test]
fn the_police_holds_what_comes_early_and_cuts_what_is_too_large() {
    let early = r#"{"camera":{"write":{"releases":["0ms","10ms","20ms"],"pages":[2,9]}}}"#;
    assert_eq!(releases("camera.write", &["--releases", early])[..4], [0, 10_000, 20_000, 50_000]);
    // A request of nine pages takes longer than the two that are declared.
    assert_eq!(failing(&exec(&["--releases", early])), ["service", "releases"]);
    assert_eq!(releases("camera.write", &["--releases", early, "--police"])[..3], [0, 30_000, 60_000]);
    assert_eq!(failing(&exec(&["--releases", early, "--police"])), [""; 0]);
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    for (option, stated, problem) in [
        ("--releases", r#"{"camera":{"erase":"1ms"}}"#, "--releases:1:12"),
        ("--releases", r#"{"lidar":{"read":"1ms"}}"#, "there is no task `lidar`"),
        ("--releases", "/nowhere.json", "cannot read /nowhere.json"),
        ("--phases", "/nowhere.json", "--phases takes periodic, at-erases, random or a file"),
    ] {
        let run = exec(&[option, stated]);
        assert!(run.status == 2 && run.stdout.is_empty() && run.stderr.contains(problem), "{option} {stated}: {run:?}");
    }
    let path = file("all.json", r#"{"camera":{"read":"3ms"}}"#).display().to_string();
    let run = exec(&["--phases", &path]);
    assert!(run.status == 2 && run.stderr.contains("missing field `write`"), "{run:?}");
    assert!(run.stderr.contains("missing field `map`"), "{run:?}");
    let run = exec(&["--phases", &path, "--releases", "{}"]);
    assert!(run.status == 2 && run.stderr.contains("both state releases"), "{run:?}");
    assert_eq!(rtflash(&["exec", "tasksets/case-study.json", "--duration", "1ms", "--releases", "{"]).status, 2);
}
