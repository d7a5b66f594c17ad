//! The fields of a line of a trace, and what may stand in them.

use std::borrow::Cow;
use std::fmt;

use rtflash_model::{Id, Instant};
use serde::de::{self, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use rtflash_plan::Kind;

/// A [`TraceError`] that does not know its line yet.
pub(super) struct Wrong {
    pub(super) problem: String,
    pub(super) expected: String,
}

pub(super) fn wrong(problem: impl Into<String>, expected: impl Into<String>) -> Wrong {
    Wrong { problem: problem.into(), expected: expected.into() }
}

/// What stands in a field of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum FieldValue<'a> {
    Absent,
    Null,
    Flag(bool),
    Number(u64),
    /// A string without escapes.
    Text(&'a str),
    /// Any other JSON, as it is written.
    Other(&'a str),
}

impl<'a> FieldValue<'a> {
    /// The value that a JSON text stands for.
    pub(super) fn of(json: &'a str) -> FieldValue<'a> {
        let text = json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        match (json, text.filter(|text| !text.contains('\\'))) {
            ("null", _) => FieldValue::Null,
            ("true" | "false", _) => FieldValue::Flag(json == "true"),
            (_, Some(text)) => FieldValue::Text(text),
            _ => json.parse().map_or(FieldValue::Other(json), FieldValue::Number),
        }
    }
}

macro_rules! fields {
    ($($field:ident $name:literal)*) => {
        /// All fields that lines have.
        #[derive(Clone, Copy, Deserialize)]
        #[serde(field_identifier)]
        pub(super) enum Field {
            $(#[serde(rename = $name)] $field,)*
            #[serde(other)]
            Unknown,
        }

        /// The names of the fields, in the order of [`Field`].
        const NAMES: [&str; Field::Unknown as usize] = [$($name),*];
    };
}

fields! {
    Release "release" Complete "complete" Starved "starved" Start "start" End "end" Job "job" Kind "kind"
    Deadline "deadline" Pages "pages" Cluster "cluster" Channel "channel" Chip "chip" Op "op" Block "block"
    Page "page" Lpn "lpn" Arrivals "arrivals" Server "server" Victims "victims" Waits "waits"
    Backfill "backfill" Arbitration "arbitration" Ties "ties" Aging "aging" Seed "seed" Duration "duration"
    Policed "policed" Changed "changed" Failed "failed" Stage "stage" Extra "extra" Reserve "reserve"
    Arrived "arrived" Free "free" LeftOut "left_out" Moved "moved" Selected "selected" Valid "valid"
    Silent "silent" Forced "forced" Pending "pending" Step "step" Trimmed "trimmed" Kept "kept" Empty "empty"
}

/// The fields of a line, in the order of [`Field`].
#[derive(Debug, PartialEq)]
pub(super) struct LineFields<'a>([FieldValue<'a>; NAMES.len()]);

struct AllFields;

impl<'de> Visitor<'de> for AllFields {
    type Value = LineFields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<LineFields<'de>, A::Error> {
        let mut values = [FieldValue::Absent; NAMES.len()];
        while let Some(field) = map.next_key::<Field>()? {
            match values.get_mut(field as usize) {
                Some(value @ FieldValue::Absent) => *value = FieldValue::of(map.next_value::<&RawValue>()?.get()),
                Some(_) => return Err(de::Error::duplicate_field(NAMES[field as usize])),
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(LineFields(values))
    }
}

impl<'a> LineFields<'a> {
    /// The fields of a line that is a JSON object.
    pub(super) fn read(line: &'a str) -> serde_json::Result<LineFields<'a>> {
        let mut json = serde_json::Deserializer::from_str(line);
        let fields = json.deserialize_map(AllFields)?;
        json.end().map(|()| fields)
    }

    fn value(&self, field: Field) -> FieldValue<'a> {
        self.0[field as usize]
    }

    pub(super) fn has(&self, field: Field) -> bool {
        self.value(field) != FieldValue::Absent
    }

    /// What stands in a field that the line must have.
    pub(super) fn present(&self, field: Field) -> Result<FieldValue<'a>, Wrong> {
        let name = NAMES[field as usize];
        match self.value(field) {
            FieldValue::Absent => Err(wrong(format!("no `{name}`"), format!("the field `{name}` in such a line"))),
            value => Ok(value),
        }
    }

    /// That a field has another value than is expected.
    fn refused(&self, field: Field, expected: impl Into<String>) -> Wrong {
        let text = match self.value(field) {
            FieldValue::Absent => Cow::Borrowed("absent"),
            FieldValue::Null => Cow::Borrowed("null"),
            FieldValue::Flag(flag) => Cow::Owned(flag.to_string()),
            FieldValue::Number(number) => Cow::Owned(number.to_string()),
            FieldValue::Text(text) => Cow::Owned(format!("\"{text}\"")),
            FieldValue::Other(text) => Cow::Borrowed(text),
        };
        wrong(format!("`{}` is {}", NAMES[field as usize], shortened(&text)), expected)
    }

    /// What `read` reads; `None` where the field is `null` or absent.
    pub(super) fn unless_null<T>(
        &self,
        field: Field,
        read: impl FnOnce(Field) -> Result<T, Wrong>,
    ) -> Result<Option<T>, Wrong> {
        match self.value(field) {
            FieldValue::Absent | FieldValue::Null => Ok(None),
            _ => read(field).map(Some),
        }
    }

    /// What `read` reads; `None` where the field is `null`.
    pub(super) fn or_null<T>(
        &self,
        field: Field,
        read: impl FnOnce(Field) -> Result<T, Wrong>,
    ) -> Result<Option<T>, Wrong> {
        self.present(field)?;
        self.unless_null(field, read)
    }

    /// A whole number up to `max`.
    pub(super) fn number(&self, field: Field, max: u64) -> Result<u64, Wrong> {
        match self.present(field)? {
            FieldValue::Number(number) if number <= max => Ok(number),
            _ => Err(self.refused(field, format!("a whole number from 0 to {max}"))),
        }
    }

    /// Any whole number of 64 bits.
    pub(super) fn count(&self, field: Field) -> Result<u64, Wrong> {
        self.number(field, u64::MAX)
    }

    pub(super) fn instant(&self, field: Field) -> Result<Instant, Wrong> {
        match self.present(field)? {
            FieldValue::Number(number) => Instant::from_ns(number),
            _ => None,
        }
        .ok_or_else(|| self.refused(field, "whole nanoseconds below 2^63"))
    }

    /// Yes or no; `default` where it is absent.
    pub(super) fn flag(&self, field: Field, default: bool) -> Result<bool, Wrong> {
        match self.value(field) {
            FieldValue::Absent => Ok(default),
            FieldValue::Flag(flag) => Ok(flag),
            _ => Err(self.refused(field, "true or false")),
        }
    }

    /// A number below `count`.
    pub(super) fn below(&self, field: Field, count: u32) -> Result<u32, Wrong> {
        self.present(field)?;
        let none = || wrong(format!("`{}` where there is none", NAMES[field as usize]), "no such line");
        let max = count.checked_sub(1).ok_or_else(none)?;
        self.number(field, max.into()).map(|number| u32::try_from(number).expect("a number up to one of 32 bits"))
    }

    /// A position among `count` things.
    pub(super) fn position<I: Id>(&self, field: Field, count: u32) -> Result<I, Wrong> {
        self.below(field, count).map(I::new)
    }

    pub(super) fn string(&self, field: Field) -> Result<Cow<'a, str>, Wrong> {
        let decoded = match self.present(field)? {
            FieldValue::Text(text) => return Ok(Cow::Borrowed(text)),
            FieldValue::Other(text) => serde_json::from_str(text).ok(),
            _ => None,
        };
        decoded.map(Cow::Owned).ok_or_else(|| self.refused(field, "a string"))
    }

    /// What a field with one of some names stands for; `default` where it is absent.
    pub(super) fn named<T: Copy>(&self, field: Field, names: &[(&str, T)], default: T) -> Result<T, Wrong> {
        if !self.has(field) {
            return Ok(default);
        }
        let text = self.string(field)?;
        names.iter().find(|&&(name, _)| name == text).map(|&(_, value)| value).ok_or_else(|| {
            let all: Vec<&str> = names.iter().map(|&(name, _)| name).collect();
            self.refused(field, all.join(" or "))
        })
    }

    pub(super) fn kind(&self, allowed: &[Kind]) -> Result<Kind, Wrong> {
        let name = self.string(Field::Kind)?;
        allowed.iter().copied().find(|&kind| kind.name() == name).ok_or_else(|| {
            let allowed: Vec<_> = allowed.iter().copied().map(Kind::name).collect();
            wrong(format!("`kind` is `{}`", shortened(&name)), format!("{} for this job", allowed.join(" or ")))
        })
    }
}

/// The name of a value, among those of all: [`LineFields::named`] reads it.
pub(super) fn name_of<T: PartialEq>(names: &[(&'static str, T)], wanted: T) -> &'static str {
    names.iter().find(|(_, value)| *value == wanted).expect("every value has a name").0
}

/// As much of a text as helps in a message.
pub(super) fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(60) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}
