//! JSON values as the bytes they were written with: only what is asked for is decoded.
//!
//! A value is a slice of the source text, so its position there is known, and a number is still the
//! decimal that the user wrote. Every step into an array or object is a fresh, shallow call of
//! serde_json, which skips nested values without recursion: no depth of nesting overflows the
//! stack.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::invalid::PathStep;

/// The kind of a value, by the first byte of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonKind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool,
    /// A number.
    Number,
    /// A string.
    Text,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl JsonKind {
    /// The kind of the value in a text.
    pub fn of(raw: &str) -> JsonKind {
        match raw.as_bytes().first() {
            Some(b'{') => JsonKind::Object,
            Some(b'[') => JsonKind::Array,
            Some(b'"') => JsonKind::Text,
            Some(b't' | b'f') => JsonKind::Bool,
            Some(b'n') => JsonKind::Null,
            _ => JsonKind::Number,
        }
    }

    /// How a message calls it.
    pub fn noun(self) -> &'static str {
        match self {
            JsonKind::Null => "null",
            JsonKind::Bool => "a truth value",
            JsonKind::Number => "a number",
            JsonKind::Text => "a string",
            JsonKind::Array => "an array",
            JsonKind::Object => "an object",
        }
    }
}

/// The range of `part`, a slice of `text`, in it. A slice of another text gives an empty range.
pub(super) fn range_in(text: &str, part: &str) -> Range<usize> {
    let start = (part.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize);
    match start.checked_add(part.len()) {
        Some(end) if end <= text.len() => start..end,
        _ => 0..0,
    }
}

/// Decodes a string literal; `None` where an escape is half a surrogate pair.
pub(super) fn decode(literal: &str) -> Option<Cow<'_, str>> {
    let inner = literal.strip_prefix('"')?.strip_suffix('"')?;
    if inner.as_bytes().contains(&b'\\') {
        serde_json::from_str::<String>(literal).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(inner))
    }
}

/// In order, with the key as a literal. Says whether it is an object.
pub(super) fn for_each_field<'t>(object: &'t str, each: impl FnMut(&'t str, &'t str)) -> bool {
    let mut deserializer = serde_json::Deserializer::from_str(object);
    Fields(each).deserialize(&mut deserializer).is_ok()
}

/// Calls `each` with every element of an array, in order. Says whether it is an array.
pub(super) fn for_each_element<'t>(array: &'t str, each: impl FnMut(&'t str)) -> bool {
    let mut deserializer = serde_json::Deserializer::from_str(array);
    Elements(each).deserialize(&mut deserializer).is_ok()
}

pub(super) fn child<'t>(value: &'t str, step: &PathStep) -> Option<&'t str> {
    let mut found = None;
    match step {
        PathStep::Key(wanted) => {
            for_each_field(value, |key, value| {
                if found.is_none() && decode(key).is_some_and(|key| key == wanted.as_str()) {
                    found = Some(value);
                }
            });
        }
        PathStep::Index(wanted) => {
            let mut index = 0;
            for_each_element(value, |value| {
                if index == *wanted {
                    found = Some(value);
                }
                index += 1;
            });
        }
    }
    found
}

struct Fields<F>(F);

impl<'t, F: FnMut(&'t str, &'t str)> DeserializeSeed<'t> for Fields<F> {
    type Value = ();

    fn deserialize<D: Deserializer<'t>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'t, F: FnMut(&'t str, &'t str)> Visitor<'t> for Fields<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'t>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<&RawValue>()? {
            let value = map.next_value::<&RawValue>()?;
            (self.0)(key.get(), value.get());
        }
        Ok(())
    }
}

struct Elements<F>(F);

impl<'t, F: FnMut(&'t str)> DeserializeSeed<'t> for Elements<F> {
    type Value = ();

    fn deserialize<D: Deserializer<'t>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'t, F: FnMut(&'t str)> Visitor<'t> for Elements<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'t>>(mut self, mut sequence: A) -> Result<(), A::Error> {
        while let Some(value) = sequence.next_element::<&RawValue>()? {
            (self.0)(value.get());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_slices_of_their_text() {
        let text = r#" { "a" : [1.50, {"b":null}], "\u0062":"x" } "#;
        let root = text.trim();
        let mut fields = Vec::new();
        assert!(for_each_field(root, |key, value| fields.push((key, value, range_in(text, value)))));
        assert_eq!(fields[0], ("\"a\"", r#"[1.50, {"b":null}]"#, 9..27));
        assert_eq!(decode(fields[1].0).as_deref(), Some("b"));
        assert_eq!(child(root, &PathStep::Key("b".into())), Some("\"x\""));
        assert_eq!(child(fields[0].1, &PathStep::Index(0)), Some("1.50"));
        assert_eq!(child(fields[0].1, &PathStep::Index(2)), None);
        assert!(!for_each_field("[1]", |_, _| ()));
        assert_eq!(decode(r#""\ud800""#), None);
    }
}
