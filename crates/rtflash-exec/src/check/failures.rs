//! Blocks that fail: no more than the device states, and what a program was to hold that failed is
//! programmed next (rules B1 and B3).

use std::collections::BTreeMap;

use rtflash_model::Instant;
use serde::{Deserialize, Serialize};

use super::flash::place;
use super::gauge::{Gauge, Place};
use super::mapping::FailedPage;
use crate::ids::{ChipId, Lpn, PerId};
use crate::plan::Plan;
use crate::trace::{Action, Failed, Kind, NONE, Operation};

/// What has failed of a chip.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct ChipFailures {
    blocks: u32,
    /// Of these, at programs since its processor was idle last.
    programs: u32,
    busy_since: Instant,
}

/// Pages that a processor is to program once more, and since when.
#[derive(Debug, Serialize, Deserialize)]
struct PagesToRepeat {
    at: Instant,
    lpns: Vec<Lpn>,
}

/// Blocks that fail beyond what the device states, and pages that are not programmed once more,
/// against zero.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct FailedBlocks {
    pub(super) gauge: Gauge,
    /// N_s and ζ.
    stated: (u32, u32),
    chips: PerId<ChipId, ChipFailures>,
    /// By processor.
    to_repeat: BTreeMap<usize, PagesToRepeat>,
    /// When the step begins in which a processor repeats pages.
    repeating: BTreeMap<usize, Instant>,
}

impl FailedBlocks {
    pub(super) fn new(plan: &Plan) -> FailedBlocks {
        let device = plan.device();
        FailedBlocks {
            gauge: Gauge::default(),
            stated: (device.spare_blocks(), device.program_failures()),
            chips: plan.per_chip(ChipFailures::default()),
            to_repeat: BTreeMap::new(),
            repeating: BTreeMap::new(),
        }
    }

    /// Whether the device states that blocks may fail.
    pub(super) fn may_fail(&self) -> bool {
        self.stated.0 > 0
    }

    /// A block has failed on a processor that has been busy since then. `page`: what was to be
    /// programmed, where it is to be programmed once more.
    pub(super) fn failed(
        &mut self,
        failed: &Failed,
        (processor, busy_since): (usize, Instant),
        page: Option<FailedPage>,
    ) {
        let of = &mut self.chips[failed.chip];
        of.blocks = of.blocks.saturating_add(1);
        if failed.page != NONE {
            let before = if of.busy_since == busy_since { of.programs } else { 0 };
            (of.programs, of.busy_since) = (before.saturating_add(1), busy_since);
        }
        let (spare, programs) = self.stated;
        let beyond = of.blocks > spare || failed.page != NONE && of.programs > programs;
        let Failed { at, job, cluster, chip, .. } = *failed;
        let place = || Place { at, job: Some(job), cluster: Some(cluster), chip: Some(chip) };
        self.gauge.note(0, u64::from(beyond), place);
        let Some(page) = page.filter(|page| page.is_current) else { return };
        let of = self.to_repeat.entry(processor).or_insert(PagesToRepeat { at, lpns: Vec::new() });
        if of.at != at {
            // What failed before has not been repeated at once.
            self.gauge.note(0, 1, place);
            *of = PagesToRepeat { at, lpns: Vec::new() };
        }
        of.lpns.push(page.lpn);
    }

    /// Whether an operation is one that was found to be repeated.
    pub(super) fn is_repeating(&self, operation: &Operation, processor: usize) -> bool {
        self.repeating.get(&processor) == Some(&operation.start)
    }

    /// An operation of a processor: whether it programs a page once more, or begins to. A copy
    /// inside a chip (of a `stripe`) begins with its read.
    #[inline(always)]
    pub(super) fn is_repeated(&mut self, operation: &Operation, processor: usize, stripe: bool) -> bool {
        if self.to_repeat.is_empty() && self.repeating.is_empty() {
            return false;
        }
        self.find_repeated(operation, processor, stripe)
    }

    fn find_repeated(&mut self, operation: &Operation, processor: usize, stripe: bool) -> bool {
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
        self.gauge.note(0, u64::from(!is_valid), || place(operation));
        let Some(found) = found else { return false };
        of.lpns.swap_remove(found);
        if of.lpns.is_empty() {
            self.to_repeat.remove(&processor);
        }
        self.repeating.entry(processor).or_insert(operation.start);
        true
    }
}
