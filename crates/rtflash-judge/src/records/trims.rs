//! Pages that hold nothing any more, and jobs that find them so.

use rtflash_model::Lpn;
use rtflash_trace::{EmptyPage, Trimmed};

use super::find;
use crate::rules::Rules;
use crate::{Assumption, Checks, Place};

impl Checks<'_> {
    pub(crate) fn trimmed(&mut self, trimmed: &Trimmed) {
        let Trimmed { at, cluster, lpn: Lpn(first), pages, kept } = *trimmed;
        let Some(&chip) = self.plan.clusters()[cluster].chips.first() else { return };
        let gauge = &mut self.gauges[Assumption::Mapping];
        let place = || Place::in_cluster(at, Some(cluster));
        let (Rules::Certified(by), Some(lead)) = (&mut self.rules, self.chips[chip]) else {
            return gauge.note(0, 1, place);
        };
        let of = &by.certified[cluster];
        let owned =
            of.ranges.iter().any(|range| range.contains(&Lpn(first)) && first.saturating_add(pages) <= range.end.0);
        if of.is_zoned() || !owned {
            return gauge.note(0, 1, place);
        }
        for lpn in (first..first.saturating_add(pages)).map(Lpn) {
            let chips = &self.plan.clusters()[cluster].chips;
            let own = if of.is_stripe() { self.chips[chips[lpn.index() % chips.len()]].unwrap_or(lead) } else { lead };
            let copying = by.collections.copying(own.processor, at).filter(|_| of.is_stripe());
            let may_be = self.mapping.trims(own, lpn, kept, copying);
            gauge.note(0, u64::from(!may_be), place);
        }
    }

    pub(crate) fn empty_page(&mut self, empty: &EmptyPage) {
        let EmptyPage { at, job, cluster, chip, lpn } = *empty;
        let found = find(&mut self.ledger, &self.chips, job, cluster, chip);
        let (Some((pending, own)), Rules::Certified(by)) = (found, &mut self.rules) else {
            self.violation(at, job);
            return;
        };
        let reads = self.plan.sources()[job.source].read_pages > 0;
        let is_own = self.ranges[job.source].contains(&lpn) || self.ranges[job.source].is_empty();
        let is_empty = reads && is_own && !self.mapping.holds(own, lpn);
        self.gauges[Assumption::Mapping].note(0, u64::from(!is_empty), || pending.place(at, Some(chip)));
        pending.reads += 1;
        pending.left_out = Some(at);
        by.processors.starves(own.processor);
    }
}
