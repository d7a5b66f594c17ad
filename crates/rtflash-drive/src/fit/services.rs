//! Services as they were measured, and what else lone commands say.

use std::collections::BTreeMap;

use rtflash_host::Op;
use rtflash_host::run::{AfterIdle, Attach, BLOCK, HostDevice, MeasuredCost, MeasuredDrive, SizeServices, StallWindow};
use rtflash_model::Span;

use super::batches::Batches;
use super::line::{SizeLine, lone};
use super::{MIN_COMMANDS, span};
use crate::command::Done;
use crate::sample::Measurement;
use crate::statistics::{median, percentile};

/// Services of a size that are written; of more, blocks are left out evenly.
const MAX_SERVICES: usize = 10_000;

/// The percentile of a size's services that is usual, in ten thousandths, and how many services it
/// needs.
const USUAL: u64 = 9_900;
const ENOUGH_FOR_USUAL: usize = 300;

/// Times in which stalls are counted, in ms.
const WINDOWS_MS: [u64; 7] = [1, 3, 10, 30, 100, 300, 1_000];

/// The stalls that a limit permits, as a multiple of those that were seen.
const STALL_MARGIN: u32 = 2;

/// From this time without a command on, a drive was idle.
pub(super) const IDLE: u64 = 500_000;

/// The least extra time of commands after idle that a fit reports: a twentieth.
const IDLE_SHARE: u64 = 20;

/// The extra time of an idle drive, by the sizes that were measured both ways: the
/// median of the differences of medians.
pub(super) fn idle(of: &Measurement, lines: &[SizeLine; 2]) -> Option<AfterIdle> {
    let mut extras = Vec::new();
    for (op, line) in [Op::Read, Op::Write].into_iter().zip(lines) {
        for size in &line.sizes {
            let [mut rested, mut busy] = [Vec::new(), Vec::new()];
            for done in lone(of, op).filter(|done| done.size == size.size) {
                if done.idle >= IDLE { rested.push(done.service()) } else { busy.push(done.service()) }
            }
            if rested.len().min(busy.len()) < MIN_COMMANDS / 4 {
                continue;
            }
            if let (Some(rested), Some(busy)) = (median(rested), median(busy)) {
                let extra = rested.saturating_sub(busy);
                extras.push(if extra * IDLE_SHARE > busy { extra } else { 0 });
            }
        }
    }
    let extra = median(extras).filter(|&extra| extra > 0)?;
    Some(AfterIdle { after: span(IDLE), extra: span(extra) })
}

/// A device of measured services; `None` where there are none.
pub(super) fn measured(
    of: &Measurement,
    lines: &[SizeLine; 2],
    idle: Option<AfterIdle>,
    batches: Batches,
) -> Option<HostDevice> {
    let [read, write] =
        [Op::Read, Op::Write].map(|op| services(of, op, &lines[usize::from(op != Op::Read)], idle, batches.each));
    let (read, write) = match (read, write) {
        (read, None) => (read.clone()?, read?),
        (None, write) => (write.clone()?, write?),
        (read, write) => (read?, write?),
    };
    let each = Span::from_ns(batches.each).unwrap_or(Span::ZERO);
    let each_per_kib = batches.each_per_kib.map(span);
    let (depth, together, attach) = (of.most_in_flight, batches.together, Attach::Unstated);
    let mut drive =
        MeasuredDrive { attach, depth, together, each, each_per_kib, idle, stalls: Vec::new(), read, write };
    // The time of a command in a batch is not its own; a thinned measurement lacks stalls.
    if together == 1 && !of.is_thinned {
        drive.stalls = stalls(of, &drive);
    }
    Some(HostDevice::Measured(Box::new(drive)))
}

