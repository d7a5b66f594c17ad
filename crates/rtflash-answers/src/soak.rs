//! The answer of `rtflash soak --format json`.

#![allow(missing_docs)] // What a name says the schema does not say again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::parts::Text;

/// The answer of `rtflash soak --format json`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct SoakAnswer {
    /// The seed that repeats the search.
    pub seed: u64,
    /// Cases that were asked for.
    pub runs: u64,
    /// Cases that were over when a signal ended the search; left out where it ended by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped_after: Option<u64>,
    /// Cases that the analysis accepts and that were run.
    pub judged: u64,
    /// The mean real-time load of the fullest cluster of each case, garbage collection included
    /// (world `sound`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_load: Option<f64>,
    /// The assumption or promise that broke.
    pub broken: Vec<BrokenLine>,
}

/// An assumption that broke.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct BrokenLine {
    pub name: Text<'static>,
    pub runs: u64,
    pub first_run: u64,
    pub bound: Option<u64>,
    pub observed: Option<u64>,
    /// The command that runs the smallest case found, with the task set on standard input.
    pub command: String,
    /// The smallest case found.
    #[schemars(with = "serde_json::Value")]
    pub task_set: Option<Box<RawValue>>,
}
