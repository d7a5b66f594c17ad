//! The fields of a device, each described once: what reads, writes and describes devices goes by
//! this table. Their meaning and what is checked of them is with [`DeviceSpec`].

use schemars::JsonSchema;
use serde::Serialize;

use super::ProfileName;
use super::scalars::{Duration, Ratio, TimeOrRange};
use crate::device::{DeviceSpec, Shortest, StatedTimes};
use crate::file::alternatives;
use crate::file::place::Place;
use crate::file::reader::Reader;
use crate::file::request::SHORTEST;
use crate::file::tree::JsonKind;
use crate::ratio::LogicalRatio;

/// Reads a value; `None` where something wrong with it has been recorded.
pub(in crate::file) type Read<'t, T> = fn(&mut Reader<'t>, &'t str, &Place<'_>) -> Option<T>;

/// A visitor of the fields.
pub(in crate::file) trait Visitor<'t> {
    /// The next field: how it is read, where it is in a description, and how it gets there.
    fn field<T>(&mut self, read: Read<'t, T>, of: fn(&DeviceSpec) -> T, put: fn(&mut DeviceSpec, T));
}

/// The type of a description's field, by the kind of field.
macro_rules! value {
    (ratio, $spec:ident.$field:ident) => {
        Ratio($spec.$field)
    };
    (times, $spec:ident.$field:ident) => {
        TimeOrRange($spec.shortest.$field, $spec.$field)
    };
    (duration, $spec:ident.$field:ident) => {
        $spec.$field.map(Duration)
    };
    ($count:ident, $spec:ident.$field:ident) => {
        $spec.$field
    };
}

/// Gives a description a value.
macro_rules! put {
    (ratio, $spec:ident.$field:ident, $value:ident) => {
        $spec.$field = $value.0
    };
    (times, $spec:ident.$field:ident, $value:ident) => {
        ($spec.shortest.$field, $spec.$field) = ($value.0, $value.1)
    };
    (duration, $spec:ident.$field:ident, $value:ident) => {
        $spec.$field = $value.map(|time| time.0)
    };
    ($count:ident, $spec:ident.$field:ident, $value:ident) => {
        $spec.$field = $value
    };
}

