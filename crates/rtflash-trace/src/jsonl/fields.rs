//! The fields of a line of a trace, and what may stand in them.

use std::borrow::Cow;
use std::fmt;

use rtflash_model::{Id, Instant};
use serde::de::{self, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use rtflash_plan::{Kind, Policy};

/// A [`TraceError`] that does not know its line yet.
pub(super) struct Wrong {
    pub(super) problem: String,
    pub(super) expected: String,
}

pub(super) fn wrong(problem: impl Into<String>, expected: impl Into<String>) -> Wrong {
    Wrong { problem: problem.into(), expected: expected.into() }
}

macro_rules! fields {
    ($($field:ident $name:literal)*) => {
        #[derive(Clone, Copy, Deserialize)]
        #[serde(field_identifier)]
        pub(super) enum Field {
            $(#[serde(rename = $name)] $field,)*
            #[serde(other)]
            Unknown,
        }

        /// In the order of [`Field`].
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

/// The JSON texts of a line's fields, in the order of [`Field`].
#[derive(Debug)]
pub(super) struct LineFields<'a>([Option<&'a str>; NAMES.len()]);

struct AllFields;

impl<'de> Visitor<'de> for AllFields {
    type Value = LineFields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<LineFields<'de>, A::Error> {
        let mut values = [None; NAMES.len()];
        while let Some(field) = map.next_key::<Field>()? {
            match values.get_mut(field as usize) {
                Some(value @ None) => *value = Some(map.next_value::<&RawValue>()?.get()),
                Some(_) => return Err(de::Error::duplicate_field(NAMES[field as usize])),
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(LineFields(values))
    }
}

impl<'a> LineFields<'a> {
    pub(super) fn read(line: &'a str) -> serde_json::Result<LineFields<'a>> {
        let mut json = serde_json::Deserializer::from_str(line);
        let fields = json.deserialize_map(AllFields)?;
        json.end().map(|()| fields)
    }

    pub(super) fn has(&self, field: Field) -> bool {
        self.0[field as usize].is_some()
    }

    pub(super) fn present(&self, field: Field) -> Result<&'a str, Wrong> {
        let name = NAMES[field as usize];
        self.0[field as usize]
            .ok_or_else(|| wrong(format!("no `{name}`"), format!("the field `{name}` in such a line")))
    }

    fn refused(&self, field: Field, expected: impl Into<String>) -> Wrong {
        let text = self.0[field as usize].unwrap_or("absent");
        wrong(format!("`{}` is {}", NAMES[field as usize], shortened(text)), expected)
    }

    /// `None` where the field is `null` or absent.
    pub(super) fn unless_null<T>(
        &self,
        field: Field,
        read: impl FnOnce(Field) -> Result<T, Wrong>,
    ) -> Result<Option<T>, Wrong> {
        match self.0[field as usize] {
            None | Some("null") => Ok(None),
            Some(_) => read(field).map(Some),
        }
    }

    /// `None` where the field is `null`.
    pub(super) fn or_null<T>(
        &self,
        field: Field,
        read: impl FnOnce(Field) -> Result<T, Wrong>,
    ) -> Result<Option<T>, Wrong> {
        self.present(field)?;
        self.unless_null(field, read)
    }

    pub(super) fn number(&self, field: Field, max: u64) -> Result<u64, Wrong> {
        let number = self.present(field)?.parse().ok().filter(|&number| number <= max);
        number.ok_or_else(|| self.refused(field, format!("a whole number from 0 to {max}")))
    }

    pub(super) fn count(&self, field: Field) -> Result<u64, Wrong> {
        self.number(field, u64::MAX)
    }

    pub(super) fn instant(&self, field: Field) -> Result<Instant, Wrong> {
        let number = self.present(field)?.parse().ok().and_then(Instant::from_ns);
        number.ok_or_else(|| self.refused(field, "whole nanoseconds below 2^63"))
    }

    /// `default` where it is absent.
    pub(super) fn flag(&self, field: Field, default: bool) -> Result<bool, Wrong> {
        match self.0[field as usize] {
            None => Ok(default),
            Some(text) => text.parse().map_err(|_| self.refused(field, "true or false")),
        }
    }

    pub(super) fn below(&self, field: Field, count: u32) -> Result<u32, Wrong> {
        self.present(field)?;
        let none = || wrong(format!("`{}` where there is none", NAMES[field as usize]), "no such line");
        let max = count.checked_sub(1).ok_or_else(none)?;
        self.number(field, max.into()).map(|number| u32::try_from(number).expect("a number up to one of 32 bits"))
    }

    pub(super) fn position<I: Id>(&self, field: Field, count: u32) -> Result<I, Wrong> {
        self.below(field, count).map(I::new)
    }

    pub(super) fn string(&self, field: Field) -> Result<Cow<'a, str>, Wrong> {
        let json = self.present(field)?;
        let plain = json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).filter(|text| !text.contains('\\'));
        let text = plain.map(Cow::Borrowed).or_else(|| serde_json::from_str(json).ok().map(Cow::Owned));
        text.ok_or_else(|| self.refused(field, "a string"))
    }

    /// The one of these values whose name is in a field; `default` where it is absent.
    pub(super) fn named<T: Copy>(
        &self,
        field: Field,
        all: &[T],
        name: fn(T) -> &'static str,
        default: T,
    ) -> Result<T, Wrong> {
        if !self.has(field) {
            return Ok(default);
        }
        let text = self.string(field)?;
        all.iter().copied().find(|&of| name(of) == text).ok_or_else(|| {
            let all: Vec<&str> = all.iter().copied().map(name).collect();
            self.refused(field, all.join(" or "))
        })
    }

    pub(super) fn policy<P: Policy>(&self, field: Field, default: P) -> Result<P, Wrong> {
        self.named(field, P::ALL, P::name, default)
    }

    pub(super) fn kind(&self, allowed: &[Kind]) -> Result<Kind, Wrong> {
        let name = self.string(Field::Kind)?;
        allowed.iter().copied().find(|&kind| kind.name() == name).ok_or_else(|| {
            let allowed: Vec<_> = allowed.iter().copied().map(Kind::name).collect();
            wrong(format!("`kind` is `{}`", shortened(&name)), format!("{} for this job", allowed.join(" or ")))
        })
    }
}

pub(super) fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(60) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}
