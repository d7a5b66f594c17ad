//! Episodes in which a drive is slower.

use rtflash_host::Op;
use rtflash_host::run::{Between, Slow};
use rtflash_model::Span;

use super::line::{SizeLine, lone};
use super::span;
use crate::sample::Measurement;
use crate::statistics::median;

/// The least ratio between two neighbours that tells slow from fast.
const MIN_GAP: f64 = 1.1;

/// Episodes that a model of them needs.
const MIN_EPISODES: usize = 3;

/// Rounds are apart if the time between them is more than this part of one.
const HOLE: u64 = 10;

/// The least time between episodes that a device can state.
const MIN_EVERY: u64 = 1_000_000;

/// A time in which commands were slower.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Episode {
    /// Half-way between the last fast and the first slow command, in ns of the clock.
    pub begin: u64,
    /// Half-way between the last slow and the next fast command.
    pub end: u64,
    /// The median of what its commands took beyond the line, in ns.
    pub extra: u64,
    /// The stretch without a hole that it lies in: no time between two stretches is known.
    pub stretch: usize,
}

/// The episodes of lone commands of an operation: slow is what lies above the largest gap of
/// the logarithms of what they took.
pub(super) fn episodes(of: &Measurement, op: Op, lines: &[SizeLine; 2]) -> Vec<Episode> {
    let line = &lines[usize::from(op != Op::Read)];
    // An episode adds to commands of all sizes alike: what is beyond the line counts, on top of the
    // shortest command.
    let least = line.sizes.iter().map(|of| of.p50).min().unwrap_or(1);
    let ratio = |done: &crate::command::Done| {
        done.service().saturating_sub(line.at(done.size)).saturating_add(least) as f64 / least as f64
    };
    if of.is_thinned {
        return Vec::new();
    }
    let mut ratios: Vec<f64> = lone(of, op).map(ratio).collect();
    ratios.sort_by(f64::total_cmp);
    // Slow is what fewer than half are.
    let from = ratios.len() / 2;
    let gap = |at: usize| ratios[at + 1] / ratios[at];
    let widest = (from..ratios.len().saturating_sub(1)).max_by(|&one, &other| gap(one).total_cmp(&gap(other)));
    let Some(threshold) = widest.filter(|&at| gap(at) >= MIN_GAP).map(|at| ratios[at]) else { return Vec::new() };
    let mut found: Vec<Episode> = Vec::new();
    let mut last_fast: Option<u64> = None;
    let mut slow: Option<(u64, u64, Vec<u64>)> = None;
    let (mut stretch, mut before): (usize, Option<u64>) = (0, None);
    for round in &of.rounds {
        let (first, last) = (round.first().map_or(0, |done| done.issued), round.last().map_or(0, |done| done.ended));
        let hole = (last.saturating_sub(first)) / HOLE;
        if before.replace(last).is_some_and(|before| first < before || first - before > hole) {
            stretch += 1;
            (last_fast, slow) = (None, None);
        }
        let own = round.iter().filter(|done| done.op == op && done.is_alone() && !done.continues);
        for done in own.filter(|done| done.service() > 0) {
            if ratio(done) > threshold {
                let begin = last_fast.map_or(done.issued, |last| last.midpoint(done.issued));
                let (_, last, extras) = slow.get_or_insert((begin, done.issued, Vec::new()));
                *last = done.issued;
                extras.push(done.service().saturating_sub(line.at(done.size)));
                continue;
            }
            if let Some((begin, last, extras)) = slow.take() {
                let extra = median(extras).expect("an episode has commands");
                found.push(Episode { begin, end: last.midpoint(done.issued), extra, stretch });
            }
            last_fast = Some(done.issued);
        }
    }
    found
}

/// Episodes as a device states them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FittedSlow {
    pub both: Option<Slow>,
    pub read: Option<Slow>,
    pub write: Option<Slow>,
}

/// Episodes of both operations if those of reads and of writes overlap; else of each.
pub(super) fn slow(reads: &[Episode], writes: &[Episode]) -> FittedSlow {
    let meets = |one: &Episode| writes.iter().any(|other| one.begin < other.end && other.begin < one.end);
    let shared = reads.iter().filter(|one| meets(one)).count();
    if shared * 2 > reads.len().min(writes.len()).max(1) {
        let mut all: Vec<Episode> = reads.iter().chain(writes).copied().collect();
        all.sort_by_key(|episode| episode.begin);
        let mut joined: Vec<Episode> = Vec::new();
        for episode in all {
            match joined.last_mut() {
                // Each operation sees the episode at its own commands: the widest is nearest.
                Some(last) if episode.begin < last.end => last.end = last.end.max(episode.end),
                _ => joined.push(episode),
            }
        }
        return FittedSlow { both: stated(&joined), ..FittedSlow::default() };
    }
    FittedSlow { both: None, read: stated(reads), write: stated(writes) }
}

/// The ends of uniform times, from those seen: each is as far beyond as n of them lie apart on
/// average.
fn stated(episodes: &[Episode]) -> Option<Slow> {
    if episodes.len() < MIN_EPISODES {
        return None;
    }
    let within = episodes.windows(2).filter(|pair| pair[0].stretch == pair[1].stretch);
    let gaps: Vec<u64> = within.map(|pair| pair[1].begin.saturating_sub(pair[0].end)).collect();
    let (&least, &most) = (gaps.iter().min()?, gaps.iter().max()?);
    let beyond = (most - least) / (gaps.len() as u64).saturating_sub(1).max(1);
    let every = between(least.saturating_sub(beyond).max(MIN_EVERY), most.saturating_add(beyond).max(MIN_EVERY));
    let lengths = episodes.iter().map(|episode| episode.end - episode.begin);
    let length = between(lengths.clone().min()?, lengths.max()?);
    let extra = median(episodes.iter().map(|episode| episode.extra).collect())?;
    Some(Slow { every, length, extra: span(extra) })
}

fn between(shortest: u64, longest: u64) -> Between {
    let longest: Span = span(longest);
    Between { shortest: span(shortest).min(longest), longest }
}
