//! The layers: crates as ARCHITECTURE.md has them, and modules of a crate in one direction.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::{File, files, nothing, root};

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

#[test]
fn the_files_that_the_architecture_names_are_there() {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("a page");
    let named = page.split('`').filter(|word| word.starts_with("rtflash-") && word.contains('/'));
    let all = named.flat_map(|word| match word.split_once('{').zip(word.split_once('}')) {
        Some(((before, _), (inside, behind))) => {
            let inside = inside.split_once('{').map_or("", |(_, inside)| inside);
            inside.split(',').map(|one| format!("{before}{one}{behind}")).collect()
        }
        None => vec![word.to_string()],
    });
    let lost: Vec<String> = all.filter(|path| !root().join("crates").join(path).exists()).collect();
    nothing(&lost, "ARCHITECTURE.md names files that are not there");
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

/// The modules of a file that are for tests.
fn test_modules(file: &File) -> Vec<Module> {
    let of = module(file).expect("a module");
    let inner = file.text.split("#[cfg(test)]\n").skip(1).filter_map(|rest| {
        let (declared, _) = rest.split_once(';')?;
        let name = declared.trim_start_matches("pub(crate) ").strip_prefix("mod ")?;
        Some(of.iter().cloned().chain([name.to_string()]).collect())
    });
    inner.collect()
}

/// The paths that a `use` tree names, each with its name.
fn leaves(tree: &str) -> Vec<(Vec<String>, String)> {
    let tree = tree.trim();
    let Some((base, names)) = tree.split_once('{') else {
        let (path, name) = tree.split_once(" as ").unwrap_or((tree, ""));
        let path: Vec<String> = path.split("::").map(String::from).collect();
        let name = if name.is_empty() { path.last().cloned().unwrap_or_default() } else { name.into() };
        return vec![(path, name)];
    };
    let mut found = Vec::new();
    let (mut depth, mut from) = (0, 0);
    // Text in which there is a word like this is no tree.
    let Some(names) = names.trim_end().strip_suffix('}') else { return found };
    for (at, sign) in names.char_indices().chain([(names.len(), ',')]) {
        match sign {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                let inner = names[from..at].trim();
                from = (at + 1).min(names.len());
                if inner == "self" {
                    found.extend(leaves(base.trim_end_matches("::")));
                } else if !inner.is_empty() {
                    found.extend(leaves(&format!("{base}{inner}")));
                }
            }
            _ => {}
        }
    }
    found
}

/// A path from the crate on, as a module writes it; `None` where it leads out of the crate.
fn from_crate(of: &Module, path: &[String], modules: &BTreeSet<Module>) -> Option<Module> {
    let mut at = match path.first()?.as_str() {
        "crate" => vec![],
        "super" | "self" => of.clone(),
        first => {
            let inner: Module = of.iter().cloned().chain([first.to_string()]).collect();
            return modules.contains(&inner).then(|| of.iter().chain(path).cloned().collect());
        }
    };
    for (place, part) in path.iter().enumerate() {
        match part.as_str() {
            "super" => drop(at.pop()),
            "crate" | "self" if place == 0 => {}
            _ => at.push(part.clone()),
        }
    }
    Some(at)
}

/// The names that a module takes from its crate.
#[derive(Default)]
struct Named {
    /// Paths from the crate on.
    paths: Vec<Module>,
    /// Paths that `use` declarations name, by the name that each has here.
    by_name: BTreeMap<String, Module>,
}

