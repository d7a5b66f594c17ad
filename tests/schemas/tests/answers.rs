//! The command's answers are valid by the schemas that the command prints. `RTFLASH` names the
//! command.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use jsonschema::Validator;
use serde_json::Value;

const SETS: [&str; 4] =
    ["tasksets/case-study.json", "tasksets/motivation.json", "tasksets/drone.json", "tasksets/overload.json"];
const ALGORITHMS: [&str; 8] =
    ["clustering-bfd", "best-fit", "clustering-search", "global", "full-isolation", "equal-split", "part-ftl", "exact"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A run of the command.
#[derive(Debug)]
struct Run {
    status: Option<i32>,
    stdout: String,
}

impl Run {
    fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    fn json_lines(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }
}

/// Runs the command in the repository's root.
fn rtflash(args: &[&str]) -> Run {
    let command = std::env::var_os("RTFLASH").expect("RTFLASH names the command");
    let output = Command::new(command)
        .args(args)
        .current_dir(root())
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .expect("the command starts");
    Run { status: output.status.code(), stdout: String::from_utf8(output.stdout).expect("answers are UTF-8") }
}

fn schema(name: &str) -> Validator {
    jsonschema::validator_for(&rtflash(&["schema", name]).json()).expect("a schema")
}

/// Files that go with the test.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a folder"))
    }

    /// Writes a file, and gives its path.
    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.0.path().join(name);
        std::fs::write(&path, content).expect("the file is written");
        path.display().to_string()
    }
}

/// Runs the command, and compares each value that it prints with the schema.
fn answer(name: &str, call: &[&str]) -> Run {
    let run = rtflash(&[call, &["--format", "json"]].concat());
    let (schema, answers) = (schema(name), run.json_lines());
    assert!(!answers.is_empty(), "{call:?}: {run:?}");
    for answer in answers {
        assert!(schema.is_valid(&answer), "{call:?}: {answer}");
    }
    run
}

