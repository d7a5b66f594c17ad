//! The relative deadline of garbage collection: a free parameter, searched for.

use super::demand::{Demand, Verdict};
use super::unit::{Collection, Unit};

/// Steps of the search over deadlines, between the shortest and the longest that make sense.
const STEPS: u32 = 40;

/// A cluster that holds, with what makes it hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// Garbage collection as it has to be; `None` where nothing is written.
    pub gc: Option<Collection>,
}

/// What a search came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// It holds so.
    Holds(Found),
    /// It holds with none of the deadlines tried.
    Fails,
    /// It holds with none of the deadlines tried, and some tests were given up.
    TooLong,
}

/// Looks for a deadline of garbage collection with which the unit holds.
pub fn choose(unit: &Unit, server_thousandths: u32, others: bool) -> Choice {
    let server = server_thousandths > 0;
    if unit.writers.is_empty() && !server {
        let demand = Demand::new(unit, None, 0, others);
        return verdict(None, if demand.surely_holds() { Verdict::Holds } else { demand.test() });
    }
    let share = 1.0 - f64::from(server_thousandths) / 1_000.0;
    let base: f64 = unit.items.iter().map(|item| item.cost as f64 / item.period as f64).sum();
    if base >= share {
        return Choice::Fails;
    }
    let rate: f64 = unit.writers.iter().map(|writer| writer.pages as f64 / writer.period as f64).sum();
    let load = |gc: &Collection| base + gc.cost as f64 / gc.reclaimed as f64 * rate;
    let mut tried: Vec<Collection> = Vec::new();
    for deadline in
        candidates(unit, rate, |deadline| unit.collection(deadline, server).is_some_and(|gc| load(&gc) < share))
    {
        let Some(gc) = unit.collection(deadline, server) else { continue };
        if load(&gc) > share + 1e-9 {
            continue;
        }
        if Demand::new(unit, Some(gc), server_thousandths, others).surely_holds() {
            return Choice::Holds(Found { gc: Some(gc) });
        }
        tried.push(gc);
    }
    let mut outcome = Choice::Fails;
    for gc in tried {
        match Demand::new(unit, Some(gc), server_thousandths, others).test() {
            Verdict::Holds => return Choice::Holds(Found { gc: Some(gc) }),
            Verdict::TooLong => outcome = Choice::TooLong,
            Verdict::Fails(_) => {}
        }
    }
    outcome
}

fn verdict(gc: Option<Collection>, verdict: Verdict) -> Choice {
    match verdict {
        Verdict::Holds => Choice::Holds(Found { gc }),
        Verdict::Fails(_) => Choice::Fails,
        Verdict::TooLong => Choice::TooLong,
    }
}

/// Deadlines worth trying, in the order of trying. `light` says whether the load at a deadline is below one; it is up to some deadline, and not beyond.
///
/// Up to the next multiple of a writer's period the reserve is the same and the demand falls, so only such multiples are tried.
fn candidates(unit: &Unit, rate: f64, light: impl Fn(u64) -> bool) -> Vec<u64> {
    let Some(shortest) = unit.writers.iter().map(|writer| writer.period).min() else { return vec![] };
    let level = |deadline: u64| {
        let multiples =
            unit.writers.iter().filter_map(|writer| deadline.max(1).div_ceil(writer.period).checked_mul(writer.period));
        multiples.min().unwrap_or(deadline)
    };
    if !light(shortest) {
        return vec![];
    }
    let (mut low, mut high) = (shortest, shortest.saturating_mul(2));
    while light(high) && high < 1 << 62 {
        (low, high) = (high, high.saturating_mul(2));
    }
    while low + low / 64 + 1 < high {
        let middle = u64::midpoint(low, high);
        if light(middle) { low = middle } else { high = middle }
    }
    let longest = low;
    // Where the demand is in proportion to time: Σ w (1 − D_g/T) + α − 1 = 0, with α as it is there.
    let pending: f64 = unit.writers.iter().map(|writer| writer.pages as f64).sum();
    let mut even = longest;
    for _ in 0..4 {
        let reclaimed = unit.collection(even, false).map_or(1, |gc| gc.reclaimed) as f64;
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
