//! Errors on rounds that a fit has not seen.

use rtflash_host::Op;
use rtflash_host::run::{HostDevice, ReplayedCommand, replay};
use rtflash_model::Span;
use rtflash_model::random::Stream;

use crate::command::Done;
use crate::sample::Measurement;
use crate::statistics::percentile;

/// Commands of a round that are replayed.
pub(super) const MAX_REPLAYED: usize = 20_000;

/// The seed of replays, and of halves.
const SEED: u64 = 1;

/// Random halves of the rounds, whose median error is the noise.
const HALVES: usize = 21;

/// A kind of device, and how far its predictions are off.
#[derive(Debug, Clone, PartialEq)]
pub struct FitCandidate {
    /// The kind.
    pub kind: &'static str,
    /// A row for each operation and percentile.
    pub errors: Vec<PercentileError>,
    /// Its residences in the held-out rounds, of reads and of writes, in ns, sorted.
    pub predicted: [Vec<u64>; 2],
}

/// A percentile, measured and predicted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PercentileError {
    /// The operation of the commands.
    pub op: Op,
    /// The percentile in ten thousandths; 10,000 is the longest.
    pub of_ten_thousand: u64,
    /// In the held-out rounds, in ns.
    pub measured: u64,
    /// The prediction of the kind, in ns.
    pub predicted: u64,
}

impl PercentileError {
    /// How many times too long or too short the prediction is: 1 is exact.
    pub fn factor(&self) -> f64 {
        let (one, other) = (self.measured.max(1) as f64, self.predicted.max(1) as f64);
        (one / other).max(other / one)
    }
}

impl FitCandidate {
    /// The geometric mean of its factors, to the thousandth.
    pub fn score(&self) -> f64 {
        let sum: f64 = self.errors.iter().map(|error| libm::log(error.factor())).sum();
        libm::round(libm::exp(sum / self.errors.len().max(1) as f64) * 1_000.0) / 1_000.0
    }

    fn new(kind: &'static str, measured: [Vec<u64>; 2], predicted: [Vec<u64>; 2]) -> FitCandidate {
        let mut errors = Vec::new();
        for (at, op) in [Op::Read, Op::Write].into_iter().enumerate() {
            let count = measured[at].len().min(predicted[at].len());
            // A percentile of which fewer than three samples lie above says nothing.
            for (of_ten_thousand, enough) in [(5_000, 20), (9_900, 300), (9_990, 3_000), (10_000, 20)] {
                let found = percentile(&measured[at], of_ten_thousand).zip(percentile(&predicted[at], of_ten_thousand));
                if let Some((measured, predicted)) = found.filter(|_| count >= enough) {
                    errors.push(PercentileError { op, of_ten_thousand, measured, predicted });
                }
            }
        }
        FitCandidate { kind, errors, predicted }
    }
}

/// Multiples of the best kind's error that the chosen kind can have: in the mean over percentiles,
/// and at each of them.
const MEAN_TOLERANCE: f64 = 1.05;
const TOLERANCE: f64 = 1.25;

/// The position of the simplest kind that is good enough in the mean and at every percentile. That
/// is within the tolerance of the best kind, or off by no more than noise. If no kind is, the kind
/// of the least mean is chosen. A mean over percentiles alone hides a tail that is off by much.
pub(super) fn choice(candidates: &[FitCandidate], floor: &FitCandidate) -> usize {
    let factor = |of: &FitCandidate, error: &PercentileError| {
        let same =
            of.errors.iter().find(|other| (other.op, other.of_ten_thousand) == (error.op, error.of_ten_thousand));
        same.map(PercentileError::factor)
    };
    let is_enough = |error: &PercentileError| {
        let best = candidates.iter().filter_map(|of| factor(of, error)).fold(f64::MAX, f64::min);
        error.factor() <= f64::max(best * TOLERANCE, factor(floor, error).unwrap_or(1.0))
    };
    let best = candidates.iter().map(FitCandidate::score).fold(f64::MAX, f64::min);
    let mean = f64::max(best * MEAN_TOLERANCE, floor.score());
    let enough = candidates.iter().position(|of| of.score() <= mean && of.errors.iter().all(is_enough));
    enough.unwrap_or_else(|| {
        let least =
            (0..candidates.len()).min_by(|&one, &other| candidates[one].score().total_cmp(&candidates[other].score()));
        least.expect("a kind: invariant of `devices`")
    })
}

/// The workload of a round behind `ended` commands of others: each after the ends that it followed.
fn workload(round: &[Done], ended: usize) -> Vec<ReplayedCommand> {
    let round = &round[..round.len().min(MAX_REPLAYED)];
    let mut ends: Vec<u64> = round.iter().map(|done| done.ended).collect();
    ends.sort_unstable();
    let begin = round.first().map_or(0, |done| done.issued);
    let command = |(at, done): (usize, &Done)| {
        let after = ends.partition_point(|&end| end <= done.issued).min(at);
        let since = after.checked_sub(1).map_or(begin, |last| ends[last]);
        let gap = Span::from_ns(done.issued.saturating_sub(since)).unwrap_or(Span::LONGEST);
        let after = ended + after;
        ReplayedCommand { after, gap, op: done.op, from: done.from, size: done.size, is_first: !done.continues }
    };
    round.iter().enumerate().map(command).collect()
}

/// Residences as they were measured, of reads and of writes, in ns, sorted.
pub(super) fn residences(of: &Measurement) -> [Vec<u64>; 2] {
    residences_of(of.rounds.iter())
}

