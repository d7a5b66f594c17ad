//! The devices that have a name.
//!
//! Times are those of public datasheets and of ONFI parameter pages, which the chips hold
//! themselves. Counts of chips and the logical ratio are no chip's numbers: they are a choice.
//! Blocks are those that are good for sure, where that is stated. A page's transfer is its bytes,
//! spare ones included, at the rate of the interface; the longer time has commands and addresses,
//! too. Profiles whose name ends in `-typical` state typical times: no guarantee follows from them.

use crate::device::{Device, DeviceSpec, Shortest, StatedTimes};
use crate::ratio::LogicalRatio;
use crate::time::Span;

/// A device that has a name.
#[derive(Debug, Clone, Copy)]
pub struct Profile {
    /// Its name in a task-set file.
    pub name: &'static str,
    /// The source of its numbers.
    pub source: &'static str,
    /// Chips, chips of a channel, good blocks of a chip, pages of a block, bytes of a page.
    geometry: [u32; 5],
    /// λ as a decimal: its digits, and how many places they have.
    logical_ratio: (u32, u32),
    /// Times in nanoseconds, the shortest and the longest.
    read: [u32; 2],
    program: [u32; 2],
    erase: [u32; 2],
    transfer: [u32; 2],
    erase_cycles: Option<u32>,
    times: Option<StatedTimes>,
    /// Whether such a device is sold with a controller that its user cannot reprogram.
    pub sealed: bool,
}

impl Device {
    /// The named profile, if there is one: see [`PROFILES`].
    pub fn profile(name: &str) -> Option<Device> {
        let profile = PROFILES.iter().find(|profile| profile.name == name)?;
        Some(Device::new(profile.spec()).expect("profiles are devices"))
    }

    /// The device as one that was described by this sealed profile.
    pub(crate) fn sealed(mut self) -> Device {
        self.from_sealed = true;
        self
    }

    /// A sealed profile with any other fields, or with the geometry and the times of one.
    pub fn is_sealed(&self) -> bool {
        let alike = |spec: &DeviceSpec| {
            let counts = [spec.chips, spec.chips_per_channel, spec.blocks_per_chip, spec.pages_per_block];
            let times = [spec.page_read, spec.page_program, spec.block_erase, spec.page_transfer];
            (counts, spec.page_size, times, spec.shortest)
        };
        let this = alike(&self.spec());
        self.from_sealed || PROFILES.iter().any(|profile| profile.sealed && alike(&profile.spec()) == this)
    }
}

impl Profile {
    /// Its description, to change or to check.
    pub fn spec(&self) -> DeviceSpec {
        let [chips, chips_per_channel, blocks_per_chip, pages_per_block, page_size] = self.geometry;
        let (digits, places) = self.logical_ratio;
        let time = |ns: u32| Span::from_ns(ns.into()).expect("32 bits are below 2^63");
        let longest = |[_, longest]: [u32; 2]| time(longest);
        let shortest = |[shortest, longest]: [u32; 2]| (shortest != longest).then(|| time(shortest));
        DeviceSpec {
            chips,
            chips_per_channel,
            blocks_per_chip,
            pages_per_block,
            page_size,
            logical_ratio: LogicalRatio::from_decimal(digits.into(), places).expect("a profile's ratio is below one"),
            page_read: longest(self.read),
            page_program: longest(self.program),
            block_erase: longest(self.erase),
            page_transfer: longest(self.transfer),
            shortest: Shortest {
                page_read: shortest(self.read),
                page_program: shortest(self.program),
                block_erase: shortest(self.erase),
                page_transfer: shortest(self.transfer),
            },
            erase_cycles: self.erase_cycles,
            times: self.times,
            ..DeviceSpec::default()
        }
    }
}

