//! Prose: lines of at most 100 columns, and the field's words. Lines of code are rustfmt's affair.

use super::{File, files, nothing};

/// Columns of prose.
const PROSE: usize = 100;
/// Words of a private dialect, each with the field's word for it. Whole words, in code, comments
/// and pages.
const WORDS: [(&str, &str); 11] = [
    ("homeless", "unplaceable"),
    ("hopefully", "optimistically"),
    ("lawful", "valid"),
    ("unlawful", "protocol violation"),
    ("dice", "rng"),
    ("calmest", "least loaded"),
    ("roomy", "with slack"),
    ("among strangers", "worst case"),
    ("on any bus", "under any arbiter"),
    ("strangers", "foreign chips"),
    ("told apart", "distinguished"),
];

/// Whether a line of Markdown may be longer: tables, headings, links' targets, and words that have
/// no place to break.
fn may_be_longer(line: &str) -> bool {
    let line = line.trim_start();
    let command = line.contains("`rtflash ") || line.contains("`cargo ");
    command || line.starts_with(['|', '#', '<']) || line.starts_with("[") && line.contains("]:") || !has_break(line)
}

/// Whether there is a blank to break it at within 100 columns, behind what begins it.
fn has_break(line: &str) -> bool {
    line.trim_start_matches(['/', '!', '-', '*', ' ']).chars().take(PROSE - 10).any(char::is_whitespace)
}

fn too_long(file: &File, number: usize, line: &str) -> String {
    format!("{}:{}: {} columns", file.path, number + 1, line.chars().count())
}

#[test]
fn comments_are_narrow() {
    let mut found = Vec::new();
    for file in files(&["crates", "src", "tests", "benches", "examples", "fuzz"], "rs") {
        let mut fenced = false;
        for (number, line) in file.text.lines().enumerate() {
            let Some(comment) = line.trim_start().strip_prefix("//") else {
                fenced = false;
                continue;
            };
            let comment = comment.trim_start_matches(['/', '!']);
            fenced ^= comment.trim_start().starts_with("```");
            let as_it_is = fenced || comment.starts_with("     ") || may_be_longer(comment);
            if line.chars().count() > PROSE && !as_it_is {
                found.push(too_long(&file, number, line));
            }
        }
    }
    nothing(&found, "lines are too long");
}

#[test]
fn pages_are_narrow() {
    let mut found = Vec::new();
    for file in files(&["."], "md") {
        let mut fenced = false;
        for (number, line) in file.text.lines().enumerate() {
            fenced ^= line.trim_start().starts_with("```");
            let formula = line.starts_with("    ");
            if !fenced && !formula && line.chars().count() > PROSE && !may_be_longer(line) {
                found.push(too_long(&file, number, line));
            }
        }
    }
    nothing(&found, "lines are too long");
}

#[test]
fn the_words_are_the_fields() {
    let mut found = Vec::new();
    let pages = files(&["docs"], "md");
    for file in files(&["crates", "src"], "rs").iter().chain(&pages) {
        for (number, line) in file.text.lines().enumerate() {
            let lower = line.to_lowercase();
            for (word, instead) in WORDS {
                let whole = |at: usize| {
                    let beside = [lower[..at].chars().next_back(), lower[at + word.len()..].chars().next()];
                    beside.into_iter().flatten().all(|letter| !letter.is_alphabetic())
                };
                if lower.match_indices(word).any(|(at, _)| whole(at)) {
                    found.push(format!("{}:{}: \"{word}\", for \"{instead}\"", file.path, number + 1));
                }
            }
        }
    }
    nothing(&found, "words");
}
