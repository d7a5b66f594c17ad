//! The examples of algorithms and analyses of one's own: run, as they are printed, on a few sets.

#[path = "../../examples/own_allocator.rs"]
mod own_allocator;

#[path = "../../examples/own_analysis.rs"]
mod own_analysis;

use std::fs;
use std::path::{Path, PathBuf};

fn directory(name: &str) -> PathBuf {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&directory);
    directory
}

/// Sets that each of them schedules, from the table that they end in.
fn schedulable(files: &[String], directory: &Path, column: usize, name: &str) -> u64 {
    assert!(["results.csv", "paired.csv", "figure.svg"].iter().all(|file| files.iter().any(|other| other == file)));
    assert!(fs::read_to_string(directory.join("figure.svg")).expect("a figure").contains(name), "{name}");
    let table = fs::read_to_string(directory.join("results.csv")).expect("a table");
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    let counted = rows.iter().filter(|row| row[column] == name).map(|row| row[4].parse::<u64>().expect("a count"));
    counted.sum()
}

#[test]
fn an_algorithm_of_ones_own_is_compared_with_ours() {
    let directory = directory("own-allocator");
    let files = own_allocator::compare(4, &directory).expect("results");
    let [ours, own, split] =
        ["clustering-bfd", "worst-fit", "equal-split"].map(|name| schedulable(&files, &directory, 1, name));
    assert!(own > 0 && split > 0 && ours > own, "{ours} {own} {split}");
}

#[test]
fn analyses_of_ones_own_are_compared_with_ours() {
    let directory = directory("own-analysis");
    let files = own_analysis::compare(4, &directory).expect("results");
    let [thesis, wait, fifo] = ["thesis", "full-wait", "fifo"].map(|name| schedulable(&files, &directory, 2, name));
    // Each is stricter than the one before it, on the same sets.
    assert!(fifo > 0 && wait > fifo && thesis >= wait, "{thesis} {wait} {fifo}");
}

/// The lines of docs/library.md for a Cargo.toml have the features that each example of own parts
/// needs. That the examples compile with them is tested in `.ci/long`.
#[test]
fn the_page_prints_the_dependency_that_they_need() {
    let page = include_str!("../../docs/library.md");
    let snippet = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("lines of TOML");
    let listed = |line: &str| -> Vec<String> {
        let list = line.split_once("features = [").and_then(|(_, rest)| rest.split_once(']')).expect("features").0;
        list.split(',').map(|name| name.trim().trim_matches('"').to_owned()).collect()
    };
    let has = listed(snippet.replace("default-features", "default").as_str());
    assert!(snippet.contains("default-features = false"), "{snippet}");
    let manifest = include_str!("../../Cargo.toml");
    let own: Vec<&str> =
        manifest.split("[[example]]\n").skip(1).filter(|example| example.starts_with("name = \"own_")).collect();
    assert!(own.len() >= 2, "{own:?}");
    for example in own {
        let needs = listed(
            &example.lines().find(|line| line.starts_with("required")).expect("features").replace("required-", ""),
        );
        assert!(needs.iter().all(|feature| has.contains(feature)), "{example}: {needs:?} {has:?}");
    }
}

#[test]
fn they_are_short() {
    for example in [include_str!("../../examples/own_allocator.rs"), include_str!("../../examples/own_analysis.rs")] {
        assert!(example.lines().count() < 60, "{}", example.lines().count());
    }
}
