//! Episodes in which a device is slower, in JSON.

use rtflash_model::Span;
use rtflash_model::reading::{Place, Reader};

use crate::file::{ObjectField, time_above_zero};
use crate::run::device::{Between, Slow};

/// Episodes that begin more often than this are none.
const SHORTEST: Span = Span::from_us(1_000);

/// Episodes.
pub(super) fn slow<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<Slow> {
    const TIMES: &str = "a time, or the shortest and the longest, such as \"2s\" or \"1s..3s\"";
    let mut fields = ObjectField::open(reader, raw, place, ["every", "for", "extra"])?;
    let every = fields.required(raw, "every", TIMES, |reader, raw, place| between(reader, raw, place, SHORTEST));
    let length = fields.required(raw, "for", TIMES, |reader, raw, place| between(reader, raw, place, Span::NANOSECOND));
    let extra = fields.required(raw, "extra", "a time, such as \"2ms\"", time_above_zero);
    Some(Slow { every: every?, length: length?, extra: extra? })
}

/// A time or a range of times, none of them shorter than this.
fn between(reader: &mut Reader<'_>, raw: &str, place: &Place<'_>, min: Span) -> Option<Between> {
    let (shortest, longest) = reader.times(raw, place)?;
    let shortest = shortest.unwrap_or(longest);
    if shortest > longest {
        let problem = format!("{} begins with its longest", place.subject());
        reader.refuse(raw, place, problem, "the shortest, two dots and the longest");
        return None;
    }
    if shortest < min {
        reader.refuse(raw, place, format!("{} may be {shortest}", place.subject()), format!("times from {min} up"));
        return None;
    }
    Some(Between { shortest, longest })
}
