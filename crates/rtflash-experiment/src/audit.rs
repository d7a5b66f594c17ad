//! Whether counts can be those of a plan: what they say twice has to agree.

use crate::plan::{Measure, Plan};
use crate::shard::Shard;
use crate::stretches::Stretches;
use crate::tally::{Pair, Runs, Tally, pairs};

/// Sets of each point among these positions of a part; `None` where a position is beyond the last.
pub(crate) fn sets_done(plan: &Plan, shard: Shard, done: &Stretches) -> Option<Vec<u64>> {
    if done.end() > shard.sets(plan.sets()) {
        return None;
    }
    let mut sets = vec![0; plan.points()];
    for (start, end) in done.iter() {
        let mut position = start;
        while position < end {
            let (point, _) = plan.place(shard.number(position));
            // The first position whose number is of a later point.
            let numbers = plan.first_of(point + 1) - u64::from(shard.index());
            let next = numbers.div_ceil(u64::from(shard.count())).min(end);
            *sets.get_mut(point)? += next - position;
            position = next;
        }
    }
    Some(sets)
}

/// Whether a tally of `sets` sets is possible at a point of the plan: it has its shape, and its
/// counts fit together.
pub(crate) fn is_possible(tally: &Tally, plan: &Plan, sets: u64) -> bool {
    let drawn = tally.sets.checked_add(tally.exhausted) == Some(sets);
    // A contender may be able to tell of a set that could not be drawn for another one.
    let tellable = if plan.makers() == 1 { tally.sets } else { sets };
    let decided = tally.decided.iter().all(|&decided| decided <= tellable);
    let yes = tally.yes.iter().zip(&tally.decided).all(|(yes, decided)| yes <= decided);
    drawn && has_shape(tally, plan) && decided && yes && are_paired(tally, tellable) && are_run(tally, plan)
}

/// Whether it has as many contenders, pairs and kinds of jobs as the plan.
fn has_shape(tally: &Tally, plan: &Plan) -> bool {
    let shape = |tally: &Tally| {
        let runs = tally.runs.iter().map(|runs| (runs.pages.len(), runs.products.len(), runs.misses.len()));
        (tally.decided.len(), tally.yes.len(), tally.pairs.len(), runs.collect::<Vec<_>>())
    };
    shape(tally) == shape(&Tally::new(plan))
}

/// Whether the counts of each pair are possible beside those of the two alone.
fn are_paired(tally: &Tally, tellable: u64) -> bool {
    pairs(tally.decided.len(), false).zip(&tally.pairs).all(|((i, j), pair)| {
        let sums = |one: u64, other: u64, max: u64| one.checked_add(other).is_some_and(|sum| sum <= max);
        let (no_i, no_j) = (tally.decided[i] - tally.yes[i], tally.decided[j] - tally.yes[j]);
        let &Pair { both, first, second, neither } = pair;
        let each = sums(both, first, tally.yes[i])
            && sums(second, neither, no_i)
            && sums(both, second, tally.yes[j])
            && sums(first, neither, no_j);
        // The two overlap in at least decided_i + decided_j − `tellable` sets. No sum overflows:
        // each count is at most the sets that a contender can decide.
        each && tally.decided[i] + tally.decided[j] <= tellable.saturating_add(pair.sets())
    })
}

/// Whether the runs are those of the sets that every contender schedules.
fn are_run(tally: &Tally, plan: &Plan) -> bool {
    let Measure::Bandwidth(_) = plan.spec().measure else { return tally.not_run == 0 };
    let count = tally.yes.len();
    let counts = tally.yes.iter().copied().chain(tally.pairs.iter().map(|pair| pair.both));
    let Some(fewest) = counts.min() else { return tally.runs.iter().all(|runs| runs.sets == 0) };
    tally.runs.iter().all(|runs| {
        let run = runs.sets.checked_add(tally.not_run);
        // With two contenders or one, the counts of the pair or the contender are these sets.
        let counted = if count <= 2 { run == Some(fewest) } else { run.is_some_and(|run| run <= fewest) };
        counted && are_moments(runs)
    })
}

/// Whether whole numbers exist, one for each of these sets, with these sums and sums of products.
fn are_moments(runs: &Runs) -> bool {
    let count = runs.pages.len();
    let square_of = |i: usize| {
        let at = pairs(count, true).position(|pair| pair == (i, i)).expect("a pair of each with itself");
        runs.products[at]
    };
    if runs.sets == 0 {
        return [&runs.pages, &runs.misses].iter().all(|sums| sums.iter().all(|&sum| sum == 0))
            && runs.products.iter().all(|&sum| sum == 0);
    }
    let squares: Vec<u128> = (0..count).map(square_of).collect();
    pairs(count, true).zip(&runs.products).all(|((i, j), &product)| {
        let [sum, other] = [i, j].map(|k| u128::from(runs.pages[k]));
        // Sums of terms that are not negative. Products that overflow decide nothing.
        let at_most = product <= sum * other;
        if i == j {
            // Σp² and Σp are both odd or both even, Σp ≤ Σp² and (Σp)² ≤ nΣp².
            let spread = u128::from(runs.sets).checked_mul(product).is_none_or(|max| sum * sum <= max);
            return at_most && spread && product >= sum && (product - sum).is_multiple_of(2);
        }
        let schwarz = |max: u128| product.checked_mul(product).is_none_or(|square| square <= max);
        let bounded = squares[i].checked_mul(squares[j]).is_none_or(schwarz);
        at_most && bounded && (runs.sets != 1 || product == sum * other)
    })
}
