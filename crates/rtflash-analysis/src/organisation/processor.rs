//! The unit that one EDF queue serves: a chip of a static stripe, or a whole superblock cluster.

mod failures;
mod registers;
mod suspension;
mod write_stream;

use rtflash_model::{Device, Placement, Request, Span, Task};

use super::costs::StepCosts;
use super::registers::Registers;
use crate::organisation::organisation;
use crate::organisation::shared_bus::SharedBus;
use crate::time::{Cost, ProcessorTime, ns};
use crate::workload::WorkloadCurve;
use suspension::Suspension;
pub use write_stream::WriteStream;

/// A periodic request on a processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DemandTask {
    /// Worst case of one step, waiting included as far as [`SharedBus::ways`] says.
    pub step_cost: Cost,
    /// T, above zero.
    pub period: Span,
    /// D: the relative deadline from the nominal arrival.
    pub deadline: Span,
    /// J: the release jitter, below D and T.
    pub jitter: Span,
    /// q: its longest step.
    pub step: Cost,
    /// Pages that it moves over the bus on the processor, one after another: its steps.
    pub transfers: WorkloadCurve,
    /// Pages of it that can fall on the processor: more than the transfers where a row has several.
    pub pages: WorkloadCurve,
    /// Whether it writes.
    pub writes: bool,
    /// Resets that go with the writes of a request: they move nothing over the bus.
    pub resets: bool,
}

impl DemandTask {
    /// C: worst-case time of all steps of a job; of one that resets zones, without its resets.
    pub fn cost(&self) -> ProcessorTime {
        self.step_cost.times(self.transfers.of(1))
    }

    /// d = D − J, Eq. (1): the least time from release to deadline. At least one nanosecond.
    pub fn window(&self) -> Span {
        self.deadline.checked_sub(self.jitter).expect("the jitter is below the deadline")
    }

    /// n(L) = ⌊(L − d)/T⌋ + 1, Eq. (2): jobs released and due in it; none if L < d.
    pub fn due(&self, length: Span) -> u64 {
        match length.checked_sub(self.window()) {
            Some(rest) => rest.div_floor(self.period) + 1,
            None => 0,
        }
    }

    /// The most jobs in a row with a page on the processor.
    pub(crate) fn with_pages(&self) -> WorkloadCurve {
        let (pages, chips) = self.pages.rate();
        if pages < chips { self.pages } else { WorkloadCurve::each(1) }
    }

    /// ⌈(L + D)/T⌉: jobs released before the interval's end and due after its start, at most.
    pub fn live(&self, length: Span) -> u64 {
        // Two lengths of time are below 2⁶⁴ together.
        (length.as_ns() + self.deadline.as_ns()).div_ceil(self.period.as_ns())
    }

    /// 1 − (D − J)/T: what [`DemandTask::due`] is above L/T at most; below zero if D − J > T.
    pub(crate) fn early(&self) -> f64 {
        if self.window() == self.period { 0.0 } else { 1.0 - ns(self.window()) / ns(self.period) }
    }
}

/// A cluster's processor, before a deadline of garbage collection is chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Processor {
    /// Reads and writes.
    pub tasks: Vec<DemandTask>,
    /// The writes among them.
    pub write_streams: Vec<WriteStream>,
    /// PP: pages of a block of the processor.
    pub block_pages: u64,
    /// N − N_s, Eq. (79): blocks of the processor, without the spare ones.
    pub blocks: u64,
    /// Λ: logical pages mapped in the processor, at most.
    pub mapped: u64,
    pub(crate) costs: StepCosts,
    repeated: failures::Failures,
    pub(crate) suspension: Option<Suspension>,
    /// N_g, where α leaves GC jobs for wear.
    pub(crate) wear_passes: Option<u32>,
    registers: Option<Registers>,
    pub(crate) placement: Placement,
    pub(crate) chips: u64,
    rows: Option<Rows>,
}

/// The part of a processor's transfers that falls on one of its chips, if pages are programmed in
/// rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rows {
    /// s: chips that rows go across.
    pub(crate) chips: u64,
    /// P: pages of a block of one chip.
    pub(crate) chip_pages: u64,
}

