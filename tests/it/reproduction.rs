//! `docs/reproduction.md` has what the example computes.

#[allow(dead_code)] // Most sections take longer than a test may: `cargo run --release --example reproduce` does them all.
#[path = "../../examples/reproduce.rs"]
mod reproduce;

#[test]
fn the_sixteen_tasks_are_up_to_date() {
    let section = reproduce::SECTIONS.into_iter().find(|(name, _)| *name == "sixteen").expect("the section");
    let text = (section.1)().expect("a section").text;
    assert_eq!(reproduce::csv(&text), include_str!("../../docs/reproduction/sixteen.csv"));
}

#[test]
fn the_gains_and_their_figure_are_up_to_date() {
    let document = include_str!("../../docs/reproduction.md");
    let (name, make) = reproduce::SECTIONS[0];
    let section = make().expect("a section");
    // If this fails: cargo run --release --example reproduce, and read the page.
    assert_eq!(reproduce::replaced(document, name, &section.text).as_deref(), Some(document));
    let figure = include_str!("../../docs/reproduction/figure-v1a.svg");
    assert!(
        section.figures[0].figure.svg() == figure,
        "docs/reproduction/figure-v1a.svg is not what the example draws"
    );
    // A section is on the page, or a table beside it to which the page links.
    let is_there = |(name, _): (&str, _)| {
        let beside = format!("reproduction/{name}.csv");
        reproduce::replaced(document, name, "").is_some()
            || document.contains(&beside) && crate::common::root().join("docs").join(beside).exists()
    };
    assert!(reproduce::SECTIONS.into_iter().all(is_there), "a section is missing");
}
