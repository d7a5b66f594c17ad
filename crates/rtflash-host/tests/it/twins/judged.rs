//! Kyber and minimal-effort write: what is adjusted as time goes by.

use rtflash_host::scheduler::{KyberSettings, MinimalEffortSettings, SchedulerSettings};
use rtflash_host::{Command, Op};
use rtflash_model::Instant;

use super::Waiting;

const MS: u64 = 1_000_000;

fn domain(command: &Command) -> usize {
    Op::ALL.iter().position(|&op| op == command.op).expect("an operation")
}

/// Kyber: all that it keeps beside what waits and what is inside.
#[derive(Debug)]
pub struct Kyber {
    depth: [u64; 4],
    current: usize,
    batch: u32,
    /// Arrival and dispatch of what is inside.
    times: Vec<(u64, u64, u64)>,
    /// Latencies since they were cleared: of the device, and in all.
    device: [Vec<u64>; 3],
    total: [Vec<u64>; 3],
    /// The deadline for too few samples.
    patience: [Option<u64>; 3],
    kept: [Option<u64>; 3],
    judging: Option<u64>,
}

impl Kyber {
    pub fn new(settings: &SchedulerSettings) -> Kyber {
        let depth = match settings {
            SchedulerSettings::Kyber(kyber) => kyber.tokens.map(u64::from),
            _ => [0; 4],
        };
        Kyber {
            depth,
            current: 0,
            batch: 0,
            times: Vec::new(),
            device: Default::default(),
            total: Default::default(),
            patience: [None; 3],
            kept: [None; 3],
            judging: None,
        }
    }

    pub fn tick(&mut self, settings: &KyberSettings, now: Instant) {
        match self.judging {
            Some(at) if at <= now.as_ns() => {
                self.judging = None;
                self.judge(settings, at);
            }
            _ => {}
        }
    }

    /// The quarter of the target that `percent` of a hundred latencies do not exceed; 7 beyond
    /// seven quarters.
    fn percentile(samples: &[u64], percent: u64, target: u64) -> u64 {
        let quarter = (target / 4).max(1);
        let mut buckets: Vec<u64> =
            samples.iter().map(|&latency| (latency.max(1) - 1) / quarter).map(|b| b.min(7)).collect();
        buckets.sort_unstable();
        let rank = (samples.len() as u64 * percent).div_ceil(100);
        buckets[usize::try_from(rank - 1).expect("a position")]
    }

    fn is_due(&mut self, domain: usize, samples: usize, now: u64) -> bool {
        if samples == 0 {
            return false;
        }
        let until = *self.patience[domain].get_or_insert(now + 1_000 * MS);
        let due = samples >= 500 || now >= until;
        if due {
            self.patience[domain] = None;
        }
        due
    }

    fn judge(&mut self, settings: &KyberSettings, now: u64) {
        let mut congestion = false;
        for domain in 0..3 {
            let target = settings.targets[domain].as_ns();
            if self.is_due(domain, self.device[domain].len(), now) {
                let samples = std::mem::take(&mut self.device[domain]);
                congestion |= Kyber::percentile(&samples, 90, target) >= 4;
            }
        }
        for domain in 0..3 {
            let target = settings.targets[domain].as_ns();
            let mut found = None;
            if self.is_due(domain, self.total[domain].len(), now) {
                let samples = std::mem::take(&mut self.total[domain]);
                found = Some(Kyber::percentile(&samples, 99, target));
            }
            if congestion {
                found = found.or(self.kept[domain]);
                self.kept[domain] = None;
            } else if found.is_some() {
                self.kept[domain] = found;
            }
            if let Some(bucket) = found
                && (congestion || bucket >= 4)
            {
                let most = u64::from(settings.tokens[domain]);
                self.depth[domain] = (self.depth[domain] * (bucket + 1) / 4).max(1).min(most);
            }
        }
    }

    pub fn choose(&mut self, settings: &KyberSettings, waiting: &[Waiting], inside: &[Command]) -> Option<usize> {
        let first = |of: usize| {
            let taken = inside.iter().filter(|command| domain(command) == of).count() as u64;
            let at = waiting.iter().position(|waiting| domain(&waiting.command) == of);
            at.filter(|_| taken < self.depth[of])
        };
        if self.batch < settings.batches[self.current]
            && let Some(at) = first(self.current)
        {
            self.batch += 1;
            return Some(at);
        }
        self.batch = 0;
        for step in 1..=4 {
            let of = (self.current + step) % 4;
            if let Some(at) = first(of) {
                (self.current, self.batch) = (of, 1);
                return Some(at);
            }
        }
        None
    }

    pub fn dispatched(&mut self, taken: Waiting, now: Instant) {
        self.times.push((taken.command.id, taken.since.as_ns(), now.as_ns()));
    }

    pub fn completed(&mut self, command: &Command, now: Instant) {
        let of = domain(command);
        let Some(at) = self.times.iter().position(|(id, ..)| *id == command.id) else { return };
        let (_, arrival, dispatch) = self.times.remove(at);
        if of < 3 {
            self.total[of].push(now.as_ns() - arrival);
            self.device[of].push(now.as_ns() - dispatch);
            self.judging = self.judging.or(Some(now.as_ns() + 100 * MS));
        }
    }
}

/// Minimal-effort write.
#[derive(Debug)]
pub struct Writes {
    quota: u64,
    ratio: u32,
    passed: u32,
    slice: u64,
    written: u64,
    held: bool,
}

fn asked(settings: &MinimalEffortSettings) -> u64 {
    let bytes = u128::from(settings.rate) * u128::from(settings.slice.as_ns()) / 1_000_000_000;
    u64::try_from(bytes).expect("a few bytes").max(4_096)
}

impl Writes {
    pub fn new(settings: &SchedulerSettings) -> Writes {
        let quota = match settings {
            SchedulerSettings::MinimalEffort(settings) => asked(settings),
            _ => 0,
        };
        Writes { quota, ratio: 1, passed: 0, slice: 0, written: 0, held: false }
    }

    /// Slice by slice.
    pub fn tick(&mut self, settings: &MinimalEffortSettings, writes_wait: bool, now: Instant) {
        let asked = asked(settings);
        while self.slice < now.as_ns() / settings.slice.as_ns() {
            self.slice += 1;
            let spent = if self.written < self.quota { self.written } else { self.quota };
            self.written -= spent;
            if spent < asked && (self.held || writes_wait) {
                self.quota = (self.quota + (self.quota / 8).max(1)).min(asked * 64);
                self.ratio = self.ratio.saturating_sub(1);
            }
            if spent > asked {
                self.quota = (self.quota - self.quota / 8).max(asked);
            }
            if spent >= asked {
                self.ratio = (self.ratio + 1).min(settings.max_reads);
            }
            self.held = false;
        }
    }

    pub fn choose(&mut self, _: &MinimalEffortSettings, waiting: &[Waiting]) -> Option<usize> {
        let read = waiting.iter().position(|waiting| waiting.command.op == Op::Read);
        let write = waiting.iter().position(|waiting| waiting.command.op != Op::Read);
        match (read, write) {
            (read, Some(write)) if self.written < self.quota && (read.is_none() || self.passed >= self.ratio) => {
                self.written += waiting[write].command.size;
                self.passed = 0;
                Some(write)
            }
            (read, write) => {
                self.held |= write.is_some();
                self.passed += u32::from(read.is_some());
                read
            }
        }
    }
}
