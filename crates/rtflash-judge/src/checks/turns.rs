//! Whether a bus goes round the chips of its channel.

use std::collections::VecDeque;

use rtflash_model::{ChipId, Instant, Span};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Turn {
    at: Instant,
    chip: ChipId,
    behind: Option<ChipId>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Turns(VecDeque<Turn>);

impl Turns {
    /// For how long the chip was passed over: it waits for one turn of each other of `chips` chips.
    pub(crate) fn take(&mut self, chip: ChipId, wanted: Instant, now: Instant, chips: usize) -> Span {
        let comes = |behind: Option<ChipId>, chip: ChipId| (behind.is_some_and(|behind| chip <= behind), chip);
        let earlier = |turn: &&Turn| turn.at >= wanted && comes(turn.behind, turn.chip) > comes(turn.behind, chip);
        let passed = self.0.iter().find(earlier).map_or(Span::ZERO, |turn| now.since(turn.at));
        let behind = self.0.back().map(|last| last.chip);
        if self.0.len() >= chips {
            self.0.pop_front();
        }
        self.0.push_back(Turn { at: now, chip, behind });
        passed
    }
}
