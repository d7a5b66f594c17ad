//! BFQ (block/bfq-iosched.c), its core: a queue for each job, served one at a time, budget by
//! budget, by B-WF²Q+.
//!
//! A queue's weight is 10·(8 − level). It has a start and a finish on a virtual clock, which every
//! byte served moves on by itself over the sum of the weights. BFQ serves the started queue with
//! the least finish until its budget is spent or it is empty. Real-time goes before best effort,
//! and that before idle.
//!
//! Left out: idling for the next request of a queue, the boost of interactive and soft real-time
//! jobs, merging of queues, budgets that adapt, and timeouts.

use std::collections::{BTreeMap, VecDeque};

use rtflash_model::Instant;

use super::{Scheduler, is_limited, share_of_tags};
use crate::command::LEVELS;
use crate::host::Host;
use crate::{Class, Command};

/// Parameters of BFQ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BfqSettings {
    /// Bytes that a queue is served in a row, above zero.
    pub budget: u64,
}

impl Default for BfqSettings {
    fn default() -> BfqSettings {
        BfqSettings { budget: 8 << 20 }
    }
}

/// Parts of a byte on the virtual clock.
const SCALE: u128 = 1 << 24;

/// A job's queue.
#[derive(Debug, Default)]
struct JobQueue {
    requests: VecDeque<Command>,
    weight: u64,
    /// Its begin and end on the virtual clock, and the bytes served since.
    start: u128,
    finish: u128,
    served: u64,
}

/// Queues of a class.
#[derive(Debug, Default)]
struct Tree {
    clock: u128,
    /// By job and level.
    queues: BTreeMap<(u32, u8), JobQueue>,
    /// The one that is being served.
    current: Option<(u32, u8)>,
}

/// Virtual time that `bytes` bytes take at a weight, in units of [`SCALE`].
fn over(bytes: u64, weight: u64) -> u128 {
    u128::from(bytes) * SCALE / u128::from(weight.max(1))
}

impl Tree {
    fn insert(&mut self, command: Command, budget: u64) {
        let weight = 10 * u64::from(LEVELS - command.level.min(LEVELS - 1));
        let clock = self.clock;
        let key = (command.job, command.level);
        let queue = self.queues.entry(key).or_insert_with(|| JobQueue { weight, ..JobQueue::default() });
        if queue.requests.is_empty() && self.current != Some(key) {
            queue.start = queue.finish.max(clock);
            queue.finish = queue.start + over(budget, weight);
        }
        queue.requests.push_back(command);
    }

    /// The next queue to be served: the least finish among those whose start has come; the first
    /// job among equals.
    fn choose(&mut self) -> Option<(u32, u8)> {
        let waiting = || self.queues.iter().filter(|(_, queue)| !queue.requests.is_empty());
        // If no queue has started, the clock jumps to the earliest start, as no service would move
        // it there.
        let first = waiting().map(|(_, queue)| queue.start).min()?;
        let clock = self.clock.max(first);
        let chosen =
            waiting().filter(|(_, queue)| queue.start <= clock).min_by_key(|(key, queue)| (queue.finish, **key));
        let key = chosen.map(|(&key, _)| key);
        self.clock = clock;
        key
    }

    fn ask(&mut self, budget: u64) -> Option<Command> {
        let key = match self.current {
            Some(key) => key,
            None => self.choose()?,
        };
        self.current = Some(key);
        let weights: u64 =
            self.queues.values().filter(|queue| !queue.requests.is_empty()).map(|queue| queue.weight).sum();
        let queue = self.queues.get_mut(&key)?;
        let Some(command) = queue.requests.pop_front() else {
            self.current = None;
            return None;
        };
        queue.served = queue.served.saturating_add(command.size);
        self.clock += over(command.size, weights);
        if queue.requests.is_empty() || queue.served >= budget {
            // The queue is charged the bytes that it was served, and it gets in line again.
            queue.finish = queue.start + over(queue.served, queue.weight);
            queue.served = 0;
            self.current = None;
            if !queue.requests.is_empty() {
                queue.start = queue.finish;
                queue.finish = queue.start + over(budget, queue.weight);
            }
        }
        Some(command)
    }
}

/// BFQ.
#[derive(Debug)]
pub struct Bfq {
    settings: BfqSettings,
    /// By class.
    classes: [Tree; 3],
}

impl Bfq {
    /// With nothing in it.
    pub fn new(settings: BfqSettings) -> Bfq {
        Bfq { settings, classes: Default::default() }
    }
}

impl Scheduler for Bfq {
    fn insert(&mut self, command: Command, _: Instant) {
        self.classes[command.class as usize].insert(command, self.settings.budget);
    }

    fn ask(&mut self, _: Instant) -> Option<Command> {
        Class::ALL.into_iter().find_map(|class| self.classes[class as usize].ask(self.settings.budget))
    }

    /// `bfq_limit_depth`, with `bfq_update_depths`, where no queue is raised.
    fn tag_limit(&self, request: &Command, buffered: bool, host: &Host) -> Option<u32> {
        let share = |tags: u32| if buffered { tags / 2 } else { tags - tags.div_ceil(4) };
        is_limited(request, buffered).then(|| share_of_tags(host, share))
    }

    /// The least limit by `bfq_depth_updated`.
    fn min_tag_limit(&self, _: &Host) -> Option<u32> {
        Some(1)
    }

    fn merges(&self, queued: &Command, request: &Command) -> bool {
        queued.job == request.job
    }

    fn merged(&mut self, before: &Command, after: &Command) {
        let queue = self.classes[before.class as usize].queues.get_mut(&(before.job, before.level));
        let requests = queue.into_iter().flat_map(|queue| &mut queue.requests);
        // Most are merged soon after they came.
        if let Some(request) = requests.rev().find(|request| request.id == before.id) {
            *request = *after;
        }
    }

    fn completed(&mut self, _: &Command, _: Instant) {}
}
