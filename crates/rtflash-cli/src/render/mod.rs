//! How answers are worded: a file for each kind of answer in text. rtflash-wire has them as JSON.

#[cfg(feature = "exchange")]
pub mod admit_text;
pub mod advice_text;
pub mod alloc_text;
pub mod check_text;
pub mod data;
pub mod exec_text;
pub mod experiment_text;
pub mod explain;
pub mod explain_baseline;
pub mod explain_certified;
pub mod explain_text;
pub mod host;
pub mod host_bound;
pub mod host_tune;
pub mod kind;
#[cfg(feature = "exchange")]
pub mod migrate_text;
#[cfg(feature = "exchange")]
pub mod serve_text;
pub mod size_text;
pub mod table;
pub mod unplaced;
pub mod verdicts;

#[cfg(feature = "exchange")]
use rtflash_model::Device;

pub use rtflash_wire::numbers;

use crate::args::Format;

/// An answer that counts pages, and the device whose pages they are.
#[cfg(feature = "exchange")]
pub struct OnDevice<'a, A> {
    /// The answer.
    pub answer: &'a A,
    /// The device.
    pub device: &'a Device,
}

/// An answer, which can be worded for a person and written for a program.
pub trait Render {
    /// For a person.
    fn text(&self) -> String;

    /// As JSON, on one line.
    fn json(&self) -> String;

    /// As it was asked for.
    fn render(&self, format: Format) -> String {
        match format {
            Format::Text => self.text(),
            Format::Json => self.json(),
        }
    }
}
