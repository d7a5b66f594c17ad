//! Why a run is given up.

use std::fmt;

use rtflash_model::Instant;

use super::MAX_PENDING;

/// Why a run was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostRunError {
    /// More I/Os wait than can be kept.
    TooManyPending {
        /// When that was so.
        at: Instant,
    },
}

impl fmt::Display for HostRunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let HostRunError::TooManyPending { at } = self;
        write!(f, "more than {MAX_PENDING} I/Os wait at {at}: the jobs release more than the device can do")
    }
}

impl std::error::Error for HostRunError {}
