//! Where everything is on the paper, in points of 1/72 inch.

use super::Figure;
use super::legend::Legend;
use super::plot::{MARK, Plot};
use super::text::{TICK, TITLE};

pub(super) struct FigureLayout {
    pub plot: Plot,
    pub legend: Legend,
    pub height: f64,
}

impl FigureLayout {
    pub fn new(figure: &Figure) -> FigureLayout {
        let mut plot = Plot::new(figure);
        let legend = Legend::placed(figure, &plot);
        if !legend.inside {
            plot.frame.top += legend.height();
        }
        let title = if figure.x_label.is_empty() && plot.x.exponent == 0 { 0.0 } else { TITLE + 4.0 };
        let height = plot.frame.bottom() + MARK + TICK + 3.0 + title + 2.0;
        FigureLayout { plot, legend, height }
    }
}
