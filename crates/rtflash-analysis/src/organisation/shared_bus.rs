//! How long a page waits for its channel's bus.

use rtflash_model::Device;

/// A bus serves one transfer at a time, first come first served or in turns, and a chip asks for
/// one at a time: a transfer waits for at most one of each other chip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SharedBus {
    /// Transfers charged to each page, its own included.
    pub ways: u32,
    /// At most, its own included; above `ways` where some waits are counted apart.
    pub most: u32,
    /// Transfers of other clusters' chips charged to each page; among `ways`.
    pub foreign: u32,
    /// Those that a page can wait for at most; among `most`.
    pub most_foreign: u32,
}

impl SharedBus {
    /// Wherever the cluster's chips are: m_c transfers a page, of which all but one may be others'.
    pub fn anywhere(device: &Device) -> SharedBus {
        let ways = device.chips_per_channel().min(device.chips());
        SharedBus { ways, most: ways, foreign: ways - 1, most_foreign: ways - 1 }
    }

    /// A cluster of `chips` chips that owns whole channels, but for one that it may own a part of.
    pub fn compact(device: &Device, chips: u32) -> SharedBus {
        let ways = device.chips_per_channel().min(device.chips());
        let part = match chips % ways {
            0 => ways,
            part => part,
        };
        SharedBus { ways, most: ways, foreign: ways - part, most_foreign: ways - part }
    }

    pub(crate) fn on_a_channel(own: u32, foreign: u32) -> SharedBus {
        SharedBus { ways: own + foreign, most: own + foreign, foreign, most_foreign: foreign }
    }

    pub(crate) fn most_of(self, other: SharedBus) -> SharedBus {
        SharedBus {
            ways: self.ways.max(other.ways),
            most: self.most.max(other.most),
            foreign: self.foreign.max(other.foreign),
            most_foreign: self.most_foreign.max(other.most_foreign),
        }
    }

    /// At most `foreign` chips of others are charged; rows wait on `whole` channels as before.
    pub fn beside_fewer(self, foreign: u32, whole: bool) -> SharedBus {
        let less = self.foreign.saturating_sub(foreign);
        SharedBus { ways: if whole { self.ways } else { self.ways - less }, foreign: self.foreign - less, ..self }
    }

    /// No waiting at all: what can pass on no channel cannot pass so.
    pub fn alone() -> SharedBus {
        SharedBus { ways: 1, most: 1, foreign: 0, most_foreign: 0 }
    }
}

#[cfg(test)]
mod tests {
    use rtflash_model::{Device, DeviceSpec};

    use super::SharedBus;

    /// A cluster that owns whole channels waits for no other; one that owns a part of one as well,
    /// for the other chips there.
    #[test]
    fn compact_clusters_wait_for_the_rest_of_their_last_channel() {
        let spec = Device::profile("dgist-2021").expect("a profile").spec();
        let device = Device::new(DeviceSpec { chips: 16, chips_per_channel: 4, ..spec }).expect("a device");
        let foreign = [1, 2, 3, 4, 5, 6, 8].map(|chips| SharedBus::compact(&device, chips).foreign);
        assert_eq!(foreign, [3, 2, 1, 0, 3, 2, 0]);
        assert_eq!(SharedBus::compact(&device, 5).ways, 4);
        // A channel that is longer than the device has no more chips than that.
        let short = Device::new(DeviceSpec { chips: 3, chips_per_channel: 4, ..spec }).expect("a device");
        assert_eq!(
            [2, 3].map(|chips| SharedBus::compact(&short, chips)).map(|bus| (bus.ways, bus.foreign)),
            [(3, 1), (3, 0)]
        );
    }
}
