//! Devices: a profile's name, a profile with fields of one's own, or all fields.

use super::alternatives::NAMES;
use super::diagnostic::Diagnostics;
use super::place::{Place, Slot, quote, quoted};
use super::reader::Reader;
use super::request::refuse_both;
use super::tree::JsonKind;
use super::wire::device::{FIELDS, NEEDED, Read, Visitor, stand_ins, visit};
use crate::device::{Device, DeviceSpec};
use crate::invalid::{Invalid, Path, PathStep};
use crate::profiles::PROFILES;

/// The names in a description: a profile, and fields by both of their names.
const COUNT: usize = 1 + FIELDS.len() + NAMES.len();

const A_DEVICE: &str = "a device: a profile's name in a string, or an object with its fields";

/// Reads one JSON value, as the field `device` of a task-set file has it.
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
    let mut known = ["profile"; COUNT];
    known[1..=FIELDS.len()].copy_from_slice(&FIELDS);
    known[1 + FIELDS.len()..].copy_from_slice(&NAMES.map(|(_, theirs)| theirs));
    let slots: [Slot<'_>; COUNT] = reader.object(raw, place, &known)?;
    let [base, fields @ ..] = slots;
    let base = base.or_null();
    let base_device = match base {
        Slot::Given(name) => profile(reader, name, &place.key("profile")),
        _ => None,
    };
    let defaults = base_device.map(|device| device.spec());
    let fields = if base == Slot::Absent { fields } else { fields.map(Slot::or_null) };
    let (mut fields, names) = by_our_names(reader, place, fields);
    fields[NEEDED..].iter_mut().for_each(|optional| *optional = optional.or_null());
    let mut parts = Parts { reader, place, fields, names, defaults, next: 0, spec: stand_ins(), unknown: Vec::new() };
    visit(&mut parts);
    let Parts { spec, unknown, .. } = parts;
    if base == Slot::Absent {
        refuse_absent_fields(reader, raw, place, &fields);
    }
    let is_unknown = |field: &str| unknown.contains(&field);
    match Device::new(spec) {
        Ok(device) if reader.faults() == before => {
            Some(if base_device.is_some_and(|base| base.is_sealed()) { device.sealed() } else { device })
        }
        Ok(_) => None,
        Err(wrong) => {
            let doubtful = |invalid: &Invalid| match invalid.path.steps() {
                [PathStep::Key(field)] if field == "logical_ratio" => {
                    is_unknown("logical_ratio") || is_unknown("pages_per_block")
                }
                [PathStep::Key(field)] if field == "pages_per_block" => {
                    is_unknown("logical_ratio") && spec.pages_per_block != 0
                }
                [PathStep::Key(field)] if field == "page_read_includes_transfer" => {
                    is_unknown("page_read") || is_unknown("page_transfer")
                }
                [PathStep::Key(field)] if field == "page_program_includes_transfer" => {
                    is_unknown("page_program") || is_unknown("page_transfer")
                }
                _ => false,
            };
            for invalid in wrong.into_iter().filter(|invalid| !doubtful(invalid)) {
                reader.refuse_invalid(raw, place, by_their_names(invalid, &names), 0);
            }
            None
        }
    }
}

/// The fields by our names, with the names that were given: a second name stands for ours.
fn by_our_names<'t>(
    reader: &mut Reader<'_>,
    place: &Place<'_>,
    given: [Slot<'t>; COUNT - 1],
) -> ([Slot<'t>; FIELDS.len()], [&'static str; FIELDS.len()]) {
    let (ours, theirs) = given.split_at(FIELDS.len());
    let (mut fields, mut names) = ([Slot::Absent; FIELDS.len()], FIELDS);
    fields.copy_from_slice(ours);
    for (&slot, (ours, name)) in theirs.iter().zip(NAMES) {
        let ours = FIELDS.iter().position(|field| *field == ours).expect("second names are of fields that there are");
        match (fields[ours], slot) {
            (_, Slot::Absent) => {}
            (Slot::Absent | Slot::Misspelt, slot) => (fields[ours], names[ours]) = (slot, name),
            (Slot::Given(_), Slot::Given(raw)) => refuse_both(reader, raw, place, [names[ours], name]),
            (Slot::Given(_), Slot::Misspelt) => {}
        }
    }
    (fields, names)
}

/// A fault of a field by the name that the text has for it.
fn by_their_names(mut invalid: Invalid, names: &[&'static str; FIELDS.len()]) -> Invalid {
    if let [PathStep::Key(field)] = invalid.path.steps()
        && let Some(at) = FIELDS.iter().position(|ours| ours == field)
        && names[at] != FIELDS[at]
    {
        invalid.problem = invalid.problem.replace(&format!("`{}`", FIELDS[at]), &format!("`{}`", names[at]));
        invalid.path = Path::root().key(names[at]);
    }
    invalid
}

fn refuse_absent_fields(reader: &mut Reader<'_>, raw: &str, place: &Place<'_>, fields: &[Slot<'_>]) {
    let absent = fields.iter().zip(&FIELDS).take(NEEDED).filter(|(slot, _)| **slot == Slot::Absent);
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
    fields: [Slot<'t>; FIELDS.len()],
    names: [&'static str; FIELDS.len()],
    defaults: Option<DeviceSpec>,
    next: usize,
    spec: DeviceSpec,
    unknown: Vec<&'static str>,
}

impl<'t> Visitor<'t> for Parts<'_, 't, '_> {
    fn field<T>(&mut self, read: Read<'t, T>, of: fn(&DeviceSpec) -> T, put: fn(&mut DeviceSpec, T)) {
        let field = self.next;
        self.next += 1;
        let value = match self.fields[field] {
            Slot::Given(value) => read(self.reader, value, &self.place.key(self.names[field])),
            Slot::Absent => self.defaults.as_ref().map(of),
            Slot::Misspelt => None,
        };
        match value {
            Some(value) => put(&mut self.spec, value),
            None => self.unknown.push(FIELDS[field]),
        }
    }
}
