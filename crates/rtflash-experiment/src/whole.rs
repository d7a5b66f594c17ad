//! A whole experiment in one call.

use std::io;

use crate::failure::RunFailure;
use crate::plan::Plan;
use crate::progress::Progress;
use crate::run::{Watcher, run};
use crate::shard::Shard;
use crate::tally::Tally;

/// A watcher that ignores progress and keeps nothing.
struct Nobody;

impl Watcher for Nobody {
    fn advance(&mut self, _: u64) {}

    fn keep(&mut self, _: &Progress) -> io::Result<()> {
        Ok(())
    }
}

/// Works through all sets of a plan, on all threads of the current rayon pool, and gives what was
/// counted at each point. One that is to survive a kill, or to be shared among machines, is
/// [`run`](fn@run) with a [`Watcher`] that keeps its progress. Fails if an algorithm does not
/// divide the chips among the tasks.
pub fn run_whole(plan: &Plan) -> Result<Vec<Tally>, RunFailure> {
    let blank = Progress::new(plan, "", Shard::WHOLE);
    Ok(run(plan, blank, &mut Nobody)?.tallies().to_vec())
}
