//! Why a run comes to no end.

use std::fmt;

use rtflash_model::Instant;

/// Why a run was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunError {
    /// More jobs, or with parallel dispatch pages, are pending than can be kept.
    TooManyPending {
        /// When that was so.
        at: Instant,
        /// How many can be kept.
        limit: usize,
    },
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RunError::TooManyPending { at, limit } = self;
        write!(f, "more than {limit} jobs (with parallel dispatch: pages) are pending at {at}: the run was given up")
    }
}

impl std::error::Error for RunError {}
