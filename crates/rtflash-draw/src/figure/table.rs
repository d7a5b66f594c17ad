//! The numbers of a figure as a table for pgfplots.

use std::collections::HashSet;
use std::fmt::Write;

use super::Figure;
use super::grid::Grid;
use super::text::number;

pub(super) fn table(figure: &Figure) -> String {
    let grid = Grid::new(figure);
    let mut table = String::from("x");
    for name in names(figure) {
        let _ = write!(table, " {name} {name}-low {name}-high");
    }
    table.push('\n');
    for (row, &x) in grid.xs.iter().enumerate() {
        table.push_str(&number(x));
        for curve in &grid.curves {
            match curve[row] {
                Some(point) => {
                    for number in [point.y, point.low, point.high].map(cell) {
                        let _ = write!(table, " {number}");
                    }
                }
                None => table.push_str(" nan nan nan"),
            }
        }
        table.push('\n');
    }
    table
}

fn cell(value: f64) -> String {
    if value.is_nan() { "nan".into() } else { number(value) }
}

/// A name for the columns of each curve: what its label has of letters and digits, and a count
/// where that is taken.
fn names(figure: &Figure) -> Vec<String> {
    let mut taken = HashSet::from(["x".to_owned()]);
    let mut name = |label: &str| {
        let words = label.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        let mut plain = words.collect::<Vec<_>>().join("-");
        if !plain.starts_with(|c: char| c.is_ascii_alphabetic()) {
            plain = if plain.is_empty() { "curve".into() } else { format!("curve-{plain}") };
        }
        let mut name = plain.clone();
        let mut count = 2_usize;
        let columns = |name: &str| [name.to_owned(), format!("{name}-low"), format!("{name}-high")];
        while columns(&name).iter().any(|column| taken.contains(column)) {
            name = format!("{plain}-{count}");
            count += 1;
        }
        taken.extend(columns(&name));
        name
    };
    figure.curves.iter().map(|curve| name(&curve.label)).collect()
}
