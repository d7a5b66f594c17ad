//! Devices in JSON.

use rtflash_model::reading::{Place, Reader};

use super::attach::attach;
use super::clusters::clusters;
use super::measured::measured;
use super::nvme::nvme;
use super::outside::Outside;
use super::slow::slow;
use crate::file::{ObjectField, time_above_zero};
use crate::run::device::{Emmc, EmmcCost, HostDevice};

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
    let mut fields =
        ObjectField::open(reader, raw, place, ["kind", "attach", "depth", "read", "write", "slow", "fitted"])?;
    let (attach, depth) = attach(&mut fields);
    const COST: &str = "what it costs: an object with `first`, `next` and `per_kib`";
    let read = fields.required(raw, "read", COST, cost);
    let write = fields.required(raw, "write", COST, cost);
    let slow = fields.or("slow", None, |reader, raw, place| slow(reader, raw, place).map(Some));
    Some(HostDevice::Emmc(Emmc { attach, depth, read: read?, write: write?, slow }))
}

fn cost<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<EmmcCost> {
    let mut fields = ObjectField::open(reader, raw, place, ["first", "next", "per_kib", "slow"])?;
    let first = fields.required(raw, "first", "a time, such as \"200us\"", time_above_zero);
    let next = fields.required(raw, "next", "a time, such as \"100us\"", time_above_zero);
    let per_kib = fields.required(raw, "per_kib", "a time, such as \"10us\"", Reader::time);
    let slow = fields.or("slow", None, |reader, raw, place| slow(reader, raw, place).map(Some));
    Some(EmmcCost { first: first?, next: next?, per_kib: per_kib?, slow })
}
