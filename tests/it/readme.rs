//! What the README, docs/tour.md, docs/experiments.md and docs/applying.md show is what the command
//! prints.

use std::path::Path;

use crate::common::{root, rtflash, rtflash_with_input};

/// Characters that a line of the README has at most, and lines that all of it has.
const README_LINES: (usize, usize) = (100, 110);

fn page(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).expect(name)
}

/// The text with lines above the README's width broken at blanks.
fn broken(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let mut used = 0;
        for (index, word) in line.split(' ').enumerate() {
            let more = word.chars().count() + usize::from(index > 0);
            if index > 0 && used + more > README_LINES.0 {
                out += "\n";
                used = more - 1;
            } else {
                out += if index > 0 { " " } else { "" };
                used += more;
            }
            out += word;
        }
        out += "\n";
    }
    out
}

#[test]
fn the_readme_is_short() {
    let readme = page("README.md");
    assert!(readme.lines().count() <= README_LINES.1, "{} lines", readme.lines().count());
    for line in readme.lines() {
        assert!(line.chars().count() <= README_LINES.0, "{line}");
    }
}

/// `.ci/run` runs the README's two commands: they are the same in both.
#[test]
fn its_two_commands_are_run() {
    let readme = page("README.md");
    let start = readme.find("```sh\n").expect("commands") + 6;
    let commands: Vec<&str> = readme[start..].split("```").next().expect("their end").lines().collect();
    assert_eq!(commands.len(), 2, "{commands:?}");
    assert!(page(".ci/run").ends_with(&format!("{}\n", commands.join("\n"))), "{commands:?}");
}

/// Every relative link, and every picture, of the README and of the pages in docs/ leads to a file,
/// and to a heading of it where it names one.
#[test]
fn links_lead_somewhere() {
    let docs = std::fs::read_dir(root().join("docs")).expect("docs/").map(|entry| entry.expect("an entry").path());
    let mut pages: Vec<_> = docs.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    pages.extend(["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(|name| root().join(name)));
    let mut seen = 0;
    for path in pages {
        let text = std::fs::read_to_string(&path).expect("a page");
        for target in targets(&text) {
            let (file, heading) = target.split_once('#').unwrap_or((&target, ""));
            let file = if file.is_empty() { path.clone() } else { path.parent().expect("a folder").join(file) };
            assert!(file.exists(), "{}: {target}", path.display());
            assert!(
                heading.is_empty() || headings(&file).contains(&heading.to_owned()),
                "{}: {target}",
                path.display()
            );
            seen += 1;
        }
    }
    assert!(seen > 40, "{seen} links were looked at");
}

/// What `](…)` encloses outside of code, but for addresses on the web.
fn targets(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (index, part) in text.split("```").enumerate() {
        if index % 2 == 0 {
            let links = part.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
            found.extend(links.map(|(target, _)| target.to_owned()).filter(|target| !target.contains("://")));
        }
    }
    found
}

/// The names under which headings of a page can be linked to.
fn headings(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).expect("a page");
    let lines = text.lines().filter(|line| line.starts_with('#'));
    let kept = |letter: &char| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_');
    let name = |line: &str| line.trim_start_matches('#').trim().to_lowercase();
    lines.map(|line| name(line).chars().filter(kept).collect::<String>().replace(' ', "-")).collect()
}

#[test]
fn its_transcripts_are_real() {
    let first = broken(&rtflash(&["alloc", "tasksets/case-study.json"]).stdout);
    assert!(page("README.md").contains(&first), "the README does not show\n{first}");
    let tour = page("docs/tour.md");
    for options in [&["tasksets/overload.json"][..], &["tasksets/case-study.json", "--analysis", "sound"]] {
        let run = rtflash(&[&["alloc"], options].concat());
        assert!(tour.contains(&run.stdout), "the tour does not show what `alloc` prints:\n{}", run.stdout);
    }
    // The file of the error shown, as far as the error quotes it.
    let line = r#"    { "name": "camera", "write": { "pages": 24, "period": 30 } },"#;
    let file = format!(
        "{{\n  \"device\": \"dgist-2021\",\n  \"tasks\": [\n{line}\n    {{ \"name\": \"b\", \"read\": {{ \"pages\": 1, \"period\": \"1s\" }} }}\n  ]\n}}\n"
    );
    let run = rtflash_with_input(&["alloc", "-"], file.as_bytes());
    assert!(tour.contains(run.stderr.replace("<stdin>", "tasks.json").trim_end()), "{}", run.stderr);
}

#[test]
fn the_run_shown_is_real() {
    let tour = page("docs/tour.md");
    let run = rtflash(&["exec", "tasksets/case-study.json", "--duration", "60s"]);
    let shown = |line: &str| line.contains("fail: ") || line.contains("holds") || line.contains("FAILS");
    for line in run.stdout.lines().filter(|line| shown(line)).take(11) {
        assert!(tour.contains(line), "the tour does not show:\n{line}");
    }
}

#[test]
fn the_bandwidths_shown_are_real() {
    let page = page("docs/experiments.md");
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
        assert!(page.contains(&row), "docs/experiments.md does not have\n{row}");
    }
}

