//! Devices in JSON.

use rtflash_model::reading::{Place, Reader};

use super::attach::attach;
use super::clusters::clusters;
use super::measured::measured;
use super::nvme::nvme;
use super::outside::Outside;
use super::slow::slow;
use crate::file::{ObjectField, bytes_above_zero, time_above_zero};
use crate::run::device::{Emmc, EmmcCost, HostDevice, WriteCache};

/// A device.
pub(super) fn device<'t>(
    reader: &mut Reader<'t>,
    raw: &'t str,
    place: &Place<'_>,
    outside: &mut dyn Outside,
) -> Option<HostDevice> {
    // The kind says which other fields there are.
    let [kind] = reader.open_object(raw, place, &["kind"], |_| {})?;
    let kind = reader.required(kind, raw, place, "kind", "`emmc`, `nvme`, `measured` or `clusters`, in a string")?;
    match reader.choice(kind, &place.key("kind"), "kind of device", &["emmc", "nvme", "measured", "clusters"])? {
        0 => emmc(reader, raw, place),
        1 => nvme(reader, raw, place),
        2 => measured(reader, raw, place),
        _ => clusters(reader, raw, place, outside),
    }
}

fn emmc<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<HostDevice> {
    let mut fields = ObjectField::open(
        reader,
        raw,
        place,
        ["kind", "attach", "depth", "read", "write", "discard", "cache", "slow", "fitted"],
    )?;
    let (attach, depth) = attach(&mut fields);
    const COST: &str = "what it costs: an object with `first`, `next` and `per_kib`";
    let read = fields.required(raw, "read", COST, cost);
    let write = fields.required(raw, "write", COST, cost);
    let discard = fields.maybe("discard", cost_alone);
    let cache = fields.maybe("cache", cache);
    let slow = fields.maybe("slow", slow);
    Some(HostDevice::Emmc(Box::new(Emmc { attach, depth, read: read?, write: write?, discard, cache, slow })))
}

fn cost<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<EmmcCost> {
    let mut fields = ObjectField::open(reader, raw, place, ["first", "next", "per_kib", "slow"])?;
    let first = fields.required(raw, "first", "a time, such as \"200us\"", time_above_zero);
    let next = fields.required(raw, "next", "a time, such as \"100us\"", time_above_zero);
    let per_kib = fields.required(raw, "per_kib", "a time, such as \"10us\"", Reader::time);
    let slow = fields.maybe("slow", slow);
    Some(EmmcCost { first: first?, next: next?, per_kib: per_kib?, slow })
}

/// A cost without episodes of its own.
fn cost_alone<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<EmmcCost> {
    let found = cost(reader, raw, place)?;
    if found.slow.is_some() {
        reader.refuse(
            raw,
            &place.key("slow"),
            "episodes of these commands alone",
            "`slow` in `write`, which they share",
        );
    }
    Some(found)
}

/// A volatile write cache.
fn cache<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<WriteCache> {
    let mut fields = ObjectField::open(reader, raw, place, ["size", "drain", "write", "flush", "fua"])?;
    let size = fields.required(raw, "size", "bytes with their unit, such as \"512KiB\"", bytes_above_zero);
    let drain = fields.required(raw, "drain", "bytes a second, such as \"20MB\"", bytes_above_zero);
    const COST: &str = "what it costs: an object with `first`, `next` and `per_kib`";
    let write = fields.required(raw, "write", COST, cost_alone);
    let flush = fields.required(raw, "flush", "a time, such as \"1ms\"", time_above_zero);
    let fua = fields.or("fua", false, Reader::truth);
    Some(WriteCache { size: size?, drain: drain?, write: write?, flush: flush?, fua })
}
