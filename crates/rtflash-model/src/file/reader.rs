//! The parts that the readers of all the files share: objects with known fields, lists, and the
//! collection of all faults.

use std::collections::HashSet;
use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::diagnostic::{BYTE_ORDER_MARK, Collected, Diagnostic, Diagnostics, MAX_KEPT, at};
use super::place::{MAX_SHOWN, Place, Slot, quote, quoted};
use super::tree::{JsonKind, child, decode, for_each_element, for_each_field, range_in};
use crate::invalid::Invalid;

/// How many unknown names are compared with all the known ones: about as many as anybody is shown.
const MAX_SUGGESTIONS: u32 = 32;

/// A text that is being read, and what is wrong with it so far.
pub struct Reader<'t> {
    text: &'t str,
    wrong: Collected,
    suggestions: u32,
    explained: &'static [(&'static str, &'static str)],
}

impl<'t> Reader<'t> {
    /// The one JSON value of a text; `what` says what the text should hold.
    pub fn open(text: &'t str, what: &str) -> Result<(Reader<'t>, &'t str), Diagnostics> {
        let body = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        if body.trim().is_empty() {
            return Err(Diagnostics::one(text.len()..text.len(), "empty input", what));
        }
        let value = match <&RawValue>::deserialize(&mut serde_json::Deserializer::from_str(body)) {
            Ok(value) => value.get(),
            Err(error) => return Err(not_json(text, body, &error, what)),
        };
        let rest = &text[range_in(text, value).end..];
        let extra = rest.trim_matches([' ', '\t', '\r', '\n']);
        if !extra.is_empty() {
            let line = extra.lines().next().unwrap_or(extra);
            let problem = "text after the end of the JSON value";
            return Err(Diagnostics::one(range_in(text, line), problem, "nothing more"));
        }
        Ok((Reader::of(text), value))
    }

    pub(super) fn of(text: &'t str) -> Reader<'t> {
        Reader { text, wrong: Collected::default(), suggestions: MAX_SUGGESTIONS, explained: &[] }
    }

    /// Names of fields that no object has, each with what is expected instead, and why.
    pub fn explain(&mut self, names: &'static [(&'static str, &'static str)]) {
        self.explained = names;
    }

    /// How many things have been found wrong.
    pub fn faults(&self) -> usize {
        self.wrong.count()
    }

    /// Whether the list of faults is full, so that callers can discard what they have read.
    pub fn is_hopeless(&self) -> bool {
        self.wrong.count() >= MAX_KEPT
    }

    /// The faults found, in the order of the text.
    pub fn into_diagnostics(self) -> Diagnostics {
        self.wrong.into_diagnostics()
    }

    /// The bytes of the whole text that `raw` is.
    pub fn range(&self, raw: &str) -> Range<usize> {
        range_in(self.text, raw)
    }

    /// Records a fault of the value `raw` at `place`.
    pub fn refuse(&mut self, raw: &str, place: &Place<'_>, problem: impl Into<String>, expected: impl Into<String>) {
        let (path, problem, expected) = (place.path(), problem.into(), expected.into());
        self.wrong.push(Diagnostic { range: self.range(raw), path, problem, expected });
    }

    /// Records a core type's fault. Its path leads from `outer`; `value` is what the first `skip`
    /// steps of it lead to. It lies with the last value that the path leads to.
    pub(super) fn refuse_invalid(&mut self, value: &str, outer: &Place<'_>, invalid: Invalid, skip: usize) {
        let mut nearest = value;
        for step in invalid.path.steps().iter().skip(skip) {
            match child(nearest, step) {
                Some(inner) => nearest = inner,
                None => break,
            }
        }
        let range = self.range(nearest);
        self.wrong.push(at(range, invalid.within(&outer.path())));
    }

    /// Records that the value is of the wrong kind.
    pub fn refuse_kind(&mut self, raw: &str, place: &Place<'_>, expected: &str) {
        self.refuse(raw, place, format!("{} is {}", place.subject(), JsonKind::of(raw).noun()), expected);
    }

    /// Records that a field is missing in the object `raw` at `place`.
    pub fn refuse_absence(&mut self, raw: &str, place: &Place<'_>, key: &str, expected: &str) {
        self.refuse(raw, place, format!("missing field `{key}`"), format!("`{key}`: {expected}"));
    }

    /// The value of a field that must be there, in the object `raw` at `place`.
    pub fn required(
        &mut self,
        slot: Slot<'t>,
        raw: &str,
        place: &Place<'_>,
        key: &str,
        expected: &str,
    ) -> Option<&'t str> {
        match slot {
            Slot::Given(value) => Some(value),
            Slot::Misspelt => None,
            Slot::Absent => {
                self.refuse_absence(raw, place, key, expected);
                None
            }
        }
    }

