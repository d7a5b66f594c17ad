//! What one EDF queue serves: a chip of a static stripe, or a whole superblock cluster.

mod by_deadline;
mod cached;
mod failures;
mod left_out;
mod room;
mod suspension;
#[cfg(test)]
mod tests;
mod towards;
mod wear;
mod write_stream;

use rtflash_model::{Certificate, Collection, Device, Placement, Request, Span, Task};

use super::bus::SharedBus;
use super::costs::StepCosts;
use super::organisation::organisation;
use super::registers::Registers;
use super::term::Term;
use super::time::{Cost, ProcessorTime, ns};
use super::workload::WorkloadCurve;
pub(super) use by_deadline::GcByDeadline;
use room::GcNumbers;
pub use write_stream::WriteStream;

/// A periodic request on a processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DemandTask {
    /// Worst-case time of one of its steps in the long run, waiting for the bus included as far as
    /// [`SharedBus::ways`] says.
    pub step_cost: Cost,
    /// T, above zero.
    pub period: Span,
    /// D: the relative deadline from the nominal arrival, at most T.
    pub deadline: Span,
    /// J: the release jitter, below D.
    pub jitter: Span,
    /// q: its longest step.
    pub step: Cost,
    /// Pages that it moves over the bus on the processor, one after another: its steps.
    pub transfers: WorkloadCurve,
    /// Pages of it that can fall on the processor: more than the transfers where a row has several.
    pub pages: WorkloadCurve,
    /// Whether it writes.
    pub writes: bool,
    /// Whether its steps are the resets that go with the writes of a request: they are counted
    /// apart, and move nothing over the bus.
    pub resets: bool,
}

impl DemandTask {
    /// C: worst-case time of all steps of a job; of one that resets zones, without its resets.
    pub fn cost(&self) -> ProcessorTime {
        self.step_cost.times(self.transfers.of(1))
    }

    /// d = D − J, Eq. (18): the least time from release to deadline. At least one nanosecond.
    pub fn window(&self) -> Span {
        self.deadline.checked_sub(self.jitter).expect("the jitter is below the deadline")
    }

    /// n(L) = ⌊(L − d)/T⌋ + 1, Eq. (19): jobs released and due within an interval of this length,
    /// at most; none if L < d.
    pub fn due(&self, length: Span) -> u64 {
        match length.checked_sub(self.window()) {
            Some(rest) => rest.div_floor(self.period) + 1,
            None => 0,
        }
    }

    /// Of jobs in a row, those with a page on the processor, at most.
    pub(super) fn with_pages(&self) -> WorkloadCurve {
        let (pages, chips) = self.pages.rate();
        if pages < chips { self.pages } else { WorkloadCurve::each(1) }
    }

    /// ⌈(L + D)/T⌉: jobs that are live in an interval of this length, released before its end and
    /// due after its start, at most.
    pub fn live(&self, length: Span) -> u64 {
        // Two lengths of time are below 2⁶⁴ together.
        (length.as_ns() + self.deadline.as_ns()).div_ceil(self.period.as_ns())
    }

    /// 1 − (D − J)/T: what [`DemandTask::due`] is above L/T, at most. Zero where D = T and J = 0.
    pub(super) fn early(&self) -> f64 {
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
    /// N − N_s, Eq. (76): blocks of the processor, without the spare ones.
    pub blocks: u64,
    /// Λ: logical pages mapped in the processor, at most.
    pub mapped: u64,
    costs: StepCosts,
    repeated: failures::Failures,
    suspension: Option<suspension::Suspension>,
    /// N_g, where α leaves GC jobs for wear.
    wear_passes: Option<u32>,
    /// Where its chips use a second page register.
    registers: Option<Registers>,
    placement: Placement,
    chips: u64,
    /// Where copies go over the bus.
    rows: Option<Rows>,
    /// What a search leaves out.
    left_out: Option<Term>,
}

/// Garbage collection on a processor, once its relative deadline is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ChosenGc {
    /// D_g; `None` where no real-time task writes.
    pub deadline: Option<Span>,
    /// H: free pages kept in reserve.
    pub reserve: u64,
    /// F: blocks that are not closed, or being collected, when a victim is chosen, at most.
    pub open: u64,
    /// v: valid pages of a victim, at most.
    pub valid: u64,
    /// α: pages that a pass reclaims, at least.
    pub reclaimed: u64,
    /// C_g: worst-case time of a pass.
    pub cost: Cost,
    /// The same with all that its steps can wait, where some of that is counted apart: in a
    /// superblock.
    pub in_full: Cost,
    /// q_g: its longest step.
    pub step: Cost,
}

