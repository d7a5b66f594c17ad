//! A chip as something that is occupied, with the queue before it.

use rtflash_trace::{JobId, Operation};

use super::cluster::Priority;

/// One chip of a cluster.
#[derive(Debug)]
pub struct Chip {
    /// Its number in the device.
    pub number: u32,
    /// The work that occupies it, from start to end.
    pub busy: Option<Busy>,
    /// Parallel dispatch: what waits for it, in no order.
    pub queue: Vec<Entry>,
    /// Parallel dispatch: what waits for an erase in the cluster to end.
    pub waiting: Vec<Entry>,
}

/// The work that occupies a chip.
#[derive(Debug, Clone)]
pub struct Busy {
    /// For which job.
    pub job: JobId,
    /// The purpose.
    pub doing: Doing,
    /// How far it is.
    pub stage: Stage,
    /// Its record, where the end is not known yet; `None` where a copy only lets time pass.
    pub operation: Option<Operation>,
}

/// The purpose that a chip is occupied for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    /// Reading a page of the job.
    ReadPage,
    /// Programming a page of the job.
    ProgramPage,
    /// The GC read of a copy.
    GcRead,
    /// The GC program of a copy.
    GcProgram,
    /// The erase of the victim.
    Erase,
}

/// How far an operation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Senses a page, which then wants the bus.
    Senses {
        /// End of this stage.
        until: u64,
    },
    /// Wants the bus.
    Waits {
        /// When it first wanted it.
        since: u64,
    },
    /// Is on the bus.
    Transfers {
        /// Start of the transfer.
        from: u64,
        /// Its end.
        until: u64,
    },
    /// Works inside the chip, to the end of the operation.
    Works {
        /// End of the operation.
        until: u64,
    },
}

/// Something that waits in the queue of a chip.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Priority of the job.
    pub priority: Priority,
    /// Number of the page within the job; a pass has none.
    pub page: u64,
    /// The job.
    pub job: JobId,
    /// The work to be done.
    pub what: What,
}

/// The subject of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// Take part in a GC pass for the job; before all pages.
    Pass,
    /// Read this logical page.
    Read(u32),
    /// Write this logical page.
    Write(u32),
}

impl Chip {
    /// The stage of what occupies it.
    pub fn stage(&self) -> Option<Stage> {
        self.busy.as_ref().map(|busy| busy.stage)
    }

    /// The occupying work goes on to another stage.
    pub fn set_stage(&mut self, stage: Stage) {
        self.busy.as_mut().expect("only an operation has stages").stage = stage;
    }

    /// Takes an entry out of the queue.
    pub fn remove(&mut self, entry: &Entry) {
        self.queue.retain(|other| other != entry);
    }

    /// Takes out the entries of a job's pass.
    pub fn remove_pass(&mut self, job: JobId) {
        let stays = |entry: &Entry| entry.job != job || entry.what != What::Pass;
        self.queue.retain(stays);
        self.waiting.retain(stays);
    }
}
