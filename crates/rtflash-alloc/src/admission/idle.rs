//! How long a processor may be busy without a break.

use rtflash_model::Span;

use rtflash_analysis::certified::Demand;

const ROUNDS: u32 = 200;

/// A time within which a processor without a server, which keeps its deadlines, is idle at an
/// instant, from any instant on.
///
/// Between two idle instants it executes what is released there: within t no longer than
/// [`Demand::arriving`], and what two page registers hold is at most B (docs/admission.md, Lemma
/// 30).
pub(super) fn idle_within(demand: &Demand<'_>) -> Option<Span> {
    idle_behind(demand, Span::ZERO)
}

/// Like [`idle_within`], from the end of a server's last job: jobs executed within t after it were
/// released within t and the longest deadline (docs/admission.md, Theorem 14).
pub(super) fn idle_after_jobs(demand: &Demand<'_>) -> Option<Span> {
    idle_behind(demand, demand.longest_deadline())
}

/// A time t that is no shorter than what is released within it and a time before it takes.
fn idle_behind(demand: &Demand<'_>, before: Span) -> Option<Span> {
    let blocking = demand.blocking(Span::NANOSECOND).span()?.max(Span::NANOSECOND);
    let mut time = blocking;
    for _ in 0..ROUNDS {
        let busy = demand.arriving(time.checked_add(before)?).shortest(1_000)?.checked_add(blocking)?;
        if busy <= time {
            return Some(time);
        }
        if demand.is_used_up() {
            return None;
        }
        // Any such time will do: near a full load small steps would not end.
        let eighth = Span::from_ns(time.as_ns() / 8)?;
        time = busy.max(time.checked_add(eighth)?);
    }
    None
}

/// `None` where one of them is not known.
pub(super) fn longest(times: impl IntoIterator<Item = Option<Span>>) -> Option<Span> {
    times.into_iter().try_fold(Span::ZERO, |longest, next| Some(longest.max(next?)))
}
