//! Sources of what docs/host.md says of Linux, which docs/host/linux.csv lists.

use std::collections::BTreeSet;

use super::{files, nothing};

/// The sources that a table cites: `file: name`, from the last two cells of its rows.
fn sources(table: &str) -> BTreeSet<String> {
    let source = |row: &str| {
        let (rest, name) = row.rsplit_once(',')?;
        Some(format!("{}: {name}", rest.rsplit_once(',')?.1))
    };
    table.lines().skip(1).filter_map(source).collect()
}

/// tests/linux/build.sh looks up each line of this list in the kernel's files.
#[test]
fn sources_of_the_kernel_are_listed() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let list = std::fs::read_to_string(root.join("tests/linux/cited.txt")).expect("a list");
    let listed: BTreeSet<String> = list.lines().map(str::to_owned).collect();
    let tables = files(&["docs"], "csv");
    let table = tables.iter().find(|file| file.path == "docs/host/linux.csv").expect("the table");
    let cited = sources(&table.text);
    let found: Vec<String> = cited.symmetric_difference(&listed).cloned().collect();
    nothing(&found, "cited or listed alone");
}

#[test]
fn sources_are_seen() {
    let table = "section,rule,file,name\nRuns,\"A, then B.\",block/a.c,b_c\nTags,C.,d.h,E\n";
    assert_eq!(sources(table).into_iter().collect::<Vec<_>>(), ["block/a.c: b_c", "d.h: E"]);
}
