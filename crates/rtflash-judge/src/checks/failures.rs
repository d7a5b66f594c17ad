//! Blocks that fail: no more than the device states, and what a program was to hold that failed is
//! programmed next (rules B1 and B3).

use std::collections::BTreeMap;

use rtflash_model::{ChipId, Instant, Lpn, PerId};
use rtflash_plan::Plan;
use rtflash_trace::{Action, Failed, JobId, Kind, NONE, Operation};
use serde::{Deserialize, Serialize};

use crate::Assumption;
use crate::gauge::Gauges;
use crate::place::Place;
use crate::shadow::pages::FailedPage;

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct ChipFailures {
    blocks: u32,
    /// The failures at programs since its processor was idle last.
    programs: u32,
    busy_since: Instant,
}

#[derive(Debug, Serialize, Deserialize)]
struct PagesToRepeat {
    at: Instant,
    lpns: Vec<Lpn>,
}

/// Its job is not over before the page that overwrote it, which failed too, has been programmed.
#[derive(Debug, Serialize, Deserialize)]
struct OverwrittenPage {
    processor: usize,
    lpn: Lpn,
    job: JobId,
    stands: OverwrittenState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum OverwrittenState {
    /// It has failed then, and the other one has not, as far as is known.
    Failed(Instant),
    /// The other one has, too, and is to be programmed once more.
    Waits,
    /// It is programmed once more from then on.
    Repeated(Instant),
}

/// Blocks beyond what the device states, and pages not programmed once more, against zero.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FailedBlocks {
    /// N_s and ζ.
    stated: (u32, u32),
    chips: PerId<ChipId, ChipFailures>,
    to_repeat: BTreeMap<usize, PagesToRepeat>,
    /// When the step begins in which a processor repeats pages.
    repeating: BTreeMap<usize, Instant>,
    overwritten: Vec<OverwrittenPage>,
    /// Processors on which a job has found no page: they may have none to repeat what failed.
    starved: Vec<usize>,
}

impl FailedBlocks {
    pub(crate) fn new(plan: &Plan) -> FailedBlocks {
        let device = plan.device();
        FailedBlocks {
            stated: (device.spare_blocks(), device.program_failures()),
            chips: plan.per_chip(ChipFailures::default()),
            to_repeat: BTreeMap::new(),
            repeating: BTreeMap::new(),
            overwritten: Vec::new(),
            starved: Vec::new(),
        }
    }

    pub(crate) fn may_fail(&self) -> bool {
        self.stated.0 > 0
    }

    /// The processor has been busy since then. `page`: what was to be programmed. Gives the jobs
    /// that wait from now on for another one's page, one for each page.
    pub(crate) fn failed(
        &mut self,
        failed: &Failed,
        processor: usize,
        busy_since: Instant,
        page: Option<FailedPage>,
        gauges: &mut Gauges,
    ) -> Vec<JobId> {
        let of = &mut self.chips[failed.chip];
        of.blocks = of.blocks.saturating_add(1);
        if failed.page != NONE {
            let before = if of.busy_since == busy_since { of.programs } else { 0 };
            (of.programs, of.busy_since) = (before.saturating_add(1), busy_since);
        }
        let (spare, programs) = self.stated;
        let beyond = of.blocks > spare || failed.page != NONE && of.programs > programs;
        let Failed { at, job, .. } = *failed;
        let place = || Place::from(failed);
        gauges[Assumption::Failures].note(0, u64::from(beyond), place);
        let Some(page) = page else { return Vec::new() };
        if !page.is_current {
            return self.overwritten_failed(processor, at, page, job);
        }
        let of = self.to_repeat.entry(processor).or_insert(PagesToRepeat { at, lpns: Vec::new() });
        if of.at != at {
            // An earlier failure has not been repeated at once.
            gauges[Assumption::Failures].note(0, 1, place);
            *of = PagesToRepeat { at, lpns: Vec::new() };
        }
        of.lpns.push(page.lpn);
        self.wait_for(processor, at, page.lpn)
    }

