//! Pictures: what a run does as a chart or a Perfetto trace, and what an experiment or any numbers
//! say as figures.
//!
//! - [`Gantt`]: a stretch of a run as text for a terminal, and as SVG. [`Perfetto`]: a run as a
//!   trace to open in Perfetto.
//! - [`figure`]: curves with bands as SVG, PNG, PDF and for pgfplots, and bars.
//! - [`figures`] and [`write_results`]: the figures of an experiment.
//! - [`page`]: reports as HTML pages, with pictures, tables and data.
//! - [`png()`]: any SVG figure as PNG.
//!
//! Features: `png` and `pdf` (both by default) draw pictures in these formats. SVG needs none.
//!
//! Nothing that decides, runs or counts depends on this crate. The bytes of every picture are the
//! same on every machine.
//!
//! A curve with its band:
//!
//! ```
//! use rtflash_draw::figure::{Curve, Figure, MeasuredPoint, YAxis};
//!
//! let points = [(0.5, 1.0), (1.0, 0.8), (1.5, 0.2)];
//! let measured = |(x, y): (f64, f64)| MeasuredPoint { x, y, low: (y - 0.1).max(0.0), high: (y + 0.1).min(1.0) };
//! let figure = Figure {
//!     x_label: "utilization".into(),
//!     y_label: "schedulable".into(),
//!     y_axis: YAxis::Ratio,
//!     x_ticks: None,
//!     x_logarithmic: false,
//!     curves: vec![Curve { label: "clustering-bfd".into(), points: points.map(measured).into() }],
//! };
//! assert!(figure.svg().contains("clustering-bfd"));
//! assert_eq!(figure.table().lines().count(), 1 + 3);
//! ```

mod escape;
pub mod figure;
mod gantt;
pub mod page;
mod perfetto;
#[cfg(feature = "png")]
mod png;
mod results;
#[cfg(test)]
mod samples;

pub use gantt::Gantt;
pub use perfetto::Perfetto;
#[cfg(feature = "png")]
pub use png::{PngError, png};
#[cfg(feature = "pdf")]
pub use results::write_results;
pub use results::{NamedFigure, figures};
