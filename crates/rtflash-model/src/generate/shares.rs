//! Dividing the total utilization among the tasks: U_1 … U_n.

use super::fixed_sum::FixedSum;
use super::generator::Generator;
use super::utilization::Utilization;
use crate::random::Stream;

const ONE: u64 = 1_000_000_000;

/// A way to propose U_1 … U_n; a proposal may have to be discarded.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ShareProposal {
    /// U_i = U·a_i/Σa.
    Integers { billionths: u64, total: f64 },
    /// Uniform on {ΣU_i = U, every U_i ≤ 1}.
    Slice {
        total: f64,
        method: Method,
        /// Whether what is drawn is 1 − U_i, and `total` n − U.
        complement: bool,
        /// The least value of each U_i, to which the draw is added.
        least: f64,
    },
    /// No total is divided: tasks get their utilizations with their requests.
    Undivided,
}

/// One distribution, uniform on {Σx_i = total, 0 ≤ x_i ≤ 1}; they differ in what they discard.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Method {
    /// Only 0 ≤ x_i, discarded if some x_i > 1 (Bini & Buttazzo 2005). Good for small totals.
    UUniFast,
    /// x_1 … x_{n−1} uniform in [0, 1], discarded unless x_n is in it. For totals near n/2.
    Independent,
    /// x_1 … x_{n−1} of density ∝ e^(−rate·x) on [0, 1], discarded as before, else kept with
    /// probability e^(−rate·x_n): ∝ e^(−rate·Σx_i), equal everywhere. Good for many tasks and
    /// totals in between, by the rate of the mean total/n.
    Tilted { rate: f64 },
    /// Nothing is discarded.
    FixedSum(FixedSum),
}

impl ShareProposal {
    /// `None` where some task would have more than 1 (for integer shares: 1 or more).
    pub(super) fn new(generator: Generator, tasks: u32, utilization: Utilization) -> Option<ShareProposal> {
        let (billionths, total) = (utilization.billionths(), utilization.to_f64());
        let max = u64::from(tasks) * ONE;
        match generator {
            Generator::HeavyWriters => Some(ShareProposal::Undivided),
            Generator::IntegerShares if billionths >= max => None,
            Generator::IntegerShares => Some(ShareProposal::Integers { billionths, total }),
            Generator::UUniFast | Generator::UUniFastDiscard | Generator::RandFixedSum if billionths > max => None,
            Generator::UUniFastDiscard => {
                Some(ShareProposal::Slice { total, method: Method::UUniFast, complement: false, least: 0.0 })
            }
            Generator::RandFixedSum => {
                let method = Method::FixedSum(FixedSum::new(tasks, total));
                Some(ShareProposal::Slice { total, method, complement: false, least: 0.0 })
            }
            // x → 1 − x moves the slice of n − U onto that of U and changes no volume, so it
            // carries the uniform distribution on the one to the uniform distribution on the other.
            // The slice of the smaller sum is discarded less often.
            Generator::UUniFast => {
                let complement = billionths > max - billionths;
                let total = if complement { in_units(max - billionths) } else { total };
                Some(ShareProposal::Slice { total, method: Method::best(tasks, total), complement, least: 0.0 })
            }
        }
    }

    /// No share is below `least`: a slice of a smaller total, moved; elsewhere the proposal stays.
    pub(super) fn of_at_least(self, least: f64, tasks: u32) -> ShareProposal {
        match self {
            ShareProposal::Slice { total, method: Method::UUniFast, complement: false, least: before }
                if before <= 0.0 && least * f64::from(tasks) < total =>
            {
                let total = total - least * f64::from(tasks);
                ShareProposal::Slice { total, method: Method::UUniFast, complement: false, least }
            }
            other => other,
        }
    }

    /// Fills in U_1 … U_n, or says false: the proposal is to be discarded.
    pub(super) fn propose(&self, stream: &mut Stream, shares: &mut [f64]) -> bool {
        match *self {
            ShareProposal::Undivided => true,
            ShareProposal::Integers { billionths, total } => integers(stream, billionths, total, shares),
            ShareProposal::Slice { total, ref method, complement, least } => {
                let kept = match *method {
                    Method::UUniFast => uunifast(stream, total, shares),
                    Method::Independent => independent(stream, total, shares, Stream::unit, |_, _| true),
                    Method::Tilted { rate } => {
                        let scale = libm::expm1(-rate);
                        let tilted = |stream: &mut Stream| (-libm::log1p(stream.unit() * scale) / rate).min(1.0);
                        independent(stream, total, shares, tilted, |stream, last| {
                            stream.unit() < libm::exp(-rate * last)
                        })
                    }
                    Method::FixedSum(ref table) => {
                        table.draw(stream, shares);
                        true
                    }
                };
                if kept && complement {
                    shares.iter_mut().for_each(|share| *share = 1.0 - *share);
                }
                shares.iter_mut().for_each(|share| *share += least);
                kept && (least <= 0.0 || shares.iter().all(|&share| share <= 1.0))
            }
        }
    }
}

fn in_units(billionths: u64) -> f64 {
    billionths as f64 / ONE as f64
}

