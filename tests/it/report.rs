//! Reports: `--report FILE.html` of four commands says what the answer says, and nothing else.

use std::path::PathBuf;

use crate::common::{file, root, rtflash};
use serde_json::Value;

/// The call of each command that makes a report, without its format.
const CALLS: [&[&str]; 3] = [
    &["exec", "tasksets/case-study.json", "--duration", "300ms"],
    &["size", "tasksets/case-study.json"],
    &["host", "run", "scenarios/four-writers.json", "--scheduler", "none,k2"],
];

/// A path for a report of this name.
fn path(name: &str) -> PathBuf {
    file(name, "what was there before")
}

/// The page that a call writes, and what it answers in JSON.
fn page(call: &[&str], name: &str) -> (String, Vec<Value>) {
    let path = path(name);
    let run = rtflash(&[call, &["--format", "json", "--report", path.to_str().expect("a name")]].concat());
    assert!(run.status < 2, "{run:?}");
    (std::fs::read_to_string(&path).expect("the report"), run.json_lines())
}

/// The JSON in a page.
fn data(page: &str, id: &str) -> Value {
    let begin = format!("<script type=\"application/json\" id=\"{id}\">");
    let (_, rest) = page.split_once(&begin).expect("the data");
    serde_json::from_str(rest.split_once("</script>").expect("its end").0).expect("JSON")
}

#[test]
fn a_report_holds_the_answer() {
    for call in CALLS {
        let (page, answers) = page(call, &format!("{}.html", call[0]));
        let answer = if call[0] == "host" { Value::Array(answers) } else { answers[0].clone() };
        assert_eq!(data(&page, "answer"), answer, "{call:?}");
        let manifest = data(&page, "manifest");
        let command: Vec<&str> =
            manifest["command"].as_array().expect("words").iter().filter_map(Value::as_str).collect();
        assert_eq!(command, [&["rtflash"], call].concat(), "without the options that change no answer");
        assert_eq!(manifest["rtflash"], env!("CARGO_PKG_VERSION"));
        assert_eq!(manifest["build"].as_str().map(str::len), Some(32));
    }
}

#[test]
fn the_report_of_an_experiment_holds_its_summary_and_manifest() {
    let out = path("experiment.html").with_extension("out");
    let directory = out.to_str().expect("a name");
    let call = ["experiment", "schedulability", "--generator", "integer-shares", "--analysis", "thesis-evaluated"];
    let (page, answers) = page(&[&call[..], &["--out", directory]].concat(), "experiment.html");
    assert_eq!(data(&page, "answer"), answers[0]);
    let manifest = std::fs::read_to_string(out.join("manifest.json")).expect("the manifest");
    assert_eq!(data(&page, "manifest"), serde_json::from_str::<Value>(&manifest).expect("JSON"));
    // This is Figure V.1a of the thesis.
    assert!(page.len() <= 300_000, "{} bytes", page.len());
    assert_eq!(page.matches("<g class=\"key\" data-curve=").count(), 4);
    // Each point of each curve, and each line of results.csv.
    let results = std::fs::read_to_string(out.join("results.csv")).expect("the table").lines().count() - 1;
    assert_eq!(page.matches("<circle data-at=").count(), results);

    // Parts that are merged make the same page, byte for byte.
    let parts = ["0/2", "1/2"].map(|part| {
        let path = out.with_extension(part.replace('/', "-"));
        let words = [&call[..], &["--shard", part, "--out", path.to_str().expect("a name")]].concat();
        assert_eq!(rtflash(&words).status, 0);
        path.to_str().expect("a name").to_owned()
    });
    let (merged, again) = (out.with_extension("merged"), path("merged.html"));
    let (merged, again) = (merged.to_str().expect("a name"), again.to_str().expect("a name"));
    let run = rtflash(&["merge", &parts[0], &parts[1], "--out", merged, "--report", again]);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(std::fs::read_to_string(again).expect("the report") == page, "the page of a straight run");
    for path in [directory, merged, &parts[0], &parts[1]] {
        let _ = std::fs::remove_dir_all(path);
    }
}

