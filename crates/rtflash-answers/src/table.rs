//! Tables of answers: text for a terminal and HTML are printed from the same cells.

use rtflash_model::format_ns;

use crate::numbers::{lifetime, names, period, plain, quantity, rounded, separated, time};
use crate::parts::{Nanoseconds, Text};

/// How something ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// As it should.
    Good,
    /// As it should not.
    Bad,
    /// The verdict is open.
    Open,
}

/// A table of an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnswerTable {
    /// The columns.
    pub columns: Vec<Column>,
    /// Rows, with a cell for each column.
    pub rows: Vec<Vec<Cell>>,
}

/// A column of an [`AnswerTable`].
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The heading, with the unit where cells have none.
    pub heading: String,
    /// Whether its cells are numbers: aligned right, and sorted by value.
    pub is_number: bool,
    /// Whether it is a detail, which a terminal has no room for.
    pub is_detail: bool,
}

/// A cell of an [`AnswerTable`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// As people read it.
    pub text: String,
    /// The number by which it is sorted.
    pub value: Option<f64>,
    /// How what it is about ended.
    pub tone: Option<Tone>,
}

impl AnswerTable {
    /// A table without rows. A heading that begins with `+` is that of a detail, and one with `>`
    /// before the words that of numbers.
    pub fn new<'h>(headings: impl IntoIterator<Item = &'h str>) -> AnswerTable {
        let column = |heading: &str| {
            let (is_detail, heading) = (heading.starts_with('+'), heading.trim_start_matches('+'));
            let (is_number, heading) = (heading.starts_with('>'), heading.trim_start_matches('>').to_owned());
            Column { heading, is_number, is_detail }
        };
        AnswerTable { columns: headings.into_iter().map(column).collect(), rows: Vec::new() }
    }
}

/// Names of tasks in a cell.
const NAMES: usize = 4;

impl Cell {
    /// A text.
    pub fn text(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), ..Cell::default() }
    }

    /// A number as it is read, and by which it is sorted.
    pub fn number(text: impl Into<String>, value: f64) -> Cell {
        Cell { text: text.into(), value: value.is_finite().then_some(value), tone: None }
    }

    /// A number that can be absent.
    pub fn some(number: Option<(String, f64)>) -> Cell {
        number.map_or_else(|| Cell::text("-"), |(text, value)| Cell::number(text, value))
    }

    /// A whole number.
    pub fn whole(number: impl Into<u128>) -> Cell {
        let number = number.into();
        Cell::number(number.to_string(), number as f64)
    }

    /// A whole number with separators.
    pub fn separated(number: impl Into<u128>) -> Cell {
        let number = number.into();
        Cell::number(separated(number), number as f64)
    }

    /// A number to `places` decimals.
    pub fn places(number: Option<f64>, places: usize) -> Cell {
        Cell::some(number.map(|number| (format!("{number:.places$}"), number)))
    }

    /// A quantity, to four digits or so.
    pub fn quantity(number: Option<f64>) -> Cell {
        Cell::some(number.map(|number| (quantity(number), number)))
    }

    /// A time in nanoseconds, to six digits or so.
    pub fn time(nanoseconds: Option<u64>) -> Cell {
        Cell::some(nanoseconds.map(|of| (time(of as f64), of as f64)))
    }

    /// A time in nanoseconds with all its digits.
    pub fn exact(nanoseconds: Option<u64>) -> Cell {
        Cell::some(nanoseconds.map(|of| (format_ns(of), of as f64)))
    }

    /// A time in nanoseconds in three digits.
    pub fn rounded(nanoseconds: Option<u64>) -> Cell {
        Cell::some(nanoseconds.map(|of| (rounded(of), of as f64)))
    }

    /// A time in nanoseconds as it is stated.
    pub fn period(nanoseconds: Option<Nanoseconds>) -> Cell {
        Cell::some(nanoseconds.map(|of| (period(of), of.to_f64())))
    }

    /// Years.
    pub fn lifetime(years: Option<f64>) -> Cell {
        Cell::some(years.map(|years| (lifetime(years), years)))
    }

    /// A name from a file.
    pub fn name(name: &str) -> Cell {
        Cell::text(plain(name))
    }

    /// The names of a cluster's tasks.
    pub fn tasks(of: &[Text<'_>]) -> Cell {
        Cell::text(if of.is_empty() { "(free)".to_owned() } else { names(of.iter().map(AsRef::as_ref), NAMES) })
    }

    /// This cell in the colour of a tone.
    pub fn toned(self, tone: Tone) -> Cell {
        Cell { tone: Some(tone), ..self }
    }
}
