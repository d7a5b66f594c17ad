//! A plan and records for the tests of the trace formats.

use std::collections::BTreeMap;

use proptest::prelude::*;
use rtflash_model::{Allocation, Cluster, Instant, Span, read_task_set};

use super::record::{
    Action, Complete, JobId, Kind, LeftOut, Moved, NONE, Operation, Record, Release, Reserve, Selection, Silent,
    Starved, Step, Transfer,
};
use crate::{ClusterTerms, Period, Plan, Releases, Timing};

/// Two clusters (chips 0 to 2 and 3 to 4) of a device of six chips on three channels; names that want escaping.
pub(crate) fn plan() -> Plan {
    let text = r#"{
        "device": { "chips": 6, "chips_per_channel": 2, "blocks_per_chip": 16, "pages_per_block": 8, "page_size": 4096,
            "logical_ratio": 0.5, "page_read": "50us", "page_program": "500us", "block_erase": "5ms", "page_transfer": "20us" },
        "tasks": [
            { "name": "camera", "read": { "pages": 4, "period": "36ms" }, "write": { "pages": 2, "period": "40ms" } },
            { "name": "a<b>&\"c\"\\#9\u0001é", "read": { "pages": 3, "period": "20ms" }, "write": { "pages": 1, "period": "50ms" } }
        ],
        "jobs": [{ "name": "log", "read_pages": 2, "write_pages": 8, "arrivals": { "every": "12.5ms" } }]
    }"#;
    let set = read_task_set(text).expect("a task set").set;
    let clusters = [Cluster { chips: vec![0, 1, 2], tasks: vec![0] }, Cluster { chips: vec![3, 4], tasks: vec![1] }];
    let allocation = Allocation::new(6, 2, &clusters).expect("an allocation");
    let timing = Timing::new(Span::from_us(50), Span::from_us(500), Span::from_us(20)).expect("a timing");
    let terms =
        ClusterTerms { page_delay: Span::from_us(20), gc_periods: vec![Period::new(40_000_000, 3)], certificate: None };
    Plan::new(&set, &allocation, timing, &[terms.clone(), terms]).expect("a plan")
}

/// A moment.
pub(crate) fn at(nanoseconds: u64) -> Instant {
    Instant::from_ns(nanoseconds).expect("a moment")
}

/// Any record that fits the [`plan`].
pub(crate) fn any_record() -> impl Strategy<Value = Record> {
    let plan = plan();
    let kinds: Vec<_> = plan.sources().iter().map(|source| source.kind).collect();
    let logical: Vec<_> = plan.clusters().iter().map(|cluster| cluster.layout.logical_pages()).collect();
    let sources = u32::try_from(kinds.len()).expect("few sources");
    let times = (0..1_u64 << 62, 1..1_u64 << 62);
    let numbers = (any::<u64>(), any::<u64>(), any::<u32>(), any::<bool>(), any::<bool>());
    (0..10_u8, times, 0..sources, 0..2_u32, 0..6_u32, numbers).prop_map(
        move |(what, (start, length), source, cluster, chip, (index, pages, random, first, second))| {
            let (start, end) = (at(start), at(start + length));
            let job = JobId { source, index };
            let of = kinds[source as usize];
            let kind = if of == Kind::Server && first { Kind::Gc } else { of };
            let action = [Action::Read, Action::Program, Action::Erase][random as usize % 3];
            let (block, page, lpn) = match action {
                Action::Erase => (random % 16, NONE, NONE),
                _ => (random % 16, random % 8, random % logical[cluster as usize]),
            };
            match what {
                0 => Record::Release(Release {
                    at: start,
                    job,
                    kind: of,
                    deadline: first.then_some(end),
                    pages,
                    cluster: second.then_some(cluster),
                }),
                1 => Record::Complete(Complete { at: start, job }),
                2 => Record::Starved(Starved { at: start, job, cluster, chip }),
                3 => Record::Operation(Operation { start, end, cluster, chip, action, job, kind, block, page, lpn }),
                4 => Record::Transfer(Transfer { start, end, channel: random % 3, cluster, chip, job, kind }),
                5 => Record::Reserve(Reserve {
                    at: start,
                    cluster,
                    chip,
                    arrived: pages,
                    free: index,
                    pending: pages / 2,
                }),
                6 => Record::Moved(Moved { at: start, job, cluster, chip, lpn: random % logical[cluster as usize] }),
                _ if !matches!(of, Kind::Gc | Kind::Server) => Record::Complete(Complete { at: start, job }),
                7 => Record::LeftOut(LeftOut { at: start, job, cluster, chip, free: pages }),
                8 => Record::Selected(Selection {
                    at: start,
                    job,
                    cluster,
                    chip,
                    block: random % 16,
                    valid: random / 2,
                    forced: first,
                }),
                _ => {
                    let step = [Step::Read, Step::Program, Step::Copyback][random as usize % 3];
                    Record::Silent(Silent { start, end, job, cluster, chip, step })
                }
            }
        },
    )
}

/// What might happen in a run of the [`plan`] until `duration`, in the order of a trace; no engine, but free of overlaps, with jobs
/// that are late and jobs that stay pending.
pub(crate) fn run(duration: u64) -> Vec<Record> {
    let mut run = Run { plan: plan(), records: Vec::new(), bus: BTreeMap::new(), duration };
    for cluster in 0..2 {
        run.cluster(cluster);
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
    fn cluster(&mut self, cluster: u32) {
        let mut jobs = Vec::new();
        for (source, of) in (0..).zip(self.plan.sources()) {
            let log = of.kind == Kind::Server && cluster == 0;
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
            let chips = self.plan.clusters()[cluster as usize].chips.clone();
            now = self.job(now, cluster, &chips, next.2, next.3);
            if now <= self.duration {
                self.records.push(Record::Complete(Complete { at: at(now), job: next.2 }));
            }
        }
    }

    fn job(&mut self, mut now: u64, cluster: u32, chips: &[u32], job: JobId, kind: Kind) -> u64 {
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
                    Action::Erase => (5_000_000, 0),
                };
                for &chip in all {
                    let (start, end) = (at(now), at(now + length));
                    let (page, lpn) = if action == Action::Erase { (NONE, NONE) } else { (page, 7) };
                    let block = 3;
                    let operation = Operation { start, end, cluster, chip, action, job, kind, block, page, lpn };
                    self.records.push(Record::Operation(operation));
                    if kind != Kind::Gc {
                        self.transfer(Transfer {
                            start: at(now + transfer),
                            end: at(now + transfer + 20_000),
                            channel: chip / 2,
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

    /// Where the bus is free: nobody waits here.
    fn transfer(&mut self, transfer: Transfer) {
        let (start, end) = (transfer.start.as_ns(), transfer.end.as_ns());
        let taken = self.bus.entry(transfer.channel).or_default();
        if taken.iter().all(|&(from, to)| to <= start || end <= from) {
            taken.push((start, end));
            self.records.push(Record::Transfer(transfer));
        }
    }
}
