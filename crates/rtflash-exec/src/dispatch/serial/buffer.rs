//! Copies that are made in one go, until observers are notified of them.

use rtflash_model::Id;

use crate::ftl::{Collector, NextCopy, PageMap, PageStore};
use crate::ids::{BlockId, ChipId, ClusterId, ColumnId, Lpn, PageId, SourceId};
use crate::trace::{CopiedPage, CopyRun, JobId, NO_LPN, NONE, Observer};

/// A copy that is made soon.
const NO_PAGE: CopiedPage = CopiedPage { lpn: NO_LPN, from: (BlockId(0), 0), to: (BlockId(0), 0) };

/// Copies that are made in one go.
#[derive(Debug)]
pub(super) struct CopyBuffer {
    pub(super) run: CopyRun,
    pub(super) next: ChipCopies,
    /// Those behind them.
    pub(super) later: ChipCopies,
}

/// The page that each chip copies next that takes part.
#[derive(Debug, Default)]
pub(super) struct ChipCopies {
    pub(super) pages: Vec<(ColumnId, (PageId, Lpn))>,
    /// Whether a chip does something else.
    is_mixed: bool,
}

impl ChipCopies {
    pub(super) fn clear(&mut self) {
        self.pages.clear();
        self.is_mixed = false;
    }

    /// What a chip does next.
    #[inline(always)]
    pub(super) fn add(&mut self, chip: ColumnId, next: NextCopy) -> Option<Lpn> {
        match next {
            NextCopy::Page(page, lpn) => {
                self.pages.push((chip, (page, lpn)));
                return Some(lpn);
            }
            NextCopy::Nothing => {}
            NextCopy::Other => self.is_mixed = true,
        }
        None
    }

    /// Whether there are copies, and nothing else.
    pub(super) fn are_all(&self) -> bool {
        !self.is_mixed && !self.pages.is_empty()
    }
}

impl CopyBuffer {
    /// For a cluster.
    pub(super) fn new(cluster: ClusterId) -> CopyBuffer {
        let nobody = JobId { source: SourceId(NONE), index: 0 };
        let (next, later) = (ChipCopies::default(), ChipCopies::default());
        CopyBuffer { run: CopyRun::new(cluster, nobody), next, later }
    }

    /// Each chip that is next makes so many copies: one, or as many as it can make in one go. Then
    /// it is known what is next. `expect` is notified of what is looked at soon.
    pub(super) fn copy(
        &mut self,
        (collector, map): (&mut Collector, &mut PageMap),
        count: usize,
        expect: impl Fn(Lpn),
    ) {
        let CopyBuffer { run, next, later } = self;
        let (begun, width) = (run.pages.len(), next.pages.len());
        if count > 1 {
            run.pages.resize(begun + count * width, NO_PAGE);
        }
        later.clear();
        for (place, &(chip, page)) in next.pages.iter().enumerate() {
            if count > 1 {
                let mut copies = run.pages[begun + place..].iter_mut().step_by(width);
                collector.copy_together(map, chip, PageId::from_index(count).0, |copied| {
                    expect(copied.lpn);
                    *copies.next().expect("there is room for all copies") = copied;
                });
            } else {
                run.pages.push(collector.copy(map, chip, page));
            }
            if let Some(lpn) = later.add(chip, collector.next_copy(map, chip)) {
                map.prefetch_place(lpn);
                expect(lpn);
            }
        }
        std::mem::swap(next, later);
    }

    /// Observers are notified of what there is. What follows is on the chips that are next.
    pub(super) fn notify(&mut self, job: JobId, chip_of: impl Fn(ColumnId) -> ChipId, observer: &mut impl Observer) {
        if !self.run.times.is_empty() {
            observer.copies(&self.run);
        }
        self.run.clear(job);
        self.run.chips.extend(self.next.pages.iter().map(|&(chip, _)| chip_of(chip)));
    }
}
