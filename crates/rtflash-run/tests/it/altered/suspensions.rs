//! The faults that a trace can have about suspended erases.

use rtflash_model::Span;
use rtflash_trace::{Action, Operation, Record};

/// A trace is changed like this, `None` where it has nothing of the kind; and one of these checkers
/// speaks.
type Change = (&'static str, &'static [&'static str], fn(&mut Vec<Record>) -> Option<()>);

/// The first operation like this.
fn first(records: &[Record], wanted: impl Fn(&Operation) -> bool) -> Option<(usize, Operation)> {
    records.iter().enumerate().find_map(|(at, record)| match record {
        Record::Operation(of) if wanted(of) => Some((at, *of)),
        _ => None,
    })
}

/// The first part of an erase.
fn part(records: &[Record]) -> Option<(usize, Operation)> {
    first(records, |of| of.action == Action::ErasePart)
}

/// How the erase goes on that this is a part of.
fn rest(records: &[Record], part: &Operation) -> Option<(usize, Operation)> {
    first(records, |of| of.start >= part.end && (of.chip, of.block) == (part.chip, part.block) && of.action.erases())
}

/// The first erase that is not suspended, of those that are long enough.
fn whole(records: &[Record]) -> Option<Operation> {
    let parts: Vec<Operation> = records
        .iter()
        .filter_map(|record| match record {
            Record::Operation(of) if of.action == Action::ErasePart => Some(*of),
            _ => None,
        })
        .collect();
    let is_whole = |of: &Operation| of.action == Action::Erase && !parts.iter().any(|part| part.job == of.job);
    first(records, is_whole).map(|(_, of)| of)
}

/// All erases of this one's step are said to be in two parts, with nothing between them.
fn in_two(records: &mut Vec<Record>, of: &Operation) {
    let middle = of.start.saturating_add(Span::from_us(300));
    let is_one = |it: &Operation| (it.job, it.start, it.action) == (of.job, of.start, of.action);
    let mut more = Vec::new();
    for record in records.iter_mut() {
        if let Record::Operation(it) = record
            && is_one(it)
        {
            more.push(Record::Operation(Operation { start: middle, ..*it }));
            (it.end, it.action) = (middle, Action::ErasePart);
        }
    }
    records.extend(more);
}

/// A part that is not the only one of its step: that of its last chip.
fn shared(records: &[Record]) -> Option<(usize, Operation)> {
    let (_, one) = part(records)?;
    let step = |of: &Operation| (of.job, of.start, of.action);
    first(records, |of| step(of) == step(&one) && of.chip > one.chip)
}

fn us(microseconds: u32) -> Span {
    Span::from_us(microseconds)
}

pub const SUSPENSIONS: [Change; 16] = [
    ("a part is not told", &["operation-lengths"], |records| {
        let (at, _) = part(records)?;
        records.remove(at);
        Some(())
    }),
    ("a part is said to be the whole", &["operation-lengths"], |records| {
        let (at, of) = part(records)?;
        records[at] = Record::Operation(Operation { action: Action::Erase, ..of });
        Some(())
    }),
    (
        "the end of an erase is said to be a part",
        &["operation-lengths", "copies", "page-order", "mapping"],
        |records| {
            let (_, of) = part(records)?;
            let (at, of) = rest(records, &of)?;
            records[at] = Record::Operation(Operation { action: Action::ErasePart, ..of });
            Some(())
        },
    ),
    ("a part goes on for longer", &["chip-exclusion", "blocking"], |records| {
        let (at, of) = part(records)?;
        let end = of.end.saturating_add(Span::from_us(5));
        records[at] = Record::Operation(Operation { end, ..of });
        Some(())
    }),
    ("another block is erased in part", &["copies"], |records| {
        let (at, mut of) = part(records)?;
        of.block.0 ^= 1;
        records[at] = Record::Operation(of);
        Some(())
    }),
    ("an erase is suspended without a reason", &["edf-order"], |records| {
        let of = whole(records)?;
        in_two(records, &of);
        Some(())
    }),
    ("a part is another kind of job's", &["conservation"], |records| {
        let (at, of) = part(records)?;
        let (_, other) = first(records, |it| it.chip == of.chip && it.job.source != of.job.source)?;
        records[at] = Record::Operation(Operation { kind: other.kind, job: other.job, ..of });
        Some(())
    }),
    ("one chip is suspended before the others", &["copies"], |records| {
        let (at, of) = shared(records)?;
        let end = of.start.saturating_add(of.end.since(of.start).saturating_sub(us(5)));
        records[at] = Record::Operation(Operation { end, ..of });
        Some(())
    }),
    ("one chip is suspended behind the others", &["copies"], |records| {
        let (at, of) = shared(records)?;
        records[at] = Record::Operation(Operation { end: of.end.saturating_add(us(5)), ..of });
        Some(())
    }),
    ("one chip is not suspended", &["copies"], |records| {
        let (at, of) = shared(records)?;
        let (rest, _) = rest(records, &of)?;
        let end = of.start.saturating_add(us(1_000));
        records[at] = Record::Operation(Operation { end, action: Action::Erase, ..of });
        records.remove(rest);
        Some(())
    }),
    ("one chip is not suspended, the first one", &["copies"], |records| {
        let (at, of) = part(records)?;
        shared(records)?;
        let (rest, _) = rest(records, &of)?;
        let end = of.start.saturating_add(us(1_000));
        records[at] = Record::Operation(Operation { end, action: Action::Erase, ..of });
        records.remove(rest);
        Some(())
    }),
    ("one chip goes on behind the others", &["copies"], |records| {
        let (_, of) = shared(records)?;
        let (at, of) = rest(records, &of)?;
        records[at] = Record::Operation(Operation { start: of.start.saturating_add(us(5)), ..of });
        Some(())
    }),
    ("one chip goes on before the others", &["copies"], |records| {
        let (_, of) = shared(records)?;
        let (_, of) = rest(records, &of)?;
        let is_other = |it: &Operation| (it.start, it.job) == (of.start, of.job) && it.chip != of.chip;
        for record in records {
            if let Record::Operation(it) = record
                && is_other(it)
            {
                it.start = it.start.saturating_add(us(5));
            }
        }
        Some(())
    }),
    ("one chip does not go on", &["copies"], |records| {
        let (_, of) = shared(records)?;
        let (at, _) = rest(records, &of)?;
        records.remove(at);
        Some(())
    }),
    ("one chip does not go on, and then the run ends", &["copies"], |records| {
        let (_, of) = shared(records)?;
        let (at, _) = rest(records, &of)?;
        records.truncate(at);
        Some(())
    }),
    ("one chip goes on twice", &["copies"], |records| {
        let (_, of) = shared(records)?;
        let (at, _) = rest(records, &of)?;
        records.insert(at, records[at]);
        Some(())
    }),
];
