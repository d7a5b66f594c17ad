//! The fields that make a job more than a stream of like I/Os.

use rtflash_model::reading::{JsonKind, Place, Reader, quote};
use rtflash_model::{Instant, Span};

use super::{JobsBefore, core, instant, is_async, until};
use crate::file::{ObjectField, above_zero, bytes_above_zero, class, level, op, time_above_zero};
use crate::run::job::{Job, JobPace, MixedIo, ThinkAfter};
use crate::{Class, Op};

/// I/Os that a job can draw from, and stretches that it can go round.
const MAX_LIST: usize = 1 << 12;

/// The fields of a job that this file reads.
pub(super) struct Variety {
    /// The rate of all operations.
    pub(super) rate: Option<u64>,
    /// A job that has the rest of them.
    pub(super) job: Job,
}

impl Variety {
    pub(super) fn read<const N: usize>(fields: &mut ObjectField<'_, '_, '_, N>, before: &JobsBefore<'_>) -> Variety {
        let rates =
            fields.or("rate", [None; 3], |reader, raw, place| by_operation(reader, raw, place, bytes_above_zero));
        let is_one = rates[0].is_some() && rates.iter().all(|rate| *rate == rates[0]);
        let ios = fields.or("rate_iops", [None; 3], |reader, raw, place| by_operation(reader, raw, place, io_rate));
        let paces = [0, 1, 2]
            .map(|kind: usize| ios[kind].map(JobPace::Ios).or(rates[kind].filter(|_| !is_one).map(JobPace::Bytes)));
        let phase = fields.or("phase", Instant::START, instant);
        let job = Job {
            class: fields.or("class", Class::default(), class),
            level: fields.or("level", 4, level),
            cpu: fields.or("cpu", 0, |reader, raw, place| core(reader, raw, place, before.host)),
            user_centric: fields.or("user_centric", false, |reader, raw, place| reader.truth(raw, place)),
            is_async: fields.or("submit", false, is_async),
            phase,
            until: fields.maybe("until", |reader, raw, place| until(reader, raw, place, phase)),
            count: fields.maybe("count", |reader, raw, place| reader.whole(raw, place, u64::MAX)),
            paces,
            align: fields.maybe("align", bytes_above_zero),
            total: fields.maybe("total", bytes_above_zero),
            think_after: fields.or("think_after", ThinkAfter::Each, think_after),
            is_poisson: fields.or("arrivals", false, |reader, raw, place| {
                reader.choice(raw, place, "way to arrive", &["even", "poisson"]).map(|at| at == 1)
            }),
            burst: fields.or("burst", 1, above_zero),
            after: fields.or("after", Vec::new(), |reader, raw, place| Some(after(reader, raw, place, before))),
            fsync: fields.maybe("fsync", above_zero),
            is_buffered: fields.or("buffered", false, |reader, raw, place| reader.truth(raw, place)),
            ramp: fields.or("ramp", Span::ZERO, Reader::time),
            ..Job::default()
        };
        Variety { rate: rates[0].filter(|_| is_one), job }
    }
}

/// A value for each of reads, writes and all others: one for all, or an object.
fn by_operation<'t, T: Copy>(
    reader: &mut Reader<'t>,
    raw: &'t str,
    place: &Place<'_>,
    mut value: impl FnMut(&mut Reader<'t>, &'t str, &Place<'_>) -> Option<T>,
) -> Option<[Option<T>; 3]> {
    if JsonKind::of(raw) != JsonKind::Object {
        return value(reader, raw, place).map(|value| [Some(value); 3]);
    }
    let mut fields = ObjectField::open(reader, raw, place, ["read", "write", "other"])?;
    let mut of = |name| fields.maybe(name, &mut value);
    Some([of("read"), of("write"), of("other")])
}

/// I/Os a second.
fn io_rate(reader: &mut Reader<'_>, raw: &str, place: &Place<'_>) -> Option<u64> {
    above_zero(reader, raw, place).map(u64::from)
}

/// I/Os, or a time.
fn think_after(reader: &mut Reader<'_>, raw: &str, place: &Place<'_>) -> Option<ThinkAfter> {
    if JsonKind::of(raw) == JsonKind::Text {
        return time_above_zero(reader, raw, place).map(ThinkAfter::Time);
    }
    above_zero(reader, raw, place).map(ThinkAfter::Ios)
}

