//! How long queues are.

use rtflash_model::Instant;

use super::watch::{RunEvent, Watch};

/// A queue's length over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueueLength {
    /// The longest that it was for any time at all.
    pub max: u64,
    /// The sum of its lengths, each times the nanoseconds that it was so long.
    pub area: u128,
    /// Nanoseconds that were looked at.
    pub time: u64,
}

impl QueueLength {
    /// The mean over time; zero where no time was looked at. For reports: it is rounded.
    pub fn mean(&self) -> f64 {
        if self.time == 0 { 0.0 } else { self.area as f64 / self.time as f64 }
    }
}

/// Lengths of the queues between jobs and device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueueLengths {
    /// Requests and pieces at the scheduler.
    pub waiting: QueueLength,
    /// Commands that the device has.
    pub inside: QueueLength,
}

/// Measures the lengths of queues in a run, from the warm-up on. A stay of no time, such as that of
/// a request that is handed over as it comes, is not counted.
#[derive(Debug, Clone, Copy)]
pub struct LengthMeasure {
    from: Instant,
    now: Instant,
    waiting: u64,
    inside: u64,
    lengths: QueueLengths,
}

impl LengthMeasure {
    /// Measures from this instant on.
    pub fn new(warmup: Instant) -> LengthMeasure {
        LengthMeasure { from: warmup, now: Instant::START, waiting: 0, inside: 0, lengths: QueueLengths::default() }
    }

    /// The lengths until the end of the run.
    pub fn finish(mut self, duration: Instant) -> QueueLengths {
        self.advance(duration);
        self.lengths
    }

    fn advance(&mut self, now: Instant) {
        let time = now.since(self.now.max(self.from)).as_ns();
        self.now = self.now.max(now);
        if time == 0 {
            return;
        }
        for (queue, length) in [(&mut self.lengths.waiting, self.waiting), (&mut self.lengths.inside, self.inside)] {
            queue.max = queue.max.max(length);
            queue.area += u128::from(length) * u128::from(time);
            queue.time += time;
        }
    }
}

impl Watch for LengthMeasure {
    fn see(&mut self, now: Instant, what: &RunEvent<'_>) {
        self.advance(now);
        match what {
            RunEvent::Queued { .. } => self.waiting += 1,
            RunEvent::HandedOver(_) => {
                self.waiting = self.waiting.saturating_sub(1);
                self.inside += 1;
            }
            RunEvent::PartHandedOver(_) => self.inside += 1,
            RunEvent::Ended(_) => self.inside = self.inside.saturating_sub(1),
            RunEvent::ChainBegun { .. }
            | RunEvent::ChainEnded { .. }
            | RunEvent::Released { .. }
            | RunEvent::Merged { .. }
            | RunEvent::Late { .. }
            | RunEvent::Finished { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{read_scenario, run_watched};

    /// Four reads of 1 ms each at 0, 10, 20, … ms, one at a time in the device.
    #[test]
    fn lengths_by_hand() {
        let text = |warmup: &str| {
            format!(
                r#"{{ "device": {{ "kind": "emmc", "read": {{ "first": "1ms", "next": "1ms", "per_kib": "0us" }},
                    "write": {{ "first": "1ms", "next": "1ms", "per_kib": "0us" }} }},
                "host": {{ "max_sectors": "4KiB" }},
                "jobs": [ {{ "name": "a", "op": "read", "size": "16KiB", "every": "10ms" }} ], "warmup": "{warmup}", "duration": "20ms" }}"#
            )
        };
        let lengths = |warmup: &str| {
            let scenario = read_scenario(&text(warmup), None).expect("a scenario");
            let mut lengths = LengthMeasure::new(scenario.warmup);
            run_watched(&scenario, 1, &mut lengths).expect("a run");
            lengths.finish(scenario.duration)
        };
        let ms = 1_000_000;
        let all = lengths("0ms");
        assert_eq!(all.waiting, QueueLength { max: 3, area: 2 * (3 + 2 + 1) * u128::from(ms), time: 20 * ms });
        assert_eq!(all.inside, QueueLength { max: 1, area: 2 * 4 * u128::from(ms), time: 20 * ms });
        assert_eq!((all.waiting.mean(), all.inside.mean()), (0.6, 0.4));
        let late = lengths("11500us");
        assert_eq!(late.waiting, QueueLength { max: 2, area: 2 * 500_000 + u128::from(ms), time: 8_500_000 });
    }
}
