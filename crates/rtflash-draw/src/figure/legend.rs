//! The legend, where it hides nothing: inside the plot if there is room, else above it.

use super::Figure;
use super::plot::{Plot, Rectangle, WIDTH};
use super::text::{LEGEND, shortened, width};

/// Length of the piece of curve in front of a name.
pub(super) const SAMPLE: f64 = 23.0;
/// Between that piece and the name, and around the whole.
pub(super) const SPACE: f64 = 3.5;
/// From one name to the next one below.
pub(super) const LINE: f64 = 9.2;
/// Between columns.
const GUTTER: f64 = 7.0;
/// Side of the squares in which room is looked for.
const CELL: f64 = 2.0;
/// Radius of what counts as covered around a curve: markers, and a little more.
const AROUND: f64 = 3.5;

/// What the bands are.
pub(super) const INTERVALS: &str = "95 % interval";

/// What stands in front of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sample {
    /// A piece of the curve at this position.
    Curve(usize),
    /// A piece of a band.
    Band,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Legend {
    /// What is named, and its name as far as there is room for it.
    pub entries: Vec<(Sample, String)>,
    pub rows: usize,
    pub column_width: f64,
    columns: usize,
    /// Inside the plot, or above it.
    pub inside: bool,
    pub left: f64,
    pub top: f64,
}

impl Legend {
    /// The legend of the figure, the rest of which is laid out as if there were none.
    pub fn placed(figure: &Figure, plot: &Plot) -> Legend {
        let room = WIDTH - 4.0 * SPACE - SAMPLE;
        let named = figure.curves.iter().enumerate().filter(|(_, curve)| !curve.label.is_empty());
        let name = |(at, _)| (Sample::Curve(at), shortened(&plot.name(figure, at), LEGEND, room));
        let mut entries: Vec<_> = named.map(name).collect();
        if entries.is_empty() {
            return Legend { inside: true, ..Legend::default() };
        }
        if plot.has_bands() {
            entries.push((Sample::Band, INTERVALS.to_owned()));
        }
        let covered = Covered::new(plot);
        for columns in 1..=entries.len().min(3) {
            let legend = Legend::in_columns(entries.clone(), columns);
            if let Some((left, top)) = covered.free(legend.width(), legend.height()) {
                return Legend { inside: true, left: plot.frame.left + left, top: plot.frame.top + top, ..legend };
            }
        }
        let fit = (1..=entries.len()).rev().map(|columns| Legend::in_columns(entries.clone(), columns));
        let widest = fit.take(64).find(|legend| legend.width() <= WIDTH - 2.0 * SPACE);
        let legend = widest.unwrap_or_else(|| Legend::in_columns(entries, 1));
        let centred = plot.frame.left + (plot.frame.width - legend.width()) / 2.0;
        let left = centred.clamp(0.0, (WIDTH - legend.width()).max(0.0));
        Legend { left, top: SPACE / 2.0, ..legend }
    }

    /// A legend with the rows that `columns` columns need, and no more columns than these rows
    /// need.
    fn in_columns(entries: Vec<(Sample, String)>, columns: usize) -> Legend {
        let rows = entries.len().div_ceil(columns);
        let widest = entries.iter().map(|(_, name)| width(name, LEGEND)).fold(0.0, f64::max);
        let columns = entries.len().div_ceil(rows);
        Legend { entries, rows, columns, column_width: SAMPLE + SPACE + widest + GUTTER, ..Legend::default() }
    }

    pub fn width(&self) -> f64 {
        real(self.columns) * self.column_width - GUTTER + 2.0 * SPACE
    }

    pub fn height(&self) -> f64 {
        if self.entries.is_empty() { 0.0 } else { real(self.rows) * LINE + SPACE }
    }

    /// Left end and middle of the entry at this position, column by column.
    pub fn entry(&self, at: usize) -> (f64, f64) {
        let (column, row) = (at / self.rows.max(1), at % self.rows.max(1));
        (self.left + SPACE + real(column) * self.column_width, self.top + (SPACE + LINE) / 2.0 + real(row) * LINE)
    }
}

