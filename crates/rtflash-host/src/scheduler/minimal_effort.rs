//! Minimal-effort write (Park et al. 2018): writes go out as lazily as the throughput that is asked
//! of them allows, and reads before them.
//!
//! The paper publishes what is compared and in which direction it acts, but no steps. Ours: time is
//! divided into slices. In a slice writes go out as long as less than a *quota* of bytes has. The
//! write that exceeds it counts in the next slices, as far as it exceeds. A slice in which as much
//! was written as is asked lets one read more go before each write; one with more makes the quota
//! an eighth smaller. One with less, in which writes had to wait, does the opposite of both.

use std::collections::VecDeque;

use rtflash_model::{Instant, Span, capped};

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
    pub max_reads: u32,
}

impl Default for MinimalEffortSettings {
    fn default() -> MinimalEffortSettings {
        MinimalEffortSettings { rate: 100_000_000, slice: ms(10), max_reads: 16 }
    }
}

/// The least request of a slice, in bytes, and the greatest quota, as a multiple of the request.
const MIN: u64 = 4 << 10;
const GREATEST: u64 = 64;

/// Minimal-effort write.
#[derive(Debug)]
pub struct MinimalEffort {
    settings: MinimalEffortSettings,
    reads: VecDeque<Command>,
    writes: VecDeque<Command>,
    /// Bytes that are asked of a slice.
    asked: u64,
    /// At least what is asked: so the writes that are held back have that on average, however long
    /// each is.
    quota: u64,
    /// Reads that go before a write, and those that have since the last one.
    ratio: u32,
    passed: u32,
    /// The end of the slice, what was written in it or is left of earlier ones, and whether a write
    /// was held back.
    end: Instant,
    written: u64,
    held: bool,
}

impl MinimalEffort {
    /// With nothing in it.
    pub fn new(settings: MinimalEffortSettings) -> MinimalEffort {
        let bytes = u128::from(settings.rate) * u128::from(settings.slice.as_ns()) / 1_000_000_000;
        let asked = capped(bytes).max(MIN);
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
            let waited = self.held || !self.writes.is_empty();
            self.judge(waited);
            let quiet = !waited && before == (self.quota, self.ratio);
            let slice = self.settings.slice.as_ns().max(1);
            // Slices in which nothing waits, and that change nothing, are alike.
            let over = if quiet { now.since(self.end).as_ns() / slice } else { 0 };
            self.written = self.written.saturating_sub(self.quota.saturating_mul(over));
            let length = (over + 1).checked_mul(slice).and_then(Span::from_ns);
            let Some(end) = length.and_then(|length| self.end.checked_add(length)) else {
                self.end = Instant::END;
                return;
            };
            self.end = end;
        }
    }

    fn judge(&mut self, waited: bool) {
        let spent = self.written.min(self.quota);
        if spent >= self.asked {
            if spent > self.asked {
                self.quota = (self.quota - self.quota / 8).max(self.asked);
            }
            self.ratio = (self.ratio + 1).min(self.settings.max_reads);
        } else if waited {
            let greatest = self.asked.saturating_mul(GREATEST);
            self.quota = self.quota.saturating_add((self.quota / 8).max(1)).min(greatest);
            self.ratio = self.ratio.saturating_sub(1);
        }
        self.written -= spent;
        self.held = false;
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
