//! User-centric queues (Kim et al. 2020): requests that a user waits for have a software queue of
//! their own on each core.
//!
//! Cores take turns. On each, what is user-centric goes first, in order of arrival; then the
//! others. Without `separated` a core has one queue, as Linux has it.

use std::collections::{BTreeMap, VecDeque};

use rtflash_model::Instant;

use super::{Scheduler, own_queue};
use crate::Command;

/// Parameters of user-centric queues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserCentricSettings {
    /// Whether what is user-centric has a queue of its own.
    pub separated: bool,
    /// Whether what is user-centric goes to the submission queue with the fewest commands, its
    /// core's own among equals.
    pub shortest: bool,
    /// Whether cores that have something user-centric go before the others.
    pub high_priority: bool,
}

impl Default for UserCentricSettings {
    fn default() -> UserCentricSettings {
        UserCentricSettings { separated: true, shortest: false, high_priority: false }
    }
}

/// User-centric queues.
#[derive(Debug)]
pub struct UserCentric {
    settings: UserCentricSettings,
    /// For each core that has requests: the queue that goes first, and the others.
    cores: BTreeMap<u32, [VecDeque<Command>; 2]>,
    /// How many of them are user-centric, of each core that has such.
    user_centric: BTreeMap<u32, u64>,
    /// The core whose turn it is, or the next one that has requests.
    turn: u32,
}

impl UserCentric {
    /// With nothing in it.
    pub fn new(settings: UserCentricSettings) -> UserCentric {
        UserCentric { settings, cores: BTreeMap::new(), user_centric: BTreeMap::new(), turn: 0 }
    }
}

/// The first core from the one whose turn it is on.
fn in_turn<T>(cores: &BTreeMap<u32, T>, turn: u32) -> Option<u32> {
    let next = cores.range(turn..).next().or_else(|| cores.iter().next());
    next.map(|(&core, _)| core)
}

impl UserCentric {
    fn next_core(&self) -> Option<u32> {
        let urgent = if self.settings.high_priority { in_turn(&self.user_centric, self.turn) } else { None };
        urgent.or_else(|| in_turn(&self.cores, self.turn))
    }
}

impl Scheduler for UserCentric {
    fn insert(&mut self, command: Command, _: Instant) {
        let first = self.settings.separated && command.user_centric;
        if command.user_centric {
            *self.user_centric.entry(command.cpu).or_default() += 1;
        }
        self.cores.entry(command.cpu).or_default()[usize::from(!first)].push_back(command);
    }

    fn ask(&mut self, _: Instant) -> Option<Command> {
        let core = self.next_core()?;
        let queues = self.cores.get_mut(&core)?;
        let command = queues.iter_mut().find_map(VecDeque::pop_front);
        if queues.iter().all(VecDeque::is_empty) {
            self.cores.remove(&core);
        }
        self.turn = core.wrapping_add(1);
        if command.is_some_and(|command| command.user_centric)
            && let Some(count) = self.user_centric.get_mut(&core)
        {
            *count -= 1;
            if *count == 0 {
                self.user_centric.remove(&core);
            }
        }
        command
    }

    fn merges(&self, queued: &Command, request: &Command) -> bool {
        let alike = !self.settings.separated || queued.user_centric == request.user_centric;
        alike && queued.cpu == request.cpu
    }

    fn queue(&self, command: &Command, unfetched: &[u32]) -> usize {
        let own = own_queue(command, unfetched);
        if !self.settings.shortest || !command.user_centric {
            return own;
        }
        (0..unfetched.len()).min_by_key(|&queue| (unfetched[queue], queue != own)).unwrap_or(own)
    }

    fn completed(&mut self, _: &Command, _: Instant) {}
}
