//! Devices: a profile's name, a profile with fields of one's own, or all fields.

use super::diagnostic::Diagnostics;
use super::place::{Place, Slot, quote, quoted};
use super::reader::Reader;
use super::request::{SHORTEST, refuse_both};
use super::tree::JsonKind;
use crate::device::{Device, DeviceSpec, Shortest};
use crate::invalid::{Invalid, PathStep};
use crate::profiles::PROFILES;
use crate::ratio::LogicalRatio;
use crate::time::Span;

const FIELDS: [&str; 15] = [
    "profile",
    "chips",
    "chips_per_channel",
    "blocks_per_chip",
    "pages_per_block",
    "page_size",
    "logical_ratio",
    "page_read",
    "page_program",
    "block_erase",
    "page_transfer",
    "erase_cycles",
    "tR",
    "tPROG",
    "tBERS",
];

/// What datasheets call them, from `tR` on, by the position of ours behind `profile`.
const DATASHEET: [usize; 3] = [6, 7, 8];

/// Those of them, from `chips` on, that a device without a profile has to have.
const NEEDED: usize = 10;

/// What stands in for a count that is wrong.
const STAND_IN: u32 = 1;

const A_DEVICE: &str = "a device: a profile's name in a string, or an object with its fields";

/// Reads a device by itself: the text of a JSON value, as the field `device` of a task-set file has
/// it.
///
/// # Errors
/// All that is wrong with it.
pub fn read_device(text: &str) -> Result<Device, Diagnostics> {
    let (mut reader, value) = Reader::open(text, A_DEVICE)?;
    device(&mut reader, value, &Place::Root).ok_or_else(|| reader.into_diagnostics())
}

/// Reads a device; `None` where something wrong with it has been recorded.
pub(super) fn device<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<Device> {
    match JsonKind::of(raw) {
        JsonKind::Text => profile(reader, raw, place),
        JsonKind::Object => described(reader, raw, place),
        _ => {
            reader.refuse_kind(raw, place, A_DEVICE);
            None
        }
    }
}

fn profile<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<Device> {
    let name = reader.string(raw, place, "a profile's name")?;
    let found = Device::profile(&name);
    if found.is_none() {
        let names: Vec<&str> = PROFILES.iter().map(|profile| profile.name).collect();
        let expected = match reader.nearest(&name, names.iter().copied()) {
            Some(near) => format!("`{}`, the nearest of the known profiles", names[near]),
            None => format!("a known profile: {}", quoted(&names)),
        };
        reader.refuse(raw, place, format!("there is no device profile {}", quote(&name)), expected);
    }
    found
}

fn described<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<Device> {
    let before = reader.faults();
    let [base, fields @ ..] = reader.object(raw, place, &FIELDS)?;
    let base = base.or_null();
    let defaults = match base {
        Slot::Given(name) => profile(reader, name, &place.key("profile")).map(|device| device.spec()),
        _ => None,
    };
    let fields = if base == Slot::Absent { fields } else { fields.map(Slot::or_null) };
    let (mut fields, names) = by_our_names(reader, place, fields);
    fields[NEEDED] = fields[NEEDED].or_null();
    let mut parts = Parts { reader, place, fields, names, defaults, next: 0 };
    let (chips, chips_per_channel) = (parts.count(|spec| spec.chips), parts.count(|spec| spec.chips_per_channel));
    let (blocks, pages) = (parts.count(|spec| spec.blocks_per_chip), parts.count(|spec| spec.pages_per_block));
    let page_size = parts.take(page_size, |spec| spec.page_size);
    let ratio = parts.ratio();
    let read = parts.times(|spec| (spec.shortest.page_read, spec.page_read));
    let program = parts.times(|spec| (spec.shortest.page_program, spec.page_program));
    let erase = parts.times(|spec| (spec.shortest.block_erase, spec.block_erase));
    let transfer = parts.times(|spec| (spec.shortest.page_transfer, spec.page_transfer));
    let erase_cycles = parts.take(|reader, raw, place| Some(reader.whole_u32(raw, place)), |spec| spec.erase_cycles);
    if base == Slot::Absent {
        refuse_absent_fields(reader, raw, place, &fields);
    }
    // Stand-ins that make no fault of their own, so that the other fields are checked all the same.
    let spec = DeviceSpec {
        chips: chips.unwrap_or(STAND_IN),
        chips_per_channel: chips_per_channel.unwrap_or(STAND_IN),
        blocks_per_chip: blocks.unwrap_or(STAND_IN),
        pages_per_block: pages.unwrap_or(2 * STAND_IN),
        page_size: page_size.unwrap_or(STAND_IN),
        logical_ratio: ratio.unwrap_or(LogicalRatio::HALF),
        page_read: read.map_or(SHORTEST, |times| times.1),
        page_program: program.map_or(SHORTEST, |times| times.1),
        block_erase: erase.map_or(SHORTEST, |times| times.1),
        page_transfer: transfer.map_or(SHORTEST, |times| times.1),
        shortest: Shortest {
            page_read: read.and_then(|times| times.0),
            page_program: program.and_then(|times| times.0),
            block_erase: erase.and_then(|times| times.0),
            page_transfer: transfer.and_then(|times| times.0),
        },
        erase_cycles: erase_cycles.flatten(),
    };
    match Device::new(spec) {
        Ok(device) if reader.faults() == before => Some(device),
        Ok(_) => None,
        Err(wrong) => {
            let doubtful = |invalid: &Invalid| match invalid.path.steps() {
                [PathStep::Key(field)] if field == "logical_ratio" => ratio.is_none() || pages.is_none(),
                [PathStep::Key(field)] if field == "pages_per_block" => ratio.is_none() && pages != Some(0),
                _ => false,
            };
            for invalid in wrong.into_iter().filter(|invalid| !doubtful(invalid)) {
                reader.refuse_invalid(raw, place, invalid, 0);
            }
            None
        }
    }
}

