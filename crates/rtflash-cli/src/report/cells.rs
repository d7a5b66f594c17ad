//! Cells of tables, as numbers are worded for a person.

use rtflash_draw::page::TableCell;
use rtflash_model::format_ns;

use crate::render::numbers::{names, percent, plain, quantity, separated};

/// Names of tasks shown in a cell.
const NAMES: usize = 6;

/// A time, exactly.
pub fn exact(nanoseconds: Option<u64>) -> TableCell {
    TableCell::some(nanoseconds.map(|time| (format_ns(time), time as f64)))
}

/// A count.
pub fn count(number: impl Into<u128>) -> TableCell {
    let number = number.into();
    TableCell::number(separated(number), number as f64)
}

/// A quantity, to four digits or so.
pub fn amount(number: Option<f64>) -> TableCell {
    TableCell::some(number.map(|number| (quantity(number), number)))
}

/// A number to `places` decimals; an empty cell for none.
pub fn places(number: Option<f64>, places: usize) -> TableCell {
    TableCell::some(number.map(|number| (format!("{number:.places$}"), number)))
}

/// A share of one, in per cent.
pub fn share(number: f64) -> TableCell {
    TableCell::number(percent(number), number)
}

/// A name from a file.
pub fn name(name: &str) -> TableCell {
    TableCell::text(plain(name))
}

/// Names from a file.
pub fn list<'a>(of: impl ExactSizeIterator<Item = &'a str>) -> TableCell {
    TableCell::text(if of.len() == 0 { "(free)".to_owned() } else { names(of, NAMES) })
}
