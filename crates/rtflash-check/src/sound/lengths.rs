//! Which lengths of intervals are to be looked at, and what they show: docs/analysis.md, Sections 2.6, 2.7 and 6.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::Zero;

use super::unit::{Unit, ceil};

/// Lengths that are looked at before the test is tried in another way, and steps of the other way before it is given up.
const LIMIT: u64 = 2_000_000;

/// What the lengths show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Verdict {
    /// Whether the test holds; `None` where that was not found out.
    pub holds: Option<bool>,
    /// A length of least slack, and the slack, among those that were looked at.
    pub least: Option<(i128, i128)>,
}

impl Verdict {
    /// Nothing to look at.
    pub fn holding() -> Verdict {
        Verdict { holds: Some(true), least: None }
    }

    /// Of several units together.
    pub fn of_all(verdicts: impl Iterator<Item = Verdict>) -> Verdict {
        verdicts.fold(Verdict::holding(), |all, one| Verdict {
            holds: match (all.holds, one.holds) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            least: all.least.into_iter().chain(one.least).min_by_key(|&(_, slack)| slack),
        })
    }
}

/// Decides (T').
pub(super) fn decide(unit: &Unit) -> Verdict {
    decide_within(unit, LIMIT)
}

/// Decides (T') with this for the limits.
pub(super) fn decide_within(unit: &Unit, limit: u64) -> Verdict {
    let Some(from) = unit.shortest_deadline() else { return Verdict::holding() };
    let mut verdict = Verdict { holds: None, least: None };
    let last = match last_length(unit) {
        Last::Overloaded => return Verdict { holds: Some(false), ..verdict },
        Last::At(last) => i128::try_from(last).ok(),
    };
    let mut lengths = Growth::new(unit, from);
    for _ in 0..limit {
        let length = lengths.next();
        if last.is_some_and(|last| length > last) {
            return Verdict { holds: Some(true), ..verdict };
        }
        let Some(slack) = unit.slack(length) else { return verdict };
        if verdict.least.is_none_or(|(_, least)| slack < least) {
            verdict.least = Some((length, slack));
        }
        if slack < 0 {
            return Verdict { holds: Some(false), ..verdict };
        }
    }
    verdict.holds = last.and_then(|last| by_segments(unit, last, limit));
    verdict
}

/// Where the test need not be looked at any more.
enum Last {
    /// Nowhere: the load is as great as what there is, and the test rejected.
    Overloaded,
    /// Beyond this length.
    At(BigInt),
}

fn ratio(numerator: i128, denominator: i128) -> BigRational {
    BigRational::new(numerator.into(), denominator.into())
}

fn whole(number: i128) -> BigRational {
    BigRational::from_integer(number.into())
}

/// L'_max.
fn last_length(unit: &Unit) -> Last {
    let mut load: BigRational = unit.items.iter().map(|item| ratio(item.cost, item.period)).sum();
    let mut constant = whole(unit.server_step);
    if let Some(gc) = &unit.gc {
        let writers = || unit.writers();
        let pass = ratio(gc.cost, gc.reclaimed);
        load += &pass * writers().map(|item| ratio(item.pages, item.period)).sum::<BigRational>();
        let early: BigRational =
            writers().map(|item| whole(item.pages) * (whole(1) - ratio(gc.deadline, item.period))).sum();
        constant += pass * (early + whole(gc.reclaimed - 1));
    }
    let own: BigRational = unit.items.iter().map(|item| ratio(item.pages, item.period)).sum();
    for neighbour in &unit.neighbours {
        let rate: BigRational = neighbour.requests.iter().map(|&(period, pages)| ratio(pages, period)).sum();
        let each = whole(unit.transfer) * whole(neighbour.chips);
        if rate < own {
            let pages: BigRational = neighbour.requests.iter().map(|&(_, pages)| whole(pages)).sum();
            constant += &each * whole(2) * pages;
            load += each * rate;
        } else {
            load += each * &own;
        }
    }
    let left = ratio(1000 - unit.server, 1000) - load;
    if left <= BigRational::zero() {
        return Last::Overloaded;
    }
    let longest = BigInt::from(unit.deadlines().max().unwrap_or(0));
    Last::At(longest.max((constant / left).ceil().to_integer()))
}

/// The lengths at which dbf' can grow, ascending.
struct Growth {
    /// The next length of each sequence, and what it grows by.
    sequences: Vec<(i128, i128)>,
}

