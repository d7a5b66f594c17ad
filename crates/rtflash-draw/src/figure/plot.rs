//! The frame of the axes, and the places of values in it, in points of 1/72 inch.

use super::axis::PlotAxis;
use super::grid::Grid;
use super::text::{TICK, TITLE};
use super::{Figure, YAxis};

/// The width of a figure: 3.5 inches.
pub(super) const WIDTH: f64 = 252.0;
pub(super) const HEIGHT: f64 = 146.0;
pub(super) const MARGIN: f64 = 5.0;
pub(super) const MARK: f64 = 2.5;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rectangle {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

impl Rectangle {
    pub fn right(&self) -> f64 {
        self.left + self.width
    }

    pub fn bottom(&self) -> f64 {
        self.top + self.height
    }
}

pub(super) struct Plot {
    pub grid: Grid,
    pub x: PlotAxis,
    pub y: PlotAxis,
    pub kind: YAxis,
    pub frame: Rectangle,
    /// For each row but the last, the curves that are one line from there to the next.
    pub groups: Vec<Vec<Vec<usize>>>,
}

impl Plot {
    pub fn new(figure: &Figure) -> Plot {
        let grid = Grid::new(figure);
        let y = PlotAxis::y(&grid, figure.y_axis);
        let title = if figure.y_label.is_empty() { 0.0 } else { TITLE + 4.0 };
        let left = MARGIN - 2.0 + title + y.label_width() + MARK + 2.0;
        let width = WIDTH - left - MARGIN;
        let x = PlotAxis::x(&grid, figure.x_ticks.as_deref(), figure.x_logarithmic, width);
        let over = if y.exponent == 0 { MARGIN } else { MARGIN + TICK };
        let frame = Rectangle { left, top: over, width, height: HEIGHT };
        let mut plot = Plot { grid, x, y, kind: figure.y_axis, frame, groups: Vec::new() };
        plot.groups = plot.one_line();
        plot
    }

    pub fn at(&self, x: f64, y: f64) -> (f64, f64) {
        (
            self.frame.left + self.x.place(x) * self.frame.width,
            self.frame.bottom() - self.y.place(y) * self.frame.height,
        )
    }
}
