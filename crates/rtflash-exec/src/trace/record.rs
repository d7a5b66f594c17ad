//! What happens in a run, as plain records: all that observers, checkers and trace files get to see.

use rtflash_model::Instant;

use crate::options::{Aging, Options, Phases, Service, Victims, Waits};

/// How a run was made, as far as its records cannot be judged without it: the first record of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setup {
    /// Whether a task's requests come a period after each other at the earliest, and not at 0, T, 2T, …
    pub sporadic: bool,
    /// How jobs that are not real-time are served.
    pub service: Service,
    /// How many pages a pass copies.
    pub victims: Victims,
    /// What a page waits for its bus.
    pub waits: Waits,
    /// Whether chips of a superblock that a step leaves idle take pages of other requests.
    pub backfill: bool,
    /// What is on the device at the start; `None` where that is not known.
    pub aging: Option<Aging>,
    /// What was drawn from; `None` where nothing was, or it is not known.
    pub seed: Option<u64>,
    /// When the run ends; `None` where that is not known.
    pub duration: Option<Instant>,
}

impl Default for Setup {
    /// Nothing is granted: periodic releases, as few copies as there are valid pages, no time that passes silently. The start is not known.
    fn default() -> Setup {
        Setup {
            sporadic: false,
            service: Service::Tbs,
            victims: Victims::Actual,
            waits: Waits::Actual,
            backfill: true,
            aging: None,
            seed: None,
            duration: None,
        }
    }
}

impl From<&Options> for Setup {
    fn from(options: &Options) -> Setup {
        Setup {
            sporadic: options.placed.phases == Phases::AtErases,
            service: options.service,
            victims: options.victims,
            waits: options.placed.waits,
            backfill: options.placed.backfill,
            aging: Some(options.aging),
            seed: Some(options.seed),
            duration: Some(options.duration),
        }
    }
}

/// One job: the `index`-th one (from 0) of a source, by the source's position in [`Plan::sources`](crate::Plan::sources).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId {
    /// Position of the source.
    pub source: u32,
    /// Number of the job, from 0, in order of release.
    pub index: u64,
}

/// What a job, or an operation of it, is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A real-time read request.
    Read,
    /// A real-time write request.
    Write,
    /// Garbage collection.
    Gc,
    /// A job that is not real-time.
    Server,
}

impl Kind {
    /// The name in trace files: `read`, `write`, `gc` or `server`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Read => "read",
            Kind::Write => "write",
            Kind::Gc => "gc",
            Kind::Server => "server",
        }
    }
}

/// What a chip does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Reads a page.
    Read,
    /// Programs a page.
    Program,
    /// Erases a block.
    Erase,
}

impl Action {
    /// The name in trace files: `read`, `program` or `erase`.
    pub fn name(self) -> &'static str {
        match self {
            Action::Read => "read",
            Action::Program => "program",
            Action::Erase => "erase",
        }
    }
}

/// No page, no logical page: the mark in [`Operation::page`] and [`Operation::lpn`].
pub const NONE: u32 = u32::MAX;

/// A job is released.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Release {
    /// When.
    pub at: Instant,
    /// Which.
    pub job: JobId,
    /// What it is.
    pub kind: Kind,
    /// When it is due; `None` for a job in the background, and for one that no cluster can serve.
    pub deadline: Option<Instant>,
    /// Pages that it reads and writes for its task; a GC job has none.
    pub pages: u64,
    /// The cluster that serves it; `None` for a job that no cluster can serve.
    pub cluster: Option<u32>,
}

/// A chip is occupied by an operation over [start, end), the transfer of the page inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    /// First instant.
    pub start: Instant,
    /// First instant after it.
    pub end: Instant,
    /// The cluster, by position.
    pub cluster: u32,
    /// The chip, by its number in the device.
    pub chip: u32,
    /// What it does.
    pub action: Action,
    /// For which job.
    pub job: JobId,
    /// What for. GC passes of a server are [`Kind::Gc`] here, their job is the server's.
    pub kind: Kind,
    /// The block on the chip.
    pub block: u32,
    /// The page in the block; [`NONE`] for an erase.
    pub page: u32,
    /// The logical page of the cluster; [`NONE`] for an erase.
    pub lpn: u32,
}

