//! A file's remarks about itself.

use std::fmt;
use std::ops::Deref;

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

/// Any JSON value, as it was written but on one line: the field `meta` of a task-set file.
#[derive(Debug, Clone)]
pub struct MetaJson(Box<RawValue>);

impl MetaJson {
    /// The value that a text holds; `None` where it holds no JSON value, or more than one.
    pub fn from_json(text: &str) -> Option<MetaJson> {
        // In JSON, line breaks stand between values alone: as good as blanks.
        RawValue::from_string(text.replace(['\n', '\r'], " ")).ok().map(MetaJson)
    }

    /// A value that serde has found.
    pub(super) fn from_raw(raw: &RawValue) -> Option<MetaJson> {
        if raw.get().contains(['\n', '\r']) {
            return MetaJson::from_json(raw.get());
        }
        Some(MetaJson(raw.to_owned()))
    }

    /// A value of any type that can be written as JSON; `None` where it cannot.
    pub fn of(value: &impl Serialize) -> Option<MetaJson> {
        to_raw_value(value).ok().map(MetaJson)
    }

    /// Its text.
    pub fn as_json(&self) -> &str {
        self.0.get()
    }

    /// The value's text as serde accepts it.
    pub(super) fn raw(&self) -> &RawValue {
        &self.0
    }
}

impl fmt::Display for MetaJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_json())
    }
}

/// For answers that pass it through.
impl Deref for MetaJson {
    type Target = RawValue;

    fn deref(&self) -> &RawValue {
        &self.0
    }
}
