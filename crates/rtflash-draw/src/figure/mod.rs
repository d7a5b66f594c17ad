//! Figures: a ratio or a bandwidth against what is swept, fit for one column of a paper.
//!
//! A figure is 3.5 inches wide, its smallest text 7 points. Curves differ in marker and dashes, so
//! that they differ in grey; where several are one line, they take turns in it. It is
//! drawn as SVG by hand: of the libraries tried, none shows marker and dashes together in a legend.
//! The legend stands above the plot. The bytes are the same on every machine.

mod axis;
mod bars;
mod coincide;
mod grid;
mod legend;
#[cfg(feature = "pdf")]
mod pdf;
mod plot;
mod style;
mod svg;
mod switches;
mod table;
mod tex;
mod text;

#[cfg(all(test, feature = "pdf"))]
mod tests;

pub use bars::{BarSeries, Bars};

use self::switches::FigureUse;
#[cfg(feature = "png")]
use crate::png::{PngError, png_scaled};

#[cfg(feature = "png")]
/// 600 dots per inch, where SVG has 96 units.
const PNG_SCALE: f32 = 6.25;

/// Curves over one axis.
///
/// Numbers that are not finite, or beyond 10²⁹⁰, count as absent wherever they are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    /// Title of the x axis, with its unit.
    pub x_label: String,
    /// Title of the y axis, with its unit.
    pub y_label: String,
    /// The span of the y axis.
    pub y_axis: YAxis,
    /// For a sweep over few values (4, 8, 16, 32 chips): ticks at exactly these. If each is the
    /// same multiple of the one before and all of x is positive, the axis is logarithmic.
    pub x_ticks: Option<Vec<f64>>,
    /// Whether the x axis is logarithmic, with ticks at powers of ten, if all of x is positive and
    /// `x_ticks` are absent.
    pub x_logarithmic: bool,
    /// The curves, in the order of the legend. Marker, dashes and colour go by the position: the
    /// first twelve look alike in every figure.
    pub curves: Vec<Curve>,
}

/// The span of the y axis. Values beyond are drawn at its border.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum YAxis {
    /// From 0 to 1.
    #[default]
    Ratio,
    /// From 0 to the largest value.
    FromZero,
    /// From the smallest value above zero to the largest one, by powers of ten.
    Logarithmic,
}

/// One line of a figure, with its markers and, where its intervals say something, a band.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// Its name in the legend; without one, it is not in the legend.
    pub label: String,
    /// In any order; the first one counts where several are at one x. The line breaks where a point
    /// is absent: where its numbers are, or where another curve has a point and this one has none.
    pub points: Vec<MeasuredPoint>,
}

/// A measured value and its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredPoint {
    /// The swept parameter.
    pub x: f64,
    /// The measured value.
    pub y: f64,
    /// Lower end of the interval; the band breaks where it is absent.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

impl MeasuredPoint {
    /// A value without an interval.
    pub fn exact(x: f64, y: f64) -> MeasuredPoint {
        MeasuredPoint { x, y, low: f64::NAN, high: f64::NAN }
    }
}

impl Figure {
    /// The figure as an SVG document, 3.5 inches wide, with text in DejaVu Sans.
    pub fn svg(&self) -> String {
        svg::document(self, FigureUse::Alone)
    }

    /// The figure as an SVG document for a page that switches curves and shows values: with groups
    /// for the page's script.
    pub(crate) fn svg_on_page(&self) -> String {
        svg::document(self, FigureUse::OnPage)
    }

    /// The figure as a PNG picture with 600 dots per inch, fewer where it would become too large.
    /// Fails if the figure is too large to be drawn at all.
    #[cfg(feature = "png")]
    pub fn png(&self) -> Result<Vec<u8>, FigureError> {
        png_scaled(&self.svg(), PNG_SCALE).map_err(FigureError::Picture)
    }

    /// The figure as a PDF document of one page, as large as the figure, with its fonts. Fails if
    /// the figure is too large for a page.
    #[cfg(feature = "pdf")]
    pub fn pdf(&self) -> Result<Vec<u8>, FigureError> {
        pdf::document(&self.svg())
    }

    /// The numbers, in columns for pgfplots: `x`, then `NAME`, `NAME-low` and `NAME-high` for each
    /// curve, where `NAME` has the letters and digits of its label; a row for each x of any curve,
    /// `nan` where a number is absent.
    pub fn table(&self) -> String {
        table::table(self)
    }

    /// A `tikzpicture` for a paper, with its numbers in it. A comment at its top lists the packages
    /// that it needs.
    pub fn pgfplots(&self) -> String {
        tex::picture(self)
    }
}

/// Why there is no figure.
#[cfg(feature = "png")]
#[derive(Debug, thiserror::Error)]
pub enum FigureError {
    /// The figure cannot be drawn as a picture.
    #[error("{0}")]
    Picture(#[source] PngError),
    /// The document cannot be written: what the writer says.
    #[error("the figure cannot be written as PDF: {0}")]
    Pdf(String),
}
