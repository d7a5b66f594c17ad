//! Progress, shown and kept.

use std::io;

use indicatif::{ProgressBar, ProgressStyle};
use rtflash_experiment::{Progress, Watcher};

use super::directory::Directory;
use crate::output::is_quiet;

/// A bar on the terminal, if there is one, and the file of progress.
pub struct TerminalBar<'d> {
    directory: &'d Directory,
    bar: ProgressBar,
}

impl<'d> TerminalBar<'d> {
    /// For so many sets, some of them done already.
    pub fn new(directory: &'d Directory, done: u64, all: u64) -> TerminalBar<'d> {
        let bar = if is_quiet() { ProgressBar::hidden() } else { ProgressBar::new(all) };
        let bar = bar.with_position(done);
        if let Ok(style) =
            ProgressStyle::with_template("{wide_bar} {percent} % of {human_len} sets, {per_sec} a second, {eta} left")
        {
            let rate = |state: &indicatif::ProgressState, text: &mut dyn std::fmt::Write| {
                let _ = write!(text, "{:.0}", state.per_sec());
            };
            bar.set_style(style.with_key("per_sec", rate));
        }
        bar.reset_eta();
        TerminalBar { directory, bar }
    }

    /// Takes the bar away.
    pub fn finish(self) {
        self.bar.finish_and_clear();
    }
}

impl Watcher for TerminalBar<'_> {
    fn advance(&mut self, sets: u64) {
        self.bar.inc(sets);
    }

    fn keep(&mut self, progress: &Progress) -> io::Result<()> {
        self.directory.keep(progress)
    }
}
