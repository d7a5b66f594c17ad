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
