//! Claims about a fitted drive, and the evidence of each.

use rtflash_host::Op;
use rtflash_host::bound::three_digits;
use rtflash_host::run::{Job, Scenario};
use serde::{Deserialize, Serialize};

use crate::command::Done;
use crate::fit::{Fit, HostOverhead, SizeLine, SizeResidual};
use crate::monitor::{MonitorRule, rules};
use crate::numbers::{bytes, rounded};
use crate::sample::{Measurement, ROUNDS};
use crate::statistics::{lag_correlation, mann_kendall, median, percentile, same_distribution};

/// The p-value below which a test fails.
const LEVEL: f64 = 0.05;

/// Commands of a round for its 99.9th percentile, and for its 99th.
const FOR_P999: usize = 3_000;
const FOR_P99: usize = 200;

/// The evidence behind a fitted device: the block `fitted` of its file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fitted {
    /// The files.
    pub sources: Vec<FittedSource>,
    /// Commands that were read.
    pub commands: u64,
    /// How long was measured, in ns.
    pub time_ns: u64,
    /// Rounds of the measurement.
    pub rounds: usize,
    /// The kind that errs least on held-out rounds.
    pub kind: String,
    /// The longest command by operation and size.
    pub largest: Vec<FittedLargest>,
    /// How far the line is off, by operation and size.
    pub residuals: Vec<FittedResidual>,
    /// Errors on held-out rounds.
    pub held_out: Vec<FittedError>,
    /// Percentiles of each round, by operation and size.
    pub percentiles: Vec<RoundPercentiles>,
    /// Whether rounds can be taken for alike.
    pub tests: FittedTests,
    /// The rules of a monitor.
    pub monitor: Vec<MonitorRule>,
    /// Slow episodes that were seen: of reads, of writes.
    pub episodes: [usize; 2],
    /// The host's time between commands of a process; null if it was not seen.
    pub host_overhead: Option<HostOverhead>,
    /// Things to know.
    pub notes: Vec<String>,
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FittedSource {
    /// Its name.
    pub name: String,
    /// SHA-256 of its bytes, in hexadecimal digits.
    pub sha256: String,
    /// Commands in it.
    pub commands: u64,
}

/// The longest command of an operation and size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FittedLargest {
    /// `read` or `write`.
    pub op: String,
    /// Bytes.
    pub size: u64,
    /// How many there were.
    pub commands: u64,
    /// The longest, in ns.
    pub ns: u64,
}

/// How far the line is off at a size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FittedResidual {
    /// `read` or `write`.
    pub op: String,
    /// Bytes.
    pub size: u64,
    /// Lone commands.
    pub commands: usize,
    /// Their median, in ns.
    pub p50_ns: u64,
    /// The time by the line, in ns.
    pub predicted_ns: u64,
}

/// A percentile of held-out rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FittedError {
    /// `read` or `write`.
    pub op: String,
    /// In ten thousandths; 10,000 is the longest.
    pub of_ten_thousand: u64,
    /// As measured, in ns.
    pub measured_ns: u64,
    /// As predicted, in ns.
    pub predicted_ns: u64,
    /// Times too long or too short.
    pub factor: f64,
    /// The factor between odd and even rounds, without a model; null if it cannot be computed.
    pub floor: Option<f64>,
}

impl FittedError {
    /// The percentile, as `p99.9` or `max`.
    pub fn name(&self) -> String {
        match self.of_ten_thousand {
            10_000 => "max".to_owned(),
            of => format!("p{}", of as f64 / 100.0),
        }
    }
}

/// A percentile in each round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundPercentiles {
    /// `read` or `write`.
    pub op: String,
    /// Bytes.
    pub size: u64,
    /// Which one, in ten thousandths.
    pub of_ten_thousand: u64,
    /// The percentile of each round, in ns, in order.
    pub ns: Vec<u64>,
}

/// Tests of whether rounds are alike, on the services of lone commands by the line's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FittedTests {
    /// p of no trend in the rounds' medians (Mann and Kendall), the least of both operations.
    pub trend_p: f64,
    /// p of one distribution of the first and the second half of the rounds' medians (Kolmogorov
    /// and Smirnov).
    pub halves_p: f64,
    /// Rank correlation of commands 100 apart, the largest of both operations.
    pub lag_100: f64,
}