impl Processor {
    /// `None` where times cannot be added up.
    pub fn new<'t>(
        device: &Device,
        tasks: impl IntoIterator<Item = &'t Task>,
        chips: u32,
        placement: Placement,
        bus: SharedBus,
    ) -> Option<Processor> {
        Processor::idle(device, chips, placement, bus)?.with(tasks)
    }

    /// The processor without tasks.
    pub fn idle(device: &Device, chips: u32, placement: Placement, bus: SharedBus) -> Option<Processor> {
        let (chips, organisation) = (u64::from(chips.max(1)), organisation(placement));
        let costs = organisation.costs(device, bus)?;
        let width = organisation.width(chips);
        let mut processor = Processor {
            tasks: Vec::new(),
            write_streams: Vec::new(),
            block_pages: u64::from(device.pages_per_block()).checked_mul(width)?,
            blocks: failures::blocks_left(device, width),
            mapped: device.logical_pages_per_chip().checked_mul(width)?,
            costs,
            repeated: failures::repeated(device, width, organisation, &costs)?,
            suspension: suspension::of_erases(device, placement)?,
            wear_passes: device.wear_passes(),
            registers: organisation.registers(device, bus),
            placement,
            chips,
            rows: None,
        };
        if organisation.copies_over_the_bus() {
            processor.rows = Some(Rows { chips, chip_pages: processor.block_pages / chips });
        }
        Some(processor)
    }

    /// With these tasks besides; `None` where times cannot be added up.
    pub fn with<'t>(mut self, tasks: impl IntoIterator<Item = &'t Task>) -> Option<Processor> {
        let (costs, chips, organisation) = (self.costs, self.chips, organisation(self.placement));
        let tasks = tasks.into_iter();
        if let Some(most) = tasks.size_hint().1 {
            self.tasks.reserve_exact(2 * most); // A read and a write each.
            self.write_streams.reserve_exact(most);
        }
        for task in tasks {
            if let Some(read) = task.read {
                let steps = organisation.workload(read, chips);
                let task = demand_task(steps, costs.user_read, costs.longest_user_read, read, false)?;
                self.tasks.push(task);
            }
            if let Some(write) = task.write {
                if !organisation.may_write(write) {
                    return None;
                }
                let pages = organisation.workload(write, chips);
                let steps = organisation.programs(pages, chips);
                let task = demand_task(steps, costs.write, costs.longest_write, write, true)?;
                self.tasks.push(DemandTask { pages, ..task });
                if organisation.collects() {
                    let (period, jitter, waiting) = (write.period(), write.jitter(), write.waiting());
                    self.write_streams.push(WriteStream { pages, period, jitter, waiting });
                    continue;
                }
                // Eqs. (76) and (77): c_e for each of them, which is a step as well.
                let resets = organisation.resets(write, self.block_pages, chips)?;
                let task = demand_task(resets, costs.erase, costs.longest_erase, write, true)?;
                self.tasks.push(DemandTask { resets: true, ..task });
            }
        }
        Some(self)
    }

    /// How pages are placed.
    pub fn placement(&self) -> Placement {
        self.placement
    }

    /// `None` where copies stay inside a chip.
    pub(crate) fn rows(&self) -> Option<Rows> {
        self.rows
    }

    /// c_r and c_w of a user's page (a row, in a superblock), known neighbours not counted.
    pub fn page_costs(&self) -> (Cost, Cost) {
        (self.costs.user_read, self.costs.write)
    }

    /// The charges of a superblock's passes: for a page that they read by itself, and for a row.
    pub fn pass_costs(&self) -> (Cost, Cost) {
        (self.costs.alone, self.costs.row)
    }

    /// The longest step of a server's or a background job.
    pub fn server_step(&self) -> Cost {
        if let Some(registers) = self.registers {
            return registers.blocking(self.duties(true));
        }
        let StepCosts { longest_erase, longest_read, longest_write, .. } = self.costs;
        longest_erase.max(longest_write).max(organisation(self.placement).copying(&self.costs)).max(longest_read)
    }

    /// W, Eq. (6): pages that arrived to be written and are not programmed yet, at most.
    pub(crate) fn pending(&self) -> u64 {
        self.write_streams.iter().fold(0, |sum, writer| sum.saturating_add(writer.pending()))
    }

    /// A at the shortest deadline of garbage collection: pages of one request of each writer.
    pub(crate) fn of_one_each(&self) -> u64 {
        self.write_streams.iter().fold(0, |sum, writer| sum.saturating_add(writer.pages.of_one()))
    }
}

/// A request of these equal steps; `None` where those of a job cannot be added up.
fn demand_task(
    steps: WorkloadCurve,
    step_cost: Cost,
    step: Cost,
    request: Request,
    writes: bool,
) -> Option<DemandTask> {
    step_cost.checked_mul(steps.of_one())?;
    Some(DemandTask {
        step_cost,
        period: request.period(),
        deadline: request.deadline(),
        jitter: request.jitter(),
        step,
        transfers: steps,
        pages: steps,
        writes,
        resets: false,
    })
}

pub(crate) fn transfer_rate(items: &[DemandTask]) -> f64 {
    items.iter().map(|item| item.transfers.mean() / ns(item.period)).sum()
}
