//! From one certificate to another: which terms a processor goes on by in between.

use std::cell::Cell;

use rtflash_analysis::Work;
use rtflash_analysis::certified::{
    ChannelContention, ChosenGc, Demand, DemandTask, DemandVerdict, Patience, PlacedProcessor, Processor,
    WorkloadCurve, is_surely_late, terms_without_server,
};
use rtflash_model::{Certificate, Collection, Span};

use super::AdmissionRefusal;
use super::idle::{idle_within, longest};

const TERMS: usize = 24;
/// Ways to let the reserve grow that are tested for a cluster.
const BRIDGES: u32 = 16;

/// GC jobs that are released beside those of R1, so that the reserve grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtraPasses {
    /// How many.
    pub passes: u64,
    /// The time between their releases.
    pub spacing: Span,
}

/// Terms from the first idle instant on with f ≥ H − α + 1 free pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CollectionStage {
    /// D_g, α, H, v and F.
    pub collection: Collection,
    /// Free pages beyond those that are pending with which a pass is left out: H at least.
    pub goal_pages: u64,
    /// The passes that make the reserve grow, if it has to before the next stage.
    pub extra: Option<ExtraPasses>,
}

#[derive(Debug)]
pub(super) struct TermsPath {
    pub(super) stages: Vec<CollectionStage>,
    pub(super) gc: ChosenGc,
    pub(super) ready_within: Span,
    /// The time within which its own processors are idle by the new terms.
    pub(super) idle_after: Option<Span>,
}

/// Whether what holds by `now` is what `next` begins with: H' − α' ≤ H − δ − α, with δ = `for_wear`
/// pages of H that wear levelling can have used.
fn is_there((now, for_wear): (Collection, u64), next: &ChosenGc) -> bool {
    let room = |reserve: u64, reclaimed: u64| i128::from(reserve) - i128::from(reclaimed);
    room(next.reserve, next.reclaimed) <= room(now.reserve_pages, now.reclaimed_pages) - i128::from(for_wear)
}

fn is_in_time(placed: &PlacedProcessor, gc: ChosenGc, work: &Work) -> bool {
    let holds = |demand: Demand<'_>| demand.surely_holds() || demand.test_with(Patience::Short) == DemandVerdict::Holds;
    placed.demands(Some(gc), 0, work).all(holds)
}

pub(super) fn idle_by(placed: &PlacedProcessor, gc: Option<ChosenGc>, work: &Work) -> Option<Span> {
    longest(placed.demands(gc, 0, work).map(|demand| idle_within(&demand)))
}

/// From a cluster's certificate to one by which it is in time with the new task. Decisions are
/// quick: terms of which a few steps of the test do not tell are left out.
pub(super) struct TermsSearch<'a> {
    before: PlacedProcessor,
    stated: Option<ChosenGc>,
    /// `stated` as a collection, and the pages of H that wear levelling can have used.
    now: (Collection, u64),
    placed: PlacedProcessor,
    terms: Vec<ChosenGc>,
    commands: bool,
    work: &'a Work,
}

impl<'a> TermsSearch<'a> {
    pub(super) fn new(
        without: &ChannelContention<'_>,
        with: &ChannelContention<'_>,
        position: usize,
        certificate: &Certificate,
        work: &'a Work,
    ) -> Result<TermsSearch<'a>, AdmissionRefusal> {
        let collection = certificate.collection.ok_or(AdmissionRefusal::NoReserve)?;
        // Its own chips change at different instants: what they do meanwhile is not relied on.
        let placed = with.beside_others(position).ok_or(AdmissionRefusal::Late)?;
        let before = without.beside_others(position).ok_or(AdmissionRefusal::Late)?;
        let stated = before.processor.stated(certificate).ok_or(AdmissionRefusal::Late)?;
        let now = (collection, before.processor.for_wear(&collection));
        if is_surely_late(&placed.processor, &placed.contentions, work) {
            return Err(AdmissionRefusal::Late);
        }
        let terms = terms_without_server(&placed.processor, &placed.contentions, work).take(TERMS).collect();
        Ok(TermsSearch { before, stated, now, placed, terms, commands: with.has_commands(), work })
    }

    /// Those of the terms whose reserve is there, or is not, by which the cluster is in time.
    fn in_time(&self, there: bool) -> impl Iterator<Item = ChosenGc> {
        let terms = self.terms.iter().copied().take_while(|_| !self.work.is_used_up());
        let terms = terms.filter(move |gc| is_there(self.now, gc) == there);
        terms.filter(|&gc| is_in_time(&self.placed, gc, self.work))
    }

    pub(super) fn direct(&self) -> Option<ChosenGc> {
        self.in_time(true).next()
    }

    /// The time within which its processors are idle as they run.
    fn quiet(&self) -> Result<Span, AdmissionRefusal> {
        idle_by(&self.before, self.stated, self.work).ok_or(AdmissionRefusal::Reserve)
    }

    pub(super) fn one_stage(&self, gc: ChosenGc) -> Result<TermsPath, AdmissionRefusal> {
        Ok(self.way(vec![stage(gc)], gc, self.quiet()?))
    }

    pub(super) fn two_stages(&self) -> Result<TermsPath, AdmissionRefusal> {
        let mut refusal = AdmissionRefusal::Late;
        let bridges = Cell::new(BRIDGES);
        for gc in self.in_time(false) {
            refusal = AdmissionRefusal::Reserve;
            // The waits of an extra pass's commands for neighbours are not charged.
            if self.commands && self.before.contentions.iter().any(|contention| !contention.is_none()) {
                break;
            }
            if let Some((bridge, taken)) = bridge(&self.before, self.now, &gc, &bridges, self.work) {
                let ready_within = self.quiet()?.checked_add(taken).ok_or(AdmissionRefusal::Reserve)?;
                return Ok(self.way(vec![bridge, stage(gc)], gc, ready_within));
            }
        }
        Err(refusal)
    }

    fn way(&self, stages: Vec<CollectionStage>, gc: ChosenGc, ready_within: Span) -> TermsPath {
        let idle_after = idle_by(&self.placed, Some(gc), self.work);
        TermsPath { stages, gc, ready_within, idle_after }
    }
}

