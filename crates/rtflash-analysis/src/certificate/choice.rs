//! The relative deadline of garbage collection: a free parameter, searched for.

mod candidates;

use rtflash_model::Span;

use crate::demand::bus::Contention;
use crate::demand::{Demand, DemandVerdict, Patience, SureShares};
use crate::gc::ChosenGc;
use crate::organisation::processor::{DemandTask, Processor};
use crate::time::{Cost, ns};
use crate::work::Work;
use candidates::candidates;

/// Deadlines tried where each has to be tested in full.
const FEW: usize = 6;
/// Tests given up after which no other deadline is tried: each of them takes long.
const GIVEN_UP: u32 = 4;

/// The outcome of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// It holds with garbage collection as it is here; `None` where nothing is ever written.
    Holds(Option<ChosenGc>),
    /// It holds with none of the deadlines tried.
    Fails,
    /// It holds with none of the deadlines tried, and some tests were given up.
    TooLong,
}

impl Choice {
    /// Whether it holds.
    pub fn holds(self) -> bool {
        matches!(self, Choice::Holds(_))
    }
}

/// Looks for a deadline of garbage collection with which the processor holds next to each of these.
pub fn choose(processor: &Processor, contentions: &[Contention], server_thousandths: u32, work: &Work) -> Choice {
    choose_with(Patience::Full, processor, contentions, server_thousandths, work)
}

/// [`choose`] with a patience for each test.
pub fn choose_with(
    patience: Patience,
    processor: &Processor,
    contentions: &[Contention],
    server_thousandths: u32,
    work: &Work,
) -> Choice {
    let saved = contentions.iter().map(Contention::saved).min().expect("a neighbourhood, if only nobody's");
    let may_wait = is_waiting(processor, contentions) || saved > Span::ZERO;
    if may_wait && is_overloaded(processor, contentions, server_thousandths, work) {
        return Choice::Fails;
    }
    let Some(mut terms) = terms(processor, server_thousandths, saved, work) else { return Choice::Fails };
    let demands = |gc: Option<ChosenGc>| {
        contentions.iter().map(move |contention| Demand::new(processor, contention, gc, server_thousandths, work))
    };
    let shares = |contention| SureShares::new(processor, contention, server_thousandths, work);
    let sure: Vec<SureShares<'_>> = contentions.iter().map(shares).collect();
    // The first that is sure to hold: most need no other.
    let mut unsure = Vec::new();
    for gc in terms.by_ref() {
        if sure.iter().all(|shares| shares.surely_holds(gc)) {
            return Choice::Holds(gc);
        }
        unsure.push(gc);
    }
    let most = if patience == Patience::Short { 1 } else { GIVEN_UP };
    let mut given_up = 0;
    for gc in unsure {
        match demands(gc).map(|demand| demand.test_with(patience)).find(|&verdict| verdict != DemandVerdict::Holds) {
            None => return Choice::Holds(gc),
            Some(DemandVerdict::TooLong) => given_up += 1,
            Some(_) => {}
        }
        if given_up >= most {
            break;
        }
    }
    if given_up > 0 { Choice::TooLong } else { Choice::Fails }
}

/// The largest share of a server, in thousandths, with which the processor is found to hold.
pub fn largest_server(processor: &Processor, contentions: &[Contention], work: &Work) -> Option<(u32, ChosenGc)> {
    let demands = |gc: ChosenGc, thousandths: u32| {
        contentions.iter().map(move |contention| Demand::new(processor, contention, Some(gc), thousandths, work))
    };
    let needed = |gc: ChosenGc| demands(gc, 1).map(|demand| demand.needed_share()).fold(0.0, f64::max);
    let terms = terms(processor, 1, Span::ZERO, work)?.flatten();
    let (needed, gc) = terms.map(|gc| (needed(gc), gc)).min_by(|a, b| a.0.total_cmp(&b.0))?;
    let holds = |thousandths: u32| demands(gc, thousandths).all(|demand| demand.test() == DemandVerdict::Holds);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Between 0 and 1000.
    let sure = ((1.0 - needed) * 1_000.0).floor().clamp(0.0, 1_000.0) as u32;
    // The sure share holds; the exact test may allow a little more.
    let (mut most, mut too_many) = (sure, 1_001);
    if most == 0 && !holds(1) {
        return None;
    }
    while most + 1 < too_many {
        // Near what is sure first.
        let middle = if too_many == 1_001 { (most + 4).min(1_000) } else { u32::midpoint(most, too_many) };
        if holds(middle) { most = middle } else { too_many = middle }
    }
    (most > 0).then_some((most, gc))
}

/// The first to be tried, or the shortest if the load is too much at every one.
pub(crate) fn nearest_terms(processor: &Processor, work: &Work) -> Option<ChosenGc> {
    let first = terms(processor, 0, Span::ZERO, work).and_then(|terms| terms.flatten().next());
    first.or_else(|| processor.gc(processor.shortest_gc_deadline()?, false))
}

/// Garbage collection as it may be without a server, in the order of trying.
pub fn terms_without_server<'p>(
    processor: &'p Processor,
    contentions: &[Contention],
    work: &'p Work,
) -> impl Iterator<Item = ChosenGc> {
    let saved = contentions.iter().map(Contention::saved).min().expect("a neighbourhood, if only nobody's");
    terms(processor, 0, saved, work).into_iter().flatten().flatten()
}

