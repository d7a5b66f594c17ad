//! The results of a run, in numbers.

mod responses;
mod wear;

use std::ops::AddAssign;

use rtflash_model::{ChipId, ClusterId, Instant, PerId, Span};
use rtflash_plan::resume::resume;
use rtflash_plan::{ChannelId, Plan, SourceId};
use rtflash_trace::{Action, Complete, Kind, Observer, Operation, Record, Release, Transfer, Trimmed};

use serde::{Deserialize, Serialize};

pub use responses::Responses;
pub use wear::MostWorn;

use crate::shadow::jobs::Ledger;

/// The jobs of one source.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct SourceReport {
    /// Jobs released.
    pub released: u64,
    /// Jobs complete.
    pub completed: u64,
    /// Complete jobs that were late.
    pub misses: u64,
    /// Pending jobs that are late.
    pub overdue: u64,
    /// Pending jobs that no cluster has taken.
    pub untaken: u64,
    /// When the first of these was released.
    pub untaken_since: Option<Instant>,
    /// Response times of the complete ones.
    pub responses: Responses,
}

/// Operations of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Operations {
    /// Pages read, GC included.
    pub reads: u64,
    /// Pages programmed, GC included.
    pub programs: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Pages moved over buses.
    pub transfers: u64,
}

impl Operations {
    #[inline]
    fn done(&mut self, action: Action) {
        self.reads += u64::from(action == Action::Read);
        self.programs += u64::from(action == Action::Program);
        self.erases += u64::from(action == Action::Erase);
    }
}

impl AddAssign for Operations {
    fn add_assign(&mut self, other: Operations) {
        self.reads += other.reads;
        self.programs += other.programs;
        self.erases += other.erases;
        self.transfers += other.transfers;
    }
}

/// The work of a chip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ChipReport {
    /// Time in which it was occupied.
    pub busy: Span,
    /// Pages read, programmed, blocks erased.
    pub operations: Operations,
}

/// The work of a channel's bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ChannelReport {
    /// Time in which it was occupied.
    pub busy: Span,
    /// Pages moved.
    pub transfers: u64,
}

/// The work of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ClusterReport {
    /// GC passes that erased a block on some chip.
    pub gc_passes: u64,
    /// Pages that GC copied.
    pub copied: u64,
    /// Pages that tasks and jobs wrote.
    pub written: u64,
    /// Pages read and written by jobs that are not real-time.
    pub non_real_time: u64,
    /// Pages that tasks gave back.
    pub trimmed: u64,
}

impl ClusterReport {
    /// Pages programmed over pages written; `None` where none was written.
    #[allow(clippy::cast_precision_loss)]
    pub fn write_amplification(&self) -> Option<f64> {
        (self.written > 0).then(|| (self.written + self.copied) as f64 / self.written as f64)
    }

    #[inline]
    fn works(&mut self, operation: &Operation) {
        let programs = u64::from(operation.action == Action::Program);
        match operation.kind {
            Kind::Gc => self.copied += programs,
            Kind::Write => self.written += programs,
            Kind::Read => {}
            Kind::Server => {
                self.non_real_time += 1;
                self.written += programs;
            }
        }
    }
}

/// A run in numbers.
#[derive(Debug, Serialize, Deserialize)]
pub struct Report {
    /// Each source of the plan.
    pub sources: PerId<SourceId, SourceReport>,
    /// Each cluster.
    pub clusters: PerId<ClusterId, ClusterReport>,
    /// Each chip of the device.
    pub chips: PerId<ChipId, ChipReport>,
    /// Each channel.
    pub channels: PerId<ChannelId, ChannelReport>,
}

impl Report {
    /// All operations.
    pub fn operations(&self) -> Operations {
        let mut all = Operations::default();
        self.chips.iter().for_each(|chip| all += chip.operations);
        all.transfers = self.channels.iter().map(|channel| channel.transfers).sum();
        all
    }

    /// Both together: what several groups of clusters did.
    #[must_use]
    pub fn merge(mut self, other: Report) -> Report {
        for (all, one) in self.sources.iter_mut().zip(other.sources) {
            all.released += one.released;
            all.completed += one.completed;
            all.misses += one.misses;
            all.overdue += one.overdue;
            all.untaken += one.untaken;
            all.untaken_since = all.untaken_since.into_iter().chain(one.untaken_since).min();
            all.responses.merge(one.responses);
        }
        for (all, one) in self.clusters.iter_mut().zip(other.clusters) {
            all.gc_passes += one.gc_passes;
            all.copied += one.copied;
            all.written += one.written;
            all.non_real_time += one.non_real_time;
            all.trimmed += one.trimmed;
        }
        for (all, one) in self.chips.iter_mut().zip(other.chips) {
            all.busy = all.busy.saturating_add(one.busy);
            all.operations += one.operations;
        }
        for (all, one) in self.channels.iter_mut().zip(other.channels) {
            all.busy = all.busy.saturating_add(one.busy);
            all.transfers += one.transfers;
        }
        self
    }
}

