//! PaRT-FTL's own test (Missimer & West, RTSS 2018), as the thesis's authors evaluated it.

use num_rational::BigRational;
use num_traits::{One, Zero};
use rtflash_model::{Task, TaskSet};

use crate::equations::{Equations, gc_cost, reclaimed};

/// U_R and U_W, exactly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartFtlVerification {
    /// U_R.
    pub read_utilization: BigRational,
    /// U_W.
    pub write_utilization: BigRational,
    /// Both are at most one, and each request has an implicit deadline.
    pub schedulable: bool,
}

/// `None` with fewer than four chips. Quadratic in the tasks: rationals are in lowest terms.
pub fn verify_part_ftl(set: &TaskSet) -> Option<PartFtlVerification> {
    let device = set.device();
    let number = |value: u128| BigRational::from_integer(value.into());
    let chips = u128::from(device.chips());
    let parity = chips / 4;
    if parity == 0 {
        return None;
    }
    let data = chips - parity;
    let (a, b) = Equations::ThesisEvaluated.page_costs(device);
    let transfer = u128::from(device.page_transfer().as_ns());
    let erase = u128::from(device.block_erase().as_ns());
    let block = u128::from(device.pages_per_block());
    let theta = data * reclaimed(device);
    let (mut read, mut write) = (BigRational::zero(), BigRational::zero());
    let (mut shortest_read, mut shortest_write) = (None, None);
    for task in set.tasks() {
        if let Some(request) = task.read {
            let period = u128::from(request.period().as_ns());
            read += number(request.pages().into()) * number(a + 2 * transfer) / number(period);
            shortest_read = Some(shortest_read.unwrap_or(period).min(period));
        }
        if let Some(request) = task.write {
            let (pages, period) = (u128::from(request.pages()), u128::from(request.period().as_ns()));
            write += number(pages.div_ceil(parity)) * number(b) / number(period);
            let encoding = number((parity * block).div_ceil(parity)) * number(b);
            write += encoding / (number(period) * number(data * block) / number(pages));
            let collecting = number(chips) / number(parity) * number(gc_cost(device));
            let times = if pages > theta { number(theta) / number(pages) } else { number(theta / pages) };
            write += collecting / (number(period) * times);
            shortest_write = Some(shortest_write.unwrap_or(period).min(period));
        }
    }
    read += shortest_read.map_or(BigRational::zero(), |period| number(a) / number(period));
    write += shortest_write.map_or(BigRational::zero(), |period| number(erase) / number(period));
    let whole = set.tasks().iter().all(Task::has_whole_periods);
    let schedulable = read <= BigRational::one() && write <= BigRational::one() && whole;
    Some(PartFtlVerification { read_utilization: read, write_utilization: write, schedulable })
}
