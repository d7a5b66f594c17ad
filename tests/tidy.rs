//! The rules of the house that a test can keep: layers, prose, words, dead files, citations of the
//! theory.

#[path = "tidy/cited.rs"]
mod cited;
#[path = "tidy/files.rs"]
mod files;
#[path = "tidy/formulas.rs"]
mod formulas;
#[path = "tidy/layers.rs"]
mod layers;
#[path = "tidy/notation.rs"]
mod notation;
#[path = "tidy/prose.rs"]
mod prose;
#[path = "tidy/sentences.rs"]
mod sentences;

use std::fs;
use std::path::{Path, PathBuf};

/// The repository.
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A file of the repository.
struct File {
    /// From the repository on, with slashes.
    path: String,
    text: String,
}

impl File {
    /// Whether it is a test, or a bench, an example or a fuzz target: no part of a library.
    fn is_beside(&self) -> bool {
        let beside = ["/tests/", "/benches/", "/examples/", "/fuzz/"];
        let path = format!("/{}", self.path);
        beside.iter().any(|part| path.contains(part)) || path.ends_with("/tests.rs")
    }

    /// The text in front of the unit tests.
    fn code(&self) -> &str {
        self.text.split("#[cfg(test)]\nmod tests {").next().expect("a first part")
    }
}

/// All files below these places with this extension, in order.
fn files(places: &[&str], extension: &str) -> Vec<File> {
    fn walk(path: &Path, extension: &str, found: &mut Vec<PathBuf>) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() && name != "target" && name != "node_modules" && (!name.starts_with('.') || path == root()) {
            let entries = fs::read_dir(path).expect("a directory");
            entries.for_each(|entry| walk(&entry.expect("an entry").path(), extension, found));
        } else if path.extension().is_some_and(|of| of == extension) {
            found.push(path.to_path_buf());
        }
    }
    let mut paths = Vec::new();
    places.iter().for_each(|place| walk(&root().join(place), extension, &mut paths));
    paths.sort();
    assert!(!paths.is_empty(), "no .{extension} in {places:?}");
    let read = |path: PathBuf| File {
        text: fs::read_to_string(&path).expect("text"),
        path: path.strip_prefix(root()).expect("inside").to_str().expect("a name").replace('\\', "/"),
    };
    paths.into_iter().map(read).collect()
}

/// Fails with all that was found.
fn nothing(found: &[String], what: &str) {
    assert!(found.is_empty(), "{what}:\n{}", found.join("\n"));
}
