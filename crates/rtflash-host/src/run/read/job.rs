//! Jobs in JSON.

use rtflash_model::reading::{Place, Reader};
use rtflash_model::{Instant, Span};

use super::{MAX_COMMANDS, instant};
use crate::file::{ObjectField, above_zero, bytes_above_zero, class, level, op, time_above_zero};
use crate::host::Host;
use crate::run::job::{Job, JobPattern, JobReleases};
use crate::run::releases::WriteBack;
use crate::{Class, Op};

const FIELDS: [&str; 21] = [
    "name",
    "op",
    "pattern",
    "from",
    "span",
    "size",
    "class",
    "level",
    "cpu",
    "user_centric",
    "submit",
    "every",
    "jitter",
    "depth",
    "think",
    "rate",
    "flush",
    "phase",
    "until",
    "count",
    "deadline",
];

/// A job.
pub(super) fn job<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>, host: &Host) -> Option<Job> {
    let mut fields = ObjectField::open(reader, raw, place, FIELDS)?;
    let name = fields.required(raw, "name", "a string that tells it from the others", |reader, raw, place| {
        reader.string(raw, place, "a string")
    });
    let op = fields.required(raw, "op", "`read` or `write`, in a string", op);
    let pattern = fields.or("pattern", JobPattern::Sequential, pattern);
    let from = fields.or("from", 0, |reader, raw, place| reader.bytes(raw, place));
    let size = fields.required(raw, "size", "bytes with their unit, such as \"64KiB\"", bytes_above_zero);
    let span = fields.or("span", None, |reader, raw, place| span(reader, raw, place, size).map(Some));
    let class = fields.or("class", Class::default(), class);
    let level = fields.or("level", 4, level);
    let cpu = fields.or("cpu", 0, |reader, raw, place| core(reader, raw, place, host));
    let user_centric = fields.or("user_centric", false, |reader, raw, place| reader.truth(raw, place));
    let is_async = fields.or("submit", false, is_async);
    let every = fields.or("every", None, |reader, raw, place| time_above_zero(reader, raw, place).map(Some));
    let jitter = fields.or("jitter", Span::ZERO, Reader::time);
    let depth = fields.or("depth", 1, depth);
    let think = fields.or("think", Span::ZERO, Reader::time);
    let rate = fields.or("rate", None, |reader, raw, place| bytes_above_zero(reader, raw, place).map(Some));
    let flush = fields.or("flush", None, |reader, raw, place| time_above_zero(reader, raw, place).map(Some));
    let phase = fields.or("phase", Instant::START, instant);
    let until = fields.or("until", None, |reader, raw, place| until(reader, raw, place, phase).map(Some));
    let count = fields.or("count", None, |reader, raw, place| reader.whole(raw, place, u64::MAX).map(Some));
    let deadline = fields.or("deadline", None, |reader, raw, place| deadline(reader, raw, place, class).map(Some));
    let given = ["every", "depth", "think", "jitter", "rate", "flush"].map(|name| fields.has(name));
    contradictions(reader, raw, place, given, op);
    late(reader, raw, place, every, jitter);
    if pattern == JobPattern::Random && span.is_none() {
        reader.refuse(raw, place, "a random job without `span`", "`span`: how long its stretch of the device is");
    }
    let (name, size) = (name?, size?);
    if from.checked_add(span.unwrap_or(size)).is_none() {
        reader.refuse(raw, place, "it ends beyond 2^64 bytes", "`from` and `span` that stay below together");
    }
    let releases = match (every, rate, flush) {
        (Some(period), ..) => JobReleases::Every { period, jitter },
        (None, Some(rate), Some(flush)) => JobReleases::WriteBack(WriteBack { rate, flush }),
        (None, ..) => JobReleases::Closed { depth, think },
    };
    Some(Job {
        name,
        op: op.unwrap_or(Op::Read),
        pattern,
        from,
        span,
        size,
        class,
        level,
        cpu,
        user_centric,
        is_async,
        pace: rate.filter(|_| matches!(releases, JobReleases::Closed { .. })),
        releases,
        phase,
        count,
        until,
        deadline,
    })
}

