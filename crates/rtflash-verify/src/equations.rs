//! The equations of the thesis, each written down once more.

use rtflash_model::{Device, Request, Task};

use crate::on_chip;
use crate::quotient::Quotient;

/// Which reading of the transfer delay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Equations {
    /// As printed, Eqs. (IV.5) and (IV.6).
    Thesis,
    /// The analysis of the published figures.
    ThesisEvaluated,
}

impl Equations {
    /// By the name of the analysis.
    pub fn from_name(name: &str) -> Option<Equations> {
        [Equations::Thesis, Equations::ThesisEvaluated].into_iter().find(|equations| equations.name() == name)
    }

    /// The name of the analysis.
    pub fn name(self) -> &'static str {
        match self {
            Equations::Thesis => "thesis",
            Equations::ThesisEvaluated => "thesis-evaluated",
        }
    }

    /// D(s) in nanoseconds: what Eqs. (IV.5) and (IV.6) multiply by the pages.
    pub(crate) fn delay(self, device: &Device, size: u32) -> u128 {
        let (transfer, per_channel, size) =
            (nanoseconds(device.page_transfer()), i128::from(device.chips_per_channel()), i128::from(size));
        let waits = match self {
            Equations::Thesis => per_channel - ((size + per_channel - 1) / per_channel + 1),
            Equations::ThesisEvaluated => (per_channel - size % per_channel) % per_channel,
        };
        transfer * u128::try_from(waits.max(0)).expect("not below zero")
    }

    /// The costs of a page that is read and written, in nanoseconds, waiting apart.
    pub(crate) fn page_costs(self, device: &Device) -> (u128, u128) {
        let (stated, transfer) = (device.spec(), nanoseconds(device.page_transfer()));
        let [read, write] = on_chip::longest(device).map(u128::from);
        // The thesis's own device does not say what its times contain: as printed, the transfer.
        let whole = |on_chip: u128, includes: Option<bool>| match self {
            Equations::Thesis if includes.is_none() => on_chip,
            Equations::Thesis | Equations::ThesisEvaluated => on_chip + transfer,
        };
        (whole(read, stated.page_read_includes_transfer), whole(write, stated.page_program_includes_transfer))
    }
}

/// One reading of the equations on a device; what no task or cluster changes is computed once.
#[derive(Debug, Clone, Copy)]
pub struct Theory<'a> {
    equations: Equations,
    device: &'a Device,
    /// α = P − ⌈λP⌉.
    reclaimed: u128,
    /// C^g in nanoseconds, Eq. (IV.3).
    gc_cost: u128,
}

impl<'a> Theory<'a> {
    /// The equations on this device.
    pub fn new(equations: Equations, device: &'a Device) -> Theory<'a> {
        Theory { equations, device, reclaimed: reclaimed(device), gc_cost: gc_cost(device) }
    }

    /// The terms of U_i(s), Eq. (IV.7).
    pub fn utilizations(&self, task: &Task, size: u32) -> impl Iterator<Item = Quotient> + use<> {
        let (read_cost, write_cost) = self.equations.page_costs(self.device);
        let delay = self.equations.delay(self.device, size);
        let term = |request: Request, cost: u128| {
            Quotient::ratio(u128::from(request.pages()) * (cost + delay), nanoseconds(request.period()))
        };
        let read = task.read.map(|read| term(read, read_cost));
        let write = task.write.map(|write| term(write, write_cost));
        let gc = task.write.map(|write| {
            let (times, over) = self.gc_period(write, size);
            Quotient::ratio(self.gc_cost * over, times)
        });
        read.into_iter().chain(write).chain(gc)
    }

    /// T^g(s) in nanoseconds as numerator and denominator, Eq. (IV.4).
    fn gc_period(&self, write: Request, size: u32) -> (u128, u128) {
        let (period, pages) = (nanoseconds(write.period()), u128::from(write.pages()));
        let reclaimed = self.reclaimed * u128::from(size);
        if pages > reclaimed { (period, pages.div_ceil(reclaimed)) } else { (period * (reclaimed / pages), 1) }
    }

    /// t_e over the shortest of T^r, T^w, T^g; the cluster's is the largest of its tasks'.
    pub fn blocking(&self, task: &Task, size: u32) -> Option<Quotient> {
        let erase = nanoseconds(self.device.block_erase());
        let periods = task.read.iter().chain(&task.write).map(|request| (nanoseconds(request.period()), 1));
        let periods = periods.chain(task.write.map(|write| self.gc_period(write, size)));
        periods.map(|(times, over)| Quotient::ratio(erase * over, times)).max_by(Quotient::compare)
    }
}

fn nanoseconds(span: rtflash_model::Span) -> u128 {
    span.as_ns().into()
}

/// ⌈λP⌉, from λ's decimal digits.
pub(crate) fn valid_pages(device: &Device) -> u128 {
    let (numerator, decimals) = device.logical_ratio().to_decimal();
    // In two steps, because λ may have 38 digits: λP = whole + rest/10^decimals.
    let product = num_bigint::BigUint::from(numerator) * device.pages_per_block();
    let scale = num_bigint::BigUint::from(10u8).pow(decimals);
    let rounded_up = (product + &scale - 1u8) / scale;
    u128::try_from(rounded_up).expect("no more than the pages of a block")
}

pub(crate) fn reclaimed(device: &Device) -> u128 {
    u128::from(device.pages_per_block()) - valid_pages(device)
}

/// C^g = ⌈λP⌉·(t_r + t_w) + t_e in nanoseconds, Eq. (IV.3).
pub(crate) fn gc_cost(device: &Device) -> u128 {
    let [read, program] = on_chip::longest(device).map(u128::from);
    valid_pages(device) * (read + program) + nanoseconds(device.block_erase())
}
