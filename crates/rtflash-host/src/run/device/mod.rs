//! Devices, as the host sees them.

mod clusters;
mod emmc;
mod flash;
mod measured;
mod nvme;
mod slow;

use std::fmt;

use rtflash_model::{Instant, Span};
use rtflash_plan::{Dispatch, Options, Service};
use rtflash_trace::Record;

pub use clusters::{CertifiedClusters, ClustersError};
pub use emmc::{Attach, Emmc, EmmcCost, WriteCache};
pub use measured::{AfterIdle, BLOCK, MeasuredCost, MeasuredDrive, SizeServices, StallWindow};
pub use nvme::{CommandCost, Costs, Nvme, NvmeError};
pub use slow::{Between, Slow};

use super::job::Job;
use crate::host::Host;
use crate::{Command, Scheduler, SchedulerSettings};

/// A command as a device gets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Handed {
    /// The command.
    pub(super) command: Command,
    /// Whether it is the first of its I/O to be handed over.
    pub(super) is_first: bool,
    /// The submission queue that it goes to, where there are such.
    pub(super) queue: usize,
    /// Whether it is a write that goes through the volatile cache.
    pub(super) fua: bool,
}

/// A device at run time: what a host may ask of it. It is stepped from event to event; times never
/// decrease from one call to the next.
pub(super) trait Target: fmt::Debug {
    /// Whether it takes a command now.
    fn has_room(&self) -> bool;

    /// How many commands it has not fetched from each of its submission queues; empty where it has
    /// none.
    fn unfetched(&self) -> &[u32] {
        &[]
    }

    /// A command is handed over.
    fn take(&mut self, handed: Handed, now: Instant);

    /// When something happens next in it; `None` while it has nothing to do.
    fn next(&self) -> Option<Instant>;

    /// All that happens in it now; what ends is added to `ended`, in order.
    fn advance(&mut self, now: Instant, ended: &mut Vec<Command>);

    /// The host has handed over all that it has now.
    fn settle(&mut self, now: Instant) {
        let _ = now;
    }

    /// Commands that ended later than the device says that they do, with what they took.
    fn late(&mut self) -> Vec<(Command, Span)> {
        Vec::new()
    }

    /// Commands that have not ended by now, though the device says that they do, with what they
    /// have taken.
    fn overdue(&self, now: Instant) -> Vec<(Command, Span)> {
        let _ = now;
        Vec::new()
    }

    /// Whether more waits in it than can be kept.
    fn is_overloaded(&self) -> bool {
        false
    }

    /// The records of its flash that are final by now; `over`: the run is over.
    fn records(&mut self, now: Instant, over: bool) -> Vec<Record> {
        let _ = (now, over);
        Vec::new()
    }
}

/// The device behind the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostDevice {
    /// One command at a time.
    Emmc(Box<Emmc>),
    /// As long as a drive was measured to take.
    Measured(Box<MeasuredDrive>),
    /// Submission queues, a controller, a write buffer, flash.
    Nvme(Box<Nvme>),
    /// A task set and its allocation, by certificates.
    Clusters(Box<CertifiedClusters>),
}

impl HostDevice {
    /// The least time from the release of an I/O of these commands to its end, if at most `inside`
    /// of them are in the device at a time; `merged`: they may be parts of others' commands.
    pub(crate) fn shortest(&self, commands: impl Iterator<Item = Command>, inside: Option<u32>, merged: bool) -> Span {
        match self {
            HostDevice::Emmc(emmc) => {
                let services = commands.enumerate().map(|(number, command)| match number {
                    0 => emmc.service(&command, true),
                    // A request that it is a part of may be the first of another I/O.
                    _ if merged => emmc.service(&command, true).min(emmc.service(&command, false)),
                    _ => emmc.service(&command, false),
                });
                services.fold(Span::ZERO, Span::saturating_add)
            }
            // Commands that a drive takes together end with its longest one.
            HostDevice::Measured(measured) => {
                let services = commands.enumerate().map(|(number, command)| match merged {
                    true => measured.shortest_merged(&command),
                    false => measured.shortest(&command, number == 0),
                });
                match measured.together {
                    0 | 1 => services.fold(Span::ZERO, Span::saturating_add),
                    _ => services.max().unwrap_or(Span::ZERO),
                }
            }
            HostDevice::Nvme(nvme) => nvme.shortest(commands, inside),
            HostDevice::Clusters(_) => Span::ZERO,
        }
    }

