//! What happens in a run, as plain records: all that observers, checkers and trace files get to see.

use rtflash_model::Instant;

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

/// A victim is chosen on a unit (a chip of a stripe, a superblock cluster), as only the device itself knows it.
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
    /// Blocks of the unit that were free, open, or being collected.
    pub not_closed: u64,
}

/// How many pages of a unit are free, under a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reserve {
    /// When.
    pub at: Instant,
    /// In which cluster.
    pub cluster: u32,
    /// On which chip: the first one of a superblock.
    pub chip: u32,
    /// f: free pages.
    pub free: u64,
    /// b: pages of real-time requests that have arrived to be written and are not programmed yet.
    pub pending: u64,
}

/// Anything that happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Record {
    /// See [`Release`].
    Release(Release),
    /// See [`Complete`].
    Complete(Complete),
    /// See [`Starved`].
    Starved(Starved),
    /// See [`Operation`].
    Operation(Operation),
    /// See [`Transfer`].
    Transfer(Transfer),
}

impl Record {
    /// The order of a trace: by time (operations and transfers by their start), at one instant releases, completions, starved jobs,
    /// operations, transfers, and within these by job, chip or channel.
    pub fn order(&self) -> (Instant, u8, u64, u64, u32) {
        let job = |job: JobId| (u64::from(job.source), job.index);
        match self {
            Record::Release(release) => (release.at, 0, job(release.job).0, job(release.job).1, 0),
            Record::Complete(complete) => (complete.at, 1, job(complete.job).0, job(complete.job).1, 0),
            Record::Starved(starved) => (starved.at, 2, job(starved.job).0, job(starved.job).1, starved.chip),
            Record::Operation(operation) => (operation.start, 3, operation.chip.into(), 0, 0),
            Record::Transfer(transfer) => (transfer.start, 4, transfer.channel.into(), 0, 0),
        }
    }
}

/// Somebody who is told what happens.
///
/// A run tells each cluster's releases, completions and operations in the order of [`Record::order`], and each channel's transfers
/// in theirs; between clusters, and between transfers and the rest, the order is not fixed.
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

    /// A victim is chosen, under a certificate. This is no record: no trace tells of it.
    fn selected(&mut self, selection: &Selection) {
        let _ = selection;
    }

    /// Pages have arrived to be written, or have been written, under a certificate. This is no record either.
    fn reserve(&mut self, reserve: &Reserve) {
        let _ = reserve;
    }

    /// A chip of a cluster is kept busy by a copy that only lets time pass, over [start, end), under a certificate. This is no record either.
    fn silent(&mut self, cluster: u32, chip: u32, start: Instant, end: Instant) {
        let _ = (cluster, chip, start, end);
    }

    /// Any of these.
    fn record(&mut self, record: &Record) {
        match record {
            Record::Release(release) => self.release(release),
            Record::Complete(complete) => self.complete(complete),
            Record::Starved(starved) => self.starved(starved),
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
    fn selected(&mut self, selection: &Selection) {
        self.0.selected(selection);
        self.1.selected(selection);
    }
    fn reserve(&mut self, reserve: &Reserve) {
        self.0.reserve(reserve);
        self.1.reserve(reserve);
    }
    fn silent(&mut self, cluster: u32, chip: u32, start: Instant, end: Instant) {
        self.0.silent(cluster, chip, start, end);
        self.1.silent(cluster, chip, start, end);
    }
    #[inline]
    fn expect(&self, cluster: u32, lpn: u32) {
        self.0.expect(cluster, lpn);
        self.1.expect(cluster, lpn);
    }
}
