//! What is to be run: sources of jobs, clusters, and how long operations take.

mod certified;

use std::fmt;
use std::ops::Range;

use rtflash_model::{Access, Allocation, Certificate, Cluster, Device, Instant, Job, Placement, Span, TaskSet};

use crate::ftl::layout::{Layout, TooFewBlocks};
use crate::trace::{JobId, Kind};

/// What one page operation takes on this device, the transfer of the page included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    read: Span,
    program: Span,
    transfer: Span,
}

impl Timing {
    /// The device's own times: a page is transferred behind its read and before its program.
    pub fn of_device(device: &Device) -> Timing {
        let transfer = device.page_transfer();
        let with_transfer = |span: Span| span.saturating_add(transfer);
        Timing { read: with_transfer(device.page_read()), program: with_transfer(device.page_program()), transfer }
    }

    /// A page read takes `read` in all and a program `program`, `transfer` of it on the bus; `None` where the transfer is longer than one of them.
    pub fn new(read: Span, program: Span, transfer: Span) -> Option<Timing> {
        (transfer <= read && transfer <= program).then_some(Timing { read, program, transfer })
    }

    /// A page read without waiting, transfer included.
    pub fn read(self) -> Span {
        self.read
    }

    /// A page program without waiting, transfer included.
    pub fn program(self) -> Span {
        self.program
    }

    /// t_d: the page on the bus.
    pub fn transfer(self) -> Span {
        self.transfer
    }

    /// The part of a read before its transfer.
    pub fn sensing(self) -> Span {
        self.read.saturating_sub(self.transfer)
    }

    /// The part of a program behind its transfer.
    pub fn programming(self) -> Span {
        self.program.saturating_sub(self.transfer)
    }
}

/// A period in nanoseconds that need not be whole: numerator over denominator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    numerator: u128,
    denominator: u128,
}

impl Period {
    /// The period `numerator`/`denominator` ns; `None` below one nanosecond and where one of the two does not fit into 120 bits.
    pub fn new(numerator: u128, denominator: u128) -> Option<Period> {
        let fits = |number: u128| number > 0 && number < 1 << 120;
        (fits(numerator) && fits(denominator) && numerator >= denominator).then_some(Period { numerator, denominator })
    }

    /// The k-th release, k times the period, rounded down.
    pub fn release(self, k: u64) -> Instant {
        self.multiple(k).map_or(Instant::END, |(whole, _)| instant(whole))
    }

    /// The deadline of the k-th job: k + 1 times the period, rounded up. So rounding never asks for more than the period does.
    pub fn deadline(self, k: u64) -> Instant {
        self.multiple(k.saturating_add(1)).map_or(Instant::END, |(whole, rest)| instant(whole + u128::from(rest > 0)))
    }

    fn multiple(self, k: u64) -> Option<(u128, u128)> {
        let product = u128::from(k).checked_mul(self.numerator)?;
        Some((product / self.denominator, product % self.denominator))
    }

    /// The numerator, in nanoseconds.
    pub fn numerator(self) -> u128 {
        self.numerator
    }

    /// The denominator.
    pub fn denominator(self) -> u128 {
        self.denominator
    }
}

fn instant(nanoseconds: u128) -> Instant {
    u64::try_from(nanoseconds).ok().and_then(Instant::from_ns).unwrap_or(Instant::END)
}

/// What the allocation says of one cluster, as far as a run has to obey it or is judged by it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterTerms {
    /// D(s): what the analysis charges a page for waiting.
    pub page_delay: Span,
    /// T^g of each of its writing tasks, in the order of the cluster's tasks; `None` for a task that does not write. Not used under a certificate.
    pub gc_periods: Vec<Option<Period>>,
    /// What a sound analysis promises: all clusters of a plan have one, or none has.
    pub certificate: Option<Certificate>,
}

/// When the jobs of a source are released.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Releases {
    /// Job k arrives nominally at k periods. Requests are released up to [`Source::jitter`] later and due [`Source::deadline`] after the nominal
    /// arrival; GC jobs at once, and due a period later.
    Periodic(Period),
    /// As the job stream of this position in the task set says.
    Arrivals(usize),
    /// When a host hands them over, each with pages of its own: see [`Plan::for_host`].
    Handed,
    /// GC under a certificate: one job for each so many pages that arrive to be written to this chip of the device, or to the whole cluster where it
    /// is `None`.
    Collected {
        /// The chip, in a stripe.
        chip: Option<u32>,
    },
}

