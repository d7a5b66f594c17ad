//! Any of the records, and their order.

use rtflash_model::Instant;
use rtflash_plan::JobId;
use serde::{Deserialize, Serialize};

use super::record::{
    Complete, EmptyPage, Failed, LeftOut, Moved, Operation, Padding, Policed, Release, Reserve, Selection, Starved,
    TermsChange, Transfer, Trimmed,
};
use super::setup::Setup;

/// Anything that happens.
#[allow(missing_docs)] // Each variant is its record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Record {
    Setup(Setup),
    Release(Release),
    Policed(Policed),
    Failed(Failed),
    Reserve(Reserve),
    Changed(TermsChange),
    LeftOut(LeftOut),
    Complete(Complete),
    Starved(Starved),
    Moved(Moved),
    Selected(Selection),
    Padding(Padding),
    Operation(Operation),
    Transfer(Transfer),
    Trimmed(Trimmed),
    EmptyPage(EmptyPage),
}

impl Record {
    /// The order of a trace: by time (the start of an interval), at one instant as in the list of
    /// docs/executor.md, then by job, chip or channel. Equals stay as they were recorded.
    #[inline]
    pub fn order(&self) -> (Instant, u8, u64, u64, u32) {
        let job = |job: JobId| (u64::from(job.source), job.index);
        match self {
            Record::Setup(_) => (Instant::START, 0, 0, 0, 0),
            Record::Release(release) => (release.at, 1, job(release.job).0, job(release.job).1, 0),
            // Behind its release.
            Record::Policed(policed) => (policed.at, 1, job(policed.job).0, job(policed.job).1, 1),
            Record::Failed(failed) => (failed.at, 2, 0, 0, failed.chip.0),
            Record::Reserve(reserve) => (reserve.at, 2, 1, 0, reserve.chip.0),
            // Behind what has ended, before anything begins.
            Record::Trimmed(trimmed) => (trimmed.at, 2, 2, trimmed.cluster.into(), trimmed.lpn.0),
            // Terms change when nothing is left to be done; an extra job is released.
            Record::Changed(changed) if changed.extra == 0 => (changed.at, 4, u64::MAX, 0, changed.chip.0),
            Record::Changed(changed) => (changed.at, 1, u64::MAX, 0, changed.chip.0),
            Record::LeftOut(left_out) => (left_out.at, 3, left_out.cluster.into(), 0, 0),
            Record::EmptyPage(empty) => (empty.at, 3, empty.cluster.into(), 0, empty.chip.0),
            Record::Complete(complete) => (complete.at, 4, job(complete.job).0, job(complete.job).1, 0),
            Record::Starved(starved) => (starved.at, 5, job(starved.job).0, job(starved.job).1, starved.chip.0),
            Record::Moved(moved) => (moved.at, 6, moved.cluster.into(), 0, 0),
            Record::Selected(selection) => (selection.at, 7, selection.chip.into(), 0, 0),
            Record::Padding(padding) => (padding.start, 8, padding.chip.into(), 0, 0),
            Record::Operation(operation) => (operation.start, 9, operation.chip.into(), 0, 0),
            Record::Transfer(transfer) => (transfer.start, 10, transfer.channel.into(), 0, 0),
        }
    }

    /// When it is; what takes time, when it begins. The first part of [`order`](Record::order).
    #[inline]
    pub fn start(&self) -> Instant {
        self.order().0
    }
}
