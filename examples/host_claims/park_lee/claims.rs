//! Claims of Park and Lee (2021), with what was published.

use rtflash::host::tune::{Millionths, Objective};

use super::super::claim::Kind::{self, Also, Must, NotAsked, Shown};
use super::runs::Column::{self, AgedRandomRead, AgedSequentialRead, FullRandomWrite, FullSequentialWrite};
use super::runs::Column::{RandomRead, RandomWrite, SequentialRead, SequentialWrite};
use super::runs::{Answers, Bound, Point, SOME, WHOLE};

/// When ours is near enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// Within a third of the published number.
    Third,
    /// From this to this.
    Within(f64, f64),
}

/// The compared quantity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// The 99.9th percentile, in microseconds.
    Tail(Column, Bound),
    /// Megabytes a second.
    Bandwidth(Column, Bound),
    /// The least bandwidth of these bounds.
    Least(Column, &'static [Bound]),
    /// The most.
    Most(Column, &'static [Bound]),
    /// The first one's 99.9th percentile over the second one's.
    TailFold((Column, Bound), (Column, Bound)),
    /// The first one's bandwidth over the second one's.
    BandwidthFold((Column, Bound), (Column, Bound)),
    /// Steps to the next smaller bound, from `none` on, behind which the percentile is no longer:
    /// of seven.
    TailSteps(Column),
    /// Steps to the next smaller bound, from `none` on, behind which the bandwidth is not above the
    /// larger bound's, or by 1 % at most.
    BandwidthSteps(Column),
    /// The farthest that two curves are apart, in percentile or bandwidth.
    Apart(Column, Column),
    /// The largest bound whose percentile is at most this share of `none`'s, in percent.
    Largest(Column, u32),
    /// The bound that `host tune` chooses.
    Chosen(Column, Objective),
    /// Objectives of all columns, in whole percents, for which `host tune` chooses an optimum of
    /// the curve.
    Exact,
}

/// A claim of this paper.
pub type Claim = super::super::claim::Claim<Value, Rule>;

const NONE: Bound = None;
/// From the largest to the smallest.
const BOUNDS: [Bound; 8] = [None, Some(64), Some(32), Some(16), Some(8), Some(4), Some(2), Some(1)];
/// All but one.
const ABOVE_1: [Bound; 6] = [Some(64), Some(32), Some(16), Some(8), Some(4), Some(2)];

impl Claim {
    /// The value by these answers; `None` where something was not run.
    pub fn ours(&self, answers: &Answers) -> Option<f64> {
        let at = |column, bound| answers.points.get(&(column, bound)).copied();
        let all = |column, bounds: &[Bound]| bounds.iter().map(|&bound| at(column, bound)).collect::<Option<Vec<_>>>();
        let steps = |column, goes: fn(Point, Point) -> bool| {
            let points = all(column, &BOUNDS)?;
            Some(points.windows(2).filter(|pair| goes(pair[0], pair[1])).count() as f64)
        };
        Some(match self.value {
            Value::Tail(column, bound) => at(column, bound)?.tail,
            Value::Bandwidth(column, bound) => at(column, bound)?.bandwidth,
            Value::Least(column, bounds) => {
                all(column, bounds)?.iter().map(|point| point.bandwidth).fold(f64::MAX, f64::min)
            }
            Value::Most(column, bounds) => {
                all(column, bounds)?.iter().map(|point| point.bandwidth).fold(f64::MIN, f64::max)
            }
            Value::TailFold(above, below) => at(above.0, above.1)?.tail / at(below.0, below.1)?.tail,
            Value::BandwidthFold(above, below) => at(above.0, above.1)?.bandwidth / at(below.0, below.1)?.bandwidth,
            Value::TailSteps(column) => steps(column, |larger, smaller| smaller.tail <= larger.tail)?,
            Value::BandwidthSteps(column) => {
                steps(column, |larger, smaller| smaller.bandwidth <= larger.bandwidth * 1.01)?
            }
            Value::Apart(one, other) => {
                let pairs = all(one, &SOME)?.into_iter().zip(all(other, &SOME)?);
                let apart = |(a, b): (Point, Point)| [a.tail / b.tail, a.bandwidth / b.bandwidth];
                pairs.flat_map(apart).map(|ratio| ratio.max(1.0 / ratio)).fold(1.0, f64::max)
            }
            Value::Largest(column, percent) => {
                let points = all(column, &BOUNDS)?;
                let limit = points[0].tail * f64::from(percent) / 100.0;
                let fits = points.iter().zip(BOUNDS).skip(1).find(|(of, _)| of.tail <= limit);
                f64::from(fits.and_then(|(_, bound)| bound).unwrap_or(0))
            }
            Value::Chosen(column, objective) => f64::from(chosen(answers, column, objective)?),
            Value::Exact => f64::from(exact(answers)?),
        })
    }

    /// Whether a value is near enough; `None` for a claim that is not asked.
    pub fn holds(&self, ours: f64) -> Option<bool> {
        let is_asked = matches!(self.kind, Must | Also);
        is_asked.then_some(match (self.rule, self.published) {
            (Rule::Third, Some(published)) => (ours / published - 1.0).abs() <= 1.0 / 3.0,
            (Rule::Third, None) => false,
            (Rule::Within(low, high), _) => (low..=high).contains(&ours),
        })
    }

    /// The unit of its value.
    pub fn unit(&self) -> &'static str {
        match self.value {
            Value::Tail(..) => "µs",
            Value::Bandwidth(..) | Value::Least(..) | Value::Most(..) => "MB/s",
            Value::TailFold(..) | Value::BandwidthFold(..) | Value::Apart(..) => "fold",
            Value::TailSteps(_) | Value::BandwidthSteps(_) => "of 7 steps",
            Value::Largest(..) | Value::Chosen(..) => "bound",
            Value::Exact => "of 1200",
        }
    }
}

