//! Strings, whole numbers, times and ratios, as somebody wrote them.

use super::place::{Place, quote};
use super::reader::Reader;
use super::tree::{Kind, decode};
use crate::ratio::{LogicalRatio, RatioError};
use crate::time::{Span, TimeError, parse_ns};

/// A time with its unit.
fn span(text: &str) -> Result<Span, TimeError> {
    Span::from_ns(parse_ns(text.trim())?).ok_or(TimeError::TooLong)
}

/// Scalars. Each gives `None` where it has recorded what is wrong.
impl<'t> Reader<'t> {
    /// A string.
    pub(super) fn string(&mut self, raw: &'t str, place: &Place<'_>, expected: &str) -> Option<String> {
        if Kind::of(raw) != Kind::Text {
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

    /// A whole number from 0 to `most`, in digits.
    pub(super) fn whole(&mut self, raw: &str, place: &Place<'_>, most: u64) -> Option<u64> {
        let subject = || place.subject();
        let (problem, expected) = if Kind::of(raw) != Kind::Number {
            (format!("{} is {}", subject(), Kind::of(raw).noun()), "a whole number, without quotes".to_owned())
        } else if raw.starts_with('-') {
            (format!("{} is below zero", subject()), "a whole number".to_owned())
        } else if !raw.bytes().all(|byte| byte.is_ascii_digit()) {
            (format!("{} is not a whole number in digits", subject()), "a whole number, such as 40".to_owned())
        } else {
            match raw.parse() {
                Ok(number) if number <= most => return Some(number),
                _ => (format!("{} is too large", subject()), format!("at most {most}")),
            }
        };
        self.refuse(raw, place, problem, expected);
        None
    }

    /// A whole number of 32 bits.
    pub(super) fn whole_u32(&mut self, raw: &str, place: &Place<'_>) -> Option<u32> {
        self.whole(raw, place, u64::from(u32::MAX)).and_then(|number| u32::try_from(number).ok())
    }

    /// A time with its unit. May be zero.
    pub(super) fn time(&mut self, raw: &str, place: &Place<'_>) -> Option<Span> {
        let error = match Kind::of(raw) {
            Kind::Text => match decode(raw).as_deref().map(span) {
                Some(Ok(span)) => return Some(span),
                Some(Err(error)) => error,
                None => TimeError::NotANumber,
            },
            Kind::Number => TimeError::NoUnit,
            _ => TimeError::NotANumber,
        };
        self.refuse_time(raw, place, &error);
        None
    }

    /// A time with its unit, or two of them as a range, `"40us..50us"`: the shortest, where it is another, and the longest.
    pub(super) fn times(&mut self, raw: &str, place: &Place<'_>) -> Option<(Option<Span>, Span)> {
        let text = if Kind::of(raw) == Kind::Text { decode(raw) } else { None };
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
            TimeError::UnknownUnit(_) => "one of the units ns, us, ms and s".to_owned(),
            TimeError::TooLong => "a time below 2^63 ns".to_owned(),
            TimeError::FractionOfNanosecond => "a whole number of nanoseconds".to_owned(),
            _ => "a time with its unit in a string, such as \"36ms\"".to_owned(),
        };
        let problem = match error {
            TimeError::UnknownUnit(unit) => format!("unknown unit of time {}", quote(unit)),
            TimeError::NotANumber if Kind::of(raw) != Kind::Text => {
                format!("{} is {}", place.subject(), Kind::of(raw).noun())
            }
            error => format!("{} is {error}", place.subject()),
        };
        self.refuse(raw, place, problem, expected);
    }

    /// λ.
    pub(super) fn ratio(&mut self, raw: &str, place: &Place<'_>) -> Option<LogicalRatio> {
        if Kind::of(raw) != Kind::Number {
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
