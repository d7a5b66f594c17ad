//! Aligned tables.

use anstream::adapter::strip_str;
use rtflash_answers::{AnswerTable, Column, Tone};
use unicode_width::UnicodeWidthStr;

use crate::output::{DIM, GREEN, RED, paint};

/// A table of these columns; those whose heading starts with `>` are aligned right.
pub fn table(headings: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let rows: Vec<Vec<String>> = rows.into_iter().collect();
    let columns: Vec<(&str, bool)> =
        headings.iter().map(|heading| (heading.trim_start_matches('>'), heading.starts_with('>'))).collect();
    let width = |cell: &str| strip_str(cell).to_string().width();
    let widest = |(at, &(heading, _)): (usize, &(&str, bool))| {
        rows.iter().map(|row| width(&row[at])).fold(width(heading), usize::max)
    };
    let widths: Vec<usize> = columns.iter().enumerate().map(widest).collect();
    let line = |cells: &mut dyn Iterator<Item = (&str, bool)>| {
        let padded = cells.zip(&widths).map(|((cell, is_right), widest)| {
            let room = " ".repeat(widest - width(cell));
            if is_right { format!(" {room}{cell}  ") } else { format!(" {cell}{room}  ") }
        });
        format!("{}\n", padded.collect::<String>().trim_end())
    };
    let rule = "─".repeat(widths.iter().map(|width| width + 3).sum::<usize>().saturating_sub(1));
    let head = line(&mut columns.iter().map(|&(heading, _)| (heading, false)));
    let body = rows.iter().map(|row| line(&mut row.iter().zip(&columns).map(|(cell, of)| (cell.as_str(), of.1))));
    format!("{head}{rule}\n{}", body.collect::<String>())
}

/// A table of an answer, without its details, its cells in the colours of their tones.
pub fn answer_table(table: &AnswerTable) -> String {
    let columns: Vec<usize> = (0..table.columns.len()).filter(|&at| !table.columns[at].is_detail).collect();
    let heading = |&at: &usize| {
        let Column { heading, is_number, .. } = &table.columns[at];
        if *is_number { format!(">{heading}") } else { heading.clone() }
    };
    let headings: Vec<String> = columns.iter().map(heading).collect();
    let cell = |cell: &rtflash_answers::Cell| match cell.tone {
        None => cell.text.clone(),
        Some(Tone::Good) => paint(GREEN, &cell.text),
        Some(Tone::Bad) => paint(RED, &cell.text),
        Some(Tone::Open) => paint(DIM, &cell.text),
    };
    let rows = table.rows.iter().map(|row| columns.iter().map(|&at| cell(&row[at])).collect());
    self::table(&headings.iter().map(String::as_str).collect::<Vec<_>>(), rows)
}

pub const ROWS: usize = 64;

/// The first rows of a table of an answer; `what`: what its rows are.
pub fn first_rows(mut table: AnswerTable, what: &str) -> String {
    let more = table.rows.len().saturating_sub(ROWS);
    table.rows.truncate(ROWS);
    answer_table(&table) + &further(more, what)
}

pub fn further(more: usize, what: &str) -> String {
    if more == 0 { String::new() } else { format!("  … and {more} more {what} (all of them: --format json)\n") }
}
