//! How far a run is, on the terminal.

use rtflash_model::{Instant, format_ns};

use crate::progress::Bar;
use crate::render::numbers::separated;

pub struct RunBar {
    bar: Bar,
    /// Nanoseconds of the run.
    length: u64,
}

impl RunBar {
    /// A bar for a run of this length; `None` if it would be hidden.
    pub fn new(duration: Instant) -> Option<RunBar> {
        let length = format_ns(duration.as_ns());
        let bar = Bar::new(&template(&length), 0, duration.as_ns());
        (!bar.is_hidden()).then_some(RunBar { bar, length: duration.as_ns() })
    }

    /// All before `now` has been simulated, with `operations` operations.
    pub fn advance(&self, now: Instant, operations: u64) {
        let seconds = self.bar.elapsed().as_secs_f64();
        self.bar.set(now.as_ns().min(self.length), counted(operations, seconds));
    }

    pub fn finish(self) {
        self.bar.finish();
    }
}

fn template(length: &str) -> String {
    format!("{{wide_bar}} {{percent}} % of {length}, {{msg}}, {{eta}} left")
}

/// Operations, and how many there were a second.
fn counted(operations: u64, seconds: f64) -> String {
    let rate = if seconds > 0.0 { operations as f64 / seconds } else { 0.0 };
    format!("{} operations, {rate:.0} a second", separated(operations.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_counts_operations() {
        assert_eq!(counted(1_234_567, 2.0), "1,234,567 operations, 617284 a second");
        assert_eq!(counted(0, 0.0), "0 operations, 0 a second");
        // Standard error is no terminal in a test.
        assert!(RunBar::new(Instant::END).is_none());
    }
}
