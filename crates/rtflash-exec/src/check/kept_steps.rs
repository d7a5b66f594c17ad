//! What is kept of steps of a superblock that follow each other.

use rtflash_model::{Instant, Span};

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
    /// What the pages of requests take, and the longest that one of them waits for its bus, when
    /// and on which chip.
    pub(super) service: u64,
    pub(super) waited: Option<(Span, Instant, ChipId)>,
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

    /// A page of a request takes so long, and waits so long for its bus: no longer than it may.
    #[inline(always)]
    pub(super) fn serves(&mut self, start: Instant, chip: ChipId, (took, waited): (Span, Span)) {
        self.service = self.service.saturating_add(took.as_ns());
        if self.waited.is_none_or(|(longest, ..)| waited > longest) {
            self.waited = Some((waited, start, chip));
        }
    }
}
