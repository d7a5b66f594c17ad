//! Files that survive: damage is found, no process works where another one does, and the old
//! content stays until the new is whole.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::common::{Run, rtflash};
use rtflash::experiment::Progress;

/// An empty place for the files of one test.
fn place(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-files-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    path
}

/// Runs a command whose last word is the place of its results.
fn run(command: &str, out: &Path) -> Run {
    let out = out.display().to_string();
    rtflash(&command.split_whitespace().chain(["--out", &out]).collect::<Vec<_>>())
}

fn names(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path).expect("a folder");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name")).collect();
    names.sort();
    names
}

const SMALL: &str = "experiment schedulability --util 0.5..2.5 --step 1 --sets 5 --algorithms clustering-bfd,global --no-figure --jobs 1";

#[test]
fn a_damaged_file_of_progress_is_refused() {
    let out = place("damaged");
    assert_eq!(run(SMALL, &out).status, 0);
    let (kept, table) = (out.join("tallies.json"), out.join("results.csv"));
    let (whole, results) = (fs::read(&kept).expect("progress"), fs::read(&table).expect("results"));
    for seed in 0..40_u64 {
        // A bit, or a digit: somewhere, as if at random.
        let random = (seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
        let mut changed = whole.clone();
        if seed % 2 == 0 {
            let bit = usize::try_from(random).expect("a number") % (whole.len() * 8);
            changed[bit / 8] ^= 1 << (bit % 8);
        } else {
            let digits: Vec<usize> = (0..whole.len()).filter(|&at| whole[at].is_ascii_digit()).collect();
            let at = digits[usize::try_from(random).expect("a number") % digits.len()];
            changed[at] = b'0' + (changed[at] - b'0' + 1 + u8::try_from(random % 9).expect("a digit")) % 10;
        }
        fs::write(&kept, &changed).expect("written");
        let found = run(SMALL, &out);
        assert!(found.status == 2 && found.stderr.contains("remove it to begin anew"), "{seed}: {found:?}");
        let words = format!("merge {}", out.display());
        let found = run(&words, &place("damaged-merge"));
        assert_eq!((found.status, found.stdout.as_str()), (2, ""), "{seed}: {found:?}");
        assert_eq!(fs::read(&table).expect("results"), results);
    }
}

#[test]
fn a_trace_without_a_line_is_no_run() {
    let folder = place("empty-trace");
    fs::create_dir_all(&folder).expect("a folder");
    for text in ["", "\n\n"] {
        let trace = folder.join("empty.jsonl");
        fs::write(&trace, text).expect("written");
        let found = rtflash(&["check", "tasksets/case-study.json", "--trace", &trace.display().to_string()]);
        assert_eq!((found.status, found.stdout.as_str()), (2, ""), "{found:?}");
        assert!(found.stderr.contains("there is nothing in it"), "{found:?}");
    }
}

#[test]
fn results_are_read_beside_their_export() {
    let folder = place("no-export");
    fs::create_dir_all(&folder).expect("a folder");
    let results = folder.join("results");
    fs::write(&results, "").expect("written");
    for from in ["mqsim", "fio"] {
        let option = format!("--{from}");
        let found = rtflash(&["check", "tasksets/case-study.json", &option, &results.display().to_string()]);
        assert_eq!((found.status, found.stdout.as_str()), (2, ""), "{found:?}");
        assert!(found.stderr.contains(&format!("in the folder that `rtflash export {from}` made")), "{found:?}");
    }
}

/// `check` judges by the thesis where nothing else is said, and might find nothing wrong.
#[test]
fn who_is_not_in_time_is_told_by_which_check() {
    let folder = place("not-in-time");
    fs::create_dir_all(&folder).expect("a folder");
    let set = "tasksets/case-study.json";
    let split = ["alloc", set, "--analysis", "sound", "--algorithm", "equal-split", "--format", "json"];
    let late = folder.join("late.json");
    fs::write(&late, rtflash(&split).stdout).expect("written");
    let (late, image) = (late.display().to_string(), folder.join("image").display().to_string());
    for words in [
        &["admit", &late, set][..],
        &["migrate", &late, &late, set],
        &["serve", &late, set, "--listen", "127.0.0.1:0"],
        &["export", "firmware", set, "--allocation", &late, "--out", &image],
    ] {
        let found = rtflash(words);
        assert!(found.stderr.contains("see `rtflash check --analysis sound`"), "{words:?}: {found:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn help_that_cannot_be_written_is_an_error() {
    for words in [&["--help"][..], &["--version"], &["help", "exec"], &["exec", "-h"]] {
        let full = File::options().write(true).open("/dev/full").expect("a full device");
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_rtflash"));
        let found = command.args(words).stdout(full).output().expect("the command runs");
        assert_eq!(found.status.code(), Some(2), "{words:?}: {found:?}");
        assert!(String::from_utf8_lossy(&found.stderr).starts_with("error: cannot write: "), "{words:?}: {found:?}");
    }
}

#[test]
fn one_directory_has_one_experiment_and_one_process() {
    let out = place("locked");
    fs::create_dir_all(&out).expect("a folder");
    let lock = File::create(out.join(".rtflash-lock")).expect("a file");
    lock.try_lock().expect("locked");
    let refused = |command: &str, problem: &str| {
        let found = run(command, &out);
        assert!(found.status == 2 && found.stderr.contains(problem), "{found:?}");
    };
    refused(SMALL, "another process is at work in");
    assert_eq!(names(&out), [".rtflash-lock"]);
    // The file stays, the lock does not.
    drop(lock);
    assert_eq!(run(SMALL, &out).status, 0);
    let others = SMALL.replace("--sets 5", "--sets 6");
    refused(&others, "holds another experiment");
    let part = format!("{SMALL} --shard 0/2");
    refused(&part, "holds another part of this experiment");
    // Also where the counts are gone, and the results are not.
    fs::remove_file(out.join("tallies.json")).expect("removed");
    refused(&others, "holds another experiment");
    refused(&part, "holds another part of this experiment");
    assert_eq!(run(SMALL, &out).status, 0);
    let manifest = fs::read_to_string(out.join("manifest.json")).expect("a manifest");
    let value: serde_json::Value = serde_json::from_str(&manifest).expect("JSON");
    let build = value["build"].as_str().expect("a build");
    assert!(build == rtflash::experiment::BUILD && build.len() == 32, "{build}");
    fs::remove_file(out.join("tallies.json")).expect("removed");
    fs::write(out.join("manifest.json"), manifest.replace(build, &"0".repeat(32))).expect("written");
    refused(SMALL, "holds this experiment by another build of rtflash");
    fs::write(out.join("manifest.json"), "{ \"name\": \"something else\" ").expect("written");
    refused(SMALL, "holds a manifest that rtflash did not write");
}

/// Progress as another program can write it: another manifest, and all else in order.
fn rewritten(kept: &[u8], change: impl FnOnce(&mut serde_json::Value)) -> Vec<u8> {
    let value: serde_json::Value = serde_json::from_slice(kept).expect("JSON");
    let mut progress = value["progress"].clone();
    let mut manifest = serde_json::from_str(progress["manifest"].as_str().expect("a manifest")).expect("JSON");
    change(&mut manifest);
    progress["manifest"] = manifest.to_string().into();
    serde_json::from_value::<Progress>(progress).expect("progress").to_kept().expect("bytes")
}

#[test]
fn merge_opens_no_file_that_a_part_names() {
    let part = place("foreign");
    assert_eq!(run(SMALL, &part).status, 0);
    let kept = part.join("tallies.json");
    let whole = fs::read(&kept).expect("progress");
    let secret = crate::common::file("secret.json", "{ \"chips\": \"the secret\" }").display().to_string();
    let device =
        crate::common::file("device.json", "{ \"profile\": \"dgist-2021\", \"chips\": 3 }").display().to_string();
    let pipe = place("pipe");
    #[cfg(unix)]
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    let elsewhere = place("elsewhere");
    for (option, value) in [
        ("--device", "/etc/passwd"),
        ("--device", secret.as_str()),
        ("--device", device.as_str()),
        ("--device", &pipe.display().to_string()),
        ("--device", "/dev/zero"),
        ("--out", &elsewhere.display().to_string()),
        ("--allocation", secret.as_str()),
    ] {
        let changed = rewritten(&whole, |manifest| {
            let command = manifest["command"].as_array_mut().expect("words");
            match command.iter().position(|word| word == option) {
                Some(at) => command[at + 1] = value.into(),
                None => command.extend([option.into(), value.into()]),
            }
        });
        fs::write(&kept, changed).expect("written");
        let out = place("foreign-merge");
        let found = run(&format!("merge {}", part.display()), &out);
        assert!(found.status == 2 && !out.exists() && !elsewhere.exists(), "{option} {value}: {found:?}");
        assert!(!found.stderr.contains("the secret") && !found.stderr.contains("root:"), "{found:?}");
    }
    fs::write(&kept, rewritten(&whole, |manifest| manifest["build"] = "0".into())).expect("written");
    let found = run(&format!("merge {}", part.display()), &place("foreign-merge"));
    assert!(found.status == 2 && found.stderr.contains("by another build of rtflash"), "{found:?}");
    // Nothing changed: it is joined.
    fs::write(&kept, &whole).expect("written");
    assert_eq!(run(&format!("merge {}", part.display()), &place("foreign-merge")).status, 0);
}

#[test]
fn sets_are_in_their_file_once_all_are_drawn() {
    let folder = place("sets");
    fs::create_dir_all(&folder).expect("a folder");
    let out = folder.join("sets.jsonl");
    let words = "gen --util 0.5..1.5 --step 1 --sets 3 --tasks 4";
    let sets = rtflash(&words.split(' ').collect::<Vec<_>>()).stdout;
    assert_eq!(run(words, &out).status, 0);
    assert_eq!(fs::read_to_string(&out).expect("sets"), sets);
    // Two tasks never have U = 2.5: the file of before is there still, and no other.
    assert_eq!(run("gen --util 1.5..2.5 --step 1 --sets 3 --tasks 2", &out).status, 2);
    assert_eq!(
        (fs::read_to_string(&out).expect("sets"), names(&folder)),
        (sets.clone(), vec!["sets.jsonl".to_owned()])
    );
    assert_eq!(run(words, &folder.join("none/sets.jsonl")).status, 2);
    for stdout in if cfg!(unix) { &["-", "/dev/stdout"][..] } else { &["-"] } {
        assert_eq!(run(words, Path::new(stdout)).stdout, sets, "{stdout}");
    }
}

#[cfg(unix)]
#[test]
fn pipes_are_written_as_they_are() {
    let folder = place("pipes");
    fs::create_dir_all(&folder).expect("a folder");
    let trace = ["exec", "tasksets/case-study.json", "--duration", "20ms", "--jobs", "1", "--trace"];
    let file = folder.join("trace.jsonl");
    // Runs so short need not pass.
    let to_file = rtflash(&[&trace[..], &[&file.display().to_string()]].concat());
    assert!(to_file.status < 2 && to_file.stderr.is_empty(), "{to_file:?}");
    let pipe = folder.join("pipe.jsonl");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    let read = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read(pipe).expect("the trace")
    });
    assert_eq!(rtflash(&[&trace[..], &[&pipe.display().to_string()]].concat()).status, to_file.status);
    assert_eq!(read.join().expect("read"), fs::read(&file).expect("the trace"));
    // A folder to which nothing can be written: the old file stays, and nothing else is left.
    let before = names(&folder);
    assert_eq!(before, ["pipe.jsonl", "trace.jsonl"]);
    let run = rtflash(&[&trace[..], &[&folder.join("none/trace.jsonl").display().to_string()]].concat());
    assert!(run.status == 2 && names(&folder) == before, "{run:?}");
}

#[cfg(unix)]
#[test]
fn an_interrupted_command_leaves_no_draft() {
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Stdio};
    let folder = place("interrupted");
    fs::create_dir_all(&folder).expect("a folder");
    let out = folder.join("sets.jsonl");
    fs::write(&out, "before").expect("written");
    let mut child = Command::new(env!("CARGO_BIN_EXE_rtflash"))
        .args(["gen", "--util", "0.5", "--sets", "1000000000", "--jobs", "1", "--out"])
        .arg(&out)
        .stderr(Stdio::null())
        .spawn()
        .expect("the command starts");
    for _ in 0..3000 {
        if names(&folder).len() > 1 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let drafts = names(&folder);
    // Between the making of the draft and the waiting for signals there is a moment.
    std::thread::sleep(std::time::Duration::from_millis(500));
    let told = Command::new("kill").arg(child.id().to_string()).status().expect("kill");
    let ended = child.wait().expect("it ends");
    assert!(told.success() && ended.signal() == Some(15), "{ended:?}");
    assert!(drafts.len() == 2 && drafts[0].starts_with(".sets.jsonl."), "{drafts:?}");
    assert_eq!(names(&folder), ["sets.jsonl"]);
    assert_eq!(fs::read_to_string(&out).expect("the old file"), "before");
}

/// An option that takes a number, a file or a folder says so when it is given something else.
#[test]
fn what_an_option_takes_is_told() {
    let folder = place("what-it-takes");
    fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("file");
    fs::write(&file, "").expect("written");
    let (set, file) = ("tasksets/case-study.json", file.display().to_string());
    let scenario = "scenarios/emmc-2023.json";
    let rows: [(&[&str], &str); 9] = [
        (&["exec", set, "--seed", "1e30"], "for '--seed <SEED>': a whole number is expected"),
        (&["gen", "--util", "1", "--tasks", ""], "a whole number is expected"),
        (&["gen", "--util", "1", "--tasks", "99999999999999999999"], "it is too large a number"),
        (&["exec", set, "--checkpoint", "-"], "--checkpoint takes a file: the answer is on standard output"),
        (&["export", "mqsim", set, "--out", &file], "it is no folder"),
        (&["man", "--out", &file], "it is no folder"),
        (&["man", "--out", "-"], "cannot write into -: it is no folder"),
        (&["experiment", "schedulability", "--sets", "1", "--util", "1", "--out", &file], "it is no folder"),
        (&["host", "tune", scenario, "--objective", "deadline=0s"], "a deadline is longer than 0"),
    ];
    for (words, told) in rows {
        let found = rtflash(words);
        assert_eq!((found.status, found.stdout.as_str()), (2, ""), "{words:?}: {found:?}");
        assert!(found.stderr.contains(told), "{words:?}: {found:?}");
    }
}