/// The bound that is chosen; zero where none is as wanted.
fn chosen(answers: &Answers, column: Column, objective: Objective) -> Option<u32> {
    let tuning = answers.tunings.get(&column)?;
    let settings = tuning.best(objective).and_then(|at| tuning.measured.get(at)).map(|of| of.settings);
    Some(settings.and_then(|settings| rtflash::host::tune::k2(&settings).map(|k2| k2.max_inflight)).unwrap_or(0))
}

/// A share in percent.
fn percent(percent: u32) -> Millionths {
    Millionths::of_million(percent * 10_000).expect("a share")
}

/// The number of O1 and O2 for 1 % to 100 % in six columns that are chosen as an optimum of the
/// points, looked for by itself.
fn exact(answers: &Answers) -> Option<u32> {
    let mut exact = 0;
    for column in WHOLE {
        let at = |bound| answers.points.get(&(column, bound)).copied();
        let none = at(NONE)?;
        let curve: Vec<(u32, Point)> = BOUNDS.iter().filter_map(|&bound| Some((bound?, at(bound)?))).collect();
        for share in 1..=100 {
            let part = f64::from(share) / 100.0;
            let short = |of: &&(u32, Point)| of.1.tail <= none.tail * part;
            let broad = |of: &&(u32, Point)| of.1.bandwidth >= none.bandwidth * part;
            let most = curve.iter().filter(short).map(|of| of.1.bandwidth).fold(f64::NAN, f64::max);
            let least = curve.iter().filter(broad).map(|of| of.1.tail).fold(f64::NAN, f64::min);
            let found = chosen(answers, column, Objective::LatencyShare(percent(share)))?;
            let own = curve.iter().filter(short).find(|of| of.0 == found);
            exact += u32::from(own.map_or(most.is_nan() && found == 0, |own| own.1.bandwidth >= most));
            let found = chosen(answers, column, Objective::BandwidthShare(percent(share)))?;
            let own = curve.iter().filter(broad).find(|of| of.0 == found);
            exact += u32::from(own.map_or(least.is_nan() && found == 0, |own| own.1.tail <= least));
        }
    }
    Some(exact)
}

/// All claims, in the order of the paper.
pub fn claims() -> Vec<Claim> {
    let mut all = Vec::new();
    reads(&mut all);
    writes(&mut all);
    full(&mut all);
    section_5(&mut all);
    all
}

fn claim(place: &'static str, text: impl Into<String>, kind: Kind, published: Option<f64>, value: Value) -> Claim {
    Claim { place, text: text.into(), kind, is_fitted: false, published, rule: Rule::Third, value }
}

/// 99.9th percentile and bandwidth of a bound: kind, what was published, and whether it was fitted
/// on.
type Row = (Bound, [Option<(Kind, f64, bool)>; 2]);

/// Adds what a figure has in numbers.
fn rows(all: &mut Vec<Claim>, place: &'static str, column: Column, rows: &[Row]) {
    for &(bound, [tail, bandwidth]) in rows {
        let values = [(tail, "p99.9", Value::Tail(column, bound)), (bandwidth, "all", Value::Bandwidth(column, bound))];
        for (published, what, value) in values {
            let Some((kind, published, is_fitted)) = published else { continue };
            let text = format!("{}: {}, {what}", words(column), name(bound));
            all.push(Claim { is_fitted, ..claim(place, text, kind, Some(published), value) });
        }
    }
}