#[test]
fn the_same_call_writes_the_same_bytes() {
    let exec = ["exec", "tasksets/drone.json", "--duration", "100ms"];
    let (one, _) = page(&exec, "one.html");
    let (two, _) = page(&[&exec[..], &["--jobs", "2"]].concat(), "two.html");
    assert!(one == two, "threads change nothing");
    let (other, _) = page(&[&exec[..], &["--seed", "2"]].concat(), "other.html");
    assert_ne!(data(&one, "answer"), data(&other, "answer"), "the seed does");
}

#[test]
fn names_in_a_task_set_are_text() {
    let hostile = "</script><img src=x onerror=alert(1)><!--";
    let text = std::fs::read_to_string(root().join("tasksets/case-study.json")).expect("a task set");
    assert!(text.contains("\"t1\""));
    let set = file("hostile.json", text.replace("\"t1\"", &format!("\"{hostile}\"")));
    let set = set.to_str().expect("a name");
    for (call, name) in [(["exec", set].as_slice(), "exec"), (&["size", set], "size")] {
        let (page, answers) = page(call, &format!("hostile-{name}.html"));
        assert!(!page.contains("<img") && !page.contains("<!--"), "{name}");
        assert_eq!(page.matches("<script").count(), 3, "{name}");
        assert!(page.contains("&lt;img src=x"), "{name}: the name is shown");
        assert!(answers[0].to_string().contains(hostile), "{name}");
        assert_eq!(data(&page, "answer"), answers[0], "{name}");
    }
}

#[test]
fn a_report_that_cannot_be_is_refused() {
    let case_study = "tasksets/case-study.json";
    let run = rtflash(&["size", case_study, "--report", "-"]);
    assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{run:?}");
    assert!(run.stderr.contains("--report takes a file"), "{run:?}");
    let run = rtflash(&["exec", case_study, "--report", "no/such/folder/a.html", "--duration", "10ms"]);
    assert_eq!(run.status, 2, "{run:?}");
    assert!(run.stderr.contains("cannot write no/such/folder/a.html"), "{run:?}");
    // A report is of one task set.
    let text = std::fs::read_to_string(root().join(case_study)).expect("a task set");
    let stream = file("two.jsonl", format!("{text}\n{text}"));
    let (stream, report) = (stream.to_str().expect("a name"), path("stream.html"));
    for command in ["size", "exec"] {
        let run = rtflash(&[command, stream, "--report", report.to_str().expect("a name")]);
        assert_eq!(run.status, 2, "{run:?}");
        assert!(run.stderr.contains("one task set, and this is another one"), "{run:?}");
    }
}

#[test]
fn a_set_that_is_not_run_has_a_report_too() {
    let (page, answers) = page(&["exec", "tasksets/overload.json"], "overload.html");
    assert_eq!(answers[0]["verdict"], Value::Null);
    assert_eq!(data(&page, "answer"), answers[0]);
    assert!(page.contains("<p class=\"verdict open\">not run: "), "it says so");
    assert!(!page.contains("<figure"), "and draws nothing");
}

/// Bars of expected erases reach from the least to the most.
#[test]
fn expected_erases_are_drawn_as_ranges() {
    let (page, answers) = page(&["size", "tasksets/drone.json", "--analysis", "sound"], "ranges.html");
    for order in ["in_rings", "anywhere"] {
        let name = format!("expected {}: ", order.replace('_', " "));
        let cluster = &answers[0]["cost"]["clusters"][0][order]["erases_per_chip_per_day"];
        let shown = page.split(&name).nth(1).and_then(|rest| rest.split('<').next()).expect("a bar");
        let ends: Vec<f64> = shown.split(" to ").map(|end| end.replace(',', "").parse().expect(shown)).collect();
        let [least, most] = ends[..] else { panic!("{shown}") };
        for (drawn, end) in [(least, "least"), (most, "most")] {
            let told = cluster[end].as_f64().expect("a number");
            assert!((drawn / told - 1.0).abs() < 0.01, "{shown} of {cluster}");
        }
    }
}
