//! Strings, whole numbers, times and ratios, as users write them.

use super::place::{Place, quote, quoted};
use super::reader::Reader;
use super::tree::{JsonKind, decode};
use crate::ratio::{LogicalRatio, RatioError};
use crate::time::{Span, TimeError, parse_ns};

pub(super) fn span(text: &str) -> Result<Span, TimeError> {
    Span::from_ns(parse_ns(text)?).ok_or(TimeError::TooLong)
}

/// N/D of a unit of time, rounded down. D may be a decimal, as frame rates are: `1/29.97s`.
fn parse_share(numerator: &str, rest: &str) -> Option<Span> {
    let rest = rest.trim();
    let unit_at = rest.find(|c: char| !matches!(c, '0'..='9' | '.')).unwrap_or(rest.len());
    let (denominator, unit) = (&rest[..unit_at], rest[unit_at..].trim());
    let (whole, fraction) = match denominator.split_once('.') {
        Some((whole, fraction)) if !fraction.is_empty() => (whole, fraction),
        Some(_) => return None,
        None => (denominator, ""),
    };
    let digits = |text: &str| {
        let number =
            Some(text.trim()).filter(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()));
        number.and_then(|text| text.parse::<u64>().ok())
    };
    digits(whole)?;
    let (numerator, denominator) = (digits(numerator)?, digits(&format!("{whole}{fraction}"))?);
    let unit = u128::from(parse_ns(&format!("1{unit}")).ok()?);
    let places = u32::try_from(fraction.len()).ok().and_then(|places| 10u128.checked_pow(places))?;
    let share = u128::from(numerator).checked_mul(unit)?.checked_mul(places)?.checked_div(denominator.into())?;
    u64::try_from(share).ok().and_then(Span::from_ns)
}

/// B, kB, MB, GB and TB in thousands, KiB, MiB, GiB and TiB in 1,024; `None` if it is none, or
/// not below 2⁶⁴.
pub fn parse_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = unit.trim();
    const UNITS: [(&str, u32); 10] = [
        ("B", 0),
        ("kB", 1),
        ("KB", 1),
        ("MB", 2),
        ("GB", 3),
        ("TB", 4),
        ("KiB", 1),
        ("MiB", 2),
        ("GiB", 3),
        ("TiB", 4),
    ];
    let base: u64 = if unit.contains('i') { 1_024 } else { 1_000 };
    let power = UNITS.into_iter().find(|(name, _)| *name == unit).map(|(_, power)| power)?;
    number.parse::<u64>().ok()?.checked_mul(base.pow(power))
}

/// Scalars. Each gives `None` where it has recorded what is wrong.
impl<'t> Reader<'t> {
    /// A string.
    pub fn string(&mut self, raw: &'t str, place: &Place<'_>, expected: &str) -> Option<String> {
        if JsonKind::of(raw) != JsonKind::Text {
            self.refuse_kind(raw, place, expected);
            return None;
        }
        let decoded = decode(raw);
        if decoded.is_none() {
            let problem = format!("{} holds half of a surrogate pair", place.subject());
            self.refuse(raw, place, problem, "both halves, such as \\ud83d\\ude00, or another character");
        }
        decoded.map(std::borrow::Cow::into_owned)
    }

    /// A whole number from 0 to `max`, in digits.
    pub fn whole(&mut self, raw: &str, place: &Place<'_>, max: u64) -> Option<u64> {
        let subject = || place.subject();
        let (problem, expected) = if JsonKind::of(raw) != JsonKind::Number {
            (format!("{} is {}", subject(), JsonKind::of(raw).noun()), "a whole number, without quotes".to_owned())
        } else if raw.starts_with('-') {
            (format!("{} is below zero", subject()), "a whole number".to_owned())
        } else if !raw.bytes().all(|byte| byte.is_ascii_digit()) {
            (format!("{} is not a whole number in digits", subject()), "a whole number, such as 40".to_owned())
        } else {
            match raw.parse() {
                Ok(number) if number <= max => return Some(number),
                _ => (format!("{} is too large", subject()), format!("at most {max}")),
            }
        };
        self.refuse(raw, place, problem, expected);
        None
    }

