//! The host's own time: from the end of a command to the next issue of its process.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::MIN_COMMANDS;
use super::services::IDLE;
use crate::command::Done;
use crate::numbers::rounded;
use crate::sample::Measurement;
use crate::statistics::median;

/// The host's time between commands of a process, and what it explains.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct HostOverhead {
    /// Its mean, in ns: the rate of a closed loop depends on that.
    pub ns: u64,
    /// How far it puts the rate of lone commands in held-out rounds off, as a factor.
    pub factor: f64,
    /// That factor without it.
    pub factor_without: f64,
}

/// Steps of a process: from the issue of a lone command to the next issue.
#[derive(Debug, Clone, Copy, Default)]
struct LoneSteps {
    count: u64,
    /// In the drive, in ns.
    inside: f64,
    /// With nothing in flight, in ns.
    between: f64,
}

impl LoneSteps {
    fn of(measurement: &Measurement) -> LoneSteps {
        let mut by_process: BTreeMap<NonZeroU32, Vec<(u64, u64)>> = BTreeMap::new();
        for pair in measurement.rounds.iter().flat_map(|round| round.windows(2)) {
            let [one, next]: &[Done; 2] = pair.try_into().expect("windows of two");
            if let Some(process) = one.process
                && next.process == Some(process)
                && next.idle > 0
                && one.is_alone()
            {
                by_process.entry(process).or_default().push((one.residence(), next.idle));
            }
        }
        // A process that thinks says nothing about the host.
        let is_busy = |steps: &Vec<(u64, u64)>| {
            median(steps.iter().map(|&(_, between)| between).collect()).is_some_and(|between| between < IDLE)
        };
        let mut all = LoneSteps::default();
        for (inside, between) in by_process.into_values().filter(is_busy).flatten() {
            all.count += 1;
            (all.inside, all.between) = (all.inside + inside as f64, all.between + between as f64);
        }
        all
    }

    /// The mean time of a step, by what is counted.
    fn mean(&self, time: f64) -> f64 {
        time / self.count.max(1) as f64
    }
}

/// The least gain of a model with this time over one without it.
const GAIN: f64 = 1.05;

/// The host's time, if a model with it predicts the rate of lone commands in held-out rounds
/// better. Traces alone name processes.
pub(super) fn host_overhead(of: &Measurement) -> Option<HostOverhead> {
    let [odd, even] = [of.half(0), of.half(1)].map(|half| LoneSteps::of(&half));
    // A clock can be too coarse for all commands.
    if odd.count.min(even.count) < MIN_COMMANDS as u64 / 2 || odd.inside.min(even.inside) <= 0.0 {
        return None;
    }
    let measured = even.mean(even.inside + even.between);
    let factor = |predicted: f64| libm::round((measured / predicted).max(predicted / measured) * 1e3) / 1e3;
    let (with, without) = (factor(odd.mean(odd.inside + odd.between)), factor(odd.mean(odd.inside)));
    let all = LoneSteps::of(of);
    let ns = rounded(all.mean(all.between));
    (with * GAIN <= without).then_some(HostOverhead { ns, factor: with, factor_without: without })
}