impl Growth {
    /// From this length up.
    fn new(unit: &Unit, from: i128) -> Growth {
        let requests = unit.items.iter().map(|item| (item.period, item.period));
        let gc = unit.gc.iter().flat_map(|gc| unit.writers().map(|item| (gc.deadline, item.period)));
        let neighbours = unit.neighbours.iter().flat_map(|neighbour| &neighbour.requests);
        let neighbours = neighbours.map(|&(period, _)| (1, period));
        let mut sequences: Vec<(i128, i128)> = requests
            .chain(gc)
            .chain(neighbours)
            .map(|(first, step)| (first + ceil((from - first).max(0), step) * step, step))
            .collect();
        sequences.sort_unstable();
        sequences.dedup();
        Growth { sequences }
    }

    /// The next one.
    fn next(&mut self) -> i128 {
        let length = self.sequences.iter().map(|&(next, _)| next).min().unwrap_or(0);
        for (next, step) in &mut self.sequences {
            if *next == length {
                *next += *step;
            }
        }
        length
    }
}

/// QPA in the segments between relative deadlines, in which blocking is constant (Lemma 5).
fn by_segments(unit: &Unit, last: i128, limit: u64) -> Option<bool> {
    let mut deadlines: Vec<i128> = unit.deadlines().collect();
    deadlines.sort_unstable();
    deadlines.dedup();
    let mut steps = 0;
    for (position, &from) in deadlines.iter().enumerate() {
        let mut length = deadlines.get(position + 1).map_or(last, |next| next - 1);
        let blocking = unit.blocking(from);
        while length >= from {
            steps += 1;
            if steps > limit {
                return None;
            }
            let taken = unit.demand(length)?.total()?.checked_add(blocking)?;
            let needed = ceil(taken.checked_mul(1000)?, 1000 - unit.server);
            if needed > length {
                return Some(false);
            }
            length = needed.min(length - 1);
        }
    }
    Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sound::unit::{Gc, Item};

    fn item(writes: bool, period: i128, cost: i128, pages: i128) -> Item {
        Item { writes, period, cost, longest: cost / pages.max(1), pages }
    }

    /// All lengths one by one, far enough.
    fn plainly(unit: &Unit, from: i128, to: i128) -> bool {
        (from..=to).all(|length| unit.slack(length).unwrap() >= 0)
    }

    #[test]
    fn both_ways_agree_with_every_length() {
        let mut random = 12345u64;
        let mut draw = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            i128::from((random >> 33) % below)
        };
        let mut outcomes = [0; 2];
        for _ in 0..3000 {
            let items: Vec<Item> = (0..1 + draw(3))
                .map(|_| {
                    let pages = 1 + draw(4);
                    item(draw(2) == 0, 5 + draw(40), pages * (1 + draw(3)), pages)
                })
                .collect();
            let writes = items.iter().any(|item| item.writes);
            let (deadline, cost) = (5 + draw(80), 1 + draw(12));
            let gc = Gc { deadline, cost, longest: 1 + cost / 2, reclaimed: 1 + draw(9) };
            let server = draw(2) * draw(500);
            let requests = (0..draw(3)).map(|_| (3 + draw(30), 1 + draw(4))).collect();
            let neighbour = crate::sound::site::Neighbour { cluster: 1, chips: 1 + draw(2), requests };
            let unit = Unit {
                items,
                gc: writes.then_some(gc),
                server,
                server_step: if server > 0 { 3 } else { 0 },
                transfer: 1,
                neighbours: if draw(3) == 0 { vec![] } else { vec![neighbour] },
            };
            let from = unit.shortest_deadline().unwrap();
            let Last::At(last) = last_length(&unit) else { continue };
            let last = i128::try_from(last).unwrap();
            if last > 20_000 {
                continue;
            }
            let truth = plainly(&unit, from, last + 300);
            let verdict = decide(&unit);
            assert_eq!(verdict.holds, Some(truth), "{unit:?}");
            assert_eq!(by_segments(&unit, last, LIMIT), Some(truth), "{unit:?}");
            assert!(decide_within(&unit, 1).holds.is_none_or(|holds| holds == truth), "{unit:?}");
            if truth {
                let least = (from..=last).map(|length| unit.slack(length).unwrap()).min();
                assert_eq!(verdict.least.map(|(_, least)| least), least, "{unit:?}");
            }
            outcomes[usize::from(truth)] += 1;
        }
        assert!(outcomes[0] > 150 && outcomes[1] > 150, "{outcomes:?}");
    }
}
