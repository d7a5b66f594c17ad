//! How long the steps of a processor take.

use rtflash_model::Device;

use crate::organisation::shared_bus::SharedBus;
use crate::time::Cost;

#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadTransfers {
    pub(crate) charged: u32,
    pub(crate) most: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StepCosts {
    /// c_r: reading a page, the bus busy with the other chips of the channel first.
    pub(crate) read: Cost,
    /// c_w: programming a page, the bus busy so, too.
    pub(crate) write: Cost,
    /// With all that any page can wait, which is what blocks.
    pub(crate) longest_read: Cost,
    pub(crate) longest_write: Cost,
    /// c_r of a user's read: in a superblock its own cluster is silent.
    pub(crate) user_read: Cost,
    pub(crate) longest_user_read: Cost,
    /// A page more in a step that reads on several chips: its requests for the bus.
    pub(crate) beside: Cost,
    /// c_r' and c_w of a pass of a superblock: of a page that it reads by itself, and of a row.
    pub(crate) alone: Cost,
    pub(crate) row: Cost,
    /// c_c: a copy inside a chip; it waits where its command does.
    pub(crate) copy: Cost,
    pub(crate) longest_copy: Cost,
    pub(crate) erase: Cost,
    pub(crate) longest_erase: Cost,
}

impl StepCosts {
    /// c_r and c_w, Eqs. (3) and (4): a request waits for one of every other chip (Section 2.10).
    pub(crate) fn new(device: &Device, bus: SharedBus, own: ReadTransfers) -> Option<StepCosts> {
        let [sense, program, erase, command, transfer] =
            [device.page_read(), device.page_program(), device.block_erase(), device.command(), device.page_transfer()]
                .map(Cost::from);
        let hold = Cost::from(device.bus_hold());
        let wait = |ways: u32| hold.checked_mul(ways.saturating_sub(1).into());
        // Without commands nothing is asked of the bus at the start.
        let begun = |ways: u32| {
            if device.has_commands() { command.checked_add(wait(ways)?) } else { Some(Cost::ZERO) }
        };
        let read = |ways: u32| begun(ways)?.checked_add(sense)?.checked_add(wait(ways)?)?.checked_add(transfer);
        let write = |ways: u32| wait(ways)?.checked_add(hold)?.checked_add(program);
        let copy = |ways: u32| begun(ways)?.checked_add(sense)?.checked_add(program);
        let erase = |ways: u32| begun(ways)?.checked_add(erase);
        let (usual, longest) = (bus.ways, bus.ways.max(bus.most));
        Some(StepCosts {
            read: read(usual)?,
            write: write(usual)?,
            longest_read: read(longest)?,
            longest_user_read: read(own.most)?,
            longest_write: write(longest)?,
            user_read: read(own.charged)?,
            beside: if device.has_commands() { hold.checked_add(hold)? } else { hold },
            alone: read(own.charged)?,
            row: write(usual)?,
            copy: copy(usual)?,
            longest_copy: copy(longest)?,
            erase: erase(usual)?,
            longest_erase: erase(longest)?,
        })
    }

    pub(crate) fn in_full(self) -> StepCosts {
        StepCosts {
            read: self.longest_read,
            write: self.longest_write,
            user_read: self.longest_user_read,
            alone: self.longest_user_read,
            row: self.longest_write,
            copy: self.longest_copy,
            erase: self.longest_erase,
            ..self
        }
    }

    /// c_r and c_w with two page registers, Eq. (65), in long runs of their kind. `None` where
    /// these cannot be added up, or chips cannot be run so.
    pub(crate) fn cached(device: &Device, bus: SharedBus) -> Option<StepCosts> {
        if !device.has_cache_register() {
            return None;
        }
        let longest = bus.ways.max(bus.most);
        let inside = StepCosts::new(device, bus, ReadTransfers { charged: bus.ways, most: longest })?.in_full();
        let (read, longest_read) = (behind_a_page(device, bus.ways)?, behind_a_page(device, longest)?);
        let moved = Cost::from(device.bus_hold()).checked_mul(longest.into())?;
        let write = Cost::from(device.page_program()).max(moved);
        Some(StepCosts {
            read,
            write,
            longest_read,
            longest_write: write,
            user_read: read,
            longest_user_read: longest_read,
            alone: read,
            row: write,
            ..inside
        })
    }

    /// Eq. (72): passes as any other's; pages wait as long as they can, as neighbours are unknown.
    pub(crate) fn cached_superblock(device: &Device, bus: SharedBus, own: ReadTransfers) -> Option<StepCosts> {
        if !device.has_cache_register() {
            return None;
        }
        let passes = StepCosts::new(device, bus, own)?.in_full();
        let read = behind_a_page(device, own.most)?;
        let moved = Cost::from(device.bus_hold()).checked_mul(bus.ways.max(bus.most).into())?;
        let write = Cost::from(device.page_program()).max(moved);
        Some(StepCosts { user_read: read, longest_user_read: read, write, longest_write: write, ..passes })
    }
}

/// Behind a page on its way out of the array; with commands (Section 15.1) the read's command
/// waits, goes with that page, and only then the array senses. `ways` includes its own request.
pub(crate) fn behind_a_page(device: &Device, ways: u32) -> Option<Cost> {
    let [sense, transfer, command, hold] =
        [device.page_read(), device.page_transfer(), device.command(), device.bus_hold()].map(Cost::from);
    if !device.has_commands() {
        return Some(sense.max(transfer.checked_mul(ways.into())?));
    }
    let waits = hold.checked_mul(ways.saturating_sub(1).into())?;
    waits.checked_add(command)?.checked_add(sense.max(transfer))
}
