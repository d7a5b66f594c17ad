//! The plan of a run: sources of jobs, clusters, and how long operations take.

mod build;
mod certified;
mod changes;
mod copies;
mod error;
mod image;
pub(crate) mod layout;
mod ranges;
mod steps;
mod timing;
mod zones;

use std::ops::Range;

use rtflash_model::{Access, Certificate, Device, Job, Span, TaskId};

pub use changes::{CollectionChange, PlannedChange};
pub use copies::{DrawnAs, SharedPages};
pub use error::PlanError;
pub use image::NoImage;
pub(crate) use image::server;
pub use layout::Layout;
pub use steps::{StepSpans, behind_a_page};
pub use timing::{Period, Timing};
pub use zones::{ZoneRing, ring_of};

use crate::ids::{ChannelId, ChipId, ClusterId, Lpn, PerId, SourceId};
use crate::jobs::{JobId, Kind};

/// The allocation's terms for one cluster, as far as a run has to obey it or is judged by it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClusterTerms {
    /// A utilization test accepted it.
    Utilization {
        /// D(s): what the analysis charges a page for waiting.
        page_delay: Span,
        /// T^g of each of the cluster's tasks, in order; `None` for a task that does not write.
        gc_periods: Vec<Option<Period>>,
    },
    /// A demand test accepted it, with this certificate.
    Certified(Certificate),
}

/// By what a plan is run and judged. All of its clusters are of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Promise {
    /// By Theorem 1: GC at its own periods, D(s) for each page.
    Utilization,
    /// By the certificates of the clusters.
    Certified(PerId<ClusterId, Certified>),
}

/// The part of a cluster with a certificate beside its [`ClusterPlan`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certified {
    /// The certificate by which it runs.
    pub certificate: Certificate,
    /// C_g: what a pass of a processor takes at most; `None` without garbage collection.
    pub pass: Option<Span>,
    /// The logical pages of each of its tasks, in order, and then of each job stream.
    pub ranges: Vec<Range<Lpn>>,
    /// Changes of its garbage collection while it runs, in order: see [`Plan::with_changes`].
    pub changes: Vec<PlannedChange>,
    /// The zones of each of its tasks, in order, where tasks own zones; else none.
    pub rings: Vec<ZoneRing>,
}

/// When the jobs of a source are released.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Releases {
    /// Nominally every period, or as [`Options`](crate::Options) state; released up to
    /// [`Source::jitter`] later, and due [`Source::deadline`] after. GC job k is released k periods
    /// after its task's first write, and due a period later.
    Periodic(Period),
    /// As the job stream of this position in the task set says.
    Arrivals(usize),
    /// When a host hands them over, each with pages of its own: see [`Plan::for_host`].
    Handed,
    /// A job for each α pages that arrive at this chip, or the whole cluster if it is `None`.
    Collected {
        /// The chip, in a stripe.
        chip: Option<ChipId>,
    },
}

/// Whose jobs a source releases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// A task's: its requests, or its garbage collection.
    Task(TaskId),
    /// Those of a stream of jobs that are not real-time, by position in the task set.
    Stream(usize),
    /// A cluster's: garbage collection under a certificate.
    Cluster(ClusterId),
}

/// A source of jobs: a task's reads, writes or garbage collection, or a job stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The name of its jobs, before `#` and the number: `camera.read`, `camera.gc`, `log`.
    pub name: String,
    /// The kind of its jobs.
    pub kind: Kind,
    /// Whose jobs they are.
    pub owner: Owner,
    /// The cluster that serves it; `None` for jobs, which are placed one by one.
    pub cluster: Option<ClusterId>,
    /// Pages that a job reads.
    pub read_pages: u64,
    /// Pages that a job writes.
    pub write_pages: u64,
    /// When they are released.
    pub releases: Releases,
    /// D of a task's requests, counted from their nominal arrival; `None` for other jobs.
    pub deadline: Option<Span>,
    /// J of a task's requests, from nominal arrival to release; zero for other jobs.
    pub jitter: Span,
    /// Which pages of its owner's range a request takes; it counts under a certificate alone.
    pub access: Access,
    /// The longest time that the analysis allows a job that runs alone: C + D, or C^g.
    pub bound: Option<Span>,
}

impl Source {
    /// The base of all sources: nowhere, without pages, deadline or bound.
    fn plain(name: String, kind: Kind, owner: Owner, releases: Releases) -> Source {
        let (cluster, read_pages, write_pages, deadline) = (None, 0, 0, None);
        let (jitter, access, bound) = (Span::ZERO, Access::Random, None);
        Source { name, kind, owner, cluster, read_pages, write_pages, releases, deadline, jitter, access, bound }
    }

    /// The task whose requests or garbage collection these are.
    pub fn task(&self) -> Option<TaskId> {
        match self.owner {
            Owner::Task(task) => Some(task),
            Owner::Stream(_) | Owner::Cluster(_) => None,
        }
    }

    /// The stream whose jobs these are, by position in the task set.
    pub fn stream(&self) -> Option<usize> {
        match self.owner {
            Owner::Stream(stream) => Some(stream),
            Owner::Task(_) | Owner::Cluster(_) => None,
        }
    }

