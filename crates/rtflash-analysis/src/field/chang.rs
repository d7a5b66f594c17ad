//! `chang`: Chang, Kuo and Lo's admission test.

use rtflash_model::{Device, Request, Task};

use super::{
    Baseline, BaselineTerm, IMPLICIT, ONE_MEMORY, Room, RoomUnit, SchemeCosts, data_room, request_terms, with_blocking,
};
use crate::fraction::Fraction;
use crate::{Analysis, Assumption};

/// Real-time garbage collection (Chang, Kuo and Lo, ACM TECS 3(4), 2004), as others describe it:
/// each writer has a collector, and both have pages in reserve.
///
/// α = π − ⌈σπ⌉ is that of one block of the memory, however many chips there are.
#[derive(Debug, Clone, Copy, Default)]
pub struct Chang;

impl Chang {
    fn reclaimed(device: &Device) -> u64 {
        device.reclaimed_per_chip().into()
    }

    /// c_G = (π − α)(t_r + t_w) + t_e.
    fn pass(device: &Device) -> u128 {
        let costs = (&Chang as &dyn Analysis).page_costs(device);
        let copy = u128::from(costs.read.as_ns()) + u128::from(costs.write.as_ns());
        u128::from(device.valid_pages_bound()) * copy + u128::from(device.block_erase().as_ns())
    }

    /// p_G = p_T/⌈w/α⌉ if w > α, else p_T·⌊α/w⌋.
    fn collector_period(device: &Device, write: Request) -> Fraction {
        let (reclaimed, period) = (Chang::reclaimed(device), u128::from(write.period().as_ns()));
        if write.pages() > reclaimed {
            Fraction::new(period, write.pages().div_ceil(reclaimed).into())
        } else {
            Fraction::new(period * u128::from(reclaimed / write.pages()), 1)
        }
    }

    /// ρ_T + ρ_G: writes until the collector must have freed the first pages, and its copies.
    fn reserve(device: &Device, write: Request) -> u128 {
        let (reclaimed, pages) = (Chang::reclaimed(device), write.pages());
        let requests = (reclaimed / pages).max(1);
        u128::from(pages) * u128::from(requests) + u128::from(device.valid_pages_bound())
    }
}

const COLLECTORS: Assumption = Assumption {
    name: "gc-keeps-pace",
    statement: "each writer's collector frees alpha pages a pass, at a period at which it keeps pace; \
                operations, not passes, are without interruption",
};
const VICTIM: Assumption = Assumption {
    name: "victim-bound",
    statement: "a victim has at most ceil(lambda P) valid pages: the block with the fewest is taken, of all \
                blocks",
};
const RESERVES: Assumption = Assumption {
    name: "reserves",
    statement: "all reserves are free pages at the start: what a task writes before its collector's first \
                deadline, and the pages that collector copies",
};

scheme!(
    Chang,
    "chang",
    "Chang, Kuo and Lo's admission test (2004): a collector and a reserve of free pages for each writer",
    &[ONE_MEMORY, COLLECTORS, VICTIM, RESERVES, IMPLICIT]
);

impl Baseline for Chang {
    fn terms(&self, device: &Device, tasks: &[&Task], _: u32) -> Vec<BaselineTerm> {
        let costs = self.page_costs(device);
        let costs = SchemeCosts { read: costs.read.as_ns().into(), write: costs.write.as_ns().into() };
        let collector = |(at, task): (usize, &&Task)| {
            let period = Chang::collector_period(device, task.write?);
            Some(BaselineTerm { task: Some(at), what: "gc", times: 1, cost: Chang::pass(device), period })
        };
        let mut terms = request_terms(tasks, costs);
        terms.extend(tasks.iter().enumerate().filter_map(collector));
        with_blocking(terms, device.block_erase().as_ns().into())
    }

    /// A write that has to wait for a whole pass: U(e_T) + U(e_G) of Lazy-RTGC's Table I.
    fn worst_response(&self, device: &Device) -> u128 {
        let costs = self.page_costs(device);
        u128::from(costs.read.max(costs.write).as_ns()) + Chang::pass(device)
    }

    fn usable_pages(&self, device: &Device, chips: u32) -> u128 {
        device.logical_pages_of(chips)
    }

    fn rooms(&self, device: &Device, tasks: &[&Task], chips: u32) -> Vec<Room> {
        let blocks = u128::from(device.blocks_per_chip()) * u128::from(chips);
        let free = blocks * u128::from(device.pages_per_block()) - device.logical_pages_of(chips);
        // Fewer than 2³² tasks of fewer than 2⁶⁴ pages each.
        let reserves = tasks.iter().filter_map(|task| task.write).map(|write| Chang::reserve(device, write)).sum();
        vec![
            data_room(self.usable_pages(device, chips), device, tasks, chips),
            Room { what: "reserves in the free pages", needed: reserves, there: free, unit: RoomUnit::Pages },
        ]
    }
}
