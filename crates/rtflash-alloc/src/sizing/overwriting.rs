//! Write amplification in the long run, from what writers overwrite: docs/lifetime.md.
//!
//! The store of a cluster is a log of room for C pages, collected from its oldest end. A *turn* is
//! the time A in which the log is written once. A page of a writer with rate ρ and d pages of data
//! is programmed n(A) times until it is overwritten.
//!
//! In doubles, by +, −, ×, ÷ and `libm` alone, so alike on every machine. Estimates for a reader:
//! nothing is decided by them.

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Writer {
    /// ρ: pages that it writes in a unit of time; above zero.
    pub(super) rate: f64,
    /// d: pages that it overwrites; above zero.
    pub(super) data: f64,
}

impl Writer {
    /// τ: the time in which it writes as many pages as it has.
    fn cycle(self) -> f64 {
        self.data / self.rate
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OverwriteOrder {
    /// From the first page to the last, round and round.
    Ring,
    /// Any page, each with the same probability.
    Anywhere,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CopyFrontier {
    /// To the block that users write (the rules of docs/analysis.md).
    Shared,
    /// To a block of their own (the executor of Theorem 1).
    Apart,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SharedStore {
    /// C: pages, less those that are kept free.
    pub(super) room: f64,
    /// Pages that hold data that no task overwrites.
    pub(super) at_rest: f64,
    pub(super) frontier: CopyFrontier,
}

/// Pages programmed for each page written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Amplification {
    /// With data at rest in blocks of their own: W of Eq. (7).
    pub least: f64,
    /// Data at rest spread over all blocks, copied once a turn: W of Eq. (6), a start in order.
    pub in_order: f64,
    /// From a strewn start: rings are copied no more than what is strewn for good.
    pub most: f64,
}

pub(super) fn amplification(writers: &[Writer], order: OverwriteOrder, store: SharedStore) -> Option<Amplification> {
    let [least, in_order] = from_a_start_in_order(writers, order, store)?;
    let [_, strewn] = from_a_start_in_order(writers, OverwriteOrder::Anywhere, store)?;
    Some(Amplification { least, in_order, most: in_order.max(strewn) })
}

fn from_a_start_in_order(writers: &[Writer], order: OverwriteOrder, store: SharedStore) -> Option<[f64; 2]> {
    let (rate, data) = writers.iter().fold((0.0, 0.0), |(rate, data), writer| (rate + writer.rate, data + writer.data));
    let moving = store.room - store.at_rest;
    // Not `moving <= data`: what is no number is nothing, too.
    let fits = rate > 0.0 && moving > data;
    if !fits {
        return None;
    }
    let turn = turn(writers, order, moving);
    let least = (moving / (rate * turn)).max(1.0);
    let most = (store.room / (rate * turn)).max(least);
    if order == OverwriteOrder::Anywhere || store.frontier == CopyFrontier::Shared {
        return Some([least, most]);
    }
    // Copies in blocks of their own are not copied again, where few cycles differ; where nothing is
    // copied any more, data at rest are neither.
    let once = copied_once(writers, moving);
    Some([once, if once > 1.0 { most.max(once) } else { once }])
}

/// Each round goes down to the solution and never below it: ending early errs to a longer turn.
const ROUNDS: usize = 20_000;

/// A with A · Σ ρ n(A) = `moving`, which is C − d_0: Eq. (5). n(A) is ⌈τ/A⌉ in a ring, 1/(1 −
/// e^(−A/τ)) anywhere, and falls: A ← `moving` / Σ ρ n(A), begun above, passes no solution.
fn turn(writers: &[Writer], order: OverwriteOrder, moving: f64) -> f64 {
    let programs = |turn: f64, writer: &Writer| {
        let turns = writer.cycle() / turn;
        match order {
            OverwriteOrder::Ring => writer.rate * turns.ceil().max(1.0),
            OverwriteOrder::Anywhere => writer.rate / -libm::expm1(-1.0 / turns),
        }
    };
    let mut turn = moving / writers.iter().fold(0.0, |sum, writer| sum + writer.rate);
    for _ in 0..ROUNDS {
        let next = moving / writers.iter().fold(0.0, |sum, writer| sum + programs(turn, writer));
        let settled = next >= turn * (1.0 - 1e-10);
        turn = next.min(turn);
        if settled {
            break;
        }
    }
    turn
}

/// W of Eq. (8), if nothing is copied twice: A · ρ pages of each writer with τ ≤ A, and d of each
/// other, fill the room. Solved from above like [`turn`].
fn copied_once(writers: &[Writer], moving: f64) -> f64 {
    let whole = writers.iter().fold(0.0, |sum, writer| sum + writer.rate);
    let mut turn = moving / whole;
    loop {
        let (mut left, mut dying, mut copied) = (moving, 0.0, 0.0);
        for writer in writers {
            if writer.cycle() > turn {
                left -= writer.data;
                copied += writer.rate;
            } else {
                dying += writer.rate;
            }
        }
        // It falls past the cycle of a writer each time, so this ends; and never below the shortest
        // one, as the data fit.
        let next = left / dying;
        if dying <= 0.0 || next >= turn {
            return 1.0 + copied / whole;
        }
        turn = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(room: f64, at_rest: f64, frontier: CopyFrontier) -> SharedStore {
        SharedStore { room, at_rest, frontier }
    }

    fn rings(writers: &[(f64, f64)], room: f64, at_rest: f64, frontier: CopyFrontier) -> Amplification {
        let writers: Vec<Writer> = writers.iter().map(|&(rate, data)| Writer { rate, data }).collect();
        amplification(&writers, OverwriteOrder::Ring, store(room, at_rest, frontier)).unwrap()
    }

    fn near(one: f64, other: f64) {
        assert!((one - other).abs() < 1e-6, "{one} is not {other}");
    }

    #[test]
    fn a_ring_alone_is_never_copied() {
        for data in [1.0, 500.0, 999.0] {
            for frontier in [CopyFrontier::Shared, CopyFrontier::Apart] {
                let alone = rings(&[(7.0, data)], 1_000.0, 0.0, frontier);
                assert_eq!((alone.least, alone.in_order), (1.0, 1.0));
                // Nor are rings of one cycle.
                let same = rings(&[(3.0, data / 4.0), (9.0, data / 4.0 * 3.0)], 1_000.0, 0.0, frontier);
                assert_eq!((same.least, same.in_order), (1.0, 1.0));
                // From a strewn start they are copied like what is overwritten anywhere, at most.
                assert!(alone.most >= 1.0 && (data < 500.0 || alone.most > 1.2), "{alone:?}");
            }
        }
    }

    #[test]
    fn data_at_rest_are_copied_once_a_turn_or_never() {
        // Turns of (1000 − 600)/4 = 100, in each of which 600 pages may be copied beside 400 that
        // are written.
        let shared = rings(&[(4.0, 300.0)], 1_000.0, 600.0, CopyFrontier::Shared);
        near(shared.least, 1.0);
        near(shared.in_order, 2.5);
        let apart = rings(&[(4.0, 300.0)], 1_000.0, 600.0, CopyFrontier::Apart);
        assert_eq!((apart.least, apart.in_order), (1.0, 1.0));
    }

    #[test]
    fn a_slow_ring_is_copied_as_often_as_the_log_comes_round() {
        // Cycles of 10 and 30. A = 16: 16·30 + 16·10·2 = 800.
        let shared = rings(&[(30.0, 300.0), (10.0, 300.0)], 800.0, 0.0, CopyFrontier::Shared);
        near(shared.in_order, (30.0 + 20.0) / 40.0);
        near(shared.least, shared.in_order);
        // A = (800 − 300)/30 = 16.7, and a quarter is copied once.
        near(rings(&[(30.0, 300.0), (10.0, 300.0)], 800.0, 0.0, CopyFrontier::Apart).least, 1.25);
        // Room for all to die before the log comes round: 40 · 30 pages.
        near(rings(&[(30.0, 300.0), (10.0, 300.0)], 1_200.0, 0.0, CopyFrontier::Shared).in_order, 1.0);
        near(rings(&[(30.0, 300.0), (10.0, 300.0)], 1_199.0, 0.0, CopyFrontier::Shared).in_order, 1.25);
    }

    #[test]
    fn anywhere_is_what_is_known_of_a_log() {
        // z = e^(−A/τ) with A (1 − z)⁻¹ ρ = C: for C = 2d, z solves z = e^(−2(1 − z)), 0.2031878.
        let writer = Writer { rate: 5.0, data: 100.0 };
        let one = amplification(&[writer], OverwriteOrder::Anywhere, store(200.0, 0.0, CopyFrontier::Shared)).unwrap();
        near(one.most, 1.0 / (1.0 - 0.203_187_87));
        assert!((one.most - one.least).abs() < 1e-12);
        // Two halves are the whole.
        let half = Writer { rate: 2.5, data: 50.0 };
        let two =
            amplification(&[half, half], OverwriteOrder::Anywhere, store(200.0, 0.0, CopyFrontier::Apart)).unwrap();
        near(two.most, one.most);
    }

    #[test]
    fn odd_numbers_end() {
        let writers =
            [Writer { rate: 1e-9, data: 1e15 }, Writer { rate: 1e9, data: 1.0 }, Writer { rate: 3.0, data: 7e5 }];
        for order in [OverwriteOrder::Ring, OverwriteOrder::Anywhere] {
            for frontier in [CopyFrontier::Shared, CopyFrontier::Apart] {
                for room in [1.000_000_001e15, 2e15] {
                    let some = amplification(&writers, order, store(room, 0.0, frontier)).unwrap();
                    assert!(some.least >= 1.0 && some.most >= some.least && some.most.is_finite(), "{some:?}");
                }
            }
        }
        assert_eq!(amplification(&writers, OverwriteOrder::Ring, store(1e15, 0.0, CopyFrontier::Shared)), None);
        assert_eq!(amplification(&[], OverwriteOrder::Ring, store(10.0, 0.0, CopyFrontier::Shared)), None);
    }
}
