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
//! Features: `png` and `pdf` (both by default) draw pictures in these formats; `fonts` has the font
//! in the program, by which characters outside of the usual scripts are measured. SVG needs none.
//!
//! Nothing that decides, runs or counts depends on this crate. The bytes of every picture are the
//! same on every machine.

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
