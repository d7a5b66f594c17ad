//! The faults that a trace can have about levelled wear.

use rtflash_plan::BlockId;
use rtflash_trace::{Action, JobId, Kind, Operation, Record, Selection};

/// A trace is changed like this, `None` where it has nothing of the kind; and one of these checkers
/// speaks.
type Change = (&'static str, &'static [&'static str], fn(&mut Vec<Record>) -> Option<()>);

fn operations(records: &[Record]) -> impl Iterator<Item = &Operation> {
    records.iter().filter_map(|record| match record {
        Record::Operation(of) => Some(of),
        _ => None,
    })
}

/// The first block that pages are moved from: its job erases nothing, and copies something.
fn moved(records: &[Record]) -> Option<(usize, Selection)> {
    let does = |job: JobId, action: fn(&Operation) -> bool| operations(records).any(|of| of.job == job && action(of));
    records.iter().enumerate().find_map(|(at, record)| match record {
        Record::Selected(of)
            if !does(of.job, |of| of.action.erases()) && does(of.job, |of| of.action == Action::Program) =>
        {
            Some((at, *of))
        }
        _ => None,
    })
}

/// Another block is said to be it: one that is chosen later.
fn of_another(records: &mut [Record]) -> Option<()> {
    let (at, of) = moved(records)?;
    let other = records[at + 1..].iter().find_map(|record| match record {
        Record::Selected(other) if other.chip == of.chip && other.block != of.block => Some(*other),
        _ => None,
    })?;
    records[at] = Record::Selected(Selection { block: other.block, valid: other.valid, ..of });
    Some(())
}

/// A block is opened, and another one that is erased then is said to be it from then on.
fn out_of_order(records: &mut [Record]) -> Option<()> {
    let opened = |of: &&Operation| of.action == Action::Program && of.page == 0 && of.kind == Kind::Write;
    let all: Vec<Operation> = operations(records).copied().collect();
    let (of, other) = all.iter().filter(opened).find_map(|of| {
        // One that was erased before, and takes its next page later.
        let mut erases = all.iter().filter(|other| other.action == Action::Erase && other.chip == of.chip);
        let other = erases.find(|erase| {
            let next = all.iter().find(|it| it.chip == of.chip && it.block == erase.block && it.start >= erase.end);
            erase.end <= of.start && erase.block != of.block && next.is_some_and(|next| next.start > of.start)
        })?;
        Some((*of, other.block))
    })?;
    let swap = |block: &mut BlockId| {
        *block = match *block {
            it if it == of.block => other,
            it if it == other => of.block,
            it => it,
        }
    };
    for record in records.iter_mut() {
        match record {
            Record::Operation(it) if it.cluster == of.cluster && it.start >= of.start => swap(&mut it.block),
            Record::Selected(it) if it.cluster == of.cluster && it.at >= of.start => swap(&mut it.block),
            _ => {}
        }
    }
    Some(())
}

pub const WEAR: [Change; 4] = [
    ("pages of another block are moved", &["gc-left-out", "victim-choice", "copies"], |records| of_another(records)),
    ("another block is opened", &["levelled-wear"], |records| out_of_order(records)),
    ("more pages are moved than a victim has", &["victim-bound", "copies", "gc-left-out"], |records| {
        let (at, of) = moved(records)?;
        records[at] = Record::Selected(Selection { valid: of.valid + 1, ..of });
        Some(())
    }),
    ("a block is not said to be chosen", &["copies", "gc-left-out"], |records| {
        let (at, _) = moved(records)?;
        records.remove(at);
        Some(())
    }),
];
