//! The fault of an input, shown as rustc shows it: the line, a caret, the field's path and what
//! would be right.

use std::ops::Range;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use anstyle::{AnsiColor, Style};
use rtflash_model::{Diagnostic, Diagnostics, line_column};

/// Faults that are shown; the last line states the number of the others.
const MAX_SHOWN: usize = 20;

/// Characters of a line that are shown, and those of them that may come before the fault.
const WINDOW: usize = 120;
const BEFORE: usize = 70;

const MAX_MESSAGE: usize = 400;

/// The text to print about all that is wrong with `text`, with a newline at its end.
///
/// `text` begins at line `first_line` and column `first_column`, both from 1, of what is called
/// `source_name`. It need not be quite the text that was read, as where bytes that are not UTF-8
/// have been replaced: the places shown are then the nearest ones.
pub fn render(
    source_name: &str,
    text: &str,
    first_line: usize,
    first_column: usize,
    diagnostics: &Diagnostics,
    colour: bool,
) -> String {
    let source_name = visible(source_name, MAX_MESSAGE);
    let mut rendered = String::new();
    for diagnostic in diagnostics.first().iter().take(MAX_SHOWN) {
        let (line, column) = place(text, first_line, first_column, diagnostic);
        let shown = one(text, line, diagnostic, colour);
        // annotate-snippets would give the column in the excerpt, not in the line: so this line is
        // written here.
        let (title, rest) = shown.split_once('\n').unwrap_or((&shown, ""));
        let style = if colour { AnsiColor::BrightBlue.on_default().bold() } else { Style::new() };
        let indent = line.to_string().len();
        rendered += &format!("{title}\n{:indent$}{style}-->{style:#} {source_name}:{line}:{column}\n{rest}\n\n", "");
    }
    match diagnostics.count().saturating_sub(MAX_SHOWN) {
        0 => drop(rendered.pop()),
        more => rendered += &format!("… and {more} more\n"),
    }
    rendered
}

/// The line and column of a fault in the whole input, of which `text` begins at `first_line` and
/// `first_column`; all from 1.
pub fn place(text: &str, first_line: usize, first_column: usize, fault: &Diagnostic) -> (usize, usize) {
    let (line, column) = line_column(text, fault.range.start);
    let column = if line == 1 { column.saturating_add(first_column.saturating_sub(1)) } else { column };
    (first_line.saturating_add(line - 1), column)
}

fn one(text: &str, line: usize, diagnostic: &Diagnostic, colour: bool) -> String {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() }.decor_style(DecorStyle::Ascii);
    let (excerpt, marked) = excerpt(text, &diagnostic.range);
    let snippet = Snippet::source(excerpt).line_start(line).annotation(AnnotationKind::Primary.span(marked));
    let mut group = Level::ERROR.primary_title(visible(&diagnostic.problem, MAX_MESSAGE)).element(snippet);
    if !diagnostic.path.steps().is_empty() {
        let path = visible(&diagnostic.path.to_string(), MAX_MESSAGE);
        group = group.element(Level::NOTE.message(format!("at {path}")));
    }
    let help = format!("expected {}", visible(&diagnostic.expected, MAX_MESSAGE));
    renderer.render(&[group.element(Level::HELP.message(help))])
}

/// The part of the range's first line around its beginning, and the bytes of this part that the
/// range marks.
fn excerpt(text: &str, range: &Range<usize>) -> (String, Range<usize>) {
    let start = text.floor_char_boundary(range.start);
    let end = text.floor_char_boundary(range.end).max(start);
    let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let before = &text[line_start..start];
    let from = before.char_indices().rev().nth(BEFORE - 1).map_or(0, |(at, _)| at);
    let mut shown = String::new();
    if from > 0 {
        shown.push('…');
    }
    before[from..].chars().for_each(|c| push_visible(&mut shown, c));
    let left = WINDOW - before[from..].chars().count();
    let mark_start = shown.len();
    let mut mark_end = mark_start;
    let after = text[start..].split('\n').next().expect("a split has a first part");
    let after = after.strip_suffix('\r').unwrap_or(after);
    for (count, (at, c)) in after.char_indices().enumerate() {
        if count == left {
            shown.push('…');
            break;
        }
        push_visible(&mut shown, c);
        if start + at < end {
            mark_end = shown.len();
        }
    }
    (shown, mark_start..mark_end)
}

/// The beginning of a text of unknown origin, fit for a terminal.
pub fn visible(text: &str, max: usize) -> String {
    let mut shown = String::new();
    for (count, c) in text.chars().enumerate() {
        if count == max {
            shown.push('…');
            break;
        }
        push_visible(&mut shown, c);
    }
    shown
}

/// Puts a picture in the place of what would move the cursor, turn the direction of writing or not
/// be seen.
fn push_visible(shown: &mut String, c: char) {
    match c {
        '\t' => shown.push_str("    "),
        '\u{feff}' => {}
        '\0'..='\u{1f}' => shown.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}')),
        '\u{7f}' => shown.push('␡'),
        '\u{80}'..='\u{9f}'
        | '\u{ad}'
        | '\u{61c}'
        | '\u{200b}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}' => shown.push('\u{fffd}'),
        _ => shown.push(c),
    }
}

#[cfg(test)]
mod tests;
