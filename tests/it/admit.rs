//! `rtflash admit`: tasks added to what runs.

use crate::common::{file, rtflash};

const RUNS: &str = r#"{"name": "camera", "write": {"pages": 24, "period": "60ms"}},
    {"name": "view", "read": {"pages": 40, "period": "50ms"}}"#;

fn set(name: &str, chips: u32, tasks: &str) -> String {
    let text = format!(r#"{{"device": {{"profile": "dgist-2021", "chips": {chips}}}, "tasks": [{tasks}]}}"#);
    file(name, text).display().to_string()
}

/// A running device of `chips` chips, as `alloc` divides them.
fn runs(name: &str, chips: u32) -> String {
    let begun = set(&format!("{name}-set.json"), chips, RUNS);
    let run = rtflash(&["alloc", &begun, "--analysis", "sound", "--format", "json"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    file(&format!("{name}-allocation.json"), run.stdout).display().to_string()
}

#[test]
fn a_task_is_added_and_the_answer_is_an_allocation() {
    let allocation = runs("admit", 4);
    let more = format!(r#"{RUNS}, {{"name": "log", "write": {{"pages": 16, "period": "100ms"}}}}"#);
    let new = set("admit-new.json", 4, &more);
    let run = rtflash(&["admit", &allocation, &new, "--format", "json"]);
    let answer = run.json();
    assert_eq!((run.status, &answer["admitted"]), (0, &true.into()), "{} {}", run.stdout, run.stderr);
    assert_eq!(answer["added"][0]["task"], "log");
    let after = file("admit-after.json", run.stdout).display().to_string();
    let check = rtflash(&["check", &new, "--allocation", &after, "--analysis", "sound", "--format", "json"]);
    assert_eq!(check.status, 0, "{} {}", check.stdout, check.stderr);
    let again = rtflash(&["admit", &after, &new]);
    assert!(again.status == 0 && again.stdout.contains("every task runs already"), "{}", again.stdout);
    let text = rtflash(&["admit", &allocation, &new]).stdout;
    assert!(
        text.starts_with(
            "Theorem 1 (Kim 2021)  not asked\nGuarantee on device   yes, with these clusters\nadmitted: log"
        ) && text.contains("can leave the task set"),
        "{text}"
    );
    // Without the camera.
    let fewer = set("admit-fewer.json", 4, r#"{"name": "view", "read": {"pages": 40, "period": "50ms"}}"#);
    let run = rtflash(&["admit", &allocation, &fewer, "--format", "json"]);
    assert_eq!((run.status, &run.json()["gone"]), (0, &serde_json::json!(["camera"])), "{}", run.stdout);
}

/// A job stream is served where a server has room for it; it is refused where none has, or there
/// is none.
#[test]
fn a_job_stream_needs_room_in_a_server() {
    let with = |name: &str, jobs: &str| {
        let device = r#"{"profile": "dgist-2021", "chips": 2}"#;
        let text = format!(r#"{{"device": {device}, "tasks": [{RUNS}], "jobs": [{jobs}]}}"#);
        file(name, text).display().to_string()
    };
    let allocation = runs("streams", 2);
    let scan = r#"{"name": "scan", "read_pages": 8, "arrivals": {"every": "100ms"}}"#;
    let dump = r#"{"name": "dump", "write_pages": 64, "arrivals": {"at": ["2s"]}}"#;
    let flood = r#"{"name": "flood", "read_pages": 1000, "arrivals": {"uniform": ["1ms", "3ms"]}}"#;
    let some = with("streams-some.json", &format!("{scan}, {dump}"));
    let run = rtflash(&["admit", &allocation, &some, "--format", "json"]);
    let answer = run.json();
    assert_eq!((run.status, &answer["admitted"]), (0, &true.into()), "{} {}", run.stdout, run.stderr);
    let streams = answer["streams"].as_array().expect("streams");
    assert!(
        streams.len() == 2 && streams.iter().all(|of| of["cluster"].is_u64() && of["reason"].is_null()),
        "{answer}"
    );
    assert!(rtflash(&["admit", &allocation, &some]).stdout.contains("scan: the server of cluster"));
    let many = with("streams-many.json", &format!("{scan}, {flood}"));
    let run = rtflash(&["admit", &allocation, &many, "--format", "json"]);
    let answer = run.json();
    assert_eq!((run.status, &answer["admitted"], &answer["streams"][1]["reason"]), (1, &false.into(), &"full".into()));
    let text = rtflash(&["admit", &allocation, &many]).stdout;
    assert!(text.contains("Guarantee on device   yes, with these clusters\nnot admitted: flood"), "{text}");
    let mut without: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&allocation).expect("an allocation")).expect("JSON");
    for cluster in without["clusters"].as_array_mut().expect("clusters") {
        cluster["certificate"]["server_thousandths"] = 0.into();
    }
    let without = file("streams-without.json", without.to_string()).display().to_string();
    let run = rtflash(&["admit", &without, &some, "--format", "json"]);
    assert_eq!((run.status, &run.json()["streams"][0]["reason"]), (1, &"no-server".into()), "{}", run.stderr);
}

/// When the last stream ends, its server makes room for a task.
#[test]
fn a_server_is_left_out() {
    let with = |name: &str, tasks: &str, jobs: &str| {
        let device = r#"{"profile": "dgist-2021", "chips": 1}"#;
        file(name, format!(r#"{{"device": {device}, "tasks": [{tasks}], "jobs": [{jobs}]}}"#)).display().to_string()
    };
    let scan = r#"{"name": "scan", "read_pages": 8, "arrivals": {"every": "100ms"}}"#;
    let set = with("left-out.json", RUNS, scan);
    let run = rtflash(&["alloc", &set, "--analysis", "sound", "--format", "json"]);
    let allocation = file("left-out-runs.json", run.stdout).display().to_string();
    let admitted = (1..40).find_map(|pages| {
        let more = format!(r#"{RUNS}, {{"name": "log", "write": {{"pages": {pages}, "period": "400ms"}}}}"#);
        let refused = rtflash(&["admit", &allocation, &with("left-out-more.json", &more, scan), "--format", "json"]);
        if refused.json()["refused"]["clusters"][0]["reason"] != "server" {
            return None;
        }
        let without = with("left-out-without.json", &more, "");
        let run = rtflash(&["admit", &allocation, &without, "--without-server", "0", "--format", "json"]);
        (run.status == 0).then_some((run.json(), without))
    });
    let (answer, without) = admitted.expect("a task that only the server keeps away");
    assert!(answer["left_out"]["within_ns"].as_u64().is_some_and(|within| within > 0), "{answer}");
    assert_eq!(answer["clusters"][0]["certificate"]["server_thousandths"], 0, "{answer}");
    let call = ["admit", &allocation, &without, "--without-server", "0"];
    assert!(rtflash(&call).stdout.contains("gets no more jobs"));
    let wrong = rtflash(&["admit", &allocation, &without, "--without-server", "7"]);
    assert!(wrong.status == 2 && wrong.stderr.contains("there is no server"), "{}", wrong.stderr);
}

#[test]
fn what_is_refused_is_refused_by_each_cluster() {
    let allocation = runs("refuse", 1);
    let more = format!(r#"{RUNS}, {{"name": "log", "write": {{"pages": 64, "period": "50ms"}}}}"#);
    let new = set("refuse-new.json", 1, &more);
    let run = rtflash(&["admit", &allocation, &new, "--format", "json"]);
    let answer = run.json();
    assert_eq!((run.status, &answer["admitted"]), (1, &false.into()), "{}", run.stderr);
    assert_eq!(answer["refused"]["clusters"][0]["reason"], "late", "{answer}");
    let text = rtflash(&["admit", &allocation, &new]).stdout;
    assert!(text.contains("Guarantee on device   no: task log is not admitted\nnot admitted: log"), "{text}");
}

#[test]
fn what_is_wrong_is_said() {
    let new = set("wrong-new.json", 4, RUNS);
    let thesis = rtflash(&["alloc", &new, "--format", "json"]).stdout;
    let thesis = file("wrong-thesis.json", thesis).display().to_string();
    for (call, says) in [
        (&[new.as_str(), new.as_str()][..], "missing field `clusters`"),
        (&[&thesis, &new], "has no certificate"),
        (&[&thesis, &new, "--analysis", "thesis"], "possible values: stripe, superblock, sound, zoned"),
        (&["nowhere.json", &new], "nowhere.json"),
    ] {
        let run = rtflash(&[&["admit"], call].concat());
        assert!(run.status == 2 && run.stderr.contains(says), "{call:?}: {}", run.stderr);
    }
}

/// An answer of `alloc` without an allocation is nothing that runs.
#[test]
fn what_says_that_there_is_no_allocation_is_none() {
    let set = set("none-set.json", 2, RUNS);
    for (number, (analysis, period)) in
        [("thesis", "60ms"), ("zoned", "60ms"), ("sound", "1ms")].into_iter().enumerate()
    {
        let change = format!("tasks.camera.write.period={period}");
        let run = rtflash(&["alloc", &set, "--analysis", analysis, "--set", &change, "--format", "json"]);
        let nothing = run.json()["clusters"] == serde_json::json!([]);
        assert_eq!(nothing, number > 0, "{analysis}: {}", run.stdout);
        let file = file(&format!("none-{number}.json"), run.stdout).display().to_string();
        let run = rtflash(&["admit", &file, &set]);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{analysis}: {}", run.stderr);
        let what = if nothing { "it holds none" } else { "has no certificate to run by" };
        assert!(run.stderr.contains(what), "{analysis}: {}", run.stderr);
    }
    // Chips that are all free are reported so.
    let free = file("none-free.json", r#"{"clusters": []}"#).display().to_string();
    assert_eq!(rtflash(&["admit", &free, &set]).status, 0);
}

/// The files are right, and yet nothing can be said.
#[test]
fn what_cannot_be_told_is_status_3() {
    let allocation = runs("untold", 2);
    let new = set("untold-new.json", 2, RUNS);
    let zoned = rtflash(&["admit", &allocation, &new, "--analysis", "zoned"]);
    assert!(
        zoned.status == 3 && zoned.stderr.contains("zoned does not analyse this set"),
        "{} {}",
        zoned.status,
        zoned.stderr
    );
    // The other chip on its channel has a server, too.
    let server = rtflash(&["admit", &allocation, &new, "--without-server", "0"]);
    assert!(server.status == 3 && server.stderr.contains("is not known when"), "{} {}", server.status, server.stderr);
    assert!(zoned.stdout.is_empty() && server.stdout.is_empty());
    let twice = rtflash(&["admit", "-", "-"]);
    assert!(twice.status == 2 && twice.stderr.contains("standard input"), "{}", twice.stderr);
}
