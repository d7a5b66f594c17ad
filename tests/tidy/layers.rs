//! Who knows whom: crates as ARCHITECTURE.md has them, and modules of a crate in one direction.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::{File, files, nothing, root};

/// Pairs of modules that import each other, and why that stays so.
const MUTUAL: [(&str, &str, &str); 0] = [];

/// The crates of ours that a manifest names in `[dependencies]`.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let section = manifest.split("\n[").find(|section| section.starts_with("dependencies]"));
    let lines = section.into_iter().flat_map(str::lines);
    lines.filter_map(|line| Some(line.split(['.', ' ', '=']).next()?.strip_prefix("rtflash-")?.into())).collect()
}

/// The table of ARCHITECTURE.md: each crate, and whom it knows.
fn table() -> BTreeMap<String, BTreeSet<String>> {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("a page");
    let mut known: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in page.lines().filter(|line| line.starts_with("| `rtflash-")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let name = cells[0].trim_matches('`').trim_start_matches("rtflash-").to_string();
        let last = cells.last().expect("a cell").trim_end_matches('|').split("*not*").next().unwrap_or_default();
        let all = last.contains("all of the above");
        let mut whom: BTreeSet<String> =
            last.split([',', ' ']).filter(|word| known.contains_key(*word)).map(String::from).collect();
        if all {
            whom = known.keys().cloned().collect();
        }
        known.insert(name, whom);
    }
    known
}

#[test]
fn crates_know_whom_the_architecture_says() {
    let table = table();
    let mut seen = BTreeSet::new();
    for entry in fs::read_dir(root().join("crates")).expect("crates") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name").trim_start_matches("rtflash-");
        let manifest = fs::read_to_string(path.join("Cargo.toml")).expect("a manifest");
        let known = table.get(name).unwrap_or_else(|| panic!("{name} is not in ARCHITECTURE.md"));
        assert_eq!(&dependencies(&manifest), known, "{name}");
        seen.insert(name.to_string());
    }
    assert_eq!(seen, table.keys().cloned().collect());
}

/// A module by its path in the crate.
type Module = Vec<String>;

/// The module that a file is.
fn module(file: &File) -> Option<Module> {
    let (_, inside) = file.path.split_once("/src/")?;
    let mut parts: Module = inside.trim_end_matches(".rs").split('/').map(String::from).collect();
    if parts.last().is_some_and(|last| last == "mod") {
        parts.pop();
    }
    Some(if parts == ["lib"] { vec![] } else { parts })
}

/// The paths that `use` declarations of a module name, from the crate on.
fn imports(of: &Module, code: &str) -> Vec<Module> {
    let mut found = Vec::new();
    for declaration in code.split("\nuse ").skip(1).filter_map(|rest| rest.split_once(';').map(|(use_, _)| use_)) {
        let (base, names) = declaration.split_once("::{").unwrap_or((declaration, ""));
        let mut base: Vec<&str> = base.split("::").collect();
        let mut at = match base[0] {
            "crate" => vec![],
            "super" | "self" => of.clone(),
            _ => continue,
        };
        while let Some(first) = base.first().filter(|first| ["crate", "super", "self"].contains(first)) {
            if *first == "super" {
                at.pop();
            }
            base.remove(0);
        }
        at.extend(base.iter().map(|part| part.to_string()));
        found.push(at.clone());
        let names = names.split([',', '{', '}']).map(str::trim).filter(|name| !name.is_empty());
        found.extend(names.map(|name| at.iter().cloned().chain(name.split("::").map(String::from)).collect()));
    }
    found
}

#[test]
fn modules_do_not_import_each_other() {
    let mut found = Vec::new();
    let all = files(&["crates"], "rs");
    let sources: Vec<&File> = all.iter().filter(|file| file.path.contains("/src/") && !file.is_beside()).collect();
    let mut crates: BTreeMap<&str, Vec<&File>> = BTreeMap::new();
    for file in &sources {
        let name = file.path.split('/').nth(1).expect("a crate");
        crates.entry(name).or_default().push(file);
    }
    for (name, files) in crates {
        let modules: BTreeSet<Module> = files.iter().filter_map(|file| module(file)).collect();
        let mut arrows: BTreeSet<(Module, Module)> = BTreeSet::new();
        for file in files {
            let from = module(file).expect("a module");
            for mut to in imports(&from, file.code()) {
                while !modules.contains(&to) {
                    to.pop();
                }
                // At the first level at which they differ.
                let alike = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
                if alike < from.len() && alike < to.len() {
                    arrows.insert((from[..=alike].to_vec(), to[..=alike].to_vec()));
                }
            }
        }
        for (a, b) in arrows.iter().filter(|(a, b)| a < b && arrows.contains(&(b.clone(), a.clone()))) {
            let (a, b) = (format!("{name}::{}", a.join("::")), format!("{name}::{}", b.join("::")));
            if !MUTUAL.iter().any(|(one, other, _)| *one == a && *other == b) {
                found.push(format!("{a} and {b}"));
            }
        }
    }
    nothing(&found, "modules import each other");
}
