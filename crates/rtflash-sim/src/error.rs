//! Why a run comes to no end.

use rtflash_model::Instant;

/// Why a run was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// More jobs, or with parallel dispatch pages, are pending than can be kept.
    #[error("more than {limit} jobs (with parallel dispatch: pages) are pending at {at}: the run was given up")]
    TooManyPending {
        /// When that was so.
        at: Instant,
        /// How many can be kept.
        limit: usize,
    },
}