/// Figure 4.
fn reads(all: &mut Vec<Claim>) {
    let must = |published, is_fitted| Some((Must, published, is_fitted));
    rows(
        all,
        "Fig. 4a",
        SequentialRead,
        &[(NONE, [must(1237.0, true), must(720.0, true)]), (Some(1), [must(370.0, true), must(70.0, true)])],
    );
    all.push(fold("Fig. 4a", SequentialRead, "p99.9", 3.3, NONE, Some(1)));
    rows(
        all,
        "Fig. 4b",
        RandomRead,
        &[
            (NONE, [must(3251.0, false), must(566.0, true)]),
            (Some(2), [must(197.0, false), None]),
            (Some(1), [must(217.0, true), must(44.0, true)]),
        ],
    );
    all.push(fold("Fig. 4b", RandomRead, "p99.9", 15.0, NONE, Some(1)));
    all.push(fold("Fig. 4b", RandomRead, "all", 12.9, NONE, Some(1)));
    let value = Value::TailFold((RandomRead, Some(1)), (RandomRead, Some(2)));
    all.push(claim("Fig. 4b", "random read: K2-1 over K2-2, p99.9", NotAsked, Some(1.1), value));
}

/// Figure 5.
fn writes(all: &mut Vec<Claim>) {
    let must = |published, is_fitted| Some((Must, published, is_fitted));
    rows(
        all,
        "Fig. 5a",
        SequentialWrite,
        &[
            (NONE, [must(3131.0, true), must(430.0, true)]),
            (Some(2), [must(960.0, true), None]),
            (Some(1), [must(471.0, true), must(303.0, true)]),
        ],
    );
    let column = SequentialWrite;
    all.push(fold("Fig. 5a", column, "p99.9", 3.3, NONE, Some(2)));
    all.push(fold("Fig. 5a", column, "p99.9", 6.6, NONE, Some(1)));
    all.push(fold("Fig. 5a", column, "all", 1.42, NONE, Some(1)));
    spread(all, "Sec. 4.2", column, "K2-2 to K2-64", &ABOVE_1, (Also, [419.0, 438.0]));
    rows(
        all,
        "Fig. 5b",
        RandomWrite,
        &[
            (NONE, [must(3848.0, false), must(299.0, true)]),
            (Some(64), [must(3471.0, false), None]),
            (Some(1), [must(1732.0, true), must(277.0, false)]),
        ],
    );
    let column = RandomWrite;
    all.push(fold("Fig. 5b", column, "p99.9", 2.2, NONE, Some(1)));
    spread(all, "Fig. 5b", column, "K2-2 to K2-64", &ABOVE_1, (Also, [297.0, 302.0]));
    let value = Value::BandwidthFold((column, Some(1)), (column, NONE));
    all.push(claim("Fig. 5b", "random write: K2-1 over none, all", NotAsked, Some(0.93), value));
}

/// Figures 7 and 8.
fn full(all: &mut Vec<Claim>) {
    let must = |published, is_fitted| Some((Must, published, is_fitted));
    let (sequential, random) = (FullSequentialWrite, FullRandomWrite);
    let tails = |none, one, is_fitted| [(NONE, [must(none, false), None]), (Some(1), [must(one, is_fitted), None])];
    rows(all, "Fig. 8a", sequential, &tails(3247.0, 1485.0, true));
    spread(all, "Fig. 8a", sequential, "every bound", &BOUNDS, (Must, [256.0, 288.0]));
    all.iter_mut().rev().take(2).for_each(|claim| claim.is_fitted = true);
    rows(all, "Fig. 8b", random, &tails(3259.0, 1689.0, true));
    let value = Value::BandwidthFold((random, Some(1)), (random, NONE));
    let flat = claim("Fig. 8b", "full, random write: K2-1 over none, all (no difference)", Also, Some(1.0), value);
    all.push(Claim { rule: Rule::Within(0.95, 1.05), ..flat });
}

