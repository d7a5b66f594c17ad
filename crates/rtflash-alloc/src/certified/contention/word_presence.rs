//! What a chip does in a queue for the bus, in single words.

use rtflash_model::Span;

use crate::certified::processor::{ChosenGc, DemandTask};

/// [`Presence`](super::queue::Presence).
#[derive(Debug, Clone, Copy)]
#[allow(non_snake_case)] // The document's letters.
pub(super) struct WordPresence {
    pub(super) S_j: u64,
    pub(super) V_j: u64,
}

/// S_j and V_j.
#[allow(non_snake_case)] // The document's letters.
pub(super) fn presence(requests: &[DemandTask], gc: Option<ChosenGc>, length: Span) -> Option<WordPresence> {
    let (mut jobs, mut V_j) = (1u64, 0u64);
    for item in requests {
        let live = item.live(length);
        jobs = jobs.checked_add(live)?;
        if item.writes {
            V_j = V_j.checked_add(item.transfers.of_word(live)?)?;
        }
    }
    let P_j = match gc {
        Some(gc) => passes_live_in_words(requests, gc, length)?,
        None => 0,
    };
    Some(WordPresence { S_j: jobs.checked_add(P_j)?, V_j })
}

/// V_j.
pub(super) fn programs(requests: &[DemandTask], length: Span) -> Option<u64> {
    let writes = requests.iter().filter(|item| item.writes);
    writes.map(|item| item.transfers.of_word(item.live(length))).try_fold(0u64, |sum, pages| sum.checked_add(pages?))
}

/// [`passes_live`](super::queue::passes_live).
pub(super) fn passes_live_in_words(requests: &[DemandTask], gc: ChosenGc, length: Span) -> Option<u64> {
    let Some(deadline) = gc.deadline else { return Some(0) };
    let window = length.as_ns().checked_add(deadline.as_ns())?;
    let mut arrived = 0u64;
    for item in requests.iter().filter(|item| item.writes) {
        let released = window.checked_add(item.jitter.as_ns())?.div_ceil(item.period.as_ns());
        arrived = arrived.checked_add(item.pages.of_word(released)?)?;
    }
    Some(arrived.div_ceil(gc.reclaimed))
}
