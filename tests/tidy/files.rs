//! Files: each is named elsewhere, none is too long, no function is too long.

use std::collections::{BTreeMap, BTreeSet};

use super::{File, files, nothing};

/// Lines of a file outside tests.
const FILE: usize = 400;
/// Lines of a function.
const FUNCTION: usize = 60;

/// Files that are longer.
const LONGER: [&str; 0] = [];

/// Files with functions that are longer. This list gets shorter.
const LONG_FUNCTIONS: [&str; 0] = [];

fn sources() -> Vec<File> {
    let all = files(&["crates", "src"], "rs").into_iter();
    all.filter(|file| file.path.contains("src/") && !file.is_beside()).collect()
}

#[test]
fn files_and_functions_are_short() {
    let mut found = Vec::new();
    for file in sources() {
        let lines: Vec<&str> = file.code().lines().collect();
        // A file on a list that needs it no more comes off it.
        let listed = LONGER.contains(&file.path.as_str());
        if listed && lines.len() <= FILE {
            found.push(format!("{}: {} lines, and on the list", file.path, lines.len()));
        }
        if lines.len() > FILE && !LONGER.contains(&file.path.as_str()) {
            found.push(format!("{}: {} lines", file.path, lines.len()));
        }
        for (begin, line) in lines.iter().enumerate().filter(|(_, line)| is_function(line)) {
            let indent = line.len() - line.trim_start().len();
            let close = format!("{}}}", " ".repeat(indent));
            let length = lines[begin..].iter().position(|line| **line == close).map_or(1, |end| end + 1);
            if length > FUNCTION && !LONG_FUNCTIONS.contains(&file.path.as_str()) {
                found.push(format!("{}:{}: a function of {length} lines", file.path, begin + 1));
            }
        }
    }
    nothing(&found, "too long");
}

/// Whether a line begins a function with a body of its own lines.
fn is_function(line: &str) -> bool {
    let words: Vec<&str> = line.trim_start().split([' ', '(', '<']).collect();
    let at = words.iter().position(|word| *word == "fn");
    at.is_some_and(|at| words[..at].iter().all(|word| ["pub", "const", "crate)", "super)", "in"].contains(word)))
        && !line.ends_with(['}', ';'])
}

#[test]
fn every_source_is_a_module_of_its_crate() {
    let mut found = Vec::new();
    let all = files(&["crates", "src"], "rs");
    for file in all.iter().filter(|file| file.path.contains("src/")) {
        let (folder, name) = file.path.rsplit_once('/').expect("a folder");
        if ["lib.rs", "main.rs"].contains(&name) || folder.ends_with("/bin") {
            continue;
        }
        let (parents, module) = if name == "mod.rs" {
            let (above, module) = folder.rsplit_once('/').expect("a folder");
            (above, module)
        } else {
            (folder, name.trim_end_matches(".rs"))
        };
        let declared = [format!("{parents}/mod.rs"), format!("{parents}/lib.rs"), format!("{parents}.rs")];
        let declaration = format!("mod {module};");
        let is_declared = all
            .iter()
            .filter(|other| declared.contains(&other.path))
            .any(|other| other.text.lines().any(|line| line.trim_start().ends_with(&declaration)));
        if !is_declared {
            found.push(file.path.clone());
        }
    }
    nothing(&found, "no module declares");
}

#[test]
fn every_shipped_file_is_named_somewhere() {
    let mut texts = files(&["."], "md");
    texts.extend(files(&["crates", "tests", "examples", "benches", "src"], "rs"));
    let mut shipped = files(&["tasksets", "scenarios", "schemas"], "json");
    shipped.extend(files(&["docs"], "md"));
    shipped.extend(files(&["docs"], "svg"));
    let mut found = BTreeSet::new();
    for file in &shipped {
        let name = file.path.rsplit('/').next().expect("a name");
        let stem = name.trim_end_matches(".json");
        let names = |text: &&File| text.path != file.path && (text.text.contains(name) || text.text.contains(stem));
        if texts.iter().find(names).is_none() {
            found.insert(file.path.clone());
        }
    }
    nothing(&found.into_iter().collect::<Vec<_>>(), "nobody names");
}

