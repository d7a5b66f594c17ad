//! mq-deadline and BFQ.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rtflash_host::scheduler::MqDeadlineSettings;
use rtflash_host::{Class, Command, Op};
use rtflash_model::Instant;

use super::Waiting;

/// mq-deadline: all that it keeps beside what waits.
#[derive(Debug)]
pub struct Deadline {
    reads: bool,
    batch: u32,
    passed_over: u32,
    /// The begin of the last command, by class and whether it was a read.
    last: BTreeMap<(Class, bool), u64>,
}

impl Deadline {
    pub fn new() -> Deadline {
        Deadline { reads: false, batch: 0, passed_over: 0, last: BTreeMap::new() }
    }

    /// The position of what is dispatched in `waiting`.
    pub fn choose(
        &mut self,
        settings: &MqDeadlineSettings,
        waiting: &[Waiting],
        inside: &[Command],
        now: Instant,
    ) -> Option<usize> {
        let queued = |class| waiting.iter().any(|waiting| waiting.command.class == class);
        let busy = |class| queued(class) || inside.iter().any(|command| command.class == class);
        if Class::ALL.into_iter().filter(|&class| busy(class)).count() >= 2 {
            for class in [Class::BestEffort, Class::Idle] {
                let chosen = self.choose_in(settings, waiting, class, now);
                let old = |at: usize| waiting[at].since.saturating_add(settings.prio_aging_expire) <= now;
                if let Some(at) = chosen.filter(|&at| old(at)) {
                    return Some(self.dispatch(waiting, at));
                }
            }
        }
        for class in Class::ALL {
            if let Some(at) = self.choose_in(settings, waiting, class, now) {
                return Some(self.dispatch(waiting, at));
            }
            if busy(class) {
                return None;
            }
        }
        None
    }

    fn dispatch(&mut self, waiting: &[Waiting], at: usize) -> usize {
        let command = waiting[at].command;
        self.batch += 1;
        self.last.insert((command.class, command.op == Op::Read), command.from);
        at
    }

    fn choose_in(
        &mut self,
        settings: &MqDeadlineSettings,
        waiting: &[Waiting],
        class: Class,
        now: Instant,
    ) -> Option<usize> {
        let of = |reads: bool| -> Vec<usize> {
            let lies = |command: &Command| command.class == class && (command.op == Op::Read) == reads;
            (0..waiting.len()).filter(|&at| lies(&waiting[at].command)).collect()
        };
        let last = self.last.clone();
        // Arrival is the order of the list.
        let ahead = |reads: bool| {
            let from = last.get(&(class, reads)).copied().unwrap_or(0);
            let above = of(reads).into_iter().filter(|&at| waiting[at].command.from >= from);
            above.min_by_key(|&at| (waiting[at].command.from, at))
        };
        if let Some(at) = ahead(self.reads)
            && self.batch < settings.fifo_batch
        {
            return Some(at);
        }
        let reads = if of(true).is_empty() {
            if of(false).is_empty() {
                return None;
            }
            false
        } else if of(false).is_empty() {
            true
        } else {
            self.passed_over += 1;
            self.passed_over <= settings.writes_starved
        };
        if !reads {
            self.passed_over = 0;
        }
        (self.reads, self.batch) = (reads, 0);
        let oldest = of(reads)[0];
        let expire = if reads { settings.read_expire } else { settings.write_expire };
        let expired = waiting[oldest].since.saturating_add(expire) <= now;
        Some(if expired { oldest } else { ahead(reads).unwrap_or(oldest) })
    }
}

/// A job's account in BFQ: start and finish on the class's clock, times 2²⁴.
#[derive(Debug, Clone, Copy, Default)]
struct Account {
    start: u128,
    finish: u128,
    served: u64,
}

type Name = (Class, u32, u8);

/// BFQ's accounts.
#[derive(Debug, Default)]
pub struct Shares {
    accounts: BTreeMap<Name, Account>,
    clocks: BTreeMap<Class, u128>,
    current: BTreeMap<Class, Name>,
}

fn name(command: &Command) -> Name {
    (command.class, command.job, command.level)
}

fn weight(name: Name) -> u128 {
    u128::from(10 * (8 - name.2))
}

fn share(bytes: u64, weight: u128) -> u128 {
    (u128::from(bytes) << 24) / weight
}

impl Shares {
    pub fn insert(&mut self, command: &Command, waiting: &[Waiting], budget: u64) {
        let name = name(command);
        let waits = waiting.iter().any(|other| self::name(&other.command) == name);
        if waits || self.current.get(&command.class) == Some(&name) {
            return;
        }
        let clock = self.clocks.get(&command.class).copied().unwrap_or(0);
        let account = self.accounts.entry(name).or_default();
        account.start = account.finish.max(clock);
        account.finish = account.start + share(budget, weight(name));
    }

    pub fn choose(&mut self, waiting: &[Waiting], budget: u64) -> Option<usize> {
        let class = waiting.iter().map(|waiting| waiting.command.class).min()?;
        let mut names: Vec<Name> = waiting.iter().map(|waiting| name(&waiting.command)).collect();
        names.retain(|name| name.0 == class);
        names.sort_unstable();
        names.dedup();
        let clock = self.clocks.entry(class).or_insert(0);
        let served = match self.current.get(&class) {
            Some(&name) => name,
            None => {
                *clock = (*clock).max(names.iter().map(|name| self.accounts[name].start).min()?);
                let mut eligible: Vec<Name> =
                    names.iter().copied().filter(|name| self.accounts[name].start <= *clock).collect();
                eligible.sort_by_key(|name| Reverse((self.accounts[name].finish, *name)));
                eligible.pop()?
            }
        };
        let at = waiting.iter().position(|waiting| name(&waiting.command) == served)?;
        let size = waiting[at].command.size;
        *clock += share(size, names.iter().map(|&name| weight(name)).sum());
        let more = waiting.iter().filter(|waiting| name(&waiting.command) == served).count() > 1;
        let account = self.accounts.get_mut(&served)?;
        account.served += size;
        if more && account.served < budget {
            self.current.insert(class, served);
            return Some(at);
        }
        self.current.remove(&class);
        account.finish = account.start + share(account.served, weight(served));
        account.served = 0;
        if more {
            account.start = account.finish;
            account.finish += share(budget, weight(served));
        }
        Some(at)
    }
}
