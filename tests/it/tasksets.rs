//! Every task set that is shipped is what docs/applying.md says it is.

use crate::common::{root, rtflash};

/// File and exit status of each algorithm: clustering-bfd, best-fit, clustering-search, global,
/// full-isolation, equal-split, part-ftl, exact.
const SHIPPED: [(&str, [i32; 8]); 6] = [
    ("case-study.json", [0, 0, 0, 1, 1, 1, 1, 0]),
    ("motivation.json", [0, 0, 0, 1, 1, 1, 3, 0]),
    ("drone.json", [0, 0, 0, 1, 1, 0, 1, 0]),
    ("overload.json", [1, 1, 1, 1, 1, 1, 1, 1]),
    // Sizes, rates and a real part: no clusters by Theorem 1, and the sound analyses promise some.
    ("dashcam.json", [1; 8]),
    ("large.json", [0, 1, 0, 1, 1, 1, 1, 3]),
];

#[test]
fn each_one_is_run_by_each_algorithm() {
    let algorithms = [
        "clustering-bfd",
        "best-fit",
        "clustering-search",
        "global",
        "full-isolation",
        "equal-split",
        "part-ftl",
        "exact",
    ];
    for (name, expected) in SHIPPED {
        let path = format!("tasksets/{name}");
        let statuses = algorithms.map(|algorithm| rtflash(&["alloc", &path, "--algorithm", algorithm]).status);
        assert_eq!(statuses, expected, "{name}");
    }
}

#[test]
fn none_is_left_out() {
    let mut files: Vec<String> = std::fs::read_dir(root().join("tasksets"))
        .expect("the folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
        .collect();
    let mut listed: Vec<&str> = SHIPPED.iter().map(|(name, _)| *name).collect();
    files.sort();
    listed.sort_unstable();
    assert_eq!(files, listed);
}
