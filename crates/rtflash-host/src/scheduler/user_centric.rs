//! User-centric queues (paper 004): requests that a user waits for have a software queue of their own on each core.
//!
//! Cores take turns. On each, what is user-centric goes first, in order of arrival; then the others. Without `separated` a core has one queue, as Linux has it.

use std::collections::{BTreeMap, VecDeque};

use rtflash_model::Instant;

use super::Scheduler;
use crate::Command;

/// Parameters of user-centric queues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserCentricSettings {
    /// Whether what is user-centric has a queue of its own.
    pub separated: bool,
}

impl Default for UserCentricSettings {
    fn default() -> UserCentricSettings {
        UserCentricSettings { separated: true }
    }
}

/// User-centric queues.
#[derive(Debug)]
pub struct UserCentric {
    settings: UserCentricSettings,
    /// Of each core that has requests: what goes first, and the others.
    cores: BTreeMap<u32, [VecDeque<Command>; 2]>,
    /// The core whose turn it is, or the next one that has requests.
    turn: u32,
}

impl UserCentric {
    /// With nothing in it.
    pub fn new(settings: UserCentricSettings) -> UserCentric {
        UserCentric { settings, cores: BTreeMap::new(), turn: 0 }
    }
}

impl Scheduler for UserCentric {
    fn insert(&mut self, command: Command, _: Instant) {
        let first = self.settings.separated && command.user_centric;
        self.cores.entry(command.cpu).or_default()[usize::from(!first)].push_back(command);
    }

    fn ask(&mut self, _: Instant) -> Option<Command> {
        let next = self.cores.range(self.turn..).next().or_else(|| self.cores.iter().next());
        let core = next.map(|(&core, _)| core)?;
        let queues = self.cores.get_mut(&core)?;
        let command = queues.iter_mut().find_map(VecDeque::pop_front);
        if queues.iter().all(VecDeque::is_empty) {
            self.cores.remove(&core);
        }
        self.turn = core.wrapping_add(1);
        command
    }

    fn merges(&self, queued: &Command, request: &Command) -> bool {
        let alike = !self.settings.separated || queued.user_centric == request.user_centric;
        alike && queued.cpu == request.cpu
    }

    fn completed(&mut self, _: &Command, _: Instant) {}
}
