//! The two page registers of a processor's chips (docs/analysis.md, Section 13), and of the chips
//! of a superblock as one (Section 15).

use crate::image::ImageDevice;
use crate::memory::index;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ReadUnderWay {
    pub(crate) column: u32,
    pub(crate) slot: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RowUnderWay {
    pub(crate) slot: u32,
    pub(crate) pages: u32,
    pub(crate) awaited: u32,
}

/// The use of the array by users' pages. A pass's is a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArrayUse {
    Idle,
    Senses(ReadUnderWay),
    /// A page has been sensed, and waits for the cache register.
    Holds(ReadUnderWay),
    Programs(RowUnderWay),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CacheUse {
    Empty,
    /// A page that is read, and whether it is known to be on the bus.
    Leaving(ReadUnderWay, bool),
    /// A row: one page in a stripe.
    Committed(RowUnderWay),
}

#[derive(Debug)]
pub(crate) struct PageRegisters {
    pub(crate) array: ArrayUse,
    pub(crate) cache: CacheUse,
    commands: bool,
    chips_per_channel: u32,
}

impl PageRegisters {
    pub(crate) fn new(device: &ImageDevice) -> PageRegisters {
        let (commands, chips_per_channel) = (device.command_ns > 0, device.chips_per_channel);
        PageRegisters { array: ArrayUse::Idle, cache: CacheUse::Empty, commands, chips_per_channel }
    }

    /// Rule X3: whether a step of a pass can begin.
    pub(crate) fn are_empty(&self) -> bool {
        (self.array, self.cache) == (ArrayUse::Idle, CacheUse::Empty)
    }

    /// Rules X1 and X5.
    pub(crate) fn may_read(&self) -> bool {
        let leaves = match self.cache {
            CacheUse::Empty => true,
            CacheUse::Leaving(_, on_bus) => !(self.commands && on_bus),
            CacheUse::Committed(_) => false,
        };
        self.array == ArrayUse::Idle && leaves
    }

    /// Rule X2.
    pub(crate) fn may_commit(&self) -> bool {
        self.cache == CacheUse::Empty && matches!(self.array, ArrayUse::Idle | ArrayUse::Programs(_))
    }

    pub(crate) fn commits(&mut self, slot: u32, pages: u32) {
        self.cache = CacheUse::Committed(RowUnderWay { slot, pages, awaited: pages });
    }

    /// Rule X5: the chip of `chips` whose page a read's command goes with.
    pub(crate) fn goes_with(&self, chips: &[u32], chip: u32) -> Option<u32> {
        let CacheUse::Leaving(page, _) = self.cache else { return None };
        let (channel, before) = (|chip: u32| chip / self.chips_per_channel, chips[index(page.column)]);
        (self.commands && channel(before) == channel(chip)).then_some(before)
    }
}
