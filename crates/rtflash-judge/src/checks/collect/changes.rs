//! Terms of garbage collection on a processor, and changes of them while it runs
//! (docs/admission.md).

use rtflash_model::Span;
use rtflash_plan::{Certified, ClusterPlan, CollectionChange, Plan, Promise};
use rtflash_trace::TermsChange;

use super::{CollectionTerms, Collections, ProcessorAccount};
use crate::WatchedChip;
use crate::checks::watched_pass::WatchedPass;
use crate::place::Place;
use crate::shadow::pages::Mapping;

/// Reads, in a stripe copies, and rows.
pub(crate) fn padded_steps(cluster: &ClusterPlan, by: &Certified, victim: u64) -> (u64, u64) {
    let (pages, chips) = (u64::from(cluster.layout.pages()), u64::from(cluster.layout.chips()));
    if by.is_stripe() { (victim, 0) } else { (victim.min(pages), victim.div_ceil(chips)) }
}

impl CollectionTerms {
    pub(crate) fn lacks(&self, pass: &WatchedPass) -> u64 {
        let lacks = self.padded.0.saturating_sub(pass.steps.0);
        if self.stripe {
            return lacks;
        }
        // In a superblock no step is without a page.
        let left = self.victim.saturating_sub(pass.copied).saturating_sub(pass.padded);
        lacks.min(left).max(self.padded.1.saturating_sub(pass.steps.1))
    }
}

impl ProcessorAccount {
    /// Whether its counter may be put forward so: α pages for an extra GC job that is due.
    fn puts_forward(&self, changed: &TermsChange, change: &CollectionChange) -> bool {
        // The first one comes a nanosecond behind the change.
        let spacing = if self.extra == 0 { Span::NANOSECOND } else { change.spacing };
        self.stage > 0
            && self.extra < change.extra_passes
            && u64::from(changed.extra) == self.extra + 1
            && changed.at == self.changed.saturating_add(spacing)
            && changed.arrived == self.arrived.saturating_add(change.collection.reclaimed_pages)
    }
}

impl Collections {
    /// `idle`: whether none of its cluster's jobs has a step left there.
    pub(crate) fn changed(
        &mut self,
        changed: &TermsChange,
        at: Option<WatchedChip>,
        idle: bool,
        plan: &Plan,
        map: &mut Mapping,
    ) {
        let cluster = changed.cluster;
        let place = || Place { chip: Some(changed.chip), ..Place::in_cluster(changed.at, Some(cluster)) };
        let Promise::Certified(certified) = plan.promise() else { return };
        let (by, of) = (&certified[cluster], &plan.clusters()[cluster]);
        let found = usize::try_from(changed.stage).ok().and_then(|stage| Some((stage, stage.checked_sub(1)?)));
        let found = found.and_then(|(stage, before)| Some((stage, by.changes.get(before)?)));
        let account = at.map(|at| &mut self.accounts[at.processor]);
        let (Some((stage, planned)), Some(account)) = (found, account) else {
            self.releases.note(0, 1, place);
            return;
        };
        let mut is_valid = true;
        let change = &planned.change;
        if changed.extra > 0 {
            is_valid &= stage == account.stage && account.puts_forward(changed, change);
            account.extra += 1;
            account.programmed = account.programmed.saturating_add(change.collection.reclaimed_pages);
        } else {
            let before = account.stage.checked_sub(1).map_or(0, |last| by.changes[last].change.extra_passes);
            let free = map.free(account.first, changed.at);
            is_valid &= free.is_none_or(|free| free == changed.free);
            is_valid &= idle && stage == account.stage + 1 && account.extra == before;
            is_valid &= account.programmed == account.arrived && account.passes.iter().all(|it| it.victim.is_none());
            is_valid &= changed.at >= change.not_before;
            let counted = change.counted(changed.free);
            is_valid &= counted.is_some_and(|counted| {
                let over = account.collected.saturating_mul(change.collection.reclaimed_pages);
                changed.arrived == over.saturating_add(counted)
            });
            (account.stage, account.extra, account.programmed) = (stage, 0, changed.arrived);
            account.terms = CollectionTerms {
                victim: change.collection.victim_pages,
                open: change.collection.open_blocks,
                pass: planned.pass.as_ns(),
                reclaimed: change.collection.reclaimed_pages,
                reserve: change.goal_pages,
                for_wear: 0,
                releases: true,
                padded: padded_steps(of, by, change.collection.victim_pages),
                ..account.terms
            };
        }
        (account.arrived, account.stated, account.changed) = (changed.arrived, Some(changed.at), changed.at);
        self.releases.note(0, u64::from(!is_valid), place);
    }
}
