//! I/Os of jobs, and chains of those that wait for each other.

use rtflash_model::Span;

use crate::Op;

/// The places of a job's I/Os.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum JobPattern {
    /// One behind the other, and from the beginning again where the next one would not fit into the
    /// span.
    #[default]
    Sequential,
    /// Anywhere in the span, at multiples of the size.
    Random,
    /// Each multiple of the size in the span once, in a random order; then all again, in another
    /// order.
    Shuffled,
}

/// One of the I/Os that a job of different I/Os draws from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MixedIo {
    /// Its operation.
    pub op: Op,
    /// Its size, in bytes; above zero.
    pub size: u64,
    /// How often it is drawn, beside the shares of the others; above zero.
    pub share: u64,
}

/// The work of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChainWork {
    /// An I/O.
    Io {
        /// Its operation.
        op: Op,
        /// Its size, in bytes; above zero.
        size: u64,
    },
    /// A flush of the device's volatile cache. A device without one does not get it, and it ends at
    /// once (`submit_bio_noacct` of block/blk-core.c, 6.12.117).
    Flush,
}

/// A step of a chain: I/Os one after the other, or flushes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainStep {
    /// See [`ChainWork`].
    pub work: ChainWork,
    /// The places of its I/Os.
    pub pattern: JobPattern,
    /// The begin of its stretch of the device, in bytes.
    pub from: u64,
    /// How long that is, in bytes; `None` for no end.
    pub span: Option<u64>,
    /// I/Os of the step in each chain, one after the other; above zero.
    pub times: u32,
    /// From the end of each of its I/Os to the next I/O of the chain, if that has one more.
    pub think: Span,
    /// Whether its writes end when the medium has them (`REQ_FUA`).
    pub fua: bool,
}

impl ChainStep {
    /// Its I/O, if it has one.
    pub fn io(&self) -> Option<MixedIo> {
        match self.work {
            ChainWork::Io { op, size } => Some(MixedIo { op, size, share: 1 }),
            ChainWork::Flush => None,
        }
    }

    /// How answers call its work.
    pub fn name(&self) -> &'static str {
        match self.work {
            ChainWork::Io { op, .. } => op.name(),
            ChainWork::Flush => "flush",
        }
    }
}
