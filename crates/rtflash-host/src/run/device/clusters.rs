//! A task set on its allocation: clusters of chips, run by certificates.

use std::collections::HashMap;

use rtflash_model::{Access, Allocation, Arrivals, Instant, Invalid, Span, TaskSet};
use rtflash_plan::{
    Aging, ClusterTerms, DEFAULT_MEMORY, Options, Period, Plan, PlanError, Releases as Released, SourceId, Timing,
    memory,
};
use rtflash_sim::{Hosted, HostedJob};
use rtflash_trace::{JobId, Kind, Record};

use super::flash::{Kept, pages};
use super::{Handed, Target};
use crate::run::job::{Job, JobPattern, JobReleases};
use crate::{Class, Command, Op};

/// A task set on its allocation, all clusters of which have certificates. The requests of tasks are
/// real-time jobs of the scenario, its first ones; its others are served by the servers of the
/// certificates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertifiedClusters {
    set: TaskSet,
    allocation: Allocation,
    plan: Plan,
    /// For each task's read and write requests, their source in the plan.
    sources: Vec<SourceId>,
    /// For each other job, its source in the plan.
    streams: Vec<SourceId>,
    /// How late a task's request is released at most.
    jitter: Span,
    /// Why the certificates do not hold, if they do not.
    judgement: Result<(), String>,
    /// The content of the device when the run begins.
    pub(super) aging: Aging,
}

/// Why an allocation cannot be run in front of a host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClustersError {
    /// A cluster has no certificate.
    #[error("cluster {cluster} has no certificate: nothing is promised for it")]
    NotCertified {
        /// The cluster, by position.
        cluster: usize,
    },
    /// There are jobs beside the tasks, and no cluster has a server.
    #[error("no cluster has a server, and there are jobs beside the tasks")]
    NoServer,
    /// A job beside the tasks has a name that cannot be.
    #[error("the jobs beside the tasks{}", .0.first().map_or(" cannot be called so".into(), |first| format!(": {first}")))]
    Names(Vec<Invalid>),
    /// It cannot be executed.
    #[error(transparent)]
    Plan(PlanError),
    /// Its tables take more than [`DEFAULT_MEMORY`].
    #[error("the device is too large: a run takes {needed} bytes, and {DEFAULT_MEMORY} is the limit")]
    Memory {
        /// Bytes that they take.
        needed: u64,
    },
}

impl CertifiedClusters {
    /// A task set on its allocation, with these jobs beside the tasks. Jobs that the set itself has
    /// are not run. Requests are released up to `jitter` after their nominal arrival.
    ///
    /// # Errors
    /// If the clusters cannot be run.
    pub fn new(
        set: &TaskSet,
        allocation: &Allocation,
        beside: &[String],
        jitter: Span,
    ) -> Result<CertifiedClusters, ClustersError> {
        let mut certificates = Vec::with_capacity(allocation.len());
        for cluster in 0..allocation.len() {
            let certificate = allocation.certificate(cluster);
            certificates.push(*certificate.ok_or(ClustersError::NotCertified { cluster })?);
        }
        let serves = |of: &rtflash_model::Certificate| of.server_thousandths > 0 && of.collection.is_some();
        if !beside.is_empty() && !certificates.iter().any(serves) {
            return Err(ClustersError::NoServer);
        }
        // A host says when they come, and with how many pages.
        let job = |name: &String| rtflash_model::Job {
            name: name.clone(),
            read_pages: 1,
            write_pages: 0,
            arrivals: Arrivals::At(Vec::new()),
        };
        let served = TaskSet::new(*set.device(), set.tasks().as_slice().to_vec(), beside.iter().map(job).collect());
        let served = served.map_err(ClustersError::Names)?;
        let terms: Vec<ClusterTerms> = certificates.into_iter().map(ClusterTerms::Certified).collect();
        let plan = Plan::new(&served, allocation, Timing::of_device(set.device()), &terms);
        let plan = plan.map_err(ClustersError::Plan)?.for_host();
        let needed = memory(&plan, &Options { duration: Instant::START, ..Options::default() });
        if needed > DEFAULT_MEMORY {
            return Err(ClustersError::Memory { needed });
        }
        let of_kind = |wanted: fn(Kind) -> bool| {
            let sources = plan.sources().enumerate().filter(|(_, source)| wanted(source.kind));
            sources.map(|(number, _)| number).collect()
        };
        let sources = of_kind(|kind| matches!(kind, Kind::Read | Kind::Write));
        let streams = of_kind(|kind| kind == Kind::Server);
        let (set, allocation) = (set.clone(), allocation.clone());
        let judgement = Err("its certificates have not been judged".to_owned());
        Ok(CertifiedClusters { set, allocation, plan, sources, streams, jitter, judgement, aging: Aging::default() })
    }

