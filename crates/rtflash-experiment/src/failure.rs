//! Why an experiment has no end.

use std::{fmt, io};

use rtflash_model::AllocationError;

/// Why an experiment ended before its last set.
#[derive(Debug)]
pub enum RunFailure {
    /// Its progress cannot be kept.
    Unkept(io::Error),
    /// The clusters of an algorithm do not divide the chips and tasks of a set.
    NoDivision {
        /// The algorithm's name.
        algorithm: &'static str,
        /// What is wrong with the clusters.
        error: AllocationError,
    },
}

impl fmt::Display for RunFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunFailure::Unkept(error) => error.fmt(f),
            RunFailure::NoDivision { algorithm, error } => {
                write!(f, "the algorithm {algorithm} did not divide the chips among the tasks: {error}")
            }
        }
    }
}

impl std::error::Error for RunFailure {}

impl From<io::Error> for RunFailure {
    fn from(error: io::Error) -> RunFailure {
        RunFailure::Unkept(error)
    }
}
