//! The laboratory, for development alone: what looks for counterexamples.
//!
//! - [`world`]: small sets at the limit of one test, with a term left out of it or not, run under
//!   everything that is meant to break them.
//! - [`climb`]: hill climbing towards late ends, on the executor or on a plain simulation of a
//!   channel.
//! - [`stock`]: the field's `stock` before a small drive, event by event.
//! - [`edits`]: expressions of the analysis without a term. The build makes the module `weakened`
//!   of the analysis's sources with them, so that the analysis itself knows of none.

pub mod climb;
pub mod command;
pub mod edits;
mod processors;
mod small_device;
pub mod stock;
mod terms;
pub mod world;

use std::cell::Cell;

use rtflash_model::{Certificate, Cluster, Placement, Reliance, TaskSet};

pub use terms::{STOCK_TERMS, TERMS, letters};

include!(concat!(env!("OUT_DIR"), "/weakened.rs"));

thread_local! {
    static LEFT_OUT: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// The result of `compute` with a term left out of the weakened analysis.
pub(crate) fn leaving_out<T>(term: Option<&'static str>, compute: impl FnOnce() -> T) -> T {
    let before = LEFT_OUT.replace(term);
    let computed = compute();
    LEFT_OUT.set(before);
    computed
}

pub(crate) fn leaves_out(term: &str) -> bool {
    term == edits::EVERY || LEFT_OUT.get() == Some(term)
}

/// `None` where it certifies not all clusters. Such a certificate is no promise.
pub fn certify(
    left_out: Option<&'static str>,
    set: &TaskSet,
    clusters: &[Cluster],
    placements: &[Placement],
    granted: Reliance,
) -> Option<Vec<Option<Certificate>>> {
    let work = weakened::Work::new();
    let certify = || weakened::certified::certify(set, clusters, placements, granted, &work);
    let found = leaving_out(left_out, certify);
    (found.failing.is_empty() && !found.given_up).then_some(found.certificates)
}
