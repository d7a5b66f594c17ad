//! Limits of single requests.

use rtflash_model::{Request, Span, TIME_LIMIT_NS, Task, TaskId};

use super::search::{Trials, farthest, nearest};
use super::{RequestLimits, SizingLimit, TaskLimits};

/// Trials for the period and the pages of a request, together.
const TRIALS: u64 = 80;

pub(super) fn count(trials: &Trials<'_>) -> u64 {
    let tasks = trials.set.tasks().iter();
    tasks.map(|task| u64::from(task.read.is_some()) + u64::from(task.write.is_some())).sum()
}

pub(super) fn tasks(trials: &Trials<'_>, passes: bool) -> Vec<TaskLimits> {
    let tasks = trials.set.tasks();
    let mut left = 2 * count(trials);
    let too_many = trials.too_many(TRIALS.saturating_mul(left / 2), trials.set.device().chips());
    let mut limits = |position: TaskId, writes: bool| {
        let search = RequestSearch { trials, position, writes };
        let request = search.request(&tasks[position])?;
        if too_many {
            return Some(RequestLimits { period: SizingLimit::TooMuchWork, more_pages: SizingLimit::TooMuchWork });
        }
        let period = trials.limit(left, || search.period(request, passes));
        let more_pages = trials.limit(left - 1, || search.pages(request, passes));
        left -= 2;
        Some(RequestLimits { period, more_pages })
    };
    tasks.ids().map(|task| TaskLimits { read: limits(task, false), write: limits(task, true) }).collect()
}

struct RequestSearch<'s, 'a> {
    trials: &'s Trials<'a>,
    position: TaskId,
    writes: bool,
}

impl RequestSearch<'_, '_> {
    fn request(&self, task: &Task) -> Option<Request> {
        if self.writes { task.write } else { task.read }
    }

    fn with(&self, pages: u64, period: u64) -> bool {
        let mut tasks = self.trials.set.tasks().clone();
        let task = &mut tasks[self.position];
        let request = self.request(task);
        let changed = request.and_then(|request| request.with_pages(pages)?.with_period(Span::from_ns(period)?));
        if self.writes {
            task.write = changed
        } else {
            task.read = changed
        }
        changed.is_some() && self.trials.passes(self.trials.with_tasks(tasks.into_vec()))
    }

    /// Four significant digits or the request's own. A period below a stated deadline fails.
    fn period(&self, request: Request, passes: bool) -> SizingLimit<Span> {
        let now = request.period().as_ns();
        let enough = |period: u64| self.with(request.pages(), period);
        // The rank of the first rounded period that is not below today's.
        let first = rank_above(now);
        let found = if passes {
            let shorter = |steps: u64| first.checked_sub(steps).is_some_and(|rank| enough(rounded(rank)));
            match farthest(first + 1, shorter) {
                0 => Some(now),
                steps => Some(rounded(first - steps)),
            }
        } else {
            let most = rank_above(now.saturating_mul(1_000).min(TIME_LIMIT_NS - 1));
            // The first one is the request's own, or the next above it.
            let before = first.saturating_sub(1);
            let steps = nearest((most + 1).saturating_sub(before), |steps| enough(rounded(before + steps)));
            steps.map(|steps| rounded(before + steps))
        };
        found.and_then(Span::from_ns).map_or(SizingLimit::Nothing, SizingLimit::At)
    }

    fn pages(&self, request: Request, passes: bool) -> SizingLimit<i64> {
        let (now, period) = (request.pages(), request.period().as_ns());
        let enough = |pages: u64| self.with(pages, period);
        let more = if passes {
            i64::try_from(farthest(TIME_LIMIT_NS, |more| enough(now.saturating_add(more)))).ok()
        } else {
            nearest(now, |fewer| enough(now - fewer)).and_then(|fewer| i64::try_from(fewer).ok()).map(|fewer| -fewer)
        };
        more.map_or(SizingLimit::Nothing, SizingLimit::At)
    }
}

/// In order: all below 10,000, and then 9,000 for each further digit.
fn rounded(rank: u64) -> u64 {
    match rank.checked_sub(10_000) {
        None => rank,
        Some(rest) => {
            let places = u32::try_from(rest / 9_000 + 1).ok();
            let scale = places.and_then(|places| 10u64.checked_pow(places));
            let number = scale.and_then(|scale| (1_000 + rest % 9_000).checked_mul(scale));
            number.expect("no rank above that of the longest time is asked for")
        }
    }
}

/// The rank of the first such number that is not below `number`.
fn rank_above(number: u64) -> u64 {
    let (mut head, mut zeros) = (number, 0u64);
    while head >= 10_000 {
        (head, zeros) = (head.div_ceil(10), zeros + 1);
    }
    // Rounding up may have made one digit more of it, which is the next decade's first.
    if zeros == 0 { head } else { 10_000 + (zeros - 1) * 9_000 + (head - 1_000) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_in_order_and_found_again() {
        for rank in (0..20_000).chain((20_000..140_000).step_by(997)) {
            assert!(rounded(rank) < rounded(rank + 1), "{rank}");
            assert_eq!(rank_above(rounded(rank)), rank);
            assert_eq!(rank_above(rounded(rank) + 1), rank + 1);
        }
        for number in [1, 9_999, 10_001, 99_999, 36_000_000, 99_991_234, 999_999_999_999] {
            let rank = rank_above(number);
            assert!(rounded(rank) >= number && rounded(rank - 1) < number, "{number}");
        }
    }
}
