//! Progress, shown and kept.

use std::io;
use std::time::Duration;

use rtflash_experiment::{Progress, Watcher};

use super::directory::Directory;
use crate::output;
use crate::progress::Bar;

/// When the first line of progress comes without a terminal, and the time between two.
const FIRST: Duration = Duration::from_secs(10);
const BETWEEN: Duration = Duration::from_secs(60);

/// A bar on the terminal, or a line now and then without one, and the file of progress.
pub struct TerminalBar<'d> {
    directory: &'d Directory,
    bar: Bar,
    /// Sets that are done in this run, and those that were left when it began.
    done: u64,
    left: u64,
    next_line: Duration,
}

impl<'d> TerminalBar<'d> {
    pub fn new(directory: &'d Directory, done: u64, all: u64) -> TerminalBar<'d> {
        let template = "{wide_bar} {percent} % of {human_len} sets, {per_sec} a second, {eta} left";
        let bar = Bar::new(template, done, all);
        TerminalBar { directory, bar, done: 0, left: all.saturating_sub(done), next_line: FIRST }
    }

    pub fn finish(self) {
        self.bar.finish();
    }
}

impl Watcher for TerminalBar<'_> {
    fn advance(&mut self, sets: u64) {
        self.bar.inc(sets);
        self.done += sets;
        let elapsed = self.bar.elapsed();
        if !self.bar.is_hidden() || output::is_quiet() || elapsed < self.next_line {
            return;
        }
        self.next_line = elapsed + BETWEEN;
        let (done, left) = (self.done, self.left.saturating_sub(self.done));
        let seconds = u128::from(left) * elapsed.as_millis() / u128::from(done.max(1)) / 1_000;
        output::complain(&format!("{done} sets in {} s; {left} are left, about {seconds} s\n", elapsed.as_secs()));
    }

    fn keep(&mut self, progress: &Progress) -> io::Result<()> {
        self.directory.keep(progress)
    }
}
