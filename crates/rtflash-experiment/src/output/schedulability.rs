//! Schedulability ratios as tables.

use std::fmt::Write;

use super::{cells, swept, swept_column};
use crate::plan::Plan;
use crate::statistics::{difference, wilson};
use crate::tally::{Tally, pairs};

/// A line for each point and contender: `sets` are those of which it can tell.
pub(super) fn results(plan: &Plan, tallies: &[Tally]) -> String {
    let mut text =
        format!("utilization,algorithm,analysis,sets,schedulable,ratio,ci_low,ci_high{}\n", swept_column(plan));
    for (point, tally) in tallies.iter().enumerate() {
        let utilization = plan.point(point).utilization;
        for ((contender, decided), yes) in plan.contenders().iter().zip(&tally.decided).zip(&tally.yes) {
            let (algorithm, analysis) = (contender.allocator.name(), contender.analysis.name());
            let ratio = cells(wilson(*yes, *decided), 6);
            let swept = swept(plan, point);
            let _ = writeln!(text, "{utilization},{algorithm},{analysis},{decided},{yes},{ratio}{swept}");
        }
    }
    text
}

/// A line for each point and pair of contenders that are given the same sets: the difference of
/// their ratios on the sets of which both can tell.
pub(super) fn paired(plan: &Plan, tallies: &[Tally]) -> String {
    let mut text = format!(
        "utilization,first_algorithm,first_analysis,second_algorithm,second_analysis,sets,both,first_only,second_only,difference,ci_low,ci_high{}\n",
        swept_column(plan)
    );
    let contenders = plan.contenders();
    for (point, tally) in tallies.iter().enumerate() {
        let utilization = plan.point(point).utilization;
        let all = pairs(contenders.len(), false).zip(&tally.pairs);
        for ((i, j), pair) in all.filter(|&((i, j), _)| plan.same_sets(i, j)) {
            let names = [i, j].map(|k| format!("{},{}", contenders[k].allocator.name(), contenders[k].analysis.name()));
            let _ = writeln!(
                text,
                "{utilization},{},{},{},{},{},{}{}",
                names.join(","),
                pair.sets(),
                pair.both,
                pair.first,
                pair.second,
                cells(difference(pair), 6),
                swept(plan, point)
            );
        }
    }
    text
}
