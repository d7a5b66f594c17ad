//! What the README shows is what the command prints.

mod common;

use common::{root, rtflash, rtflash_with_input};

fn readme() -> String {
    std::fs::read_to_string(root().join("README.md")).expect("the README")
}

#[test]
fn its_transcripts_are_real() {
    let readme = readme();
    for file in ["tasksets/case-study.json", "tasksets/overload.json"] {
        let run = rtflash(&["alloc", file]);
        assert!(
            readme.contains(&run.stdout),
            "the README does not show what `rtflash alloc {file}` prints:\n{}",
            run.stdout
        );
    }
    // The file of the error shown, as far as the error quotes it.
    let line = r#"    { "name": "camera", "write": { "pages": 24, "period": 30 } },"#;
    let file = format!(
        "{{\n  \"device\": \"dgist-2021\",\n  \"tasks\": [\n{line}\n    {{ \"name\": \"b\", \"read\": {{ \"pages\": 1, \"period\": \"1s\" }} }}\n  ]\n}}\n"
    );
    let run = rtflash_with_input(&["alloc", "-"], file.as_bytes());
    assert!(readme.contains(run.stderr.replace("<stdin>", "tasks.json").trim_end()), "{}", run.stderr);
}

#[test]
fn the_run_shown_is_real() {
    let readme = readme();
    let run = rtflash(&["exec", "tasksets/case-study.json", "--duration", "60s"]);
    let shown = |line: &str| line.contains("fail: ") || line.contains("holds") || line.contains("FAILS");
    for line in run.stdout.lines().filter(|line| shown(line)).take(11) {
        assert!(readme.contains(line), "the README does not show:\n{line}");
    }
}

#[test]
fn the_bandwidths_shown_are_real() {
    let readme = readme();
    for algorithm in ["clustering-bfd", "global", "equal-split"] {
        let mut row = format!("| `{algorithm}` |");
        let (mut late, mut requests) = (0, 0);
        for victims in ["actual", "worst"] {
            for server in ["tbs", "background"] {
                let options = ["--duration", "60s", "--format", "json", "--algorithm", algorithm];
                let choice = ["--victims", victims, "--server", server];
                let answer = rtflash(&[&["exec", "tasksets/case-study.json"], &options[..], &choice].concat()).json();
                let pages = answer["non_rt_pages_per_s"].as_f64().expect("a number").round();
                row += &match format!("{pages}") {
                    pages if pages.len() > 3 => format!(" {},{} |", &pages[..1], &pages[1..]),
                    pages => format!(" {pages} |"),
                };
                if (victims, server) == ("actual", "background") {
                    for line in answer["requests"].as_array().expect("requests") {
                        late += line["misses"].as_u64().expect("misses") + line["overdue"].as_u64().expect("overdue");
                        requests += line["released"].as_u64().expect("released");
                    }
                    row += &match late {
                        0 => " 0 |".to_owned(),
                        _ => format!(
                            " {},{:03} of {},{:03} |",
                            late / 1000,
                            late % 1000,
                            requests / 1000,
                            requests % 1000
                        ),
                    };
                }
            }
        }
        assert!(readme.contains(&row), "the README does not have\n{row}");
    }
}

#[test]
fn the_study_in_a_pipe_gives_the_number_shown() {
    let sets = rtflash(&["gen", "--util", "0.1..4.0"]);
    let answers = rtflash_with_input(&["alloc", "-", "--format", "json"], sets.stdout.as_bytes());
    let schedulable = answers.json_lines().iter().filter(|answer| answer["schedulable"] == true).count();
    assert!(readme().contains(&format!("map(select(.schedulable)) | length'\n{schedulable}\n")), "{schedulable}");
}

#[test]
fn the_task_set_shown_is_one() {
    let readme = readme();
    let start = readme.find("```json\n").expect("a task set") + 8;
    let end = start + readme[start..].find("```").expect("its end");
    assert_eq!(rtflash_with_input(&["alloc", "-"], &readme.as_bytes()[start..end]).status, 0);
}

#[test]
fn the_experiment_shown_is_real() {
    let readme = readme();
    let out = common::file("readme-experiment", "");
    std::fs::remove_file(&out).expect("a file");
    let options = ["--generator", "integer-shares", "--analysis", "thesis-evaluated", "--no-figure"];
    let place = out.display().to_string();
    let run = rtflash(&[&["experiment", "schedulability", "--out", &place], &options[..]].concat());
    // All but the last gains and the names of the files.
    for line in run.stdout.lines().take(14) {
        assert!(readme.contains(line), "the README does not show:\n{line}");
    }
}
