//! The statements beside the numbers that the device is run by: the cluster's reliance, and the
//! interval in which it comes nearest to missing a deadline.

use rtflash_model::{Certificate, Reliance, Span, Tightest};

use super::levels::TestLevels;
use super::processor::Processor;
use super::{CertifiedClusterVerification, Shares};

pub(super) fn reliance(stated: Reliance, levels: &TestLevels, found: &mut CertifiedClusterVerification) {
    let Some(needed) = found.relies_on else { return };
    let words = || format!("it states that it relies on {}, and it needs {}", stated.name(), needed.name());
    if stated > needed {
        found.notes.push(words());
    } else if stated < needed && levels.refutes(stated) {
        found.discrepancies.push(words());
    }
}

pub(super) fn tightest(levels: &TestLevels, certificate: &Certificate, found: &mut CertifiedClusterVerification) {
    let shortest = levels.processors().iter().flat_map(Processor::deadlines).min();
    let shortest = shortest.expect("a cluster with tasks has requests");
    let stated = certificate.tightest.filter(|stated| match i128::from(stated.length.as_ns()) {
        length if length < shortest => {
            found.notes.push(format!("the tightest length {} is below the shortest deadline", stated.length));
            false
        }
        _ => true,
    });
    if certificate.tightest.is_none() {
        found.notes.push("no tightest length is stated".into());
    }
    let verdict = levels.verdict();
    // The tightest that was seen, where none is stated that is of use.
    let length = stated.map_or_else(
        || {
            let length = verdict.least.map_or(shortest, |(length, _)| length);
            u64::try_from(length.min(u64::MAX.into())).expect("lengths are above zero")
        },
        |stated| stated.length.as_ns(),
    );
    let by_test: Option<Vec<Shares>> = levels.all_processors().map(|processors| shares(processors, length)).collect();
    let (Some(by_test), Some(granted)) = (by_test, shares(levels.processors(), length)) else {
        found.notes.push(format!("an interval of {length} ns is beyond the arithmetic of the judge"));
        return;
    };
    found.shares = Some(granted);
    found.utilizations = by_test.iter().map(|shares| shares.utilization).collect();
    let Some(Tightest { length, slack_ns }) = stated else { return };
    if by_test.iter().all(|shares| shares.slack_ns != i128::from(slack_ns)) {
        found.notes.push(format!("the slack of {length} is {} ns, not {slack_ns}", granted.slack_ns));
    }
    let nearer = verdict.least.filter(|&(_, least)| least < granted.slack_ns);
    let nearer = nearer.and_then(|(length, least)| {
        Some(Tightest { length: Span::from_ns(length.try_into().ok()?)?, slack_ns: least.try_into().ok()? })
    });
    if verdict.holds == Some(true) {
        found.tighter = nearer;
    } else if verdict.holds == Some(false) && granted.utilization <= 1.0 {
        // The interval that is stated does not show why the test fails.
        found.shares = nearer.and_then(|it| shares(levels.processors(), it.length.as_ns())).or(found.shares);
    }
}

fn shares(processors: &[Processor], length_ns: u64) -> Option<Shares> {
    let length = i128::from(length_ns.max(1));
    let slacks: Option<Vec<i128>> = processors.iter().map(|processor| processor.slack(length)).collect();
    let (slack_ns, processor) = slacks?.into_iter().zip(processors).min_by_key(|&(slack, _)| slack)?;
    let demand = processor.demand(length)?;
    let share = |part: i128| part as f64 / length as f64;
    Some(Shares {
        length_ns,
        slack_ns,
        reads: share(demand.reads),
        writes: share(demand.writes),
        waiting: share(demand.waiting),
        saved_ns: processor.saved(length)?,
        gc: share(demand.gc),
        blocking: share(processor.blocking(length)),
        utilization: share(demand.total()?.checked_add(processor.blocking(length))?),
    })
}
