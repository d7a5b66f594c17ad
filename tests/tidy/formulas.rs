//! The places of the documents' formulas and rules in the code: each one of docs/analysis.md is
//! cited once in the analysis and once in the verifier, or once in the executor and once in its
//! checkers; each one of the other documents once.

use std::collections::BTreeMap;
use std::fs;

use super::{files, root};

/// Formulas that are one side's alone, and why.
const ANALYSIS_ALONE: [(u32, &str); 6] = [
    (7, "R is in (C2), which the verifier tests"),
    (8, "H is searched for; the verifier tests (C2)"),
    (9, "F is searched for; the verifier tests (C3)"),
    (10, "v is searched for; the verifier tests (C4)"),
    (11, "α is searched for; the verifier tests (C1)"),
    (19, "the verifier takes no short cut"),
];

/// Formulas that neither decides by: the device grants servers' deadlines.
const OF_THE_DEVICE: [u32; 4] = [30, 31, 32, 68];

/// Rules that no checker has by name, and why.
const UNCHECKED: [(&str, &str); 5] = [
    ("R5", "the start is computed again from plan and seed, by the function that the executor uses"),
    ("S1", "a page's chip follows from its number"),
    ("V1", "its consequence is checked: reserve and deadlines"),
    ("V2", "its consequence is checked: reserve and deadlines"),
    ("V3", "its consequence is checked: reserve and deadlines"),
];

/// The estimates by the formulas of docs/lifetime.md: no part of the analysis.
const ESTIMATES: &str = "crates/rtflash-alloc/src/sizing";

fn sources(of: &[&str]) -> Vec<(String, String)> {
    let meant = |path: &str| of == [ESTIMATES] || !path.starts_with(ESTIMATES);
    files(of, "rs").into_iter().filter(|file| meant(&file.path)).map(|file| (file.path, file.text)).collect()
}

/// The contents of parentheses in a text, once each time.
fn in_parentheses(text: &str) -> impl Iterator<Item = &str> {
    text.split('(').skip(1).filter_map(|rest| rest.split_once(')').map(|(inside, _)| inside))
}

/// The places that cite each formula: comments that say "Eq." or "Eqs.", up to the end of the
/// comment.
fn formulas_cited(of: &[&str]) -> BTreeMap<u32, Vec<String>> {
    let mut cited: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for (path, text) in sources(of) {
        let mut citing = false;
        for line in text.lines() {
            let comment = line.trim_start().strip_prefix("//");
            let Some(comment) = comment else {
                citing = false;
                continue;
            };
            let cut = comment.ends_with("Eq.") || comment.ends_with("Eqs.");
            citing |= cut || comment.contains("Eq. (") || comment.contains("Eqs. (");
            if citing {
                let numbers = in_parentheses(comment).filter_map(|inside| inside.parse().ok());
                numbers.for_each(|number: u32| cited.entry(number).or_default().push(path.clone()));
            }
            citing &= cut || !comment.ends_with(['.', ':']);
        }
    }
    cited
}

/// The places that cite names such as R1 or C4: comments, rules as "rule" or "rules", conditions in
/// parentheses.
fn names_cited(of: &[&str], names: &[String]) -> BTreeMap<String, Vec<String>> {
    let mut cited: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, text) in sources(of) {
        for comment in text.lines().filter_map(|line| line.trim_start().strip_prefix("//")) {
            let words = comment.split(|letter: char| !letter.is_alphanumeric());
            for word in words.filter(|word| names.iter().any(|name| name == word)) {
                cited.entry(word.into()).or_default().push(path.clone());
            }
        }
    }
    cited
}

fn once<K: Ord + std::fmt::Debug>(cited: &BTreeMap<K, Vec<String>>, key: &K, side: &str) {
    let places = cited.get(key).map_or(&[][..], Vec::as_slice);
    assert_eq!(places.len(), 1, "{key:?} in the {side}: {places:?}");
}

/// The numbers at the ends of displayed formulas of a document, in order; they count from one.
fn formulas(of: &str) -> Vec<u32> {
    let document = fs::read_to_string(root().join(of)).unwrap();
    let displayed = document.lines().filter(|line| line.starts_with("    ") && !line.contains("for ("));
    let numbers = displayed.filter_map(|line| line.strip_suffix(')')?.rsplit_once("  (")?.1.parse().ok());
    let numbers: Vec<u32> = numbers.collect();
    let counted: Vec<u32> = (1..).take(numbers.len()).collect();
    assert_eq!(numbers, counted, "{of}: each number once, in order");
    numbers
}

/// The names of a document's rules and conditions, a letter and a digit: what is in bold at the
/// beginning of an item, or in parentheses before a formula.
fn all_names(of: &str) -> Vec<String> {
    let document = fs::read_to_string(root().join(of)).unwrap();
    let bold = document.lines().filter_map(|line| line.strip_prefix("- **")?.split_once("**").map(|(name, _)| name));
    let before = document.lines().filter_map(|line| line.strip_prefix("    (")?.split_once(')').map(|(name, _)| name));
    let is_name = |name: &&str| name.len() == 2 && name.ends_with(|last: char| last.is_ascii_digit());
    let mut names: Vec<String> = bold.chain(before).filter(is_name).map(String::from).collect();
    names.sort();
    names.dedup();
    names
}

