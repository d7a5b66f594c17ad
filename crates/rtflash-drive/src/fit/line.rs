//! The line: what a command takes by its size, on medians.

use std::collections::BTreeMap;

use rtflash_host::Op;
use rtflash_host::run::{EmmcCost, Slow};

use super::{MIN_COMMANDS, span};
use crate::command::Done;
use crate::numbers::rounded;
use crate::refused::MeasurementRefused;
use crate::sample::Measurement;
use crate::statistics::{median, percentile};

/// Bytes of a further command whose cost says something of bytes.
pub(super) const LARGE: u64 = 64 << 10;

/// Time by size, and how far each measured size is off.
#[derive(Debug, Clone, PartialEq)]
pub struct SizeLine {
    /// The time of an I/O's first command, without its bytes, in ns.
    pub first: f64,
    /// The time of each of its others, in ns.
    pub next: f64,
    /// The time of 1,024 bytes, in ns.
    pub per_kib: f64,
    /// The sizes that it was fitted to.
    pub sizes: Vec<SizeResidual>,
    /// Sizes with too few commands: bytes, and how many there were.
    pub few: Vec<(u64, usize)>,
}

/// How far the line is off at a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizeResidual {
    /// Bytes.
    pub size: u64,
    /// Lone commands.
    pub commands: usize,
    /// Their median, in ns.
    pub p50: u64,
    /// The time by the line, in ns.
    pub predicted: u64,
}

impl SizeResidual {
    /// The line's error, as a share of the median.
    pub fn residual(&self) -> f64 {
        (self.predicted as f64 - self.p50 as f64) / self.p50.max(1) as f64
    }
}

impl SizeLine {
    /// The time of a first command by the line, in ns.
    pub fn at(&self, size: u64) -> u64 {
        rounded(self.first + self.per_kib * size as f64 / 1_024.0)
    }

    /// The time of a command's bytes by the line, in ns.
    pub(super) fn bytes(&self, size: u64) -> u64 {
        rounded(self.per_kib * size as f64 / 1_024.0)
    }

    /// As the cost of a device.
    pub(super) fn cost(&self, slow: Option<Slow>) -> EmmcCost {
        let per_kib = rtflash_model::Span::from_ns(rounded(self.per_kib)).unwrap_or(rtflash_model::Span::LONGEST);
        EmmcCost { first: span(rounded(self.first)), next: span(rounded(self.next)), per_kib, slow }
    }
}

/// First commands of an operation that found the drive free, which the line and the services are
/// made of. Which commands end alone is a choice of short ones: at a greater depth, a long one is
/// joined by others. Only beside large commands, whose bytes delay it, must a command be alone.
pub(super) fn lone(of: &Measurement, op: Op) -> impl Iterator<Item = &Done> {
    let is_free = |done: &Done| done.is_alone() || done.others == 0 && done.size < LARGE;
    of.commands().filter(move |done| done.op == op && is_free(done) && !done.continues && done.service() > 0)
}

/// The line of an operation: weighted least squares on the medians by size, each error relative to
/// its median.
pub(super) fn line(of: &Measurement, op: Op) -> Result<SizeLine, MeasurementRefused> {
    let mut by_size: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for done in lone(of, op) {
        by_size.entry(done.size).or_default().push(done.service());
    }
    // Half of the rounds is fitted, too.
    let enough = MIN_COMMANDS / 2;
    let few = by_size.iter().filter(|(_, all)| all.len() < enough).map(|(&size, all)| (size, all.len())).collect();
    let mut sizes = Vec::new();
    for (&size, all) in &mut by_size {
        if all.len() >= enough {
            all.sort_unstable();
            let p50 = percentile(all, 5_000).expect("commands: invariant of `enough`");
            sizes.push(SizeResidual { size, commands: all.len(), p50, predicted: 0 });
        }
    }
    if sizes.len() < 2 {
        let what = op.name();
        let number = ["no size", "one size"][sizes.len()];
        return Err(MeasurementRefused::because(format!(
            "{number} of {what}s has {MIN_COMMANDS} commands alone in flight, and a line needs two sizes: measure depth \
             1 with bssplit (`rtflash host protocol`)"
        )));
    }
    let (first, per_kib) = weighted(&sizes);
    let mut line = SizeLine { first, next: first, per_kib, sizes, few };
    for at in 0..line.sizes.len() {
        line.sizes[at].predicted = line.at(line.sizes[at].size);
    }
    line.next = next(of, op, &line);
    Ok(line)
}

/// First and per KiB.
fn weighted(sizes: &[SizeResidual]) -> (f64, f64) {
    let (mut weight, mut x, mut y, mut xx, mut xy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for of in sizes {
        let (kib, p50) = (of.size as f64 / 1_024.0, of.p50 as f64);
        let own = 1.0 / (p50 * p50);
        (weight, x, y) = (weight + own, x + own * kib, y + own * p50);
        (xx, xy) = (xx + own * kib * kib, xy + own * kib * p50);
    }
    let slope = (weight * xy - x * y) / (weight * xx - x * x);
    if slope > 0.0 && y > slope * x { ((y - slope * x) / weight, slope) } else { (y / weight, 0.0) }
}

/// The cost of the other commands of an I/O: the median of the rest of their services without their
/// bytes. If none is seen, the cost of the first I/O.
fn next(of: &Measurement, op: Op, line: &SizeLine) -> f64 {
    let continued = of.commands().filter(|done| done.op == op && done.continues && done.others <= 1);
    let left = continued.map(|done| done.service().saturating_sub(line.bytes(done.size)));
    let left: Vec<u64> = left.collect();
    if left.len() < MIN_COMMANDS / 2 {
        return line.first;
    }
    median(left).map_or(line.first, |next| next.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::DriveSample;

    /// Half of all commands take ten times as long. At a depth of 2, these are joined by others.
    #[test]
    fn lone_commands_are_no_choice_of_short_ones() {
        let mut sample = DriveSample::default();
        let mut at = 1_000_000;
        for number in 0..1_280_u64 {
            let is_deep = number / 320 % 2 == 0;
            let took = if number % 2 == 0 { 10_000 } else { 100_000 };
            sample.push(Done {
                issued: at,
                ended: at + took,
                op: Op::Read,
                process: None,
                from: 0,
                size: 4_096,
                others: 0,
                is_joined: is_deep && took > 10_000,
                continues: false,
                idle: 0,
                free: 0,
            });
            at += 200_000;
        }
        sample.end_of_file(None, None);
        let of = sample.measurement();
        let short = lone(&of, Op::Read).filter(|done| done.service() == 10_000).count();
        assert_eq!((short, lone(&of, Op::Read).count()), (640, 1_280));
    }
}
