//! The faults that a trace can have about trimmed pages.

use rtflash_trace::{Action, EmptyPage, Kind, Operation, Record, Trimmed};

/// A trace is changed like this, `None` where it has nothing of the kind; and one of these checkers
/// speaks.
type Change = (&'static str, &'static [&'static str], fn(&mut Vec<Record>) -> Option<()>);

fn place(records: &[Record], wanted: impl Fn(&Record) -> bool) -> Option<usize> {
    let found: Vec<usize> = (0..records.len()).filter(|&at| wanted(&records[at])).collect();
    found.get(found.len() / 2).copied()
}

/// The trim in the middle of those that are wanted.
fn trim(records: &mut [Record], wanted: impl Fn(&Trimmed) -> bool) -> Option<&mut Trimmed> {
    let at = place(records, |record| matches!(record, Record::Trimmed(it) if wanted(it)))?;
    match &mut records[at] {
        Record::Trimmed(trimmed) => Some(trimmed),
        _ => None,
    }
}

/// The page of a read is trimmed as it begins.
fn under_a_read(records: &mut Vec<Record>, kind: Kind) -> Option<()> {
    let reads = |it: &Operation| it.kind == kind && it.action == Action::Read;
    let at = place(records, |record| matches!(record, Record::Operation(it) if reads(it)))?;
    let Record::Operation(Operation { start: at, cluster, lpn, .. }) = records[at] else { return None };
    records.push(Record::Trimmed(Trimmed { at, cluster, lpn, pages: 1, kept: false }));
    Some(())
}

fn empty_page(records: &[Record]) -> Option<usize> {
    place(records, |record| matches!(record, Record::EmptyPage(_)))
}

pub const TRIMS: [Change; 9] = [
    ("a page is copied that was trimmed", &["mapping", "copies"], |records| under_a_read(records, Kind::Gc)),
    ("a page is read that was trimmed", &["mapping"], |records| under_a_read(records, Kind::Read)),
    ("pages are dropped that were not trimmed", &["mapping"], |records| {
        records.retain(|record| !matches!(record, Record::Trimmed(it) if !it.kept));
        Some(())
    }),
    ("the page that was programmed last is trimmed", &["mapping"], |records| {
        trim(records, |it| it.kept)?.kept = false;
        Some(())
    }),
    ("another page goes on holding what it holds", &["mapping"], |records| {
        // It holds something: it was not trimmed before.
        let first = records.iter().position(|record| matches!(record, Record::Trimmed(it) if !it.kept))?;
        let Record::Trimmed(it) = &mut records[first] else { return None };
        it.kept = true;
        Some(())
    }),
    ("pages of somebody else are trimmed", &["mapping"], |records| {
        trim(records, |it| !it.kept)?.pages += 64;
        Some(())
    }),
    ("a page that holds something is not read", &["mapping"], |records| {
        let reads = |it: &Operation| it.kind == Kind::Read && it.action == Action::Read;
        let at = place(records, |record| matches!(record, Record::Operation(it) if reads(it)))?;
        let Record::Operation(Operation { start: at, cluster, chip, lpn, job, .. }) = records[at] else { return None };
        records.push(Record::EmptyPage(EmptyPage { at, job, cluster, chip, lpn }));
        Some(())
    }),
    ("a page that is neither read nor empty", &["conservation"], |records| {
        records.remove(empty_page(records)?);
        Some(())
    }),
    ("a page is empty twice", &["conservation"], |records| {
        let at = empty_page(records)?;
        records.insert(at, records[at]);
        Some(())
    }),
];
