//! How a device is attached, in JSON.

use crate::file::{ObjectField, above_zero};
use crate::run::device::Attach;

/// How a device is attached.
const ATTACH: [(&str, Attach); 4] =
    [("usb", Attach::Budget), ("scsi", Attach::Budget), ("ufs", Attach::Budget), ("tags", Attach::Tags)];

/// How a device is attached, and commands that are out of the scheduler at most.
pub(super) fn attach<const N: usize>(fields: &mut ObjectField<'_, '_, '_, N>) -> (Attach, u32) {
    let attach = fields.or("attach", Attach::default(), |reader, raw, place| {
        reader.choice(raw, place, "attachment", &ATTACH.map(|(name, _)| name)).map(|at| ATTACH[at].1)
    });
    let depth = fields.or("depth", 1, above_zero);
    // A command without a tag is out of the scheduler, too.
    (attach, if attach == Attach::Tags { depth.saturating_add(1) } else { depth })
}
