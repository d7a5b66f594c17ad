//! How far a run is, on the terminal.

use indicatif::{HumanCount, ProgressBar};
use rtflash_model::{Instant, format_ns};

use crate::progress;

/// A bar over the time that is simulated.
pub struct RunBar(ProgressBar);

impl RunBar {
    /// For a run of this length; `None` where nobody looks on.
    pub fn new(duration: Instant) -> Option<RunBar> {
        let length = format_ns(duration.as_ns());
        let bar = progress::bar(&template(&length), 0, duration.as_ns());
        (!bar.is_hidden()).then_some(RunBar(bar))
    }

    /// All before `now` has been simulated, with so many operations.
    pub fn advance(&self, now: Instant, operations: u64) {
        let seconds = self.0.elapsed().as_secs_f64();
        self.0.set_message(counted(operations, seconds));
        self.0.set_position(now.as_ns().min(self.0.length().unwrap_or(u64::MAX)));
    }

    /// Takes the bar away.
    pub fn finish(self) {
        self.0.finish_and_clear();
    }
}

fn template(length: &str) -> String {
    format!("{{wide_bar}} {{percent}} % of {length}, {{msg}}, {{eta}} left")
}

/// Operations, and how many there were a second.
fn counted(operations: u64, seconds: f64) -> String {
    let rate = if seconds > 0.0 { operations as f64 / seconds } else { 0.0 };
    format!("{} operations, {rate:.0} a second", HumanCount(operations))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_counts_operations() {
        assert_eq!(counted(1_234_567, 2.0), "1,234,567 operations, 617284 a second");
        assert_eq!(counted(0, 0.0), "0 operations, 0 a second");
        // Nobody looks on in a test.
        assert!(RunBar::new(Instant::END).is_none());
    }
}
