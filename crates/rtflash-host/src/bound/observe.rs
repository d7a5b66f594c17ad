//! The assumptions of bounds, observed in a run.

use std::collections::{BTreeMap, HashMap};

use rtflash_model::{Instant, Span};

use super::{Bound, bounds};
use crate::Command;
use crate::run::{HostDevice, Job, JobReleases, RunEvent, Scenario, Watch};
use crate::scheduler::SchedulerSettings;

/// Something that bounds suppose, or the bounds themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BoundAssumption {
    /// Its name.
    pub name: &'static str,
    /// Whether there was something to be looked at.
    pub observed: bool,
    /// When it was first seen not to hold.
    pub broken: Option<Instant>,
}

/// An I/O or a chain that is pending.
#[derive(Debug, Clone, Copy)]
struct PendingIo {
    released: Instant,
    /// The longest that it can take, if that is known.
    bound: Option<Span>,
}

impl PendingIo {
    /// Whether one that has taken until now is within its bound.
    fn is_within(self, now: Instant) -> bool {
        self.bound.is_none_or(|bound| now.since(self.released) <= bound)
    }
}

/// Checks a run for what bounds suppose: see [`Assumptions::NAMES`].
#[derive(Debug)]
pub struct Assumptions<'a> {
    scenario: &'a Scenario,
    bounds: Vec<Option<Span>>,
    /// Those of the steps of chains, by job.
    steps: Vec<Vec<Option<Span>>>,
    /// Commands that may be inside.
    max: Option<u32>,
    /// I/Os of each job that are pending.
    pending: Vec<u64>,
    /// I/Os of real-time jobs that are pending, and their chains.
    released: BTreeMap<u64, PendingIo>,
    chains: BTreeMap<u64, PendingIo>,
    /// Commands at the scheduler and inside, as they were queued.
    queued: HashMap<u64, Command>,
    inside: u32,
    broken: [Option<Instant>; 6],
}