    /// The known fields of an object that has no others.
    pub fn object<const N: usize>(
        &mut self,
        raw: &'t str,
        place: &Place<'_>,
        known: &[&'static str; N],
    ) -> Option<[Slot<'t>; N]> {
        let mut unknown = Vec::new();
        let mut slots = self.open_object(raw, place, known, |key| unknown.push(key))?;
        for key in unknown {
            let name = decode(key);
            let name = name.as_deref().unwrap_or_else(|| key.trim_matches('"'));
            if let Some((_, expected)) = self.explained.iter().find(|(known, _)| *known == name) {
                self.refuse(key, &place.key(name), format!("unknown field {}", quote(name)), *expected);
                continue;
            }
            let expected = match self.nearest(name, known.iter().copied()) {
                Some(near) => {
                    let (near, slot) = (known[near], &mut slots[near]);
                    if *slot == Slot::Absent {
                        *slot = Slot::Misspelt;
                    }
                    format!("`{near}`, the nearest of the known fields")
                }
                None => format!("one of {}", quoted(known)),
            };
            self.refuse(key, &place.key(name), format!("unknown field {}", quote(name)), expected);
        }
        Some(slots)
    }

    /// The known fields; every other field's key (a literal) goes to `other`.
    pub fn open_object<const N: usize>(
        &mut self,
        raw: &'t str,
        place: &Place<'_>,
        known: &[&'static str; N],
        mut other: impl FnMut(&'t str),
    ) -> Option<[Slot<'t>; N]> {
        let mut slots = [Slot::Absent; N];
        let is_object = for_each_field(raw, |key, value| {
            let name = decode(key);
            match known.iter().position(|known| name.as_deref() == Some(*known)) {
                None => other(key),
                Some(field) if slots[field] == Slot::Absent => slots[field] = Slot::Given(value),
                Some(field) => {
                    let problem = format!("`{}` is given a second time", known[field]);
                    self.refuse(key, &place.key(known[field]), problem, "each field once");
                }
            }
        });
        if is_object {
            Some(slots)
        } else {
            self.refuse_kind(raw, place, &format!("an object with {}", quoted(known)));
            None
        }
    }

    /// Entries whose keys are names, each once; `each` has the key (a literal), the name and the
    /// value. Says whether it is an object.
    pub fn entries(
        &mut self,
        raw: &'t str,
        place: &Place<'_>,
        expected: &str,
        mut each: impl FnMut(&mut Reader<'t>, (&'t str, &str), &'t str, &Place<'_>),
    ) -> bool {
        let mut names = HashSet::new();
        let is_object = for_each_field(raw, |key, value| {
            let Some(name) = decode(key) else {
                let problem = "the name holds half of a surrogate pair";
                return self.refuse(key, place, problem, "both halves, or another character");
            };
            if !names.insert(name.clone()) {
                let problem = format!("{} is given a second time", quote(&name));
                return self.refuse(key, &place.key(&name), problem, "each name once");
            }
            each(self, (key, &name), value, &place.key(&name));
        });
        if !is_object {
            self.refuse_kind(raw, place, expected);
        }
        is_object
    }

    /// Reads every element of an array. Says whether it is one.
    pub fn list(
        &mut self,
        raw: &'t str,
        place: &Place<'_>,
        expected: &str,
        mut each: impl FnMut(&mut Reader<'t>, &'t str, &Place<'_>),
    ) -> bool {
        let mut index = 0;
        let is_array = for_each_element(raw, |element| {
            each(self, element, &place.index(index));
            index += 1;
        });
        if !is_array {
            self.refuse_kind(raw, place, expected);
        }
        is_array
    }

    /// The position of the candidate that a mistyped name was most likely meant to be.
    pub fn nearest<'c>(&mut self, name: &str, candidates: impl Iterator<Item = &'c str>) -> Option<usize> {
        if name.len() > MAX_SHOWN || self.suggestions == 0 {
            return None;
        }
        self.suggestions -= 1;
        nearest(name, candidates)
    }
}

/// The position of the candidate that a mistyped name was most likely meant to be.
pub fn nearest<'c>(name: &str, candidates: impl Iterator<Item = &'c str>) -> Option<usize> {
    if name.len() > MAX_SHOWN {
        return None;
    }
    let name = name.to_lowercase();
    candidates
        .enumerate()
        .filter(|(_, candidate)| candidate.len() <= MAX_SHOWN)
        .map(|(position, candidate)| {
            let close = (candidate.chars().count() / 3).max(1);
            (strsim::osa_distance(&name, &candidate.to_lowercase()), close, position)
        })
        .filter(|&(distance, close, _)| distance <= close)
        .min()
        .map(|(_, _, position)| position)
}

fn not_json(text: &str, body: &str, error: &serde_json::Error, what: &str) -> Diagnostics {
    let message = error.to_string();
    let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message);
    if error.is_eof() {
        let end = text.trim_end().len();
        return Diagnostics::one(end..end, format!("the text ends too early: {message}"), what);
    }
    let lines = body.split_inclusive('\n').take(error.line().saturating_sub(1));
    let line_start: usize = lines.map(str::len).sum();
    // serde_json counts columns in bytes, from 1; but here it gives that of the byte before.
    let before = if message.starts_with("control character") { 0 } else { 1 };
    let start = line_start + error.column().saturating_sub(before) + (text.len() - body.len());
    let mut start = start.min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    // A word in front of all else: serde_json looks for `null`, `true` or `false` in it.
    let first = text.len() - body.trim_start().len();
    let word = text[first..]
        .split(|sign: char| !sign.is_ascii_alphabetic())
        .next()
        .expect("a split has a first part: an invariant");
    if !word.is_empty() && (first..=first + word.len()).contains(&start) {
        let problem = format!("not JSON: expected `{{`, found {}", quote(word));
        return Diagnostics::one(first..first + word.len(), problem, what);
    }
    let end = text[start..].chars().next().map_or(start, |at_fault| start + at_fault.len_utf8());
    let is_trailing_comma = text[start..].starts_with(['}', ']']) && text[..start].trim_end().ends_with(',');
    let message = if is_trailing_comma { "a comma before the end" } else { message };
    Diagnostics::one(start..end, format!("not JSON: {message}"), what)
}