    /// A whole number of 32 bits.
    pub fn whole_u32(&mut self, raw: &str, place: &Place<'_>) -> Option<u32> {
        self.whole(raw, place, u64::from(u32::MAX)).and_then(|number| u32::try_from(number).ok())
    }

    /// A number of bytes with its unit, such as "64KiB". May be zero.
    pub fn bytes(&mut self, raw: &str, place: &Place<'_>) -> Option<u64> {
        let text = if JsonKind::of(raw) == JsonKind::Text { decode(raw) } else { None };
        let bytes = text.as_deref().and_then(parse_bytes);
        if bytes.is_none() {
            let problem = match JsonKind::of(raw) {
                JsonKind::Text => format!("{} is no number of bytes", place.subject()),
                kind => format!("{} is {}", place.subject(), kind.noun()),
            };
            let expected =
                "whole bytes with their unit in a string, below 2^64, such as \"64KiB\", \"1MB\" or \"512B\"";
            self.refuse(raw, place, problem, expected);
        }
        bytes
    }

    /// Bytes a second, such as "40MB/s". Above zero.
    pub fn rate(&mut self, raw: &str, place: &Place<'_>) -> Option<u64> {
        let text = if JsonKind::of(raw) == JsonKind::Text { decode(raw) } else { None };
        let bytes = text.as_deref().and_then(|text| text.trim().strip_suffix("/s")).and_then(parse_bytes);
        if bytes.is_none_or(|bytes| bytes == 0) {
            let problem = match (JsonKind::of(raw), bytes) {
                (_, Some(_)) => "a rate of zero".to_owned(),
                (JsonKind::Text, None) => format!("{} is no rate", place.subject()),
                (kind, None) => format!("{} is {}", place.subject(), kind.noun()),
            };
            let expected = match text.as_deref() {
                Some(text) if text.contains("bit") => "bytes a second, an eighth of the bits: 25Mbit/s is \"3125kB/s\"",
                Some(text) if text.contains('.') => "a whole number of a smaller unit: 3.125MB/s is \"3125kB/s\"",
                _ => "bytes a second in a string, above zero and below 2^64, such as \"40MB/s\" or \"1500kB/s\"",
            };
            self.refuse(raw, place, problem, expected);
        }
        bytes.filter(|&bytes| bytes > 0)
    }

    /// True or false.
    pub fn truth(&mut self, raw: &str, place: &Place<'_>) -> Option<bool> {
        match raw {
            "true" => Some(true),
            "false" => Some(false),
            _ => {
                self.refuse_kind(raw, place, "true or false, without quotes");
                None
            }
        }
    }

    /// One of some names, by its position. `noun` is what they are names of.
    pub fn choice(&mut self, raw: &'t str, place: &Place<'_>, noun: &str, names: &[&str]) -> Option<usize> {
        let either = format!("one of {}", quoted(names));
        self.named(raw, place, names, &either, |name| format!("there is no {noun} {name}"))
    }

    /// `either` names the choices, `problem` says that there is no other one.
    pub(super) fn named(
        &mut self,
        raw: &'t str,
        place: &Place<'_>,
        names: &[&str],
        either: &str,
        problem: impl Fn(&str) -> String,
    ) -> Option<usize> {
        let name = self.string(raw, place, &format!("{either}, in a string"))?;
        let found = names.iter().position(|known| *known == name);
        if found.is_none() {
            let expected = match self.nearest(&name, names.iter().copied()) {
                Some(near) => format!("`{}`, the nearest of {}", names[near], quoted(names)),
                None => either.to_owned(),
            };
            self.refuse(raw, place, problem(&quote(&name)), expected);
        }
        found
    }