/// The names in `use` declarations, and paths in the code that begin with `crate` or `super`.
fn named(of: &Module, code: &str, modules: &BTreeSet<Module>) -> Named {
    let code: String = code.lines().map(|line| line.split("//").next().unwrap_or_default().to_owned() + "\n").collect();
    let mut named = Named::default();
    for (at, _) in code.match_indices("use ") {
        let before = code[..at].rsplit('\n').next().unwrap_or_default().trim();
        if !(before.is_empty() || before.starts_with("pub")) {
            continue;
        }
        let Some((tree, _)) = code[at + 4..].split_once(';') else { continue };
        for (path, name) in leaves(&tree.split_whitespace().collect::<Vec<_>>().join(" ")) {
            let path: Vec<String> = path.iter().map(|part| part.trim().to_owned()).collect();
            if let Some(path) = from_crate(of, &path, modules) {
                named.by_name.insert(name.trim().to_owned(), path.clone());
                named.paths.push(path);
            }
        }
    }
    for start in ["crate::", "super::"] {
        for (at, _) in code.match_indices(start) {
            let is_part = |sign: char| sign.is_alphanumeric() || sign == '_' || sign == ':';
            if code[..at].chars().next_back().is_some_and(is_part) {
                continue;
            }
            let path: String = code[at..].chars().take_while(|&sign| is_part(sign)).collect();
            let path: Vec<String> = path.trim_end_matches(':').split("::").map(String::from).collect();
            named.paths.extend(from_crate(of, &path, modules));
        }
    }
    named
}

/// The module in which it is, what a path names, wherever it is handed on.
fn home(path: &Module, modules: &BTreeSet<Module>, handed_on: &BTreeMap<Module, Named>) -> Module {
    let mut path = path.clone();
    for _ in 0..8 {
        let inner =
            (0..=path.len()).rev().find(|&count| modules.contains(&path[..count])).expect("the crate is a module");
        let next = path.get(inner).and_then(|name| handed_on[&path[..inner]].by_name.get(name));
        let Some(next) = next.filter(|next| **next != path) else {
            path.truncate(inner);
            return path;
        };
        path = next.iter().chain(&path[inner + 1..]).cloned().collect();
    }
    path
}

/// The modules behind a module, along arrows.
fn behind(of: &Module, arrows: &BTreeSet<(Module, Module)>) -> BTreeSet<Module> {
    let (mut seen, mut next) = (BTreeSet::new(), vec![of]);
    while let Some(at) = next.pop() {
        let more = arrows.iter().filter(|(from, _)| from == at).map(|(_, to)| to);
        next.extend(more.filter(|to| seen.insert((*to).clone())));
    }
    seen
}

/// The modules from which arrows lead back to themselves, those of a circle together.
fn circles(arrows: &BTreeSet<(Module, Module)>) -> BTreeSet<Vec<Module>> {
    let all: BTreeMap<&Module, BTreeSet<Module>> =
        arrows.iter().map(|(from, _)| (from, behind(from, arrows))).collect();
    let is_in_one =
        |one: &Module, other: &Module| all[one].contains(other) && all.get(other).is_some_and(|of| of.contains(one));
    let with =
        |of: &&Module| -> Vec<Module> { all[*of].iter().filter(|other| is_in_one(of, other)).cloned().collect() };
    all.keys().map(with).filter(|circle| !circle.is_empty()).collect()
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
        let tests: Vec<Module> = files.iter().flat_map(|file| test_modules(file)).collect();
        let is_product = |file: &&&File| module(file).is_some_and(|of| !tests.iter().any(|test| of.starts_with(test)));
        let files: Vec<&File> = files.iter().filter(is_product).copied().collect();
        let modules: BTreeSet<Module> = files.iter().filter_map(|file| module(file)).collect();
        let of = |file: &&File| module(file).map(|of| (of.clone(), named(&of, file.code(), &modules)));
        let named: BTreeMap<Module, Named> = files.iter().filter_map(of).collect();
        let mut arrows: BTreeSet<(Module, Module)> = BTreeSet::new();
        for (from, names) in &named {
            for path in &names.paths {
                let to = home(path, &modules, &named);
                // At the first level at which they differ.
                let alike = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
                if alike < from.len() && alike < to.len() {
                    arrows.insert((from[..=alike].to_vec(), to[..=alike].to_vec()));
                }
            }
        }
        let name = |of: &Module| format!("{name}::{}", of.join("::"));
        found.extend(circles(&arrows).iter().map(|of| of.iter().map(name).collect::<Vec<_>>().join(", ")));
    }
    nothing(&found, "modules import each other");
}
