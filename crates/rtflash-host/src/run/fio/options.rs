//! The options of a section of a fio job file.

use std::collections::BTreeMap;
use std::ops::Range;

use rtflash_model::Span;
use rtflash_model::reading::quote;

use super::known::is_off;
use super::units::{Units, by_operation, number, time};

/// A fault of an option, and what would be right.
pub(super) type OptionFault = (String, String);

/// A fault, and the option that it is in.
pub(super) type NamedFault = (&'static str, OptionFault);

/// An option as a file states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    /// The value, in which variables are replaced.
    pub(super) value: String,
    pub(super) at: Range<usize>,
}

/// The options of a section and of the global sections above it. The last of two alike counts.
#[derive(Debug, Clone, Default)]
pub(super) struct SectionOptions(BTreeMap<&'static str, Said>);

const SECOND: u64 = 1_000_000_000;
const BYTES: &str = "whole bytes, such as 4096, 4k or 1m";
const TIME: &str = "a time, such as 10, 500ms or 250us";

/// Bytes, or a share of those that are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileAmount {
    Bytes(u64),
    Percent(u64),
}

impl FileAmount {
    /// Bytes of a whole that is this long.
    pub(super) fn of(self, whole: u64) -> u64 {
        match self {
            FileAmount::Bytes(bytes) => bytes,
            FileAmount::Percent(percent) => rtflash_model::capped(u128::from(whole) * u128::from(percent) / 100),
        }
    }
}

fn wrong(name: &str, value: &str, expected: &str) -> OptionFault {
    let problem =
        if value.is_empty() { format!("`{name}` has no value") } else { format!("`{name}` is {}", quote(value)) };
    (problem, expected.to_owned())
}

/// A fault of an option.
pub(super) fn fault(name: &'static str, problem: impl Into<String>, expected: impl Into<String>) -> NamedFault {
    (name, (problem.into(), expected.into()))
}

impl SectionOptions {
    pub(super) fn set(&mut self, name: &'static str, said: Said) {
        self.0.insert(name, said);
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|said| said.value.as_str())
    }

    /// The place of an option.
    pub(super) fn place(&self, name: &str) -> Option<Range<usize>> {
        self.0.get(name).map(|said| said.at.clone())
    }

    /// Whether an option without a number behind it, or with one above zero, is there.
    pub(super) fn flag(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| !is_off(value))
    }

    /// How `k`, `m` and so on count.
    pub(super) fn units(&self) -> Result<Units, NamedFault> {
        match self.get("kb_base") {
            None | Some("1024") => Ok(Units::Inverse),
            Some("1000") => Ok(Units::True),
            Some(value) => Err(("kb_base", wrong("kb_base", value, "1000 or 1024"))),
        }
    }

    fn read<T>(
        &self,
        name: &'static str,
        expected: &str,
        value: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, NamedFault> {
        let Some(said) = self.get(name) else { return Ok(None) };
        value(said).map(Some).ok_or_else(|| (name, wrong(name, said, expected)))
    }

    /// A number from `min` to `max`.
    pub(super) fn within(&self, name: &'static str, min: u64, max: u64) -> Result<Option<u32>, NamedFault> {
        let expected = format!("a whole number from {min} to {max}");
        let units = self.units()?;
        self.read(name, &expected, |value| {
            let found = number(value).or_else(|| units.bytes(value))?;
            (min..=max).contains(&found).then_some(found).and_then(|number| u32::try_from(number).ok())
        })
    }

    pub(super) fn bytes(&self, name: &'static str) -> Result<Option<u64>, NamedFault> {
        let units = self.units()?;
        self.read(name, BYTES, |value| units.bytes(value))
    }

    /// Bytes, or a share.
    pub(super) fn amount(&self, name: &'static str) -> Result<Option<FileAmount>, NamedFault> {
        let units = self.units()?;
        let expected = "whole bytes, such as 4096, 4k or 1m, or a share, such as 50%";
        self.read(name, expected, |value| match value.strip_suffix('%') {
            Some(percent) => number(percent).filter(|&percent| percent <= 100).map(FileAmount::Percent),
            None => units.bytes(value).map(FileAmount::Bytes),
        })
    }

    /// A time; plain numbers are this many nanoseconds each.
    fn time(&self, name: &'static str, plain: u64) -> Result<Option<Span>, NamedFault> {
        self.read(name, TIME, |value| time(value, plain))
    }

    /// A time in seconds.
    pub(super) fn seconds(&self, name: &'static str) -> Result<Option<Span>, NamedFault> {
        self.time(name, SECOND)
    }

    /// A time in microseconds.
    pub(super) fn microseconds(&self, name: &'static str) -> Result<Option<Span>, NamedFault> {
        self.time(name, 1_000)
    }

    /// Bytes for each of reads, writes and trims.
    pub(super) fn lists(&self, name: &'static str) -> Result<[Option<u64>; 3], NamedFault> {
        let units = self.units()?;
        let found = self.read(name, BYTES, |value| by_operation(value, |value| units.bytes(value)))?;
        Ok(found.unwrap_or([None; 3]))
    }
}