const CONDITIONS: &str = "CQ";
const RULES: &str = "RSDVXZBPL";

/// Those of docs/analysis.md with one of these letters.
fn names(letters: &str) -> Vec<String> {
    let all = all_names("docs/analysis.md").into_iter();
    all.filter(|name| name.starts_with(|first| letters.contains(first))).collect()
}

const ANALYSIS: [&str; 3] =
    ["crates/rtflash-alloc/src", "crates/rtflash-analysis/src", "crates/rtflash-model/src/space.rs"];
const VERIFIER: [&str; 1] = ["crates/rtflash-verify/src"];
/// With what it shares with firmware.
const EXECUTOR: [&str; 10] = [
    "crates/rtflash-plan/src/servers.rs",
    "crates/rtflash-plan/src/start",
    "crates/rtflash-sim/src",
    "crates/rtflash-ftl/src/blocks.rs",
    "crates/rtflash-ftl/src/blocks/worn.rs",
    "crates/rtflash-ftl/src/grants.rs",
    "crates/rtflash-ftl/src/pages.rs",
    "crates/rtflash-ftl/src/pass.rs",
    "crates/rtflash-ftl/src/processor.rs",
    "crates/rtflash-ftl/src/zones.rs",
];
const CHECKERS: [&str; 1] = ["crates/rtflash-judge/src"];

#[test]
fn every_formula_is_cited_once_in_the_analysis_and_once_in_the_verifier() {
    let numbers = formulas("docs/analysis.md");
    assert!(numbers.len() > 80, "{}", numbers.len());
    let (analysis, verifier, executor) =
        (formulas_cited(&ANALYSIS), formulas_cited(&VERIFIER), formulas_cited(&EXECUTOR));
    for number in &numbers {
        if OF_THE_DEVICE.contains(number) {
            once(&executor, number, "executor");
            assert!(!analysis.contains_key(number) && !verifier.contains_key(number), "({number})");
            continue;
        }
        once(&analysis, number, "analysis");
        if ANALYSIS_ALONE.iter().any(|(alone, _)| alone == number) {
            assert!(!verifier.contains_key(number), "({number}) is in the verifier, too");
        } else {
            once(&verifier, number, "verifier");
        }
    }
    let all = analysis.keys().chain(verifier.keys()).chain(executor.keys());
    all.for_each(|number| assert!(numbers.contains(number), "no formula is ({number})"));
}

#[test]
fn conditions_of_the_theorems_are_cited_once_on_each_side() {
    let names = names(CONDITIONS);
    assert_eq!(names, ["C1", "C2", "C3", "C4", "Q1", "Q2", "Q3", "Q4", "Q5"]);
    let (analysis, verifier) = (names_cited(&ANALYSIS, &names), names_cited(&VERIFIER, &names));
    for name in &names {
        // Rules of the device: no cluster's numbers can break them.
        let device = name == "Q2" || name == "Q4";
        once(&if device { names_cited(&EXECUTOR, &names) } else { analysis.clone() }, name, "analysis or executor");
        if !device {
            once(&verifier, name, "verifier");
        }
    }
}

#[test]
fn rules_of_the_device_are_cited_once_in_the_executor_and_once_in_its_checkers() {
    let names = names(RULES);
    assert_eq!(names.len(), 5 + 4 + 3 + 3 + 5 + 2 + 4 + 2 + 2, "{names:?}");
    // (T2) is a test.
    let known = [RULES, CONDITIONS, "T"].concat();
    let all = all_names("docs/analysis.md");
    assert!(all.iter().all(|name| name.starts_with(|first| known.contains(first))), "{all:?}");
    let (executor, checkers) = (names_cited(&EXECUTOR, &names), names_cited(&CHECKERS, &names));
    for name in &names {
        once(&executor, name, "executor");
        if UNCHECKED.iter().any(|(unchecked, _)| unchecked == name) {
            assert!(!checkers.contains_key(name), "{name} is in the checkers, too");
        } else {
            once(&checkers, name, "checkers");
        }
    }
}

/// No verifier repeats an estimate.
#[test]
fn formulas_of_lifetimes_are_cited_once() {
    let (numbers, cited) = (formulas("docs/lifetime.md"), formulas_cited(&[ESTIMATES]));
    assert!(numbers.len() > 7, "{numbers:?}");
    numbers.iter().for_each(|number| once(&cited, number, "estimates"));
    assert_eq!(cited.len(), numbers.len(), "{cited:?}");
}

/// Programs that map pages during a migration keep M2 and M3; the tests of rtflash-run do.
#[test]
fn rules_of_migrations_are_cited_once() {
    let names = all_names("docs/migration.md");
    assert_eq!(names, ["M1", "M2", "M3"]);
    once(&names_cited(&["crates/rtflash-alloc/src/migration"], &names), &names[0], "analysis");
    let cited = names_cited(&["crates/rtflash-run/tests/it/migration.rs"], &names);
    names[1..].iter().for_each(|name| once(&cited, name, "tests"));
}