    /// These clusters, with the given jobs next to the tasks.
    ///
    /// # Errors
    /// As [`CertifiedClusters::new`].
    pub fn beside(&self, beside: &[String]) -> Result<CertifiedClusters, ClustersError> {
        let new = CertifiedClusters::new(&self.set, &self.allocation, beside, self.jitter)?;
        Ok(CertifiedClusters { aging: self.aging, judgement: self.judgement.clone(), ..new })
    }

    /// These clusters with this initial content of the device when the run begins; the default is
    /// the worst.
    #[must_use]
    pub fn aged(self, aging: Aging) -> CertifiedClusters {
        CertifiedClusters { aging, ..self }
    }

    /// These clusters after their certificates were judged, by the verifier of `rtflash-verify` or
    /// another judge. An error says why they do not hold.
    #[must_use]
    pub fn judged(self, judgement: Result<(), String>) -> CertifiedClusters {
        CertifiedClusters { judgement, ..self }
    }

    /// Whether its certificates hold, so far as they were judged.
    ///
    /// # Errors
    /// Why they do not, in a sentence.
    pub fn judgement(&self) -> Result<(), String> {
        self.judgement.clone()
    }

    /// The task set.
    pub fn set(&self) -> &TaskSet {
        &self.set
    }

    /// Its allocation.
    pub fn allocation(&self) -> &Allocation {
        &self.allocation
    }

    /// A scenario: jobs, and the host and device that they run on. Checkers judge by it.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// How many jobs of the scenario, its first ones, are tasks' requests.
    pub fn tasks(&self) -> usize {
        self.sources.len()
    }

    /// Whether a request may become part of another one. Each job has pages of its own, and each
    /// request of a task is a job of the device with a deadline of its own.
    pub(super) fn merges(&self, queued: &Command, request: &Command) -> bool {
        queued.job == request.job && request.job as usize >= self.tasks()
    }

    /// J of a task's requests, by the job's position in the scenario: how late one may reach the
    /// device.
    pub fn declared_jitter(&self, job: usize) -> Option<Span> {
        self.sources.get(job).map(|&source| self.plan.sources()[source].jitter)
    }

    /// J and D of a task's requests, by the job's position in the scenario: how late one may reach
    /// the device, and by when, from its nominal release on, it is done then.
    pub fn promised(&self, job: usize) -> Option<(Span, Span)> {
        let source = &self.plan.sources()[*self.sources.get(job)?];
        Some((source.jitter, source.deadline?))
    }

    /// ⌈D/T⌉: requests of a task that are outstanding at one time, at most, by the job's position
    /// in the scenario. `None` for jobs that are no task's.
    pub fn waiting(&self, job: usize) -> Option<u64> {
        let source = &self.plan.sources()[*self.sources.get(job)?];
        Some(source.deadline?.as_ns().div_ceil(source.period()?.of_request().as_ns()))
    }

    /// The tasks' read and write requests as jobs, called as in `exec`: one I/O a request, released
    /// every period.
    pub fn jobs(&self) -> Vec<Job> {
        let page = u64::from(self.plan.device().page_size());
        let job = |source: &rtflash_plan::Source| Job {
            name: source.name.clone(),
            op: if source.kind == Kind::Read { Op::Read } else { Op::Write },
            pattern: match source.access {
                Access::Sequential | Access::Stream => JobPattern::Sequential,
                Access::Random => JobPattern::Random,
            },
            from: 0,
            span: None,
            size: source.read_pages.saturating_add(source.write_pages).saturating_mul(page),
            class: Class::RealTime,
            level: 4,
            cpu: 0,
            user_centric: false,
            is_async: false,
            releases: JobReleases::Every { period: period(source.releases), jitter: self.jitter },
            ..Job::default()
        };
        let sources = self.sources.iter().map(|&source| &self.plan.sources()[source]);
        sources.map(job).collect()
    }
}

