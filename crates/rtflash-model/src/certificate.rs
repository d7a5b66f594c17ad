//! The promise of a sound analysis to a cluster, as data: the device runs by it, and it can be
//! verified without a search.

use crate::device::Device;
use crate::time::Span;

macro_rules! placements {
    ($($(#[$meaning:meta])* $placement:ident = $name:literal,)*) => {
        /// How pages are placed on the chips of a cluster.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Placement {
            $($(#[$meaning])* $placement,)*
        }

        crate::names! { Placement { $($placement = $name,)* } }
    };
}

placements! {
    /// Static stripe: the address of a page fixes its chip, and every chip is an EDF processor of
    /// its own.
    Stripe = "stripe",
    /// Cached stripe: a stripe whose chips use a second page register, so that they sense or
    /// program a page while they move another one.
    CachedStripe = "cached-stripe",
    /// Superblock: rows are striped over the chips as they are written, and the cluster is one
    /// processor.
    Superblock = "superblock",
    /// Cached superblock: a superblock whose chips use a second page register. A page that is read,
    /// or a row to be programmed, is moved while the cluster senses or programs another one.
    CachedSuperblock = "cached-superblock",
    /// Zones: each task has blocks of its own on every chip. A task that writes is a stream, which
    /// goes round in them and resets each block before it writes there again. Every chip is an EDF
    /// processor of its own, and nothing is collected.
    Zoned = "zoned",
}

impl Placement {
    /// Those under which pages may be overwritten in any order, as the device collects garbage.
    pub const COLLECTING: [Placement; 4] =
        [Placement::Stripe, Placement::CachedStripe, Placement::Superblock, Placement::CachedSuperblock];

    /// Whether each chip is an EDF processor of its own, with its own blocks and free pages.
    pub const fn is_by_chip(self) -> bool {
        match self {
            Placement::Stripe | Placement::CachedStripe | Placement::Zoned => true,
            Placement::Superblock | Placement::CachedSuperblock => false,
        }
    }

    /// Whether chips use a second page register.
    pub const fn is_cached(self) -> bool {
        match self {
            Placement::CachedStripe | Placement::CachedSuperblock => true,
            Placement::Stripe | Placement::Superblock | Placement::Zoned => false,
        }
    }

    /// Whether its tasks own zones, which they reset themselves: then nothing is collected.
    pub const fn is_zoned(self) -> bool {
        match self {
            Placement::Zoned => true,
            Placement::Stripe | Placement::CachedStripe | Placement::Superblock | Placement::CachedSuperblock => false,
        }
    }

    /// Erases are suspended on the only page register (docs/analysis.md, Section 18).
    pub const fn may_suspend_erases(self) -> bool {
        match self {
            Placement::Stripe | Placement::Superblock => true,
            Placement::CachedStripe | Placement::CachedSuperblock | Placement::Zoned => false,
        }
    }

    /// Whether clusters of this device can be organised so.
    pub fn is_possible_on(self, device: &Device) -> bool {
        device.has_cache_register() || !self.is_cached()
    }
}

/// Garbage collection on a chip of a stripe, or on a superblock cluster as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Collection {
    /// D_g: relative deadline of a GC job. `None` where no real-time task writes.
    pub deadline: Option<Span>,
    /// α: pages that a pass reclaims at least; a GC job for each α pages that arrive.
    pub reclaimed_pages: u64,
    /// H: free pages in reserve. A GC job that finds as many beyond the pending ones is void.
    pub reserve_pages: u64,
    /// v: valid pages of a victim, at most.
    pub victim_pages: u64,
    /// F: blocks (superblocks) neither closed nor collected when a victim is chosen, at most.
    pub open_blocks: u64,
}

/// The interval on which a processor comes nearest to missing a deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tightest {
    /// L.
    pub length: Span,
    /// L less its demand, server and blocking, in ns, rounded down; below zero: the test fails.
    pub slack_ns: i64,
}

/// A cluster's certificate: what was chosen for it, and what follows for the device that runs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Certificate {
    /// How pages are placed.
    pub placement: Placement,
    /// Garbage collection; `None` where nothing is ever written.
    pub collection: Option<Collection>,
    /// U_s in thousandths (on each chip of a stripe); 0 without a server.
    pub server_thousandths: u32,
    /// Whether a superblock may backfill (D3); meaningless for stripes.
    pub backfill: bool,
    /// The tightest interval; `None` without tasks.
    pub tightest: Option<Tightest>,
}

impl Certificate {
    /// Not beside a server, whose own pass would erase meanwhile.
    pub fn suspends_erases(&self, device: &Device) -> bool {
        device.erase_suspend().is_some() && self.placement.may_suspend_erases() && self.server_thousandths == 0
    }
}
