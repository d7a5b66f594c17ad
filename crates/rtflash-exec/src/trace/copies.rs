//! Copies of a pass, which observers are notified of together.

use rtflash_model::Instant;
use serde::{Deserialize, Serialize};

use super::record::{Action, NONE, Operation};
use crate::ids::{BlockId, ChipId, ClusterId, Lpn};
use crate::jobs::{JobId, Kind};

/// When pages are copied: they are read over [start, read), and programmed over [read, end).
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct CopyTimes {
    /// When the reads begin.
    pub start: Instant,
    /// When they end, and the programs begin.
    pub read: Instant,
    /// When these end.
    pub end: Instant,
}

/// A page that is copied inside a chip.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct CopiedPage {
    /// The logical page.
    pub lpn: Lpn,
    /// The block and the page that it is read from.
    pub from: (BlockId, u32),
    /// Those that it is programmed to.
    pub to: (BlockId, u32),
}

/// Copies that a pass makes on the same chips of a cluster, one behind the other: each time all of
/// them read a page, together, and then program it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CopyRun {
    /// The cluster.
    pub cluster: ClusterId,
    /// The job whose pass it is.
    pub job: JobId,
    /// The chips, ascending.
    pub chips: Vec<ChipId>,
    /// When pages are copied, ascending.
    pub times: Vec<CopyTimes>,
    /// The pages of all chips that are copied first, then those that are copied next, and so on.
    pub pages: Vec<CopiedPage>,
}

/// Room for so many copies: seldom more are made in one go.
const ROOM: usize = 32;

impl CopyRun {
    /// No copies of a cluster.
    pub(crate) fn new(cluster: ClusterId, job: JobId) -> CopyRun {
        CopyRun { cluster, job, chips: Vec::new(), times: Vec::new(), pages: Vec::new() }
    }

    /// The same of one chip, with room for some.
    pub(crate) fn on_chip(cluster: ClusterId, job: JobId, chip: ChipId) -> CopyRun {
        CopyRun { cluster, job, chips: vec![chip], times: Vec::with_capacity(ROOM), pages: Vec::with_capacity(ROOM) }
    }

    /// When they begin; at the end of time where there are none.
    pub(crate) fn start(&self) -> Instant {
        self.times.first().map_or(Instant::END, |times| times.start)
    }

    /// Those of a job, on no chips yet.
    pub(crate) fn clear(&mut self, job: JobId) {
        self.job = job;
        self.chips.clear();
        self.times.clear();
        self.pages.clear();
    }

    /// The operations of each step, of those copies that are wanted: by number, and by the position
    /// of the chip in the run.
    pub fn for_each_step(&self, wanted: impl Fn(usize, usize) -> bool, mut look: impl FnMut(&[Operation])) {
        let width = self.chips.len().max(1);
        let mut step = Vec::with_capacity(width);
        for (copy, (times, pages)) in self.times.iter().zip(self.pages.chunks(width)).enumerate() {
            for action in [Action::Read, Action::Program] {
                let of_chips = self.chips.iter().zip(pages).enumerate().filter(|&(chip, _)| wanted(copy, chip));
                step.extend(of_chips.map(|(_, (&chip, page))| self.operation(action, chip, times, page)));
                if !step.is_empty() {
                    look(&step);
                }
                step.clear();
            }
        }
    }

    fn operation(&self, action: Action, chip: ChipId, times: &CopyTimes, page: &CopiedPage) -> Operation {
        let ((start, end), (block, number)) = match action {
            Action::Read => ((times.start, times.read), page.from),
            Action::Program => ((times.read, times.end), page.to),
            Action::Erase | Action::ErasePart => ((times.end, times.end), (page.from.0, NONE)),
        };
        let CopyRun { cluster, job, .. } = *self;
        Operation { start, end, cluster, chip, action, job, kind: Kind::Gc, block, page: number, lpn: page.lpn }
    }
}