impl<'a> Assumptions<'a> {
    /// `tags`: no request of a real-time job waits for its tag. `one-pending`: each I/O of a
    /// real-time job with a period ends before its next one comes. `inside`: no more commands are
    /// inside than the scheduler's parameters say. `classes-apart`: what the device gets is what
    /// was queued, and merged within a class alone. `bounds`: no latency is above its bound, and
    /// what is pending at the end is no older. `ends-within`: no command takes longer than the
    /// device says that one does.
    pub const NAMES: [&'static str; 6] = ["tags", "one-pending", "inside", "classes-apart", "bounds", "ends-within"];

    /// Before the run.
    pub fn new(scenario: &'a Scenario) -> Assumptions<'a> {
        let mut limits = vec![None; scenario.jobs.len()];
        let mut steps: Vec<_> = scenario.jobs.iter().map(|job| vec![None; job.steps.len()]).collect();
        for Bound { job, terms, steps: found, .. } in bounds(scenario) {
            limits[job] = terms.ok().map(|terms| terms.bound());
            found.iter().for_each(|(step, terms)| steps[job][*step] = Some(terms.bound()));
        }
        let max = match scenario.scheduler {
            SchedulerSettings::K2(k2) => {
                Some(k2.max_inflight_ahead.map_or(k2.max_inflight, |ahead| ahead.max(k2.max_inflight)))
            }
            _ => None,
        };
        Assumptions {
            scenario,
            bounds: limits,
            steps,
            max,
            pending: vec![0; scenario.jobs.len()],
            released: BTreeMap::new(),
            chains: BTreeMap::new(),
            queued: HashMap::new(),
            inside: 0,
            broken: [None; 6],
        }
    }

    /// Observations by the end of the run, in the order of [`Assumptions::NAMES`].
    pub fn found(&self) -> impl Iterator<Item = BoundAssumption> + '_ {
        let real_time = self.scenario.jobs.iter().any(Job::is_real_time);
        let periodic = |job: &Job| job.is_real_time() && matches!(job.releases, JobReleases::Every { .. });
        let periodic = self.scenario.jobs.iter().any(periodic);
        let within = matches!(&self.scenario.device, HostDevice::Nvme(nvme) if nvme.ends_within.is_some());
        let bounded = self.bounds.iter().any(Option::is_some);
        let observed = [real_time, periodic, self.max.is_some(), true, bounded, within];
        let end = self.scenario.duration;
        let is_overdue = |pending: &PendingIo| !pending.is_within(end);
        let mut broken = self.broken;
        let mut pending = self.released.values().chain(self.chains.values());
        broken[4] = broken[4].or_else(|| pending.any(is_overdue).then_some(end));
        let found = Self::NAMES.into_iter().zip(observed).zip(broken);
        found.map(|((name, observed), broken)| BoundAssumption { name, observed, broken })
    }

    /// A command, or the first part of it, leaves the queue. Says whether it is what was queued.
    fn leave(&mut self, command: &Command) -> bool {
        let Some(queued) = self.queued.get_mut(&command.id) else { return true };
        if command.size < queued.size {
            let part = Command { size: command.size, ..*queued };
            queued.from = queued.from.saturating_add(command.size);
            queued.size -= command.size;
            return part == *command;
        }
        self.queued.remove(&command.id).is_some_and(|queued| queued == *command)
    }

    /// An I/O or a chain of a real-time job is released.
    fn pends(&mut self, job: usize, now: Instant) {
        let of = &self.scenario.jobs[job];
        self.pending[job] += 1;
        let several = matches!(of.releases, JobReleases::Every { .. }) && self.pending[job] > of.burst.into();
        self.judge(1, !several, now);
    }

    /// An I/O or a chain has ended, if it is one of a real-time job.
    fn ends(&mut self, pending: Option<PendingIo>, job: usize, counts: bool, now: Instant) {
        if let Some(pending) = pending {
            self.pending[job] = self.pending[job].saturating_sub(u64::from(counts));
            self.judge(4, pending.is_within(now), now);
        }
    }

    fn judge(&mut self, which: usize, holds: bool, now: Instant) {
        if !holds {
            self.broken[which].get_or_insert(now);
        }
    }
}

impl Watch for Assumptions<'_> {
    fn see(&mut self, now: Instant, what: &RunEvent<'_>) {
        match *what {
            // A flush goes ahead of the scheduler, and no bound is about it.
            RunEvent::Queued { command, .. } | RunEvent::HandedOver(command) | RunEvent::Ended(command)
                if command.is_flush() => {}
            RunEvent::ChainBegun { chain, job } => {
                if self.scenario.jobs[job].is_real_time() {
                    self.chains.insert(chain, PendingIo { released: now, bound: self.bounds[job] });
                    self.pends(job, now);
                }
            }
            RunEvent::ChainEnded { chain, job, .. } => {
                let chain = self.chains.remove(&chain);
                self.ends(chain, job, true, now);
            }
            RunEvent::Released { io, job, step } => {
                if self.scenario.jobs[job].is_real_time() {
                    let bound = step.map_or(self.bounds[job], |step| self.steps[job][step]);
                    self.released.insert(io, PendingIo { released: now, bound });
                    if step.is_none() {
                        self.pends(job, now);
                    }
                }
            }
            RunEvent::Queued { io, command } => {
                let at_once = self.released.get(&io).is_none_or(|pending| pending.released == now);
                self.judge(0, at_once, now);
                self.queued.insert(command.id, *command);
            }
            RunEvent::Merged { io, command, into } => {
                let at_once = self.released.get(&io).is_none_or(|pending| pending.released == now);
                self.judge(0, at_once, now);
                self.judge(3, command.class == into.class, now);
                self.queued.insert(into.id, *into);
            }
            RunEvent::HandedOver(command) | RunEvent::PartHandedOver(command) => {
                self.inside += 1;
                self.judge(2, self.max.is_none_or(|max| self.inside <= max), now);
                let as_queued = self.leave(command);
                self.judge(3, as_queued, now);
            }
            RunEvent::Late { .. } => self.judge(5, false, now),
            RunEvent::Ended(_) => self.inside = self.inside.saturating_sub(1),
            RunEvent::Finished { io, job, .. } => {
                let io = self.released.remove(&io);
                let counts = !self.scenario.jobs[job].is_chain();
                self.ends(io, job, counts, now);
            }
        }
    }
}
