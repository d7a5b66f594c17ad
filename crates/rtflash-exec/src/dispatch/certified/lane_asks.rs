//! What superblocks that run ahead ask their buses for.

use rtflash_model::{Instant, sorting};

use crate::dispatch::core::Core;
use crate::ftl::PagePlace;
use crate::ids::{BlockId, ChipId, ClusterId, ColumnId, Lpn, PerId, SourceId};
use crate::trace::{Action, JobId, Kind, NO_LPN, NONE, Observer, Operation};

/// What a processor asks its buses for.
#[derive(Debug)]
pub(super) struct LaneAsks {
    /// The pages of its step, by the time since when they want their buses, which stands in the
    /// place of their ends; then by chip.
    pub(super) pages: Vec<Operation>,
    /// So many of them have had theirs.
    pub(super) moved: usize,
    /// Whether it is known that all of them are of one job, and do the same.
    pub(super) is_alike: bool,
    /// What pages that are added have in common.
    common: Operation,
}

impl Default for LaneAsks {
    fn default() -> LaneAsks {
        let common = Operation {
            start: Instant::START,
            end: Instant::START,
            cluster: ClusterId(NONE),
            chip: ChipId(NONE),
            action: Action::Read,
            job: JobId { source: SourceId(NONE), index: 0 },
            kind: Kind::Gc,
            block: BlockId(NONE),
            page: NONE,
            lpn: NO_LPN,
        };
        LaneAsks { pages: Vec::new(), moved: 0, is_alike: false, common }
    }
}

impl LaneAsks {
    /// Since when its next page wants a bus.
    #[inline(always)]
    pub(super) fn next(&self) -> Option<Instant> {
        self.pages.get(self.moved).map(|page| page.end)
    }

    /// It asks for none.
    #[inline(always)]
    pub(super) fn clear(&mut self) {
        (self.moved, self.is_alike) = (0, false);
        self.pages.clear();
    }

    /// Pages are added of a job, that begin now.
    #[inline(always)]
    pub(super) fn begin(&mut self, (cluster, job, kind): (ClusterId, JobId, Kind), now: Instant) {
        self.common = Operation { start: now, end: now, cluster, job, kind, ..self.common };
    }

    /// One of them.
    #[inline(always)]
    pub(super) fn add(&mut self, chip: ChipId, spot: PagePlace, lpn: Lpn) {
        self.pages.push(Operation { chip, block: spot.block, page: spot.page, lpn, ..self.common });
    }

    /// The places of all of them, on chips of this cluster.
    pub(super) fn places(&self, chips: &PerId<ColumnId, ChipId>) -> impl Iterator<Item = (PagePlace, Lpn)> {
        self.pages.iter().map(|page| {
            let column = chips.enumerate().find(|&(_, &chip)| chip == page.chip).map(|(column, _)| column);
            let chip = column.expect("a page of a processor is on one of its chips");
            (PagePlace { chip, block: page.block, page: page.page }, page.lpn)
        })
    }

    /// All of them do this, and ask for their buses.
    #[inline(always)]
    pub(super) fn all_want<O: Observer>(&mut self, action: Action, core: &Core<O>) {
        let (mut is_sorted, mut before) = (true, None);
        let same = core.all_wanted(&Operation { action, ..self.common });
        for page in &mut self.pages {
            page.action = action;
            page.end = same.unwrap_or_else(|| core.wanted(page));
            let order = (page.end, page.chip);
            is_sorted &= before.is_none_or(|before| before < order);
            before = Some(order);
        }
        self.is_alike = true;
        if !is_sorted {
            self.put_into_order();
        }
    }

    /// Whoever has wanted a bus for longest comes first.
    pub(super) fn put_into_order(&mut self) {
        let order = |page: &Operation| (page.end, page.chip);
        match &mut self.pages[..] {
            [a, b] if order(b) < order(a) => std::mem::swap(a, b),
            [_, _] => {}
            pages => sorting::by_key(pages, order),
        }
    }
}