#[test]
fn the_study_in_a_pipe_gives_the_number_shown() {
    let sets = rtflash(&["gen", "--util", "0.1..4.0"]);
    let answers = rtflash_with_input(&["alloc", "-", "--format", "json"], sets.stdout.as_bytes());
    let schedulable = answers.json_lines().iter().filter(|answer| answer["schedulable"] == true).count();
    let shown = format!("map(select(.schedulable)) | length'\n{schedulable}\n");
    assert!(page("docs/tour.md").contains(&shown), "{schedulable}");
}

#[test]
fn the_task_set_shown_is_one() {
    let tour = page("docs/tour.md");
    let start = tour.find("```json\n").expect("a task set") + 8;
    let end = start + tour[start..].find("```").expect("its end");
    assert_eq!(rtflash_with_input(&["alloc", "-"], &tour.as_bytes()[start..end]).status, 0);
}

#[test]
fn the_experiment_shown_is_real() {
    let page = page("docs/experiments.md");
    let out = crate::common::file("readme-experiment", "");
    std::fs::remove_file(&out).expect("a file");
    let options = ["--generator", "integer-shares", "--analysis", "thesis-evaluated", "--no-figure"];
    let place = out.display().to_string();
    let run = rtflash(&[&["experiment", "schedulability", "--out", &place], &options[..]].concat());
    // All but the last gains and the names of the files.
    for line in run.stdout.lines().take(14) {
        assert!(page.contains(line), "docs/experiments.md does not show:\n{line}");
    }
}

/// The recorder of docs/applying.md: its answer, its run, and what `size` says of it.
#[test]
fn the_recorder_is_real() {
    let page = page("docs/applying.md");
    let (_, rest) = page.split_once("```json\n").expect("a task set");
    let (text, _) = rest.split_once("```").expect("its end");
    let sound = ["--analysis", "sound"];
    let run = |command: &[&str]| rtflash_with_input(&[command, &sound].concat(), text.as_bytes());
    let answer = run(&["alloc", "-"]);
    assert!(page.contains(&answer.stdout), "docs/applying.md does not show\n{}", answer.stdout);
    let requests = run(&["exec", "-", "--duration", "20s", "--format", "json"]).json()["requests"].clone();
    let log = requests.as_array().expect("requests").iter().find(|request| request["task"] == "log").expect("the log");
    let longest = log["max_response_ns"].as_u64().expect("a time").div_ceil(1_000);
    assert!(page.contains(&format!("{}.{:03} ms", longest / 1_000, longest % 1_000)), "{longest}");
    let size = run(&["size", "-"]);
    for shown in ["6   fewest", "0.851   largest", " 270.9 days\n", "478.3 days to 3.4 years"] {
        assert!(size.stdout.contains(shown), "{shown} is not in\n{}", size.stdout);
    }
}
