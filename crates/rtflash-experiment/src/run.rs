//! The sets of an experiment, worked through on several threads.

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::failure::RunFailure;
use crate::measure::Counter;
use crate::plan::Plan;
use crate::progress::Progress;
use crate::shard::Shard;
use crate::stretches::Stretches;
use crate::tally::Tally;

/// How long a thread works on the sets that it takes at once. Short beside what a kill may cost,
/// long beside the taking.
const HANDFUL: Duration = Duration::from_millis(25);
/// Sets that a thread takes at once, at most.
const MAX: u64 = 1 << 16;

/// An observer of an experiment under way. Called from several threads, one at a time.
pub trait Watcher: Send {
    /// `sets` more sets are done.
    fn advance(&mut self, sets: u64);

    /// How often progress is to be kept: what a kill may cost. If keeping takes long, it is done
    /// less often.
    fn keep_every(&self) -> Duration {
        Duration::from_millis(500)
    }

    /// Keeps the progress, so that a later run can go on from here. Fails if it cannot be kept.
    fn keep(&mut self, progress: &Progress) -> io::Result<()>;
}

struct Shared<'w> {
    progress: Progress,
    taken: Stretches,
    kept: Instant,
    keep_every: Duration,
    watcher: &'w mut dyn Watcher,
    failed: Option<RunFailure>,
}

/// Does what is still to be done of a part of an experiment, on all threads of the current rayon
/// pool.
///
/// The result does not depend on threads, nor on how often it was interrupted: it is made of sums
/// of whole numbers. Fails if progress cannot be kept, or an algorithm does not divide the chips
/// among the tasks.
pub fn run(plan: &Plan, progress: Progress, watcher: &mut dyn Watcher) -> Result<Progress, RunFailure> {
    let all = progress.shard().sets(plan.sets());
    let taken = progress.stretches().clone();
    let shared =
        Shared { progress, taken, kept: Instant::now(), keep_every: watcher.keep_every(), watcher, failed: None };
    let (shared, stop) = (Mutex::new(shared), AtomicBool::new(false));
    let threads = rayon::current_num_threads() as u64;
    rayon::broadcast(|_| {
        let mut wanted = 1;
        while !stop.load(Ordering::Relaxed) {
            let Some(range) = take(&shared, all, wanted, threads) else { break };
            let started = Instant::now();
            let counted = count(plan, &shared, range.clone());
            wanted = adapt(wanted, started.elapsed());
            if !give(&shared, range, counted) {
                stop.store(true, Ordering::Relaxed);
            }
        }
    });
    let Shared { progress, watcher, failed, .. } = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = failed {
        return Err(error);
    }
    watcher.keep(&progress)?;
    Ok(progress)
}

/// More sets at once where they are quick, fewer where they are slow.
fn adapt(wanted: u64, took: Duration) -> u64 {
    if took > HANDFUL * 2 {
        (wanted / 2).max(1)
    } else if took < HANDFUL / 2 {
        (wanted * 2).min(MAX)
    } else {
        wanted
    }
}

/// Takes sets to work on, fewer towards the end, so that all threads end together.
fn take(shared: &Mutex<Shared<'_>>, all: u64, wanted: u64, threads: u64) -> Option<Range<u64>> {
    let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
    let left = all - shared.taken.len();
    let range = shared.taken.gap(all, wanted.min((left / (4 * threads)).max(1)));
    if range.is_empty() {
        return None;
    }
    shared.taken.insert(range.clone());
    Some(range)
}

fn count(plan: &Plan, shared: &Mutex<Shared<'_>>, range: Range<u64>) -> Result<Vec<(usize, Tally)>, RunFailure> {
    let shard = shared.lock().unwrap_or_else(PoisonError::into_inner).progress.shard();
    let mut counter = Counter::default();
    let mut tallies: Vec<(usize, Tally)> = Vec::new();
    for position in range {
        let (point, index) = plan.place(shard.number(position));
        if tallies.last().is_none_or(|last| last.0 != point) {
            tallies.push((point, Tally::new(plan)));
        }
        if let Some((_, tally)) = tallies.last_mut() {
            counter.count(plan, point, index, tally)?;
        }
    }
    Ok(tallies)
}

/// Hands in what was counted, and keeps the progress from time to time. Returns whether to go on.
fn give(shared: &Mutex<Shared<'_>>, range: Range<u64>, counted: Result<Vec<(usize, Tally)>, RunFailure>) -> bool {
    let mut guard = shared.lock().unwrap_or_else(PoisonError::into_inner);
    let shared = &mut *guard;
    let tallies = match counted {
        Ok(tallies) => tallies,
        Err(failure) => {
            shared.failed.get_or_insert(failure);
            return false;
        }
    };
    let sets = range.end - range.start;
    shared.progress.add(range, &tallies);
    shared.watcher.advance(sets);
    if shared.kept.elapsed() >= shared.keep_every {
        let started = Instant::now();
        if let Err(error) = shared.watcher.keep(&shared.progress) {
            shared.failed.get_or_insert(error.into());
        }
        shared.kept = Instant::now();
        shared.keep_every = shared.watcher.keep_every().max(started.elapsed() * 20);
    }
    shared.failed.is_none()
}

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
