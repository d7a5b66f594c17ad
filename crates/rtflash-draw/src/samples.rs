//! A plan and a run for the tests of drawings.

#[path = "../../rtflash-trace/src/samples.rs"]
mod plan_sample;
#[path = "../../rtflash-trace/src/record_samples.rs"]
mod record_samples;

use std::collections::BTreeMap;

use rtflash_model::{ChipId, ClusterId, Lpn};
use rtflash_plan::{BlockId, ChannelId, Plan, Releases};
use rtflash_trace::{Action, Complete, JobId, Kind, NO_LPN, NONE, Operation, Record, Release, Transfer};

pub(crate) use plan_sample::{at, plan};
pub(crate) use record_samples::any_record;

/// The records of a possible run of the [`plan`] until `duration`, in the order of a trace; no
/// engine, but free of overlaps, with jobs that are late and jobs that stay pending.
pub(crate) fn run(duration: u64) -> Vec<Record> {
    let mut run = Run { plan: plan(), records: Vec::new(), bus: BTreeMap::new(), duration };
    for cluster in 0..2 {
        run.cluster(ClusterId(cluster));
    }
    run.records.sort_by_key(Record::order);
    run.records
}

struct Run {
    plan: Plan,
    records: Vec<Record>,
    bus: BTreeMap<u32, Vec<(u64, u64)>>,
    duration: u64,
}

impl Run {
    fn cluster(&mut self, cluster: ClusterId) {
        let mut jobs = Vec::new();
        for (source, of) in self.plan.sources().enumerate() {
            let log = of.kind == Kind::Server && cluster == ClusterId(0);
            for index in 0..20 {
                let (release, deadline) = match of.releases {
                    Releases::Periodic(period) => (period.release(index).as_ns(), period.deadline(index).as_ns()),
                    Releases::Arrivals(_) | Releases::Handed | Releases::Collected { .. } => {
                        (index * 12_500_000, index * 12_500_000 + 1_000_000)
                    }
                };
                if release < self.duration && (of.cluster == Some(cluster) || log) {
                    jobs.push((deadline, release, JobId { source, index }, of.kind));
                }
            }
        }
        for &(deadline, release, job, kind) in &jobs {
            let pages = if kind == Kind::Gc { 0 } else { 4 };
            let (at, deadline) = (at(release), Some(at(deadline)));
            self.records.push(Record::Release(Release { at, job, kind, deadline, pages, cluster: Some(cluster) }));
        }
        let mut now = 0;
        while now < self.duration && !jobs.is_empty() {
            let ready = jobs.iter().filter(|job| job.1 <= now).min();
            let Some(&next) = ready.or_else(|| jobs.iter().min_by_key(|job| job.1)) else { return };
            jobs.retain(|&job| job != next);
            if next.3 == Kind::Server && next.2.index == 1 {
                continue;
            }
            now = now.max(next.1);
            let chips = self.plan.clusters()[cluster].chips.clone();
            now = self.job(now, cluster, &chips, next.2, next.3);
            if now <= self.duration {
                self.records.push(Record::Complete(Complete { at: at(now), job: next.2 }));
            }
        }
    }

    fn job(&mut self, mut now: u64, cluster: ClusterId, chips: &[ChipId], job: JobId, kind: Kind) -> u64 {
        for page in 0..4 {
            let all = if kind == Kind::Gc { chips } else { &chips[page as usize % chips.len()..][..1] };
            let actions = match (kind, page) {
                (Kind::Read, _) | (Kind::Server, 0) => &[Action::Read][..],
                (Kind::Gc, 3) => &[Action::Erase],
                (Kind::Gc, _) => &[Action::Read, Action::Program],
                _ => &[Action::Program],
            };
            for &action in actions {
                let (length, transfer) = match action {
                    Action::Read => (50_001, 30_001),
                    Action::Program => (500_000, 0),
                    Action::Erase | Action::ErasePart => (5_000_000, 0),
                };
                for &chip in all {
                    let (start, end) = (at(now), at(now + length));
                    let (page, lpn) = if action == Action::Erase { (NONE, NO_LPN) } else { (page, Lpn(7)) };
                    let block = BlockId(3);
                    let operation = Operation { start, end, cluster, chip, action, job, kind, block, page, lpn };
                    self.records.push(Record::Operation(operation));
                    if kind != Kind::Gc {
                        self.transfer(Transfer {
                            start: at(now + transfer),
                            end: at(now + transfer + 20_000),
                            channel: ChannelId(chip.0 / 2),
                            cluster,
                            chip,
                            job,
                            kind,
                        });
                    }
                }
                now += length;
            }
        }
        now
    }

    /// Records a transfer if the bus is free for all of it; samples draw no waiting.
    fn transfer(&mut self, transfer: Transfer) {
        let (start, end) = (transfer.start.as_ns(), transfer.end.as_ns());
        let taken = self.bus.entry(transfer.channel.0).or_default();
        if taken.iter().all(|&(from, to)| to <= start || end <= from) {
            taken.push((start, end));
            self.records.push(Record::Transfer(transfer));
        }
    }
}