/// Which cells of the plot curves and bands cover.
struct Covered {
    columns: usize,
    rows: usize,
    /// At (row, column), of a table with one more of each: how many cells above and to the left are
    /// covered.
    sums: Vec<u32>,
}

impl Covered {
    fn new(plot: &Plot) -> Covered {
        let Rectangle { left, top, width, height } = plot.frame;
        let (columns, rows) = (cell(width), cell(height));
        let mut covered = vec![false; columns * rows];
        let mut cover = |x: f64, from: f64, to: f64| {
            for row in cell(from - top - AROUND)..(cell(to - top + AROUND) + 1).min(rows) {
                let across = cell(x - left - AROUND)..(cell(x - left + AROUND) + 1).min(columns);
                covered[row * columns..][across].fill(true);
            }
        };
        for (curve, points) in plot.grid.curves.iter().enumerate() {
            let bands = plot.bands(curve);
            let ends = |row: usize| {
                points[row].map(|point| {
                    let (x, y) = plot.at(point.x, point.y);
                    let at = bands.partition_point(|band| band.end <= row);
                    if bands.get(at).is_none_or(|band| !band.contains(&row)) {
                        return (x, y, y);
                    }
                    let (high, low) = (plot.at(point.x, point.high).1, plot.at(point.x, point.low).1);
                    (x, y.min(high).min(low), y.max(high).max(low))
                })
            };
            for line in plot.grid.lines(curve) {
                let mut before = None;
                for now in line.filter_map(ends) {
                    let from = before.unwrap_or(now);
                    let steps = ((now.0 - from.0) / CELL).ceil().max(1.0);
                    let shares = (0..=cell(steps * CELL)).map(|step| (real(step) / steps).min(1.0));
                    for share in shares {
                        let between = |a: f64, b: f64| a + (b - a) * share;
                        // The column from this step to the next has all that lies between.
                        let next = |a: f64, b: f64| a + (b - a) * (share + 1.0 / steps).min(1.0);
                        let top = between(from.1, now.1).min(next(from.1, now.1));
                        let bottom = between(from.2, now.2).max(next(from.2, now.2));
                        cover(between(from.0, now.0), top, bottom);
                    }
                    before = Some(now);
                }
            }
        }
        let mut sums = vec![0; (columns + 1) * (rows + 1)];
        for row in 0..rows {
            for column in 0..columns {
                let at = |row: usize, column: usize| row * (columns + 1) + column;
                sums[at(row + 1, column + 1)] =
                    u32::from(covered[row * columns + column]) + sums[at(row, column + 1)] + sums[at(row + 1, column)]
                        - sums[at(row, column)];
            }
        }
        Covered { columns, rows, sums }
    }

    /// Left and top of a free rectangle of this size, as near to a corner as there is one.
    fn free(&self, width: f64, height: f64) -> Option<(f64, f64)> {
        let (columns, rows) = (cell(width) + 1, cell(height) + 1);
        let count = |row: usize, column: usize| self.sums[row * (self.columns + 1) + column];
        // Two cells of room to the frame.
        let tops = 2..(self.rows + 1).saturating_sub(rows + 2);
        let lefts = 2..(self.columns + 1).saturating_sub(columns + 2);
        let places = tops.flat_map(|top| lefts.clone().map(move |left| (top, left)));
        let free = places.filter(|&(top, left)| {
            let (bottom, right) = (top + rows, left + columns);
            count(bottom, right) + count(top, left) == count(top, right) + count(bottom, left)
        });
        let distance =
            |&(top, left): &(usize, usize)| top.min(self.rows - rows - top) + left.min(self.columns - columns - left);
        free.min_by_key(distance).map(|(top, left)| (real(left) * CELL, real(top) * CELL))
    }
}

/// How many whole cells there are in a length of the paper; none in a negative one.
fn cell(length: f64) -> usize {
    // A cast saturates, and lengths are those of a column of paper.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let cells = (length / CELL) as usize;
    cells
}

fn real(count: usize) -> f64 {
    count as f64
}
