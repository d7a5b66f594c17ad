//! The letters of docs/analysis.md: its table of notation has each symbol of the numbered formulas,
//! once, and none that the page does not use.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::root;

/// Letters that any paragraph may take for a number, an instant or a job, as the page says below
/// its table.
const LOCAL: &str = "ijklnpetxyzgGMYZΦ";

/// A symbol: letters, primes, an index. An index of one letter or of digits is `_j`, whatever it
/// is, but for those that are names.
fn normal(symbol: &str) -> String {
    const NAMES: [&str; 14] = ["c", "b", "d", "e", "g", "r", "s", "w", "x", "0", "D", "Q", "n", "m"];
    let Some((letters, index)) = symbol.split_once('_') else { return symbol.into() };
    let index = index.trim_matches(['{', '}']);
    let counts = index.chars().all(|letter| letter.is_ascii_digit());
    let is_name = NAMES.contains(&index) && !(index == "0" && letters == "z");
    let counted = !is_name && (counts || index.chars().count() == 1 || index.starts_with("j−"));
    if counted { format!("{letters}_j") } else { format!("{letters}_{index}") }
}

/// The symbols of a text, in order.
fn symbols(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let (mut found, mut at) = (Vec::new(), 0);
    let take = |at: &mut usize, of: &dyn Fn(char) -> bool| -> String {
        let from = *at;
        while *at < letters.len() && of(letters[*at]) {
            *at += 1;
        }
        letters[from..*at].iter().collect()
    };
    while at < letters.len() {
        if !letters[at].is_alphabetic() {
            at += 1;
            continue;
        }
        let mut symbol = take(&mut at, &char::is_alphabetic);
        symbol += &take(&mut at, &|letter| letter == '\'');
        if letters.get(at) == Some(&'_')
            && letters.get(at + 1).is_some_and(|next| next.is_alphanumeric() || *next == '{')
        {
            at += 1;
            let braced = letters[at] == '{';
            at += usize::from(braced);
            let index = take(&mut at, &|letter| if braced { letter != '}' } else { letter.is_alphanumeric() });
            symbol += &format!("_{index}");
        }
        symbol += &take(&mut at, &|letter| letter == '\'');
        // "j's" is of j.
        if symbol.ends_with('\'') && letters.get(at) == Some(&'s') {
            at += 1;
            symbol.pop();
        }
        // A digit behind it makes it the name of a rule or a test.
        if letters.get(at).is_some_and(char::is_ascii_digit) {
            take(&mut at, &|letter| letter.is_ascii_digit());
            continue;
        }
        found.push(symbol);
    }
    found
}

/// Whether this is a word, not a symbol.
fn is_word(symbol: &str) -> bool {
    let plain = symbol.trim_end_matches('\'');
    let rest = plain.strip_prefix(|first: char| first.is_ascii_uppercase()).unwrap_or(plain);
    // (T') and (T'') are tests.
    matches!(symbol, "GC" | "T'" | "T''")
        || plain.len() > 1 && !rest.is_empty() && rest.chars().all(|letter| letter.is_ascii_lowercase())
}

fn page() -> String {
    fs::read_to_string(root().join("docs/analysis.md")).expect("the page")
}

/// The page without its table, and the symbols of the table, row by row.
fn parted(page: &str) -> (String, Vec<Vec<String>>) {
    let (before, rest) = page.split_once("<!-- notation -->\n").expect("the table's beginning");
    let (table, after) = rest.split_once("<!-- /notation -->").expect("the table's end");
    let rows = table.lines().skip(2).map(|row| {
        let cell = row.trim_start_matches('|').split('|').next().expect("a cell");
        cell.split(',').map(|symbol| symbol.trim().to_owned()).collect()
    });
    (format!("{before}{after}"), rows.collect())
}

/// The displayed blocks that have a numbered formula, without the numbers.
fn formulas(page: &str) -> Vec<String> {
    let number =
        |line: &str| line.trim_end().strip_suffix(')').and_then(|line| line.rsplit_once("  (")?.1.parse::<u32>().ok());
    let mut blocks = Vec::new();
    let mut block: Vec<&str> = Vec::new();
    for line in page.lines().chain([""]) {
        if line.starts_with("    ") {
            block.push(line);
        } else if block.iter().any(|line| number(line).is_some()) {
            let bare = |line: &&str| match number(line) {
                Some(_) => line.trim_end().rsplit_once("  (").map_or("", |(line, _)| line).to_owned(),
                None => (*line).to_owned(),
            };
            blocks.push(std::mem::take(&mut block).iter().map(bare).collect::<Vec<_>>().join("\n"));
        } else {
            block.clear();
        }
    }
    blocks
}

/// The faults of a page's notation.
fn faults(page: &str) -> Vec<String> {
    let (text, rows) = parted(page);
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for symbol in rows.iter().flatten() {
        *known.entry(normal(symbol)).or_default() += 1;
    }
    let mut faults: Vec<String> =
        known.iter().filter(|&(_, &times)| times > 1).map(|(symbol, _)| format!("{symbol} twice")).collect();
    // A product of letters is known if each of them is.
    let letters =
        |symbol: &str| symbol.chars().all(|letter| known.contains_key(&letter.to_string()) || LOCAL.contains(letter));
    let is_known = |symbol: &str| {
        known.contains_key(&normal(symbol)) || is_word(symbol) || letters(symbol) || symbol.starts_with('Σ')
    };
    for block in formulas(&text) {
        let unknown = symbols(&block).into_iter().filter(|symbol| !is_known(symbol));
        faults.extend(unknown.map(|symbol| format!("{symbol} is not in the table")));
    }
    let used: BTreeSet<String> = symbols(&text).iter().map(|symbol| normal(symbol)).collect();
    let one = |symbol: &str| symbol.chars().count() == 1 && text.contains(symbol);
    faults.extend(
        known
            .keys()
            .filter(|&symbol| !used.contains(symbol) && !one(symbol))
            .map(|symbol| format!("{symbol} is unused")),
    );
    faults.sort();
    faults.dedup();
    faults
}

#[test]
fn each_symbol_of_the_formulas_is_in_the_table_once() {
    assert_eq!(faults(&page()), Vec::<String>::new());
}

/// The test above sees what it is for.
#[test]
fn faults_of_notation_are_seen() {
    let page = page();
    let altered = [
        ("| t_c, t_b |", "| t_c, t_b, v |", "v twice"),
        ("| m_0, θ |", "| m_0 |", "θ is not in the table"),
        ("| m_0, θ |", "| m_0, θ, ι |", "ι is unused"),
        ("    β = m_c t_d ", "    β = ι m_c t_d ", "ι is not in the table"),
    ];
    for (from, to, fault) in altered {
        assert!(page.contains(from), "{from}");
        let found = faults(&page.replace(from, to));
        assert!(found.iter().any(|found| found == fault), "{fault}: {found:?}");
    }
}
