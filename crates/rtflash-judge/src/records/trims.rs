//! Pages that hold nothing any more, and jobs that find them so.

use rtflash_model::Lpn;
use rtflash_trace::{EmptyPage, Trimmed};

use crate::rules::Rules;
use crate::{Checks, Place};

impl Checks<'_> {
    /// A task has given pages back, which are its own.
    pub(crate) fn trimmed(&mut self, trimmed: &Trimmed) {
        let Trimmed { at, cluster, lpn: Lpn(first), pages, kept } = *trimmed;
        let Some(&chip) = self.plan.clusters()[cluster].chips.first() else { return };
        let nowhere = || Place { at, cluster: Some(cluster), ..Place::default() };
        let Rules::Certified(by) = &mut self.rules else {
            return self.mapping.gauge.note(0, 1, nowhere);
        };
        let (of, lead) = (&by.certified[cluster], self.chips[chip]);
        let owned =
            of.ranges.iter().any(|range| range.contains(&Lpn(first)) && first.saturating_add(pages) <= range.end.0);
        if lead.cluster != cluster || of.is_zoned() || !owned {
            return self.mapping.gauge.note(0, 1, nowhere);
        }
        for lpn in (first..first.saturating_add(pages)).map(Lpn) {
            let chips = &self.plan.clusters()[cluster].chips;
            let own = if of.is_stripe() { self.chips[chips[lpn.index() % chips.len()]] } else { lead };
            let copying = by.collections.copying(own.processor, at).filter(|_| of.is_stripe());
            let may_be = self.mapping.trims(own, lpn, kept, copying);
            self.mapping.gauge.note(0, u64::from(!may_be), nowhere);
        }
    }

    /// A page that a job would read holds nothing, so that it is over.
    pub(crate) fn empty_page(&mut self, empty: &EmptyPage) {
        let EmptyPage { at, job, cluster, chip, lpn } = *empty;
        let own = self.chips[chip];
        let pending = self.ledger.get(job).filter(|job| job.release.cluster == Some(cluster));
        let (Some(pending), Rules::Certified(by)) = (pending.filter(|_| own.cluster == cluster), &mut self.rules)
        else {
            self.violation(at, job);
            return;
        };
        let reads = self.plan.sources()[job.source].read_pages > 0;
        let is_own = self.ranges[job.source].contains(&lpn) || self.ranges[job.source].is_empty();
        let is_empty = reads && is_own && !self.mapping.holds(own, lpn);
        self.mapping.gauge.note(0, u64::from(!is_empty), || pending.place(at, Some(chip)));
        pending.reads += 1;
        pending.left_out = Some(at);
        by.processors.starves(chip);
    }
}
