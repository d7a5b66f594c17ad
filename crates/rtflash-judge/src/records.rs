//! The checkers of events.

mod operations;
mod start;
mod trims;

use rtflash_model::{ChipId, ClusterId, Instant, Lpn, PerId, Span};
use rtflash_plan::{Releases, SourceId, Victims, Waits};
use rtflash_trace::{
    Complete, Failed, JobId, Kind, LeftOut, Moved, NONE, Observer, Padding, Policed, Record, Release, Reserve,
    Selection, Setup, Starved, TermsChange, Transfer,
};

use super::rules::{Order, Rules};
use super::{Assumption, Checks, WatchedChip};
use crate::checks::{deadlines, passes, service};
use crate::place::Place;
use crate::shadow::jobs::{Ledger, Pending};
use crate::shadow::pages::FailedOperation;

fn find<'l>(
    ledger: &'l mut Ledger,
    chips: &PerId<ChipId, Option<WatchedChip>>,
    job: JobId,
    cluster: ClusterId,
    chip: ChipId,
) -> Option<(&'l mut Pending, WatchedChip)> {
    let pending = ledger.get(job).filter(|job| job.release.cluster == Some(cluster))?;
    Some((pending, chips[chip].filter(|at| at.cluster == cluster)?))
}

impl Checks<'_> {
    pub(crate) fn violation(&mut self, at: Instant, job: JobId) {
        self.gauges[Assumption::Conservation].note(0, 1, || Place { at, job: Some(job), ..Place::default() });
    }

    fn end_of(&self, pending: &Pending) -> Instant {
        // A superblock's pages are done when the step is. One with two page registers has begun
        // another one then, and none with pages of several jobs.
        let step = match (&self.rules, pending.release.cluster) {
            (Rules::Certified(by), Some(cluster))
                if !by.certified[cluster].is_stripe()
                    && !by.certified[cluster].is_cached()
                    && pending.last_end > pending.release.at =>
            {
                self.chips[self.plan.clusters()[cluster].chips[0]].and_then(|at| by.processors.step_end(at.processor))
            }
            _ => None,
        };
        let end = step.unwrap_or(pending.last_end);
        pending.left_out.map_or(end, |left_out| end.max(left_out))
    }
}

impl Observer for Checks<'_> {
    fn record(&mut self, record: &Record) {
        match record {
            Record::Setup(setup) => self.setup(setup),
            Record::Release(release) => self.release(release),
            Record::Policed(policed) => self.policed(policed),
            Record::Failed(failed) => self.failed(failed),
            Record::Reserve(reserve) => self.reserve(reserve),
            Record::Changed(changed) => self.changed(changed),
            Record::LeftOut(left_out) => self.left_out(left_out),
            Record::Complete(complete) => self.complete(complete),
            Record::Starved(starved) => self.starved(starved),
            Record::Moved(moved) => self.moved(moved),
            Record::Selected(selection) => self.selected(selection),
            Record::Padding(padding) => self.padding(padding),
            Record::Operation(operation) => self.operation(operation),
            Record::Transfer(transfer) => self.transfer(transfer),
            Record::Trimmed(trimmed) => self.trimmed(trimmed),
            Record::EmptyPage(empty) => self.empty_page(empty),
        }
    }

    #[inline]
    fn expect(&self, cluster: ClusterId, lpn: Lpn) {
        self.mapping.prefetch(cluster, lpn);
    }
}

