//! A whole experiment in two calls.

use std::path::Path;
use std::{fs, io};

use crate::output::{figures, tables};
use crate::plan::Plan;
use crate::progress::Progress;
use crate::run::{Watcher, run};
use crate::shard::Shard;
use crate::tally::Tally;

/// Nobody looks on, and nothing is kept on the way.
struct Nobody;

impl Watcher for Nobody {
    fn advance(&mut self, _: u64) {}

    fn keep(&mut self, _: &Progress) -> io::Result<()> {
        Ok(())
    }
}

/// Works through all sets of a plan, on all threads of the current rayon pool, and gives what was counted at each point. One that is to survive a kill, or
/// to be shared among machines, is [`run`](fn@run) with a [`Watcher`] that keeps its progress.
pub fn run_whole(plan: &Plan) -> Vec<Tally> {
    let blank = Progress::new(plan, "", Shard::WHOLE);
    run(plan, blank, &mut Nobody).map_or_else(|_| Vec::new(), |progress| progress.tallies().to_vec())
}

/// Writes the tables (CSV) and figures (SVG, PNG, PDF, pgfplots) of an experiment into a directory, which is made if it is not there. Returns the names of
/// the files.
///
/// # Errors
/// Where a file cannot be written, or a figure cannot be drawn.
pub fn write_results(plan: &Plan, tallies: &[Tally], directory: &Path) -> io::Result<Vec<String>> {
    fs::create_dir_all(directory)?;
    let mut files: Vec<(String, Vec<u8>)> =
        tables(plan, tallies).into_iter().map(|table| (table.name.to_owned(), table.text.into_bytes())).collect();
    for figure in figures(plan, tallies) {
        files.extend(figure.files().map_err(io::Error::other)?);
    }
    files
        .into_iter()
        .map(|(name, content)| {
            fs::write(directory.join(&name), content)?;
            Ok(name)
        })
        .collect()
}
