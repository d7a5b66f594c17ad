//! Chains in JSON.

use rtflash_model::Span;
use rtflash_model::reading::{Place, Reader};

use super::variety::in_number;
use super::{pattern, span};
use crate::Op;
use crate::file::{ObjectField, above_zero, bytes_above_zero};
use crate::run::chain::{ChainStep, ChainWork};
use crate::run::job::JobPattern;
use crate::run::read::MAX_COMMANDS;

/// Fields of a job that its steps have instead.
const OF_STEPS: [&str; 7] = ["op", "size", "mix", "pattern", "from", "span", "align"];

/// Fields that chains do not have.
const NOT_OF_CHAINS: [&str; 10] =
    ["buffered", "fsync", "depth", "submit", "rate", "rate_iops", "flush", "burst", "think_after", "total"];

/// The steps of a chain.
pub(super) fn steps<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<Vec<ChainStep>> {
    let mut steps = Vec::new();
    reader.list(raw, place, "steps, each an object with `op`", |reader, raw, place| {
        steps.extend(step(reader, raw, place));
    });
    in_number(reader, raw, place, steps.len())?;
    let ios = steps.iter().fold(0, |sum: u64, step| sum.saturating_add(step.times.into()));
    if ios > MAX_COMMANDS {
        reader.refuse(raw, place, format!("a chain of {ios} I/Os"), format!("at most {MAX_COMMANDS}"));
    }
    if reader.faults() == 0 && steps.iter().all(|step| step.io().is_none()) {
        reader.refuse(raw, place, "a chain without an I/O", "a step with `op` and `size`");
    }
    Some(steps)
}

/// A step: I/Os, or flushes.
fn step<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<ChainStep> {
    let names = ["op", "size", "pattern", "from", "span", "times", "think", "fua"];
    let mut fields = ObjectField::open(reader, raw, place, names)?;
    let op = fields.required(raw, "op", "`read`, `write` or `flush`, in a string", work)?;
    let of_ios = ["size", "pattern", "from", "span"].map(|name| (name, fields.has(name)));
    let size = match op {
        Some(_) => fields.required(raw, "size", "bytes with their unit, such as \"64KiB\"", bytes_above_zero)?,
        None => 0,
    };
    let pattern = fields.or("pattern", JobPattern::Sequential, pattern);
    let from = fields.or("from", 0, Reader::bytes);
    let span = fields.maybe("span", |reader, raw, place| span(reader, raw, place, Some(size)));
    let times = fields.or("times", 1, above_zero);
    let fua = fields.or("fua", false, Reader::truth);
    let think = fields.or("think", Span::ZERO, Reader::time);
    if let (None, Some((name, _))) = (op, of_ios.iter().find(|(_, is_given)| *is_given)) {
        reader.refuse(raw, &place.key(name), "a flush has no place and no size", "`op`, `times` and `think` alone");
    }
    if fua && op != Some(Op::Write) {
        reader.refuse(raw, &place.key("fua"), "`fua` of a step that does not write", "`op` `write` beside it");
    }
    if pattern != JobPattern::Sequential && span.is_none() {
        reader.refuse(raw, place, "a random step without `span`", "`span`: how long its stretch of the device is");
    }
    if from.checked_add(span.unwrap_or(size)).is_none() {
        reader.refuse(raw, place, "it ends beyond 2^64 bytes", "`from` and `span` that stay below together");
    }
    let work = op.map_or(ChainWork::Flush, |op| ChainWork::Io { op, size });
    Some(ChainStep { work, pattern, from, span, times, think, fua })
}

/// The operation of a step; `None` for a flush.
fn work<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<Option<Op>> {
    let names: Vec<&str> = Op::ALL.map(Op::name).into_iter().chain(["flush"]).collect();
    reader.choice(raw, place, "operation", &names).map(|at| Op::ALL.get(at).copied())
}

/// The fields of a job with steps that do not belong to a chain, and what does instead.
pub(super) fn misfits(has_steps: bool, has: impl Fn(&str) -> bool) -> Vec<(&'static str, &'static str)> {
    let of_steps = OF_STEPS.into_iter().map(|name| (name, "it in each step"));
    let others = NOT_OF_CHAINS.into_iter().map(|name| (name, "`every`, `jitter` and `arrivals`, or `think`"));
    of_steps.chain(others).filter(|(name, _)| has_steps && has(name)).collect()
}

/// States these fields.
pub(super) fn refuse(
    reader: &mut Reader<'_>,
    raw: &str,
    place: &Place<'_>,
    misfits: Vec<(&'static str, &'static str)>,
) {
    for (name, instead) in misfits {
        reader.refuse(raw, &place.key(name), format!("`{name}` of a job with `steps`"), instead);
    }
}