/// The most stalls that begin within times of some lengths, with margin. A longer time that permits
/// as many stalls a second as a shorter one says nothing new.
fn stalls(of: &Measurement, drive: &MeasuredDrive) -> Vec<StallWindow> {
    let stall = |done: &&Done| {
        let service = Span::from_ns(done.service()).unwrap_or(Span::LONGEST);
        drive.is_stall(done.op, done.size, service)
    };
    let begins = |round: &Vec<Done>| -> Vec<u64> {
        let mut begins: Vec<u64> =
            round.iter().filter(stall).map(|done| done.ended.saturating_sub(done.service())).collect();
        begins.sort_unstable();
        begins
    };
    let rounds: Vec<Vec<u64>> = of.rounds.iter().map(begins).collect();
    let mut found: Vec<StallWindow> = Vec::new();
    for within in WINDOWS_MS.map(|ms| ms * 1_000_000) {
        let in_window = |begins: &[u64]| {
            let until = |from: &u64| begins.partition_point(|begin| *begin <= from.saturating_add(within));
            begins.iter().enumerate().map(|(at, from)| until(from) - at).fold(0, usize::max)
        };
        let seen = rounds.iter().map(|begins| in_window(begins)).fold(0, usize::max);
        let most = u32::try_from(seen).expect("fewer than 2^32 commands").saturating_mul(STALL_MARGIN).max(1);
        let (most, within) = (most, span(within));
        let is_rarer = |last: &StallWindow| {
            u128::from(most) * u128::from(last.within.as_ns()) < u128::from(last.most) * u128::from(within.as_ns())
        };
        if found.last().is_none_or(is_rarer) {
            found.push(StallWindow { most, within });
        }
    }
    found
}

fn services(of: &Measurement, op: Op, line: &SizeLine, idle: Option<AfterIdle>, least: u64) -> Option<MeasuredCost> {
    let mut by_size: BTreeMap<u64, [Vec<u64>; 2]> = BTreeMap::new();
    for done in lone(of, op).filter(|done| line.sizes.iter().any(|of| of.size == done.size)) {
        let rested = idle.filter(|idle| done.idle >= idle.after.as_ns()).map_or(0, |idle| idle.extra.as_ns());
        // No service becomes shorter than half of itself by that, or than a further command.
        let service = done.service();
        let service = service.saturating_sub(rested).max(service.div_ceil(2)).max(least);
        by_size.entry(done.size).or_default()[usize::from(done.idle >= IDLE)].push(service);
    }
    let by_size = by_size.into_iter().map(|(size, [busy, rested])| (size, of_busy(busy, rested)));
    let services: Option<Vec<_>> = by_size
        .map(|(size, ns)| {
            let mut sorted = ns.clone();
            sorted.sort_unstable();
            let usual = percentile(&sorted, USUAL).filter(|_| ns.len() >= ENOUGH_FOR_USUAL);
            let services = SizeServices::new(size, thinned(ns))?;
            // Without a usual service none is a stall.
            Some(match usual {
                Some(usual) => services.with_usual(usual),
                None => services,
            })
        })
        .collect();
    let services = services.filter(|services| !services.is_empty())?;
    let cost = line.cost(None);
    Some(MeasuredCost { first: cost.first, next: cost.next, per_kib: cost.per_kib, services })
}

/// The services of a busy drive, if there are enough: those behind idle time differ by more than a
/// constant. The longest one of all stays, as bounds rest on it.
fn of_busy(mut busy: Vec<u64>, rested: Vec<u64>) -> Vec<u64> {
    if busy.len() < MIN_COMMANDS {
        return [busy, rested].concat();
    }
    let longest = busy.iter().copied().max();
    busy.extend(rested.into_iter().max().filter(|&rested| Some(rested) > longest));
    busy
}

/// At most [`MAX_SERVICES`]: every second block is left out, but for the first one with the longest
/// service.
fn thinned(mut ns: Vec<u64>) -> Vec<u64> {
    while ns.len() > MAX_SERVICES {
        let longest = ns.iter().copied().max();
        let longest = ns.iter().position(|&service| Some(service) == longest).expect("more services than the most");
        let kept = longest / BLOCK;
        let blocks = ns.chunks(BLOCK).enumerate().filter(|&(at, _)| at % 2 == 0 || at == kept);
        ns = blocks.flat_map(|(_, block)| block.iter().copied()).collect();
    }
    ns
}

/// The longest command of an I/O that was cut.
pub(super) fn max_sectors(of: &Measurement) -> Option<u64> {
    let is_cut = of.commands().filter(|done| done.continues).count() >= 10;
    let longest = of.commands().map(|done| done.size).max();
    longest.filter(|_| is_cut)
}