/// A source of jobs: the read requests, the write requests or the GC jobs of a task, or a stream of jobs that are not real-time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// What its jobs are called, before `#` and the number: `camera.read`, `camera.gc`, `log`.
    pub name: String,
    /// What its jobs are.
    pub kind: Kind,
    /// The task it belongs to, or for jobs the stream, by position in the task set. GC under a certificate belongs to no task: its cluster.
    pub owner: usize,
    /// The cluster that serves it; `None` for jobs, which are placed one by one.
    pub cluster: Option<u32>,
    /// Pages that a job reads.
    pub read_pages: u64,
    /// Pages that a job writes.
    pub write_pages: u64,
    /// When they are released.
    pub releases: Releases,
    /// D of a task's requests, counted from their nominal arrival; `None` for other jobs.
    pub deadline: Option<Span>,
    /// J of a task's requests: the longest time from their nominal arrival to their release. Zero for other jobs.
    pub jitter: Span,
    /// Which pages of its owner's range a request takes; only looked at under a certificate.
    pub access: Access,
    /// What the analysis allows a job to take when it runs alone: C + D, or C^g.
    pub bound: Option<Span>,
}

/// A cluster of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterPlan {
    /// Its chips, ascending.
    pub chips: Vec<u32>,
    /// Its tasks, by position in the task set, ascending.
    pub tasks: Vec<usize>,
    /// D(s).
    pub page_delay: Span,
    /// How its blocks are divided.
    pub layout: Layout,
    /// What it is run by, if a sound analysis promises something of it.
    pub certificate: Option<Certificate>,
    /// Under a certificate, the logical pages of each of its tasks, in order, and then of each job stream.
    pub ranges: Vec<Range<u32>>,
    /// What its tasks declare to keep on it; `None` where none declares anything.
    pub data: Option<Data>,
}

/// What the tasks of a cluster declare to keep on it.
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
    sources: Vec<Source>,
    clusters: Vec<ClusterPlan>,
    jobs: Vec<Job>,
}

/// Pages that a device may have to be run: each takes some ten bytes of memory.
pub const MAX_PAGES: u64 = 1 << 30;

/// Parts of clusters for job streams.
const MAX_PARTS: usize = 1 << 22;

/// Pages that a request or job may have to be run under certificates: all of them are drawn at its release.
pub const MAX_REQUEST_PAGES: u64 = 1 << 24;

/// Why an allocation cannot be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanError {
    /// A cluster's blocks do not hold its reserve and one page for each task and job stream.
    TooFewBlocks {
        /// The cluster, by position.
        cluster: usize,
        /// What is missing.
        missing: TooFewBlocks,
    },
    /// The device has more pages than can be simulated, [`MAX_PAGES`].
    TooManyPages(u64),
    /// Under certificates, a request or job has more pages than can be simulated, [`MAX_REQUEST_PAGES`].
    LargeRequest {
        /// Whose jobs they are.
        source: String,
        /// The pages of each.
        pages: u64,
    },
    /// Two sources of jobs have this name: a job stream is called like a task with `.read`, `.write` or `.gc` behind it.
    SameName(String),
    /// Some clusters have a certificate, and others have none.
    MixedCertificates,
    /// A cluster's certificate cannot be run by.
    Certificate {
        /// The cluster, by position.
        cluster: usize,
        /// What is wrong with it.
        fault: &'static str,
    },
    /// Under its certificate a cluster has no room for a page of each task and the free pages kept in reserve.
    NoRoom {
        /// The cluster, by position.
        cluster: usize,
    },
    /// So many clusters and job streams that their parts of the address space cannot be kept.
    TooManyParts {
        /// Clusters.
        clusters: usize,
        /// Job streams.
        streams: usize,
    },
    /// Without certificates, a request has a deadline before the end of its period, or a release jitter.
    NotImplicit {
        /// The task that it belongs to, by name.
        task: String,
    },
    /// The terms do not belong to this allocation: there are more or fewer of them than clusters or tasks.
    OtherAllocation,
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlanError::TooFewBlocks { cluster, missing } => write!(f, "cluster {cluster}: {missing}"),
            PlanError::TooManyPages(pages) => {
                write!(f, "a device of {pages} pages is too large to be simulated: {MAX_PAGES} pages is the limit")
            }
            PlanError::LargeRequest { source, pages } => {
                write!(
                    f,
                    "a job of `{source}` has {pages} pages, too many to be simulated: {MAX_REQUEST_PAGES} is the limit"
                )
            }
            PlanError::SameName(name) => {
                write!(
                    f,
                    "two things are called `{name}`, a task's requests and a job stream: another name tells their jobs apart"
                )
            }
            PlanError::MixedCertificates => f.write_str("some clusters have a certificate and others have none"),
            PlanError::Certificate { cluster, fault } => write!(f, "cluster {cluster}: its certificate {fault}"),
            PlanError::NoRoom { cluster } => {
                write!(f, "cluster {cluster}: pages for its tasks and its reserve do not fit on its chips together")
            }
            PlanError::TooManyParts { clusters, streams } => {
                write!(f, "{streams} job streams in each of {clusters} clusters are too many to be simulated")
            }
            PlanError::NotImplicit { task } => write!(
                f,
                "task `{task}` has a deadline or a jitter, which only a run by certificates keeps to: --analysis sound makes these"
            ),
            PlanError::OtherAllocation => f.write_str("the terms are those of another allocation"),
        }
    }
}