/// Jobs before this one, by name: one, or a list.
fn after<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>, before: &JobsBefore<'_>) -> Vec<usize> {
    let mut after = Vec::new();
    let mut one = |reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>| {
        let Some(name) = reader.string(raw, place, "the name of a job before this one") else { return };
        match before.positions.get(&name) {
            Some(position) => after.push(*position),
            None => {
                let problem = format!("no job before this one is called {}", quote(&name));
                reader.refuse(raw, place, problem, "the name of a job before this one");
            }
        }
    };
    if JsonKind::of(raw) == JsonKind::Array {
        reader.list(raw, place, "names of jobs before this one", one);
    } else {
        one(reader, raw, place);
    }
    after.sort_unstable();
    after.dedup();
    after
}

/// The begins of a job's stretches: bytes, or a list of them.
pub(super) fn begins<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<Vec<u64>> {
    if JsonKind::of(raw) != JsonKind::Array {
        return reader.bytes(raw, place).map(|from| vec![from]);
    }
    let mut begins = Vec::new();
    reader.list(raw, place, "bytes at which stretches begin", |reader, raw, place| {
        begins.extend(reader.bytes(raw, place));
    });
    in_number(reader, raw, place, begins.len())?;
    Some(begins)
}

/// I/Os of different operations or sizes.
pub(super) fn mix<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<Vec<MixedIo>> {
    let mut mix = Vec::new();
    reader.list(raw, place, "I/Os, each an object with `op` and `size`", |reader, raw, place| {
        if let Some(mut fields) = ObjectField::open(reader, raw, place, ["op", "size", "share"]) {
            let op: Option<Op> = fields.required(raw, "op", "`read` or `write`, in a string", op);
            let size = fields.required(raw, "size", "bytes with their unit, such as \"4KiB\"", bytes_above_zero);
            let share = fields.or("share", 1, above_zero);
            mix.extend(op.zip(size).map(|(op, size)| MixedIo { op, size, share: share.into() }));
        }
    });
    in_number(reader, raw, place, mix.len())?;
    Some(mix)
}

/// Whether a list is neither empty nor too long.
pub(super) fn in_number(reader: &mut Reader<'_>, raw: &str, place: &Place<'_>, number: usize) -> Option<()> {
    if reader.faults() == 0 && !(1..=MAX_LIST).contains(&number) {
        reader.refuse(raw, place, format!("{number} entries"), format!("from 1 to {MAX_LIST}"));
    }
    (1..=MAX_LIST).contains(&number).then_some(())
}

/// Fields that fit some jobs alone.
pub(super) fn contradictions(
    reader: &mut Reader<'_>,
    raw: &str,
    place: &Place<'_>,
    [every, _, think, _, rate, flush]: [bool; 6],
    [rate_iops, arrivals, burst, think_after, mix, op, fsync]: [bool; 7],
) {
    let mut refuse = |name: &'static str, problem: &str, expected: &str| {
        reader.refuse(raw, &place.key(name), problem.to_owned(), expected.to_owned());
    };
    if rate_iops && (every || flush || rate) {
        refuse("rate_iops", "a job with two paces", "one of `every`, `rate` and `rate_iops`");
    }
    if arrivals && !(every || rate_iops || (rate && !flush)) {
        refuse("arrivals", "`arrivals` of a job without a pace", "`every`, `rate` or `rate_iops` beside it");
    }
    if burst && !every {
        refuse("burst", "`burst` of a job without `every`", "`every` beside it");
    }
    if think_after && !think {
        refuse("think_after", "`think_after` of a job without `think`", "`think` beside it");
    }
    if mix && op {
        refuse("op", "a job with `op`, and with a `mix` of I/Os", "one of both");
    }
    if fsync && flush {
        refuse("fsync", "a job that writes back, and flushes the device's cache", "`fsync`, or `rate` and `flush`");
    }
    if mix && flush {
        refuse("mix", "a job that writes back, and has a `mix` of I/Os", "`op` and `size`");
    }
}
