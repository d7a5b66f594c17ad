//! The fields that a description of a device may leave out.

use super::{DeviceSpec, Shortest};
use crate::ratio::LogicalRatio;
use crate::time::Span;

/// A device of which nothing is stated. A field that has to be stated is zero, so that
/// [`Device::new`] refuses a description that leaves it out; λ, for which zero is none, is 1/2.
///
/// [`Device::new`]: crate::Device::new
impl Default for DeviceSpec {
    fn default() -> DeviceSpec {
        DeviceSpec {
            chips: 0,
            chips_per_channel: 0,
            blocks_per_chip: 0,
            pages_per_block: 0,
            page_size: 0,
            logical_ratio: LogicalRatio::HALF,
            page_read: Span::ZERO,
            page_program: Span::ZERO,
            block_erase: Span::ZERO,
            page_transfer: Span::ZERO,
            shortest: Shortest::default(),
            erase_cycles: None,
            command: None,
            page_registers: None,
            spare_blocks: None,
            program_failures: None,
            erase_suspend: None,
            erase_resume: None,
            wear_gap: None,
            wear_passes: None,
            page_read_includes_transfer: None,
            page_program_includes_transfer: None,
            times: None,
        }
    }
}
