//! Garbage collection under certificates: releases by the pages that arrive, passes that begin or
//! are left out, victims, copies, cost.

mod changes;
mod copies;
mod end;
mod failed;

use rtflash_model::{ChipId, ClusterId, Instant, Lpn, PerId, Span};
use rtflash_plan::{Certified, ClusterPlan, ColumnId, Plan, Releases, SourceId, Victims};
use rtflash_trace::{Action, Kind, LeftOut, NONE, Operation, Padding, Release, Reserve, Selection, Step};
use serde::{Deserialize, Serialize};

use super::desks::suspension;
use super::passes::Collecting;
use super::watched_pass::WatchedPass;
use crate::gauge::Gauge;
use crate::place::Place;
use crate::shadow::jobs::Pending;
use crate::shadow::pages::Mapping;
use changes::padded_steps;

/// What a certificate says of a processor.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
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
    /// So many pages of it are there for wear.
    for_wear: u64,
    /// Whether GC jobs are released.
    releases: bool,
    stripe: bool,
    /// Read steps (in a stripe copies) and row steps that a pass has at least, with worst victims.
    padded: (u64, u64),
}

/// A processor's account.
#[derive(Debug, Serialize, Deserialize)]
struct ProcessorAccount {
    terms: CollectionTerms,
    cluster: ClusterId,
    /// Its first chip, among those that are watched; and its position in the cluster.
    chip: usize,
    position: ColumnId,
    chips: u32,
    /// a, as recorded; pages of requests that have been programmed; GC jobs released.
    arrived: u64,
    programmed: u64,
    collected: u64,
    /// When a was recorded last, and when a GC job was released last.
    stated: Option<Instant>,
    released: Option<Instant>,
    /// The last change of its terms, from 1; extra GC jobs since then; and the last record of
    /// either.
    stage: usize,
    extra: u64,
    changed: Instant,
    /// Pages of requests that are to be programmed once more.
    repeats: u64,
    /// Of the GC jobs, and of the server.
    passes: [WatchedPass; 2],
}

/// Pages that a cluster's requests have to write: all that were released, and all that the
/// processors are recorded to have received.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct StatedArrivals {
    at: Instant,
    released: u64,
    stated: u64,
}

