//! The rules, written down plainly.

mod judged;
mod queued;

use rtflash_host::scheduler::{Levels, SchedulerSettings};
use rtflash_host::{Class, Command, Op};
use rtflash_model::Instant;

/// A request that waits, and since when.
#[derive(Debug, Clone, Copy)]
pub struct Waiting {
    pub command: Command,
    pub since: Instant,
}

/// A scheduler as its rules have it.
#[derive(Debug)]
pub struct Twin {
    settings: SchedulerSettings,
    /// In order of arrival.
    waiting: Vec<Waiting>,
    inside: Vec<Command>,
    deadline: queued::Deadline,
    kyber: judged::Kyber,
    bfq: queued::Shares,
    writes: judged::Writes,
    /// The core that was served last.
    core: Option<u32>,
}

impl Twin {
    pub fn new(settings: SchedulerSettings) -> Twin {
        Twin {
            settings,
            waiting: Vec::new(),
            inside: Vec::new(),
            deadline: queued::Deadline::new(),
            kyber: judged::Kyber::new(&settings),
            bfq: queued::Shares::default(),
            writes: judged::Writes::new(&settings),
            core: None,
        }
    }

    pub fn piece(&self, request: &Command) -> Option<u64> {
        let SchedulerSettings::K2(k2) = self.settings else { return None };
        let split = k2.split?;
        let kib = (split.max_sectors / 1_024 / 4 * 4).max(4);
        let piece = kib * 1_024;
        let may = match split.cut {
            rtflash_host::scheduler::Cut::Idle => request.class == Class::Idle,
            rtflash_host::scheduler::Cut::Rest => request.class != Class::RealTime,
        };
        if !may || request.size <= piece || (split.multiples && !request.size.is_multiple_of(piece)) {
            None
        } else {
            Some(piece)
        }
    }

    pub fn insert(&mut self, command: Command, now: Instant) {
        self.tick(now);
        if let SchedulerSettings::Bfq(bfq) = self.settings {
            self.bfq.insert(&command, &self.waiting, bfq.budget);
        }
        self.waiting.push(Waiting { command, since: now });
    }

    pub fn completed(&mut self, command: &Command, now: Instant) {
        self.tick(now);
        self.inside.retain(|other| other.id != command.id);
        self.kyber.completed(command, now);
    }

    /// Whether two requests that lie one behind the other may become one.
    pub fn merges(&self, queued: &Command, request: &Command) -> bool {
        let same_core = queued.cpu == request.cpu;
        match self.settings {
            SchedulerSettings::K2(k2) => k2.split.is_none(),
            SchedulerSettings::Bfq(_) => queued.job == request.job,
            SchedulerSettings::None | SchedulerSettings::Kyber(_) => same_core,
            SchedulerSettings::UserCentric(user) if user.separated => {
                same_core && queued.user_centric == request.user_centric
            }
            SchedulerSettings::UserCentric(_) => same_core,
            SchedulerSettings::MqDeadline(_) | SchedulerSettings::MinimalEffort(_) => true,
        }
    }

    /// A request that waits is longer now.
    pub fn merged(&mut self, after: &Command) {
        for waiting in self.waiting.iter_mut().filter(|waiting| waiting.command.id == after.id) {
            waiting.command = *after;
        }
    }

    pub fn waiting(&self) -> impl Iterator<Item = &Command> {
        self.waiting.iter().map(|waiting| &waiting.command)
    }

    fn tick(&mut self, now: Instant) {
        if let SchedulerSettings::Kyber(settings) = self.settings {
            self.kyber.tick(&settings, now);
        }
        if let SchedulerSettings::MinimalEffort(settings) = self.settings {
            let writes = self.waiting.iter().any(|waiting| waiting.command.op != Op::Read);
            self.writes.tick(&settings, writes, now);
        }
    }

    /// Takes the first that waits and passes.
    fn take(&mut self, passes: impl Fn(&Command) -> bool) -> Option<Waiting> {
        let at = self.waiting.iter().position(|waiting| passes(&waiting.command))?;
        Some(self.waiting.remove(at))
    }

    pub fn ask(&mut self, now: Instant) -> Option<Command> {
        self.tick(now);
        let taken = match self.settings {
            SchedulerSettings::None => self.take(|_| true),
            SchedulerSettings::K2(k2) => {
                if self.inside.len() >= k2.max_inflight as usize {
                    return None;
                }
                let real_time = |command: &Command| command.class == Class::RealTime;
                let level = |waiting: &Waiting| if k2.levels == Levels::One { 0 } else { waiting.command.level };
                let urgent = self.waiting.iter().filter(|waiting| real_time(&waiting.command)).map(level).min();
                let rest = self.inside.iter().filter(|command| !real_time(command)).count();
                match urgent {
                    Some(least) => {
                        let one = k2.levels == Levels::One;
                        self.take(|command| real_time(command) && (one || command.level == least))
                    }
                    None if k2.max_inflight_rest.is_some_and(|most| rest >= most as usize) => None,
                    None => self.take(|_| true),
                }
            }
            SchedulerSettings::MqDeadline(settings) => {
                let at = self.deadline.choose(&settings, &self.waiting, &self.inside, now)?;
                Some(self.waiting.remove(at))
            }
            SchedulerSettings::Kyber(settings) => {
                let at = self.kyber.choose(&settings, &self.waiting, &self.inside)?;
                let taken = self.waiting.remove(at);
                self.kyber.dispatched(taken, now);
                Some(taken)
            }
            SchedulerSettings::Bfq(bfq) => {
                let at = self.bfq.choose(&self.waiting, bfq.budget)?;
                Some(self.waiting.remove(at))
            }
            SchedulerSettings::MinimalEffort(settings) => {
                let at = self.writes.choose(&settings, &self.waiting)?;
                Some(self.waiting.remove(at))
            }
            SchedulerSettings::UserCentric(settings) => {
                let after = |core: u32| self.core.is_none_or(|last| core > last);
                let urgent = |waiting: &&Waiting| settings.high_priority && waiting.command.user_centric;
                let mut cores: Vec<u32> = self.waiting.iter().filter(urgent).map(|of| of.command.cpu).collect();
                if cores.is_empty() {
                    cores = self.waiting.iter().map(|waiting| waiting.command.cpu).collect();
                }
                let later = cores.iter().copied().filter(|&core| after(core)).min();
                let core = later.or(cores.iter().copied().min())?;
                self.core = Some(core);
                let first = |command: &Command| command.cpu == core && command.user_centric && settings.separated;
                self.take(first).or_else(|| self.take(|command| command.cpu == core))
            }
        };
        let command = taken?.command;
        self.inside.push(command);
        Some(command)
    }
}