impl Checks<'_> {
    fn setup(&mut self, setup: &Setup) {
        self.setup = *setup;
        self.releases.setup(setup, self.plan);
        self.desks.setup(setup);
        let worst = setup.victims == Victims::Worst;
        match &mut self.rules {
            Rules::Utilization(by) => by.passes.worst = worst,
            Rules::Certified(by) => by.collections.worst = worst,
        }
        if let (Some(aging), Some(seed)) = (setup.aging, setup.seed) {
            self.fill(aging, seed);
        }
    }

    fn release(&mut self, release: &Release) {
        if !self.ledger.is_next(release) {
            self.violation(release.at, release.job);
            return;
        }
        // From now on it is judged by what it should be, and not by what it is said to be.
        let waits = || self.ledger.has_any(|source| self.plan.sources()[source].kind == Kind::Server);
        let release = &self.releases.judge(release, waits, &mut self.gauges);
        self.ledger.release(release);
        self.released += 1;
        match release.kind {
            Kind::Server => self.has_granted |= release.deadline.is_some(),
            _ => self.has_real_time = true,
        }
        match (&mut self.rules, self.ledger.get(release.job)) {
            (Rules::Certified(by), _) => by.collections.released(release),
            (Rules::Utilization(by), Some(pending)) => {
                by.blocking.look(pending, self.plan, &mut self.gauges);
                self.rules.serial().into_iter().for_each(|edf| edf.waits(pending));
            }
            (Rules::Utilization(_), None) => {}
        }
    }

    fn complete(&mut self, complete: &Complete) {
        let Some(mut pending) = self.ledger.complete(complete.job) else {
            self.violation(complete.at, complete.job);
            return;
        };
        self.completed += 1;
        if let Rules::Certified(by) = &mut self.rules {
            pending.programs = pending.programs.saturating_add(by.failures.complete(complete.job));
        }
        let source = &self.plan.sources()[complete.job.source];
        let all = match source.releases {
            // A host says how many there are in all.
            Releases::Handed => pending.reads + pending.programs == pending.release.pages,
            Releases::Arrivals(_) => (pending.reads, pending.programs) == (source.read_pages, source.write_pages),
            _ => {
                let pages = pending.release.pages;
                let of = |kind| if pending.release.kind == kind { pages } else { 0 };
                (pending.reads, pending.programs) == (of(Kind::Read), of(Kind::Write))
            }
        };
        let gauges = &mut self.gauges;
        gauges[Assumption::Conservation].note(0, u64::from(!all), || pending.place(complete.at, None));
        let has_moved = match &mut self.rules {
            Rules::Certified(by) => by.collections.moved(complete.job, complete.at, &mut self.mapping, gauges),
            Rules::Utilization(_) => false,
        };
        let due = self.end_of(&pending);
        // That nothing more is to be moved is seen when the job goes on next.
        let late = if has_moved { Span::ZERO } else { complete.at.since(due) };
        let off = late.max(due.since(complete.at));
        let gauges = &mut self.gauges;
        gauges[Assumption::Completion].note(0, off.as_ns(), || pending.place(complete.at, None));
        if pending.release.kind == Kind::Gc && !has_moved {
            passes::complete(complete.at, &pending, gauges);
        }
        deadlines::complete(complete, &pending, self.rules.lateness(self.plan, &pending), gauges);
        service::complete(complete, &pending, self.plan, &mut gauges[Assumption::Service]);
        self.rules.serial().into_iter().for_each(|edf| edf.leaves(&pending));
    }

    fn starved(&mut self, starved: &Starved) {
        let Some(pending) = self.ledger.get(starved.job) else {
            self.violation(starved.at, starved.job);
            return;
        };
        (pending.starved, pending.was_starved) = (true, true);
        self.gauges[Assumption::GcKeepsPace].note(0, 1, || pending.place(starved.at, Some(starved.chip)));
        self.rules.serial().into_iter().for_each(|edf| edf.leaves(pending));
        if let (Rules::Certified(by), Some(at)) = (&mut self.rules, self.chips[starved.chip]) {
            by.processors.starves(at.processor);
            by.failures.starves(at.processor);
        }
    }

    fn transfer(&mut self, transfer: &Transfer) {
        if self.setup.waits == Waits::Worst && matches!(self.rules, Rules::Certified(_)) {
            // Buses carry nothing then.
            self.violation(transfer.start, transfer.job);
        }
        let gauge = &mut self.gauges[Assumption::BusExclusion];
        self.bus_exclusion.takes(transfer.channel, transfer.end, Place::from(transfer), gauge);
        self.desks.transfer(transfer, &mut self.gauges);
    }

    fn policed(&mut self, policed: &Policed) {
        // The rest is for a request that is released now, and it came no later, with no fewer
        // pages.
        let released = self.ledger.get(policed.job).map(|pending| pending.release);
        let is_valid = released.is_some_and(|release| {
            let is_request = matches!(release.kind, Kind::Read | Kind::Write);
            is_request && release.at == policed.at && policed.arrived <= policed.at && policed.pages >= release.pages
        });
        if !is_valid {
            self.violation(policed.at, policed.job);
        }
    }

    fn failed(&mut self, failed: &Failed) {
        let found = find(&mut self.ledger, &self.chips, failed.job, failed.cluster, failed.chip);
        let (Some((pending, at)), Rules::Certified(by)) = (found, &mut self.rules) else {
            self.violation(failed.at, failed.job);
            return;
        };
        let operation = self.mapping.failed(failed, at);
        let page = if let FailedOperation::Program(page) = operation { Some(page) } else { None };
        self.zones.failed(failed, at.watched, self.plan);
        // In a superblock the whole row is retired.
        let chips = match by.certified[failed.cluster].is_stripe() {
            true => at.watched..at.watched + 1,
            false => at.first()..at.first() + self.plan.clusters()[failed.cluster].chips.len(),
        };
        chips.for_each(|chip| self.page_order.retires(chip, failed.block));
        let busy_since = by.processors.busy_since(at.processor);
        let waiting = by.failures.failed(failed, at.processor, busy_since, page, &mut self.gauges);
        if let Some(page) = page {
            if page.kind != Kind::Gc && page.is_current {
                pending.programs = pending.programs.saturating_sub(1);
                pending.failed += 1;
            }
            by.collections.failed(at.processor, pending.release.kind == Kind::Server, page);
        }
        // A program or an erase that is said to have failed was one, and its step is over.
        let is_known = !matches!(operation, FailedOperation::Unknown)
            && by.processors.has_ended(at.processor, failed.at, failed.page == NONE);
        let place = || pending.place(failed.at, Some(failed.chip));
        self.gauges[Assumption::Conservation].note(0, u64::from(!is_known), place);
        for job in waiting {
            if let Some(pending) = self.ledger.get(job) {
                pending.programs = pending.programs.saturating_sub(1);
            }
        }
    }

    fn reserve(&mut self, reserve: &Reserve) {
        if let (Rules::Certified(by), Some(at)) = (&mut self.rules, self.chips[reserve.chip]) {
            by.collections.reserved(reserve, at, &mut self.mapping, &mut self.gauges);
        }
    }

    fn changed(&mut self, changed: &TermsChange) {
        self.releases.changed(changed);
        if let Rules::Certified(by) = &mut self.rules {
            // In a stripe requests may be under way on other chips.
            let stripe = by.certified[changed.cluster].is_stripe();
            let sources = self.plan.sources();
            let is_of = |source: SourceId| {
                let collected = Releases::Collected { chip: Some(changed.chip) };
                sources[source].cluster == Some(changed.cluster) && (!stripe || sources[source].releases == collected)
            };
            let idle = !self.ledger.has_any(is_of);
            let at = self.chips[changed.chip].filter(|at| at.cluster == changed.cluster);
            by.collections.changed(changed, at, idle, self.plan, &mut self.mapping);
        }
    }

    fn left_out(&mut self, left_out: &LeftOut) {
        let found = find(&mut self.ledger, &self.chips, left_out.job, left_out.cluster, left_out.chip);
        let Some((pending, at)) = found else {
            self.violation(left_out.at, left_out.job);
            return;
        };
        // A job of garbage collection has one pass.
        let again = pending.release.kind == Kind::Gc && pending.left_out.is_some();
        let gauges = &mut self.gauges;
        gauges[Assumption::Conservation].note(0, u64::from(again), || pending.place(left_out.at, None));
        pending.left_out = Some(left_out.at);
        match &mut self.rules {
            Rules::Certified(by) => by.collections.left_out(left_out, at, &mut self.mapping, gauges),
            Rules::Utilization(by) => by.passes.left_out(left_out, at, pending, &mut self.mapping, gauges),
        }
    }

    fn moved(&mut self, moved: &Moved) {
        if let Rules::Utilization(by) = &mut self.rules
            && let Order::Parallel(edf) = &mut by.order
        {
            edf.moved(moved);
        }
    }

    fn selected(&mut self, selection: &Selection) {
        let found = find(&mut self.ledger, &self.chips, selection.job, selection.cluster, selection.chip);
        let Some((pending, at)) = found else {
            self.violation(selection.at, selection.job);
            return;
        };
        let (map, gauges) = (&mut self.mapping, &mut self.gauges);
        let is_victim = match &mut self.rules {
            Rules::Certified(by) => by.collections.selected(selection, at, pending, map, gauges),
            Rules::Utilization(by) => {
                by.passes.selected(selection, at, pending, map, gauges);
                true
            }
        };
        pending.victims += u64::from(is_victim);
    }

    fn padding(&mut self, padding: &Padding) {
        let at = self.chips[padding.chip].filter(|at| at.cluster == padding.cluster);
        let (Some(pending), Some(at)) = (self.ledger.get(padding.job), at) else {
            self.violation(padding.start, padding.job);
            return;
        };
        let gauges = &mut self.gauges;
        self.desks.padding(padding, gauges);
        pending.collected = true;
        pending.last_end = padding.end.max(pending.last_end);
        match &mut self.rules {
            Rules::Certified(by) => {
                by.processors.padding(at.processor, padding.start, padding.end);
                by.collections.padding(padding, at.processor, pending, gauges);
            }
            Rules::Utilization(by) => {
                by.passes.padding(padding, at.watched, gauges);
                match &mut by.order {
                    Order::Serial(edf, idling) => {
                        if std::mem::take(&mut pending.starved) {
                            edf.waits(pending);
                        }
                        idling.serves(padding.cluster, padding.start, padding.end, pending, gauges);
                    }
                    Order::Parallel(edf) => edf.padding(padding),
                }
            }
        }
        self.latest = self.latest.max(padding.start);
    }
}
