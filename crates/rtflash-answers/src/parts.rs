//! Parts that answers share: names, times, certificates.

use std::borrow::Cow;

use rtflash_analysis::Fraction;
use rtflash_model::{Certificate, ChipId, Reliance, TaskId, TaskSet};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::value::RawValue;

/// A text of an answer: borrowed by who writes, owned by who reads.
pub type Text<'a> = Cow<'a, str>;

/// The task set's own `meta`, as it was written.
pub type RawMeta<'a> = Cow<'a, RawValue>;

/// Reads a `meta` that is there, be it `null`.
pub(crate) fn meta<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<RawMeta<'static>>, D::Error> {
    Box::<RawValue>::deserialize(deserializer).map(|meta| Some(Cow::Owned(meta)))
}

/// A cluster's certificate: docs/analysis.md.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CertificateAnswer {
    /// How pages are placed: `stripe`, `cached-stripe`, `superblock`, `cached-superblock` or
    /// `zoned`.
    pub kind: Text<'static>,
    /// D_g: relative deadline of a GC job; null where no real-time task writes.
    pub gc_deadline_ns: Option<u64>,
    /// α: pages that a pass reclaims, at least; null, as the next three, where nothing is ever
    /// written.
    pub reclaimed_pages: Option<u64>,
    /// H: free pages kept in reserve.
    pub reserve_pages: Option<u64>,
    /// v: valid pages of a victim, at most.
    pub victim_pages: Option<u64>,
    /// F: blocks that cannot be victims, at most.
    pub open_blocks: Option<u64>,
    /// U_s in thousandths, of each chip of a stripe.
    pub server_thousandths: u32,
    /// The tightest interval L; null without tasks.
    pub tightest_ns: Option<u64>,
    /// The rest of it beside demand, blocking and the server, rounded down. It is below zero if the
    /// test fails.
    pub slack_ns: Option<i64>,
    /// False where a superblock may not backfill, so that what is promised holds; else left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backfill: Option<bool>,
}

impl CertificateAnswer {
    /// The certificate as it is written.
    pub fn new(certificate: &Certificate) -> CertificateAnswer {
        let (gc, tightest) = (certificate.collection, certificate.tightest);
        CertificateAnswer {
            kind: certificate.placement.name().into(),
            gc_deadline_ns: gc.and_then(|gc| gc.deadline).map(rtflash_model::Span::as_ns),
            reclaimed_pages: gc.map(|gc| gc.reclaimed_pages),
            reserve_pages: gc.map(|gc| gc.reserve_pages),
            victim_pages: gc.map(|gc| gc.victim_pages),
            open_blocks: gc.map(|gc| gc.open_blocks),
            server_thousandths: certificate.server_thousandths,
            tightest_ns: tightest.map(|tightest| tightest.length.as_ns()),
            slack_ns: tightest.map(|tightest| tightest.slack_ns),
            backfill: (!certificate.backfill).then_some(false),
        }
    }
}

/// A time in nanoseconds that need not be whole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Nanoseconds {
    /// A whole number, exactly.
    Whole(u128),
    /// The double next to a number that is not whole.
    Fractional(f64),
}

impl From<Fraction> for Nanoseconds {
    fn from(exact: Fraction) -> Nanoseconds {
        match exact.is_whole() {
            true => Nanoseconds::Whole(exact.floor()),
            false => Nanoseconds::Fractional(exact.to_f64()),
        }
    }
}

impl Nanoseconds {
    /// The double next to it.
    pub fn to_f64(self) -> f64 {
        match self {
            Nanoseconds::Whole(whole) => whole as f64,
            Nanoseconds::Fractional(double) => double,
        }
    }
}

impl Serialize for Nanoseconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Nanoseconds::Whole(whole) => serializer.serialize_u128(whole),
            Nanoseconds::Fractional(double) => serializer.serialize_f64(double),
        }
    }
}

impl<'de> Deserialize<'de> for Nanoseconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Nanoseconds, D::Error> {
        // As text: a number beyond 64 bits is to stay whole.
        let text = Box::<RawValue>::deserialize(deserializer)?;
        let whole = text.get().parse().map(Nanoseconds::Whole);
        whole.or_else(|_| serde_json::from_str(text.get()).map(Nanoseconds::Fractional)).map_err(de::Error::custom)
    }
}

impl JsonSchema for Nanoseconds {
    fn schema_name() -> Cow<'static, str> {
        "Nanoseconds".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({ "type": "number", "exclusiveMinimum": 0 })
    }
}

/// The name of a task of the set; empty if there is no such task.
pub fn task_name(set: &TaskSet, task: TaskId) -> &str {
    set.tasks().get(task).map_or("", |task| task.name.as_str())
}

/// The names of tasks of the set.
pub(crate) fn task_names<'a>(set: &'a TaskSet, tasks: &[TaskId]) -> Vec<Text<'a>> {
    tasks.iter().map(|&task| task_name(set, task).into()).collect()
}

/// The numbers of chips.
pub(crate) fn chip_numbers(chips: &[ChipId]) -> Vec<u32> {
    chips.iter().map(|chip| chip.0).collect()
}

/// The name of a reliance.
pub(crate) fn reliance_name(reliance: Option<Reliance>) -> Option<Text<'static>> {
    reliance.map(|reliance| reliance.name().into())
}
