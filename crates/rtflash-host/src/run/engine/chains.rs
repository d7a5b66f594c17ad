//! Chains under way: I/Os of a job that wait for each other.

use std::cmp::Reverse;

use rtflash_model::{Instant, Span};

use super::placing::{JobStretch, StretchTurn};
use super::{CausedRelease, EngineEvent, HostEngine};
use crate::run::job::JobReleases;
use crate::run::watch::{RunEvent, Watch};

/// A chain under way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chain {
    pub(super) job: usize,
    /// Its number among those of its job.
    number: u64,
    pub(super) begun: Instant,
    /// The position of the step under way, and its I/Os that have ended.
    pub(super) step: usize,
    done: u32,
}

impl<W: Watch> HostEngine<'_, W> {
    /// A job begins its next chain. Says whether an I/O of it has been released.
    pub(super) fn begin_chain(&mut self, position: usize) -> bool {
        let Some(number) = self.next_chain_of(position) else { return false };
        let id = self.next_io;
        self.next_io += 1;
        self.chains.insert(id, Chain { job: position, number, begun: self.now, step: 0, done: 0 });
        self.lives[position].live += 1;
        self.watch.see(self.now, &RunEvent::ChainBegun { chain: id, job: position });
        self.go_on(id)
    }

    /// The next I/O of a chain is released. Says whether there is one: a flush ends
    /// at once if the device has no volatile cache.
    pub(super) fn go_on(&mut self, id: u64) -> bool {
        let Chain { job, number, step, done, .. } = self.chains[&id];
        let steps = &self.scenario.jobs[job].steps;
        let of = &steps[step];
        let Some(io) = of.io() else {
            let has_cache = self.scenario.device.has_cache();
            if has_cache {
                self.flush_cache(job, Some(id))
            } else {
                self.end_step(id, self.now)
            }
            return has_cache;
        };
        let turn = number.saturating_mul(of.times.into()).saturating_add(done.into());
        let turn = StretchTurn { turn, stretch: step, stretches: steps.len() as u64 };
        let stretch = JobStretch { pattern: of.pattern, begin: of.from, span: of.span, align: io.size, gap: 0 };
        let from = self.place_in(job, turn, &stretch, &io);
        let Some(whole) = self.scenario.whole_of(job, io, from) else { return false };
        if of.fua {
            self.begin_fua(job);
        }
        self.send(job, whole, Some(id), of.fua);
        true
    }

    /// An I/O of a chain has ended that was released at `released`.
    pub(super) fn end_step(&mut self, id: u64, released: Instant) {
        let chain = self.chains.get_mut(&id).expect("a chain ends after its I/Os (invariant)");
        let (job, step) = (chain.job, chain.step);
        let steps = &self.scenario.jobs[job].steps;
        chain.done += 1;
        if chain.done == steps[step].times {
            (chain.step, chain.done) = (step + 1, 0);
        }
        let (next, begun) = (chain.step, chain.begun);
        let counts = self.now >= self.scenario.warmup && self.lives[job].counts(self.now);
        if counts {
            self.lives[job].steps[step].note(self.now.since(released).as_ns());
        }
        if next == steps.len() {
            self.chains.remove(&id);
            self.watch.see(self.now, &RunEvent::ChainEnded { chain: id, job, begun });
            self.end_chain(job, counts.then(|| self.now.since(begun)));
            return;
        }
        let at = self.now.saturating_add(steps[step].think);
        self.foresee(|foresight| foresight.plan(job, at));
        if at == self.now {
            self.caused.push_back(CausedRelease::Step { job, chain: id });
        } else {
            self.events.push(Reverse((at, EngineEvent::Step { job, chain: id })));
        }
    }

    /// A chain of a job has ended; `latency`: of the whole, if it counts.
    fn end_chain(&mut self, job: usize, latency: Option<Span>) {
        if let Some(latency) = latency {
            self.latencies[job].note(latency.as_ns());
            self.late[job] += u64::from(self.scenario.jobs[job].is_late(latency));
        }
        if let JobReleases::Closed { think, .. } = self.scenario.jobs[job].releases {
            let runs = self.now.saturating_add(self.scenario.host.overhead);
            self.replace(job, runs.saturating_add(think));
        }
        self.leave(job);
    }
}
