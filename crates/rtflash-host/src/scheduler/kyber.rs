//! Linux's Kyber (block/kyber-iosched.c): a limit of requests inside for each kind, adjusted by
//! latencies.
//!
//! Reads, writes, discards and others are *domains*. A domain's requests go out in order of
//! arrival, in batches, as long as it has tokens. Latencies are counted in quarters of a target.
//! They are judged a tenth of a second after the first completion since the last judging.

use std::collections::{BTreeMap, VecDeque};

use rtflash_model::{Instant, Span};

use super::{Scheduler, ms, share_of_tags};
use crate::host::Host;
use crate::{Command, Op};

/// Reads, writes, discards; others have no target.
const JUDGED: usize = 3;
const DOMAINS: usize = 4;

/// Quarters of a target that are counted apart; the last has no end.
const BUCKETS: usize = 8;

/// Quarters up to the target.
const GOOD: usize = 4;

/// From the first completion to the judging.
const WINDOW: Span = ms(100);

/// Samples that are enough, and how long fewer are waited for.
const SAMPLES: u64 = 500;
const TIMEOUT: Span = ms(1_000);

/// Parameters of Kyber. Domains are in the order of [`Op::ALL`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KyberSettings {
    /// The most requests of each domain that may be inside, above zero.
    pub tokens: [u32; DOMAINS],
    /// Requests of each domain in a row, above zero.
    pub batches: [u32; DOMAINS],
    /// The target latencies of reads, writes and discards, above zero.
    pub targets: [Span; JUDGED],
}

impl Default for KyberSettings {
    fn default() -> KyberSettings {
        KyberSettings { tokens: [256, 128, 64, 16], batches: [16, 8, 1, 1], targets: [ms(2), ms(10), ms(5_000)] }
    }
}

/// Which latency.
#[derive(Debug, Clone, Copy)]
enum Latency {
    /// From arrival to completion.
    Total,
    /// From dispatch to completion.
    Device,
}

#[derive(Debug, Default)]
struct Domain {
    queue: VecDeque<(Command, Instant)>,
    inside: u32,
    /// How many may be inside.
    depth: u32,
    /// Latencies by quarter of the target: total, and of the device.
    histograms: [[u64; BUCKETS]; 2],
    /// Until when samples are waited for, if they are, in nanoseconds.
    timeout: Option<u64>,
    /// The 99th percentile of the total latency that no congestion has used.
    kept: Option<usize>,
}

impl Domain {
    /// The first quarter of the target at whose end at least `percent` per cent of the samples lie;
    /// `None` if there are not enough samples yet.
    fn percentile(&mut self, latency: Latency, percent: u64, now: Instant) -> Option<usize> {
        let histogram = &mut self.histograms[latency as usize];
        let samples: u64 = histogram.iter().sum();
        if samples == 0 {
            return None;
        }
        // Times are below 2⁶³ ns, so this fits; it may be later than any time.
        let timeout = *self.timeout.get_or_insert(now.as_ns() + TIMEOUT.as_ns());
        if samples < SAMPLES && now.as_ns() < timeout {
            return None;
        }
        self.timeout = None;
        let mut left = (u128::from(samples) * u128::from(percent)).div_ceil(100);
        let found = histogram[..BUCKETS - 1].iter().position(|&count| {
            let within = u128::from(count) >= left;
            left = left.saturating_sub(count.into());
            within
        });
        *histogram = [0; BUCKETS];
        Some(found.unwrap_or(BUCKETS - 1))
    }
}

/// Kyber.
#[derive(Debug)]
pub struct Kyber {
    settings: KyberSettings,
    domains: [Domain; DOMAINS],
    /// The domain whose batch it is, and how far that is.
    current: usize,
    batched: u32,
    /// When latencies are judged, if anything has ended since they were.
    judging: Option<Instant>,
    /// When what is inside arrived, and when it was dispatched.
    inside: BTreeMap<u64, (Instant, Instant)>,
}

fn domain(command: &Command) -> usize {
    match command.op {
        Op::Read => 0,
        Op::Write => 1,
        Op::Discard => 2,
        Op::Other => 3,
    }
}

