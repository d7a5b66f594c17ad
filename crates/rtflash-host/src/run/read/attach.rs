//! How a device is attached, in JSON.

use std::ops::RangeInclusive;

use crate::file::{ObjectField, above_zero};
use crate::run::device::Attach;

/// How a device is attached.
const ATTACH: [(&str, Attach); 6] = [
    ("usb", Attach::Budget),
    ("scsi", Attach::Budget),
    ("ufs", Attach::Budget),
    ("tags", Attach::Tags),
    ("mmc", Attach::Mmc),
    ("mmc-cqe", Attach::MmcCqe),
];
/// Commands in a card's queue (`mmc_decode_ext_csd` of drivers/mmc/core/mmc.c, 6.12.117: a card
/// with fewer is run without command queueing).
const CQE_DEPTHS: RangeInclusive<u32> = 3..=32;

/// How a device is attached, and commands that are out of the scheduler at most.
pub(super) fn attach<const N: usize>(fields: &mut ObjectField<'_, '_, '_, N>) -> (Attach, u32) {
    let attach = fields.or("attach", Attach::default(), |reader, raw, place| {
        reader.choice(raw, place, "attachment", &ATTACH.map(|(name, _)| name)).map(|at| ATTACH[at].1)
    });
    let left_out = match attach {
        Attach::Mmc => Attach::MMC_TAGS,
        Attach::MmcCqe => *CQE_DEPTHS.end(),
        Attach::Unstated | Attach::Budget | Attach::Tags => 1,
    };
    let depth = fields.or("depth", left_out, |reader, raw, place| {
        let depth = above_zero(reader, raw, place)?;
        if attach == Attach::Mmc && depth != Attach::MMC_TAGS {
            reader.refuse(raw, place, "the driver of such a card has 64 tags", "64, or no `depth`");
        }
        if attach == Attach::MmcCqe && !CQE_DEPTHS.contains(&depth) {
            reader.refuse(raw, place, "such a card has a queue of 3 to 32 commands", "one of these depths");
        }
        Some(depth)
    });
    // A command without a tag is out of the scheduler, too.
    (attach, depth.saturating_add(attach.asks_before_tags().into()))
}
