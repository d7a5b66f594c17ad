//! The common part of GFTL, RFTL and Lazy-RTGC: collection in steps behind pages.

use rtflash_model::{Device, Task};

use super::{BaselineTerm, SchemeCosts, request_terms, with_blocking};
use crate::Analysis;

/// Times of the flash memory in nanoseconds, in the papers' letters.
#[derive(Debug, Clone, Copy)]
pub(super) struct FlashTimes {
    /// t_rd.
    pub(super) read: u128,
    /// t_wr.
    pub(super) write: u128,
    /// t_er.
    pub(super) erase: u128,
    /// t_oob: what reading a page takes.
    pub(super) spare: u128,
    /// π.
    pub(super) pages: u128,
}

impl FlashTimes {
    pub(super) fn of(analysis: &dyn Analysis, device: &Device) -> FlashTimes {
        let costs = analysis.page_costs(device);
        FlashTimes {
            read: costs.read.as_ns().into(),
            write: costs.write.as_ns().into(),
            erase: device.block_erase().as_ns().into(),
            spare: costs.read.as_ns().into(),
            pages: device.pages_per_block().into(),
        }
    }
}

/// The terms where a page and the step behind it take so long, and neither is interrupted.
pub(super) fn step_terms(tasks: &[&Task], costs: SchemeCosts) -> Vec<BaselineTerm> {
    with_blocking(request_terms(tasks, costs), longest(costs))
}

pub(super) fn longest(costs: SchemeCosts) -> u128 {
    costs.read.max(costs.write)
}

/// The share U(σ) of pages that hold data, or what λ leaves where that is less.
pub(super) fn at_most(device: &Device, chips: u32, usable: u128) -> u128 {
    usable.min(device.logical_pages_of(chips))
}

pub(super) fn blocks(device: &Device, chips: u32) -> u128 {
    u128::from(device.blocks_per_chip()) * u128::from(chips)
}