/// The named devices.
pub const PROFILES: &[Profile] = &[
    Profile {
        name: "dgist-2021",
        source: "Kim 2021, Table III.1, with the values of the authors' public simulation",
        geometry: [16, 4, 1_024, 256, 8_192],
        logical_ratio: (5, 1),
        read: [50_000; 2],
        program: [500_000; 2],
        erase: [5_000_000; 2],
        transfer: [40_000; 2],
        // Its source does not say.
        erase_cycles: None,
        times: None,
        sealed: false,
    },
    Profile {
        name: "mt29f4g08abada-slc",
        source: "Micron MT29F4G08ABADA (SLC), datasheet and ONFI parameter page: maximum times; counts of chips and \
                 logical_ratio are a choice",
        geometry: [8, 4, 4_016, 64, 2_048],
        logical_ratio: (78_125, 5),
        read: [25_000; 2],
        program: [200_000, 600_000],
        erase: [700_000, 3_000_000],
        transfer: [42_240, 43_000],
        erase_cycles: Some(100_000),
        times: None,
        sealed: false,
    },
    Profile {
        name: "w25n01gv-slc",
        source: "Winbond W25N01GV (SLC on SPI, of Espressif's spi_nand_flash): maximum times of its datasheet with ECC, \
                 typical ones of that driver; four lines at 50 MHz; counts of chips, clock and logical_ratio are a choice",
        geometry: [1, 1, 1_004, 64, 2_048],
        logical_ratio: (7, 1),
        read: [60_000; 2],
        program: [320_000, 700_000],
        erase: [2_500_000, 10_000_000],
        transfer: [84_480, 86_000],
        // The datasheets of its revisions disagree.
        erase_cycles: None,
        times: None,
        sealed: false,
    },
    Profile {
        name: "gd5f1gq5-slc",
        source: "GigaDevice GD5F1GQ5 (SLC on SPI, of Espressif's spi_nand_flash), parameter page: maximum times; typical \
                 ones of that driver; four lines at 50 MHz; counts of chips, clock and logical_ratio are a choice",
        geometry: [1, 1, 1_004, 64, 2_048],
        logical_ratio: (7, 1),
        read: [60_000; 2],
        program: [380_000, 600_000],
        erase: [3_200_000, 10_000_000],
        transfer: [87_040, 89_000],
        erase_cycles: Some(100_000),
        times: None,
        sealed: false,
    },
    Profile {
        name: "mt29f256g08cbcbb-mlc",
        source: "Micron MT29F256G08CBCBB (3D MLC), ONFI parameter page: maximum times, NV-DDR2 at 400 MT/s; counts of \
                 chips and logical_ratio are a choice",
        geometry: [8, 2, 2_000, 1_024, 16_384],
        logical_ratio: (875, 3),
        read: [145_000; 2],
        program: [1_875_000, 2_500_000],
        erase: [5_000_000, 10_000_000],
        transfer: [46_480, 48_000],
        erase_cycles: Some(3_000),
        times: None,
        sealed: false,
    },
    Profile {
        name: "ut81ndq512g8t-tlc-typical",
        source: "CAES UT81NDQ512G8T (dies of Micron B17A, TLC), datasheet of 11/22: typical times only, no maximum is \
                 public; counts of chips and logical_ratio are a choice",
        geometry: [8, 4, 2_016, 2_304, 16_384],
        logical_ratio: (875, 3),
        read: [74_000, 88_000],
        program: [1_900_000; 2],
        erase: [15_000_000; 2],
        transfer: [27_888, 29_000],
        erase_cycles: None,
        times: Some(StatedTimes::Typical),
        sealed: false,
    },
    Profile {
        name: "emmc-64gb-mlc",
        source: "what an eMMC of 64 GB may be made of: two dies of MT29F256G08CBCBB on one channel, maximum times; no \
                 product's numbers",
        geometry: [2, 2, 2_000, 1_024, 16_384],
        logical_ratio: (93, 2),
        read: [145_000; 2],
        program: [1_875_000, 2_500_000],
        erase: [5_000_000, 10_000_000],
        transfer: [46_480, 48_000],
        erase_cycles: Some(3_000),
        times: None,
        sealed: true,
    },
    Profile {
        name: "enterprise-slc",
        source: "eight channels of four dies of Micron MT29F32G08ABCAB (SLC), ONFI parameter page: maximum times, \
                 NV-DDR at 200 MT/s, 28 % over-provisioning; no product's numbers",
        geometry: [32, 4, 4_016, 128, 8_192],
        logical_ratio: (78_125, 5),
        read: [35_000; 2],
        program: [560_000; 2],
        erase: [7_000_000; 2],
        transfer: [43_200, 44_000],
        erase_cycles: Some(60_000),
        times: None,
        sealed: false,
    },
    Profile {
        name: "enterprise-tlc-typical",
        source: "eight channels of eight dies of the part of ut81ndq512g8t-tlc-typical, 28 % over-provisioning: \
                 typical times only; no product's numbers",
        geometry: [64, 8, 2_016, 2_304, 16_384],
        logical_ratio: (78_125, 5),
        read: [74_000, 88_000],
        program: [1_900_000; 2],
        erase: [15_000_000; 2],
        transfer: [27_888, 29_000],
        erase_cycles: None,
        times: Some(StatedTimes::Typical),
        sealed: false,
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Device, read_device, write_device, write_device_in_full};

    #[test]
    fn every_profile_is_a_device_that_is_written_and_read_back() {
        for (position, profile) in PROFILES.iter().enumerate() {
            let device = Device::profile(profile.name).expect(profile.name);
            assert_eq!(write_device(&device), format!("{:?}", profile.name));
            let full = write_device_in_full(&device);
            assert_eq!(read_device(&full).ok(), Some(device), "{full}");
            // By a name of its own, and not that of another.
            assert!(
                PROFILES[..position].iter().all(|other| other.name != profile.name && other.spec() != profile.spec())
            );
            assert!(profile.source.len() > 20);
        }
    }

    /// A name says whether times are typical. A changed profile keeps them so unless it says
    /// otherwise.
    #[test]
    fn profiles_with_typical_times_say_so() {
        for profile in PROFILES {
            let device = Device::profile(profile.name).unwrap();
            assert_eq!(device.has_typical_times(), profile.name.ends_with("-typical"), "{}", profile.name);
            let of = |fields: &str| read_device(&format!("{{\"profile\": \"{}\"{fields}}}", profile.name)).unwrap();
            assert_eq!(of(", \"chips\": 3").has_typical_times(), device.has_typical_times());
            assert!(!of(", \"times\": \"maximum\"").has_typical_times());
            assert!(of(", \"times\": \"typical\"").has_typical_times());
            for fields in [", \"logical_ratio\": 0.5", ", \"chips\": 4"] {
                assert_eq!(of(fields).is_sealed(), profile.name == "emmc-64gb-mlc", "{fields}");
            }
        }
    }

    /// Real parts take this long or shorter: nothing may rely on steady reads.
    #[test]
    fn no_real_part_has_steady_reads() {
        let exact =
            PROFILES.iter().filter(|profile| Device::new(profile.spec()).is_ok_and(|device| device.has_steady_reads()));
        assert_eq!(exact.map(|profile| profile.name).collect::<Vec<_>>(), ["dgist-2021"]);
    }
}