impl FittedTests {
    fn of(measurement: &Measurement, lines: &[SizeLine; 2]) -> FittedTests {
        let (mut trend_p, mut halves_p, mut lag_100) = (1.0_f64, 1.0_f64, 0.0_f64);
        for (op, line) in [Op::Read, Op::Write].into_iter().zip(lines) {
            let is_own = |done: &&Done| done.op == op && done.is_alone() && !done.continues;
            let ratio = |done: &Done| rounded(done.service() as f64 * 1e6 / line.at(done.size).max(1) as f64);
            let ratios = |round: &Vec<Done>| round.iter().filter(is_own).map(ratio).collect::<Vec<u64>>();
            let rounds: Vec<Vec<u64>> = measurement.rounds.iter().map(ratios).collect();
            let medians: Vec<u64> = rounds.iter().filter_map(|round| median(round.clone())).collect();
            trend_p = trend_p.min(mann_kendall(&medians));
            let (one, other) = medians.split_at(medians.len() / 2);
            halves_p = halves_p.min(same_distribution(one, other));
            lag_100 = lag_100.max(lag_correlation(&rounds.concat(), 100));
        }
        let short = |number: f64| libm::round(number * 1e4) / 1e4;
        FittedTests { trend_p: short(trend_p), halves_p: short(halves_p), lag_100: short(lag_100) }
    }

    /// Whether the drive became slower or faster as it was measured. Two operations are tested, so
    /// each at half of the level.
    pub fn has_trend(&self) -> bool {
        self.trend_p < LEVEL / 2.0
    }

    /// Whether rounds can be taken for alike.
    pub fn pass(&self) -> bool {
        !self.has_trend() && self.halves_p >= LEVEL / 2.0
    }
}

impl Fitted {
    /// Summarises a fit to these files.
    pub fn new(measurement: &Measurement, fit: &Fit, sources: Vec<FittedSource>) -> Fitted {
        let largest = measurement.largest.iter().map(|of| FittedLargest {
            op: of.op.name().to_owned(),
            size: of.size,
            commands: of.count,
            ns: of.ns,
        });
        let lines = [Op::Read, Op::Write].into_iter().zip(&fit.lines);
        let residual = |(op, of): (Op, &SizeResidual)| FittedResidual {
            op: op.name().to_owned(),
            size: of.size,
            commands: of.commands,
            p50_ns: of.p50,
            predicted_ns: of.predicted,
        };
        // An operation that was not measured has the other's line, and no residuals.
        let lines = lines.filter(|(op, _)| measurement.largest.iter().any(|of| of.op == *op));
        let residuals = lines.flat_map(|(op, line)| line.sizes.iter().map(move |of| (op, of))).map(residual);
        let chosen = &fit.candidates[0];
        let error = |error: &crate::fit::PercentileError| {
            let alike = |other: &&crate::fit::PercentileError| {
                (other.op, other.of_ten_thousand) == (error.op, error.of_ten_thousand)
            };
            let short = |factor: f64| libm::round(factor * 1e3) / 1e3;
            FittedError {
                op: error.op.name().to_owned(),
                of_ten_thousand: error.of_ten_thousand,
                measured_ns: error.measured,
                predicted_ns: error.predicted,
                factor: short(error.factor()),
                floor: fit.floor.errors.iter().find(alike).map(|floor| short(floor.factor())),
            }
        };
        Fitted {
            sources,
            commands: measurement.total,
            time_ns: measurement.time,
            rounds: measurement.rounds.len(),
            kind: chosen.kind.to_owned(),
            largest: largest.collect(),
            residuals: residuals.collect(),
            held_out: chosen.errors.iter().map(error).collect(),
            percentiles: round_percentiles(measurement),
            tests: FittedTests::of(measurement, &fit.lines),
            monitor: rules(measurement),
            episodes: [fit.episodes[0].len(), fit.episodes[1].len()],
            host_overhead: fit.host_overhead,
            notes: fit.notes.clone(),
        }
    }

    /// Reads the block `fitted` of a device in a text of JSON; `None` where there is none.
    pub fn in_text(text: &str) -> Option<Fitted> {
        #[derive(Deserialize)]
        struct Device {
            fitted: Fitted,
        }
        #[derive(Deserialize)]
        struct Setup {
            device: Device,
        }
        serde_json::from_str::<Setup>(text).ok().map(|setup| setup.device.fitted)
    }

    /// Why no bound can be claimed; `None` where one can.
    pub fn no_bound(&self) -> Option<String> {
        self.tests.has_trend().then(|| {
            format!(
                "the drive's times have a trend over the rounds (Mann-Kendall p = {}), so the longest seen bounds \
                 nothing: measure again on a machine that does nothing else, until they are level",
                self.tests.trend_p
            )
        })
    }