    /// A time with its unit. May be zero.
    pub fn time(&mut self, raw: &str, place: &Place<'_>) -> Option<Span> {
        let error = match JsonKind::of(raw) {
            JsonKind::Text => match decode(raw).as_deref().map(span) {
                Some(Ok(span)) => return Some(span),
                Some(Err(error)) => error,
                None => TimeError::NotANumber,
            },
            JsonKind::Number => TimeError::NoUnit,
            _ => TimeError::NotANumber,
        };
        self.refuse_time(raw, place, &error);
        None
    }

    /// Also a share, "1/30s" or "1/29.97s": whole nanoseconds, the rest left away. May be zero.
    pub fn share_of_time(&mut self, raw: &str, place: &Place<'_>) -> Option<Span> {
        let text = if JsonKind::of(raw) == JsonKind::Text { decode(raw) } else { None };
        let Some((numerator, rest)) = text.as_deref().and_then(|text| text.split_once('/')) else {
            return self.time(raw, place);
        };
        let share = parse_share(numerator, rest);
        if share.is_none() {
            let problem = format!("{} is no share of a time", place.subject());
            let expected =
                "a whole number, a slash, and a number above zero with a unit, such as \"1/30s\" or \"1/29.97s\"";
            self.refuse(raw, place, problem, expected);
        }
        share
    }

    /// A time, or a range "40us..50us": the shortest, where it is another, and the longest.
    pub fn times(&mut self, raw: &str, place: &Place<'_>) -> Option<(Option<Span>, Span)> {
        let text = if JsonKind::of(raw) == JsonKind::Text { decode(raw) } else { None };
        let Some((shortest, longest)) = text.as_deref().and_then(|text| text.split_once("..")) else {
            return self.time(raw, place).map(|time| (None, time));
        };
        match (span(shortest), span(longest)) {
            (Ok(shortest), Ok(longest)) => Some(((shortest != longest).then_some(shortest), longest)),
            (Err(error), _) | (_, Err(error)) => {
                self.refuse_time(raw, place, &error);
                None
            }
        }
    }

    fn refuse_time(&mut self, raw: &str, place: &Place<'_>, error: &TimeError) {
        let number = raw.trim_matches('"').trim();
        let expected = match error {
            TimeError::NoUnit if number.len() < 20 && !number.contains(['-', 'e', 'E']) && !number.contains("..") => {
                format!("a string with a unit, such as \"{number}ms\", \"{number}us\" or \"{number}ns\"")
            }
            TimeError::UnknownUnit(_) => "one of the units ns, us, ms, s, min and h".to_owned(),
            TimeError::TooLong => "a time below 2^63 ns".to_owned(),
            TimeError::FractionOfNanosecond => "a whole number of nanoseconds".to_owned(),
            _ => "a time with its unit in a string, such as \"36ms\"".to_owned(),
        };
        let problem = match error {
            TimeError::UnknownUnit(unit) => format!("unknown unit of time {}", quote(unit)),
            TimeError::NotANumber if JsonKind::of(raw) != JsonKind::Text => {
                format!("{} is {}", place.subject(), JsonKind::of(raw).noun())
            }
            error => format!("{} is {error}", place.subject()),
        };
        self.refuse(raw, place, problem, expected);
    }

    /// λ.
    pub fn ratio(&mut self, raw: &str, place: &Place<'_>) -> Option<LogicalRatio> {
        if JsonKind::of(raw) != JsonKind::Number {
            self.refuse_kind(raw, place, "a decimal between 0 and 1 without quotes, such as 0.5");
            return None;
        }
        match raw.parse::<LogicalRatio>() {
            Ok(ratio) => Some(ratio),
            Err(error) => {
                let problem = match error {
                    RatioError::TooFine => format!("{} has {error}", place.subject()),
                    _ => format!("{} is {error}", place.subject()),
                };
                self.refuse(raw, place, problem, "a decimal between 0 and 1, such as 0.5");
                None
            }
        }
    }
}
