//! The README's picture shows what the library computes.

#[path = "../../examples/case_study_picture.rs"]
mod case_study_picture;

#[test]
fn the_picture_of_the_run_is_up_to_date() {
    // If this fails: write the picture anew with the command below and docs/case-study-run.svg, and
    // view it.
    let path = crate::common::file("run.svg", "").display().to_string();
    let stretch = ["--duration", "1s", "--gantt", "0ms..80ms", "--gantt-out", &path];
    crate::common::rtflash(&[&["exec", "tasksets/case-study.json"], &stretch[..]].concat());
    assert!(
        std::fs::read_to_string(path).expect("the figure") == include_str!("../../docs/case-study-run.svg"),
        "docs/case-study-run.svg is not what the command draws"
    );
}

#[test]
fn the_picture_is_up_to_date() {
    // If this fails: cargo run --example case_study_picture > docs/case-study.svg, and view it.
    assert!(
        case_study_picture::svg() == include_str!("../../docs/case-study.svg"),
        "docs/case-study.svg is not what the example draws"
    );
}