impl std::error::Error for PlanError {}

/// What the tasks of a cluster declare to keep on it, placed like this.
fn declared(set: &TaskSet, cluster: &Cluster, placement: Option<Placement>) -> Option<Data> {
    let space = set.space(&cluster.tasks, cluster.size(), placement);
    // More than 64 bits hold do not fit.
    let pages = |pages: u128| u64::try_from(pages).unwrap_or(u64::MAX);
    space.declared.then(|| Data { pages: pages(space.needed_pages), room: pages(space.logical_pages) })
}

impl Plan {
    /// The plan of an allocation, with what an analysis says of each cluster. With certificates operations take the device's own times, whatever
    /// `timing` says.
    ///
    /// # Errors
    /// What cannot be run.
    pub fn new(
        set: &TaskSet,
        allocation: &Allocation,
        timing: Timing,
        terms: &[ClusterTerms],
    ) -> Result<Plan, PlanError> {
        let device = set.device();
        let pages = u64::from(device.chips())
            .saturating_mul(device.blocks_per_chip().into())
            .saturating_mul(device.pages_per_block().into());
        if pages > MAX_PAGES {
            return Err(PlanError::TooManyPages(pages));
        }
        let allocated = allocation.clusters();
        if allocated.len() != terms.len() {
            return Err(PlanError::OtherAllocation);
        }
        if allocated.len().saturating_mul(set.jobs().len()) > MAX_PARTS {
            return Err(PlanError::TooManyParts { clusters: allocated.len(), streams: set.jobs().len() });
        }
        let certified = terms.iter().filter(|terms| terms.certificate.is_some()).count();
        if certified > 0 && certified < terms.len() {
            return Err(PlanError::MixedCertificates);
        }
        if let Some(task) = set.tasks().iter().find(|task| certified == 0 && !task.is_implicit()) {
            return Err(PlanError::NotImplicit { task: task.name.clone() });
        }
        let timing = if certified > 0 { Timing::of_device(device) } else { timing };
        let mut clusters = Vec::with_capacity(allocated.len());
        for (position, (cluster, terms)) in allocated.into_iter().zip(terms).enumerate() {
            if cluster.tasks.len() != terms.gc_periods.len() {
                return Err(PlanError::OtherAllocation);
            }
            if let Some(certificate) = terms.certificate {
                clusters.push(certified::cluster(set, cluster, certificate, position)?);
                continue;
            }
            let writes = cluster.tasks.iter().filter_map(|&task| Some(set.tasks().get(task)?.write?.pages()));
            let owners = cluster.tasks.len() + set.jobs().len();
            let layout = Layout::new(device, cluster.size(), writes, owners)
                .map_err(|missing| PlanError::TooFewBlocks { cluster: position, missing })?;
            let data = declared(set, &cluster, None);
            let (chips, tasks) = (cluster.chips, cluster.tasks);
            clusters.push(ClusterPlan {
                chips,
                tasks,
                page_delay: terms.page_delay,
                layout,
                certificate: None,
                ranges: vec![],
                data,
            });
        }
        let mut plan = Plan { device: *device, timing, sources: Vec::new(), clusters, jobs: set.jobs().to_vec() };
        plan.add_tasks(set, allocation, terms)?;
        plan.add_units();
        plan.add_jobs(set);
        let pages = |source: &Source| source.read_pages.saturating_add(source.write_pages);
        let large = plan.sources.iter().find(|source| certified > 0 && pages(source) > MAX_REQUEST_PAGES);
        if let Some(large) = large {
            return Err(PlanError::LargeRequest { source: large.name.clone(), pages: pages(large) });
        }
        let mut names: Vec<&str> = plan.sources.iter().map(|source| source.name.as_str()).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(PlanError::SameName(pair[0].to_owned()));
        }
        Ok(plan)
    }

    fn add_tasks(&mut self, set: &TaskSet, allocation: &Allocation, terms: &[ClusterTerms]) -> Result<(), PlanError> {
        for (owner, task) in set.tasks().iter().enumerate() {
            let position = allocation.cluster_of_task(owner).ok_or(PlanError::OtherAllocation)?;
            let delay = self.clusters[position].page_delay;
            let cluster = u32::try_from(position).ok();
            let requests = [(task.read, Kind::Read, self.timing.read), (task.write, Kind::Write, self.timing.program)];
            for (request, kind, cost) in requests {
                let Some(request) = request else { continue };
                let period = Period::new(request.period().as_ns().into(), 1).ok_or(PlanError::OtherAllocation)?;
                let (suffix, read_pages, write_pages) = match kind {
                    Kind::Read => ("read", request.pages(), 0),
                    _ => ("write", 0, request.pages()),
                };
                self.sources.push(Source {
                    name: format!("{}.{suffix}", task.name),
                    kind,
                    owner,
                    cluster,
                    read_pages,
                    write_pages,
                    releases: Releases::Periodic(period),
                    deadline: Some(request.deadline()),
                    jitter: request.jitter(),
                    access: request.access(),
                    bound: cost.checked_add(delay).and_then(|cost| cost.checked_mul(request.pages())),
                });
            }
            let place = self.clusters[position].tasks.binary_search(&owner).map_err(|_| PlanError::OtherAllocation)?;
            if task.write.is_some() && self.clusters[position].certificate.is_none() {
                let period = terms[position].gc_periods[place].ok_or(PlanError::OtherAllocation)?;
                self.sources.push(Source {
                    name: format!("{}.gc", task.name),
                    kind: Kind::Gc,
                    owner,
                    cluster,
                    read_pages: 0,
                    write_pages: 0,
                    releases: Releases::Periodic(period),
                    deadline: None,
                    jitter: Span::ZERO,
                    access: Access::Random,
                    bound: Some(self.device.gc_pass()),
                });
            }
        }
        Ok(())
    }

    fn add_jobs(&mut self, set: &TaskSet) {
        self.sources.extend(set.jobs().iter().enumerate().map(|(owner, job)| Source {
            name: job.name.clone(),
            kind: Kind::Server,
            owner,
            cluster: None,
            read_pages: job.read_pages,
            write_pages: job.write_pages,
            releases: Releases::Arrivals(owner),
            deadline: None,
            jitter: Span::ZERO,
            access: Access::Random,
            bound: None,
        }));
    }

    /// The same for a host: jobs of its streams come when the host hands them over, with pages of their own. In a run without a host none comes.
    #[must_use]
    pub fn for_host(mut self) -> Plan {
        for source in &mut self.sources {
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

    /// Whether its clusters have certificates.
    pub fn is_certified(&self) -> bool {
        self.clusters.iter().any(|cluster| cluster.certificate.is_some())
    }

    /// All sources of jobs: for each task its reads, writes and GC, as far as they exist, under certificates then the GC of each unit, then the job
    /// streams.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// The clusters, in order.
    pub fn clusters(&self) -> &[ClusterPlan] {
        &self.clusters
    }

    /// The job streams, in order.
    pub fn jobs(&self) -> &[Job] {
        &self.jobs
    }

    /// The logical pages of its cluster that a source of requests reads or writes; none for other sources.
    pub(crate) fn range(&self, source: &Source) -> Range<u32> {
        let cluster = source.cluster.and_then(|cluster| self.clusters.get(cluster as usize));
        let Some(cluster) = cluster.filter(|_| matches!(source.kind, Kind::Read | Kind::Write)) else { return 0..0 };
        let Ok(place) = cluster.tasks.binary_search(&source.owner) else { return 0..0 };
        if cluster.certificate.is_some() {
            return cluster.ranges.get(place).cloned().unwrap_or(0..0);
        }
        cluster.layout.part(place)
    }

    /// What a job is called: `camera.read#0`.
    pub fn job_name(&self, job: JobId) -> String {
        let source = self.sources.get(job.source as usize).map_or("", |source| source.name.as_str());
        format!("{source}#{}", job.index)
    }
}