impl Method {
    /// By rough estimates for a `total` of at most n/2: every choice gives the same distribution.
    fn best(tasks: u32, total: f64) -> Method {
        let n = f64::from(tasks);
        // A sum of n uniform numbers has the mean n/2 and the variance n/12. `Independent` still
        // beats the others at two standard deviations from the mean: its proposals are almost for
        // free.
        if 12.0 * (n / 2.0 - total) * (n / 2.0 - total) <= 4.0 * n {
            return Method::Independent;
        }
        // UUniFast discards with a probability of at most n·(1 − 1/total)^(n−1).
        if total <= 1.0 || n * libm::pow(1.0 - 1.0 / total, n - 1.0) <= 0.5 {
            return Method::UUniFast;
        }
        Method::Tilted { rate: rate_of_mean(total / n) }
    }
}

/// The rate a of the density ∝ e^(−a·x) on [0, 1] with this mean: 1/a − 1/(e^a − 1) = mean < 1/2.
fn rate_of_mean(mean: f64) -> f64 {
    let y = 1.0 - 2.0 * mean;
    // Within 5 % (A. Cohen 1991, for the inverse Langevin function), and two of Newton's steps.
    let start = 2.0 * y * (3.0 - y * y) / (1.0 - y * y);
    (0..2).fold(start, |a, _| {
        let q = 1.0 / libm::expm1(a);
        a - (1.0 / a - q - mean) / (q * (1.0 + q) - 1.0 / (a * a))
    })
}

/// UUniFast, abandoned at the first share above 1.
fn uunifast(stream: &mut Stream, total: f64, shares: &mut [f64]) -> bool {
    let Some((last, others)) = shares.split_last_mut() else { return false };
    let (mut rest, mut tasks_left) = (total, others.len());
    for share in others {
        let next = rest * libm::pow(stream.unit(), 1.0 / count(tasks_left));
        *share = rest - next;
        if *share > 1.0 {
            return false;
        }
        (rest, tasks_left) = (next, tasks_left - 1);
    }
    *last = rest;
    rest <= 1.0
}

/// All but the last from `draw`; the last must be in [0, 1] and pass `keep`. Abandoned as soon as
/// the shares to come cannot make up what remains.
fn independent(
    stream: &mut Stream,
    total: f64,
    shares: &mut [f64],
    draw: impl Fn(&mut Stream) -> f64,
    keep: impl Fn(&mut Stream, f64) -> bool,
) -> bool {
    let Some((last, others)) = shares.split_last_mut() else { return false };
    let (mut rest, mut max_to_come) = (total, count(others.len()));
    for share in others {
        *share = draw(stream);
        rest -= *share;
        if rest < 0.0 || rest > max_to_come {
            return false;
        }
        max_to_come -= 1.0;
    }
    *last = rest;
    // Without `others` nothing has been tested yet.
    rest <= 1.0 && keep(stream, rest)
}

/// U_i = U·a_i/Σa, discarded if some U_i is 1 or more, which is tested exactly.
fn integers(stream: &mut Stream, billionths: u64, total: f64, shares: &mut [f64]) -> bool {
    let (mut sum, mut greatest) = (0, 0);
    for share in &mut *shares {
        let a = 1 + small(stream.below(10));
        (sum, greatest) = (sum + a, greatest.max(a));
        *share = f64::from(a);
    }
    if u128::from(greatest) * u128::from(billionths) >= u128::from(sum) * u128::from(ONE) {
        return false;
    }
    let sum = f64::from(sum);
    shares.iter_mut().for_each(|share| *share = total * *share / sum);
    true
}

/// A number below 10.
fn small(number: u64) -> u32 {
    u32::try_from(number).expect("a number below 10")
}

/// A number of tasks; at most `MAX_TASKS`, so it is exact.
fn count(tasks: usize) -> f64 {
    tasks as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best(tasks: u32, total: f64) -> Method {
        Method::best(tasks, total)
    }

    #[test]
    fn each_method_has_its_place() {
        assert_eq!((best(8, 0.5), best(8, 2.0)), (Method::UUniFast, Method::UUniFast));
        assert_eq!((best(8, 4.0), best(8, 2.5)), (Method::Independent, Method::Independent));
        assert_eq!((best(1, 0.5), best(1, 0.0)), (Method::Independent, Method::Independent));
        assert_eq!((best(32, 4.0), best(32, 16.0)), (Method::UUniFast, Method::Independent));
        assert!(matches!(best(32, 10.0), Method::Tilted { .. }));
    }

    #[test]
    fn the_rate_gives_the_mean() {
        for mean in [1e-4, 0.01, 0.1, 0.3, 0.45, 0.494] {
            let a = rate_of_mean(mean);
            assert!(a > 0.0 && (1.0 / a - 1.0 / libm::expm1(a) - mean).abs() < 1e-4 * mean, "{mean}: {a}");
        }
    }

    #[test]
    fn impossible_sums_are_known_at_once() {
        let shares = |generator, text: &str| ShareProposal::new(generator, 4, text.parse().unwrap());
        assert!(shares(Generator::UUniFast, "4").is_some());
        assert!(shares(Generator::UUniFast, "4.000000001").is_none());
        assert!(shares(Generator::IntegerShares, "3.999999999").is_some());
        assert!(shares(Generator::IntegerShares, "4").is_none());
    }
}
