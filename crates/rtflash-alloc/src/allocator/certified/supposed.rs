//! The assumptions about clusters before they have chips: how pages are placed on them, and how
//! much they wait for the bus.

use rtflash_model::Placement;

/// A placement of pages, and the chips that a cluster needs for it. The order is that of trying.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Organisation {
    pub(super) placement: Placement,
    /// Whether any chips will do. A compact cluster has whole channels, or an aligned part of one.
    any_chips: bool,
}

impl Default for Organisation {
    fn default() -> Organisation {
        Organisation::on_any_chips(Placement::Stripe)
    }
}

impl Organisation {
    pub(super) fn of(placement: Placement) -> impl Iterator<Item = Organisation> {
        let compact = (!placement.is_by_chip()).then_some(Organisation { placement, any_chips: false });
        compact.into_iter().chain([Organisation::on_any_chips(placement)])
    }

    pub(super) const fn on_any_chips(placement: Placement) -> Organisation {
        Organisation { placement, any_chips: true }
    }

    pub(super) fn is_by_chip(self) -> bool {
        self.placement.is_by_chip()
    }

    pub(super) fn is_compact(self) -> bool {
        !self.any_chips
    }
}

/// How much of the waiting for the bus is charged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum ContentionAssumption {
    WorstCase,
    /// In stripes, or superblocks alone: transfers a page, confirmed once chips are placed.
    Optimistic(u32),
    /// In stripes, as if all chips of a channel were the cluster's: confirmed later, too.
    Queue,
    /// None at all, wherever the chips are: what does not hold so holds nowhere.
    NoContention,
}