    /// Its period, if it has one.
    pub fn period(&self) -> Option<Period> {
        match self.releases {
            Releases::Periodic(period) => Some(period),
            Releases::Arrivals(_) | Releases::Handed | Releases::Collected { .. } => None,
        }
    }
}

/// A cluster of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterPlan {
    /// Its chips, ascending.
    pub chips: Vec<ChipId>,
    /// Its tasks, by position in the task set, ascending.
    pub tasks: Vec<TaskId>,
    /// D(s); under a certificate what a page waits for its bus at most.
    pub page_delay: Span,
    /// How its blocks are divided.
    pub layout: Layout,
    /// The data that its tasks declare to keep on it; `None` where none declares anything.
    pub data: Option<Data>,
}

/// The data that the tasks of a cluster declare to keep on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Data {
    /// Pages that this takes, a page for each task that declares nothing included.
    pub pages: u64,
    /// Pages that the cluster's address space has.
    pub room: u64,
}

/// Everything that a run has to do, checked: it can be run as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    device: Device,
    timing: Timing,
    sources: PerId<SourceId, Source>,
    clusters: PerId<ClusterId, ClusterPlan>,
    promise: Promise,
    jobs: Vec<Job>,
    /// Sources that draw the addresses of others.
    mirrors: Vec<(SourceId, DrawnAs)>,
}

/// Pages that a device may have to be run: each takes some ten bytes of memory.
pub const MAX_PAGES: u64 = 1 << 30;

/// The most pages of a request or job under certificates: all are drawn at its release.
pub const MAX_REQUEST_PAGES: u64 = 1 << 24;

impl Plan {
    /// A host hands over jobs of the streams, with pages of their own; without one none comes.
    #[must_use]
    pub fn for_host(mut self) -> Plan {
        for source in self.sources.iter_mut() {
            if matches!(source.releases, Releases::Arrivals(_)) {
                source.releases = Releases::Handed;
            }
        }
        self
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// How long operations take.
    pub fn timing(&self) -> Timing {
        self.timing
    }

    /// By what it is run and judged.
    pub fn promise(&self) -> &Promise {
        &self.promise
    }

    /// Reads, writes and GC of each task; by certificates the processors' GC; then job streams.
    pub fn sources(&self) -> &PerId<SourceId, Source> {
        &self.sources
    }

    /// The clusters, in order.
    pub fn clusters(&self) -> &PerId<ClusterId, ClusterPlan> {
        &self.clusters
    }

    /// The job streams, in order.
    pub fn jobs(&self) -> &[Job] {
        &self.jobs
    }

    /// How many logical pages a source of requests reads or writes; none for other sources.
    pub fn pages_of(&self, source: &Source) -> u32 {
        let range = self.range(source);
        range.end.0 - range.start.0
    }

    /// The logical pages of its cluster that a source of requests uses; none for other sources.
    pub fn range(&self, source: &Source) -> Range<Lpn> {
        let (Some(cluster), Kind::Read | Kind::Write) = (source.cluster, source.kind) else { return Lpn(0)..Lpn(0) };
        let of = &self.clusters[cluster];
        let task = source.task().expect("a request is a task's");
        let place = of.tasks.binary_search(&task).expect("a request's task is one of its cluster's");
        match &self.promise {
            Promise::Utilization => of.layout.part(place),
            Promise::Certified(certified) => certified[cluster].ranges[place].clone(),
        }
    }

    /// The channel that a chip is on.
    pub fn channel_of(&self, chip: ChipId) -> ChannelId {
        ChannelId(self.device.channel_of(chip.0))
    }

    /// The time that one transfer of each of this number of chips of a channel takes.
    pub fn transfers(&self, chips: u32) -> Span {
        steps::transfers(&self.device, chips)
    }

    /// The chips on a chip's channel that are not its cluster's.
    pub fn foreign_chips(&self, cluster: &ClusterPlan, chip: ChipId) -> u32 {
        let channel = self.channel_of(chip);
        let own = cluster.chips.iter().filter(|&&other| self.channel_of(other) == channel);
        own.fold(self.device.chips_on(channel.0), |others, _| others - 1)
    }

    /// An entry for each chip of the device.
    pub fn per_chip<T: Clone>(&self, entry: T) -> PerId<ChipId, T> {
        PerId::filled(entry, self.device.chips())
    }

    /// An entry for each channel.
    pub fn per_channel<T: Clone>(&self, entry: T) -> PerId<ChannelId, T> {
        PerId::filled(entry, self.device.channels())
    }

    /// An entry for each cluster.
    pub fn per_cluster<T: Clone>(&self, entry: T) -> PerId<ClusterId, T> {
        PerId::filled(entry, self.clusters.count())
    }

    /// An entry for each source of jobs.
    pub fn per_source<T: Clone>(&self, entry: T) -> PerId<SourceId, T> {
        PerId::filled(entry, self.sources.count())
    }

    /// The name of a job: `camera.read#0`.
    pub fn job_name(&self, job: JobId) -> String {
        format!("{}#{}", self.sources[job.source].name, job.index)
    }
}
