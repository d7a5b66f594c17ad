//! What is kept of steps of a superblock that follow each other.

use rtflash_model::{Instant, Span};
use serde::{Deserialize, Serialize};

use crate::ids::ChipId;
use crate::trace::{ListedStep, StepHead, StepPage};

/// A step, and its pages.
pub(super) type Step<'s> = (&'s StepHead, &'s [StepPage]);

/// What is kept of some steps that follow each other.
#[derive(Debug, Default)]
pub(super) struct KeptSteps<'s> {
    pub(super) steps: usize,
    /// The first one, and when the last one begins and ends.
    pub(super) first: Option<Step<'s>>,
    pub(super) last: (Instant, Instant),
    /// Those that read, and those that program.
    pub(super) reads: KeptKind<'s>,
    pub(super) programs: KeptKind<'s>,
    pub(super) served: ServedPages,
}

/// Pages of requests: what they take, and the longest that one of them waits for its bus, when and
/// on which chip.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct ServedPages {
    pub(super) service: u64,
    pub(super) waited: Option<(Span, Instant, ChipId)>,
}

impl ServedPages {
    /// One more takes so long, and waits so long for its bus: no longer than it may.
    #[inline(always)]
    pub(super) fn add(&mut self, start: Instant, chip: ChipId, (took, waited): (Span, Span)) {
        self.join(ServedPages { service: took.as_ns(), waited: Some((waited, start, chip)) });
    }

    /// Those that follow these.
    #[inline(always)]
    pub(super) fn join(&mut self, behind: ServedPages) {
        self.service = self.service.saturating_add(behind.service);
        if let Some(waited) = behind.waited
            && self.waited.is_none_or(|longest| waited.0 > longest.0)
        {
            self.waited = Some(waited);
        }
    }
}

/// Those that do the same.
#[derive(Debug, Default)]
pub(super) struct KeptKind<'s> {
    pub(super) steps: u64,
    pub(super) pages: u64,
    pub(super) last: Option<Step<'s>>,
}

impl<'s> KeptKind<'s> {
    #[inline(always)]
    pub(super) fn add(&mut self, (head, pages): Step<'s>) {
        self.steps += 1;
        self.pages += pages.len() as u64;
        self.last = Some((head, pages));
    }
}

impl<'s> KeptSteps<'s> {
    /// Looks at steps, the first of which follows what has been kept, as far as they follow each
    /// other without a break: all chips are free when the step before is over. `keeps` says whether
    /// one is as it should be, and when it ends.
    #[inline(always)]
    pub(super) fn of(
        steps: &'s [ListedStep],
        pages: &'s [StepPage],
        mut keeps: impl FnMut(&mut KeptSteps<'s>, Step<'s>) -> Option<Instant>,
    ) -> KeptSteps<'s> {
        let mut kept = KeptSteps::default();
        let mut over = steps.first().map_or(Instant::START, |first| first.head.start);
        for step in steps {
            if step.head.start != over {
                break;
            }
            let Some(end) = keeps(&mut kept, (&step.head, step.of(pages))) else { break };
            over = end;
            kept.steps += 1;
        }
        kept.first = steps.first().map(|step| (&step.head, step.of(pages)));
        if let Some(last) = kept.steps.checked_sub(1).and_then(|last| steps.get(last)) {
            kept.last = (last.head.start, over);
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::samples::at;

    #[test]
    fn of_the_longest_waits_the_first_one_is_kept() {
        let us = Span::from_us;
        let mut served = ServedPages::default();
        for (number, waits, longest) in [(0, 3, (3, 0)), (1, 2, (3, 0)), (2, 5, (5, 2)), (3, 5, (5, 2)), (4, 0, (5, 2))]
        {
            served.add(at(number.into()), ChipId(number), (us(10 + waits), us(waits)));
            let (waits, of) = longest;
            assert_eq!(served.waited, Some((us(waits), at(of.into()), ChipId(of))), "{number}");
        }
        assert_eq!(served.service, us(5 * 10 + 15).as_ns());
        served.join(ServedPages::default());
        assert_eq!((served.service, served.waited), (us(65).as_ns(), Some((us(5), at(2), ChipId(2)))));
    }
}
