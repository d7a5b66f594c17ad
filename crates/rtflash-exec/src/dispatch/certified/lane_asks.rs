//! What superblocks that run ahead ask their buses for.

use rtflash_model::{Instant, sorting};

use crate::dispatch::core::Core;
use crate::ftl::PagePlace;
use crate::ids::{BlockId, ChannelId, ChipId, ClusterId, ColumnId, Lpn, PerId, SourceId};
use crate::plan::Plan;
use crate::trace::{Action, JobId, Kind, NONE, Observer, Operation, StepHead, StepPage};

/// A page of a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct AskedPage {
    pub(super) chip: ChipId,
    block: BlockId,
    page: u32,
    lpn: Lpn,
}

impl AskedPage {
    /// It ends then, and has the bus from then until then.
    #[inline(always)]
    pub(super) fn with(self, end: Instant, on_bus: (Instant, Instant)) -> StepPage {
        let AskedPage { chip, block, page, lpn } = self;
        StepPage { end, on_bus, chip, block, page, lpn }
    }
}

/// What a processor asks its buses for.
#[derive(Debug)]
pub(super) struct LaneAsks {
    /// The pages of its step, if all of them do the same for one job, want their buses at one
    /// instant, and none has had it: by chip.
    pub(super) row: Vec<AskedPage>,
    /// What these have in common, and since when they want their buses.
    pub(super) head: StepHead,
    pub(super) wanted: Instant,
    /// Whether all its chips are on one channel, which the head names.
    pub(super) has_one_bus: bool,
    /// Other pages of its step, by the time since when they want their buses, which stands in the
    /// place of their ends; then by chip.
    pub(super) pages: Vec<Operation>,
    /// So many of these have had theirs.
    pub(super) moved: usize,
}

impl LaneAsks {
    /// Of a processor on these chips.
    pub(super) fn new(plan: &Plan, chips: &PerId<ColumnId, ChipId>) -> LaneAsks {
        let channel = chips.iter().next().map_or(ChannelId(NONE), |&chip| plan.channel_of(chip));
        let head = StepHead {
            start: Instant::START,
            job: JobId { source: SourceId(NONE), index: 0 },
            cluster: ClusterId(NONE),
            channel,
            action: Action::Read,
            kind: Kind::Gc,
        };
        let has_one_bus = chips.iter().all(|&chip| plan.channel_of(chip) == channel);
        LaneAsks { row: Vec::new(), head, wanted: Instant::START, has_one_bus, pages: Vec::new(), moved: 0 }
    }

    /// Since when its next page wants a bus.
    #[inline(always)]
    pub(super) fn next(&self) -> Option<Instant> {
        if self.row.is_empty() { self.pages.get(self.moved).map(|page| page.end) } else { Some(self.wanted) }
    }

    /// The chip of that page.
    pub(super) fn next_chip(&self) -> Option<ChipId> {
        self.row.first().map(|page| page.chip).or(self.pages.get(self.moved).map(|page| page.chip))
    }

    /// It asks for none.
    #[inline(always)]
    pub(super) fn clear(&mut self) {
        self.moved = 0;
        self.row.clear();
        self.pages.clear();
    }

    /// Pages are added of a job, that begin now.
    #[inline(always)]
    pub(super) fn begin(&mut self, (cluster, job, kind): (ClusterId, JobId, Kind), now: Instant) {
        let head = &mut self.head;
        (head.start, head.cluster, head.job, head.kind) = (now, cluster, job, kind);
    }

    /// One of them.
    #[inline(always)]
    pub(super) fn add(&mut self, chip: ChipId, spot: PagePlace, lpn: Lpn) {
        self.row.push(AskedPage { chip, block: spot.block, page: spot.page, lpn });
    }

    /// The places of all of them, on chips of this cluster.
    pub(super) fn places(&self, chips: &PerId<ColumnId, ChipId>) -> impl Iterator<Item = (PagePlace, Lpn)> {
        self.row.iter().map(|page| {
            let column = chips.enumerate().find(|&(_, &chip)| chip == page.chip).map(|(column, _)| column);
            let chip = column.expect("a page of a processor is on one of its chips");
            (PagePlace { chip, block: page.block, page: page.page }, page.lpn)
        })
    }

    /// All of them do this, and ask for their buses. Says since when.
    #[inline(always)]
    pub(super) fn all_want<O: Observer>(&mut self, action: Action, core: &Core<O>) -> Option<Instant> {
        self.head.action = action;
        let Some(wanted) = core.all_wanted(action, self.head.start) else { return self.each_wants(core) };
        self.wanted = wanted;
        match &mut self.row[..] {
            [_] => {}
            [a, b] if b.chip < a.chip => std::mem::swap(a, b),
            [_, _] => {}
            row => sorting::by_key(row, |page| page.chip),
        }
        Some(wanted)
    }

    /// The same, each of them for itself.
    #[inline(never)]
    fn each_wants<O: Observer>(&mut self, core: &Core<O>) -> Option<Instant> {
        self.spread();
        for page in &mut self.pages {
            page.end = core.wanted(page);
        }
        self.put_into_order();
        self.next()
    }

    /// Each page is by itself from now on.
    pub(super) fn spread(&mut self) {
        let (StepHead { start, job, cluster, action, kind, .. }, end) = (self.head, self.wanted);
        let page = |AskedPage { chip, block, page, lpn }: AskedPage| Operation {
            start,
            end,
            cluster,
            chip,
            action,
            job,
            kind,
            block,
            page,
            lpn,
        };
        self.pages.extend(self.row.drain(..).map(page));
    }

    /// Whoever has wanted a bus for longest comes first.
    pub(super) fn put_into_order(&mut self) {
        let order = |page: &Operation| (page.end, page.chip);
        sorting::by_key(&mut self.pages, order);
    }
}