    fn overwritten_failed(
        &mut self,
        processor: usize,
        at: Instant,
        FailedPage { kind, lpn, .. }: FailedPage,
        job: JobId,
    ) -> Vec<JobId> {
        let to_repeat = self.to_repeat.get(&processor);
        let waits = to_repeat.is_some_and(|of| of.at == at && of.lpns.contains(&lpn));
        if kind != Kind::Gc {
            let stands = if waits { OverwrittenState::Waits } else { OverwrittenState::Failed(at) };
            self.overwritten.push(OverwrittenPage { processor, lpn, job, stands });
        }
        Vec::from_iter(waits.then_some(job))
    }

    /// A page is to be programmed once more: what it has overwritten waits for that.
    fn wait_for(&mut self, processor: usize, at: Instant, lpn: Lpn) -> Vec<JobId> {
        let repeating = self.repeating.get(&processor).copied().map(OverwrittenState::Repeated);
        let mut waiting = Vec::new();
        for of in self.overwritten.iter_mut().filter(|of| (of.processor, of.lpn) == (processor, lpn)) {
            if of.stands == OverwrittenState::Failed(at) {
                waiting.push(of.job);
                of.stands = OverwrittenState::Waits;
            } else if Some(of.stands) == repeating {
                of.stands = OverwrittenState::Waits;
            }
        }
        waiting
    }

    pub(crate) fn starves(&mut self, processor: usize) {
        if !self.starved.contains(&processor) {
            self.starved.push(processor);
        }
    }

    pub(crate) fn finish(&self, duration: Instant, gauges: &mut Gauges) {
        for (processor, of) in &self.to_repeat {
            let is_left = of.at < duration && !self.starved.contains(processor);
            gauges[Assumption::Failures].note(0, u64::from(is_left), || Place::in_cluster(of.at, None));
        }
    }

    pub(crate) fn complete(&mut self, job: JobId) -> u64 {
        if self.overwritten.is_empty() {
            return 0;
        }
        let own = self.overwritten.extract_if(.., |of| of.job == job);
        own.filter(|of| matches!(of.stands, OverwrittenState::Repeated(_))).count() as u64
    }

    pub(crate) fn is_repeating(&self, operation: &Operation, processor: usize) -> bool {
        self.repeating.get(&processor) == Some(&operation.start)
    }

    /// Programs a page once more, or begins to: a copy in a chip (`stripe`) begins with its read.
    #[inline(always)]
    pub(crate) fn is_repeated(
        &mut self,
        operation: &Operation,
        processor: usize,
        stripe: bool,
        gauges: &mut Gauges,
    ) -> bool {
        if self.to_repeat.is_empty() && self.repeating.is_empty() {
            return false;
        }
        let is_copy = stripe && operation.kind == Kind::Gc;
        // The program of a copy is behind its read.
        if let Some(&begun) = self.repeating.get(&processor) {
            if is_copy && operation.action == Action::Program {
                self.repeating.remove(&processor);
                return true;
            }
            if begun != operation.start {
                self.repeating.remove(&processor);
            }
        }
        let Some(of) = self.to_repeat.get_mut(&processor) else { return false };
        let begins = if is_copy { Action::Read } else { Action::Program };
        let found = of.lpns.iter().position(|&lpn| lpn == operation.lpn).filter(|_| operation.action == begins);
        let is_valid = found.is_some() && of.at == operation.start;
        gauges[Assumption::Failures].note(0, u64::from(!is_valid), || Place::from(operation));
        let Some(found) = found else { return false };
        of.lpns.swap_remove(found);
        for with in self.overwritten.iter_mut().filter(|with| (with.processor, with.lpn) == (processor, operation.lpn))
        {
            if with.stands == OverwrittenState::Waits {
                with.stands = OverwrittenState::Repeated(operation.start);
            }
        }
        if of.lpns.is_empty() {
            self.to_repeat.remove(&processor);
        }
        self.repeating.entry(processor).or_insert(operation.start);
        true
    }
}