/// A page is on a channel's bus over [start, end).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    /// First instant.
    pub start: Instant,
    /// First instant after it.
    pub end: Instant,
    /// The channel.
    pub channel: u32,
    /// The cluster of the chip.
    pub cluster: u32,
    /// The chip that sends or takes the page.
    pub chip: u32,
    /// For which job.
    pub job: JobId,
    /// What for.
    pub kind: Kind,
}

/// A job is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Complete {
    /// When.
    pub at: Instant,
    /// Which.
    pub job: JobId,
}

/// A job cannot go on where it should, because no free page is left there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Starved {
    /// When.
    pub at: Instant,
    /// Which.
    pub job: JobId,
    /// Its cluster.
    pub cluster: u32,
    /// The chip without free pages.
    pub chip: u32,
}

/// A victim is chosen: on a chip of a cluster that begins a pass; under certificates on a unit (a chip of a stripe, a superblock cluster).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Selection {
    /// When.
    pub at: Instant,
    /// For which job.
    pub job: JobId,
    /// In which cluster.
    pub cluster: u32,
    /// On which chip: the first one of a superblock.
    pub chip: u32,
    /// The block, or superblock.
    pub block: u32,
    /// Its valid pages.
    pub valid: u32,
    /// Whether nobody asked if the pass may be left out: a job that is not real-time found no page, and collects for itself.
    pub forced: bool,
}

/// A job leaves a GC pass out: enough pages are free, or there is nothing to collect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeftOut {
    /// When.
    pub at: Instant,
    /// Which job.
    pub job: JobId,
    /// In which cluster.
    pub cluster: u32,
    /// On which chip: under a certificate the unit's first one, elsewhere the cluster's.
    pub chip: u32,
    /// f: free pages, of the unit or of the cluster.
    pub free: u64,
}

/// What a copy that only lets time pass stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// A GC read.
    Read,
    /// A GC program.
    Program,
    /// Both, on one chip.
    Copyback,
}

/// Time passes over [start, end) as if a pass copied a page: with worst victims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Silent {
    /// First instant.
    pub start: Instant,
    /// First instant after it.
    pub end: Instant,
    /// For which job.
    pub job: JobId,
    /// The cluster.
    pub cluster: u32,
    /// The chip; where a whole cluster or superblock lets time pass, the first one that takes part.
    pub chip: u32,
    /// What might have been done.
    pub step: Step,
}

/// A page to be written goes on to wait for another chip, because the one before has no room (parallel dispatch).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moved {
    /// When.
    pub at: Instant,
    /// Whose page.
    pub job: JobId,
    /// The cluster.
    pub cluster: u32,
    /// The chip that it waits for from now on.
    pub chip: u32,
    /// The logical page.
    pub lpn: u32,
}

/// Pages have arrived to be written to a unit, under a certificate: how it stands when all releases and ends of the instant are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reserve {
    /// When.
    pub at: Instant,
    /// In which cluster.
    pub cluster: u32,
    /// On which chip: the first one of a superblock.
    pub chip: u32,
    /// a: pages of real-time requests that have ever arrived to be written.
    pub arrived: u64,
    /// f: free pages.
    pub free: u64,
    /// b: pages of real-time requests that have arrived to be written and are not programmed yet.
    pub pending: u64,
}

/// Anything that happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Record {
    /// See [`Setup`].
    Setup(Setup),
    /// See [`Release`].
    Release(Release),
    /// See [`Reserve`].
    Reserve(Reserve),
    /// See [`LeftOut`].
    LeftOut(LeftOut),
    /// See [`Complete`].
    Complete(Complete),
    /// See [`Starved`].
    Starved(Starved),
    /// See [`Moved`].
    Moved(Moved),
    /// See [`Selection`].
    Selected(Selection),
    /// See [`Silent`].
    Silent(Silent),
    /// See [`Operation`].
    Operation(Operation),
    /// See [`Transfer`].
    Transfer(Transfer),
}

