//! Static stripe: each chip is a unit.

use rtflash_model::{Access, Request};

use super::Organisation;
use crate::sound::bus::Bus;
use crate::sound::unit::Costs;

pub(super) struct Stripe;

impl Organisation for Stripe {
    fn width(&self, _: u64) -> u64 {
        1
    }

    fn is_on_one_channel(&self) -> bool {
        true
    }

    /// Of consecutive pages every chip has as many.
    fn pages_here(&self, request: Request, chips: u64) -> u64 {
        match request.access() {
            Access::Sequential => request.pages().div_ceil(chips),
            Access::Random => request.pages(),
        }
    }

    fn programs(&self, pages: u64, _: u64) -> u64 {
        pages
    }

    fn read_transfers(&self, bus: Bus) -> (u32, u32) {
        (bus.ways, bus.ways.max(bus.most))
    }

    fn unfilled(&self, _: u64) -> u64 {
        0
    }

    /// Inside the chip.
    fn copying(&self, costs: &Costs) -> u64 {
        costs.copy
    }

    fn pass(&self, costs: &Costs, valid: u64, _: u64, _: u64) -> Option<u64> {
        valid.checked_mul(costs.copy)?.checked_add(costs.erase)
    }
}
