//! Aligned tables.

use comfy_table::presets::NOTHING;
use comfy_table::{Cell, CellAlignment, LineStyle, Table};
use rtflash_wire::{Column, Tone};

use crate::output::{DIM, GREEN, RED, paint};

/// A table of these columns; those whose heading starts with `>` are aligned right.
pub fn table(headings: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(NOTHING.header_separator(LineStyle::none().fill('─').junction('─')));
    let right = |heading: &str| heading.starts_with('>');
    table.set_header(
        headings.iter().map(|heading| Cell::new(heading.trim_start_matches('>')).set_alignment(CellAlignment::Left)),
    );
    for row in rows {
        table.add_row(row);
    }
    for (index, heading) in headings.iter().enumerate() {
        if let Some(column) = table.column_mut(index).filter(|_| right(heading)) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// A table of an answer, without its details, its cells in the colours of their tones.
pub fn answer_table(table: &rtflash_wire::AnswerTable) -> String {
    let columns: Vec<usize> = (0..table.columns.len()).filter(|&at| !table.columns[at].is_detail).collect();
    let heading = |&at: &usize| {
        let Column { heading, is_number, .. } = &table.columns[at];
        if *is_number { format!(">{heading}") } else { heading.clone() }
    };
    let headings: Vec<String> = columns.iter().map(heading).collect();
    let cell = |cell: &rtflash_wire::Cell| match cell.tone {
        None => cell.text.clone(),
        Some(Tone::Good) => paint(GREEN, &cell.text),
        Some(Tone::Bad) => paint(RED, &cell.text),
        Some(Tone::Open) => paint(DIM, &cell.text),
    };
    let rows = table.rows.iter().map(|row| columns.iter().map(|&at| cell(&row[at])).collect());
    self::table(&headings.iter().map(String::as_str).collect::<Vec<_>>(), rows)
}

/// Rows of a table that a terminal shows.
pub const ROWS: usize = 64;

/// The first rows of a table of an answer; `what`: what its rows are.
pub fn first_rows(mut table: rtflash_wire::AnswerTable, what: &str) -> String {
    let more = table.rows.len().saturating_sub(ROWS);
    table.rows.truncate(ROWS);
    answer_table(&table) + &further(more, what)
}

/// A line on rows that are not shown.
pub fn further(more: usize, what: &str) -> String {
    if more == 0 { String::new() } else { format!("  … and {more} more {what} (all of them: --format json)\n") }
}