impl Record {
    /// The order of a trace: by time (what takes time by its start), at one instant as the variants are ordered, and within these by job, chip or
    /// channel. What is equal in that stays as it was told.
    pub fn order(&self) -> (Instant, u8, u64, u64, u32) {
        let job = |job: JobId| (u64::from(job.source), job.index);
        match self {
            Record::Setup(_) => (Instant::START, 0, 0, 0, 0),
            Record::Release(release) => (release.at, 1, job(release.job).0, job(release.job).1, 0),
            Record::Reserve(reserve) => (reserve.at, 2, reserve.chip.into(), 0, 0),
            Record::LeftOut(left_out) => (left_out.at, 3, left_out.cluster.into(), 0, 0),
            Record::Complete(complete) => (complete.at, 4, job(complete.job).0, job(complete.job).1, 0),
            Record::Starved(starved) => (starved.at, 5, job(starved.job).0, job(starved.job).1, starved.chip),
            Record::Moved(moved) => (moved.at, 6, moved.cluster.into(), 0, 0),
            Record::Selected(selection) => (selection.at, 7, selection.chip.into(), 0, 0),
            Record::Silent(silent) => (silent.start, 8, silent.chip.into(), 0, 0),
            Record::Operation(operation) => (operation.start, 9, operation.chip.into(), 0, 0),
            Record::Transfer(transfer) => (transfer.start, 10, transfer.channel.into(), 0, 0),
        }
    }

    /// Whether it tells what the device does or is asked to do. The others say how it came to that: how the run was made, why a pass began or did
    /// not, what lets time pass, how much is free.
    pub fn is_event(&self) -> bool {
        matches!(
            self,
            Record::Release(_) | Record::Complete(_) | Record::Starved(_) | Record::Operation(_) | Record::Transfer(_)
        )
    }
}

/// Somebody who is told what happens.
///
/// A run tells each cluster's releases, completions and operations in the order of [`Record::order`], and each channel's transfers
/// in theirs, each behind its operation; between clusters, and between transfers and the rest, the order is not fixed. What else happens at an
/// instant is told behind the releases and before the operations of that instant.
pub trait Observer {
    /// A job is released.
    fn release(&mut self, release: &Release);
    /// A job is complete.
    fn complete(&mut self, complete: &Complete);
    /// A job found no free page.
    fn starved(&mut self, starved: &Starved);
    /// Chips of one cluster are occupied, from the same instant on, for the same job.
    fn operations(&mut self, operations: &[Operation]);
    /// A bus is occupied.
    fn transfer(&mut self, transfer: &Transfer);

    /// A logical page of a cluster will be read or programmed soon, in all likelihood: an observer may ask memory for what it knows of it.
    #[inline]
    fn expect(&self, cluster: u32, lpn: u32) {
        let _ = (cluster, lpn);
    }

    /// Whether it has to be told anything at all but [`over`](Observer::over): what nobody is told need not be put into order. Asked once, at the start.
    fn is_told(&self) -> bool {
        true
    }

    /// A job is over: told as it happens, when what happened before may not have been told yet.
    #[inline]
    fn over(&mut self, job: JobId) {
        let _ = job;
    }

    /// How the run is made: told before everything else.
    fn setup(&mut self, setup: &Setup) {
        let _ = setup;
    }

    /// Pages have arrived to be written, under a certificate.
    fn reserve(&mut self, reserve: &Reserve) {
        let _ = reserve;
    }

    /// A pass is left out.
    fn left_out(&mut self, left_out: &LeftOut) {
        let _ = left_out;
    }

    /// A page to be written waits for another chip.
    fn moved(&mut self, moved: &Moved) {
        let _ = moved;
    }

