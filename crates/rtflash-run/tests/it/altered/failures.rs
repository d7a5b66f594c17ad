//! The faults that a trace can have about blocks that fail.

use rtflash_model::Span;
use rtflash_trace::{Action, Failed, Kind, NO_LPN, NONE, Operation, Record};

/// A trace is changed like this, `None` where it has nothing of the kind; and one of these checkers
/// speaks.
type Change = (&'static str, &'static [&'static str], fn(&mut Vec<Record>) -> Option<()>);

/// The first program that has failed, its operation, and the operation that repeats it.
fn failed(records: &[Record]) -> Option<(usize, usize, usize)> {
    let (at, failed) = records.iter().enumerate().find_map(|(at, record)| match record {
        Record::Failed(failed) if failed.page != NONE => Some((at, *failed)),
        _ => None,
    })?;
    let is_program = |record: &Record| {
        matches!(record, Record::Operation(of) if of.action == Action::Program
            && (of.chip, of.block, of.page) == (failed.chip, failed.block, failed.page))
    };
    let program = records[..at].iter().rposition(is_program)?;
    let Record::Operation(Operation { lpn, cluster, .. }) = records[program] else { return None };
    let repeats = |record: &Record| matches!(record, Record::Operation(of) if of.action == Action::Program && (of.cluster, of.lpn) == (cluster, lpn));
    let again = at + records[at..].iter().position(repeats)?;
    Some((program, at, again))
}

fn operation(records: &mut [Record], at: usize) -> &mut Operation {
    match &mut records[at] {
        Record::Operation(of) => of,
        other => unreachable!("{other:?}"),
    }
}

fn failure(records: &mut [Record], at: usize) -> &mut Failed {
    match &mut records[at] {
        Record::Failed(failed) => failed,
        other => unreachable!("{other:?}"),
    }
}

pub const FAILURES: [Change; 8] = [
    ("no failure is told", &["mapping", "conservation", "copies"], |records| {
        let before = records.len();
        records.retain(|record| !matches!(record, Record::Failed(_)));
        (records.len() < before).then_some(())
    }),
    ("a failure twice", &["failures"], |records| {
        let (_, at, _) = failed(records)?;
        records.push(records[at]);
        Some(())
    }),
    ("what has failed is not programmed once more", &["failures"], |records| {
        let (_, _, again) = failed(records)?;
        records.remove(again);
        Some(())
    }),
    ("another page is programmed first", &["failures"], |records| {
        let (_, _, again) = failed(records)?;
        let of = operation(records, again);
        of.lpn.0 = if of.lpn.0 >= 4 { of.lpn.0 - 4 } else { of.lpn.0 + 4 };
        Some(())
    }),
    ("it is programmed later", &["failures"], |records| {
        let (_, _, again) = failed(records)?;
        let of = operation(records, again);
        (of.start, of.end) = (of.start.saturating_add(Span::NANOSECOND), of.end.saturating_add(Span::NANOSECOND));
        // A copy inside a chip begins with its read.
        (of.kind != Kind::Gc).then_some(())
    }),
    ("another page has failed", &["conservation"], |records| {
        let (_, at, _) = failed(records)?;
        let of = failure(records, at);
        of.page = if of.page == 0 { 1 } else { of.page - 1 };
        Some(())
    }),
    ("a block that has failed is programmed", &["page-order"], |records| {
        let (program, _, again) = failed(records)?;
        let Operation { block, page, .. } = *operation(records, program);
        let of = operation(records, again);
        (of.block, of.page) = (block, page + 1);
        Some(())
    }),
    ("a block that has failed is erased", &["page-order"], |records| {
        let (program, _, again) = failed(records)?;
        let of = *operation(records, program);
        let start = operation(records, again).start;
        let erase = Operation { start, end: start.saturating_add(Span::from_us(1_000)), page: NONE, lpn: NO_LPN, ..of };
        records.push(Record::Operation(Operation { action: Action::Erase, ..erase }));
        Some(())
    }),
];
