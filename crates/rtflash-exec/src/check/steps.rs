//! Steps of superblocks that are told with their pages on one bus each, and are as they should be
//! in all respects: nearly all are. Buses are looked at step by step, and the rest processor by
//! processor, as in `row_looks`.

use rtflash_model::Instant;

use super::Checks;
use crate::trace::{ListedStep, Observer, StepBatch, StepPage};

/// The steps of each processor, of those that are looked at together, that have had their buses.
#[derive(Debug)]
pub(super) struct StepLanes {
    of_processor: Vec<Vec<ListedStep>>,
    /// Processors that have any.
    any: Vec<usize>,
}

impl StepLanes {
    /// No steps of so many processors.
    pub(super) fn new(processors: usize) -> StepLanes {
        StepLanes { of_processor: vec![Vec::new(); processors], any: Vec::new() }
    }

    /// One more of a processor.
    #[inline(always)]
    fn add(&mut self, processor: usize, step: &ListedStep) {
        let steps = &mut self.of_processor[processor];
        if steps.is_empty() {
            self.any.push(processor);
        }
        steps.push(*step);
    }
}

impl Checks<'_> {
    /// Steps of superblocks, and their pages on buses meanwhile.
    pub(super) fn look_at_steps(&mut self, steps: &StepBatch) {
        let mut lanes = std::mem::replace(&mut self.step_lanes, StepLanes::new(0));
        let mut left = steps.steps();
        while !left.is_empty() {
            left = self.have_turns(&mut lanes, left, steps.pages());
            self.look_at_lanes(&mut lanes, steps.pages());
            if let Some((step, others)) = left.split_first() {
                let (operations, buses) = StepBatch::operations(&step.head, step.of(steps.pages()));
                self.step(&operations, &buses);
                left = others;
            }
        }
        self.step_lanes = lanes;
    }

    /// Steps that follow others of their superblocks, with their pages on the bus as they should
    /// be. The buses have been theirs, and their processors are told; of all others, from the first
    /// one that is not so, nothing has changed: these are left.
    #[inline(never)]
    fn have_turns<'s>(
        &mut self,
        lanes: &mut StepLanes,
        steps: &'s [ListedStep],
        pages: &[StepPage],
    ) -> &'s [ListedStep] {
        let Checks { rows, chips, desks, bus_exclusion, breaks, quiet_buses, .. } = self;
        let Some(mut desks) = desks.step_desks() else { return steps };
        let (free_at, rows) = (bus_exclusion.all_free_at(), &mut rows[..]);
        let mut left = steps;
        while let Some((step, others)) = left.split_first() {
            let (head, pages) = (&step.head, step.of(pages));
            let (Some(first), Some(last)) = (pages.first(), pages.last()) else { return left };
            let processor = chips[first.chip].processor;
            let Some(run) = rows.get_mut(processor) else { return left };
            let follows = run.breaks == breaks.1 && run.is_asked_next(head) && first.on_bus.0 > *quiet_buses;
            if !follows {
                return left;
            }
            let free_at = &mut free_at[head.channel];
            let Some(mut turns) = desks.turns(head, first.chip, *free_at) else { return left };
            let (mut end, mut lowest) = (Instant::START, 0);
            for page in pages {
                let at = &chips[page.chip];
                let is_so = lowest <= page.chip.0
                    && (at.cluster, at.channel) == (head.cluster, head.channel)
                    && desks.has_turn(&mut turns, head.start, page);
                if !is_so {
                    return left;
                }
                end = end.max(page.end);
                lowest = page.chip.0 + 1;
            }
            *free_at = turns.next();
            desks.had_turns(&turns, last.chip);
            run.asked = (head.start, end);
            lanes.add(processor, step);
            left = others;
        }
        left
    }

    /// What processors have done over buses, as far as that has not been looked at.
    fn look_at_lanes(&mut self, lanes: &mut StepLanes, pages: &[StepPage]) {
        while let Some(processor) = lanes.any.pop() {
            let steps = &mut lanes.of_processor[processor];
            let mut left = &steps[..];
            while let Some(&step) = left.first() {
                let kept = self.keeps_steps(processor, left, pages);
                if kept == 0 {
                    let (operations, _) = StepBatch::operations(&step.head, step.of(pages));
                    self.look_at_others(&operations);
                    self.desks.have_had_pages(&operations);
                }
                left = &left[kept.max(1)..];
            }
            steps.clear();
        }
    }
}