    /// A victim is chosen.
    fn selected(&mut self, selection: &Selection) {
        let _ = selection;
    }

    /// A copy only lets time pass.
    fn silent(&mut self, silent: &Silent) {
        let _ = silent;
    }

    /// Any of these.
    fn record(&mut self, record: &Record) {
        match record {
            Record::Setup(setup) => self.setup(setup),
            Record::Release(release) => self.release(release),
            Record::Reserve(reserve) => self.reserve(reserve),
            Record::LeftOut(left_out) => self.left_out(left_out),
            Record::Complete(complete) => self.complete(complete),
            Record::Starved(starved) => self.starved(starved),
            Record::Moved(moved) => self.moved(moved),
            Record::Selected(selection) => self.selected(selection),
            Record::Silent(silent) => self.silent(silent),
            Record::Operation(operation) => self.operations(std::slice::from_ref(operation)),
            Record::Transfer(transfer) => self.transfer(transfer),
        }
    }
}

impl Observer for Vec<Record> {
    fn release(&mut self, release: &Release) {
        self.push(Record::Release(*release));
    }
    fn complete(&mut self, complete: &Complete) {
        self.push(Record::Complete(*complete));
    }
    fn starved(&mut self, starved: &Starved) {
        self.push(Record::Starved(*starved));
    }
    fn operations(&mut self, operations: &[Operation]) {
        self.extend(operations.iter().copied().map(Record::Operation));
    }
    fn transfer(&mut self, transfer: &Transfer) {
        self.push(Record::Transfer(*transfer));
    }
    // Who collects records of several groups knows how they were made.
    fn reserve(&mut self, reserve: &Reserve) {
        self.push(Record::Reserve(*reserve));
    }
    fn left_out(&mut self, left_out: &LeftOut) {
        self.push(Record::LeftOut(*left_out));
    }
    fn moved(&mut self, moved: &Moved) {
        self.push(Record::Moved(*moved));
    }
    fn selected(&mut self, selection: &Selection) {
        self.push(Record::Selected(*selection));
    }
    fn silent(&mut self, silent: &Silent) {
        self.push(Record::Silent(*silent));
    }
}

impl<A: Observer, B: Observer> Observer for (A, B) {
    fn release(&mut self, release: &Release) {
        self.0.release(release);
        self.1.release(release);
    }
    fn complete(&mut self, complete: &Complete) {
        self.0.complete(complete);
        self.1.complete(complete);
    }
    fn starved(&mut self, starved: &Starved) {
        self.0.starved(starved);
        self.1.starved(starved);
    }
    fn operations(&mut self, operations: &[Operation]) {
        self.0.operations(operations);
        self.1.operations(operations);
    }
    fn transfer(&mut self, transfer: &Transfer) {
        self.0.transfer(transfer);
        self.1.transfer(transfer);
    }
    fn is_told(&self) -> bool {
        self.0.is_told() || self.1.is_told()
    }
    #[inline]
    fn over(&mut self, job: JobId) {
        self.0.over(job);
        self.1.over(job);
    }
    fn setup(&mut self, setup: &Setup) {
        self.0.setup(setup);
        self.1.setup(setup);
    }
    fn reserve(&mut self, reserve: &Reserve) {
        self.0.reserve(reserve);
        self.1.reserve(reserve);
    }
    fn left_out(&mut self, left_out: &LeftOut) {
        self.0.left_out(left_out);
        self.1.left_out(left_out);
    }
    fn moved(&mut self, moved: &Moved) {
        self.0.moved(moved);
        self.1.moved(moved);
    }
    fn selected(&mut self, selection: &Selection) {
        self.0.selected(selection);
        self.1.selected(selection);
    }
    fn silent(&mut self, silent: &Silent) {
        self.0.silent(silent);
        self.1.silent(silent);
    }
    #[inline]
    fn expect(&self, cluster: u32, lpn: u32) {
        self.0.expect(cluster, lpn);
        self.1.expect(cluster, lpn);
    }
}
