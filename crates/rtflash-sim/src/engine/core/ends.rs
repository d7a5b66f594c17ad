//! When what chips do ends.

use rtflash_model::{ChipId, Id, Instant, PerId};
use rtflash_plan::{ChannelId, Plan};
use serde::{Deserialize, Serialize};

use crate::earliest::Earliest;

/// When what each chip does ends, as far as that is known.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ChipEnds {
    /// The first chip: the others of the group follow, with few others between them.
    first: ChipId,
    ends: Earliest,
}

impl ChipEnds {
    /// Of the chips on some channels.
    pub(crate) fn new(plan: &Plan, used: &PerId<ChannelId, bool>) -> ChipEnds {
        let is_used = |&chip: &ChipId| used[plan.channel_of(chip)];
        let mut chips = ChipId::first(plan.device().chips()).filter(is_used);
        let first = chips.next().unwrap_or(ChipId(0));
        let last = chips.next_back().unwrap_or(first);
        ChipEnds { first, ends: Earliest::new(last.index() - first.index() + 1) }
    }

    /// What a chip does ends then, or it is not known.
    #[inline(always)]
    pub(crate) fn set(&mut self, chip: ChipId, end: Option<Instant>) {
        self.ends.set(chip.index() - self.first.index(), end);
    }

    /// The chip whose end is first, if that is now: the lowest among equals.
    #[inline(always)]
    pub(crate) fn first_at(&self, now: Instant) -> Option<ChipId> {
        self.ends.first_at(now).map(|number| ChipId::from_index(self.first.index() + number))
    }

    /// When something ends first, in nanoseconds.
    #[inline(always)]
    pub(crate) fn first_ns(&self) -> u64 {
        self.ends.first_ns()
    }
}
