//! Experiments as a library runs them.

mod progress;
mod published;
