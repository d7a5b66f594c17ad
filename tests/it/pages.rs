//! Command blocks of tutorials and how-tos run as they are printed, and print the output of the
//! pages.
//!
//! A fenced block `console` has commands behind `$ `, each with its output. A line `…` stands for
//! any lines, and `…` at the end of a line for its rest. A block with `file=NAME` is a file that
//! the page asks the reader to save. Other blocks call programs of others and are not run.

#![cfg(unix)]

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{file, root};

/// A step that a page asks its reader to do.
#[derive(Debug, PartialEq)]
enum Step {
    Save { name: String, text: String },
    Run { command: String, shown: Vec<String> },
}

/// The steps of a page, in order.
fn steps(page: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut kind: Option<&str> = None;
    for line in page.lines() {
        match (kind, line.trim_start().strip_prefix("```")) {
            (None, Some(info)) => {
                kind = Some(info);
                if let Some((_, name)) = info.split_once("file=") {
                    steps.push(Step::Save { name: name.to_owned(), text: String::new() });
                }
            }
            (Some(_), Some(_)) => kind = None,
            (Some("console"), None) => match line.strip_prefix("$ ") {
                Some(command) => steps.push(Step::Run { command: command.to_owned(), shown: Vec::new() }),
                None => {
                    let Some(Step::Run { shown, .. }) = steps.last_mut() else {
                        panic!("{line}: a block without `$ `")
                    };
                    shown.push(line.trim_end().to_owned());
                }
            },
            (Some(info), None) if info.contains("file=") => {
                if let Some(Step::Save { text, .. }) = steps.last_mut() {
                    *text += &format!("{line}\n");
                }
            }
            _ => {}
        }
    }
    steps
}

/// Whether the printed lines are the shown ones.
fn is_shown(printed: &[&str], shown: &[String]) -> bool {
    let Some((first, rest)) = shown.split_first() else { return printed.is_empty() };
    if first == "…" {
        return (0..=printed.len()).any(|skipped| is_shown(&printed[skipped..], rest));
    }
    let Some((line, behind)) = printed.split_first() else { return false };
    let equal = first.strip_suffix('…').map_or(line == first, |begin| line.starts_with(begin));
    equal && is_shown(behind, rest)
}

/// A folder with the files of the repository that pages name.
fn folder(page: &str) -> PathBuf {
    let folder = file(&format!("page-{}", page.replace(['/', '.'], "-")), "").with_extension("d");
    std::fs::create_dir_all(&folder).expect("a folder");
    for name in ["tasksets", "scenarios", "docs", "crates", "examples", "contrib"] {
        let _ = std::fs::remove_file(folder.join(name));
        symlink(root().join(name), folder.join(name)).expect("a link");
    }
    folder
}

/// Follows a page to the letter.
fn follow(page: &str) {
    let text = std::fs::read_to_string(root().join("docs").join(page)).expect(page);
    let folder = folder(page);
    let program = Path::new(env!("CARGO_BIN_EXE_rtflash")).parent().expect("a folder");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").expect("a path"));
    for step in steps(&text) {
        let (command, shown) = match step {
            Step::Save { name, text } => {
                std::fs::write(folder.join(name), text).expect("a file");
                continue;
            }
            Step::Run { command, shown } => (command, shown),
        };
        let script = format!("{{ {command}\n}} 2>&1");
        let run = Command::new("sh").args(["-c", &script]).current_dir(&folder).env("PATH", &path).output();
        let printed = String::from_utf8(run.expect("a shell").stdout).expect("UTF-8");
        let lines: Vec<&str> = printed.lines().map(str::trim_end).collect();
        assert!(is_shown(&lines, &shown), "docs/{page}: `{command}` prints\n{printed}");
    }
}

macro_rules! followed {
    ($($name:ident: $page:literal,)*) => {
        const PAGES: &[&str] = &[$($page),*];
        $(#[test] fn $name() { follow($page); })*
    };
}

followed! {
    browser: "browser.md",
    first_verdict: "first-verdict.md",
    to_firmware: "to-firmware.md",
    drive: "drive.md",
    choosing: "choosing.md",
    applying: "applying.md",
    running: "running.md",
    experiments: "experiments.md",
    tuning: "tuning.md",
    firmware: "firmware.md",
    dhara: "dhara.md",
    adding: "adding.md",
    moving: "moving.md",
    exchange: "exchange.md",
    serve: "serve.md",
    python: "python.md",
    library: "library.md",
}

/// These are all tutorials and how-tos, and most of them have commands. (The examples of
/// docs/python.md run in the tests of the Python package.)
#[test]
fn every_tutorial_and_how_to_is_followed() {
    let summary = std::fs::read_to_string(root().join("docs/SUMMARY.md")).expect("the summary");
    let parts = summary.split("\n# ").filter(|part| part.starts_with("Tutorials") || part.starts_with("How-to"));
    let links = parts.flat_map(|part| part.split("](").skip(1));
    let pages: Vec<&str> = links.filter_map(|rest| rest.split_once(')').map(|(target, _)| target)).collect();
    assert_eq!(pages, PAGES);
    let of = |page: &&&str| {
        let text = std::fs::read_to_string(root().join("docs").join(page)).expect(page);
        steps(&text).iter().any(|step| matches!(step, Step::Run { .. }))
    };
    assert!(PAGES.iter().filter(of).count() > 7);
}

/// A command of rtflash that only a reader runs stands beside a program of others, without which
/// it has no input.
#[test]
fn commands_that_are_not_run_need_others() {
    const OTHERS: [&str; 11] = [
        "fio",
        "MQSim",
        "trace-cmd",
        "blkparse",
        "nbdcopy",
        "contrib/",
        "parallel",
        "drive.mcap",
        "ssdconfig.xml",
        "^C",
        "rule whole",
    ];
    /// Pages whose commands read files that a drive or a client has to make first.
    const ELSEWHERE: [&str; 3] = ["drive.md", "dhara.md", "serve.md"];
    for page in PAGES.iter().filter(|page| !ELSEWHERE.contains(page)) {
        let text = std::fs::read_to_string(root().join("docs").join(page)).expect(page);
        for (index, block) in text.split("\n```").enumerate() {
            let (info, body) = block.split_once('\n').unwrap_or((block, ""));
            let calls = body.lines().any(|line| line.trim_start_matches("$ ").starts_with("rtflash "));
            if index % 2 == 1 && info != "console" && info != "toml" && calls {
                assert!(OTHERS.iter().any(|other| body.contains(other)), "docs/{page}: not run:\n{body}");
            }
        }
    }
}

/// The tests above see a page that shows something else.
#[test]
fn other_output_is_seen() {
    let page = "Text\n```json file=a.json\n{}\n```\n```console\n$ one\nx\n…\n$ two\n```\n```sh\n$ three\n```\n";
    let run = |command: &str, shown: &[&str]| Step::Run {
        command: command.to_owned(),
        shown: shown.iter().map(ToString::to_string).collect(),
    };
    let saved = Step::Save { name: "a.json".to_owned(), text: "{}\n".to_owned() };
    assert_eq!(steps(page), [saved, run("one", &["x", "…"]), run("two", &[])]);
    let shown = ["a", "…", "b c…"].map(str::to_owned);
    for (printed, expected) in [
        (&["a", "b c"][..], true),
        (&["a", "x", "y", "b c d"], true),
        (&["a", "x", "b"], false),
        (&["a", "b c", "d"], false),
        (&["x", "a", "b c"], false),
        (&[], false),
    ] {
        assert_eq!(is_shown(printed, &shown), expected, "{printed:?}");
    }
}
