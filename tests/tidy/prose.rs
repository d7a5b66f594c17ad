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

/// Whether a line that continues a paragraph begins as a list or a quote does, so that Markdown
/// begins one; `last` is the number of the item before in this block.
fn begins_a_list(line: &str, last: Option<u32>) -> bool {
    let number = line.trim_start().split_once(". ").and_then(|(number, _)| number.parse::<u32>().ok());
    let is_next = number.is_some() && number == last.map(|last| last + 1);
    ["+ ", "> "].iter().any(|begin| line.trim_start().starts_with(begin)) || number.is_some() && !is_next
}

/// The numbers of the lines of a page at which a formula or a number begins a list by chance.
fn broken_paragraphs(page: &str) -> Vec<usize> {
    let (mut found, mut fenced, mut inside, mut last) = (Vec::new(), false, false, None);
    for (number, line) in page.lines().enumerate() {
        fenced ^= line.trim_start().starts_with("```");
        let is_text = !fenced && !line.trim().is_empty() && !line.starts_with("    ") && !line.starts_with('|');
        if is_text && inside && begins_a_list(line, last) {
            found.push(number + 1);
        }
        let item = line.trim_start().split_once(". ").and_then(|(number, _)| number.parse().ok());
        last = if is_text { item.or(last) } else { None };
        inside = is_text;
    }
    found
}

#[test]
fn paragraphs_begin_no_lists() {
    let places = |file: &File| {
        let at = |line| format!("{}:{line}", file.path);
        broken_paragraphs(&file.text).into_iter().map(at).collect::<Vec<String>>()
    };
    let pages = files(&["."], "md");
    nothing(&pages.iter().flat_map(places).collect::<Vec<String>>(), "a line begins a list or a quote");
    for bad in ["x is a\n+ b", "if x\n> y", "by Lemma\n11. So it is", "- one\n  + two"] {
        assert_eq!(broken_paragraphs(bad), [2], "{bad}");
    }
    for good in ["1. one\n   more\n2. two", "by\n    + 2", "text\n\n3. three", "```\nx\n> y\n```"] {
        assert_eq!(broken_paragraphs(good), Vec::<usize>::new(), "{good}");
    }
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
