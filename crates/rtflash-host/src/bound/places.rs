//! Tags that jobs may want at a time.

use super::view::Loops;

/// Tags that all jobs together may want; `None` for more than can be counted.
pub(super) fn wanted(loops: &[Loops]) -> Option<u64> {
    loops.iter().try_fold(0_u64, |sum, of| sum.checked_add(of.tags.checked_mul(of.pending)?))
}
