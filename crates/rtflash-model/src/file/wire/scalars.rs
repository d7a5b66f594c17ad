//! Numbers, times and names as they are written.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer};
use serde::ser::{Error, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{AnswerFormat, ProfileName};
use crate::file::scalar::span;
use crate::profiles::PROFILES;
use crate::ratio::LogicalRatio;
use crate::time::{Instant, Span};

/// λ, written as the decimal that it is.
pub(in crate::file) struct Ratio(pub(in crate::file) LogicalRatio);

/// A time above zero.
pub(in crate::file) struct LongerThanZero(pub(in crate::file) Span);

/// A time above zero, or the shortest, where it is stated, and the longest.
pub(in crate::file) struct TimeOrRange(pub(in crate::file) Option<Span>, pub(in crate::file) Span);

/// A time above zero, read as a share of a unit, too.
pub(in crate::file) struct TimeOrShare(pub(in crate::file) Span);

/// A time that may be zero.
pub(in crate::file) struct Duration(pub(in crate::file) Span);

/// A point in time.
#[derive(Clone)]
pub(in crate::file) struct Time(pub(in crate::file) Instant);

macro_rules! written_as_displayed {
    ($($wire:ident)+) => {
        $(impl Serialize for $wire {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(&self.0)
            }
        })+
    };
}

written_as_displayed! { LongerThanZero TimeOrShare Duration Time }

impl Serialize for Ratio {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let decimal = self.0.to_string();
        <&RawValue>::deserialize(&mut serde_json::Deserializer::from_str(&decimal))
            .map_err(S::Error::custom)?
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for LongerThanZero {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Duration(time) = Duration::deserialize(deserializer)?;
        (time > Span::ZERO).then_some(LongerThanZero(time)).ok_or_else(|| de::Error::custom("a time of zero"))
    }
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        span(<&str>::deserialize(deserializer)?).map(Duration).map_err(de::Error::custom)
    }
}

impl Serialize for TimeOrRange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            None => serializer.collect_str(&self.1),
            Some(shortest) => serializer.collect_str(&format_args!("{shortest}..{}", self.1)),
        }
    }
}

macro_rules! schema {
    ($wire:ident, $name:literal, $schema:tt) => {
        impl JsonSchema for $wire {
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    };
}

schema!(AnswerFormat, "Format", {
    "description": "The format of the answers of rtflash.",
    "const": 1
});
schema!(Ratio, "Ratio", {
    "description": "A decimal between 0 and 1 with at most 38 places, taken exactly as it is written.",
    "type": "number",
    "exclusiveMinimum": 0,
    "exclusiveMaximum": 1
});
schema!(Time, "Time", {
    "description": "A time with its unit, a whole number of nanoseconds below 2^63, such as \"12.5ms\".",
    "type": "string",
    "pattern": "^\\s*[0-9]+(\\.[0-9]+)?\\s*(ns|us|µs|μs|ms|s|min|h)\\s*$"
});
schema!(Duration, "Duration", {
    "description": "A time with its unit, zero or above, a whole number of nanoseconds below 2^63, such as \"1ms\".",
    "type": "string",
    "pattern": "^\\s*[0-9]+(\\.[0-9]+)?\\s*(ns|us|µs|μs|ms|s|min|h)\\s*$"
});
schema!(LongerThanZero, "LongerThanZero", {
    "description": "A time above zero with its unit, a whole number of nanoseconds below 2^63, such as \"12.5ms\".",
    "type": "string",
    "pattern": "^\\s*([0-9]*[1-9][0-9]*(\\.[0-9]+)?|0+\\.[0-9]*[1-9][0-9]*)\\s*(ns|us|µs|μs|ms|s|min|h)\\s*$"
});
schema!(TimeOrShare, "TimeOrShare", {
    "description": "A time above zero with its unit, or a share of one, rounded down to nanoseconds, such as \
                    \"1/30s\".",
    "type": "string",
    "pattern": "^\\s*([0-9]*[1-9][0-9]*(\\.[0-9]+)?|0+\\.[0-9]*[1-9][0-9]*|[0-9]*[1-9][0-9]*\\s*/\\s*([0-9]*[1-9][0-9]*(\\.[0-9]+)?|0+\\.[0-9]*[1-9][0-9]*))\\s*(ns|us|µs|μs|ms|s|min|h)\\s*$"
});

schema!(TimeOrRange, "TimeOrRange", {
    "description": "A time above zero with its unit, which operations take at most; or two of them, the shortest and \
                    the longest, such as \"40us..50us\".",
    "type": "string",
    "pattern": "^\\s*([0-9]*[1-9][0-9]*(\\.[0-9]+)?|0+\\.[0-9]*[1-9][0-9]*)\\s*(ns|us|µs|μs|ms|s|min|h)\\s*(\\.\\.\\s*([0-9]*[1-9][0-9]*(\\.[0-9]+)?|0+\\.[0-9]*[1-9][0-9]*)\\s*(ns|us|µs|μs|ms|s|min|h)\\s*)?$"
});

impl JsonSchema for ProfileName {
    fn schema_name() -> Cow<'static, str> {
        "ProfileName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = PROFILES.iter().map(|profile| profile.name).collect();
        json_schema!({ "description": "The name of a device that rtflash knows.", "type": "string", "enum": names })
    }
}
