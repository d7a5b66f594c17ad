//! The fit: from commands to a device, with its error on rounds that it has not seen.

mod batches;
mod episodes;
mod held_out;
mod line;
mod nvme;
mod overhead;
mod services;

use rtflash_host::Op;
use rtflash_host::run::{Attach, Emmc, HostDevice, Slow};
use rtflash_model::Span;

use crate::refused::MeasurementRefused;
use crate::sample::{Measurement, ROUNDS};
pub use episodes::Episode;
pub use held_out::{FitCandidate, PercentileError};
pub use line::{SizeLine, SizeResidual};
use nvme::ByteMoves;
pub(crate) use nvme::FLASH;
pub use overhead::HostOverhead;

/// Commands of a size that a fit needs.
pub const MIN_COMMANDS: usize = 200;

/// The result of a fit: the device, and its errors on held-out rounds.
#[derive(Debug, Clone)]
pub struct Fit {
    /// The device that errs least on held-out rounds.
    pub device: HostDevice,
    /// All kinds that were fitted, with their names.
    pub kinds: Vec<(&'static str, HostDevice)>,
    /// The lines of reads and writes.
    pub lines: [SizeLine; 2],
    /// Episodes of each operation, in order.
    pub episodes: [Vec<Episode>; 2],
    /// All kinds that were tried, with their errors, the chosen one first.
    pub candidates: Vec<FitCandidate>,
    /// Residences in the held-out rounds as measured, of reads and of writes, in ns, sorted.
    pub held_out: [Vec<u64>; 2],
    /// Errors between halves of the rounds, without any model: the floor of noise.
    pub floor: FitCandidate,
    /// The longest command that an I/O was cut into, in bytes; `None` where none was cut.
    pub max_sectors: Option<u64>,
    /// The host's time from an end to the next issue of its process; `None` if it is not seen, or
    /// explains nothing.
    pub host_overhead: Option<HostOverhead>,
    /// How Linux reaches the drive, as its file states it; `None` if that is not known.
    pub attach: Option<String>,
    /// Things to know that are no reason for a refusal.
    pub notes: Vec<String>,
}

impl Fit {
    /// This fit to a measurement with how Linux reaches the drive. Without a trace, the number of
    /// commands that the drive takes is not known, and the file does not state how it is reached. A
    /// note says what is lost.
    #[must_use]
    pub fn attached(mut self, of: &Measurement, attach: Option<&str>) -> Fit {
        let depth = match &self.device {
            HostDevice::Emmc(emmc) => emmc.depth,
            HostDevice::Measured(measured) => measured.depth,
            // A bound of these does not depend on it.
            HostDevice::Nvme(_) | HostDevice::Clusters(_) => return self,
        };
        // The standard states the tags of a card, whatever was measured.
        self.attach = attach.filter(|how| of.states_depth || how.starts_with("mmc")).map(str::to_owned);
        if self.attach.is_none() {
            let commands = if depth == 1 { "one command".to_owned() } else { format!("{depth} commands") };
            self.notes.push(format!(
                "without a trace and --attach, `host bound` needs a scheduler that lets at most {commands} out \
                 (`max_inflight`), or `none`: `rtflash host protocol` prints --attach on the drive's own machine"
            ));
        }
        self
    }
}

/// Fits a device to measurements.
///
/// # Errors
/// If they do not carry a fit: one sentence that says what to do.
pub fn fit(of: &Measurement) -> Result<Fit, MeasurementRefused> {
    if of.rounds.len() < crate::sample::MIN_ROUNDS {
        return Err(MeasurementRefused::because(format!(
            "the measurement has {} rounds, and a fit needs 5: measure for longer (`rtflash host protocol`)",
            of.rounds.len()
        )));
    }
    let halves = [of.half(0), of.half(1)];
    let kinds = devices(&halves[0])?;
    let floor = held_out::floor(of);
    let mut candidates: Vec<FitCandidate> =
        kinds.iter().map(|(name, device)| held_out::candidate(name, device, &halves[1])).collect();
    let kinds = devices(of)?;
    let covers = |kind: &FitCandidate| kinds.iter().any(|(name, device)| *name == kind.kind && covers(device, of));
    candidates.sort_by_key(|kind| !covers(kind));
    let covering = candidates.iter().filter(|kind| covers(kind)).count();
    let eligible = if covering == 0 { candidates.len() } else { covering };
    let chosen = held_out::choice(&candidates[..eligible], &floor);
    candidates.swap(0, chosen);
    let chosen = candidates[0].kind;
    let device = kinds.iter().find(|(name, _)| *name == chosen).map(|(_, device)| device.clone());
    let device = device.ok_or_else(|| MeasurementRefused::because("rounds differ too much: measure for longer"))?;
    let lines = lines(of)?;
    let episodes = [Op::Read, Op::Write].map(|op| episodes::episodes(of, op, &lines));
    Ok(Fit {
        device,
        kinds,
        held_out: held_out::residences(&halves[1]),
        episodes,
        candidates,
        floor,
        max_sectors: services::max_sectors(of),
        host_overhead: overhead::host_overhead(of),
        attach: None,
        notes: notes(of, &lines),
        lines,
    })
}

/// Whether an eMMC's times cover each lone command that was measured, but for a twentieth. The
/// bound of one that does not was broken while it was measured.
fn covers(device: &HostDevice, of: &Measurement) -> bool {
    let HostDevice::Emmc(emmc) = device else { return true };
    let extra = |slow: Option<Slow>| slow.map_or(0, |slow| slow.extra.as_ns());
    [(Op::Read, &emmc.read), (Op::Write, &emmc.write)].into_iter().all(|(op, cost)| {
        let begin = u128::from(cost.first.as_ns()) + u128::from(extra(cost.slow)) + u128::from(extra(emmc.slow));
        line::lone(of, op).all(|done| {
            let stated = begin + u128::from(cost.per_kib.as_ns()) * u128::from(done.size) / 1_024;
            u128::from(done.service()) <= stated + stated / 20
        })
    })
}

/// The lines of reads and writes. An operation that was not measured has the other's.
fn lines(of: &Measurement) -> Result<[SizeLine; 2], MeasurementRefused> {
    match (line::line(of, Op::Read), line::line(of, Op::Write)) {
        (Ok(read), Ok(write)) => Ok([read, write]),
        (Ok(read), Err(_)) if !of.largest.iter().any(|of| of.op == Op::Write) => Ok([read.clone(), read]),
        (Err(_), Ok(write)) if !of.largest.iter().any(|of| of.op == Op::Read) => Ok([write.clone(), write]),
        (Err(wrong), _) | (_, Err(wrong)) => Err(wrong),
    }
}

/// The kinds that are tried, the simpler ones first.
fn devices(of: &Measurement) -> Result<Vec<(&'static str, HostDevice)>, MeasurementRefused> {
    let lines = lines(of)?;
    let [read, write] = [Op::Read, Op::Write].map(|op| episodes::episodes(of, op, &lines));
    let slow = episodes::slow(&read, &write);
    let [read, write] = [lines[0].cost(slow.read), lines[1].cost(slow.write)];
    let depth = of.most_in_flight;
    let emmc = HostDevice::Emmc(Box::new(Emmc {
        attach: Attach::Unstated,
        depth,
        read,
        write,
        discard: None,
        cache: None,
        slow: slow.both,
    }));
    let mut kinds = vec![("emmc", emmc)];
    for (name, bytes) in [("nvme", ByteMoves::InTurn), ("nvme, bytes at once", ByteMoves::AtOnce)] {
        kinds.extend(nvme::nvme(of, &lines, slow, bytes).map(|device| (name, device)));
    }
    let idle = services::idle(of, &lines);
    if let Some(device) = services::measured(of, &lines, idle, batches::Batches::SERIAL) {
        kinds.push(("measured", device));
    }
    let batches = batches::batches(of, &lines);
    if let Some(device) = batches.and_then(|batches| services::measured(of, &lines, idle, batches)) {
        kinds.push(("measured, in batches", device));
    }
    Ok(kinds)
}

fn notes(of: &Measurement, lines: &[SizeLine; 2]) -> Vec<String> {
    let mut notes = Vec::new();
    if of.rounds.len() < ROUNDS {
        notes.push(format!("{} rounds: a 95 % sentence needs 19", of.rounds.len()));
    }
    for (op, line) in ["read", "write"].iter().zip(lines) {
        let few: Vec<String> =
            line.few.iter().map(|&(size, count)| format!("{} ({count})", crate::numbers::bytes(size))).collect();
        if !few.is_empty() {
            let few = few.join(", ");
            notes.push(format!("{op}s with fewer than {MIN_COMMANDS} lone commands are not fitted: {few}"));
        }
    }
    for (op, name) in [(Op::Read, "reads"), (Op::Write, "writes")] {
        if !of.largest.iter().any(|of| of.op == op) {
            notes.push(format!("no {name} were measured: the model gives them the other operation's times"));
        }
    }
    if of.without_data > 0 {
        notes.push(format!("flushes and discards ({}) are not modelled", of.without_data));
    }
    if of.failed > 0 {
        notes.push(format!("commands that failed: {}", of.failed));
    }
    if of.is_thinned {
        notes.push("more than a million commands: every second row of 64 was left out, or more".to_owned());
    }
    if of.rounds.iter().any(|round| round.len() > held_out::MAX_REPLAYED) {
        notes.push(format!("factors: of each round, the first {} commands are predicted", held_out::MAX_REPLAYED));
    }
    notes
}

/// A span of `ns` nanoseconds, 1 at least.
pub(crate) fn span(ns: u64) -> Span {
    Span::from_ns(ns.max(1)).unwrap_or(Span::LONGEST)
}
