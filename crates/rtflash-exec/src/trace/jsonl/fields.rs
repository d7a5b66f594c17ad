//! The fields of a line of a trace, and what may stand in them.

use std::borrow::Cow;

use rtflash_model::{Id, Instant};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::jobs::Kind;

/// A [`TraceError`] that does not know its line yet.
pub(super) struct Wrong {
    pub(super) problem: String,
    pub(super) expected: String,
}

pub(super) fn wrong(problem: impl Into<String>, expected: impl Into<String>) -> Wrong {
    Wrong { problem: problem.into(), expected: expected.into() }
}

/// All fields that lines have. Raw, so that what is wrong with one can be said of this one, and
/// `null` differs from nothing.
#[derive(Deserialize)]
pub(super) struct LineFields<'a> {
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) release: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) complete: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) starved: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) start: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) end: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) job: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) kind: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) deadline: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) pages: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) cluster: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) channel: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) chip: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) op: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) block: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) page: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) lpn: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) arrivals: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) server: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) victims: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) waits: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) backfill: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) arbitration: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) ties: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) aging: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) seed: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) duration: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) policed: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) changed: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) failed: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) stage: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) extra: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) reserve: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) arrived: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) free: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) left_out: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) moved: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) selected: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) valid: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) silent: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) forced: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) pending: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) step: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) trimmed: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) kept: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub(super) empty: Option<&'a RawValue>,
}

fn raw<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

pub(super) fn present<'a>(field: &str, value: Option<&'a RawValue>) -> Result<&'a RawValue, Wrong> {
    value.ok_or_else(|| wrong(format!("no `{field}`"), format!("the field `{field}` in such a line")))
}

pub(super) fn or_null<T>(
    value: &RawValue,
    read: impl FnOnce(&RawValue) -> Result<T, Wrong>,
) -> Result<Option<T>, Wrong> {
    if value.get() == "null" { Ok(None) } else { read(value).map(Some) }
}

/// A whole number up to `max`.
pub(super) fn number(field: &str, value: &RawValue, max: u64) -> Result<u64, Wrong> {
    let text = value.get();
    let plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse()
        .ok()
        .filter(|&number| plain && number <= max)
        .ok_or_else(|| wrong(format!("`{field}` is {}", shortened(text)), format!("a whole number from 0 to {max}")))
}

pub(super) fn instant(field: &str, value: &RawValue) -> Result<Instant, Wrong> {
    number(field, value, Instant::END.as_ns())
        .map(|nanoseconds| Instant::from_ns(nanoseconds).expect("nanoseconds up to the end of time"))
        .map_err(|wrong| Wrong { expected: "whole nanoseconds below 2^63".into(), ..wrong })
}

/// Yes or no; `default` where it is absent.
pub(super) fn flag(field: &str, value: Option<&RawValue>, default: bool) -> Result<bool, Wrong> {
    match value.map(RawValue::get) {
        None => Ok(default),
        Some("true") => Ok(true),
        Some("false") => Ok(false),
        Some(text) => Err(wrong(format!("`{field}` is {}", shortened(text)), "true or false")),
    }
}

/// A number below `count`.
pub(super) fn below(field: &str, value: Option<&RawValue>, count: u32) -> Result<u32, Wrong> {
    let value = present(field, value)?;
    let max = count.checked_sub(1).ok_or_else(|| wrong(format!("`{field}` where there is none"), "no such line"))?;
    number(field, value, max.into()).map(|number| u32::try_from(number).expect("a number up to one of 32 bits"))
}

/// A position among `count` things.
pub(super) fn position<I: Id>(field: &str, value: Option<&RawValue>, count: u32) -> Result<I, Wrong> {
    below(field, value, count).map(I::new)
}

pub(super) fn string<'a>(field: &str, value: &'a RawValue) -> Result<Cow<'a, str>, Wrong> {
    let text = value.get();
    // Nearly all names are free of escapes, and need no copy.
    match text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        Some(plain) if !plain.contains('\\') => Ok(Cow::Borrowed(plain)),
        _ => serde_json::from_str(text)
            .map(Cow::Owned)
            .map_err(|_| wrong(format!("`{field}` is {}", shortened(text)), "a string")),
    }
}

pub(super) fn kind(fields: &LineFields<'_>, allowed: &[Kind]) -> Result<Kind, Wrong> {
    let name = string("kind", present("kind", fields.kind)?)?;
    allowed.iter().copied().find(|&kind| kind.name() == name).ok_or_else(|| {
        let allowed: Vec<_> = allowed.iter().copied().map(Kind::name).collect();
        wrong(format!("`kind` is `{}`", shortened(&name)), format!("{} for this job", allowed.join(" or ")))
    })
}

/// As much of a text as helps in a message.
pub(super) fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(60) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}
