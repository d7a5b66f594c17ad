//! Sources of what docs/host.md says of Linux.

use std::collections::BTreeSet;

use super::{files, nothing};

/// The sources that a page cites: `file: name` in backquotes.
fn sources(page: &str) -> BTreeSet<String> {
    let words = |code: &str| code.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_source = |code: &String| {
        let parts = code.split_once(": ");
        parts.is_some_and(|(path, name)| (path.ends_with(".c") || path.ends_with(".h")) && !name.contains(' '))
    };
    page.split('`').skip(1).step_by(2).map(words).filter(is_source).collect()
}

/// tests/linux/build.sh looks up each line of this list in the kernel's files.
#[test]
fn sources_of_the_kernel_are_listed() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let list = std::fs::read_to_string(root.join("tests/linux/cited.txt")).expect("a list");
    let listed: BTreeSet<String> = list.lines().map(str::to_owned).collect();
    let pages = files(&["docs"], "md");
    let page = pages.iter().find(|file| file.path == "docs/host.md").expect("the page");
    let cited = sources(&page.text);
    let found: Vec<String> = cited.symmetric_difference(&listed).cloned().collect();
    nothing(&found, "cited or listed alone");
}

#[test]
fn sources_are_seen() {
    let page = "A `block/a.c:\n b_c` and `d.h: E`, not `f.c`, `g: h` or `i.c: two words`.";
    assert_eq!(sources(page).into_iter().collect::<Vec<_>>(), ["block/a.c: b_c", "d.h: E"]);
}
