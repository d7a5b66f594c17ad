//! The legend: names in columns above the plot, where they hide nothing.

use super::Figure;
use super::plot::{MARK, Plot, Rectangle, WIDTH};
use super::text::{LEGEND, TICK, TITLE, shortened, width};

/// Length of the piece of curve in front of a name.
pub(super) const SAMPLE: f64 = 23.0;
/// Between that piece and the name, and around the whole.
pub(super) const SPACE: f64 = 3.5;
/// From one name to the next one below.
pub(super) const LINE: f64 = 9.2;
/// Between columns.
const GUTTER: f64 = 7.0;

pub(super) const INTERVALS: &str = "95 % interval";

/// The sample in front of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sample {
    Curve(usize),
    Band,
}

/// Names above a plot, column by column.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Legend {
    /// The names, as far as there is room for them.
    pub names: Vec<String>,
    pub columns: usize,
    rows: usize,
    column_width: f64,
    left: f64,
}

impl Legend {
    /// These names in as many columns as fit on the paper, centred above a plot. Each has a sample
    /// of this length in front of it.
    pub fn above(names: Vec<String>, sample: f64, frame: Rectangle) -> Legend {
        let room = WIDTH - 4.0 * SPACE - sample;
        let names: Vec<String> = names.iter().map(|name| shortened(name, LEGEND, room)).collect();
        let widest = names.iter().map(|name| width(name, LEGEND)).fold(0.0, f64::max);
        let column_width = sample + SPACE + widest + GUTTER;
        let across = |columns: usize| real(columns) * column_width - GUTTER;
        let fitting = (1..=names.len().min(64)).rev().find(|&columns| across(columns) <= WIDTH - 4.0 * SPACE);
        let rows = names.len().div_ceil(fitting.unwrap_or(1));
        // No more columns than these rows need.
        let columns = names.len().div_ceil(rows.max(1));
        let centred = frame.left + (frame.width - across(columns)) / 2.0;
        let left = centred.clamp(SPACE, (WIDTH - SPACE - across(columns)).max(SPACE));
        Legend { names, columns, rows, column_width, left }
    }

    pub fn height(&self) -> f64 {
        if self.names.is_empty() { 0.0 } else { real(self.rows) * LINE + SPACE }
    }

    /// Left end and middle of the name at this position.
    pub fn entry(&self, at: usize) -> (f64, f64) {
        let (column, row) = (at / self.rows.max(1), at % self.rows.max(1));
        (self.left + real(column) * self.column_width, SPACE + LINE / 2.0 + real(row) * LINE)
    }
}

/// A figure on the paper, in points of 1/72 inch.
pub(super) struct FigureLayout {
    pub plot: Plot,
    pub legend: Legend,
    pub samples: Vec<Sample>,
    pub height: f64,
}

impl FigureLayout {
    pub fn new(figure: &Figure) -> FigureLayout {
        let mut plot = Plot::new(figure);
        let named = (0..figure.curves.len()).filter(|&at| !figure.curves[at].label.is_empty());
        let mut samples: Vec<Sample> = named.map(Sample::Curve).collect();
        if !samples.is_empty() && plot.has_bands() {
            samples.push(Sample::Band);
        }
        let names = samples.iter().map(|&sample| name(figure, &plot, sample)).collect();
        let legend = Legend::above(names, SAMPLE, plot.frame);
        plot.frame.top += legend.height();
        let title = if figure.x_label.is_empty() && plot.x.exponent == 0 { 0.0 } else { TITLE + 4.0 };
        let height = plot.frame.bottom() + MARK + TICK + 3.0 + title + 2.0;
        FigureLayout { plot, legend, samples, height }
    }
}

pub(super) fn name(figure: &Figure, plot: &Plot, sample: Sample) -> String {
    match sample {
        Sample::Curve(curve) => plot.name(figure, curve),
        Sample::Band => INTERVALS.to_owned(),
    }
}

pub(super) fn real(count: usize) -> f64 {
    count as f64
}
