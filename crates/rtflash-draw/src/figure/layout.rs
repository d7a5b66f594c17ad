//! Where everything is on the paper, in points of 1/72 inch.

use super::Figure;
use super::legend::Legend;
use super::plot::{MARK, Plot};
use super::text::{TICK, TITLE};

/// A figure in its places.
pub(super) struct Layout {
    pub plot: Plot,
    pub legend: Legend,
    pub height: f64,
}

impl Layout {
    pub fn new(figure: &Figure) -> Layout {
        let mut plot = Plot::new(figure);
        let legend = Legend::placed(figure, &plot);
        if !legend.inside {
            plot.frame.top += legend.height();
        }
        let title = if figure.x_label.is_empty() && plot.x.exponent == 0 { 0.0 } else { TITLE + 4.0 };
        let height = plot.frame.bottom() + MARK + TICK + 3.0 + title + 2.0;
        Layout { plot, legend, height }
    }
}
