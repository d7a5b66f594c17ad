//! Clusters as others have them: some channels, and the same ways on each of them.

use crate::device::Device;
use crate::ids::ChipId;

/// Chips as the product of channels and ways.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChipRectangle {
    /// Channels, ascending.
    pub channels: Vec<u32>,
    /// Places on each of them, ascending.
    pub ways: Vec<u32>,
}

impl ChipRectangle {
    /// The rectangle that these chips of a device are; `None` where they are none.
    ///
    /// ```
    /// use rtflash_model::{ChipId, Device, ChipRectangle};
    ///
    /// // Four chips on each channel.
    /// let device = Device::profile("dgist-2021").ok_or("no such device")?;
    /// let chips = |numbers: &[u32]| numbers.iter().map(|&chip| ChipId(chip)).collect::<Vec<_>>();
    /// let both = ChipRectangle { channels: vec![0, 2], ways: vec![1, 3] };
    /// assert_eq!(ChipRectangle::of(&device, &chips(&[1, 3, 9, 11])), Some(both));
    /// assert_eq!(ChipRectangle::of(&device, &chips(&[1, 3, 9])), None);
    /// # Ok::<(), &str>(())
    /// ```
    pub fn of(device: &Device, chips: &[ChipId]) -> Option<ChipRectangle> {
        let place = |chip: &ChipId| (chip.0 / device.chips_per_channel(), chip.0 % device.chips_per_channel());
        let mut channels: Vec<u32> = chips.iter().map(|chip| place(chip).0).collect();
        let mut ways: Vec<u32> = chips.iter().map(|chip| place(chip).1).collect();
        for list in [&mut channels, &mut ways] {
            list.sort_unstable();
            list.dedup();
        }
        // Chips are in the product of both; as many as it has are all of it.
        (!chips.is_empty() && channels.len() * ways.len() == chips.len()).then_some(ChipRectangle { channels, ways })
    }
}
