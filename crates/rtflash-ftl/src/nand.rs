//! The operations that the state machine asks of the flash, and its reports to the sender of
//! requests.

use crate::blocks::Victim;
use crate::pages::Spot;

/// A page of a block of a chip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlashPage {
    /// The block, by its number on the chip.
    pub block: u32,
    /// The page, by its number in the block.
    pub page: u32,
}

impl From<Spot> for FlashPage {
    fn from(at: Spot) -> FlashPage {
        FlashPage { block: at.block, page: at.page }
    }
}

/// The purpose of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationPurpose {
    /// A request, or a job that is not real-time.
    Request {
        /// The number of its source in the image.
        source: u32,
        /// The number of the request, from 0 for each source.
        index: u64,
        /// The number of the page in the request: where its data are. 0 for a reset.
        place: u32,
    },
    /// Garbage collection. The driver keeps a page that a superblock reads, by its logical page,
    /// until it is programmed or the victim is erased.
    Collection,
}

/// The bytes that are programmed beside a page's data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpareBytes {
    /// The image's identity.
    pub identity: u32,
    /// The cluster, by position.
    pub cluster: u32,
    /// The logical page of the cluster.
    pub lpn: u32,
    /// Higher than of all pages programmed before.
    pub sequence: u64,
    /// How often the block had been erased; 0 where wear is not levelled.
    pub erases: u32,
}

/// The flash: a driver of chips and buses.
///
/// Each call starts an operation on an idle chip, and comes back at once. When the operation has
/// ended, the driver calls [`Ftl::ended`](crate::Ftl::ended), or
/// [`Ftl::failed`](crate::Ftl::failed) for a program, a copy or an erase that has failed. The
/// certificate supposes:
///
/// - An operation starts when it is asked for, and takes no longer than the device states.
/// - A page that is read asks for its channel's bus when it has been sensed, one that is programmed
///   at once. The bus goes to the first that asked ([`BusQueue`](crate::BusQueue); rules S3 and
///   D2).
/// - A copy inside a chip and an erase use the bus for their commands alone, where these are
///   counted.
pub trait NandChips {
    /// Reads a page, which holds this logical page of its cluster.
    fn read(&mut self, chip: u32, at: FlashPage, lpn: u32, purpose: OperationPurpose);

    /// Programs a page, the next one of its block.
    fn program(&mut self, chip: u32, at: FlashPage, spare: SpareBytes, purpose: OperationPurpose);

    /// Copies a page inside a chip to the next one of a block.
    fn copyback(&mut self, chip: u32, from: FlashPage, to: FlashPage, spare: SpareBytes);

    /// Erases a block.
    fn erase(&mut self, chip: u32, block: u32, purpose: OperationPurpose);

    /// Suspends the erase that a chip is doing, rule P1. The driver calls
    /// [`Ftl::suspended`](crate::Ftl::suspended) when the chip is free, no later than t_s, or
    /// [`Ftl::ended`](crate::Ftl::ended) if the erase is over before that. Only for images with
    /// clusters that suspend erases.
    fn suspend(&mut self, chip: u32);

    /// Goes on with the erase of a block that was suspended, rule P2.
    fn resume(&mut self, chip: u32, block: u32);

    /// Senses a page, rule X1. [`Ftl::sensed`](crate::Ftl::sensed) is due when the array holds it.
    /// If commands are counted its command asks for the bus now, or goes `with` the page that waits
    /// on this chip, in one grant and before it (rule X5).
    ///
    /// This call and those below are for images with clusters that use a second page register.
    fn sense(&mut self, chip: u32, at: FlashPage, lpn: u32, purpose: OperationPurpose, with: Option<u32>);

    /// The page that a chip has sensed takes the cache register, and asks for the bus, rule X4.
    /// [`Ftl::moved`](crate::Ftl::moved) is due when it has been read; if commands are counted,
    /// [`Ftl::granted`](crate::Ftl::granted) before that, when it has the bus.
    fn send(&mut self, chip: u32);

    /// A page to be programmed, the next one of its block, takes the cache register and asks for
    /// the bus, rule X2. [`Ftl::moved`](crate::Ftl::moved) is due when it is there.
    fn load(&mut self, chip: u32, at: FlashPage, spare: SpareBytes, purpose: OperationPurpose);

    /// Programs the page in the cache register, and empties that, rule X4.
    /// [`Ftl::ended`](crate::Ftl::ended) is due when that is over.
    fn program_loaded(&mut self, chip: u32);
}

/// The outcome of a pass that is due, or of a void GC job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PassOutcome {
    /// A pass over this victim begins (rule R4).
    Selected(Victim),
    /// Pages of this retired block are moved (rule B4).
    Moving(Victim),
    /// Pages of this block, the least worn one, are moved (rule L2).
    Levelling(Victim),
    /// It is left out, with this many free pages (rule R3).
    LeftOut(u32),
}

/// The sender of requests.
pub trait RequestHost {
    /// All pages of a request, or of a job, have been read or programmed. It was due at `due_ns`.
    fn complete(&mut self, source: u32, index: u64, due_ns: u64);

    /// The outcome of a processor's pass, for reports: of a GC job, or of its server for a job of
    /// the stream with the number `server`.
    fn pass(&mut self, processor: u32, server: Option<u32>, job: u64, outcome: PassOutcome) {
        let _ = (processor, server, job, outcome);
    }

    /// No page of a processor is free where one has to be: the device, or its state at the start,
    /// is not what the certificate supposes. Jobs that wait go on when a block is erased.
    fn starved(&mut self, processor: u32);
}
