//! The README's picture shows what the library computes.

#[path = "../examples/case_study_picture.rs"]
mod case_study_picture;

#[test]
fn the_picture_is_up_to_date() {
    // If this fails: cargo run --example case_study_picture > docs/case-study.svg, and look at it.
    assert!(
        case_study_picture::svg() == include_str!("../docs/case-study.svg"),
        "docs/case-study.svg is not what the example draws"
    );
}