fn stage(gc: ChosenGc) -> CollectionStage {
    CollectionStage { collection: gc.to_collection(), goal_pages: gc.reserve, extra: None }
}

/// Terms without the new task until the reserve is that of `next`, and how long that takes.
fn bridge(
    before: &PlacedProcessor,
    now: (Collection, u64),
    next: &ChosenGc,
    bridges: &Cell<u32>,
    work: &Work,
) -> Option<(CollectionStage, Span)> {
    let processor = &before.processor;
    let own = now.0.deadline.into_iter();
    let others = terms_without_server(processor, &before.contentions, work).filter_map(|gc| gc.deadline);
    for deadline in own.chain(others).take(TERMS) {
        let Some(gc) = processor.gc_towards(deadline, next) else { continue };
        if !is_there(now, &gc) || next.reserve <= gc.reserve {
            continue;
        }
        let passes = (next.reserve - gc.reserve).div_ceil(gc.reclaimed);
        if work.is_used_up() {
            return None;
        }
        for spacing in spacings(before, gc, work) {
            let Some(busier) = with_extra(processor, &gc, spacing) else { continue };
            bridges.set(bridges.get().checked_sub(1)?);
            let demand = |contention| Demand::new(&busier, contention, Some(gc), 0, work);
            let demands = || before.contentions.iter().map(demand);
            if demands().any(|demand| demand.test_with(Patience::Short) != DemandVerdict::Holds) {
                continue;
            }
            let quiet = longest(demands().map(|demand| idle_within(&demand)))?;
            let released = spacing.checked_mul(passes - 1)?.checked_add(Span::NANOSECOND)?;
            let taken = released.checked_add(deadline)?.checked_add(quiet)?;
            let extra = Some(ExtraPasses { passes, spacing });
            return Some((CollectionStage { collection: gc.to_collection(), goal_pages: next.reserve, extra }, taken));
        }
    }
    None
}

/// No shorter than the extra jobs' deadline, and taking half, or an eighth, of what is left.
fn spacings(before: &PlacedProcessor, gc: ChosenGc, work: &Work) -> Vec<Span> {
    let load = before.demands(Some(gc), 0, work).map(|demand| demand.load()).fold(0.0, f64::max);
    let shortest = gc.deadline.unwrap_or(Span::NANOSECOND);
    let share = |part: f64| {
        let time = gc.cost.to_f64() / ((1.0 - load).max(1e-6) * part);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Above zero, and saturates.
        Span::from_ns(time.ceil() as u64).map(|time| time.max(shortest))
    };
    let mut spacings: Vec<Span> = [0.5, 0.125].into_iter().filter_map(share).collect();
    spacings.dedup();
    spacings
}

/// Requests of one step that takes a pass. As writes they are given nothing back of what reads in a
/// queue are (docs/analysis.md, Section 6.1).
fn with_extra(processor: &Processor, gc: &ChosenGc, spacing: Span) -> Option<Processor> {
    let mut busier = processor.clone();
    busier.tasks.push(DemandTask {
        step_cost: gc.in_full.max(gc.cost),
        period: spacing,
        deadline: gc.deadline.filter(|&deadline| deadline <= spacing)?,
        jitter: Span::ZERO,
        step: gc.step,
        transfers: WorkloadCurve::each(1),
        pages: WorkloadCurve::each(1),
        writes: true,
        resets: false,
    });
    Some(busier)
}

#[cfg(test)]
mod tests {
    use rtflash_testkit::processors::Drawn;

    use super::*;

    /// If pages of the reserve may have been taken for wear, no more than the others are there.
    #[test]
    fn what_was_taken_for_wear_is_not_there() {
        let first = |Drawn { processor, .. }: Drawn| processor.gc(processor.shortest_gc_deadline()?, false);
        let gc = (0..100).find_map(|seed| Drawn::new(seed).and_then(first)).expect("a writer");
        let fewer = ChosenGc { reserve: gc.reserve - 1, ..gc };
        let there = |for_wear, next| is_there((gc.to_collection(), for_wear), &next);
        assert!(there(0, gc) && there(0, fewer));
        assert!(!there(1, gc) && there(1, fewer) && !there(2, fewer));
    }

    /// Terms of a cluster whose load is surely too much are not in time.
    #[test]
    fn no_terms_of_a_surely_late_cluster_are_in_time() {
        let (mut held, mut late) = (0, 0);
        for seed in 0..12_000 {
            let Some(Drawn { processor, contention, .. }) = Drawn::new(seed) else { continue };
            let work = Work::new();
            let placed = PlacedProcessor { processor, contentions: vec![contention] };
            let is_surely_late = is_surely_late(&placed.processor, &placed.contentions, &work);
            for gc in terms_without_server(&placed.processor, &placed.contentions, &work).take(TERMS) {
                let in_time = is_in_time(&placed, gc, &work);
                assert!(!(in_time && is_surely_late), "seed {seed}: {gc:?}");
                held += u32::from(in_time);
                late += u32::from(is_surely_late);
            }
        }
        assert!(held > 2_000 && late > 50, "{held}, {late}");
    }
}
