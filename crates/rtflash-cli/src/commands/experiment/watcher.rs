//! Progress, shown and kept.

use std::io;

use rtflash_experiment::{Progress, Watcher};

use super::directory::Directory;
use crate::progress::Bar;

/// A bar on the terminal, if there is one, and the file of progress.
pub struct TerminalBar<'d> {
    directory: &'d Directory,
    bar: Bar,
}

impl<'d> TerminalBar<'d> {
    /// A bar for `all` sets, `done` of them done already.
    pub fn new(directory: &'d Directory, done: u64, all: u64) -> TerminalBar<'d> {
        let template = "{wide_bar} {percent} % of {human_len} sets, {per_sec} a second, {eta} left";
        let bar = Bar::new(template, done, all);
        TerminalBar { directory, bar }
    }

    /// Takes the bar away.
    pub fn finish(self) {
        self.bar.finish();
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
