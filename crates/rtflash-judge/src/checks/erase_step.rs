//! A step of a pass that erases (docs/analysis.md, Section 18).

use rtflash_model::Instant;
use serde::{Deserialize, Serialize};

use rtflash_trace::{Action, Operation};

/// All chips of the processor erase, from one instant on; those that are not over in time are
/// suspended, to one instant, and the next step is theirs.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct EraseStep {
    start: Option<Instant>,
    /// How many chips it is of, and how many of these have been seen.
    due: u32,
    seen: u32,
    pub(crate) suspended: u32,
    suspended_at: Option<Instant>,
    /// When the last one of the others ends.
    over: Instant,
}

impl EraseStep {
    /// Whether it is as the other chips of this step, or of the next one, make it.
    pub(crate) fn takes(&mut self, operation: &Operation, chips: u32) -> bool {
        let Operation { start, end, action, .. } = *operation;
        let is_next = self.start != Some(start);
        let lacks = is_next && self.is_cut_off();
        if is_next {
            let due = if self.start.is_none() { chips } else { self.suspended };
            *self = EraseStep { start: Some(start), due, ..EraseStep::default() };
        }
        self.seen += 1;
        let is_with_others = if action == Action::ErasePart {
            self.suspended += 1;
            *self.suspended_at.get_or_insert(end) == end && self.over <= end
        } else {
            self.over = self.over.max(end);
            self.suspended_at.is_none_or(|at| end <= at)
        };
        is_with_others && !lacks && self.seen <= self.due
    }

    pub(crate) fn is_cut_off(&self) -> bool {
        self.seen < self.due
    }
}

#[cfg(test)]
mod tests {
    use rtflash_model::{ChipId, ClusterId};
    use rtflash_plan::{BlockId, SourceId};
    use rtflash_trace::{JobId, Kind, NO_LPN, NONE};

    use super::*;
    use crate::samples::at;

    /// An erase over [start, end), or a part of one.
    fn erase(action: Action, start: u64, end: u64) -> Operation {
        Operation {
            start: at(start),
            end: at(end),
            job: JobId { source: SourceId(0), index: 0 },
            kind: Kind::Gc,
            action,
            cluster: ClusterId(0),
            chip: ChipId(0),
            block: BlockId(0),
            page: NONE,
            lpn: NO_LPN,
        }
    }

    #[test]
    fn chips_are_suspended_together_and_go_on_together() {
        const ALL: Action = Action::Erase;
        const PART: Action = Action::ErasePart;
        type Erases = &'static [(Action, u64, u64)];
        // Erases of three chips; how many are as they should be before one is not; and whether
        // chips are missing at the end.
        let cases: [(Erases, usize, bool); 16] = [
            (&[(ALL, 0, 9), (ALL, 0, 8), (ALL, 0, 7)], 3, false),
            (&[(ALL, 0, 9), (ALL, 0, 8)], 2, true),
            (&[(ALL, 0, 9), (ALL, 1, 8)], 1, false),
            (&[(ALL, 0, 9), (ALL, 0, 8), (ALL, 0, 7), (ALL, 0, 7)], 3, false),
            // Those that are over in time are not suspended.
            (&[(ALL, 0, 5), (PART, 0, 5), (PART, 0, 5)], 3, false),
            (&[(PART, 0, 5), (PART, 0, 5), (ALL, 0, 5)], 3, false),
            (&[(ALL, 0, 6), (PART, 0, 5)], 1, true),
            (&[(ALL, 0, 6), (ALL, 0, 2), (PART, 0, 5)], 2, false),
            (&[(PART, 0, 5), (ALL, 0, 6)], 1, true),
            (&[(PART, 0, 5), (PART, 0, 6)], 1, true),
            (&[(PART, 0, 5), (PART, 0, 4)], 1, true),
            // Those that are suspended go on.
            (&[(PART, 0, 5), (PART, 0, 5), (ALL, 0, 2), (ALL, 6, 9), (PART, 6, 9), (ALL, 10, 12)], 6, false),
            (&[(PART, 0, 5), (PART, 0, 5), (ALL, 0, 2), (ALL, 6, 9)], 4, true),
            (&[(PART, 0, 5), (PART, 0, 5), (ALL, 0, 2), (ALL, 6, 9), (ALL, 7, 9)], 4, false),
            (&[(PART, 0, 5), (PART, 0, 5), (ALL, 0, 2), (ALL, 6, 9), (ALL, 6, 9), (ALL, 6, 9)], 5, false),
            (&[(PART, 0, 5), (ALL, 0, 2), (ALL, 6, 9)], 2, false),
        ];
        for (erases, valid, is_cut_off) in cases {
            let mut step = EraseStep::default();
            assert!(!step.is_cut_off());
            let takes = |&(action, start, end): &(Action, u64, u64)| step.takes(&erase(action, start, end), 3);
            let are_so: Vec<bool> = erases.iter().map(takes).collect();
            let first = are_so.iter().position(|is_so| !is_so).unwrap_or(erases.len());
            assert_eq!((first, step.is_cut_off()), (valid, is_cut_off), "{erases:?}");
        }
    }
}
