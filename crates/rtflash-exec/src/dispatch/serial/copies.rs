//! Copies of a pass that follow each other, with nothing between them: they are made in one go, and
//! observers are notified of them together.

use rtflash_model::Instant;

use super::Common;
use super::lane::{Lane, LaneStep};
use crate::dispatch::cluster::ClusterState;
use crate::ids::{ColumnId, PageId};
use crate::trace::{CopyTimes, Observer};

/// Observers are notified of so many pages together at most, and what is copied at once.
const PAGES: usize = 256;

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
            let width = of.next.pages.len();
            if of.run.chips.len() != width || of.run.pages.len() >= PAGES {
                of.notify(job, |chip| chips[chip], observer);
            }
            let room = (PAGES - of.run.pages.len()).div_ceil(width);
            let movable = of.next.pages.iter().map(|&(chip, _)| PageId(collector.movable(map, chip)).index());
            let most = movable.fold(room, usize::min).max(1);
            let begun = of.run.times.len();
            while of.run.times.len() - begun < most && now < undisturbed {
                let read = now.saturating_add(common.lengths.read(job, first, now));
                if read >= undisturbed {
                    break;
                }
                let end = read.saturating_add(common.lengths.program(job, first, read));
                of.run.times.push(CopyTimes { start: now, read, end });
                now = end;
            }
            let count = of.run.times.len() - begun;
            if count == 0 {
                break;
            }
            until = Some(now);
            of.copy((collector, map), count, |lpn| observer.expect(*position, lpn));
        }
        of.notify(job, |chip| chips[chip], observer);
        if until.is_some() {
            self.jobs[slot].starved = false;
            self.serves(slot, LaneStep::GcProgram);
        }
        until
    }
}
