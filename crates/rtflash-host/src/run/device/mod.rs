//! Devices, as the host sees them.

mod emmc;
mod slow;

use std::fmt;

use rtflash_model::{Instant, Span};

pub use emmc::{Cost, Emmc};
pub use slow::{Between, Slow};

use super::scenario::Device;
use crate::{Command, Scheduler, Settings};

/// A command as a device gets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Handed {
    /// What is to be done.
    pub(super) command: Command,
    /// Whether it is the first of its I/O to be handed over.
    pub(super) is_first: bool,
}

/// A device at run time: what a host may ask of it. It is stepped from event to event; times never decrease from one call to the next.
pub(super) trait Target: fmt::Debug {
    /// Whether it takes a command now.
    fn has_room(&self) -> bool;

    /// A command is handed over.
    fn take(&mut self, handed: Handed, now: Instant);

    /// When something happens next in it; `None` while it has nothing to do.
    fn next(&self) -> Option<Instant>;

    /// All that happens in it now; what ends is added to `ended`, in order.
    fn advance(&mut self, now: Instant, ended: &mut Vec<Command>);
}

impl Device {
    /// The least that a command takes in it; `first`: of its I/O.
    pub(crate) fn least(&self, command: &Command, first: bool) -> Span {
        match self {
            Device::Emmc(emmc) => emmc.service(command, first),
        }
    }

    /// The most that a command takes in it, once it is its turn.
    pub(crate) fn most(&self, command: &Command, first: bool) -> Span {
        match self {
            Device::Emmc(emmc) => emmc.most(command, first),
        }
    }

    /// A scheduler in front of it, that knows what commands take where that can be known.
    pub(crate) fn in_front(&self, settings: &Settings) -> Box<dyn Scheduler> {
        let mut scheduler = settings.scheduler();
        match self {
            Device::Emmc(emmc) => scheduler.foretell(emmc.ends()),
        }
        scheduler
    }

    /// The device with nothing in it, and the seed of what is chance in it.
    pub(super) fn target(&self, seed: u64) -> Box<dyn Target> {
        match self {
            Device::Emmc(emmc) => Box::new(emmc::Running::new(*emmc, seed)),
        }
    }
}