    /// Whether it has a volatile write cache (`BLK_FEAT_WRITE_CACHE` of include/linux/blkdev.h,
    /// 6.12.117).
    pub fn has_cache(&self) -> bool {
        match self {
            HostDevice::Emmc(emmc) => emmc.cache.is_some(),
            HostDevice::Nvme(nvme) => nvme.flush.is_some(),
            HostDevice::Measured(_) | HostDevice::Clusters(_) => false,
        }
    }

    /// Whether a write can go through that cache (`BLK_FEAT_FUA`).
    pub(crate) fn has_fua(&self) -> bool {
        match self {
            HostDevice::Emmc(emmc) => emmc.cache.is_some_and(|cache| cache.fua),
            HostDevice::Nvme(nvme) => nvme.flush.is_some(),
            HostDevice::Measured(_) | HostDevice::Clusters(_) => false,
        }
    }

    /// How it is attached.
    pub(crate) fn attach(&self) -> Attach {
        match self {
            HostDevice::Emmc(emmc) => emmc.attach,
            HostDevice::Measured(measured) => measured.attach,
            HostDevice::Nvme(_) | HostDevice::Clusters(_) => Attach::Unstated,
        }
    }

    /// The most that a command takes in it, once it is its turn. If it is `merged`, others can be
    /// parts of it.
    pub(crate) fn longest(&self, command: &Command, first: bool, merged: bool) -> Span {
        match self {
            HostDevice::Emmc(emmc) => emmc.longest(command, first),
            HostDevice::Measured(measured) if merged => measured.longest_merged(command),
            HostDevice::Measured(measured) => measured.longest(command, first),
            HostDevice::Nvme(_) | HostDevice::Clusters(_) => Span::LONGEST,
        }
    }

    /// Whether a request may become part of another one in front of it.
    pub(super) fn merges(&self, queued: &Command, request: &Command) -> bool {
        match self {
            HostDevice::Emmc(_) | HostDevice::Measured(_) | HostDevice::Nvme(_) => true,
            HostDevice::Clusters(clusters) => clusters.merges(queued, request),
        }
    }

    /// A scheduler in front of it, that knows what commands take where that can be known.
    pub(crate) fn in_front(&self, settings: &SchedulerSettings) -> Box<dyn Scheduler> {
        let mut scheduler = settings.scheduler();
        match self {
            HostDevice::Emmc(emmc) => scheduler.foretell(emmc.ends()),
            HostDevice::Measured(measured) => scheduler.foretell(measured.ends()),
            HostDevice::Nvme(nvme) => {
                if let Some(ends) = nvme.ends() {
                    scheduler.foretell(ends);
                }
            }
            HostDevice::Clusters(_) => {}
        }
        scheduler
    }

    /// Bytes of a page of the flash in it.
    pub(super) fn page_size(&self) -> Option<u32> {
        match self {
            HostDevice::Emmc(_) | HostDevice::Measured(_) => None,
            HostDevice::Nvme(nvme) => Some(nvme.plan().device().page_size()),
            HostDevice::Clusters(clusters) => Some(clusters.plan().device().page_size()),
        }
    }

    /// How the flash in it is run, from this seed.
    pub(super) fn options(&self, duration: Instant, seed: u64) -> Options {
        let options = Options { duration, seed, ..Options::default() };
        match self {
            HostDevice::Emmc(_) | HostDevice::Measured(_) => options,
            HostDevice::Nvme(nvme) => {
                Options { aging: nvme.aging, dispatch: Dispatch::Parallel, service: Service::Background, ..options }
            }
            HostDevice::Clusters(clusters) => Options { aging: clusters.aging, ..options },
        }
    }

    /// The device with nothing in it. `watched`: an observer wants the records of its flash.
    pub(super) fn target<'a>(
        &'a self,
        host: &Host,
        jobs: &[Job],
        options: &'a Options,
        watched: bool,
    ) -> Box<dyn Target + 'a> {
        match self {
            HostDevice::Emmc(emmc) => Box::new(emmc::RunningEmmc::new(**emmc, options.seed)),
            HostDevice::Measured(measured) => Box::new(measured::RunningMeasured::new(measured, options.seed)),
            HostDevice::Nvme(nvme) => Box::new(nvme::RunningNvme::new(nvme, host.cpus, options, watched)),
            HostDevice::Clusters(clusters) => {
                Box::new(clusters::RunningClusters::new(clusters, jobs, options, watched))
            }
        }
    }
}
