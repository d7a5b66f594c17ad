//! Bars of progress: on standard error, where that is a terminal and nobody asked for quiet.
//!
//! Without the feature `progress` there are none.

use std::time::Duration;
#[cfg(feature = "progress")]
use std::{fmt::Write, time::Instant};

#[cfg(feature = "progress")]
use indicatif::{ProgressBar, ProgressState, ProgressStyle};

#[cfg(feature = "progress")]
use crate::output::is_quiet;

/// A bar of so many steps. Nothing is drawn where nobody looks.
pub struct Bar {
    #[cfg(feature = "progress")]
    bar: ProgressBar,
    #[cfg(feature = "progress")]
    begun: Instant,
}

#[cfg(feature = "progress")]
impl Bar {
    /// A bar of so many steps, some of them done before. The template is one of `indicatif`, which
    /// says what is shown; in it `{per_sec}` is a whole number.
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

    /// Steps of which nobody knows how often they begin anew: how many are done of so many, what is
    /// said beside them, and how long it has taken.
    pub fn ticking(message: String, all: u64) -> Bar {
        let bar = if is_quiet() { ProgressBar::hidden() } else { ProgressBar::new(all) };
        if let Ok(style) = ProgressStyle::with_template("{spinner} [{bar:30}] {msg}, {elapsed}") {
            bar.set_style(style);
        }
        bar.set_message(message);
        bar.enable_steady_tick(Duration::from_millis(250));
        Bar { bar, begun: Instant::now() }
    }

    /// Whether nobody looks.
    pub fn is_hidden(&self) -> bool {
        self.bar.is_hidden()
    }

    /// So many steps more.
    pub fn inc(&self, steps: u64) {
        self.bar.inc(steps);
    }

    /// So many steps in all, and what is said beside them.
    pub fn set(&self, position: u64, message: String) {
        self.bar.set_message(message);
        self.bar.set_position(position);
    }

    /// How long it has been there.
    pub fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Takes it away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(not(feature = "progress"))]
#[allow(clippy::unused_self)] // As where there are bars.
impl Bar {
    /// No bar.
    pub fn new(_: &str, _: u64, _: u64) -> Bar {
        Bar {}
    }

    /// No bar.
    pub fn ticking(_: String, _: u64) -> Bar {
        Bar {}
    }

    /// Nobody looks.
    pub fn is_hidden(&self) -> bool {
        true
    }

    /// Nothing.
    pub fn inc(&self, _: u64) {}

    /// Nothing.
    pub fn set(&self, _: u64, _: String) {}

    /// No time.
    pub fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    /// Nothing.
    pub fn finish(&self) {}
}
