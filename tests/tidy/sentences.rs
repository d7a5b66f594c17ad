//! Sentences of the pages: how they begin, words that they do without, and their length. Sentences
//! of comments: how they begin.

use super::{File, files, nothing};

/// Words of a sentence.
const LENGTH: usize = 40;
/// Words with which no sentence begins.
const BEGINNINGS: [&str; 6] = ["What", "Who", "Whoever", "Whatever", "Of", "Where"];
/// Words that no sentence contains.
const BANNED: [&str; 6] = ["likewise", "any more", "one's own", "in the place of", "so many", "may"];

/// A sentence and the line on which its paragraph begins.
struct Sentence {
    line: usize,
    text: String,
}

impl Sentence {
    /// The rules that it breaks. A link can begin with the title of a page.
    fn faults(&self) -> Vec<String> {
        let words = self.text.split_whitespace().count();
        let mut faults: Vec<String> = self.beginning().map(|word| format!("begins with {word}")).into_iter().collect();
        faults.extend(BANNED.into_iter().filter(|words| self.contains(words)).map(|words| format!("\"{words}\"")));
        if words > LENGTH {
            faults.push(format!("{words} words"));
        }
        faults
    }

    /// The word with which it must not begin and does.
    fn beginning(&self) -> Option<&'static str> {
        let plain = self.text.trim_start_matches(['"', '*', '(', '_']);
        BEGINNINGS.into_iter().find(|word| plain.strip_prefix(word).is_some_and(|rest| rest.starts_with([' ', '.'])))
    }

    /// Whether these words are in it, as whole words. May is a month.
    fn contains(&self, words: &str) -> bool {
        let lower = if words == "may" { self.text.clone() } else { self.text.to_lowercase() };
        let is_letter = |sign: Option<char>| sign.is_some_and(char::is_alphanumeric);
        lower.match_indices(words).any(|(at, _)| {
            !is_letter(lower[..at].chars().next_back()) && !is_letter(lower[at + words.len()..].chars().next())
        })
    }
}

/// The sentences of a page outside of code, formulas, tables and headings. Code in backquotes is
/// one word, and targets of links are none.
fn sentences(page: &str) -> Vec<Sentence> {
    let mut found = Vec::new();
    let mut paragraph = Sentence { line: 0, text: String::new() };
    let mut fenced = false;
    for (number, line) in page.lines().chain([""]).enumerate() {
        let text = line.trim_start();
        let fence = text.starts_with("```");
        fenced ^= fence;
        let apart =
            fenced || fence || line.starts_with("    ") || text.is_empty() || text.starts_with(['|', '#', '<', '!']);
        let item =
            text.starts_with("- ") || text.split_once(". ").is_some_and(|(count, _)| count.parse::<u32>().is_ok());
        if apart || item {
            found.extend(split(&paragraph));
            paragraph.text.clear();
        }
        if !apart {
            if paragraph.text.is_empty() {
                paragraph.line = number + 1;
            }
            let bare = if item { text.split_once(' ').map_or(text, |(_, rest)| rest) } else { text };
            paragraph.text += bare;
            paragraph.text.push(' ');
        }
    }
    found
}

/// The sentences of a paragraph: an end is a sign behind which a word begins with a capital letter.
fn split(paragraph: &Sentence) -> Vec<Sentence> {
    let code = |(index, part): (usize, &str)| if index % 2 == 0 { part.to_owned() } else { "code".to_owned() };
    let text: String = paragraph.text.split('`').enumerate().map(code).collect();
    let mut parts = text.split("](");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    parts.for_each(|part| plain += part.split_once(')').map_or(part, |(_, rest)| rest));
    let words: Vec<&str> = plain.split_whitespace().collect();
    let ends = |at: usize| {
        let next = words
            .get(at + 1)
            .map_or(Some('A'), |next| next.trim_start_matches(['"', '*', '(', '[', '_']).chars().next());
        words[at].trim_end_matches(['"', '*', ')', ']', '_']).ends_with(['.', '!', '?', ':'])
            && next.is_some_and(|first| first.is_uppercase() || first.is_ascii_digit() || first == 'c')
    };
    let mut found = Vec::new();
    let mut from = 0;
    for at in 0..words.len() {
        if ends(at) || at + 1 == words.len() {
            found.push(Sentence { line: paragraph.line, text: words[from..=at].join(" ") });
            from = at + 1;
        }
    }
    found
}

/// The faults of a page's sentences.
fn faults(page: &str) -> Vec<String> {
    let of = |sentence: Sentence| {
        let faults = sentence.faults();
        (!faults.is_empty()).then(|| format!("{}: {}: {}", sentence.line, faults.join(", "), sentence.text))
    };
    sentences(page).into_iter().filter_map(of).collect()
}

fn pages() -> Vec<File> {
    let own = |file: &File| match file.path.split_once('/') {
        Some((folder, _)) => ["docs", "crates"].contains(&folder),
        None => file.path != "THIRD-PARTY.md",
    };
    files(&["."], "md").into_iter().filter(own).collect()
}

/// The comments of a Rust file as a page: the code between them is an empty line.
fn comments(source: &str) -> String {
    let comment = |line: &str| {
        let text = line.trim_start().strip_prefix("//").unwrap_or_default().trim_start_matches(['/', '!']);
        text.strip_prefix(' ').unwrap_or(text).to_owned() + "\n"
    };
    source.lines().map(comment).collect()
}

#[test]
fn comments_begin_with_their_subject() {
    let folders = ["crates", "src", "tests", "benches", "examples", "fuzz", "python"];
    let mut found = Vec::new();
    for file in files(&folders, "rs") {
        for sentence in sentences(&comments(&file.text)) {
            let fault = sentence.beginning().map(|_| format!("{}:{}: {}", file.path, sentence.line, sentence.text));
            found.extend(fault);
        }
    }
    nothing(&found, "a comment begins without its subject");
    let bad = "/// What it is.\nfn f() {\n    // It ends. Of these, one is left.\n}\n//! Where it was.";
    assert_eq!(sentences(&comments(bad)).iter().filter(|sentence| sentence.beginning().is_some()).count(), 3);
    assert_eq!(comments("let what = 1; // What"), "\n");
}

#[test]
fn sentences_keep_the_rules() {
    let mut found = Vec::new();
    for file in pages() {
        found.extend(faults(&file.text).iter().map(|fault| format!("{}:{fault}", file.path)));
    }
    nothing(&found, "sentences");
}

/// The test above sees its faults, and no others.
#[test]
fn faults_of_sentences_are_seen() {
    let long = "word ".repeat(41) + ".";
    let bad = [
        "What it is, counts.",
        "It ends. Of these, one is left.",
        "- **Where** is it? Where it was.",
        "One waits\nin the place of another.",
        "It may be [late](so-many.md).",
        "(Likewise it is late.)",
        long.as_str(),
    ];
    for page in bad {
        assert_eq!(faults(page).len(), 1, "{page}: {:?}", faults(page));
    }
    let good = [
        "# What it is",
        "| Of these | may |",
        "    dbf(L) may be",
        "```\nWhat may be\n```",
        "In May it ends: `may` is code. [This](what-may-be.md) is a link. A mayor comes. Whatsoever is a word.",
    ];
    for page in good {
        assert_eq!(faults(page), Vec::<String>::new());
    }
}
