//! Copies of a pass that follow each other, with nothing between them: they are made in one go, and
//! observers are notified of them together.

use rtflash_model::Instant;

use super::Common;
use super::lane::{Lane, LaneStep};
use crate::dispatch::cluster::ClusterState;
use crate::ftl::{NextCopy, PageStore};
use crate::ids::{ChipId, ClusterId, ColumnId, Lpn, PageId, SourceId};
use crate::trace::{CopyRun, CopyTimes, JobId, NONE, Observer};

/// Observers are notified of so many pages together at most, and what is copied at once.
const PAGES: usize = 256;

/// Copies that are made in one go.
#[derive(Debug)]
pub(super) struct CopyBuffer {
    run: CopyRun,
    next: ChipCopies,
    /// Those behind them.
    later: ChipCopies,
}

/// The page that each chip copies next that takes part.
#[derive(Debug, Default)]
struct ChipCopies {
    pages: Vec<(ColumnId, (PageId, Lpn))>,
    /// Whether a chip does something else.
    is_mixed: bool,
}

impl ChipCopies {
    fn clear(&mut self) {
        self.pages.clear();
        self.is_mixed = false;
    }

    /// What a chip does next.
    #[inline(always)]
    fn add(&mut self, chip: ColumnId, next: NextCopy) -> Option<Lpn> {
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
    fn are_all(&self) -> bool {
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

    /// Observers are notified of what there is. What follows is on the chips that are next.
    fn notify(&mut self, job: JobId, chip_of: impl Fn(ColumnId) -> ChipId, observer: &mut impl Observer) {
        if !self.run.times.is_empty() {
            observer.copies(&self.run);
        }
        self.run.clear(job);
        self.run.chips.extend(self.next.pages.iter().map(|&(chip, _)| chip_of(chip)));
    }
}

impl Lane {
    /// Goes on with copies of the pass that a job is served with, as long as they begin before
    /// something else may happen. Says when the last one ends; `None` where there is none.
    pub(super) fn go_on_with_copies(
        &mut self,
        common: &Common<'_>,
        slot: usize,
        (mut now, undisturbed): (Instant, Instant),
        observer: &mut impl Observer,
    ) -> Option<Instant> {
        if self.holds_copies {
            return None;
        }
        let (first, job) = (self.columns[ColumnId(0)].chip, self.jobs[slot].id);
        let (ClusterState { position, chips, map, collector, .. }, of) = (&mut self.cluster, &mut self.copies);
        of.next.clear();
        for chip in chips.ids() {
            of.next.add(chip, collector.next_copy(map, chip));
        }
        of.run.clear(job);
        let mut until = None;
        while of.next.are_all() && now < undisturbed {
            let read = now.saturating_add(common.lengths.read(job, first, now));
            if read >= undisturbed {
                break;
            }
            if of.run.chips.len() != of.next.pages.len() || of.run.pages.len() >= PAGES {
                of.notify(job, |chip| chips[chip], observer);
            }
            of.later.clear();
            for &(chip, page) in &of.next.pages {
                of.run.pages.push(collector.copy(map, chip, page));
                if let Some(lpn) = of.later.add(chip, collector.next_copy(map, chip)) {
                    map.prefetch_place(lpn);
                    observer.expect(*position, lpn);
                }
            }
            std::mem::swap(&mut of.next, &mut of.later);
            let end = read.saturating_add(common.lengths.program(job, first, read));
            of.run.times.push(CopyTimes { start: now, read, end });
            (now, until) = (end, Some(end));
        }
        of.notify(job, |chip| chips[chip], observer);
        if until.is_some() {
            self.jobs[slot].starved = false;
            self.serves(slot, LaneStep::GcProgram);
        }
        until
    }
}
