//! Bars of progress: on standard error, if it is a terminal and `--quiet` is not given.
//!
//! Without the feature `progress` there are none.

use std::time::Duration;
#[cfg(feature = "progress")]
use std::{fmt::Write, time::Instant};

#[cfg(feature = "progress")]
use indicatif::{ProgressBar, ProgressState, ProgressStyle};

#[cfg(feature = "progress")]
use crate::output::is_quiet;

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

    /// No bar.
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
