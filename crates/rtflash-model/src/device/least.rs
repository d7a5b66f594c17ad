//! What a description of a device leaves out.

use super::{DeviceSpec, Shortest};
use crate::ratio::LogicalRatio;
use crate::time::Span;

/// The least device, of which nothing more is stated: what a description leaves out.
impl Default for DeviceSpec {
    fn default() -> DeviceSpec {
        DeviceSpec {
            chips: 1,
            chips_per_channel: 1,
            blocks_per_chip: 1,
            pages_per_block: 1,
            page_size: 1,
            logical_ratio: LogicalRatio::HALF,
            page_read: Span::NANOSECOND,
            page_program: Span::NANOSECOND,
            block_erase: Span::NANOSECOND,
            page_transfer: Span::NANOSECOND,
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
        }
    }
}
