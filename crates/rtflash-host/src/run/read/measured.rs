//! Devices of measured services, in JSON.

use rtflash_model::Span;
use rtflash_model::reading::{Place, Reader};

use super::attach::attach;
use crate::file::{ObjectField, above_zero, bytes_above_zero, time_above_zero};
use crate::run::device::{AfterIdle, HostDevice, MeasuredCost, MeasuredDrive, SizeServices, StallWindow};

/// The longest service, in ns: an hour.
const LONGEST: u64 = 3_600_000_000_000;

/// A measured device.
pub(super) fn measured<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<HostDevice> {
    let names =
        ["kind", "attach", "depth", "together", "each", "each_per_kib", "idle", "stalls", "read", "write", "fitted"];
    let mut fields = ObjectField::open(reader, raw, place, names)?;
    let (attach, depth) = attach(&mut fields);
    let together = fields.or("together", 1, above_zero);
    let each = fields.or("each", Span::ZERO, Reader::time);
    let each_per_kib = fields.or("each_per_kib", None, |reader, raw, place| reader.time(raw, place).map(Some));
    let idle = fields.or("idle", None, |reader, raw, place| {
        let mut fields = ObjectField::open(reader, raw, place, ["after", "extra"])?;
        let after = fields.required(raw, "after", "a time, such as \"1ms\"", time_above_zero);
        let extra = fields.required(raw, "extra", "a time, such as \"50us\"", time_above_zero);
        Some(Some(AfterIdle { after: after?, extra: extra? }))
    });
    const COST: &str = "what it costs: an object with `first`, `next`, `per_kib` and `services`";
    let read = fields.required(raw, "read", COST, cost);
    let write = fields.required(raw, "write", COST, cost);
    let stalls = fields.or("stalls", Vec::new(), stalls);
    let device =
        MeasuredDrive { attach, depth, together, each, each_per_kib, idle, stalls, read: read?, write: write? };
    let services = [&device.read, &device.write].into_iter().flat_map(|cost| &cost.services);
    let shortest = services.flat_map(|of| of.ns()).min().expect("a cost has services (invariant)");
    if device.each.as_ns() > *shortest {
        let problem = format!("a further command costs {each}, and one alone {shortest}ns");
        reader.refuse(raw, &place.key("each"), problem, "at most the shortest service");
        return None;
    }
    Some(HostDevice::Measured(Box::new(device)))
}

/// Limits on stalls.
fn stalls<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<Vec<StallWindow>> {
    let mut all = Vec::new();
    reader.list(raw, place, "objects with `most` and `within`", |reader, raw, place| {
        let Some(mut fields) = ObjectField::open(reader, raw, place, ["most", "within"]) else { return };
        let most = fields.required(raw, "most", "a number of stalls", above_zero);
        let within = fields.required(raw, "within", "a time, such as \"100ms\"", time_above_zero);
        all.extend(most.zip(within).map(|(most, within)| StallWindow { most, within }));
    });
    Some(all)
}

fn cost<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<MeasuredCost> {
    let mut fields = ObjectField::open(reader, raw, place, ["first", "next", "per_kib", "services"])?;
    let first = fields.required(raw, "first", "a time, such as \"200us\"", time_above_zero);
    let next = fields.required(raw, "next", "a time, such as \"100us\"", time_above_zero);
    let per_kib = fields.required(raw, "per_kib", "a time, such as \"10us\"", Reader::time);
    let services = fields.required(raw, "services", "services by size", |reader, raw, place| {
        let mut all: Vec<SizeServices> = Vec::new();
        reader.list(raw, place, "objects with `size` and `ns`", |reader, raw, place| {
            let Some(of) = services(reader, raw, place) else { return };
            if all.last().is_some_and(|last| last.size() >= of.size()) {
                reader.refuse(raw, place, "its size is not above the one before", "sizes in order");
            } else {
                all.push(of);
            }
        });
        if all.is_empty() && reader.faults() == 0 {
            reader.refuse(raw, place, "no services", "services of one size at least");
        }
        (!all.is_empty()).then_some(all)
    });
    Some(MeasuredCost { first: first?, next: next?, per_kib: per_kib?, services: services? })
}

fn services<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<SizeServices> {
    let mut fields = ObjectField::open(reader, raw, place, ["size", "usual_ns", "ns"])?;
    let size = fields.required(raw, "size", "bytes, such as \"4KiB\"", bytes_above_zero);
    let usual = fields.or("usual_ns", u64::MAX, |reader, raw, place| reader.whole(raw, place, LONGEST));
    let ns = fields.required(raw, "ns", "an array of nanoseconds", |reader, raw, place| {
        let mut ns = Vec::new();
        reader.list(raw, place, "an array of nanoseconds", |reader, raw, place| {
            if reader.is_hopeless() {
                return;
            }
            ns.extend(reader.whole(raw, place, LONGEST));
        });
        Some(ns)
    });
    let of = SizeServices::new(size?, ns?).map(|of| of.with_usual(usual));
    if of.is_none() && reader.faults() == 0 {
        reader.refuse(raw, place, "no service, or one of no time", "services in ns, from 1 up");
    }
    of
}
