//! The known state of a pass under a certificate.

use rtflash_model::{Instant, Lpn};
use rtflash_plan::BlockId;
use rtflash_trace::{Action, JobId, Operation};
use serde::{Deserialize, Serialize};

use super::erase_step::EraseStep;

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct WatchedPass {
    pub(crate) victim: Option<BlockId>,
    /// Pages that have been read and not programmed: the logical page, and where it was.
    pub(crate) buffer: Vec<(Lpn, u32)>,
    pub(crate) copied: u64,
    /// Begin and number of reads, and of programs, padding included.
    pub(crate) began: (Option<Instant>, Option<Instant>),
    pub(crate) read: Option<Instant>,
    pub(crate) steps: (u64, u64),
    pub(crate) padded: u64,
    /// Steps that are over, and the last one: a step ends when all its chips are done.
    pub(crate) time: u64,
    pub(crate) step: Option<(Instant, Instant)>,
    pub(crate) erased: u32,
    /// The longest addition to its time as its erase was suspended.
    pub(crate) suspended: u64,
    pub(crate) erase: EraseStep,
    /// Whose it is and how many pages it copies at most, where its block has failed.
    pub(crate) moves: Option<(JobId, u64)>,
    /// Whether that block is worn least, and has not failed.
    pub(crate) levels: bool,
}

impl WatchedPass {
    #[inline(always)]
    pub(crate) fn takes(&mut self, start: Instant, end: Instant) {
        match &mut self.step {
            Some(step) if step.0 == start => step.1 = step.1.max(end),
            _ => {
                self.time = self.total();
                self.step = Some((start, end));
            }
        }
    }

    /// Or a part of it; `suspension`: what suspending takes. Whether it is as the other chips' are.
    pub(crate) fn erases(&mut self, operation: &Operation, chips: u32, suspension: u64) -> bool {
        let is_so = self.erase.takes(operation, chips);
        if operation.action == Action::ErasePart {
            if self.erase.suspended == 1 {
                self.suspended = self.suspended.saturating_add(suspension);
            }
            return is_so && suspension > 0;
        }
        self.erased += 1;
        if self.erased == chips {
            *self = WatchedPass::default();
        }
        is_so
    }

    /// A page is programmed: where it was, if it has been read. Nearly always it is the first one.
    #[inline(always)]
    pub(crate) fn takes_from_buffer(&mut self, lpn: Lpn) -> Option<(Lpn, u32)> {
        let found = self.buffer.iter().position(|&(other, _)| other == lpn);
        found.map(|at| self.buffer.remove(at))
    }

    pub(crate) fn total(&self) -> u64 {
        self.time.saturating_add(self.step.map_or(0, |(start, end)| end.since(start).as_ns()))
    }
}

#[cfg(test)]
mod tests {
    use rtflash_model::{ChipId, ClusterId};
    use rtflash_plan::SourceId;
    use rtflash_trace::{Kind, NO_LPN, NONE};

    use super::*;
    use crate::samples::at;

    #[test]
    fn a_pass_takes_longer_for_each_step_in_which_its_erase_is_suspended() {
        let mut pass = WatchedPass::default();
        let mut erases = |part: bool, (start, end): (u64, u64), suspension: u64| {
            let operation = Operation {
                start: at(start),
                end: at(end),
                cluster: ClusterId(0),
                chip: ChipId(0),
                action: if part { Action::ErasePart } else { Action::Erase },
                job: JobId { source: SourceId(0), index: 0 },
                kind: Kind::Gc,
                block: BlockId(0),
                page: NONE,
                lpn: NO_LPN,
            };
            (pass.erases(&operation, 3, suspension), pass.suspended, pass.erased)
        };
        // Three chips are suspended together, then two of them, and then one erases alone.
        assert_eq!(erases(true, (0, 5), 7), (true, 7, 0));
        assert_eq!(erases(true, (0, 5), 7), (true, 7, 0));
        assert_eq!(erases(true, (0, 5), 7), (true, 7, 0));
        assert_eq!(erases(false, (8, 9), 7), (true, 7, 1));
        assert_eq!(erases(true, (8, 10), 7), (true, 14, 1));
        assert_eq!(erases(true, (8, 10), 7), (true, 14, 1));
        assert_eq!(erases(false, (11, 12), 7), (true, 14, 2));
        // That is the end of the pass.
        assert_eq!(erases(false, (11, 12), 7), (true, 0, 0));
        // If erases are not suspended no part is as it should be.
        assert_eq!(erases(true, (20, 21), 0), (false, 0, 0));
    }
}