fn residences_of<'a>(rounds: impl Iterator<Item = &'a Vec<Done>>) -> [Vec<u64>; 2] {
    let commands = rounds.flat_map(|round| &round[..round.len().min(MAX_REPLAYED)]);
    sorted(commands.map(|done| (done.op, done.residence())))
}

fn sorted(times: impl Iterator<Item = (Op, u64)>) -> [Vec<u64>; 2] {
    let mut by_op = [Vec::new(), Vec::new()];
    times.for_each(|(op, time)| by_op[usize::from(op != Op::Read)].push(time));
    by_op.iter_mut().for_each(|times| times.sort_unstable());
    by_op
}

/// A kind with its errors: the held-out rounds are run on its device.
pub(super) fn candidate(kind: &'static str, device: &HostDevice, held_out: &Measurement) -> FitCandidate {
    // One run of all rounds: each would begin without an episode.
    let mut commands = Vec::new();
    for round in &held_out.rounds {
        commands.extend(workload(round, commands.len()));
    }
    let times = replay(device, &commands, SEED);
    let replayed = commands.iter().zip(times).map(|(command, time)| (command.op, time.as_ns()));
    FitCandidate::new(kind, residences(held_out), sorted(replayed))
}

/// The errors of one half of the rounds as a prediction of the other, without any model: the median
/// over random halves, for each percentile. One pair of halves can agree by chance.
pub(super) fn floor(of: &Measurement) -> FitCandidate {
    let mut stream = Stream::numbered(SEED, b"halves\0\0", 0);
    let mut order: Vec<usize> = (0..of.rounds.len()).collect();
    let mut found: Vec<PercentileError> = Vec::new();
    for _ in 0..HALVES {
        for last in (1..order.len()).rev() {
            let other = usize::try_from(stream.below(last as u64 + 1)).expect("a position: invariant of `below`");
            order.swap(last, other);
        }
        let half = |first| residences_of(order.iter().skip(first).step_by(2).map(|&at| &of.rounds[at]));
        found.extend(FitCandidate::new("a half", half(1), half(0)).errors);
    }
    let key = |error: &PercentileError| (error.op != Op::Read, error.of_ten_thousand);
    found.sort_by(|one, other| key(one).cmp(&key(other)).then(one.factor().total_cmp(&other.factor())));
    let middle = |same: &[PercentileError]| same[same.len() / 2].clone();
    let errors = found.chunk_by(|one, other| key(one) == key(other)).map(middle).collect();
    FitCandidate { kind: "half of rounds", errors, predicted: [Vec::new(), Vec::new()] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::DriveSample;

    /// Rounds differ, and come in pairs that are alike: odd ones and even ones agree.
    #[test]
    fn noise_is_no_chance_of_odd_and_even() {
        let round = |at: u64| {
            let level = 1_000 << (at / 2);
            let command = |at: u64| Done {
                issued: 1_000_000 * at,
                ended: 1_000_000 * at + level + at,
                op: Op::Read,
                process: None,
                from: 0,
                size: 4_096,
                others: 0,
                is_joined: false,
                continues: false,
                idle: 0,
                free: 0,
            };
            (0..400).map(command).collect::<Vec<Done>>()
        };
        let mut sample = DriveSample::default();
        for at in 0..16 {
            round(at).into_iter().for_each(|done| sample.push(done));
            sample.end_of_file(None, None);
        }
        let of = sample.measurement();
        let [odd, even] = [0, 1].map(|half| of.half(half));
        let by_chance = FitCandidate::new("odd rounds", residences(&even), residences(&odd));
        let median =
            |of: &FitCandidate| of.errors.iter().find(|of| of.of_ten_thousand == 5_000).expect("a median").factor();
        assert!(median(&by_chance) < 1.01 && median(&floor(&of)) > 1.2, "{:?}", floor(&of).errors);
    }

    /// A kind of these factors at the median and the 99th percentile.
    fn off(kind: &'static str, factors: [u64; 2]) -> FitCandidate {
        let error = |(of_ten_thousand, thousandths)| {
            let (op, measured) = (Op::Read, 1_000_000);
            PercentileError { op, of_ten_thousand, measured, predicted: measured * thousandths / 1_000 }
        };
        let errors = [5_000, 9_900].into_iter().zip(factors).map(error).collect();
        FitCandidate { kind, errors, predicted: [Vec::new(), Vec::new()] }
    }

    #[test]
    fn a_tail_that_is_off_is_not_hidden_by_the_mean() {
        let chosen = |simple: [u64; 2], other: [u64; 2], floor: [u64; 2]| {
            choice(&[off("simple", simple), off("other", other)], &off("odd rounds", floor))
        };
        // The mean of the simple kind is no worse than noise, its tail is four times too long.
        assert_eq!(chosen([1_000, 4_000], [1_400, 1_400], [5_000, 1_100]), 1);
        assert_eq!(chosen([1_050, 1_000], [1_000, 1_000], [1_000, 1_000]), 0);
        assert_eq!(chosen([1_120, 1_000], [1_000, 1_000], [1_000, 1_000]), 1);
        assert_eq!(chosen([1_120, 1_000], [1_000, 1_000], [1_120, 1_000]), 0);
        // None is good enough at both: the lower mean decides.
        assert_eq!(chosen([1_000, 1_300], [1_400, 1_000], [1_000, 1_000]), 0);
        assert_eq!(chosen([1_000, 2_000], [1_400, 1_000], [1_000, 1_000]), 1);
    }
}
