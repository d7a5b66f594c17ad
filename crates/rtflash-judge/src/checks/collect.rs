//! Garbage collection under certificates: releases by the pages that arrive, passes that begin or
//! are left out, victims, copies, cost.

mod changes;
mod failed;

use rtflash_model::{ChipId, ClusterId, Instant, Lpn, PerId, Span};
use rtflash_plan::{Certified, ClusterPlan, Plan, Releases, SourceId};
use rtflash_trace::{Action, Kind, LeftOut, NONE, Operation, Padding, Release, Reserve, Selection, Step};
use serde::{Deserialize, Serialize};

use super::desks::suspension;
use super::passes::chosen;
use super::watched_pass::WatchedPass;
use crate::gauge::{Gauge, Gauges};
use crate::place::Place;
use crate::shadow::jobs::Pending;
use crate::shadow::pages::Mapping;
use crate::{Assumption, WatchedChip};
use changes::padded_steps;

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct CollectionTerms {
    /// v.
    victim: u64,
    /// F.
    open: u64,
    /// C_g.
    pass: u64,
    /// t_s + t_u; zero where erases are not suspended.
    suspension: u64,
    /// α; the largest number where nothing is collected.
    reclaimed: u64,
    /// H.
    reserve: u64,
    for_wear: u64,
    releases: bool,
    stripe: bool,
    /// Read steps (in a stripe copies) and row steps that a pass has at least, with worst victims.
    padded: (u64, u64),
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct ProcessorAccount {
    terms: CollectionTerms,
    first: WatchedChip,
    chips: u32,
    /// a, as recorded; pages of requests that have been programmed; GC jobs released.
    arrived: u64,
    programmed: u64,
    collected: u64,
    /// When a was recorded last, and when a GC job was released last.
    stated: Option<Instant>,
    released: Option<Instant>,
    /// The last change of its terms, from 1; extra GC jobs since; the last record of either.
    stage: usize,
    extra: u64,
    changed: Instant,
    repeats: u64,
    /// The passes of the GC jobs, and of the server.
    passes: [WatchedPass; 2],
}

/// All that were released, and all that the processors are recorded to have received.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct StatedArrivals {
    at: Instant,
    released: u64,
    stated: u64,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Collections {
    /// Releases of GC jobs at each α pages, against zero.
    pub(crate) releases: Gauge,
    of_source: PerId<SourceId, Option<usize>>,
    accounts: Vec<ProcessorAccount>,
    arrivals: PerId<ClusterId, StatedArrivals>,
    zoned: PerId<ClusterId, bool>,
    pub(crate) worst: bool,
}

fn terms(plan: &Plan, cluster: &ClusterPlan, by: &Certified) -> CollectionTerms {
    let collection = by.certificate.collection;
    let victim = collection.map_or(0, |of| of.victim_pages);
    let suspends = by.certificate.suspends_erases(plan.device());
    CollectionTerms {
        victim,
        open: collection.map_or(0, |of| of.open_blocks),
        pass: by.pass.map_or(0, Span::as_ns),
        suspension: suspension(plan.device()).filter(|_| suspends).map_or(0, Span::as_ns),
        reclaimed: collection.map_or(u64::MAX, |of| of.reclaimed_pages),
        reserve: collection.map_or(u64::MAX, |of| of.reserve_pages),
        for_wear: by.pages_for_wear(cluster, plan.device()),
        releases: collection.is_some_and(|of| of.deadline.is_some()),
        stripe: by.is_stripe(),
        padded: padded_steps(cluster, by, victim),
    }
}

impl Collections {
    pub(crate) fn new(
        plan: &Plan,
        certified: &PerId<ClusterId, Certified>,
        clusters: &[ClusterId],
        watched: &PerId<ChipId, Option<WatchedChip>>,
    ) -> Collections {
        let mut accounts = Vec::new();
        for &number in clusters {
            let (cluster, by) = (&plan.clusters()[number], &certified[number]);
            let (processors, chips) = if by.is_stripe() { (usize::MAX, 1) } else { (1, cluster.layout.chips()) };
            let first = cluster.chips.iter().take(processors).filter_map(|&chip| watched[chip]);
            let terms = terms(plan, cluster, by);
            accounts.extend(first.map(|first| ProcessorAccount { terms, first, chips, ..ProcessorAccount::default() }));
        }
        let processor_of = |source: &rtflash_plan::Source| {
            let Releases::Collected { chip } = source.releases else { return None };
            let first = || Some(plan.clusters()[source.cluster?].chips[0]);
            Some(watched[chip.or_else(first)?]?.processor)
        };
        Collections {
            releases: Gauge::default(),
            of_source: plan.sources().iter().map(processor_of).collect(),
            accounts,
            arrivals: plan.per_cluster(StatedArrivals::default()),
            zoned: certified.iter().map(Certified::is_zoned).collect(),
            worst: false,
        }
    }

    pub(crate) fn released(&mut self, release: &Release) {
        let Some(cluster) = release.cluster else { return };
        if release.kind == Kind::Write && !self.zoned[cluster] {
            let arrivals = &mut self.arrivals[cluster];
            // Earlier releases have been recorded on the processors.
            let unstated = release.at > arrivals.at && arrivals.released != arrivals.stated;
            (arrivals.at, arrivals.released) = (release.at, arrivals.released.saturating_add(release.pages));
            self.releases.note(0, u64::from(unstated), || Place {
                job: Some(release.job),
                ..Place::in_cluster(release.at, Some(cluster))
            });
        }
        if let Some(processor) = self.of_source[release.job.source] {
            let account = &mut self.accounts[processor];
            account.collected += 1;
            account.released = Some(release.at);
        }
    }

    /// Pages have arrived on the processor of a chip: rule R1.
    pub(crate) fn reserved(&mut self, reserve: &Reserve, at: WatchedChip, map: &mut Mapping, gauges: &mut Gauges) {
        let account = &mut self.accounts[at.processor];
        let place = || Place { chip: Some(reserve.chip), ..Place::in_cluster(reserve.at, Some(reserve.cluster)) };
        if self.zoned[at.cluster] {
            self.releases.note(0, 1, place);
            return;
        }
        // A GC job came in between where no pages did.
        let astray =
            account.released > account.stated && account.released != Some(reserve.at) && account.released.is_some();
        let more = reserve.arrived.checked_sub(account.arrived);
        let arrivals = &mut self.arrivals[reserve.cluster];
        // A count that falls is no arrival of pages; it is noted below.
        arrivals.stated = more.map_or(arrivals.stated, |more| arrivals.stated.saturating_add(more));
        let due = account.due(reserve.arrived);
        (account.arrived, account.stated) = (reserve.arrived, Some(reserve.at));
        let off =
            at.cluster != reserve.cluster || more.is_none_or(|more| more == 0) || astray || account.collected != due;
        self.releases.note(0, u64::from(off), place);
        let pending = account.arrived.checked_sub(account.programmed);
        let free = map.free(account.first, reserve.at);
        let claimed = pending != Some(reserve.pending) || free.is_some_and(|free| free != reserve.free);
        self.releases.note(0, u64::from(claimed), place);
        // Whether the free pages suffice for what has arrived.
        let place = || Place { cluster: Some(at.cluster), ..place() };
        gauges[Assumption::Reserve].note(free.unwrap_or(reserve.free), account.waiting(), place);
    }

    /// A victim is chosen: rule R4. Says whether it is one, and no block that a GC job empties.
    pub(crate) fn selected(
        &mut self,
        selection: &Selection,
        at: WatchedChip,
        pending: &Pending,
        map: &mut Mapping,
        gauges: &mut Gauges,
    ) -> bool {
        let account = &mut self.accounts[at.processor];
        let place = || Place::from(selection);
        let ProcessorAccount { first, terms, .. } = *account;
        let free = map.free(first, selection.at);
        let wanted = account.waiting().saturating_add(terms.reserve);
        let retired = map.retired(first, selection.block);
        // If enough is free there is no pass.
        let needless = free.is_some_and(|free| free >= wanted);
        let levels = retired.is_none()
            && needless
            && pending.release.kind == Kind::Gc
            && map.least_worn(first).is_some_and(|least| least.0 == selection.block);
        let taken = if levels { map.take(first, selection.block) } else { None };
        if let Some(valid) = retired.or(taken) {
            let room = wanted.saturating_sub(if levels { terms.for_wear.min(terms.reserve) } else { 0 });
            let is_void = free.is_none_or(|free| free > room);
            account.moves(selection, pending, valid, levels, is_void, gauges);
            return false;
        }
        gauges[Assumption::GcLeftOut].note(0, u64::from(needless || selection.forced), place);
        if let Some((fewest, lowest, open)) = map.fewest(first) {
            let valid = map.take(first, selection.block).unwrap_or(NONE);
            chosen(selection, fewest, lowest, valid, 0, gauges);
            gauges[Assumption::VictimBound].note(terms.victim, valid.into(), place);
            gauges[Assumption::OpenBlocks].note(terms.open, open, place);
        }
        let pass = account.pass(pending);
        gauges[Assumption::Copies].note(0, u64::from(pass.victim.is_some()), place);
        *pass = WatchedPass { victim: Some(selection.block), ..WatchedPass::default() };
        true
    }

    /// Rule R3.
    pub(crate) fn left_out(&self, left_out: &LeftOut, at: WatchedChip, map: &mut Mapping, gauges: &mut Gauges) {
        let account = &self.accounts[at.processor];
        let (first, waiting) = (account.first, account.waiting());
        let free = map.free(first, left_out.at);
        let enough = left_out.free >= waiting.saturating_add(account.terms.reserve);
        let nothing = map.fewest(first).is_none_or(|(fewest, ..)| fewest == NONE);
        let uneven = self.of_source[left_out.job.source].is_some()
            && free.is_some_and(|free| account.terms.may_level(free, waiting))
            && map.least_worn(first).is_some();
        let is_valid = free.is_none_or(|free| free == left_out.free) && (enough || nothing) && !uneven;
        gauges[Assumption::GcLeftOut].note(0, u64::from(!is_valid), || Place::from(left_out));
    }

    pub(crate) fn padding(&mut self, padding: &Padding, processor: usize, pending: &Pending, gauges: &mut Gauges) {
        let account = &mut self.accounts[processor];
        let is_valid = self.worst && (padding.step == Step::Copyback) == account.terms.stripe;
        gauges[Assumption::Padding].note(0, u64::from(!is_valid), || Place::from(padding));
        let pass = account.pass(pending);
        pass.time = pass.time.saturating_add(padding.end.since(padding.start).as_ns());
        match padding.step {
            Step::Read | Step::Copyback => {
                pass.steps.0 += 1;
                pass.padded += 1;
            }
            Step::Program => pass.steps.1 += 1,
        }
    }

    /// An operation that takes a page that is not pending has started: the map knows of it.
    #[inline(always)]
    pub(crate) fn took(
        &self,
        operation: &Operation,
        processor: usize,
        background: bool,
        repeated: bool,
        map: &mut Mapping,
        gauges: &mut Gauges,
    ) {
        let account = &self.accounts[processor];
        let Some(free) = map.free(account.first, operation.start) else { return };
        let (waiting, pass, terms) = (account.waiting(), &account.passes[0], account.terms);
        let place = || Place::from(operation);
        // Nor does a GC job that is void, and moves pages.
        let moves = operation.kind == Kind::Gc
            && pass.moves.is_some_and(|(job, _)| job == operation.job)
            && operation.action == if terms.stripe { Action::Read } else { Action::Program };
        // A page that is programmed once more has the place that a block which was kept back gave
        // for it.
        if (background || moves) && !repeated {
            // It takes nothing of what is kept in reserve, but for what is there for wear.
            let for_wear = if moves && pass.levels { terms.for_wear } else { 0 };
            let waiting = waiting.saturating_add(terms.reserve.saturating_sub(for_wear));
            gauges[Assumption::Reserve].note(free, waiting, place);
        }
        gauges[Assumption::Reserve].note(free, waiting, || Place { job: None, ..place() });
    }

    #[inline(always)]
    pub(crate) fn operation(
        &mut self,
        operation: &Operation,
        at: WatchedChip,
        repeated: bool,
        pending: &Pending,
        map: &Mapping,
        gauges: &mut Gauges,
    ) {
        let account = &mut self.accounts[at.processor];
        let place = || pending.place(operation.start, Some(operation.chip));
        let (terms, chips) = (account.terms, account.chips);
        let pass = account.pass(pending);
        if !repeated {
            pass.takes(operation.start, operation.end);
        }
        let valid = |&(lpn, spot): &(Lpn, u32)| map.is_at(operation.cluster, lpn, spot);
        let is_valid = match operation.action {
            Action::Read => {
                if pass.began.0.replace(operation.start) != Some(operation.start) {
                    pass.steps.0 += 1;
                }
                let kept = terms.stripe && pass.buffer.iter().any(valid);
                if terms.stripe {
                    pass.buffer.clear();
                }
                pass.buffer.push((operation.lpn, map.spot(at.position, operation.block, operation.page)));
                pass.copied += u64::from(!repeated);
                let too_many = pass.moves.is_some_and(|(_, most)| pass.copied > most);
                pass.read = Some(operation.end);
                pass.victim == Some(operation.block) && !kept && !too_many
            }
            Action::Program => {
                if pass.began.1.replace(operation.start) != Some(operation.start) {
                    pass.steps.1 += 1;
                }
                let read = pass.takes_from_buffer(operation.lpn);
                // In a stripe a copy is one operation.
                let together = !terms.stripe || pass.read == Some(operation.start);
                read.as_ref().is_some_and(valid) && together
            }
            Action::Erase | Action::ErasePart => {
                let kept = pass.buffer.iter().any(valid);
                let is_valid = pass.victim == Some(operation.block) && !kept && pass.moves.is_none();
                if operation.action == Action::Erase {
                    gauges[Assumption::GcCost].note(terms.pass.saturating_add(pass.suspended), pass.total(), place);
                    if pass.erased == 0 {
                        gauges[Assumption::VictimBound].note(terms.victim, pass.copied, place);
                        if self.worst {
                            gauges[Assumption::Padding].note(0, terms.lacks(pass), place);
                        }
                    }
                }
                pass.erases(operation, chips, terms.suspension) && is_valid
            }
        };
        gauges[Assumption::Copies].note(0, u64::from(!is_valid), place);
    }

    /// In a stripe, if the copy is to be programmed at this instant or later.
    pub(crate) fn copying(&self, processor: usize, at: Instant) -> Option<u32> {
        let passes = self.accounts[processor].passes.iter();
        let mut copied = passes.filter(|pass| pass.read.is_some_and(|read| read >= at));
        copied.find_map(|pass| pass.buffer.last().map(|&(_, there)| there))
    }

    pub(crate) fn finish(&mut self, duration: Instant, gauges: &mut Gauges) {
        for account in &self.accounts {
            let place = || Place::in_cluster(duration, Some(account.first.cluster));
            let astray = account.released.is_some() && account.released > account.stated;
            if account.collected != account.due(account.arrived) || astray {
                self.releases.note(0, 1, place);
            }
            for _ in account.passes.iter().filter(|pass| pass.erase.is_cut_off()) {
                gauges[Assumption::Copies].note(0, 1, place);
            }
        }
        for (cluster, arrivals) in self.arrivals.enumerate() {
            if arrivals.released != arrivals.stated {
                self.releases.note(0, 1, || Place::in_cluster(duration, Some(cluster)));
            }
        }
    }
}

impl ProcessorAccount {
    /// Pages of requests that have arrived and are not programmed.
    fn waiting(&self) -> u64 {
        self.arrived.saturating_sub(self.programmed)
    }

    fn due(&self, arrived: u64) -> u64 {
        if self.terms.releases { arrived / self.terms.reclaimed } else { 0 }
    }

    fn pass(&mut self, pending: &Pending) -> &mut WatchedPass {
        &mut self.passes[usize::from(pending.release.kind == Kind::Server)]
    }
}
