//! Steps of superblocks that are told with their pages on one bus each, and are as they should be
//! in all respects: nearly all are. Buses are looked at step by step, and the rest processor by
//! processor, as in `row_looks`.

use super::Checks;
use crate::trace::{ListedStep, Observer, StepBatch, StepHead, StepPage};

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
    fn add(&mut self, processor: usize, step: ListedStep) {
        let steps = &mut self.of_processor[processor];
        if steps.is_empty() {
            self.any.push(processor);
        }
        steps.push(step);
    }
}

impl Checks<'_> {
    /// Steps of superblocks, and their pages on buses meanwhile.
    #[inline(never)]
    pub(super) fn look_at_steps(&mut self, steps: &StepBatch) {
        let mut lanes = std::mem::replace(&mut self.step_lanes, StepLanes::new(0));
        for &step in steps.steps() {
            let pages = step.of(steps.pages());
            if let Some(processor) = self.has_turns(&step.head, pages) {
                lanes.add(processor, step);
            } else {
                self.look_at_lanes(&mut lanes, steps.pages());
                let (operations, buses) = StepBatch::operations(&step.head, pages);
                self.step(&operations, &buses);
            }
        }
        self.look_at_lanes(&mut lanes, steps.pages());
        self.step_lanes = lanes;
    }

    /// Whether a step follows others of a superblock, and its pages on the bus are as they should
    /// be. Then the bus has been theirs, and their processor is told; else nothing has changed.
    #[inline(always)]
    fn has_turns(&mut self, head: &StepHead, pages: &[StepPage]) -> Option<usize> {
        let (first, last) = (pages.first()?, pages.last()?);
        let Checks { rows, chips, desks, bus_exclusion, .. } = self;
        let at = chips[first.chip];
        let run = rows.get_mut(at.processor)?;
        let follows = run.breaks == self.breaks.1 && run.is_asked_next(head) && first.on_bus.0 > self.quiet_buses;
        if !follows || head.action.erases() {
            return None;
        }
        let free_at = bus_exclusion.free_at(head.channel);
        let mut turns = desks.turns(head, (first.chip, last.chip), *free_at)?;
        let (mut end, mut lowest) = (first.end, first.chip.0);
        for page in pages {
            let is_so = lowest <= page.chip.0
                && chips[page.chip].cluster == head.cluster
                && desks.has_turn(&mut turns, head.start, page);
            if !is_so {
                return None;
            }
            end = end.max(page.end);
            lowest = page.chip.0 + 1;
        }
        *free_at = turns.next();
        desks.had_turns(&turns, last.chip);
        run.asked = (head.start, end);
        Some(at.processor)
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
