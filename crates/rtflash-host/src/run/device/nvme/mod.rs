//! An NVMe drive: submission queues, a controller, a write buffer, and the flash of the executor
//! behind them.

mod buffer;
mod cache;
mod paging;
mod running;
mod streams;

use rtflash_model::{
    Allocation, Arrivals, Cluster, ClusterId, Device, Instant, LogicalRatio, RatioError, Span, TaskSet,
};
use rtflash_plan::{Aging, ClusterTerms, DEFAULT_MEMORY, Options, Plan, PlanError, Timing, memory};

pub(super) use running::RunningNvme;

use super::slow::Slow;
use crate::scheduler::Ends;
use crate::{Command, Op};

/// An NVMe drive. All chips are one cluster under parallel dispatch; each page that is read or
/// drained is a job of the background, and pages are collected as these jobs collect them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nvme {
    /// The plan that runs in it.
    plan: Plan,
    /// The content of the device when the run begins.
    pub aging: Aging,
    /// Submission queues; `None` for one a core. Above zero.
    pub queues: Option<u32>,
    /// Commands that each of them takes; above zero.
    pub entries: u32,
    /// Commands that it fetches before one of them has ended; above zero.
    pub inside: u32,
    /// The costs of reads.
    pub read: Costs,
    /// The costs of writes.
    pub write: Costs,
    /// The cost of discards, which then program no page; `None` if they do as writes do.
    pub discard: Option<CommandCost>,
    /// The cost of a flush beside the time that the pages of the buffer take to be programmed. It
    /// is `None` if the buffer is safe without power, or if there is none.
    pub flush: Option<CommandCost>,
    /// Pages of the write buffer; zero for none.
    pub buffer: u32,
    /// Pages of the buffer that are programmed at a time; `None` for one a chip. Above zero.
    pub drain: Option<u32>,
    /// Pages that are read ahead of a sequential read; zero for none.
    pub read_ahead: u32,
    /// How long a command takes at most from its fetching, if that is said.
    pub ends_within: Option<Span>,
}

/// The costs of commands beside the flash, by position. Episodes of the same numbers for both are
/// the same episodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Costs {
    /// One that begins where another one ended.
    pub sequential: CommandCost,
    /// Any other.
    pub random: CommandCost,
}

/// The cost of a command beside the flash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandCost {
    /// The controller, which does one command at a time; above zero.
    pub controller: Span,
    /// Time of the controller for each 1,024 bytes more.
    pub per_kib: Span,
    /// Behind controller and flash, for as many commands at a time as there are.
    pub latency: Span,
    /// As much more of that for each 1,024 bytes: they move over several channels at a time.
    pub latency_per_kib: Span,
    /// Episodes in which the controller takes longer for each of these commands.
    pub slow: Option<Slow>,
}

impl CommandCost {
    /// How long it has the controller, but for what an episode adds. Parts of a nanosecond count as
    /// a whole one.
    pub fn controller(&self, size: u64) -> Span {
        self.controller.saturating_add(by_size(size, self.per_kib))
    }

    /// How long it takes behind controller and flash.
    pub fn latency(&self, size: u64) -> Span {
        self.latency.saturating_add(by_size(size, self.latency_per_kib))
    }
}

fn by_size(size: u64, per_kib: Span) -> Span {
    let all = (u128::from(size) * u128::from(per_kib.as_ns())).div_ceil(1_024);
    u64::try_from(all).ok().and_then(Span::from_ns).unwrap_or(Span::LONGEST)
}

/// Why a drive cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NvmeError {
    /// λ and the share that is filled are not a decimal together.
    #[error("the filled share of the logical pages: {0}")]
    Fill(RatioError),
    /// The flash cannot be executed.
    #[error(transparent)]
    Plan(PlanError),
    /// Its tables take more than [`DEFAULT_MEMORY`].
    #[error("the flash is too large: a run takes {needed} bytes, and {DEFAULT_MEMORY} are the limit")]
    Memory {
        /// Bytes that they take.
        needed: u64,
    },
}

