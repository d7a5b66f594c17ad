//! Minimal-effort write (paper 001): writes go out as lazily as the throughput that is asked of them allows, and reads before them.
//!
//! The paper publishes what is compared and in which direction it acts, but no steps. Ours: time is divided into slices. In a slice writes of at most a *quota* of
//! bytes go out. A slice in which more was written than is asked makes the quota an eighth smaller, and lets one read more go before each write. One in which less
//! was written, and writes had to wait, does the opposite.

use std::collections::VecDeque;

use rtflash_model::{Instant, Span};

use super::{Scheduler, ms};
use crate::{Command, Op};

/// Parameters of minimal-effort write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MinimalEffortSettings {
    /// Bytes a second that applications ask to be written, above zero.
    pub rate: u64,
    /// How long a slice is, above zero.
    pub slice: Span,
    /// Reads that go before each write at most, where reads wait.
    pub most_reads: u32,
}

impl Default for MinimalEffortSettings {
    fn default() -> MinimalEffortSettings {
        MinimalEffortSettings { rate: 100_000_000, slice: ms(10), most_reads: 16 }
    }
}

/// The least quota of a slice, in bytes, and the greatest: so many times what is asked.
const LEAST: u64 = 4 << 10;
const GREATEST: u64 = 64;

/// Minimal-effort write.
#[derive(Debug)]
pub struct MinimalEffort {
    settings: MinimalEffortSettings,
    reads: VecDeque<Command>,
    writes: VecDeque<Command>,
    /// Bytes that are asked of a slice.
    asked: u64,
    quota: u64,
    /// Reads that go before a write, and those that have since the last one.
    ratio: u32,
    passed: u32,
    /// The end of the slice, what was written in it, and whether a write was held back.
    end: Instant,
    written: u64,
    held: bool,
}

impl MinimalEffort {
    /// With nothing in it.
    pub fn new(settings: MinimalEffortSettings) -> MinimalEffort {
        let bytes = u128::from(settings.rate) * u128::from(settings.slice.as_ns()) / 1_000_000_000;
        let asked = u64::try_from(bytes).unwrap_or(u64::MAX).max(LEAST);
        MinimalEffort {
            settings,
            reads: VecDeque::new(),
            writes: VecDeque::new(),
            asked,
            quota: asked,
            ratio: 1,
            passed: 0,
            end: Instant::START.saturating_add(settings.slice),
            written: 0,
            held: false,
        }
    }

    /// Judges the slices that are over.
    fn slices_by(&mut self, now: Instant) {
        while self.end <= now {
            let before = (self.quota, self.ratio);
            let blank = self.written == 0 && !self.held;
            self.judge();
            let quiet = blank && before == (self.quota, self.ratio);
            let slice = self.settings.slice.as_ns().max(1);
            // Slices in which nothing happens, and that change nothing, are alike.
            let over = now.since(self.end).as_ns() / slice;
            let slices = if quiet { over + 1 } else { 1 };
            let length = slices.checked_mul(slice).and_then(Span::from_ns);
            let Some(end) = length.and_then(|length| self.end.checked_add(length)) else {
                self.end = Instant::END;
                return;
            };
            self.end = end;
        }
    }

    fn judge(&mut self) {
        let waited = self.held || !self.writes.is_empty();
        if self.written > self.asked {
            self.quota = (self.quota - self.quota / 8).max(LEAST);
            self.ratio = (self.ratio + 1).min(self.settings.most_reads);
        } else if self.written < self.asked && waited {
            let greatest = self.asked.saturating_mul(GREATEST);
            self.quota = self.quota.saturating_add((self.quota / 8).max(1)).min(greatest);
            self.ratio = self.ratio.saturating_sub(1);
        }
        (self.written, self.held) = (0, false);
    }

    /// Whether the first write may go out in this slice: something of the quota is left.
    fn may_write(&self) -> bool {
        !self.writes.is_empty() && self.written < self.quota
    }
}

impl Scheduler for MinimalEffort {
    fn insert(&mut self, command: Command, now: Instant) {
        self.slices_by(now);
        let queue = if command.op == Op::Read { &mut self.reads } else { &mut self.writes };
        queue.push_back(command);
    }

    fn ask(&mut self, now: Instant) -> Option<Command> {
        self.slices_by(now);
        if self.may_write() && (self.reads.is_empty() || self.passed >= self.ratio) {
            let command = self.writes.pop_front()?;
            self.written = self.written.saturating_add(command.size);
            self.passed = 0;
            return Some(command);
        }
        self.held |= !self.writes.is_empty();
        let command = self.reads.pop_front()?;
        self.passed = self.passed.saturating_add(1);
        Some(command)
    }

    fn merged(&mut self, before: &Command, after: &Command) {
        // The lengths of reads play no part.
        if let Some(write) = self.writes.iter_mut().rev().find(|write| write.id == before.id) {
            *write = *after;
        }
    }

    fn completed(&mut self, _: &Command, now: Instant) {
        self.slices_by(now);
    }

    fn next(&self) -> Option<Instant> {
        (!self.writes.is_empty()).then_some(self.end)
    }
}
