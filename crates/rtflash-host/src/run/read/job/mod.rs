//! Jobs in JSON.

mod steps;
mod variety;

use std::collections::HashMap;

use rtflash_model::reading::{Place, Reader};
use rtflash_model::{Instant, Span};

use self::variety::{Variety, begins, mix};
use super::MAX_COMMANDS;
use super::instant;
use crate::file::{ObjectField, above_zero, bytes_above_zero, op, time_above_zero};
use crate::host::Host;
use crate::run::chain::ChainStep;
use crate::run::job::{Job, JobPattern, JobReleases, MixedIo};
use crate::run::releases::WriteBack;
use crate::{Class, Op};

const FIELDS: [&str; 33] = [
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
    "mix",
    "align",
    "total",
    "think_after",
    "rate_iops",
    "arrivals",
    "burst",
    "after",
    "ramp",
    "fsync",
    "steps",
    "buffered",
];

/// The host and the jobs that a job can refer to.
pub(super) struct JobsBefore<'a> {
    pub(super) host: &'a Host,
    /// The jobs before it, by name.
    pub(super) positions: &'a HashMap<String, usize>,
}

/// Fields that fit some jobs alone.
const GIVEN_LATE: [&str; 7] = ["rate_iops", "arrivals", "burst", "think_after", "mix", "op", "fsync"];

/// A job.
pub(super) fn job<'t>(
    reader: &mut Reader<'t>,
    raw: &'t str,
    place: &Place<'_>,
    before: &JobsBefore<'_>,
) -> Option<Job> {
    let mut fields = ObjectField::open(reader, raw, place, FIELDS)?;
    let name = fields.required(raw, "name", "a string that tells it from the others", |reader, raw, place| {
        reader.string(raw, place, "a string")
    });
    let mix = fields.or("mix", Vec::new(), mix);
    let steps = fields.or("steps", Vec::new(), steps::steps);
    let has_steps = fields.has("steps");
    let first = mix.first().copied().or(steps.iter().find_map(ChainStep::io));
    let (op, size) = if has_steps { (None, None) } else { kind(&mut fields, raw, first) };
    let (op, size) = (op.or(first.map(|io| io.op)), size.or(first.map(|io| io.size)));
    let longest = mix.iter().map(|io| io.size).max().or(size);
    let pattern = fields.or("pattern", JobPattern::Sequential, pattern);
    let begins = fields.or("from", vec![0], begins);
    let span = fields.maybe("span", |reader, raw, place| span(reader, raw, place, longest));
    let every = fields.maybe("every", time_above_zero);
    let jitter = fields.or("jitter", Span::ZERO, Reader::time);
    let depth = fields.or("depth", 1, depth);
    let think = fields.or("think", Span::ZERO, Reader::time);
    let variety = Variety::read(&mut fields, before);
    let flush = fields.maybe("flush", time_above_zero);
    let class = variety.job.class;
    let deadline = fields.maybe("deadline", |reader, raw, place| deadline(reader, raw, place, class));
    let given = ["every", "depth", "think", "jitter", "rate", "flush"].map(|name| fields.has(name));
    let given_late = GIVEN_LATE.map(|name| fields.has(name));
    let misfits = steps::misfits(has_steps, |name| fields.has(name));
    steps::refuse(reader, raw, place, misfits);
    contradictions(reader, raw, place, given, op);
    late(reader, raw, place, every, jitter);
    variety::contradictions(reader, raw, place, given, given_late);
    let (name, size) = (name?, size?);
    let releases = match (every, variety.rate, flush) {
        (Some(period), ..) => JobReleases::Every { period, jitter },
        (None, Some(rate), Some(flush)) => JobReleases::WriteBack(WriteBack { rate, flush }),
        (None, ..) => JobReleases::Closed { depth, think },
    };
    let pace = variety.rate.filter(|_| matches!(releases, JobReleases::Closed { .. }));
    let job = Job {
        name,
        op: op.unwrap_or(Op::Read),
        pattern,
        from: *begins.first()?,
        span,
        size,
        releases,
        pace,
        deadline,
        mix,
        stretches: begins[1..].to_vec(),
        steps,
        ..variety.job
    };
    together(reader, raw, place, &job, before.host);
    Some(job)
}

/// Operation and size of the I/Os of a job, which are not stated where it has others.
fn kind<const N: usize>(
    fields: &mut ObjectField<'_, '_, '_, N>,
    raw: &str,
    others: Option<MixedIo>,
) -> (Option<Op>, Option<u64>) {
    if others.is_some() {
        return (None, None);
    }
    let op = fields.required(raw, "op", "`read` or `write`, in a string", op);
    (op, fields.required(raw, "size", "bytes with their unit, such as \"64KiB\"", bytes_above_zero))
}

/// A limit that bounds can be compared with. Real-time jobs alone have bounds.
fn deadline<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>, class: Class) -> Option<Span> {
    if class != Class::RealTime {
        let problem = "a deadline of a job that is not real-time";
        reader.refuse(raw, place, problem, "`class` `rt`, or no `deadline`");
    }
    time_above_zero(reader, raw, place)
}

/// States the faults that fields make together.
fn together(reader: &mut Reader<'_>, raw: &str, place: &Place<'_>, job: &Job, host: &Host) {
    misplaced(reader, raw, place, job);
    unbuffered(reader, raw, place, job, host);
}

/// States the faults of the places of a job.
fn misplaced(reader: &mut Reader<'_>, raw: &str, place: &Place<'_>, job: &Job) {
    if job.pattern != JobPattern::Sequential && job.span.is_none() {
        reader.refuse(raw, place, "a random job without `span`", "`span`: how long its stretch of the device is");
    }
    let length = job.span.or(job.ios().map(|io| io.size).max()).unwrap_or(job.size);
    let mut begins = std::iter::once(&job.from).chain(&job.stretches);
    if begins.any(|begin| begin.checked_add(length).is_none()) {
        reader.refuse(raw, place, "it ends beyond 2^64 bytes", "`from` and `span` that stay below together");
    }
}

/// States why a job cannot write into memory.
fn unbuffered(reader: &mut Reader<'_>, raw: &str, place: &Place<'_>, job: &Job, host: &Host) {
    if !job.is_buffered {
        return;
    }
    let mut refuse = |problem: &str, expected: &str| reader.refuse(raw, &place.key("buffered"), problem, expected);
    if host.page_cache.is_none() {
        refuse("the host has no page cache", "`page_cache` in `host`, with `background`, `dirty` and `copy`");
    }
    if !job.writes_into_memory() {
        refuse("the job writes nothing", "`op` `write`, or no `buffered`");
    }
    if job.writes_back() {
        refuse("a job that is buffered, and has a `flush` of its own", "`buffered`, or `flush`");
    }
    if job.is_async {
        refuse("buffered writes are synchronous", "no `submit`");
    }
}

/// Releases that the next ones may overtake.
fn late<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>, every: Option<Span>, jitter: Span) {
    if every.is_some_and(|period| jitter >= period) {
        let problem = "a release may be as late as the next one is due";
        reader.refuse(raw, &place.key("jitter"), problem, "a jitter below the period");
    }
}

fn pattern<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<JobPattern> {
    let at = reader.choice(raw, place, "pattern", &["sequential", "random", "shuffled"])?;
    Some([JobPattern::Sequential, JobPattern::Random, JobPattern::Shuffled][at])
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
