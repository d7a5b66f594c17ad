//! The README shows the output of the command, and links of pages lead somewhere.

use std::path::Path;

use crate::common::{root, rtflash};

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

/// Every relative link, and every picture, of the README, of the pages in docs/ and of the crates'
/// SPEC.md leads to a file, and to a heading of it where it names one.
#[test]
fn links_lead_somewhere() {
    let docs = std::fs::read_dir(root().join("docs")).expect("docs/").map(|entry| entry.expect("an entry").path());
    let mut pages: Vec<_> = docs.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    pages.extend(["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(|name| root().join(name)));
    pages.extend(["sim", "host", "drive"].map(|of| root().join(format!("crates/rtflash-{of}/SPEC.md"))));
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

/// The targets that `](…)` encloses outside of code, but for addresses on the web.
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