/// For each field: its text in the schema, its name, its type in JSON, and its kind: the function
/// that reads it. A field that is needed has a value that stands in for a wrong one and makes no
/// fault of its own, so that the other fields are checked all the same.
macro_rules! fields {
    (
        needed { $($(#[$needed_meta:meta])* $needed:ident: $needed_type:ty, $needed_kind:ident, $stand_in:expr;)+ }
        optional { $($(#[$meta:meta])* $optional:ident: $type:ty, $kind:ident;)+ }
    ) => {
        /// Their names, those first that a device without a profile has to have.
        pub(in crate::file) const FIELDS: [&str; NEEDED + [$(stringify!($optional)),+].len()] =
            [$(stringify!($needed),)+ $(stringify!($optional),)+];

        /// How many a device without a profile has to have.
        pub(in crate::file) const NEEDED: usize = [$(stringify!($needed)),+].len();

        /// A device like a profile, but for the fields given.
        #[derive(Serialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        #[schemars(transform = alternatives::changed_device)]
        #[allow(dead_code)]
        pub(in crate::file) struct ChangedDevice {
            /// The profile that gives the fields left out.
            profile: ProfileName,
            $($(#[$needed_meta])* $needed: Option<$needed_type>,)+
            $($(#[$meta])* $optional: Option<$type>,)+
        }

        /// A device with all its fields; those that not every device has may be left out.
        #[derive(Serialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        #[schemars(transform = alternatives::full_device)]
        pub(in crate::file) struct FullDevice {
            $($(#[$needed_meta])* $needed: $needed_type,)+
            $($(#[$meta])* #[serde(skip_serializing_if = "Option::is_none")] $optional: Option<$type>,)+
        }

        impl From<DeviceSpec> for FullDevice {
            fn from(spec: DeviceSpec) -> FullDevice {
                FullDevice {
                    $($needed: value!($needed_kind, spec.$needed),)+
                    $($optional: value!($kind, spec.$optional),)+
                }
            }
        }

        /// A description in which every value stands in for another one.
        pub(in crate::file) fn stand_ins() -> DeviceSpec {
            DeviceSpec { $($needed: $stand_in,)+ $($optional: None,)+ shortest: Shortest::default() }
        }

        /// Goes through the fields in the order of [`FIELDS`].
        pub(in crate::file) fn visit<'t>(visitor: &mut impl Visitor<'t>) {
            $(visitor.field::<$needed_type>(
                $needed_kind,
                |spec| value!($needed_kind, spec.$needed),
                |spec, value| put!($needed_kind, spec.$needed, value),
            );)+
            $(visitor.field::<Option<$type>>(
                |reader, raw, place| $kind(reader, raw, place).map(Some),
                |spec| value!($kind, spec.$optional),
                |spec, value| put!($kind, spec.$optional, value),
            );)+
        }
    };
}

fields! {
    needed {
        /// m: flash chips.
        #[schemars(range(min = 1, max = 1_048_576))]
        chips: u32, count, 1;
        /// m_c: chips that share one channel's data bus. Chip c is on channel ⌊c / m_c⌋.
        #[schemars(range(min = 1, max = 4_294_967_295_u32))]
        chips_per_channel: u32, count, 1;
        /// Blocks on each chip.
        #[schemars(range(min = 1, max = 4_294_967_295_u32))]
        blocks_per_chip: u32, count, 1;
        /// P: pages in a block.
        #[schemars(range(min = 1, max = 4_294_967_295_u32))]
        pages_per_block: u32, count, 2;
        /// Bytes in a page.
        #[schemars(range(min = 1))]
        page_size: u32, bytes, 1;
        /// λ: logical over physical address space.
        logical_ratio: Ratio, ratio, LogicalRatio::HALF;
        /// t_r (tR): time to read a page on a chip.
        page_read: TimeOrRange, times, SHORTEST;
        /// t_w (tPROG): time to program a page on a chip.
        page_program: TimeOrRange, times, SHORTEST;
        /// t_e (tBERS): time to erase a block.
        block_erase: TimeOrRange, times, SHORTEST;
        /// t_d: time to move one page over the channel's bus.
        page_transfer: TimeOrRange, times, SHORTEST;
    }
    optional {
        /// Erases that a block endures (P/E cycles). `size` and `exec` ask, for the lifetime.
        #[schemars(range(min = 1, max = 4_294_967_295_u32))]
        erase_cycles: u32, count;
        /// t_c: what the commands, addresses and polls of one operation hold the bus; left out, 0.
        command: Duration, duration;
        /// Registers of a chip that hold a page: with 2 it senses or programs a page while it moves
        /// another one (cache read, cache program); left out, 1.
        #[schemars(range(min = 1, max = 2))]
        page_registers: u32, registers;
        /// N_s: blocks of a chip that may fail, kept erased until then; left out, 0.
        spare_blocks: u32, count;
        /// The spare blocks that programs can need which fail while the chip, or its superblock, is
        /// busy without a break; left out, all of them.
        program_failures: u32, count;
        /// t_s: the longest time from a command that suspends an erase until the chip is free; left
        /// out, erases are not suspended.
        erase_suspend: Duration, duration;
        /// t_u: by how much an erase takes longer for each time that it was suspended; left out, 0.
        erase_resume: Duration, duration;
        /// Wear is levelled: valid pages of a block are moved once it was erased this many times
        /// less often than another one of its chip; left out, wear is not levelled.
        #[schemars(range(min = 1, max = 4_294_967_295_u32))]
        wear_gap: u32, count;
        /// A certificate leaves one of this many GC jobs for wear levelling; left out, wear
        /// levelling uses only the GC jobs that have no other work.
        #[schemars(range(min = 2, max = 4_294_967_295_u32))]
        wear_passes: u32, count;
        /// Whether the page's transfer is in `page_read`. Left out: as each analysis has it.
        page_read_includes_transfer: bool, truth;
        /// Whether the page's transfer is in `page_program`. Left out: as each analysis has it.
        page_program_includes_transfer: bool, truth;
        /// Whether the device's times are maxima; left out, they are. With typical times nothing is
        /// guaranteed.
        times: StatedTimes, stated;
    }
}

fn count<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<u32> {
    reader.whole_u32(raw, place)
}

fn truth<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<bool> {
    reader.truth(raw, place)
}

/// How many page registers a chip has, or whether one of two is a cache register.
fn registers<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<u32> {
    match JsonKind::of(raw) {
        JsonKind::Bool => reader.truth(raw, place).map(|cache| 1 + u32::from(cache)),
        _ => reader.whole_u32(raw, place),
    }
}

/// A whole number of bytes, or a size with its unit.
fn bytes<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<u32> {
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

fn ratio<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<Ratio> {
    reader.ratio(raw, place).map(Ratio)
}

fn times<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<TimeOrRange> {
    reader.times(raw, place).map(|(shortest, longest)| TimeOrRange(shortest, longest))
}

fn stated<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<StatedTimes> {
    let names = StatedTimes::ALL.map(StatedTimes::name);
    let found = reader.named(raw, place, &names, "`maximum` or `typical`", |name| format!("times are not {name}"));
    found.map(|at| StatedTimes::ALL[at])
}

fn duration<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<Duration> {
    reader.time(raw, place).map(Duration)
}