/// The fields by our names, with the names that were given: a datasheet's name stands for ours.
fn by_our_names<'t>(
    reader: &mut Reader<'_>,
    place: &Place<'_>,
    given: [Slot<'t>; 14],
) -> ([Slot<'t>; 11], [&'static str; 11]) {
    let [ours @ .., read, program, erase] = given;
    let (mut fields, mut names) = (ours, [""; 11]);
    names.copy_from_slice(&FIELDS[1..12]);
    for ((slot, name), ours) in [read, program, erase].into_iter().zip(&FIELDS[12..]).zip(DATASHEET) {
        match (fields[ours], slot) {
            (_, Slot::Absent) => {}
            (Slot::Absent | Slot::Misspelt, slot) => (fields[ours], names[ours]) = (slot, name),
            (Slot::Given(_), Slot::Given(raw)) => refuse_both(reader, raw, place, [names[ours], name]),
            (Slot::Given(_), Slot::Misspelt) => {}
        }
    }
    (fields, names)
}

/// Bytes of a page: a whole number of them, or a size with its unit.
fn page_size<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<u32> {
    if JsonKind::of(raw) != JsonKind::Text {
        return reader.whole_u32(raw, place);
    }
    let bytes = reader.bytes(raw, place)?;
    let fits = u32::try_from(bytes).ok();
    if fits.is_none() {
        reader.refuse(raw, place, format!("a page of {bytes} bytes is too large"), format!("at most {}", u32::MAX));
    }
    fits
}

fn refuse_absent_fields(reader: &mut Reader<'_>, raw: &str, place: &Place<'_>, fields: &[Slot<'_>; 11]) {
    let absent = fields.iter().zip(&FIELDS[1..]).take(NEEDED).filter(|(slot, _)| **slot == Slot::Absent);
    let absent: Vec<&str> = absent.map(|(_, name)| *name).collect();
    if !absent.is_empty() {
        let problem = format!("missing field{} {}", if absent.len() == 1 { "" } else { "s" }, quoted(&absent));
        reader.refuse(raw, place, problem, "all ten fields, or a `profile` that gives those left out");
    }
}

/// The fields of a description, taken one after another in the order of [`FIELDS`].
struct Parts<'r, 't, 'p> {
    reader: &'r mut Reader<'t>,
    place: &'p Place<'p>,
    fields: [Slot<'t>; 11],
    /// What they are called in the text.
    names: [&'static str; 11],
    defaults: Option<DeviceSpec>,
    next: usize,
}

impl<'t> Parts<'_, 't, '_> {
    fn take<T>(
        &mut self,
        read: fn(&mut Reader<'t>, &'t str, &Place<'_>) -> Option<T>,
        default: impl FnOnce(&DeviceSpec) -> T,
    ) -> Option<T> {
        let field = self.next;
        self.next += 1;
        match self.fields[field] {
            Slot::Given(value) => read(self.reader, value, &self.place.key(self.names[field])),
            Slot::Absent => self.defaults.as_ref().map(default),
            Slot::Misspelt => None,
        }
    }

    fn count(&mut self, default: fn(&DeviceSpec) -> u32) -> Option<u32> {
        self.take(|reader, raw, place| reader.whole_u32(raw, place), default)
    }

    /// A time, or a range of times: the shortest, where it is another, and the longest.
    fn times(&mut self, default: fn(&DeviceSpec) -> (Option<Span>, Span)) -> Option<(Option<Span>, Span)> {
        self.take(|reader, raw, place| reader.times(raw, place), default)
    }

    fn ratio(&mut self) -> Option<LogicalRatio> {
        self.take(|reader, raw, place| reader.ratio(raw, place), |spec| spec.logical_ratio)
    }
}
