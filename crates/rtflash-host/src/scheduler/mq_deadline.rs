//! Linux's mq-deadline, as it is since 6.5 (block/mq-deadline.c).
//!
//! Requests of each class and direction are kept by position and by arrival. Classes share the
//! direction and the length of the batch, and how often writes were passed over. Levels play no
//! part.

use std::collections::BTreeMap;

use rtflash_model::{Instant, Span};

use super::{Scheduler, is_limited, ms};
use crate::host::{Host, Kernel};
use crate::{Class, Command, Op};

const READ: usize = 0;
const WRITE: usize = 1;

/// Parameters of mq-deadline, as in sysfs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MqDeadlineSettings {
    /// When a read that waits is expired.
    pub read_expire: Span,
    /// When a write that waits is expired.
    pub write_expire: Span,
    /// How old a request is that goes before those of higher classes.
    pub prio_aging_expire: Span,
    /// How often reads go before writes that wait.
    pub writes_starved: u32,
    /// Requests of one direction in a row.
    pub fifo_batch: u32,
    /// Tags that writes and requests of write-back may hold, above zero; `None` where it is what
    /// the kernel makes of `nr_requests`.
    pub async_depth: Option<u32>,
}

impl Default for MqDeadlineSettings {
    fn default() -> MqDeadlineSettings {
        MqDeadlineSettings {
            read_expire: ms(500),
            write_expire: ms(5_000),
            prio_aging_expire: ms(10_000),
            writes_starved: 2,
            fifo_batch: 16,
            async_depth: None,
        }
    }
}

/// The place of a request in the order of positions, then of arrivals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct SortKey {
    from: u64,
    /// The number of its arrival.
    number: u64,
}

/// Requests of one class and direction.
#[derive(Debug, Default)]
struct ClassQueue {
    sorted: BTreeMap<SortKey, (Command, Instant)>,
    /// Position and arrival, by arrival.
    arrivals: BTreeMap<u64, u64>,
    /// The position of the request that was dispatched last.
    last: u64,
}

impl ClassQueue {
    /// The lowest position at or above the last.
    fn following(&self) -> Option<SortKey> {
        self.sorted.range(SortKey { from: self.last, number: 0 }..).next().map(|(&key, _)| key)
    }

    /// The one that has waited longest.
    fn oldest(&self) -> Option<SortKey> {
        self.arrivals.first_key_value().map(|(&number, &from)| SortKey { from, number })
    }

    fn arrival(&self, key: SortKey) -> Option<Instant> {
        self.sorted.get(&key).map(|&(_, arrival)| arrival)
    }

    fn take(&mut self, key: SortKey) -> Option<Command> {
        let (command, _) = self.sorted.remove(&key)?;
        self.arrivals.remove(&key.number);
        self.last = command.from;
        Some(command)
    }

    /// A request lies elsewhere; its age is the same.
    fn move_to(&mut self, before: &Command, after: &Command) {
        let at = |number| SortKey { from: before.from, number };
        let mut there = self.sorted.range(at(0)..=at(u64::MAX));
        let key = there.find(|(_, (command, _))| command.id == before.id).map(|(&key, _)| key);
        if let Some((key, (_, arrival))) = key.and_then(|key| Some((key, self.sorted.remove(&key)?))) {
            self.sorted.insert(SortKey { from: after.from, ..key }, (*after, arrival));
            self.arrivals.insert(key.number, after.from);
        }
    }

    fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }
}

/// Requests of a class.
#[derive(Debug, Default)]
struct Level {
    /// Reads, and all others.
    queues: [ClassQueue; 2],
    /// Requests queued or inside.
    unfinished: u64,
}

/// mq-deadline.
#[derive(Debug)]
pub struct MqDeadline {
    settings: MqDeadlineSettings,
    /// By class.
    classes: [Level; 3],
    /// The direction of the batch.
    direction: usize,
    batched: u32,
    /// How often writes were passed over.
    starved: u32,
    arrivals: u64,
}

fn direction(command: &Command) -> usize {
    if command.op == Op::Read { READ } else { WRITE }
}

impl MqDeadline {
    /// With nothing in it.
    pub fn new(settings: MqDeadlineSettings) -> MqDeadline {
        let classes = Default::default();
        MqDeadline { settings, classes, direction: WRITE, batched: 0, starved: 0, arrivals: 0 }
    }

