//! Why an experiment has no end.

use std::io;

use rtflash_model::AllocationError;

/// Why an experiment ended before its last set.
#[derive(Debug, thiserror::Error)]
pub enum RunFailure {
    /// Its progress cannot be kept.
    #[error("{0}")]
    Unkept(io::Error),
    /// The clusters of an algorithm do not divide the chips and tasks of a set.
    #[error("the algorithm {algorithm} did not divide the chips among the tasks: {error}")]
    NoDivision {
        /// The algorithm's name.
        algorithm: &'static str,
        /// The fault of the clusters.
        error: AllocationError,
    },
}

impl From<io::Error> for RunFailure {
    fn from(error: io::Error) -> RunFailure {
        RunFailure::Unkept(error)
    }
}