/// T of requests; it is whole.
fn period(releases: Released) -> Span {
    let Released::Periodic(period) = releases else { return Span::LONGEST };
    whole(period).unwrap_or(Span::LONGEST)
}

fn whole(period: Period) -> Option<Span> {
    Span::from_ns(u64::try_from(period.numerator().checked_div(period.denominator())?).ok()?)
}

/// A task's requests at run time.
#[derive(Debug)]
struct TaskRequests {
    source: SourceId,
    phase: Instant,
    period: Span,
    handed: u64,
}

/// [`CertifiedClusters`] at run time.
#[derive(Debug)]
pub(super) struct RunningClusters<'a> {
    of: &'a CertifiedClusters,
    hosted: Option<Hosted<'a, Kept>>,
    requests: Vec<TaskRequests>,
    /// Its commands.
    commands: HashMap<JobId, Command>,
    /// Kept for its memory.
    over: Vec<JobId>,
}

impl<'a> RunningClusters<'a> {
    /// An empty drive.
    pub(super) fn new(
        of: &'a CertifiedClusters,
        jobs: &[Job],
        options: &'a Options,
        watched: bool,
    ) -> RunningClusters<'a> {
        let requests = of.sources.iter().zip(jobs).map(|(&source, job)| {
            let period = match job.releases {
                JobReleases::Every { period, .. } => period,
                JobReleases::Closed { .. } | JobReleases::WriteBack(_) | JobReleases::Flusher => Span::ZERO,
            };
            TaskRequests { source, phase: job.phase, period, handed: 0 }
        });
        RunningClusters {
            of,
            hosted: Some(Hosted::new(&of.plan, options, Kept::new(watched))),
            requests: requests.collect(),
            commands: HashMap::new(),
            over: Vec::new(),
        }
    }

    fn job(&self, command: &Command) -> Option<HostedJob> {
        let beside = (command.job as usize).checked_sub(self.requests.len())?;
        let (first, pages) = pages(command, self.of.plan.device().page_size());
        let (read_pages, write_pages) = if command.op == Op::Read { (pages, 0) } else { (0, pages) };
        Some(HostedJob { source: *self.of.streams.get(beside)?, read_pages, write_pages, first_page: Some(first) })
    }
}

impl Target for RunningClusters<'_> {
    fn has_room(&self) -> bool {
        true
    }

    fn take(&mut self, Handed { command, .. }: Handed, now: Instant) {
        let job = self.job(&command);
        let Some(hosted) = &mut self.hosted else { return };
        let id = match self.requests.get_mut(command.job as usize) {
            Some(of) => {
                // Requests of a task are alike: the k-th that comes is the k-th that was released.
                let since = of.period.checked_mul(of.handed);
                let nominal = since.and_then(|since| of.phase.checked_add(since)).unwrap_or(now);
                of.handed += 1;
                hosted.request(of.source, nominal, now)
            }
            None => job.and_then(|job| hosted.hand_over(job, now)),
        };
        self.commands.extend(id.map(|id| (id, command)));
    }

    fn next(&self) -> Option<Instant> {
        self.hosted.as_ref()?.next_instant()
    }

    fn advance(&mut self, now: Instant, ended: &mut Vec<Command>) {
        let Some(hosted) = &mut self.hosted else { return };
        hosted.advance(now, &mut self.over);
        // Jobs of garbage collection belong to no command.
        ended.extend(self.over.drain(..).filter_map(|job| self.commands.remove(&job)));
    }

    fn settle(&mut self, now: Instant) {
        if let Some(hosted) = &mut self.hosted {
            hosted.settle(now);
        }
    }

    fn is_overloaded(&self) -> bool {
        self.hosted.as_ref().is_some_and(Hosted::is_overloaded)
    }

    fn records(&mut self, _: Instant, over: bool) -> Vec<Record> {
        if over {
            return self.hosted.take().map_or_else(Vec::new, |hosted| hosted.finish().take());
        }
        self.hosted.as_mut().map_or_else(Vec::new, |hosted| hosted.observer().take())
    }
}
