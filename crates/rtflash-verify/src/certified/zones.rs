//! Resets of zones: docs/analysis.md, Section 16.

use num_rational::BigRational;

use super::lines::AffineBound;
use super::numbers::ceil;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ZoneResets {
    /// P: it resets a block for each P pages in a row, and for a part of them.
    pub block_pages: i128,
    pub cost: i128,
    /// How often it may wait for a transfer of each neighbour: once with commands.
    pub waits: i128,
}

impl ZoneResets {
    /// ⌈γ/P⌉, Eq. (75), for γ = `pages`.
    pub fn of(self, pages: i128) -> i128 {
        ceil(pages, self.block_pages)
    }

    /// `each` times that: ⌈γ/P⌉ is no more than γ/P + 1 − 1/P.
    pub fn above(self, pages: &AffineBound, each: i128) -> AffineBound {
        let whole = |number: i128| BigRational::from_integer(number.into());
        pages.plus(&AffineBound::level(self.block_pages - 1)).times(&(whole(each) / whole(self.block_pages)))
    }
}
