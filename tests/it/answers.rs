//! The JSON of the command is read back by the library, and written again with the same bytes.

use crate::common::{file, rtflash};
use rtflash::answers::{
    AllocAnswer, BoundAnswer, CheckAnswer, DatasheetAnswer, DriveProtocolAnswer, ExecAnswer, ExplainAnswer, HostAnswer,
    ImportAnswer, SizeAnswer, SoakAnswer, Summary, TuneAnswer, read,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

const SETS: [&str; 5] = ["case-study", "dashcam", "drone", "motivation", "overload"];

/// Reads every line that a call prints, and writes it again. Returns the lines.
fn same<T: Serialize + DeserializeOwned>(call: &[&str]) -> String {
    let printed = rtflash(&[call, &["--format", "json"]].concat()).stdout;
    assert!(!printed.is_empty(), "{call:?}");
    for line in printed.split_inclusive('\n') {
        let answer = read::<T>(line).unwrap_or_else(|error| panic!("{call:?}: {error}: {line}"));
        assert_eq!(answer.to_line(), line, "{call:?}");
    }
    printed
}

#[test]
fn answers_about_the_shipped_task_sets_are_read_and_written_again() {
    for set in SETS.map(|name| format!("tasksets/{name}.json")) {
        for analysis in ["thesis", "thesis-evaluated", "stripe", "superblock", "sound"] {
            let by = ["--analysis", analysis];
            let allocation = same::<AllocAnswer>(&[&["alloc", &set], &by[..]].concat());
            same::<ExplainAnswer>(&[&["explain", &set], &by[..]].concat());
            same::<SizeAnswer>(&[&["size", &set], &by[..]].concat());
            let given = file(&format!("answers-{analysis}.json"), &allocation).display().to_string();
            same::<CheckAnswer>(&[&["check", &set, "--allocation", &given], &by[..]].concat());
            same::<ExecAnswer>(&[&["exec", &set, "--duration", "100ms"], &by[..]].concat());
        }
        for algorithm in ["part-ftl", "equal-split", "exact"] {
            same::<AllocAnswer>(&["alloc", &set, "--algorithm", algorithm, "--spread"]);
            same::<ExplainAnswer>(&["explain", &set, "--algorithm", algorithm]);
        }
    }
}

#[test]
fn streams_faults_and_metadata_are_read_and_written_again() {
    let set = include_str!("../../tasksets/drone.json").replace('\n', " ");
    let noted = |meta: &str| set.replacen('{', &format!(r#"{{ "meta": {meta},"#), 1);
    // A set's own remarks come back to the last digit; and a set that is none.
    let sets = [noted(r#"{ "seed": 18446744073709551617, "λ": 1.10 }"#), "{}".into(), set.clone()];
    let stream = file("answers.jsonl", &(sets.join("\n") + "\n")).display().to_string();
    let told = same::<AllocAnswer>(&["alloc", &stream]);
    assert!(told.contains("18446744073709551617, \"λ\": 1.10"), "{told}");
    assert!(told.contains("\"line\":2,\"error\""), "{told}");
    same::<ExplainAnswer>(&["explain", &stream]);
    same::<SizeAnswer>(&["size", &stream]);
    same::<ExecAnswer>(&["exec", &stream, "--duration", "50ms"]);
    // Data that do not fit.
    let full = ["alloc", "tasksets/case-study.json", "--set", "tasks[1].data_pages=300000"];
    assert!(same::<AllocAnswer>(&full).contains("\"needed_pages\":"));
}

#[test]
fn answers_about_files_of_others_are_read_and_written_again() {
    let device = ["--device", "emmc-64gb-mlc"];
    let log = file("answers.fio", "fio version 3 iolog\n1 x read 0 1\n2 x wait 1\n").display().to_string();
    let told = same::<ImportAnswer>(&[&["import", "fio", &log], &device[..]].concat());
    assert!(told.contains("\"first_refused\":[{\"line\":3"), "{told}");
}

#[test]
fn answers_of_searches_are_read_and_written_again() {
    let found = same::<SoakAnswer>(&["soak", "--runs", "600", "--seed", "4"]);
    assert!(found.contains("\"task_set\":{"), "{found}");
}

#[test]
fn answers_of_experiments_and_hosts_are_read_and_written_again() {
    let out = |name: &str| std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name).display().to_string();
    let spec = ["--util", "0.5..2.5", "--step", "1", "--sets", "4", "--no-figure"];
    for (kind, more) in
        [("schedulability", &["--sweep", "chips=4,8"][..]), ("bandwidth", &["--warmup", "0s", "--duration", "100ms"])]
    {
        let out = out(&format!("answers-{kind}"));
        let _ = std::fs::remove_dir_all(&out);
        let call = [&["experiment", kind, "--out", &out], &spec[..], more].concat();
        same::<Summary>(&call);
        let kept = std::fs::read_to_string(format!("{out}/summary.json")).expect("a summary");
        let summary = read::<Summary>(&kept).expect("a summary").answer.expect("no fault");
        assert_eq!(rtflash::answers::pretty(&summary), kept);
    }
    let scenario = "scenarios/large-reads.json";
    same::<HostAnswer>(&["host", "run", scenario]);
    same::<BoundAnswer>(&["host", "bound", scenario]);
    same::<TuneAnswer>(&["host", "tune", scenario, "--objective", "deadline"]);
    same::<DriveProtocolAnswer>(&["host", "protocol", "--filename", "/dev/none"]);
    let sheet = ["host", "datasheet", "--tbw", "150TB", "--per-day", "20GB", "--read", "250MB", "--read-iops", "9000"];
    assert!(same::<DatasheetAnswer>(&sheet).contains("\"lifetime_days\":7500"));
}

#[test]
fn what_is_no_answer_is_refused() {
    for (text, says) in [
        ("", "not an answer of this kind"),
        ("[1]", "not an answer of this kind"),
        (r#"{"format":2,"schedulable":true}"#, "an answer in format 2; this version reads format 1"),
        (r#"{"format":1,"schedulable":true}"#, "missing field `algorithm`"),
    ] {
        let error = read::<AllocAnswer>(text).expect_err(text).to_string();
        assert!(error.contains(says), "{text}: {error}");
    }
}
