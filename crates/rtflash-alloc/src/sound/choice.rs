//! The relative deadline of garbage collection: a free parameter, searched for.

use rtflash_model::TIME_LIMIT_NS;

use super::contention::Contention;
use super::demand::{Demand, Verdict};
use super::unit::{GcTerms, Item, Unit, Writer};
use crate::work::Work;

/// Steps of the search over deadlines, between the shortest and the longest that make sense.
const STEPS: u32 = 40;
/// Deadlines tried where each has to be tested in full.
const FEW: usize = 6;
/// Tests given up after which no other deadline is tried: each of them takes long.
const GIVEN_UP: u32 = 4;

/// What a search came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// It holds with garbage collection as it is here; `None` where nothing is ever written.
    Holds(Option<GcTerms>),
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

/// Looks for a deadline of garbage collection with which a unit holds, with a server of that share,
/// next to neighbours of each of these kinds.
pub fn choose(unit: &Unit, contentions: &[Contention], server_thousandths: u32, work: &Work) -> Choice {
    let saved = contentions.iter().map(Contention::saved).min().unwrap_or(0);
    match terms(unit, server_thousandths, saved, work) {
        Some(terms) => try_all(unit, contentions, &terms, server_thousandths, work),
        None => Choice::Fails,
    }
}

/// The largest share of a server, in thousandths, with which a unit is found to hold, and garbage
/// collection with it; `None` without one.
pub fn largest_server(unit: &Unit, contentions: &[Contention], work: &Work) -> Option<(u32, GcTerms)> {
    let demands = |gc: GcTerms, thousandths: u32| {
        contentions.iter().map(move |contention| Demand::new(unit, contention, Some(gc), thousandths, work))
    };
    let needed = |gc: GcTerms| demands(gc, 1).map(|demand| demand.needed_share()).fold(0.0, f64::max);
    let terms = terms(unit, 1, 0, work)?.into_iter().flatten();
    let (needed, gc) = terms.map(|gc| (needed(gc), gc)).min_by(|a, b| a.0.total_cmp(&b.0))?;
    let holds = |thousandths: u32| demands(gc, thousandths).all(|demand| demand.test() == Verdict::Holds);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Between 0 and 1000.
    let sure = ((1.0 - needed) * 1_000.0).floor().clamp(0.0, 1_000.0) as u32;
    // What is sure holds; the exact test may allow a little more.
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

/// Garbage collection with the deadline to be tried first, or where the load is too much at every
/// one, the shortest; `None` where there is no room for it.
pub(super) fn first_terms(unit: &Unit, work: &Work) -> Option<GcTerms> {
    let first = terms(unit, 0, 0, work).and_then(|terms| terms.into_iter().flatten().next());
    first.or_else(|| unit.gc(shortest(unit)?, false))
}

/// The longest deadline of garbage collection within which one request of each writer arrives at
/// most: min (T − J).
fn shortest(unit: &Unit) -> Option<u64> {
    unit.writers.iter().map(|writer| writer.period - writer.jitter).min()
}

/// Garbage collection as it may be, in the order of trying, where each page read may be charged
/// less by `saved`; `None` where the load is too much or there is no room for it.
fn terms(unit: &Unit, server_thousandths: u32, saved: u64, work: &Work) -> Option<Vec<Option<GcTerms>>> {
    let server = server_thousandths > 0;
    let share = 1.0 - f64::from(server_thousandths) / 1_000.0;
    // As if every read were saved all that it can be.
    let least =
        |item: &Item| item.cost - if item.writes { 0 } else { item.transfers.saturating_mul(saved).min(item.cost) };
    work.charge(4 * unit.items.len() + 16);
    let base: f64 = unit.items.iter().map(|item| least(item) as f64 / item.period as f64).sum();
    // Nearer to the share than roundings go, the test decides.
    if base > share + 1e-9 {
        return None;
    }
    if unit.writers.is_empty() {
        return Some(vec![if server { Some(unit.gc(1, true)?) } else { None }]);
    }
    // Some fifty deadlines are looked at.
    work.charge(50 * unit.writers.len());
    let rate: f64 = unit.writers.iter().map(|writer| writer.pages as f64 / writer.period as f64).sum();
    let load = |gc: &GcTerms| base + gc.cost as f64 / gc.reclaimed as f64 * rate;
    let light = |deadline| unit.gc(deadline, server).is_some_and(|gc| load(&gc) < share);
    let terms = candidates(unit, rate, light).into_iter().filter_map(|deadline| unit.gc(deadline, server));
    // Where the sums alone do not decide, each costs a test.
    let most = if saved > 0 { FEW } else { usize::MAX };
    Some(terms.filter(|gc| load(gc) <= share + 1e-9).map(Some).take(most).collect())
}

/// The first of these terms that is sure to hold, else the first that holds.
fn try_all(
    unit: &Unit,
    contentions: &[Contention],
    terms: &[Option<GcTerms>],
    server_thousandths: u32,
    work: &Work,
) -> Choice {
    let demands = |&gc: &Option<GcTerms>| {
        contentions.iter().map(move |contention| Demand::new(unit, contention, gc, server_thousandths, work))
    };
    if let Some(&gc) = terms.iter().find(|gc| demands(gc).all(|demand| demand.surely_holds())) {
        return Choice::Holds(gc);
    }
    let mut given_up = 0;
    for gc in terms {
        let verdict = demands(gc).map(|demand| demand.test()).find(|&verdict| verdict != Verdict::Holds);
        match verdict {
            None => return Choice::Holds(*gc),
            Some(Verdict::TooLong) => given_up += 1,
            Some(_) => {}
        }
        if given_up >= GIVEN_UP {
            break;
        }
    }
    if given_up > 0 { Choice::TooLong } else { Choice::Fails }
}

/// Deadlines worth trying, in the order of trying. `light` says whether the load at a deadline is
/// below one; it is up to some deadline, and not beyond.
///
/// Up to the next multiple of a writer's period, less its jitter, the reserve is the same and the
/// demand falls, so only such deadlines are tried.
fn candidates(unit: &Unit, rate: f64, light: impl Fn(u64) -> bool) -> Vec<u64> {
    let Some(shortest) = shortest(unit) else { return vec![] };
    let level = |deadline: u64| {
        let multiples = unit.writers.iter().filter_map(|writer| {
            let requests = deadline.max(1).checked_add(writer.jitter)?.div_ceil(writer.period);
            Some(requests.checked_mul(writer.period)? - writer.jitter)
        });
        // No more than a time can be.
        multiples.min().unwrap_or(deadline).min(TIME_LIMIT_NS - 1)
    };
    if !light(shortest) {
        return vec![];
    }
    let (mut low, mut high) = (shortest, shortest.saturating_mul(2));
    while light(high) && high < 1 << 62 {
        (low, high) = (high, high.saturating_mul(2));
    }
    while low.saturating_add(low / 64 + 1) < high {
        let middle = u64::midpoint(low, high);
        if light(middle) { low = middle } else { high = middle }
    }
    let longest = low.min(TIME_LIMIT_NS - 1);
    // Where the demand is in proportion to time: Σ w (1 − (D_g − J)/T) + α − 1 = 0, with α as it is
    // there.
    let pages = |writer: &Writer| writer.pages as f64 * (1.0 + writer.jitter as f64 / writer.period as f64);
    let pending: f64 = unit.writers.iter().map(pages).sum();
    let mut even = longest;
    for _ in 0..4 {
        let reclaimed = unit.gc(even, false).map_or(1, |gc| gc.reclaimed) as f64;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Saturates, which is meant.
        let next = ((pending + reclaimed - 1.0) / rate) as u64;
        even = next.clamp(shortest, longest);
    }
    let mut all = vec![level(even)];
    // From there outwards, in equal ratios.
    let ratio = (longest as f64 / shortest as f64).max(1.0).powf(1.0 / f64::from(STEPS));
    let mut at = shortest as f64;
    let mut steps = Vec::new();
    for _ in 0..=STEPS {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Between two deadlines.
        steps.push(level(at as u64));
        at *= ratio;
    }
    steps.dedup();
    steps.sort_by_key(|&deadline| deadline.abs_diff(even));
    all.extend(steps);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sound::random_units::Drawn;

    /// Up to the longest one that the load allows, no two far from each other.
    #[test]
    fn candidates_reach_from_the_shortest_to_the_longest() {
        let mut compared = 0;
        for seed in 0..2_000 {
            let Some(Drawn { unit, mut rng, .. }) = Drawn::new(seed) else { continue };
            let Some(shortest) = shortest(&unit) else { continue };
            let limit = shortest * rng.within(1, 300) + rng.within(0, shortest - 1);
            let rate = unit.writers.iter().map(|writer| writer.pages as f64 / writer.period as f64).sum();
            let all = candidates(&unit, rate, |deadline| deadline <= limit);
            let (least, most) = (all.iter().min().copied(), all.iter().max().copied());
            let longest = unit.writers.iter().map(|writer| writer.period).max().unwrap_or(0);
            let (least, most) = (least.unwrap_or(u64::MAX), most.unwrap_or(0));
            assert!(least <= shortest + longest, "seed {seed}: {least} from {shortest}");
            assert!(most >= limit - limit / 32 - 1, "seed {seed}: {most} up to {limit}");
            let mut sorted = all;
            sorted.sort_unstable();
            for pair in sorted.windows(2) {
                // 40 equal ratios, each then up to a multiple of a period.
                let next = pair[0] as f64 * 300f64.powf(1.0 / 40.0);
                assert!(pair[1] as f64 <= next + 2.0 * longest as f64, "seed {seed}: {pair:?}");
            }
            compared += 1;
        }
        assert!(compared > 500, "{compared}");
        let Some(drawn) = (0..).find_map(|seed| Drawn::new(seed).filter(|drawn| !drawn.unit.writers.is_empty())) else {
            return;
        };
        assert!(candidates(&drawn.unit, 1.0, |_| false).is_empty(), "too much at the shortest");
    }

    /// What is found holds, and little is missed that some deadline would make hold.
    #[test]
    fn the_search_finds_what_there_is() {
        let (mut found, mut there) = (0, 0);
        for seed in 0..1_500 {
            let Some(Drawn { unit, contention, .. }) = Drawn::new(seed) else { continue };
            if unit.writers.is_empty() {
                continue;
            }
            let work = Work::new();
            let holds = |gc: Option<GcTerms>, server| {
                Demand::new(&unit, &contention, gc, server, &work).test() == Verdict::Holds
            };
            let every = (1..1_200).step_by(3).filter_map(|deadline| unit.gc(deadline, false));
            let any = every.into_iter().any(|gc| holds(Some(gc), 0));
            let choice = choose(&unit, std::slice::from_ref(&contention), 0, &work);
            if let Choice::Holds(gc) = choice {
                assert!(gc.is_some() && holds(gc, 0), "seed {seed}");
            }
            assert_ne!(choice, Choice::TooLong, "seed {seed}");
            found += u32::from(choice.holds() && any);
            there += u32::from(any);
            let server = largest_server(&unit, std::slice::from_ref(&contention), &work);
            if let Some((thousandths, gc)) = server {
                assert!((1..=1_000).contains(&thousandths) && holds(Some(gc), thousandths), "seed {seed}");
                assert!(!holds(Some(gc), thousandths + 1), "seed {seed}: more than {thousandths}");
            }
        }
        assert!(there > 200 && found == there, "{found} of {there}");
    }
}