    /// Chooses in a class, and dispatches what is chosen unless it arrived after `latest`. Choosing
    /// changes the batch all the same.
    fn dispatch(&mut self, class: usize, now: Instant, latest: Option<Instant>) -> Option<Command> {
        let going_on = self.classes[class].queues[self.direction].following();
        let chosen = match going_on {
            Some(key) if self.batched < self.settings.fifo_batch => key,
            _ => {
                let next = self.next_direction(class)?;
                let key = self.begin(class, next, now)?;
                (self.direction, self.batched) = (next, 0);
                key
            }
        };
        let queue = &mut self.classes[class].queues[self.direction];
        if latest.is_none_or(|latest| queue.arrival(chosen).is_some_and(|arrival| arrival > latest)) {
            return None;
        }
        self.batched += 1;
        queue.take(chosen)
    }

    /// The direction of a new batch; `None` where the class has no requests.
    fn next_direction(&mut self, class: usize) -> Option<usize> {
        let [reads, writes] = &self.classes[class].queues;
        if !reads.is_empty() {
            if writes.is_empty() {
                return Some(READ);
            }
            let starved = self.starved;
            self.starved = starved.saturating_add(1);
            if starved < self.settings.writes_starved {
                return Some(READ);
            }
        } else if writes.is_empty() {
            return None;
        }
        self.starved = 0;
        Some(WRITE)
    }

    /// The begin of a new batch: the oldest request if it is expired, or if none lies at or above
    /// the last one.
    fn begin(&self, class: usize, direction: usize, now: Instant) -> Option<SortKey> {
        let queue = &self.classes[class].queues[direction];
        let expire = if direction == READ { self.settings.read_expire } else { self.settings.write_expire };
        let oldest = queue.oldest()?;
        let expiry = queue.arrival(oldest).and_then(|arrival| arrival.checked_add(expire));
        let expired = expiry.is_some_and(|expiry| now >= expiry);
        queue.following().filter(|_| !expired).or(Some(oldest))
    }

    /// A request of a lower class that is old enough to go before higher ones.
    fn aged(&mut self, now: Instant) -> Option<Command> {
        if self.classes.iter().filter(|class| class.unfinished > 0).count() < 2 {
            return None;
        }
        // Before as much time has passed, nothing is as old.
        let age = self.settings.prio_aging_expire.as_ns();
        let latest = now.as_ns().checked_sub(age).and_then(Instant::from_ns);
        [Class::BestEffort, Class::Idle].into_iter().find_map(|class| self.dispatch(class as usize, now, latest))
    }
}

impl Scheduler for MqDeadline {
    fn insert(&mut self, command: Command, now: Instant) {
        let number = self.arrivals;
        self.arrivals += 1;
        let class = &mut self.classes[command.class as usize];
        class.unfinished += 1;
        let queue = &mut class.queues[direction(&command)];
        queue.sorted.insert(SortKey { from: command.from, number }, (command, now));
        queue.arrivals.insert(number, command.from);
    }

    fn ask(&mut self, now: Instant) -> Option<Command> {
        if let Some(command) = self.aged(now) {
            return Some(command);
        }
        for class in 0..self.classes.len() {
            if let Some(command) = self.dispatch(class, now, Some(now)) {
                return Some(command);
            }
            // A request that is queued or inside hides lower classes.
            if self.classes[class].unfinished > 0 {
                return None;
            }
        }
        None
    }

    /// `dd_limit_depth`, with `dd_depth_updated`.
    fn tag_limit(&self, request: &Command, buffered: bool, host: &Host) -> Option<u32> {
        let known = host.requests_known();
        let left = match host.kernel {
            Kernel::V6_5 => (u64::from(known) * 3 / 4).max(1).try_into().expect("less than the number of tags"),
            Kernel::V6_12 => known,
        };
        is_limited(request, buffered).then(|| self.settings.async_depth.unwrap_or(left))
    }

    /// The least limit by `dd_depth_updated`.
    fn min_tag_limit(&self, _: &Host) -> Option<u32> {
        Some(1)
    }

    /// It holds lower classes back and has no timer: block/blk-mq-sched.c asks again.
    fn kicks_queue(&self) -> bool {
        false
    }

    fn merged(&mut self, before: &Command, after: &Command) {
        self.classes[before.class as usize].queues[direction(before)].move_to(before, after);
    }

    fn completed(&mut self, command: &Command, _: Instant) {
        let class = &mut self.classes[command.class as usize];
        class.unfinished = class.unfinished.saturating_sub(1);
    }
}
