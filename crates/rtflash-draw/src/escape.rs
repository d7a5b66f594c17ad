//! Text from elsewhere, fit for a page or a figure.

use std::fmt::Write;

/// A text as content of an element or value of an attribute. Characters that control a terminal,
/// turn the direction of text, or that XML forbids, are replaced.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' => escaped.push('\n'),
            c if c.is_control() || is_hidden(c) => escaped.push(char::REPLACEMENT_CHARACTER),
            c => escaped.push(c),
        }
    }
    escaped
}

pub(crate) fn is_hidden(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}')
}

/// JSON as content of a `script` element: the same value, in which nothing ends the element or
/// begins a comment. These characters stand in strings alone.
pub(crate) fn data(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for c in json.trim_end().chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\u{fffe}' | '\u{ffff}' => {
                let _ = write!(escaped, "\\u{:04x}", u32::from(c));
            }
            c if is_hidden(c) || ('\u{7f}'..='\u{9f}').contains(&c) => {
                let _ = write!(escaped, "\\u{:04x}", u32::from(c));
            }
            c => escaped.push(c),
        }
    }
    escaped
}
