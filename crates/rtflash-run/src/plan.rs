//! An allocation as a plan for the executor.

use rtflash_analysis::{Analysis, Fraction, GcDemand};
use rtflash_model::{Allocation, Device, Task, TaskId, TaskSet};
use rtflash_plan::{ClusterTerms, NoTrim, Period, Plan, PlanError, Timing};

/// Why an allocation cannot be executed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanRefusal {
    /// Under this analysis the transfer of a page is a part of its read or program, and on this
    /// device it takes longer than that.
    #[error(
        "page_transfer is longer than page_read or page_program: with an analysis that counts the transfer as \
             a part of them, nothing can be executed"
    )]
    TransferTooLong,
    /// A period is too short or too long to be released: below one nanosecond.
    #[error("the garbage collection of task {task} has a period below one nanosecond: it cannot be released")]
    Period {
        /// The writing task whose GC has this period.
        task: TaskId,
    },
    /// An error of the executor.
    #[error("{0}")]
    Plan(PlanError),
    /// One of the trims that are asked for cannot be.
    #[error("a task cannot trim: {why}")]
    Trim {
        /// Which one, by its position among them.
        trim: usize,
        /// Why.
        why: NoTrim,
    },
    /// Its tables would take more memory than was granted.
    #[error(
        "the device is too large: a run of it would take {} of memory, and {} are allowed",
        binary(*.needed),
        binary(*.limit)
    )]
    Memory {
        /// Bytes that they would take.
        needed: u64,
        /// Bytes granted.
        limit: u64,
    },
}

/// Bytes in a unit in which they are few: `12.5 GiB`.
#[allow(clippy::cast_precision_loss)]
fn binary(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut amount = bytes as f64 / 1024.0;
    let mut unit = 0;
    while amount >= 1024.0 && unit + 1 < UNITS.len() {
        amount /= 1024.0;
        unit += 1;
    }
    format!("{amount:.1} {}", UNITS[unit])
}

/// Times of operations by the analysis's page costs.
///
/// # Errors
/// [`PlanRefusal::TransferTooLong`].
pub fn timing(device: &Device, analysis: &dyn Analysis) -> Result<Timing, PlanRefusal> {
    let costs = analysis.page_costs(device);
    Timing::new(costs.read, costs.write, device.page_transfer()).ok_or(PlanRefusal::TransferTooLong)
}

/// By costs, delays and GC periods of the analysis, exactly, or by certificates alone if all
/// clusters have one.
///
/// # Errors
/// Why it cannot be executed.
pub fn plan(set: &TaskSet, allocation: &Allocation, analysis: &dyn Analysis) -> Result<Plan, PlanRefusal> {
    let device = set.device();
    let mut terms = Vec::with_capacity(allocation.len());
    for (position, cluster) in allocation.clusters().into_iter().enumerate() {
        if let Some(&certificate) = allocation.certificate(position) {
            terms.push(ClusterTerms::Certified(certificate));
            continue;
        }
        let mut gc_periods = Vec::with_capacity(cluster.tasks.len());
        for &task in &cluster.tasks {
            let of = set.tasks().get(task);
            let gc = of.and_then(|of| collection(device, of, analysis, cluster.size()));
            gc_periods.push(gc.map(|gc| period(gc).ok_or(PlanRefusal::Period { task })).transpose()?);
        }
        let page_delay = analysis.transfer_delay(device, cluster.size());
        terms.push(ClusterTerms::Utilization { page_delay, gc_periods });
    }
    let timing = if allocation.is_certified() { Timing::of_device(device) } else { timing(device, analysis)? };
    Plan::new(set, allocation, timing, &terms).map_err(PlanRefusal::Plan)
}

/// T^g of a writing task: as the analysis has it, or where it has none by Eq. (IV.4).
fn collection(device: &Device, task: &Task, analysis: &dyn Analysis, chips: u32) -> Option<Fraction> {
    let write = task.write?;
    let demanded = analysis.demand(device, task, chips).and_then(|demand| demand.gc);
    Some(demanded.unwrap_or_else(|| GcDemand::new(device, write, chips)).period)
}

fn period(of: Fraction) -> Option<Period> {
    Period::new(of.numerator(), of.denominator())
}
