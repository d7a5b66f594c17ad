//! Aligned tables.

use comfy_table::presets::NOTHING;
use comfy_table::{Cell, CellAlignment, LineStyle, Table};

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
