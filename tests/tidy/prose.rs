//! Prose: lines of at most 100 columns, code of at most 120, and the field's words.

use super::{File, files, nothing};

/// Columns of prose.
const PROSE: usize = 100;
/// Columns of code, as in rustfmt.toml.
const CODE: usize = 120;

/// Words of a private dialect, each with the field's word for it. Whole words, in code, comments and pages.
const WORDS: [(&str, &str); 9] = [
    ("homeless", "unplaceable"),
    ("hopefully", "optimistically"),
    ("lawful", "valid"),
    ("unlawful", "protocol violation"),
    ("dice", "rng"),
    ("calmest", "least loaded"),
    ("roomy", "with slack"),
    ("among strangers", "worst case"),
    ("on any bus", "under any arbiter"),
];

/// Whether a line of Markdown may be longer: tables, headings, links' targets, and words that have no place to break.
fn may_be_longer(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with(['|', '#', '<']) || line.starts_with("[") && line.contains("]:") || !has_break(line)
}

/// Whether there is a blank to break it at within 100 columns, behind what begins it.
fn has_break(line: &str) -> bool {
    line.trim_start_matches(['/', '!', '-', '*', ' ']).chars().take(PROSE - 10).any(char::is_whitespace)
}

fn too_long(file: &File, number: usize, line: &str) -> String {
    format!("{}:{}: {} columns", file.path, number + 1, line.chars().count())
}

#[test]
fn comments_and_code_are_narrow() {
    let mut found = Vec::new();
    for file in files(&["crates", "src", "tests", "benches", "examples", "fuzz"], "rs") {
        for (number, line) in file.text.lines().enumerate() {
            let comment = line.trim_start().starts_with("//");
            let most = if comment && has_break(line) { PROSE } else { CODE };
            // Strings do not break.
            if line.chars().count() > most && (comment || !line.contains('"')) {
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
