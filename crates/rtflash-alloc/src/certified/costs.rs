//! How long the steps of a processor take.

use rtflash_model::Device;

use super::bus::SharedBus;
use super::time::Cost;

/// Times of the steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StepCosts {
    /// c_r: reading a page, the bus busy with the other chips of the channel first.
    pub(super) read: Cost,
    /// c_w: programming a page, likewise.
    pub(super) write: Cost,
    /// The same at the most that any page can wait, which is what blocks.
    pub(super) longest_read: Cost,
    pub(super) longest_write: Cost,
    /// c_r of a user's read: in a superblock its own cluster is silent.
    pub(super) user_read: Cost,
    /// The same at the most that it can wait.
    pub(super) longest_user_read: Cost,
    /// t_r + t_w: a copy inside a chip.
    pub(super) copy: Cost,
    /// t_e.
    pub(super) erase: Cost,
}

impl StepCosts {
    /// c_r and c_w, Eqs. (1) and (2): a page waits for one transfer of every other chip of its
    /// channel, at most. `own`: transfers charged to a user's read, its own included, in the long
    /// run and at the most.
    pub(super) fn new(device: &Device, bus: SharedBus, own: (u32, u32)) -> Option<StepCosts> {
        let (sense, program) = (Cost::from(device.page_read()), Cost::from(device.page_program()));
        let transfers = |ways: u32| Cost::from(device.page_transfer()).checked_mul(ways.into());
        let (usual, longest) = (transfers(bus.ways)?, transfers(bus.ways.max(bus.most))?);
        let (own, longest_own) = own;
        Some(StepCosts {
            read: sense.checked_add(usual)?,
            write: program.checked_add(usual)?,
            longest_read: sense.checked_add(longest)?,
            longest_user_read: sense.checked_add(transfers(longest_own)?)?,
            longest_write: program.checked_add(longest)?,
            user_read: sense.checked_add(transfers(own)?)?,
            copy: sense.checked_add(program)?,
            erase: device.block_erase().into(),
        })
    }
}
