//! Why a run is given up.

use std::fmt;

use rtflash_model::Instant;

use super::MAX_PENDING;

/// Why a run was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunError {
    /// More I/Os wait than can be kept.
    TooManyPending {
        /// When that was so.
        at: Instant,
    },
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RunError::TooManyPending { at } = self;
        write!(f, "more than {MAX_PENDING} I/Os wait at {at}: the jobs release more than the device can do")
    }
}

impl std::error::Error for RunError {}