/// The quarter of a target that a latency lies in, its end included.
fn quarter(latency: Span, target: Span) -> usize {
    let width = (target.as_ns() / GOOD as u64).max(1);
    let quarter = latency.as_ns().saturating_sub(1) / width;
    usize::try_from(quarter).unwrap_or(BUCKETS).min(BUCKETS - 1)
}

impl Kyber {
    /// With nothing in it.
    pub fn new(settings: KyberSettings) -> Kyber {
        let domains = settings.tokens.map(|depth| Domain { depth, ..Domain::default() });
        Kyber { settings, domains, current: 0, batched: 0, judging: None, inside: BTreeMap::new() }
    }

    /// Judges at its time, where that has come.
    fn judge_by(&mut self, now: Instant) {
        if let Some(at) = self.judging.filter(|&at| at <= now) {
            self.judging = None;
            self.judge(at);
        }
    }

    fn judge(&mut self, now: Instant) {
        let mut congested = false;
        for domain in &mut self.domains[..JUDGED] {
            congested |= domain.percentile(Latency::Device, 90, now).is_some_and(|quarter| quarter >= GOOD);
        }
        for (domain, max) in self.domains[..JUDGED].iter_mut().zip(self.settings.tokens) {
            let fresh = domain.percentile(Latency::Total, 99, now);
            let quarter = if congested {
                let kept = domain.kept.take();
                fresh.or(kept)
            } else {
                domain.kept = fresh.or(domain.kept);
                fresh
            };
            let Some(quarter) = quarter.filter(|&quarter| congested || quarter >= GOOD) else { continue };
            let depth = u64::from(domain.depth) * (quarter as u64 + 1) / GOOD as u64;
            domain.depth = u32::try_from(depth).unwrap_or(max).clamp(1, max);
        }
    }

    /// The first request of the current domain, if that has a token for it.
    fn take(&mut self, now: Instant) -> Option<Command> {
        let domain = &mut self.domains[self.current];
        if domain.inside >= domain.depth {
            return None;
        }
        let (command, arrival) = domain.queue.pop_front()?;
        domain.inside += 1;
        self.batched += 1;
        self.inside.insert(command.id, (arrival, now));
        Some(command)
    }
}

impl Scheduler for Kyber {
    fn insert(&mut self, command: Command, now: Instant) {
        self.judge_by(now);
        self.domains[domain(&command)].queue.push_back((command, now));
    }

    fn ask(&mut self, now: Instant) -> Option<Command> {
        self.judge_by(now);
        if self.batched < self.settings.batches[self.current]
            && let Some(command) = self.take(now)
        {
            return Some(command);
        }
        self.batched = 0;
        // The domain itself is the last in turn.
        for _ in 0..DOMAINS {
            self.current = (self.current + 1) % DOMAINS;
            if let Some(command) = self.take(now) {
                return Some(command);
            }
        }
        None
    }

    /// `kyber_limit_depth`, with `kyber_depth_updated`.
    fn tag_limit(&self, _: &Command, buffered: bool, host: &Host) -> Option<u32> {
        buffered.then(|| share_of_tags(host, |tags| tags - tags.div_ceil(4)))
    }

    /// The least limit by `kyber_depth_updated`.
    fn min_tag_limit(&self, host: &Host) -> Option<u32> {
        Some(share_of_tags(host, |tags| tags - tags.div_ceil(4)))
    }

    fn merges(&self, queued: &Command, request: &Command) -> bool {
        // Each core has a list of its own.
        queued.cpu == request.cpu
    }

    fn completed(&mut self, command: &Command, now: Instant) {
        self.judge_by(now);
        let number = domain(command);
        let of = &mut self.domains[number];
        of.inside = of.inside.saturating_sub(1);
        let times = self.inside.remove(&command.id);
        if let (Some((arrival, dispatch)), Some(&target)) = (times, self.settings.targets.get(number)) {
            of.histograms[Latency::Total as usize][quarter(now.since(arrival), target)] += 1;
            of.histograms[Latency::Device as usize][quarter(now.since(dispatch), target)] += 1;
            // Never, where that is later than any time.
            self.judging = self.judging.or_else(|| now.checked_add(WINDOW));
        }
    }

    fn next(&self) -> Option<Instant> {
        self.judging
    }
}
