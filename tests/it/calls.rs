//! The conventions of every command: `--set`, `--quiet`, `--color`, help and manual pages.

use crate::common::{file, rtflash, rtflash_with_input};

const CASE: &str = "tasksets/case-study.json";

#[test]
fn set_changes_a_field_for_every_command() {
    // Four chips of the case study; on one of them nothing fits.
    let one = ["--set", "device.chips=1", "--set", "device.chips_per_channel=1"];
    for command in ["alloc", "size"] {
        let run = |more: &[&str]| rtflash(&[&[command, CASE], more].concat()).status;
        assert_eq!((run(&[]), run(&one)), (0, 1), "{command}");
    }
    let five = ["exec", CASE, "--duration", "10ms", "--set", "device.chips=5", "--format", "json"];
    assert_eq!(rtflash(&five).json()["chips"].as_array().map(Vec::len), Some(5));
    let allocation = file("set-one.json", r#"{"clusters":[{"chips":[0],"tasks":["t1","t2","t3","t4"]}]}"#);
    let allocation = allocation.display().to_string();
    for command in ["check", "explain"] {
        let asked = [&[command, CASE, "--allocation", &allocation], &one[..]].concat();
        assert_eq!(rtflash(&asked).status, 1, "{command}");
        // Without it three chips are in no cluster: the cluster is too small all the same.
        let task = [&[command, CASE, "--allocation", &allocation, "--set", "tasks.t1.read=3"][..]].concat();
        let answer = rtflash(&task);
        assert_eq!(answer.status, 2, "{command}");
        assert!(answer.stderr.contains("at tasks[0].read"), "{}", answer.stderr);
    }
}

#[test]
fn set_says_where_its_path_ends_and_goes_on_in_a_stream() {
    let set = r#"{"device":"dgist-2021","tasks":[{"name":"a","read":{"pages":1,"period":"1s"}}]}"#;
    let other = set.replace("\"a\"", "\"b\"");
    let stream = format!("{set}\n{other}\n");
    let args = ["alloc", "-", "--format", "json", "--set", "tasks.b.read.pages=7"];
    let run = rtflash_with_input(&args, stream.as_bytes());
    let lines = run.json_lines();
    assert_eq!((run.status, lines.len()), (2, 2));
    assert_eq!(lines[0]["error"]["message"], "--set `tasks.b.read.pages`: `tasks` has no `b`; it has a");
    assert_eq!(lines[1]["schedulable"], true);
    // A trace of what the analysis cannot tell of is no wrong call.
    let trace = file("late.jsonl", "").display().to_string();
    let deadline = ["--set", "tasks.t1.read.deadline=20ms"];
    let check = [&["check", CASE, "--trace", &trace][..], &deadline].concat();
    assert_eq!(rtflash(&check).status, 3);
    let nameless = rtflash_with_input(&["alloc", "-"], br#"{"device":"dgist-2021","tasks":[{}]}"#);
    assert!(nameless.stderr.contains("the task neither reads nor writes"), "{}", nameless.stderr);
    let wrong = rtflash(&["alloc", CASE, "--set", "device.chips"]);
    assert_eq!((wrong.status, wrong.stdout.as_str()), (2, ""));
    assert!(wrong.stderr.contains("expected a field and its value"), "{}", wrong.stderr);
}

#[test]
fn quiet_leaves_the_status_alone() {
    for (set, status) in [(CASE, 0), ("tasksets/overload.json", 1), ("tasksets/none.json", 2)] {
        for quiet in ["-q", "--quiet"] {
            let run = rtflash(&["alloc", set, quiet]);
            assert_eq!((run.status, run.stdout.as_str()), (status, ""), "{set}");
            assert_eq!(run.stderr.is_empty(), status < 2, "{}", run.stderr);
        }
    }
    let path = file("quiet.jsonl", "");
    let path = path.display().to_string();
    assert_eq!(rtflash(&["-q", "gen", "--util", "1", "--sets", "2", "--out", &path]).stdout, "");
    assert_eq!(std::fs::read_to_string(&path).expect("the sets").lines().count(), 2);
}

#[test]
fn colour_is_as_it_is_asked_for() {
    let run = |color: &str| rtflash(&["alloc", "tasksets/overload.json", "--color", color]);
    let (auto, always, never) = (run("auto"), run("always"), run("never"));
    // This is no terminal.
    assert_eq!(auto.stdout, never.stdout);
    assert!(always.stdout.contains('\u{1b}') && !never.stdout.contains('\u{1b}'));
    let wrong = rtflash(&["alloc", "tasksets/none.json", "--color", "always"]);
    assert!(wrong.stderr.contains('\u{1b}'), "{}", wrong.stderr);
}

/// Lines of two screens.
const SCREENS: usize = 110;

#[test]
fn help_lists_names_once_and_fits_two_screens() {
    for (topic, line) in [
        ("algorithms", "full-isolation        every chip a cluster of its own, best fit"),
        ("analyses", "Theorem 1 of the thesis"),
        ("analyses", "necessary-with-zones"),
        ("policies", "--victims\n  actual"),
        ("schedulers", "k2 with one command inside"),
    ] {
        let help = rtflash(&["help", topic]);
        assert!(help.status == 0 && help.stdout.contains(line), "{topic}: {help:?}");
    }
    assert_eq!(rtflash(&["help", "nothing"]).status, 2);
    for command in commands(&[]) {
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        let help = rtflash(&[&words[..], &["--help"]].concat()).stdout;
        assert!(help.lines().count() <= SCREENS, "{command:?}: {} lines", help.lines().count());
        // The list of algorithms is not repeated.
        assert!(!help.contains("clustering-search"), "{help}");
    }
    let exec = rtflash(&["exec", "--help"]).stdout;
    let at = |heading: &str| exec.find(&format!("\n{heading}:\n")).unwrap_or_else(|| panic!("{heading}: {exec}"));
    assert!(at("Input") < at("Analysis") && at("Analysis") < at("Run") && at("Run") < at("Output"), "{exec}");
    // Each choice has its meaning.
    assert!(rtflash(&["help", "exec"]).stdout.contains("Possible values:"));
}

/// All commands, as help lists them: each its words.
fn commands(above: &[String]) -> Vec<Vec<String>> {
    let words: Vec<&str> = above.iter().map(String::as_str).chain(["--help"]).collect();
    let help = rtflash(&words).stdout;
    let listed = help.split_once("Commands:\n").map_or("", |(_, behind)| behind.split("\n\n").next().expect("a list"));
    let named = listed.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let names = named.filter(|name| !name.is_empty() && *name != "help");
    let own = names.map(|name| [above, &[name.to_owned()]].concat());
    own.flat_map(|command| [commands(&command), vec![command]].concat()).collect()
}

#[test]
fn each_command_has_a_manual_page_and_an_example() {
    let folder = file("man-pages", "").with_extension("d");
    let run = rtflash(&["man", "--out", &folder.display().to_string()]);
    assert_eq!((run.status, run.stdout.as_str()), (0, ""), "{}", run.stderr);
    let (all, everything) = (commands(&[]), rtflash(&["man"]).stdout);
    assert!(all.len() > 30, "{all:?}");
    for command in &all {
        let name = command.join("-");
        let page = std::fs::read_to_string(folder.join(format!("rtflash-{name}.1"))).expect(&name);
        assert!(page.contains(&format!(".TH rtflash-{name} 1")), "{page}");
        assert_eq!(rtflash(&["man", &name]).stdout, page);
        assert!(page.contains("Example"), "{name}");
        assert!(everything.contains(&format!("RTFLASH {}", command.join(" ").to_uppercase())), "{name}");
    }
    // One beside theirs is that of everything.
    assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), all.len() + 1);
    assert_eq!(std::fs::read_to_string(folder.join("rtflash.1")).expect("a page"), everything);
    assert_eq!(rtflash(&["man", "nothing"]).status, 2);
}