/// Whether the load of a processor that waits is too much without a server, by any terms.
pub fn is_surely_late(processor: &Processor, contentions: &[Contention], work: &Work) -> bool {
    is_waiting(processor, contentions) && is_overloaded(processor, contentions, 0, work)
}

/// Waiting for neighbours, or for a register: more than what pages are charged.
fn is_waiting(processor: &Processor, contentions: &[Contention]) -> bool {
    processor.registers().is_some() || contentions.iter().any(|contention| !contention.is_none())
}

/// Garbage collection takes least at its shortest deadline: too much there is too much everywhere.
fn is_overloaded(processor: &Processor, contentions: &[Contention], server_thousandths: u32, work: &Work) -> bool {
    let gc = processor.shortest_gc_deadline().map(|deadline| processor.gc(deadline, server_thousandths > 0));
    // Without room for it at the shortest deadline there is none at others.
    gc.is_some_and(|gc| gc.is_none())
        || contentions.iter().any(|contention| {
            Demand::in_the_long_run(processor, contention, gc.flatten(), server_thousandths, work).is_overloaded()
        })
}

/// Garbage collection in the order of trying, if each page read is charged less by `saved`; `None`
/// where the load is too much or there is no room for it.
fn terms(
    processor: &Processor,
    server_thousandths: u32,
    saved: Span,
    work: &Work,
) -> Option<impl Iterator<Item = Option<ChosenGc>>> {
    let server = server_thousandths > 0;
    let share = 1.0 - f64::from(server_thousandths) / 1_000.0;
    // As if every read were saved all that it can be.
    let least = |item: &DemandTask| {
        let saved = if item.writes { Span::ZERO } else { saved };
        let least = item.step_cost.checked_sub(saved).expect("each read costs what it may save, at least");
        least.to_f64() * item.transfers.mean()
    };
    work.charge(4 * processor.tasks.len() + 16);
    let base: f64 = processor.tasks.iter().map(|item| least(item) / ns(item.period)).sum();
    // Nearer to the share than roundings go, the test decides.
    if base > share + 1e-9 {
        return None;
    }
    let (mut only, mut deadlines) = (None, None);
    let rate: f64 = processor.write_streams.iter().map(|writer| writer.pages.mean() / ns(writer.period)).sum();
    let load = move |cost: Cost, reclaimed: u64| base + cost.to_f64() / reclaimed as f64 * rate;
    if processor.write_streams.is_empty() {
        only = Some(if server { Some(processor.gc(Span::NANOSECOND, true)?) } else { None });
    } else {
        // Some fifty deadlines are looked at.
        work.charge(50 * processor.write_streams.len());
        let is_light = move |gc: ChosenGc| load(gc.cost, gc.reclaimed) < share;
        let light = move |deadline| processor.gc(deadline, server).is_some_and(is_light);
        deadlines = Some(candidates(processor, rate, light));
    }
    let terms = deadlines.into_iter().flatten().filter_map(move |deadline| processor.gc(deadline, server));
    // If the sums alone do not decide, each costs a test.
    let most = if saved > Span::ZERO { FEW } else { usize::MAX };
    Some(
        only.into_iter()
            .chain(terms.filter(move |gc| load(gc.cost, gc.reclaimed) <= share + 1e-9).map(Some).take(most)),
    )
}

#[cfg(test)]
mod tests {
    use rtflash_testkit::ns;

    use super::*;
    use crate::random_processors::Drawn;

    /// A deadline that is found holds, and the search misses few clusters that some deadline would
    /// make hold.
    #[test]
    fn the_search_finds_what_there_is() {
        let (mut found, mut there) = (0, 0);
        for seed in 0..1_500 {
            let Some(Drawn { processor, contention, .. }) = Drawn::new(seed) else { continue };
            if processor.write_streams.is_empty() {
                continue;
            }
            let work = Work::new();
            let holds = |gc: Option<ChosenGc>, server| {
                Demand::new(&processor, &contention, gc, server, &work).test() == DemandVerdict::Holds
            };
            let every = (1..1_200).step_by(3).filter_map(|deadline| processor.gc(ns(deadline), false));
            let any = every.into_iter().any(|gc| holds(Some(gc), 0));
            let choice = choose(&processor, std::slice::from_ref(&contention), 0, &work);
            if let Choice::Holds(gc) = choice {
                assert!(gc.is_some() && holds(gc, 0), "seed {seed}");
            }
            assert_ne!(choice, Choice::TooLong, "seed {seed}");
            found += u32::from(choice.holds() && any);
            there += u32::from(any);
            let server = largest_server(&processor, std::slice::from_ref(&contention), &work);
            if let Some((thousandths, gc)) = server {
                assert!((1..=1_000).contains(&thousandths) && holds(Some(gc), thousandths), "seed {seed}");
                assert!(!holds(Some(gc), thousandths + 1), "seed {seed}: more than {thousandths}");
            }
        }
        assert!(there > 200 && found == there, "{found} of {there}");
    }
}