/// Section 5: observations, and what to choose.
fn section_5(all: &mut Vec<Claim>) {
    for (column, aged) in [(SequentialRead, AgedSequentialRead), (RandomRead, AgedRandomRead)] {
        let text = format!("R1, {}: farthest apart on aged flash", words(column));
        let apart = claim("Sec. 5", text, Must, Some(1.0), Value::Apart(column, aged));
        all.push(Claim { rule: Rule::Within(1.0, 1.15), ..apart });
    }
    for column in [SequentialRead, RandomRead] {
        let text = format!("R2, {}: a smaller bound, no more bandwidth", words(column));
        let steps = claim("Sec. 5", text, Must, Some(7.0), Value::BandwidthSteps(column));
        all.push(Claim { rule: Rule::Within(7.0, 7.0), ..steps });
    }
    let mostly = [
        ("R3", Also, SequentialRead),
        ("R3", Also, RandomRead),
        ("W2", Must, SequentialWrite),
        ("W2", Must, RandomWrite),
        ("W2", Must, FullSequentialWrite),
        ("W2", Must, FullRandomWrite),
    ];
    for (rule, kind, column) in mostly {
        let text = format!("{rule}, {}: a smaller bound, no longer p99.9 (mostly)", words(column));
        let steps = claim("Sec. 5", text, kind, None, Value::TailSteps(column));
        all.push(Claim { rule: Rule::Within(5.0, 7.0), ..steps });
    }
    let (full, partial) = ((FullSequentialWrite, Some(1)), (SequentialWrite, Some(1)));
    let text = "W1, sequential write: full over not full, K2-1, p99.9";
    all.push(claim("Sec. 5", text, Must, Some(3.15), Value::TailFold(full, partial)));
    let (full, partial) = ((FullRandomWrite, NONE), (RandomWrite, NONE));
    let text = "W1, random write: full over not full, none, all (less)";
    all.push(claim("Sec. 5", text, Shown, None, Value::BandwidthFold(full, partial)));
    for column in [SequentialWrite, RandomWrite] {
        let text = format!("W3, {}: K2-2 over none, all", words(column));
        let value = Value::BandwidthFold((column, Some(2)), (column, NONE));
        all.push(Claim { rule: Rule::Within(0.95, 1.05), ..claim("Sec. 5", text, Also, Some(1.0), value) });
    }
    let o1 = |share| Objective::LatencyShare(percent(share));
    let o2 = |share| Objective::BandwidthShare(percent(share));
    let text = "O1, sequential write: the largest bound with 50 %";
    all.push(near(claim("Sec. 5", text, Must, Some(8.0), Value::Largest(SequentialWrite, 50))));
    for (text, published, column, objective) in [
        ("O1, sequential read: 50 %", 8.0, SequentialRead, o1(50)),
        ("O1, random read: 50 %", 32.0, RandomRead, o1(50)),
        ("O1, sequential write: 50 % (2, 4 or 8)", 4.0, SequentialWrite, o1(50)),
        ("O2, sequential read: 50 %", 16.0, SequentialRead, o2(50)),
        ("O2, random read: 50 %", 8.0, RandomRead, o2(50)),
        ("O2, sequential write: 50 %", 1.0, SequentialWrite, o2(50)),
        ("O2, sequential write: 80 %", 2.0, SequentialWrite, o2(80)),
    ] {
        all.push(near(claim("Sec. 5", text, Must, Some(published), Value::Chosen(column, objective))));
    }
    let text = "O1 and O2, six curves, 1 % to 100 %: `host tune` finds an optimum";
    all.push(Claim { rule: Rule::Within(1200.0, 1200.0), ..claim("Sec. 5", text, Must, Some(1200.0), Value::Exact) });
}

/// Within one doubling.
fn near(claim: Claim) -> Claim {
    let published = claim.published.unwrap_or(f64::NAN);
    Claim { rule: Rule::Within(published / 2.0, published * 2.0), ..claim }
}

/// One bound over another one, as the text says it.
fn fold(place: &'static str, column: Column, what: &str, published: f64, above: Bound, below: Bound) -> Claim {
    let (first, second) = ((column, above), (column, below));
    let value = if what == "all" { Value::BandwidthFold(first, second) } else { Value::TailFold(first, second) };
    let text = format!("{}: {} over {}, {what}", words(column), name(above), name(below));
    claim(place, text, Also, Some(published), value)
}

/// The least and the most bandwidth of some bounds.
fn spread(
    all: &mut Vec<Claim>,
    place: &'static str,
    column: Column,
    which: &str,
    bounds: &'static [Bound],
    (kind, [least, most]): (Kind, [f64; 2]),
) {
    let col = words(column);
    all.push(claim(place, format!("{col}: {which}, least of all"), kind, Some(least), Value::Least(column, bounds)));
    all.push(claim(place, format!("{col}: {which}, most of all"), kind, Some(most), Value::Most(column, bounds)));
}

fn name(bound: Bound) -> String {
    bound.map_or("none".into(), |bound| format!("K2-{bound}"))
}

fn words(column: Column) -> &'static str {
    match column {
        SequentialRead => "sequential read",
        RandomRead => "random read",
        SequentialWrite => "sequential write",
        RandomWrite => "random write",
        FullSequentialWrite => "full, sequential write",
        FullRandomWrite => "full, random write",
        AgedSequentialRead => "aged, sequential read",
        AgedRandomRead => "aged, random read",
    }
}
