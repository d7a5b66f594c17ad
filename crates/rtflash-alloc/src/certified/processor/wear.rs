//! Garbage collection that leaves jobs for wear (docs/analysis.md, Section 19).

use super::Processor;

/// α, Eq. (81), where a pass gains so many pages: α − ⌈α/N_g⌉ leaves one GC job in N_g. `None` where
/// nothing is left.
pub(super) fn left_for(gained: u64, passes: Option<u32>) -> Option<u64> {
    gained.checked_sub(passes.map_or(0, |passes| gained.div_ceil(passes.into()))).filter(|&left| left > 0)
}

impl Processor {
    /// H, F, v and α with Eq. (81), where they are these without it. With less α there is less in
    /// reserve, so F and v may be less, too, and then α again: each time v becomes less, or nothing
    /// changes any more.
    pub(super) fn left_for_wear(&self, [in_full, open, valid, gained]: [u64; 4], server: bool) -> Option<[u64; 4]> {
        let [mut open, mut valid, mut gained] = [open, valid, gained];
        loop {
            let reclaimed = left_for(gained, self.wear_passes)?;
            // (C2): so many pages less, and as many less of R.
            let less = (gained - reclaimed).checked_mul(1 + u64::from(server))?;
            let reserve = in_full.saturating_sub(less);
            let next = self.collected(self.open(reserve, server)?)?;
            if next == [open, valid, gained] {
                return Some([reserve, open, valid, reclaimed]);
            }
            [open, valid, gained] = next;
        }
    }
}