/// What of a processor's transfers falls on one of its chips, where pages are programmed in rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rows {
    /// s: chips that rows go across.
    pub(super) chips: u64,
    /// P: pages of a block of one chip.
    pub(super) chip_pages: u64,
}

impl ChosenGc {
    /// What the device that runs the cluster has to know of them.
    pub fn to_collection(self) -> Collection {
        Collection {
            deadline: self.deadline,
            reclaimed_pages: self.reclaimed,
            reserve_pages: self.reserve,
            victim_pages: self.valid,
            open_blocks: self.open,
        }
    }
}

impl Processor {
    /// The processor of a cluster of `chips` chips with these tasks; `None` where times cannot be
    /// added up.
    pub fn new<'t>(
        device: &Device,
        tasks: impl IntoIterator<Item = &'t Task>,
        chips: u32,
        placement: Placement,
        bus: SharedBus,
    ) -> Option<Processor> {
        Processor::idle(device, chips, placement, bus)?.with(tasks)
    }

    /// The same without tasks, for whoever gives it some.
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
            left_out: None,
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
                    let (period, jitter) = (write.period(), write.jitter());
                    self.write_streams.push(WriteStream { pages, period, jitter });
                    continue;
                }
                // Eqs. (73) and (74): c_e for each of them, which is a step as well.
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

    /// Pages that a chip of the processor moves over the bus for others than users, and how many
    /// chips share what is programmed; `None` where copies stay inside a chip.
    pub(super) fn rows(&self) -> Option<Rows> {
        self.rows
    }

    /// c_r and c_w: what a user's page is charged to be read and to be programmed (a row, in a
    /// superblock); waiting for chips whose load is known comes on top.
    pub fn page_costs(&self) -> (Cost, Cost) {
        (self.costs.user_read, self.costs.write)
    }

    /// The same of a superblock's passes: of a page that they read by itself, and of a row.
    pub fn pass_costs(&self) -> (Cost, Cost) {
        (self.costs.alone, self.costs.row)
    }

    /// Nanoseconds that a superblock is charged less than with all that its steps can wait: for
    /// each of a user's reads and rows, and for a pass. `None` for other processors.
    pub(super) fn saved_waits(&self, gc: Option<ChosenGc>) -> Option<[u64; 3]> {
        self.rows()?;
        let costs =
            [(self.costs.longest_user_read, self.costs.user_read), (self.costs.longest_write, self.costs.write)];
        let [read, row] = costs.map(|(full, charged)| full.as_ns().saturating_sub(charged.as_ns()));
        Some([read, row, gc.map_or(0, |gc| gc.in_full.as_ns().saturating_sub(gc.cost.as_ns()))])
    }

    /// The longest step of a server's or a background job.
    pub fn server_step(&self) -> Cost {
        if self.leaves_out(Term::Blocking) {
            return Cost::ZERO;
        }
        if let Some(registers) = self.registers {
            return registers.blocking(self.duties(true), self.left_out);
        }
        let StepCosts { longest_erase, longest_read, longest_write, .. } = self.costs;
        longest_erase.max(longest_write).max(organisation(self.placement).copying(&self.costs)).max(longest_read)
    }

    /// Garbage collection with this relative deadline (docs/analysis.md), `None` where the blocks
    /// do not suffice for it. Without writers the deadline says nothing.
    pub fn gc(&self, deadline: Span, server: bool) -> Option<ChosenGc> {
        if !organisation(self.placement).collects() {
            return None;
        }
        let numbers = self.numbers(self.arrivals_of_gc(deadline)?, self.pending(), server)?;
        let deadline = (!self.write_streams.is_empty()).then_some(deadline);
        self.terms(deadline, numbers)
    }

    /// Garbage collection as a certificate states it, at what it costs here; `None` inside where
    /// nothing is ever written, and `None` where less is stated than the load needs
    /// (docs/analysis.md, Section 8).
    pub fn stated(&self, certificate: &Certificate) -> Option<Option<ChosenGc>> {
        let server = certificate.server_thousandths > 0;
        if server && !organisation(self.placement).collects() {
            return None;
        }
        if self.write_streams.is_empty() && !server {
            return Some(None);
        }
        let stated = certificate.collection?;
        let deadline = if self.write_streams.is_empty() { None } else { Some(stated.deadline?) };
        let (valid, reclaimed) = (stated.victim_pages, stated.reclaimed_pages);
        // (C1): α ≥ 1 and α + v ≤ PP.
        let emptied = self.emptied(valid, reclaimed).filter(|_| reclaimed > 0)?;
        let unfilled = organisation(self.placement).unfilled(self.chips);
        let drawn = if server { emptied.checked_add(unfilled)? } else { 0 };
        let arrivals = deadline.map_or(Some(0), |deadline| self.arrivals(deadline))?;
        let reserve = arrivals.checked_add(emptied - 1)?.checked_add(drawn)?;
        let open = self.open(stated.reserve_pages, self.pending(), server)?;
        let closed = self.blocks.checked_sub(open).filter(|&closed| closed > 0)?;
        // (C2), (C3) and (C4).
        if stated.reserve_pages < reserve || stated.open_blocks < open || valid < self.mapped / closed {
            return None;
        }
        let (reserve, open) = (stated.reserve_pages, stated.open_blocks);
        self.terms(deadline, GcNumbers { reserve, open, valid, reclaimed }).map(Some)
    }

    /// Garbage collection that was chosen elsewhere, at what it costs here.
    pub(super) fn costing(&self, gc: ChosenGc) -> Option<ChosenGc> {
        let ChosenGc { reserve, open, valid, reclaimed, .. } = gc;
        self.terms(gc.deadline, GcNumbers { reserve, open, valid, reclaimed })
    }

    /// A, where no search leaves it out.
    fn arrivals_of_gc(&self, deadline: Span) -> Option<u64> {
        if self.leaves_out(Term::Arrivals) { Some(0) } else { self.arrivals(deadline) }
    }

    /// A = Σ γ(⌈(D_g + J)/T⌉), Eq. (3): pages that may arrive within this time.
    fn arrivals(&self, deadline: Span) -> Option<u64> {
        self.write_streams.iter().try_fold(0u64, |sum, writer| sum.checked_add(writer.arriving_within(deadline)?))
    }

    /// With these H, F, v and α.
    fn terms(&self, deadline: Option<Span>, numbers: GcNumbers) -> Option<ChosenGc> {
        let GcNumbers { reserve, open, valid, reclaimed } = numbers;
        let (erase, organisation) = (self.costs.longest_erase, organisation(self.placement));
        let (cost, in_full) = self.pass_of(valid)?;
        // Where a victim has no valid pages nothing is copied. q_g, and Eq. (80).
        let copying = if valid == 0 { Cost::ZERO } else { organisation.copying(&self.costs) };
        let step = if self.leaves_out(Term::Blocking) || self.leaves_out(Term::PassStep) {
            Cost::ZERO
        } else if self.suspension.is_some() {
            copying
        } else {
            erase.max(copying)
        };
        Some(ChosenGc { deadline, reserve, open, valid, reclaimed, cost, in_full, step })
    }

    /// C_g of so many valid pages, and with all that its steps can wait.
    fn pass_of(&self, valid: u64) -> Option<(Cost, Cost)> {
        let organisation = organisation(self.placement);
        let cost = organisation.pass(&self.costs, valid, self.block_pages, self.chips)?;
        if !organisation.copies_over_the_bus() {
            return Some((cost, cost));
        }
        Some((cost, organisation.pass(&self.costs.in_full(), valid, self.block_pages, self.chips)?))
    }

    /// W, Eq. (4): pages that arrived to be written and are not programmed yet, at most.
    pub(super) fn pending(&self) -> u64 {
        self.write_streams.iter().fold(0, |sum, writer| sum.saturating_add(writer.pages.of_one()))
    }
}

/// A request of so many equal steps; `None` where those of a job cannot be added up.
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

/// Pages that requests move over the bus in a nanosecond, in the long run.
pub(super) fn transfer_rate(items: &[DemandTask]) -> f64 {
    items.iter().map(|item| item.transfers.mean() / ns(item.period)).sum()
}
