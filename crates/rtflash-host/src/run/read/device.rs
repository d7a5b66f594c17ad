//! Devices in JSON.

use rtflash_model::Span;
use rtflash_model::reading::{Place, Reader};

use super::clusters::clusters;
use super::nvme::nvme;
use super::outside::Outside;
use crate::file::{Fields, above_zero, time_above_zero};
use crate::run::device::{Between, Cost, Emmc, Slow};
use crate::run::scenario::Device;

/// A device.
pub(super) fn device<'t>(
    reader: &mut Reader<'t>,
    raw: &'t str,
    place: &Place<'_>,
    outside: &mut dyn Outside,
) -> Option<Device> {
    // The kind says which other fields there are.
    let [kind] = reader.open_object(raw, place, &["kind"], |_| {})?;
    let kind = reader.required(kind, raw, place, "kind", "`emmc`, `nvme` or `clusters`, in a string")?;
    match reader.choice(kind, &place.key("kind"), "kind of device", &["emmc", "nvme", "clusters"])? {
        0 => emmc(reader, raw, place),
        1 => nvme(reader, raw, place),
        _ => clusters(reader, raw, place, outside),
    }
}

fn emmc<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<Device> {
    let mut fields = Fields::open(reader, raw, place, ["kind", "depth", "read", "write", "slow"])?;
    let depth = fields.or("depth", 1, above_zero);
    const COST: &str = "what it costs: an object with `first`, `next` and `per_kib`";
    let read = fields.required(raw, "read", COST, cost);
    let write = fields.required(raw, "write", COST, cost);
    let slow = fields.or("slow", None, |reader, raw, place| slow(reader, raw, place).map(Some));
    Some(Device::Emmc(Emmc { depth, read: read?, write: write?, slow }))
}

/// Episodes that begin more often than this are none.
const SHORTEST: Span = Span::from_us(1_000);

/// Episodes.
pub(super) fn slow<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<Slow> {
    const TIMES: &str = "a time, or the shortest and the longest, such as \"2s\" or \"1s..3s\"";
    let mut fields = Fields::open(reader, raw, place, ["every", "for", "extra"])?;
    let every = fields.required(raw, "every", TIMES, |reader, raw, place| between(reader, raw, place, SHORTEST));
    let length = fields.required(raw, "for", TIMES, |reader, raw, place| {
        between(reader, raw, place, Span::from_ns(1).unwrap_or_default())
    });
    let extra = fields.required(raw, "extra", "a time, such as \"2ms\"", time_above_zero);
    Some(Slow { every: every?, length: length?, extra: extra? })
}

/// A time or a range of times, none of them shorter than this.
fn between(reader: &mut Reader<'_>, raw: &str, place: &Place<'_>, least: Span) -> Option<Between> {
    let (shortest, longest) = reader.times(raw, place)?;
    let shortest = shortest.unwrap_or(longest);
    if shortest > longest {
        let problem = format!("{} begins with its longest", place.subject());
        reader.refuse(raw, place, problem, "the shortest, two dots and the longest");
        return None;
    }
    if shortest < least {
        reader.refuse(raw, place, format!("{} may be {shortest}", place.subject()), format!("times from {least} up"));
        return None;
    }
    Some(Between { shortest, longest })
}

fn cost<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<Cost> {
    let mut fields = Fields::open(reader, raw, place, ["first", "next", "per_kib", "slow"])?;
    let first = fields.required(raw, "first", "a time, such as \"200us\"", time_above_zero);
    let next = fields.required(raw, "next", "a time, such as \"100us\"", time_above_zero);
    let per_kib = fields.required(raw, "per_kib", "a time, such as \"10us\"", Reader::time);
    let slow = fields.or("slow", None, |reader, raw, place| slow(reader, raw, place).map(Some));
    Some(Cost { first: first?, next: next?, per_kib: per_kib?, slow })
}
