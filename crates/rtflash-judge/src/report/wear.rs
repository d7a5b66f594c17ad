//! Erases as a run had them, and how long blocks endure that.

use rtflash_model::{ChipId, Device, Instant};

use super::Report;

const NS_A_DAY: f64 = 86_400e9;
const DAYS_A_YEAR: f64 = 365.25;

/// The chip of some that was erased most often, the lowest among equals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MostWorn {
    /// The chip.
    pub chip: ChipId,
    /// Its erases.
    pub erases: u64,
    /// As many a day.
    pub erases_per_day: f64,
    /// Erases of a block in the mean: below one, the start's contents are still at work.
    pub turns: f64,
    /// 365.25 days each, until its blocks are worn out, all alike; `None` if it was not erased, or
    /// the device does not state the endurance.
    pub lifetime_years: Option<f64>,
}

impl Report {
    /// The wear of these chips of the device, over a run of `duration`; `None` where there is no
    /// chip.
    #[allow(clippy::cast_precision_loss)]
    pub fn wear(&self, device: &Device, chips: impl Iterator<Item = ChipId>, duration: Instant) -> Option<MostWorn> {
        let erased = chips.map(|chip| (chip, self.chips[chip].operations.erases));
        let (chip, erases) = erased.max_by_key(|&(chip, erases)| (erases, std::cmp::Reverse(chip)))?;
        let erases_per_day = erases as f64 / duration.as_ns().max(1) as f64 * NS_A_DAY;
        let blocks = f64::from(device.blocks_per_chip());
        let endured = device.erase_cycles().filter(|_| erases > 0).map(|cycles| f64::from(cycles) * blocks);
        let lifetime_years = endured.map(|endured| endured / erases_per_day / DAYS_A_YEAR);
        Some(MostWorn { chip, erases, erases_per_day, turns: erases as f64 / blocks, lifetime_years })
    }
}

#[cfg(test)]
mod tests {
    use rtflash_model::DeviceSpec;

    use super::*;
    use crate::report::{ChipReport, Operations};

    #[test]
    fn the_chip_with_most_erases_is_worn_first() {
        let spec = Device::profile("dgist-2021").unwrap().spec();
        let device = Device::new(DeviceSpec { chips: 3, erase_cycles: Some(3_000), ..spec }).unwrap();
        let chip =
            |erases| ChipReport { operations: Operations { erases, ..Operations::default() }, ..Default::default() };
        let chips = vec![chip(4), chip(10), chip(10)].into();
        let report = Report { sources: vec![].into(), clusters: vec![].into(), chips, channels: vec![].into() };
        let ten = Instant::from_ns(10_000_000_000).unwrap();
        let wear = report.wear(&device, ChipId::first(3), ten).unwrap();
        assert_eq!((wear.chip, wear.erases), (ChipId(1), 10));
        // One a second on 1024 blocks of 3000 erases each.
        assert!((wear.erases_per_day - 86_400.0).abs() < 1e-9 && (wear.turns - 10.0 / 1024.0).abs() < 1e-12);
        assert!((wear.lifetime_years.unwrap() - 3_072_000.0 / 86_400.0 / 365.25).abs() < 1e-9);
        assert_eq!(report.wear(&device, ChipId::first(1), ten).unwrap().erases, 4);
        assert_eq!(report.wear(&device, ChipId::first(0), ten), None);
        let unstated = Device::new(DeviceSpec { erase_cycles: None, ..device.spec() }).unwrap();
        assert_eq!(report.wear(&unstated, ChipId::first(3), ten).unwrap().lifetime_years, None);
    }
}
