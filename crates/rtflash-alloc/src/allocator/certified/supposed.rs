//! What is supposed of clusters before they have chips: how pages are placed on them, and how much
//! they wait for the bus.

use rtflash_model::Placement;

/// What a cluster asks of its chips.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Organisation {
    /// Any chips.
    #[default]
    Stripe,
    /// Any chips, which use a second page register.
    CachedStripe,
    /// Whole channels, or an aligned part of one.
    Compact,
    /// A superblock on any chips.
    Superblock,
    /// These two with chips that use a second page register.
    CachedCompact,
    CachedSuperblock,
    /// Zones, on any chips.
    Zoned,
}

impl Organisation {
    /// Those that place pages so, the one for any chips last.
    pub(super) fn of(placement: Placement) -> &'static [Organisation] {
        match placement {
            Placement::Stripe => &[Organisation::Stripe],
            Placement::CachedStripe => &[Organisation::CachedStripe],
            Placement::Superblock => &[Organisation::Compact, Organisation::Superblock],
            Placement::CachedSuperblock => &[Organisation::CachedCompact, Organisation::CachedSuperblock],
            Placement::Zoned => &[Organisation::Zoned],
        }
    }

    /// That of a cluster with this placement of pages wherever its chips are.
    pub(super) fn on_any_chips(placement: Placement) -> Organisation {
        *Organisation::of(placement).last().expect("every placement may be on any chips")
    }

    /// Whether its chips are processors of their own.
    pub(super) fn is_by_chip(self) -> bool {
        self.placement().is_by_chip()
    }

    /// Whether it asks for whole channels, or an aligned part of one.
    pub(super) fn is_compact(self) -> bool {
        self != Organisation::on_any_chips(self.placement())
    }

    pub(super) fn placement(self) -> Placement {
        match self {
            Organisation::Stripe => Placement::Stripe,
            Organisation::CachedStripe => Placement::CachedStripe,
            Organisation::Compact | Organisation::Superblock => Placement::Superblock,
            Organisation::CachedCompact | Organisation::CachedSuperblock => Placement::CachedSuperblock,
            Organisation::Zoned => Placement::Zoned,
        }
    }
}

/// How much of the waiting for the bus is charged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum ContentionAssumption {
    /// All that there can be.
    WorstCase,
    /// In stripes, or where there are superblocks alone, that many transfers a page, its own
    /// included: to be confirmed once chips are placed.
    Optimistic(u32),
    /// In stripes, as if all chips of a channel were the cluster's: likewise.
    Queue,
    /// None at all, wherever the chips are: what does not hold so holds nowhere.
    NoContention,
}
