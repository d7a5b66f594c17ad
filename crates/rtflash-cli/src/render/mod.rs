//! How answers are worded: a file for each kind of answer in text, and [`wire`] for JSON.

pub mod alloc_text;
pub mod check_text;
pub mod data;
pub mod envelope;
pub mod exec_text;
pub mod exec_wire;
pub mod experiment_text;
pub mod explain_sound;
pub mod explain_text;
pub mod explain_wire;
pub mod host;
pub mod host_bound;
pub mod host_tune;
pub mod numbers;
pub mod size_text;
pub mod size_wire;
pub mod table;
pub mod unplaced;
pub mod wire;
