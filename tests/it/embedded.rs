//! The answer to a program that embeds the command: the command's own output.

use std::sync::atomic::AtomicBool;

use crate::common::{root, rtflash, rtflash_with_input};
use rtflash::experiment::Shard;
use rtflash_cli::ask::{
    NamedSet, NamedText, OwnContenders, SetAnswer, SetQuestion, StreamSource, Study, Unanswered, join_parts,
};

/// A shipped task set.
fn shipped(name: &str) -> NamedSet {
    let path = root().join("tasksets").join(name);
    NamedSet::read(name, &std::fs::read(path).expect("a file")).expect("a task set")
}

/// Works a part of an experiment, and checks that all of its sets are reported.
fn part(study: &Study, index: u32, count: u32) -> Vec<u8> {
    let shard = Shard::new(index, count).expect("a part");
    let mut done = 0;
    let bytes = study.part(shard, &mut |sets| done += sets, &AtomicBool::new(false)).expect("a part");
    assert_eq!(done, study.sets(shard));
    let stopped = study.part(shard, &mut |_| {}, &AtomicBool::new(true));
    assert!(stopped.is_err(), "it was to be stopped");
    bytes
}

/// The answer to a question that has one.
fn answer(words: &[&str], set: &NamedSet, allocation: Option<&NamedText>) -> SetAnswer {
    let question = SetQuestion::new(words).expect("a question");
    question.answer(set, allocation).expect("an answer")
}

#[test]
fn answers_about_task_sets_are_those_of_the_command() {
    for name in ["case-study.json", "drone.json", "overload.json"] {
        let path = format!("tasksets/{name}");
        let set = shipped(name);
        for words in [
            &["alloc", "--algorithm", "global"][..],
            &["alloc", "--set", "device.chips=12"],
            &["explain", "--analysis", "sound"],
            &["size"],
            &["exec", "--algorithm", "global", "--duration", "10ms"],
        ] {
            let [command, options @ ..] = words else { panic!("a command") };
            let printed = rtflash(&[&[*command, &path, "--format", "json"], options].concat()).stdout;
            assert_eq!(answer(words, &set, None).text, printed, "{words:?} {name}");
        }
        let text = answer(&["alloc", "--algorithm", "global"], &set, None).text;
        let file = crate::common::file(&format!("embedded-{name}"), &text).display().to_string();
        let printed = rtflash(&["check", &path, "--allocation", &file, "--format", "json"]).stdout;
        let allocation = NamedText { name: file, text };
        assert_eq!(answer(&["check", "--allocation", "-"], &set, Some(&allocation)).text, printed, "{name}");
    }
}

#[test]
fn streams_are_those_of_the_command() {
    let mut lines: Vec<String> =
        rtflash(&["gen", "--util", "1..3", "--step", "1", "--sets", "3"]).stdout.lines().map(Into::into).collect();
    lines[2] = lines[2].replacen("\"pages\"", "\"page\"", 1);
    let printed = rtflash_with_input(&["alloc", "-", "--format", "json"], lines.join("\n").as_bytes()).stdout;
    let question = SetQuestion::new(&["alloc"]).expect("a question");
    let sources: Vec<StreamSource<'_>> = lines.iter().map(|line| StreamSource::Line(line.as_bytes())).collect();
    let (first, rest) = sources.split_at(4);
    let mut answers = question.stream(first, None, 1).expect("answers");
    answers.extend(question.stream(rest, None, 5).expect("answers"));
    // All of it would be too much to show.
    assert!(answers.iter().map(|answer| answer.text.as_str()).collect::<String>() == printed, "other bytes");
    let fault = answers[2].fault.as_ref().expect("a fault");
    assert!(!fault.expected.is_empty() && fault.line == 3, "{fault:?}");
}

#[test]
fn what_is_wrong_is_told_without_colour() {
    let set = shipped("case-study.json");
    let question = SetQuestion::new(&["alloc", "--set", "device.chips=0"]).expect("a question");
    match question.answer(&set, None) {
        Err(Unanswered::Input(answer)) => {
            assert_eq!(answer.fault.expect("a fault").path, "device.chips");
            assert!(!answer.complaint.contains('\u{1b}'), "{}", answer.complaint);
        }
        other => panic!("{other:?}"),
    }
    let question = SetQuestion::new(&["alloc", "--set", "tasks.nobody.read=null"]).expect("a question");
    let Err(Unanswered::Input(answer)) = question.answer(&set, None) else { panic!("there is no such task") };
    assert!(answer.complaint.contains("nobody") && !answer.complaint.contains('\u{1b}'), "{}", answer.complaint);
    for words in [&["alloc", "--algorithm", "none-such"][..], &["gen", "--util", "1"], &["no-such"], &[]] {
        assert!(matches!(SetQuestion::new(words), Err(Unanswered::Failure(_))), "{words:?}");
    }
    let refused = SetQuestion::new(&["exec", "--gantt", "0ms..1ms", "--gantt-out", "x.png"]);
    assert!(matches!(refused, Err(Unanswered::Failure(failure)) if failure.0.contains("SVG")));
}

#[test]
fn parts_of_an_experiment_make_the_files_of_the_command() {
    let words = ["experiment", "schedulability", "--sets", "4", "--util", "1..3", "--step", "1"];
    let study = Study::new(&words, vec![], vec![], None, &OwnContenders::default()).expect("a study");
    let parts: Vec<Vec<u8>> = (0..3).map(|index| part(&study, index, 3)).collect();
    let names: Vec<String> = (0..3).map(|index| format!("part {index}")).collect();
    let results = join_parts(&names, &parts).expect("all parts");
    let folder = crate::common::file("embedded-study", "");
    std::fs::remove_file(&folder).expect("a place");
    let out = folder.display().to_string();
    let printed = rtflash(&[&words[..], &["--out", &out, "--format", "json"]].concat()).stdout;
    assert_eq!(results.json, printed);
    assert!(results.files.iter().any(|(name, _)| name == "figure.svg"));
    for (name, bytes) in &results.files {
        assert!(std::fs::read(folder.join(name)).expect("a file") == *bytes, "{name}");
    }
    assert!(study.join(&names[..2], &parts[..2]).is_err(), "a part is missing");
    std::fs::remove_dir_all(&folder).expect("the end of it");
}