/// Counts what happens.
#[derive(Debug)]
pub struct Statistics {
    report: Report,
    ledger: Ledger,
    /// If there are two page registers, the next operation can begin before that.
    until: PerId<ChipId, Instant>,
    duration: Instant,
}

resume!([] Statistics {
    values: [report, ledger, until],
    parts: [],
    lists: [],
    made: [duration],
});

impl Statistics {
    /// For a run of a plan that ends at `duration`.
    pub fn new(plan: &Plan, duration: Instant) -> Statistics {
        Statistics {
            report: Report {
                sources: plan.sources().iter().map(|_| SourceReport::default()).collect(),
                clusters: plan.per_cluster(ClusterReport::default()),
                chips: plan.per_chip(ChipReport::default()),
                channels: plan.per_channel(ChannelReport::default()),
            },
            ledger: Ledger::new(plan.sources().len(), false),
            until: plan.per_chip(Instant::START),
            duration,
        }
    }

    /// All operations until now.
    pub fn operations(&self) -> Operations {
        self.report.operations()
    }

    /// Those of a run that was ended at this instant.
    #[must_use]
    pub fn stopped(self, at: Instant) -> Statistics {
        Statistics { duration: at, ..self }
    }

    /// The numbers at the end.
    pub fn finish(mut self, plan: &Plan) -> Report {
        for pending in self.ledger.pending() {
            let late = pending.release.deadline.is_some_and(|deadline| deadline <= self.duration);
            self.report.sources[pending.release.job.source].overdue += u64::from(late);
        }
        self.report.sources.iter_mut().for_each(|source| source.responses.put_into_order());
        for (cluster, report) in plan.clusters().iter().zip(&mut self.report.clusters) {
            let erases = cluster.chips.iter().map(|&chip| self.report.chips[chip].operations.erases);
            report.gc_passes = erases.max().expect("a cluster has chips");
        }
        self.report
    }
}

impl Observer for Statistics {
    #[inline]
    fn record(&mut self, record: &Record) {
        match record {
            Record::Release(release) => self.release(release),
            Record::Complete(complete) => self.complete(complete),
            Record::Trimmed(trimmed) => self.trimmed(trimmed),
            Record::Operation(operation) => self.operation(operation),
            Record::Transfer(transfer) => self.transfer(transfer),
            _ => {}
        }
    }
}

impl Statistics {
    fn release(&mut self, release: &Release) {
        if self.ledger.release(release) {
            let source = &mut self.report.sources[release.job.source];
            source.released += 1;
            if release.cluster.is_none() {
                source.untaken += 1;
                source.untaken_since.get_or_insert(release.at);
            }
        }
    }

    fn complete(&mut self, complete: &Complete) {
        let Some(pending) = self.ledger.complete(complete.job) else { return };
        let source = &mut self.report.sources[complete.job.source];
        source.completed += 1;
        source.misses += u64::from(pending.release.deadline.is_some_and(|deadline| complete.at > deadline));
        source.responses.note(complete.at.since(pending.release.at));
    }

    fn trimmed(&mut self, trimmed: &Trimmed) {
        let pages = if trimmed.kept { 0 } else { trimmed.pages };
        self.report.clusters[trimmed.cluster].trimmed += u64::from(pages);
    }

    #[inline]
    fn operation(&mut self, operation: &Operation) {
        let chip = &mut self.report.chips[operation.chip];
        let until = std::mem::replace(&mut self.until[operation.chip], operation.end);
        let end = operation.end.min(self.duration);
        chip.busy = chip.busy.saturating_add(end.since(operation.start.max(until)));
        chip.operations.done(operation.action);
        self.report.clusters[operation.cluster].works(operation);
    }

    #[inline]
    fn transfer(&mut self, transfer: &Transfer) {
        let busy = transfer.end.min(self.duration).since(transfer.start);
        let channel = &mut self.report.channels[transfer.channel];
        channel.busy = channel.busy.saturating_add(busy);
        channel.transfers += 1;
    }
}
