//! The words of answers: a file for each kind of answer in text. rtflash-answers has them as JSON.

#[cfg(feature = "exchange")]
pub mod admit_text;
pub mod advice_text;
pub mod alloc_text;
pub mod check_text;
pub mod data;
pub mod exec_text;
pub mod experiment_text;
pub mod explain_baseline;
pub mod explain_certified;
pub mod explain_text;
pub mod host;
pub mod host_bound;
pub mod host_fit;
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

use rtflash_answers::Answer;
pub use rtflash_answers::numbers;

use crate::args::Format;

/// An answer as it was asked for: for a person, or as JSON on one line.
pub fn rendered(format: Format, answer: &impl Answer, text: impl FnOnce() -> String) -> String {
    match format {
        Format::Text => text(),
        Format::Json => answer.line(),
    }
}