/// A device with fewer logical pages: those that are filled.
fn filled(flash: &Device, fill: LogicalRatio) -> Result<Device, NvmeError> {
    let ((all, decimals), (part, more)) = (flash.logical_ratio().to_decimal(), fill.to_decimal());
    let product = all.checked_mul(part).ok_or(NvmeError::Fill(RatioError::TooFine))?;
    let logical_ratio = LogicalRatio::from_decimal(product, decimals + more).map_err(NvmeError::Fill)?;
    let spec = rtflash_model::DeviceSpec { logical_ratio, ..flash.spec() };
    Device::new(spec).map_err(|_| NvmeError::Fill(RatioError::OutOfRange))
}

/// The plan of a device that is one cluster without tasks.
fn plan(flash: &Device) -> Result<Plan, PlanError> {
    let host = rtflash_model::Job {
        name: "host".to_owned(),
        read_pages: 1,
        write_pages: 0,
        arrivals: Arrivals::At(Vec::new()),
    };
    let set = TaskSet::new(*flash, vec![], vec![host]).map_err(|_| PlanError::OtherAllocation)?;
    let all = Cluster::of(0..flash.chips(), []);
    let allocation = Allocation::new(flash.chips(), 0, &[all]).map_err(|_| PlanError::OtherAllocation)?;
    let terms = [ClusterTerms::Utilization { page_delay: Span::ZERO, gc_periods: vec![] }];
    Ok(Plan::new(&set, &allocation, Timing::of_device(flash), &terms)?.for_host())
}

impl Nvme {
    /// A drive of this flash, all or a share of whose logical pages are filled: host addresses fall
    /// on these, and the others are as good as spare. It has these costs, a queue a core of 1,024
    /// commands, 1,024 commands inside, and neither buffer nor reading ahead; its pages were
    /// written once.
    ///
    /// # Errors
    /// If the flash cannot be run.
    pub fn new(flash: &Device, fill: Option<LogicalRatio>, read: Costs, write: Costs) -> Result<Nvme, NvmeError> {
        let flash = fill.map_or(Ok(*flash), |fill| filled(flash, fill))?;
        let plan = plan(&flash).map_err(NvmeError::Plan)?;
        let needed = memory(&plan, &Options { duration: Instant::START, ..Options::default() });
        if needed > DEFAULT_MEMORY {
            return Err(NvmeError::Memory { needed });
        }
        Ok(Nvme {
            plan,
            aging: Aging::Fresh,
            queues: None,
            entries: 1_024,
            inside: 1_024,
            read,
            write,
            discard: None,
            flush: None,
            buffer: 0,
            drain: None,
            read_ahead: 0,
            ends_within: None,
        })
    }

    /// The plan that runs in it. Checkers judge by it.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The costs of such commands. All that is neither a read nor a discard is a write.
    pub fn costs(&self, op: Op) -> Costs {
        let discard = self.discard.filter(|_| op == Op::Discard);
        let alike = discard.map(|cost| Costs { sequential: cost, random: cost });
        alike.unwrap_or(if op == Op::Read { self.read } else { self.write })
    }

    /// The longest times of commands, if they are stated.
    pub(super) fn ends(&self) -> Option<Ends> {
        self.ends_within.map(|limit| Ends::Within { limit, inside: self.inside })
    }

    /// The least time from the release of an I/O of these commands to its end, if at most `inside`
    /// of them are in the device at a time; in no episode, and with nothing of the flash.
    pub(super) fn shortest(&self, commands: impl Iterator<Item = Command>, inside: Option<u32>) -> Span {
        let (mut number, mut controlled) = (0_u64, Span::ZERO);
        let (mut least, mut latency) = (Span::LONGEST, Span::ZERO);
        for command in commands {
            let Costs { sequential, random } = self.costs(command.op);
            let controller = sequential.controller(command.size).min(random.controller(command.size));
            latency = sequential.latency.min(random.latency);
            (number, controlled, least) = (number + 1, controlled.saturating_add(controller), least.min(controller));
        }
        // The controller does one command at a time, while latencies overlap; and some place has
        // one command after the other.
        let turns = number.div_ceil(inside.map_or(number, u64::from).max(1));
        let in_a_place = least.saturating_add(latency).checked_mul(turns).unwrap_or(Span::LONGEST);
        controlled.saturating_add(latency).max(in_a_place)
    }

    /// Its logical pages.
    fn logical_pages(&self) -> u64 {
        self.plan.clusters()[ClusterId(0)].layout.logical_pages().into()
    }
}
