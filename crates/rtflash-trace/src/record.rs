//! The events of a run as plain records: observers, checkers and trace files see nothing else.
//!
//! A field that many records have means the same in each: `at` is the instant of what happens, and
//! `start` and `end` bound what takes time, as [start, end). `job` is the job that it is for.
//! `cluster` is a position in the plan, `chip` a number in the device, `block` a number on the
//! chip, and `lpn` a logical page of the cluster.

#![allow(missing_docs)] // Such fields are described above, once.

use rtflash_model::{ChipId, ClusterId, Instant, Lpn};
use rtflash_plan::{BlockId, ChannelId, JobId, Kind};
use serde::{Deserialize, Serialize};

/// An action of a chip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Action {
    Read,
    Program,
    /// Erases a block, or goes on with that to its end.
    Erase,
    /// Erases a block for a part of its time, and is suspended.
    ErasePart,
}

impl Action {
    /// Whether it is an erase, or a part of one.
    pub fn erases(self) -> bool {
        matches!(self, Action::Erase | Action::ErasePart)
    }

    /// The name in trace files: `read`, `program`, `erase` or `erase-part`.
    pub fn name(self) -> &'static str {
        match self {
            Action::Read => "read",
            Action::Program => "program",
            Action::Erase => "erase",
            Action::ErasePart => "erase-part",
        }
    }
}

/// No page: the mark in [`Operation::page`].
pub const NONE: u32 = u32::MAX;

/// A job is released.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Release {
    pub at: Instant,
    pub job: JobId,
    pub kind: Kind,
    /// When it is due; `None` for a job in the background, and for one that no cluster can serve.
    pub deadline: Option<Instant>,
    /// Pages that it reads and writes for its task; a GC job has none.
    pub pages: u64,
    /// The cluster that serves it; `None` for a job that no cluster can serve.
    pub cluster: Option<ClusterId>,
}

/// A chip is occupied by an operation over [start, end), the transfer of the page inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    pub start: Instant,
    pub end: Instant,
    pub cluster: ClusterId,
    pub chip: ChipId,
    pub action: Action,
    pub job: JobId,
    /// The purpose. GC passes of a server are [`Kind::Gc`] here, their job is the server's.
    pub kind: Kind,
    pub block: BlockId,
    /// The page in the block; [`NONE`] for an erase, or a part of one.
    pub page: u32,
    /// The logical page of the cluster; [`NO_LPN`](crate::NO_LPN) for an erase.
    pub lpn: Lpn,
}

/// A page is on a channel's bus over [start, end).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transfer {
    pub start: Instant,
    pub end: Instant,
    pub channel: ChannelId,
    pub cluster: ClusterId,
    pub chip: ChipId,
    pub job: JobId,
    pub kind: Kind,
}

/// A job is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Complete {
    pub at: Instant,
    pub job: JobId,
}

/// A job cannot go on where it should, because no free page is left there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Starved {
    pub at: Instant,
    pub job: JobId,
    pub cluster: ClusterId,
    pub chip: ChipId,
}

/// A program, a copy or an erase has failed, and its block with it, in a superblock the blocks of
/// all chips with this number: rule B2 of docs/analysis.md.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// When the step of its processor ended.
    pub at: Instant,
    pub job: JobId,
    pub cluster: ClusterId,
    pub chip: ChipId,
    pub block: BlockId,
    /// The page that was to be programmed; [`NONE`] for an erase.
    pub page: u32,
}

/// A victim is chosen, on a chip that begins a pass; under certificates on a processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    pub at: Instant,
    pub job: JobId,
    pub cluster: ClusterId,
    /// On which chip: the first one of a superblock.
    pub chip: ChipId,
    /// The block, or superblock.
    pub block: BlockId,
    pub valid: u32,
    /// No rule asked whether the pass could be left out: a job that is not real-time found no page,
    /// and collects for itself.
    pub forced: bool,
}

/// A job leaves a GC pass out: enough pages are free, or there is nothing to collect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    pub at: Instant,
    pub job: JobId,
    pub cluster: ClusterId,
    /// On which chip: under a certificate the processor's first one, elsewhere the cluster's.
    pub chip: ChipId,
    /// f: free pages, of the processor or of the cluster.
    pub free: u64,
}

/// The step for which a copy stands that only lets time pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Step {
    /// A GC read.
    Read,
    /// A GC program.
    Program,
    /// Both, on one chip.
    Copyback,
}

impl Step {
    pub const ALL: [Step; 3] = [Step::Read, Step::Program, Step::Copyback];

    pub fn name(self) -> &'static str {
        match self {
            Step::Read => "read",
            Step::Program => "program",
            Step::Copyback => "copyback",
        }
    }
}

/// Time passes over [start, end) as if a pass copied a page: with worst victims.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Padding {
    pub start: Instant,
    pub end: Instant,
    pub job: JobId,
    pub cluster: ClusterId,
    /// The chip; where a whole cluster or superblock lets time pass, the first one that takes part.
    pub chip: ChipId,
    /// The step that such a copy replaces.
    pub step: Step,
}

/// Under parallel dispatch a page to be written waits for another chip, because the one before has
/// no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    pub at: Instant,
    pub job: JobId,
    pub cluster: ClusterId,
    /// The chip that it waits for from now on.
    pub chip: ChipId,
    pub lpn: Lpn,
}

/// Logical pages hold nothing from now on: a task has given them back. A trim has a record for each
/// stretch of consecutive pages that are alike in `kept`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trimmed {
    pub at: Instant,
    pub cluster: ClusterId,
    /// The first page.
    pub lpn: Lpn,
    pub pages: u32,
    /// They go on holding their content: each is the page that its processor programmed last.
    pub kept: bool,
}

/// A page that a job would read next holds nothing: it is over without an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmptyPage {
    pub at: Instant,
    pub job: JobId,
    pub cluster: ClusterId,
    /// The first chip of its processor.
    pub chip: ChipId,
    pub lpn: Lpn,
}

/// A request is released that the police held, or cut to what is declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policed {
    pub at: Instant,
    pub job: JobId,
    /// When it came nominally.
    pub arrived: Instant,
    pub pages: u64,
}

/// The state of a processor under a certificate to which pages to be written have arrived, when all
/// releases and ends of the instant are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reserve {
    pub at: Instant,
    pub cluster: ClusterId,
    /// On which chip: the first one of a superblock.
    pub chip: ChipId,
    /// a: pages of real-time requests that have ever arrived to be written.
    pub arrived: u64,
    /// f: free pages.
    pub free: u64,
    /// b: pages of real-time requests that have arrived to be written and are not programmed yet.
    pub pending: u64,
}

/// A processor goes on by other terms of garbage collection, or its counter of R1 is put forward: a
/// change of the plan (docs/admission.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TermsChange {
    pub at: Instant,
    pub cluster: ClusterId,
    /// On which chip: the first one of a superblock.
    pub chip: ChipId,
    /// By which change of the plan it goes on, from 1.
    pub stage: u32,
    /// The number, from 1, of the change's extra GC job that is released: the counter is put
    /// forward for it. 0 where the terms are changed.
    pub extra: u32,
    /// a, as it is counted from now on.
    pub arrived: u64,
    /// f: free pages where the terms are changed, and 0 where an extra job is released.
    pub free: u64,
}