#[test]
fn answers_and_files_are_valid() {
    let folder = Folder::new();
    let [task_set, allocation, alloc, check, explain, exec] =
        ["task-set", "allocation", "alloc", "check", "explain", "exec"].map(schema);
    for set in SETS {
        let text = std::fs::read_to_string(root().join(set)).expect("a task set");
        assert!(task_set.is_valid(&serde_json::from_str(&text).expect("JSON")), "{set}");
        for algorithm in ALGORITHMS {
            let answer = rtflash(&["alloc", set, "--algorithm", algorithm, "--format", "json"]);
            assert!(alloc.is_valid(&answer.json()) && allocation.is_valid(&answer.json()), "{set} {algorithm}");
            let explained = rtflash(&["explain", set, "--algorithm", algorithm, "--format", "json"]);
            assert!(explain.is_valid(&explained.json()), "{set} {algorithm}");
            let run = rtflash(&["exec", set, "--algorithm", algorithm, "--duration", "200ms", "--format", "json"]);
            assert!(exec.is_valid(&run.json()), "{set} {algorithm}");
            if answer.status == Some(0) && algorithm != "part-ftl" {
                let path = folder.file("allocation.json", &answer.stdout);
                assert!(check.is_valid(&rtflash(&["check", set, "--allocation", &path, "--format", "json"]).json()));
            }
        }
    }
    // In a stream: with lines, and errors, which are read back as well.
    let stream = [SETS[0], SETS[3]].map(|set| std::fs::read_to_string(root().join(set)).expect("a task set"));
    let stream = folder.file("schema-stream.jsonl", format!("{}hello\n{}", stream[0], stream[1]));
    let answers = rtflash(&["alloc", &stream, "--format", "json"]);
    let lines = folder.file("schema-allocations.jsonl", &answers.stdout);
    let size = schema("size");
    for (schema, call) in [
        (&alloc, vec!["alloc", &stream]),
        (&allocation, vec!["alloc", &stream]),
        (&check, vec!["check", &stream, "--allocation", &lines]),
        (&explain, vec!["explain", &stream, "--allocation", &lines]),
        (&exec, vec!["exec", &stream, "--allocation", &lines, "--duration", "10ms"]),
        (&size, vec!["size", &stream]),
    ] {
        let run = rtflash(&[call.as_slice(), &["--format", "json"]].concat());
        let lines = run.json_lines();
        assert!(lines.len() == 3 && lines.iter().all(|line| schema.is_valid(line)), "{call:?}: {}", run.stdout);
        assert!(lines[1].get("error").is_some() && !schema.is_valid(&serde_json::json!({ "format": 1 })), "{call:?}");
    }
    // With data that are declared, whether or not they fit.
    for pages in [4_096, 400_000] {
        let task = format!(r#""read": {{ "pages": 1, "period": "1s" }}, "data_pages": {pages}"#);
        let set = format!(
            r#"{{ "device": {{ "profile": "dgist-2021", "chips": 4 }}, "tasks": [{{ "name": "a", {task} }}, {{ "name": "b", {task} }}] }}"#
        );
        let set = folder.file("data.json", set);
        for analysis in ["thesis", "sound"] {
            for (schema, call) in [
                (&alloc, &["alloc"][..]),
                (&explain, &["explain"]),
                (&size, &["size"]),
                (&exec, &["exec", "--duration", "1s"]),
            ] {
                let run = rtflash(&[call, &[&set, "--analysis", analysis, "--format", "json"]].concat());
                assert!(schema.is_valid(&run.json()), "{call:?} {analysis}: {}", run.stdout);
            }
        }
    }
    let [soak, experiment, manifest] = ["soak", "experiment", "manifest"].map(schema);
    for world in ["any", "sound"] {
        let run = rtflash(&["soak", "--runs", "30", "--format", "json", "--world", world]);
        assert!(soak.is_valid(&run.json()), "{world}: {}", run.stdout);
    }
    let out = folder.0.path().join("experiment");
    for kind in ["schedulability", "bandwidth"] {
        let place = out.join(kind).display().to_string();
        let few = ["--sets", "2", "--warmup", "0s", "--duration", "1ms", "--sweep", "tasks=2,3", "--util", "0.5..1", "--format", "json"];
        let run = rtflash(&[&["experiment", kind, "--out", &place], &few[..]].concat());
        assert!(experiment.is_valid(&run.json()), "{run:?}");
        let written = std::fs::read_to_string(out.join(kind).join("manifest.json")).expect("a manifest");
        assert!(manifest.is_valid(&serde_json::from_str(&written).expect("JSON")), "{written}");
    }
    for generated in
        rtflash(&["gen", "--util", "0.5..2.0", "--step", "0.5", "--sets", "3", "--access", "mixed"]).json_lines()
    {
        assert!(task_set.is_valid(&generated));
    }
    for wrong in [
        r#"{"device":"dgist-2021","tasks":[{"name":"a","read":{"pages":1,"period":36}}]}"#,
        r#"{"device":"dgist-2021","tasks":[{"name":"a","read":{"pages":0,"period":"1s"}}]}"#,
        r#"{"device":"dgist-2021","tasks":[{"name":"a","read":{"pages":1,"period":"1s","access":"mixed"}}]}"#,
        r#"{"device":"dgist-2021","tasks":[{"name":"a","read":{"pages":1,"period":"1s"},"data_pages":0}]}"#,
        r#"{"device":"dgist-2021","tasks":[],"taks":[]}"#,
        r#"{"device":"dgist-2021"}"#,
    ] {
        assert!(!task_set.is_valid(&serde_json::from_str(wrong).expect("JSON")), "{wrong}");
    }
}

const TASKS: &str = r#"{"name": "camera", "write": {"pages": 8, "period": "60ms"}, "data_size": "16MiB"},
    {"name": "view", "read": {"pages": 4, "period": "50ms"}, "data_size": "4MiB"}"#;

/// A task set on some chips of the shipped device.
fn set(chips: u32, more: &str) -> String {
    format!(r#"{{"device": {{"profile": "dgist-2021", "chips": {chips}}}, "tasks": [{TASKS}{more}]}}"#)
}

#[test]
fn answers_about_a_running_device_are_valid() {
    let folder = Folder::new();
    let runs = folder.file("set.json", set(8, ""));
    let allocated = |name: &str, algorithm: &str| {
        let run = answer("alloc", &["alloc", &runs, "--analysis", "sound", "--algorithm", algorithm]);
        folder.file(name, run.stdout)
    };
    let [best_fit, equal_split] =
        [("best-fit.json", "best-fit"), ("equal-split.json", "equal-split")].map(|(file, name)| allocated(file, name));
    let more = r#", {"name": "log", "write": {"pages": 16, "period": "100ms"}}"#;
    let with_log = folder.file("with-log.json", set(8, more));
    assert_eq!(answer("admit", &["admit", &best_fit, &with_log]).json()["admitted"], true);
    assert_eq!(answer("migrate", &["migrate", &best_fit, &equal_split, &runs, "--run"]).json()["found"], true);
    answer("serve", &["serve", &best_fit, &runs, "--listen", "127.0.0.1:0", "--duration", "100ms"]);
    let sets = rtflash(&["gen", "--util", "0.5..2.5", "--step", "0.5", "--sets", "1", "--tasks", "3"]).stdout;
    let sets = folder.file("sets.jsonl", sets);
    for analysis in ["thesis", "sound"] {
        answer("size", &["size", &sets, "--analysis", analysis]);
    }
}

#[test]
fn answers_about_hosts_are_valid() {
    let scenario = "scenarios/large-reads.json";
    answer("host-run", &["host", "run", scenario, "--scheduler", "none,k2,k2-split,mq-deadline,kyber,bfq"]);
    answer("host-bound", &["host", "bound", scenario, "--scheduler", "k2"]);
}
