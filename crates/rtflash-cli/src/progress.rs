//! Bars of progress: on standard error, if it is a terminal and `--quiet` is not given.
//!
//! Without the feature `progress` there are none.

use std::time::Duration;
#[cfg(feature = "progress")]
use std::{fmt::Write, time::Instant};

#[cfg(feature = "progress")]
use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use rtflash_model::{Instant as SimulatedTime, format_ns};

#[cfg(feature = "progress")]
use crate::output::is_quiet;
use crate::render::numbers::separated;

pub struct Bar {
    #[cfg(feature = "progress")]
    bar: ProgressBar,
    #[cfg(feature = "progress")]
    begun: Instant,
}

#[cfg(feature = "progress")]
impl Bar {
    /// A bar of `all` steps, `done` of them done before. The template is one of `indicatif`, which
    /// defines what is shown; in it `{per_sec}` is a whole number.
    pub fn new(template: &str, done: u64, all: u64) -> Bar {
        let bar = if is_quiet() { ProgressBar::hidden() } else { ProgressBar::new(all) };
        let bar = bar.with_position(done);
        if let Ok(style) = ProgressStyle::with_template(template) {
            let rate = |state: &ProgressState, text: &mut dyn Write| {
                let _ = write!(text, "{:.0}", state.per_sec());
            };
            bar.set_style(style.with_key("per_sec", rate));
        }
        bar.reset_eta();
        Bar { bar, begun: Instant::now() }
    }

    /// A bar of `all` steps that can begin anew any number of times: it shows how many are done, a
    /// message, and the elapsed time.
    pub fn ticking(message: String, all: u64) -> Bar {
        let bar = if is_quiet() { ProgressBar::hidden() } else { ProgressBar::new(all) };
        if let Ok(style) = ProgressStyle::with_template("{spinner} [{bar:30}] {msg}, {elapsed}") {
            bar.set_style(style);
        }
        bar.set_message(message);
        bar.enable_steady_tick(Duration::from_millis(250));
        Bar { bar, begun: Instant::now() }
    }

    pub fn is_hidden(&self) -> bool {
        self.bar.is_hidden()
    }

    pub fn inc(&self, steps: u64) {
        self.bar.inc(steps);
    }

    pub fn set(&self, position: u64, message: String) {
        self.bar.set_message(message);
        self.bar.set_position(position);
    }

    pub fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(not(feature = "progress"))]
#[allow(clippy::unused_self)] // As where there are bars.
impl Bar {
    pub fn new(_: &str, _: u64, _: u64) -> Bar {
        Bar {}
    }

    pub fn ticking(_: String, _: u64) -> Bar {
        Bar {}
    }

    pub fn is_hidden(&self) -> bool {
        true
    }

    pub fn inc(&self, _: u64) {}

    pub fn set(&self, _: u64, _: String) {}

    pub fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    pub fn finish(&self) {}
}

pub struct RunBar {
    bar: Bar,
    /// Nanoseconds of the run.
    length: u64,
}

impl RunBar {
    /// A bar for a run of this length; `None` if it would be hidden.
    pub fn new(duration: SimulatedTime) -> Option<RunBar> {
        let length = format_ns(duration.as_ns());
        let bar = Bar::new(&template(&length), 0, duration.as_ns());
        (!bar.is_hidden()).then_some(RunBar { bar, length: duration.as_ns() })
    }

    /// All before `now` has been simulated, with `operations` operations.
    pub fn advance(&self, now: SimulatedTime, operations: u64) {
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
        assert!(RunBar::new(SimulatedTime::END).is_none());
    }
}