/// All processors that are watched.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Collections {
    pub(crate) gc: Collecting,
    /// Releases of GC jobs at each α pages, against zero.
    pub(crate) releases: Gauge,
    pub(crate) victims: Gauge,
    pub(crate) cost: Gauge,
    pub(crate) open: Gauge,
    pub(crate) reserve: Gauge,
    of_chip: PerId<ChipId, Option<usize>>,
    of_source: PerId<SourceId, Option<usize>>,
    accounts: Vec<ProcessorAccount>,
    arrivals: PerId<ClusterId, StatedArrivals>,
    /// Clusters whose tasks own zones: nothing is said of what arrives there.
    zoned: PerId<ClusterId, bool>,
    worst: bool,
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
    pub(crate) fn new(plan: &Plan, certified: &PerId<ClusterId, Certified>, clusters: &[ClusterId]) -> Collections {
        let mut of_chip = plan.per_chip(None);
        let mut accounts = Vec::new();
        let mut watched = 0;
        for &number in clusters {
            let cluster = &plan.clusters()[number];
            let (terms, count) = (terms(plan, cluster, &certified[number]), cluster.layout.chips());
            for (position, &chip) in (0..).map(ColumnId).zip(&cluster.chips) {
                if terms.stripe || position == ColumnId(0) {
                    let chips = if terms.stripe { 1 } else { count };
                    accounts.push(ProcessorAccount {
                        terms,
                        cluster: number,
                        chip: watched + position.index(),
                        position,
                        chips,
                        arrived: 0,
                        programmed: 0,
                        collected: 0,
                        stated: None,
                        released: None,
                        stage: 0,
                        extra: 0,
                        changed: Instant::START,
                        repeats: 0,
                        passes: [WatchedPass::default(), WatchedPass::default()],
                    });
                }
                of_chip[chip] = accounts.len().checked_sub(1);
            }
            watched += cluster.chips.len();
        }
        let processor_of = |source: &rtflash_plan::Source| match source.releases {
            Releases::Collected { chip: Some(chip) } => of_chip[chip],
            Releases::Collected { chip: None } => {
                accounts.iter().position(|account| Some(account.cluster) == source.cluster)
            }
            _ => None,
        };
        let of_source = plan.sources().iter().map(processor_of).collect();
        Collections {
            gc: Collecting::default(),
            releases: Gauge::default(),
            victims: Gauge::default(),
            cost: Gauge::default(),
            open: Gauge::default(),
            reserve: Gauge::default(),
            of_chip,
            of_source,
            accounts,
            arrivals: plan.per_cluster(StatedArrivals::default()),
            zoned: certified.iter().map(Certified::is_zoned).collect(),
            worst: false,
        }
    }

    pub(crate) fn setup(&mut self, victims: Victims) {
        self.worst = victims == Victims::Worst;
    }

    fn processor(&self, chip: ChipId) -> Option<usize> {
        self.of_chip[chip]
    }

    /// A request or a GC job is released.
    pub(crate) fn released(&mut self, release: &Release) {
        let Some(cluster) = release.cluster else { return };
        if release.kind == Kind::Write && !self.zoned[cluster] {
            let arrivals = &mut self.arrivals[cluster];
            // What was released before has been recorded on the processors.
            let unstated = release.at > arrivals.at && arrivals.released != arrivals.stated;
            (arrivals.at, arrivals.released) = (release.at, arrivals.released.saturating_add(release.pages));
            self.releases.note(0, u64::from(unstated), || Place {
                at: release.at,
                job: Some(release.job),
                cluster: release.cluster,
                chip: None,
            });
        }
        if let Some(processor) = self.of_source[release.job.source] {
            let account = &mut self.accounts[processor];
            account.collected += 1;
            account.released = Some(release.at);
        }
    }

    /// Pages have arrived on a processor: rule R1.
    pub(crate) fn reserved(&mut self, reserve: &Reserve, map: &mut Mapping) {
        let Some(account) = self.processor(reserve.chip).map(|processor| &mut self.accounts[processor]) else { return };
        let place = || Place { at: reserve.at, job: None, cluster: Some(reserve.cluster), chip: Some(reserve.chip) };
        if self.zoned[account.cluster] {
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
        let due = if account.terms.releases { reserve.arrived / account.terms.reclaimed } else { 0 };
        (account.arrived, account.stated) = (reserve.arrived, Some(reserve.at));
        let off = account.cluster != reserve.cluster
            || more.is_none_or(|more| more == 0)
            || astray
            || account.collected != due;
        self.releases.note(0, u64::from(off), place);
        let pending = account.arrived.checked_sub(account.programmed);
        let free = map.free(account.cluster, account.position, account.chip, reserve.at);
        let claimed = pending != Some(reserve.pending) || free.is_some_and(|free| free != reserve.free);
        self.releases.note(0, u64::from(claimed), place);
        self.look(reserve.chip, reserve.at, free.unwrap_or(reserve.free));
    }

    /// A victim is chosen: rule R4.
    /// Says whether it is one, and not a block whose pages a void GC job moves.
    pub(crate) fn selected(&mut self, selection: &Selection, pending: &Pending, map: &mut Mapping) -> bool {
        let Some(processor) = self.processor(selection.chip) else { return true };
        let account = &self.accounts[processor];
        let at = || Place::from(selection);
        let ProcessorAccount { cluster, position, chip, terms, .. } = *account;
        let waiting = account.arrived.saturating_sub(account.programmed);
        let free = map.free(cluster, position, chip, selection.at);
        let wanted = waiting.saturating_add(terms.reserve);
        let retired = map.retired(cluster, position, chip, selection.block);
        // Where enough is free there is no pass.
        let levels = retired.is_none()
            && free.is_some_and(|free| free >= wanted)
            && pending.release.kind == Kind::Gc
            && map.least_worn(cluster, position, chip).is_some_and(|least| least.0 == selection.block);
        let taken = if levels { map.take(cluster, position, chip, selection.block) } else { None };
        if let Some(valid) = retired.or(taken) {
            let room = wanted.saturating_sub(if levels { terms.for_wear.min(terms.reserve) } else { 0 });
            self.moves(selection, pending, valid, levels, free, room);
            return false;
        }
        let account = &mut self.accounts[processor];
        let needless = free.is_some_and(|free| free >= wanted);
        self.gc.left_out.note(0, u64::from(needless || selection.forced), at);
        if let Some((fewest, lowest, open)) = map.fewest(cluster, position, chip) {
            let valid = map.take(cluster, position, chip, selection.block).unwrap_or(NONE);
            self.gc.chosen(selection, fewest, lowest, valid, 0);
            self.victims.note(terms.victim, valid.into(), at);
            self.open.note(terms.open, open, at);
        }
        let pass = &mut account.passes[usize::from(pending.release.kind == Kind::Server)];
        self.gc.copies.note(0, u64::from(pass.victim.is_some()), at);
        *pass = WatchedPass { victim: Some(selection.block), ..WatchedPass::default() };
        true
    }

    /// A pass is left out: rule R3.
    pub(crate) fn left_out(&mut self, left_out: &LeftOut, map: &mut Mapping) {
        let Some(account) = self.processor(left_out.chip).map(|processor| &self.accounts[processor]) else { return };
        let ProcessorAccount { cluster, position, chip, terms, .. } = *account;
        let waiting = account.arrived.saturating_sub(account.programmed);
        let free = map.free(cluster, position, chip, left_out.at);
        let enough = left_out.free >= waiting.saturating_add(terms.reserve);
        let nothing = map.fewest(cluster, position, chip).is_none_or(|(fewest, ..)| fewest == NONE);
        let uneven = self.of_source[left_out.job.source].is_some()
            && free.is_some_and(|free| terms.may_level(free, waiting))
            && map.least_worn(cluster, position, chip).is_some();
        let is_valid = free.is_none_or(|free| free == left_out.free) && (enough || nothing) && !uneven;
        self.gc.left_out.note(0, u64::from(!is_valid), || Place::from(left_out));
    }

    /// A copy only lets time pass.
    pub(crate) fn padding(&mut self, padding: &Padding, pending: &Pending) {
        let worst = self.worst;
        let Some(account) = self.processor(padding.chip).map(|processor| &mut self.accounts[processor]) else { return };
        let is_valid = worst && (padding.step == Step::Copyback) == account.terms.stripe;
        self.gc.padding.note(0, u64::from(!is_valid), || Place::from(padding));
        let pass = &mut account.passes[usize::from(pending.release.kind == Kind::Server)];
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
        &mut self,
        operation: &Operation,
        processor: usize,
        background: bool,
        repeated: bool,
        map: &mut Mapping,
    ) {
        let account = &self.accounts[processor];
        let (cluster, chip, at) = (Some(account.cluster), Some(operation.chip), operation.start);
        let Some(free) = map.free_in(account.chip, at) else { return };
        let waiting = account.arrived.saturating_sub(account.programmed);
        // Nor does a GC job that is void, and moves pages.
        let moves = operation.kind == Kind::Gc
            && account.passes[0].moves.is_some_and(|(job, _)| job == operation.job)
            && operation.action == if account.terms.stripe { Action::Read } else { Action::Program };
        // What is programmed once more has the page that a block which was kept back gave for it.
        if (background || moves) && !repeated {
            // It takes nothing of what is kept in reserve, but for what is there for wear.
            let levels = moves && account.passes[0].levels;
            let for_wear = if levels { account.terms.for_wear } else { 0 };
            let waiting = waiting.saturating_add(account.terms.reserve.saturating_sub(for_wear));
            self.reserve.note(free, waiting, || Place { at, job: Some(operation.job), cluster, chip });
        }
        self.reserve.note(free, waiting, || Place { at, job: None, cluster, chip });
    }

    /// An operation of a pass, before the map knows of it; `position` is its chip's in the cluster.
    #[inline(always)]
    pub(crate) fn operation(
        &mut self,
        operation: &Operation,
        position: ColumnId,
        processor: usize,
        repeated: bool,
        pending: &Pending,
        map: &Mapping,
    ) {
        let account = &mut self.accounts[processor];
        let at = || pending.place(operation.start, Some(operation.chip));
        let (terms, chips) = (account.terms, account.chips);
        let pass = &mut account.passes[usize::from(pending.release.kind == Kind::Server)];
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
                pass.buffer.push((operation.lpn, map.spot(position, operation.block, operation.page)));
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
                    self.cost.note(terms.pass.saturating_add(pass.suspended), pass.total(), at);
                    if pass.erased == 0 {
                        self.victims.note(terms.victim, pass.copied, at);
                        if self.worst {
                            self.gc.padding.note(0, terms.lacks(pass), at);
                        }
                    }
                }
                pass.erases(operation, chips, terms.suspension) && is_valid
            }
        };
        self.gc.copies.note(0, u64::from(!is_valid), at);
    }
}