/// A limit that bounds can be compared with: those of real-time jobs.
fn deadline<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>, class: Class) -> Option<Span> {
    if class != Class::RealTime {
        let problem = "a deadline of a job that is not real-time";
        reader.refuse(raw, place, problem, "`class` `rt`, or no `deadline`");
    }
    time_above_zero(reader, raw, place)
}

/// Releases that the next ones may overtake.
fn late<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>, every: Option<Span>, jitter: Span) {
    if every.is_some_and(|period| jitter >= period) {
        let problem = "a release may be as late as the next one is due";
        reader.refuse(raw, &place.key("jitter"), problem, "a jitter below the period");
    }
}

fn pattern<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<JobPattern> {
    let at = reader.choice(raw, place, "pattern", &["sequential", "random"])?;
    Some([JobPattern::Sequential, JobPattern::Random][at])
}

fn is_async<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<bool> {
    reader.choice(raw, place, "way to submit", &["sync", "async"]).map(|at| at == 1)
}

/// Bytes for one I/O of that size at least.
fn span<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>, size: Option<u64>) -> Option<u64> {
    let span = bytes_above_zero(reader, raw, place)?;
    if size.is_some_and(|size| span < size) {
        reader.refuse(raw, place, "`span` is shorter than an I/O", "bytes for one I/O at least");
    }
    Some(span)
}

/// A core of the host.
fn core<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>, host: &Host) -> Option<u32> {
    let cpu = reader.whole_u32(raw, place)?;
    if cpu >= host.cpus {
        let problem = format!("there is no core {cpu}: the host has {}", host.cpus);
        reader.refuse(raw, place, problem, "a core from 0 up to `cpus` of `host`, without that");
    }
    Some(cpu)
}

/// I/Os at a time.
fn depth<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<u32> {
    let depth = above_zero(reader, raw, place)?;
    if u64::from(depth) > MAX_COMMANDS {
        reader.refuse(raw, place, format!("{depth} I/Os at a time"), format!("at most {MAX_COMMANDS}"));
    }
    Some(depth)
}

/// A time behind the phase.
fn until<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>, phase: Instant) -> Option<Instant> {
    let until = instant(reader, raw, place)?;
    if until <= phase {
        reader.refuse(raw, place, format!("it begins only at {phase}"), "a time behind `phase`");
    }
    Some(until)
}

/// Fields that say different things of when I/Os are released.
fn contradictions(
    reader: &mut Reader<'_>,
    raw: &str,
    place: &Place<'_>,
    [every, depth, think, jitter, rate, flush]: [bool; 6],
    op: Option<Op>,
) {
    if every && (depth || think) {
        let problem = "a job with a period, and with I/Os that are replaced";
        reader.refuse(raw, place, problem, "`every` and `jitter`, or `depth` and `think`");
    }
    if every && (rate || flush) {
        let problem = "a job with a period, and with a rate";
        reader.refuse(raw, place, problem, "`every`, or `rate` with `flush`, or `rate` with `depth` and `think`");
    }
    if jitter && !every {
        reader.refuse(raw, &place.key("jitter"), "`jitter` of a job without `every`", "`every` beside it");
    }
    if flush && !rate {
        reader.refuse(raw, &place.key("flush"), "`flush` of a job without `rate`", "`rate` beside it: bytes a second");
    }
    if flush && (depth || think) {
        let problem = "a job that writes back, and has I/Os that are replaced";
        reader.refuse(raw, place, problem, "`rate` and `flush`, or `depth` and `think`");
    }
    if flush && op.is_some_and(|op| op != Op::Write) {
        reader.refuse(raw, &place.key("flush"), "only writes are written back", "`op` `write`, or no `flush`");
    }
}
