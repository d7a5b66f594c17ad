//! Why a run is given up.

use rtflash_model::Instant;

use super::MAX_PENDING;

/// Why a run was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HostRunError {
    /// More I/Os wait than can be kept.
    #[error("more than {MAX_PENDING} I/Os wait at {at}: the jobs release more than the device can do")]
    TooManyPending {
        /// When that was so.
        at: Instant,
    },
}
