//! Scenarios: a device, a host, a scheduler and jobs.

use rtflash_model::Instant;

use super::device::HostDevice;
use super::job::{Job, MixedIo};
use crate::host::{Host, word_of};
use crate::scheduler::{Scheduler, SchedulerSettings};
use crate::{Class, Command};

/// A scenario: jobs, and the host and device that they run on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scenario {
    /// The device.
    pub device: HostDevice,
    /// The host.
    pub host: Host,
    /// The scheduler.
    pub scheduler: SchedulerSettings,
    /// The jobs; at least one.
    pub jobs: Vec<Job>,
    /// Nothing that ends later counts.
    pub duration: Instant,
    /// Nothing that ends earlier counts.
    pub warmup: Instant,
}

/// The host and the device that jobs run on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostSetup {
    /// The device.
    pub device: HostDevice,
    /// The host.
    pub host: Host,
    /// The scheduler.
    pub scheduler: SchedulerSettings,
    /// How long the device is, in bytes; `None` where that is not stated.
    pub size: Option<u64>,
}

impl Scenario {
    /// Its scheduler, with nothing in it, in front of its device.
    pub fn scheduler(&self) -> Box<dyn Scheduler> {
        self.device.in_front(&self.scheduler)
    }

    /// Advice about its jobs, a line each: those whose class or level writeback loses.
    pub fn advice(&self) -> Vec<String> {
        let lost = |job: &&Job| job.writes_into_memory() && (job.class, job.level) != (Class::BestEffort, 4);
        let advice = |job: &Job| {
            let (name, class, level) = (&job.name, job.class.name(), job.level);
            format!(
                "`{name}` is buffered: its class and level ({class}, {level}) are lost, because writeback submits under \
                 the flusher's (be, 4). Direct I/O keeps them"
            )
        };
        self.jobs.iter().filter(lost).map(advice).collect()
    }

    /// Tags: one for each request from its arrival at the scheduler to its end. `none` has those of
    /// the device, where that states them.
    pub fn tags(&self) -> u32 {
        self.tags_of_device().unwrap_or(self.host.requests)
    }

    fn tags_of_device(&self) -> Option<u32> {
        match (&self.scheduler, &self.device) {
            (SchedulerSettings::None, HostDevice::Emmc(emmc)) => emmc.attach.tags(emmc.depth),
            (SchedulerSettings::None, HostDevice::Measured(drive)) => drive.attach.tags(drive.depth),
            _ => None,
        }
    }

    /// Tags of a word of their bitmap.
    pub(super) fn tags_of_word(&self) -> u32 {
        self.tags_of_device().map_or_else(|| self.host.tags_of_word(), word_of)
    }

    /// An I/O of a job at a place, as the scheduler would see it in one piece; the first of those
    /// that the job draws from.
    pub fn whole(&self, job: usize, from: u64) -> Option<Command> {
        let io = self.jobs.get(job)?.ios().next()?;
        self.whole_of(job, io, from)
    }

    /// One of the I/Os of a job at a place, as the scheduler would see it in one piece.
    pub fn whole_of(&self, job: usize, io: MixedIo, from: u64) -> Option<Command> {
        Some(self.jobs.get(job)?.io(u32::try_from(job).ok()?, io, from))
    }

    /// The requests of an I/O: it is cut at `max_sectors`.
    pub fn requests(&self, whole: Command) -> impl Iterator<Item = Command> + use<> {
        cut(whole, self.host.max_sectors)
    }
}

/// A command in pieces of `piece` bytes, above zero, the last one shorter if they do not divide it.
pub fn cut(command: Command, piece: u64) -> impl Iterator<Item = Command> {
    (0..command.size.div_ceil(piece)).map(move |number| {
        let before = number * piece;
        Command { from: command.from.saturating_add(before), size: piece.min(command.size - before), ..command }
    })
}
