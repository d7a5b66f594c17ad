//! Blocks that fail, and pages that are moved from there (docs/analysis.md, rule B4), or from
//! blocks that are worn least.

use rtflash_model::Instant;
use rtflash_trace::{Action, JobId, Kind, Operation, Selection};

use super::{CollectionTerms, Collections, ProcessorAccount};
use crate::Assumption;
use crate::checks::watched_pass::WatchedPass;
use crate::gauge::Gauges;
use crate::place::Place;
use crate::shadow::jobs::Pending;
use crate::shadow::pages::{FailedPage, Mapping};

impl CollectionTerms {
    /// `free` pages are there, and `waiting` ones to come.
    pub(crate) fn may_level(&self, free: u64, waiting: u64) -> bool {
        self.victim > 0 && free > waiting.saturating_add(self.reserve.saturating_sub(self.for_wear))
    }
}

impl Collections {
    #[inline]
    pub(crate) fn own(&mut self, operation: &Operation, processor: usize) {
        if operation.kind == Kind::Write && operation.action == Action::Program {
            let account = &mut self.accounts[processor];
            if let Some(left) = account.repeats.checked_sub(1) {
                account.repeats = left;
                return;
            }
            // The number at the begin of a trace can be any.
            account.programmed = account.programmed.saturating_add(1);
        }
    }

    /// It is programmed once more if it is still what its logical page is to hold.
    pub(crate) fn failed(&mut self, processor: usize, server: bool, page: FailedPage) {
        let account = &mut self.accounts[processor];
        match page.kind {
            _ if !page.is_current => {}
            Kind::Write => account.repeats += 1,
            Kind::Gc => {
                // In a stripe it is read once more.
                if !account.terms.stripe {
                    account.passes[usize::from(server)].buffer.push((page.lpn, page.old));
                }
            }
            Kind::Read | Kind::Server => {}
        }
    }

    /// A GC job is complete: if it has moved pages, it is over with that. Says whether it has.
    pub(crate) fn moved(&mut self, job: JobId, at: Instant, map: &mut Mapping, gauges: &mut Gauges) -> bool {
        let Some(processor) = self.of_source[job.source] else { return false };
        let account = &mut self.accounts[processor];
        let pass = &mut account.passes[0];
        let moves = pass.moves.is_some_and(|(of, _)| of == job);
        if moves {
            let of = std::mem::take(pass);
            let place = || Place { job: Some(job), ..Place::in_cluster(at, Some(account.first.cluster)) };
            gauges[Assumption::GcCost].note(account.terms.pass, of.total(), place);
            if let Some(block) = of.victim {
                map.give_back(account.first, block);
            }
        }
        moves
    }
}

impl ProcessorAccount {
    /// They are of a block that has failed, or (`levels`) is worn least.
    pub(super) fn moves(
        &mut self,
        selection: &Selection,
        pending: &Pending,
        valid: u32,
        levels: bool,
        is_void: bool,
        gauges: &mut Gauges,
    ) {
        let most = self.terms.victim;
        let is_valid = is_void && most > 0 && pending.release.kind == Kind::Gc && !selection.forced;
        let pass = &mut self.passes[0];
        let is_honest = pass.victim.is_none() && valid > 0 && valid == selection.valid;
        let moves = Some((selection.job, most));
        *pass = WatchedPass { victim: Some(selection.block), moves, levels, ..WatchedPass::default() };
        gauges[Assumption::GcLeftOut].note(0, u64::from(!is_valid), || Place::from(selection));
        gauges[Assumption::Copies].note(0, u64::from(!is_honest), || Place::from(selection));
    }
}
