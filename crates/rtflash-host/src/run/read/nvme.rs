//! The device `nvme` in JSON.

use rtflash_model::reading::{Place, Reader};
use rtflash_model::{Span, read_device};
use rtflash_plan::Aging;

use super::clusters::aging;
use super::outside::{Alone, held};
use super::slow::slow;
use crate::file::{ObjectField, above_zero, time_above_zero};
use crate::run::device::{CommandCost, Costs, HostDevice, Nvme};

/// Fields of a drive.
const NAMES: [&str; 16] = [
    "kind",
    "flash",
    "fill",
    "aging",
    "queues",
    "entries",
    "inside",
    "read",
    "write",
    "discard",
    "flush",
    "buffer",
    "drain",
    "read_ahead",
    "ends_within",
    "fitted",
];

/// A drive.
pub(super) fn nvme<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<HostDevice> {
    let mut fields = ObjectField::open(reader, raw, place, NAMES)?;
    const FLASH: &str = "a device as a task set has it";
    let flash = fields.required(raw, "flash", FLASH, |reader, raw, place| {
        if rtflash_model::reading::JsonKind::of(raw) == rtflash_model::reading::JsonKind::Text {
            // A profile's name, not a file's.
            return read_device(raw).map_err(|wrong| refuse_all(reader, raw, place, &wrong)).ok();
        }
        held(reader, raw, place, &mut Alone, FLASH, read_device)
    });
    let fill = fields.maybe("fill", |reader, raw, place| reader.ratio(raw, place));
    const COSTS: &str = "what it costs: an object with `controller` and `latency`, or with `sequential` and `random`";
    let read = fields.required(raw, "read", COSTS, costs);
    let write = fields.required(raw, "write", COSTS, costs);
    let [discard, flush] = ["discard", "flush"].map(|name| fields.maybe(name, cost_alone));
    let aging = fields.or("aging", Aging::Fresh, aging);
    let queues = fields.maybe("queues", above_zero);
    let (entries, inside) = (fields.or("entries", 1_024, above_zero), fields.or("inside", 1_024, above_zero));
    let (buffer, read_ahead) = (fields.or("buffer", 0, Reader::whole_u32), fields.or("read_ahead", 0, read_ahead));
    let drain = fields.maybe("drain", above_zero);
    let ends_within = fields.maybe("ends_within", time_above_zero);
    if flush.is_some() && buffer == 0 {
        reader.refuse(
            raw,
            &place.key("flush"),
            "a flush of a drive without a `buffer`",
            "`buffer`: pages that it holds",
        );
    }
    if queues.is_some_and(|queues| queues > MAX_QUEUES) {
        let problem = "too many submission queues";
        reader.refuse(raw, &place.key("queues"), problem, format!("at most {MAX_QUEUES}"));
    }
    match Nvme::new(&flash?, fill, read?, write?) {
        Ok(mut nvme) => {
            (nvme.aging, nvme.queues, nvme.entries, nvme.inside) = (aging, queues, entries, inside);
            (nvme.buffer, nvme.drain, nvme.read_ahead, nvme.ends_within) = (buffer, drain, read_ahead, ends_within);
            (nvme.discard, nvme.flush) = (discard, flush);
            Some(HostDevice::Nvme(Box::new(nvme)))
        }
        Err(error) => {
            reader.refuse(raw, &place.key("flash"), error.to_string(), "a device that can be run");
            None
        }
    }
}

/// Submission queues at most, as NVMe has them.
const MAX_QUEUES: u32 = 65_535;

/// Pages read ahead at most.
const MAX_AHEAD: u64 = 4_096;

fn read_ahead(reader: &mut Reader<'_>, raw: &str, place: &Place<'_>) -> Option<u32> {
    reader.whole(raw, place, MAX_AHEAD).and_then(|pages| u32::try_from(pages).ok())
}

fn refuse_all(reader: &mut Reader<'_>, raw: &str, place: &Place<'_>, wrong: &rtflash_model::Diagnostics) {
    for fault in wrong.first() {
        reader.refuse(raw, place, fault.problem.as_str(), fault.expected.as_str());
    }
}

/// The costs of commands: by position, or equal.
fn costs<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<Costs> {
    let [sequential, random] = reader.open_object(raw, place, &["sequential", "random"], |_| {})?;
    if sequential.or_null().given().is_none() && random.or_null().given().is_none() {
        let both = cost(reader, raw, place)?;
        return Some(Costs { sequential: both, random: both });
    }
    let mut fields = ObjectField::open(reader, raw, place, ["sequential", "random"])?;
    const COST: &str = "an object with `controller` and `latency`";
    let sequential = fields.required(raw, "sequential", COST, cost);
    let random = fields.required(raw, "random", COST, cost);
    Some(Costs { sequential: sequential?, random: random? })
}

fn cost<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<CommandCost> {
    let mut fields =
        ObjectField::open(reader, raw, place, ["controller", "per_kib", "latency", "latency_per_kib", "slow"])?;
    let controller = fields.required(raw, "controller", "a time, such as \"5us\"", time_above_zero);
    let per_kib = fields.or("per_kib", Span::ZERO, Reader::time);
    let latency = fields.or("latency", Span::ZERO, Reader::time);
    let latency_per_kib = fields.or("latency_per_kib", Span::ZERO, Reader::time);
    let slow = fields.maybe("slow", slow);
    Some(CommandCost { controller: controller?, per_kib, latency, latency_per_kib, slow })
}

/// A cost without episodes.
fn cost_alone<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<CommandCost> {
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
