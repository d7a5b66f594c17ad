//! A channel's bus: one transfer at a time, first come first served, ties by chip. Rules S3 and D2,
//! and (Q2).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rtflash_model::Instant;

use crate::ids::ChipId;

/// The bus of one channel.
#[derive(Debug, Default)]
pub(crate) struct Bus {
    busy: bool,
    waiting: BinaryHeap<Reverse<(Instant, ChipId)>>,
}

impl Bus {
    /// A chip wants to transfer a page, from now on.
    pub(crate) fn request(&mut self, now: Instant, chip: ChipId) {
        self.waiting.push(Reverse((now, chip)));
    }

    /// If the bus is idle, it is given to the chip that has waited longest, the lowest among
    /// equals. Only to be called once all requests of an instant are known.
    pub(crate) fn grant(&mut self) -> Option<ChipId> {
        if self.busy {
            return None;
        }
        let Reverse((_, chip)) = self.waiting.pop()?;
        self.busy = true;
        Some(chip)
    }

    /// The transfer is over.
    pub(crate) fn release(&mut self) {
        self.busy = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_come_first_served_and_the_lowest_chip_of_one_instant() {
        let at = |ns| Instant::from_ns(ns).unwrap();
        let mut bus = Bus::default();
        for (time, chip) in [(5, 3), (5, 1), (4, 9), (6, 0)] {
            bus.request(at(time), ChipId(chip));
        }
        let mut order = Vec::new();
        while let Some(chip) = bus.grant() {
            assert_eq!(bus.grant(), None, "one transfer at a time");
            order.push(chip.0);
            bus.release();
        }
        assert_eq!(order, [9, 1, 3, 0]);
    }
}
