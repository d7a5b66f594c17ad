//! A claim of a paper, and when ours is near enough.

use super::run::Answer;

/// The expectation of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It has to hold.
    Must,
    /// The paper says it; here it is only compared.
    Also,
    /// The paper has no number.
    Shown,
    /// The paper contradicts itself, or its own throughput.
    NotAsked,
}

/// When ours is near enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// Within a third of the published number.
    Third,
    /// Within 15 % of one.
    Flat,
    /// From 37 to 40, rounded.
    Folds,
    /// A factor of two at most: the next size.
    Near,
    /// Above 1.15; the paper has no number.
    Grows,
    /// Below one; the paper has no number.
    Below,
}

/// The compared quantity, by settings' positions.
#[derive(Debug, Clone)]
pub enum Value {
    /// The 99th percentile, in milliseconds.
    P99(usize),
    /// MiB/s of both jobs.
    Throughput(usize),
    /// The first one's 99th percentile over the second one's.
    Fold(usize, usize),
    /// The first one's 99.99th percentile over the lower of the others'.
    Tail(usize, [usize; 2]),
    /// The longest 99th percentile over the shortest.
    Spread(Vec<usize>),
    /// The size, in KiB, with the shortest 99th percentile.
    Best(Vec<(u32, usize)>),
}

/// A claim, whatever a paper's values and rules are.
#[derive(Debug, Clone)]
pub struct Claim<V = Value, R = Rule> {
    /// Figure or table.
    pub place: &'static str,
    /// The compared quantity, in words.
    pub text: String,
    /// See [`Kind`].
    pub kind: Kind,
    /// Whether a constant was fitted on it.
    pub is_fitted: bool,
    /// The published value.
    pub published: Option<f64>,
    /// When ours is near enough.
    pub rule: R,
    /// The compared quantity.
    pub value: V,
}

impl Claim {
    /// The value by answers, in the order of settings.
    pub fn ours(&self, answers: &[Answer]) -> f64 {
        let p99 = |at: usize| answers[at].p99;
        match &self.value {
            Value::P99(at) => p99(*at),
            Value::Throughput(at) => answers[*at].throughput,
            Value::Fold(above, below) => p99(*above) / p99(*below),
            Value::Tail(at, others) => {
                answers[*at].p9999 / others.iter().map(|&other| answers[other].p9999).fold(f64::MAX, f64::min)
            }
            Value::Spread(all) => {
                let longest = all.iter().map(|&at| p99(at)).fold(f64::MIN, f64::max);
                longest / all.iter().map(|&at| p99(at)).fold(f64::MAX, f64::min)
            }
            Value::Best(sizes) => {
                let best = sizes.iter().min_by(|a, b| p99(a.1).total_cmp(&p99(b.1)));
                best.map_or(f64::NAN, |&(size, _)| f64::from(size))
            }
        }
    }

    /// Whether a value is near enough; `None` for a claim that is not asked.
    pub fn holds(&self, ours: f64) -> Option<bool> {
        let published = |holds: &dyn Fn(f64) -> bool| self.published.map(holds);
        match self.rule {
            _ if self.kind == Kind::NotAsked => None,
            Rule::Third => published(&|published| (ours / published - 1.0).abs() <= 1.0 / 3.0),
            Rule::Flat => published(&|_| (ours - 1.0).abs() <= 0.15),
            Rule::Folds => published(&|_| (37.0..=40.0).contains(&ours.round())),
            Rule::Near => published(&|published| (published / 2.0..=published * 2.0).contains(&ours)),
            Rule::Grows => Some(ours > 1.15),
            Rule::Below => Some(ours < 1.0),
        }
    }

    /// The unit of its value.
    pub fn unit(&self) -> &'static str {
        match self.value {
            Value::P99(_) => "ms",
            Value::Throughput(_) => "MiB/s",
            Value::Fold(..) | Value::Tail(..) | Value::Spread(_) => "fold",
            Value::Best(_) => "KiB",
        }
    }
}
