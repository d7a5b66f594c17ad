//! Small devices, a unit of time being a nanosecond.

use rtflash_model::{DeviceSpec, LogicalRatio, Span};

#[derive(Debug, Clone, Copy)]
pub(crate) struct SmallDevice {
    pub(crate) chips: u32,
    pub(crate) ways: u32,
    pub(crate) blocks: u32,
    pub(crate) pages: u32,
    /// Hundredths of all pages that are logical.
    pub(crate) logical: u64,
    /// t_r, t_w, t_d and t_e.
    pub(crate) times: [u64; 4],
}

impl SmallDevice {
    pub(crate) fn spec(self) -> Option<DeviceSpec> {
        let [page_read, page_program, page_transfer, block_erase] = self.times.map(Span::from_ns);
        Some(DeviceSpec {
            chips: self.chips,
            chips_per_channel: self.ways,
            blocks_per_chip: self.blocks,
            pages_per_block: self.pages,
            page_size: 512,
            logical_ratio: LogicalRatio::from_decimal(self.logical.into(), 2).ok()?,
            page_read: page_read?,
            page_program: page_program?,
            page_transfer: page_transfer?,
            block_erase: block_erase?,
            ..DeviceSpec::default()
        })
    }
}