/// `tools/book.py` builds the pages of the summary as a site. It checks their links, not that each
/// page is there.
#[test]
fn every_page_is_in_the_summary() {
    let pages = files(&["docs"], "md");
    let (summary, pages): (Vec<&File>, Vec<&File>) = pages.iter().partition(|file| file.path == "docs/SUMMARY.md");
    let summary = &summary.first().expect("docs/SUMMARY.md").text;
    let found: Vec<String> = pages
        .iter()
        .filter(|file| summary.matches(&format!("]({})", file.path.trim_start_matches("docs/"))).count() != 1)
        .map(|file| file.path.clone())
        .collect();
    nothing(&found, "not once in docs/SUMMARY.md");
}

/// Names of types that have several meanings. This list gets shorter.
const SEVERAL_MEANINGS: [&str; 7] = ["Arrivals", "ClusterReport", "Job", "LeftOut", "Place", "Plan", "Step"];

/// The name of a type that a line declares for a whole module.
fn declared(line: &str) -> Option<&str> {
    let line = line.strip_prefix("pub").map_or(line, |rest| {
        let rest = rest.trim_start();
        rest.strip_prefix('(').and_then(|rest| rest.split_once(") ")).map_or(rest, |(_, rest)| rest)
    });
    let name = ["struct ", "enum ", "trait "].iter().find_map(|kind| line.strip_prefix(kind))?;
    name.split(|letter: char| !letter.is_alphanumeric()).next()
}

/// A type's name means one thing. The verifier is written apart on purpose, so its names are its
/// own.
#[test]
fn names_of_types_mean_one_thing() {
    assert_eq!(
        ["pub(super) enum A {", "struct B<'a>(u8);", "pub trait C: D {", "type E = F;"].map(declared),
        [Some("A"), Some("B"), Some("C"), None]
    );
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in sources().iter().filter(|file| !file.path.starts_with("crates/rtflash-verify/")) {
        for name in file.code().lines().filter_map(declared) {
            places.entry(name.to_owned()).or_default().push(file.path.clone());
        }
    }
    let several = |name: &str| places.get(name).is_some_and(|places| places.len() > 1);
    let unknown = places.iter().filter(|(name, places)| places.len() > 1 && !SEVERAL_MEANINGS.contains(&name.as_str()));
    let mut found: Vec<String> = unknown.map(|(name, places)| format!("{name}: {}", places.join(", "))).collect();
    let over = SEVERAL_MEANINGS.into_iter().filter(|name| !several(name));
    found.extend(over.map(|name| format!("{name}: one meaning, and on the list")));
    nothing(&found, "names of types with several meanings");
}

/// A change of a dependency's version needs new notices: `.ci/release notices`.
#[test]
fn notices_are_of_the_versions_that_are_locked() {
    let text = |path: &str| std::fs::read_to_string(super::root().join(path)).expect("text");
    let mut found = Vec::new();
    for folder in ["", "python/"] {
        let lock = text(&format!("{folder}Cargo.lock"));
        let locked: BTreeSet<String> = lock
            .split("[[package]]")
            .filter_map(|package| Some((package.split('"').nth(1)?, package.split('"').nth(3)?)))
            .map(|(name, version)| format!("- {name} {version}"))
            .collect();
        let notices = text(&format!("{folder}THIRD-PARTY.md"));
        let listed: Vec<&str> = notices
            .split("\n## ")
            .skip(1)
            .flat_map(|part| part.lines().skip(2).take_while(|line| line.starts_with("- ")))
            .collect();
        assert!(listed.len() > 50, "{folder}THIRD-PARTY.md: {} packages", listed.len());
        let strange = listed.iter().filter(|line| !locked.contains(**line));
        found.extend(strange.map(|line| format!("{folder}THIRD-PARTY.md: {line}")));
    }
    nothing(&found, "not in Cargo.lock");
}
