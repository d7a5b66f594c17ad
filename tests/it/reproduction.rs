//! `docs/reproduction.md` has what the example computes.

#[allow(dead_code)] // Most sections take longer than a test may: `cargo run --release --example reproduce` does them all.
#[path = "../../examples/reproduce.rs"]
mod reproduce;

/// Sections that take little time.
#[test]
fn short_sections_are_up_to_date() {
    let document = include_str!("../../docs/reproduction.md");
    for (name, make) in reproduce::SECTIONS {
        if ["sixteen", "heavy-writers", "case-study", "motivation"].contains(&name) {
            let text = make().expect("a section").text;
            assert_eq!(reproduce::replaced(document, name, &text).as_deref(), Some(document), "{name}");
        }
    }
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
    let marks = reproduce::SECTIONS.map(|(name, _)| reproduce::replaced(document, name, "").is_some());
    assert!(marks.into_iter().all(|there| there), "a section is missing");
}
