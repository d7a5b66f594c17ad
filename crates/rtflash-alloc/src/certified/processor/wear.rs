//! Garbage collection that leaves jobs for wear (docs/analysis.md, Section 19).

use super::Processor;
use super::room::GcNumbers;
use crate::certified::term::Term;

/// α, Eq. (81), where a pass gains so many pages, above zero: α − ⌈α/N_g⌉ leaves one GC job in N_g,
/// and one page is left.
pub(super) fn left_for(gained: u64, passes: Option<u32>) -> u64 {
    let for_wear = passes.map_or(0, |passes| gained.div_ceil(passes.into()));
    gained.saturating_sub(for_wear).max(1)
}

impl Processor {
    /// H, F, v and α with Eq. (81), where they are these without it. With less α there is less in
    /// reserve, so F and v may be less, too, and then α again: each time v becomes less, or nothing
    /// changes any more.
    pub(super) fn left_for_wear(&self, of: GcNumbers, pending: u64, server: bool) -> Option<GcNumbers> {
        let drawn = server && !self.leaves_out(Term::ServerReserve);
        let GcNumbers { mut open, mut valid, .. } = of;
        loop {
            let gained = self.block_pages - valid;
            let reclaimed = left_for(gained, self.wear_passes);
            // (C2): so many pages less, and as many less of R.
            let less = (gained - reclaimed).checked_mul(1 + u64::from(drawn))?;
            let reserve = of.reserve.saturating_sub(less);
            let before = (open, valid);
            open = self.open(reserve, pending, server)?;
            valid = self.valid(open)?;
            if (open, valid) == before {
                return Some(GcNumbers { reserve, open, valid, reclaimed });
            }
        }
    }
}