    /// Why no bound can be claimed of a scenario on the drive: a job of it does what was not
    /// measured. `None` if all of it was.
    pub fn not_measured(&self, scenario: &Scenario) -> Option<String> {
        let mut ios = scenario.jobs.iter().flat_map(Job::ios);
        let flushes = |job: &&Job| job.flushes() && !scenario.device.has_cache();
        ios.find_map(|io| self.not_measured_op(io.op)).or_else(|| {
            let job = scenario.jobs.iter().find(flushes)?;
            Some(format!(
                "job `{}` flushes the drive's cache, which no fit measures, so no bound can be claimed: leave out its \
                 flushes (`fsync`, `fua`)",
                job.name
            ))
        })
    }

    fn not_measured_op(&self, op: Op) -> Option<String> {
        let name = op.name();
        (!self.largest.iter().any(|of| of.op == name)).then(|| {
            format!(
                "no {name} was measured, so no bound on {name}s can be claimed: measure them (`rtflash host protocol`)"
            )
        })
    }

    /// The evidence of a bound, a sentence each.
    pub fn claims(&self) -> Vec<String> {
        let mut claims: Vec<String> = self.longest().into_iter().collect();
        let third = three_digits(self.time_ns / 3);
        claims.push(format!(
            "a kind of stall not seen comes less than once in {third} (95 %), if such stalls come independently"
        ));
        if self.rounds < ROUNDS {
            claims.push(format!("no 95 % sentence: {} rounds, and it needs {ROUNDS}", self.rounds));
        } else if self.tests.pass() {
            let before = claims.len();
            claims.extend(self.percentiles.iter().filter_map(|of| of.sentence()));
            if claims.len() == before {
                claims.push(format!("no 95 % sentence: no size has {FOR_P99} commands in each of {ROUNDS} rounds"));
            }
        } else {
            claims.push("no 95 % sentence: the rounds are not alike".to_owned());
        }
        let FittedTests { trend_p, halves_p, lag_100 } = self.tests;
        claims.push(format!(
            "tests of the rounds: trend p = {trend_p}, halves p = {halves_p}; commands 100 apart: rank correlation \
             {lag_100}"
        ));
        claims
    }

    /// The longest of all commands, and of how many in which time.
    fn longest(&self) -> Option<String> {
        let of = self.largest.iter().max_by_key(|of| of.ns)?;
        Some(format!(
            "the longest of {} commands in {}: {} (a {} of {})",
            self.commands,
            three_digits(self.time_ns),
            three_digits(of.ns),
            of.op,
            bytes(of.size)
        ))
    }
}

impl RoundPercentiles {
    /// A bound that at most one of n + 1 rounds exceeds: the largest of n.
    pub fn bound(&self) -> Option<u64> {
        self.ns.iter().copied().max()
    }

    fn sentence(&self) -> Option<String> {
        // The chance that the next of n + 1 exchangeable rounds has the largest is 1/(n + 1).
        if self.ns.len() < ROUNDS {
            return None;
        }
        let (whole, part) = (self.of_ten_thousand / 100, self.of_ten_thousand % 100);
        let share = if part == 0 { whole.to_string() } else { format!("{whole}.{}", part / 10) };
        Some(format!(
            "in a round like these, {share} % of {} {}s take at most {} (95 %: the largest of {} rounds)",
            bytes(self.size),
            self.op,
            three_digits(self.bound()?),
            self.ns.len()
        ))
    }
}

/// The percentiles of all rounds, by operation and size, as far as each round has enough commands.
pub fn round_percentiles(measurement: &Measurement) -> Vec<RoundPercentiles> {
    let of = |of: &crate::sample::Largest| {
        let times = |round: &Vec<Done>| {
            let own = round.iter().filter(|done| done.op == of.op && done.size == of.size);
            let mut times: Vec<u64> = own.map(Done::residence).collect();
            times.sort_unstable();
            times
        };
        // A round without such commands is none for them.
        let rounds: Vec<Vec<u64>> = measurement.rounds.iter().map(times).filter(|times| !times.is_empty()).collect();
        let fewest = rounds.iter().map(Vec::len).min()?;
        let of_ten_thousand = match fewest {
            FOR_P999.. => 9_990,
            FOR_P99.. => 9_900,
            _ => return None,
        };
        let ns = rounds.iter().filter_map(|times| percentile(times, of_ten_thousand)).collect();
        Some(RoundPercentiles { op: of.op.name().to_owned(), size: of.size, of_ten_thousand, ns })
    };
    measurement.largest.iter().filter_map(of).collect()
}