/// Programs of others that examples call: what comes from them on is not run.
const OTHERS: [&str; 6] = ["(cd ", "serve ", "nbdcopy ", "blkparse sda", "trace-cmd ", "zcat "];

/// Each example runs as it is printed, in a folder with what the repository has.
#[cfg(unix)]
#[test]
fn examples_run_as_they_are_printed() {
    let folder = file("examples", "").with_extension("d");
    std::fs::create_dir_all(&folder).expect("a folder");
    for name in ["tasksets", "scenarios", "crates", "examples"] {
        let _ = std::fs::remove_file(folder.join(name));
        std::os::unix::fs::symlink(crate::common::root().join(name), folder.join(name)).expect("a link");
    }
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_rtflash")).parent().expect("a folder");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").expect("a path"));
    for command in commands(&[]) {
        let words: Vec<&str> = command.iter().map(String::as_str).chain(["--help"]).collect();
        let help = rtflash(&words).stdout;
        let (_, behind) = help.split_once("\nExample").expect("an example");
        let lines = behind.lines().skip(1).take_while(|line| line.starts_with("  "));
        let own = lines.take_while(|line| !OTHERS.iter().any(|other| line.contains(other)));
        // Fewer sets and runs: a test of random cases is elsewhere.
        let script: String = own.map(|line| format!("{line}\n")).collect();
        let script = script.replace("--sets 100", "--sets 2").replace("--runs 1000", "--runs 20");
        let run =
            std::process::Command::new("sh").args(["-ec", &script]).current_dir(&folder).env("PATH", &path).output();
        let run = run.expect("a shell");
        // A no is an answer: of the theorem that is put to the test, and of one without a term.
        let said = String::from_utf8_lossy(&run.stderr);
        let is_answer =
            run.status.success() || (run.status.code() == Some(1) && (command == ["exec"] || command == ["soak"]));
        assert!(is_answer && !said.contains("error"), "{script}{said}");
    }
}
