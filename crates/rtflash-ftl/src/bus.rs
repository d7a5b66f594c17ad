//! The bus of a channel: first come, first served.

use crate::memory::index;

/// Chips that wait for the bus of their channel, in the order of their requests; the lowest chip
/// first at one instant. The caller lends an entry for each chip of the channel.
#[derive(Debug)]
pub struct BusQueue<'m> {
    waiting: &'m mut [(u64, u32)],
    count: u32,
}

impl<'m> BusQueue<'m> {
    /// A bus for which no chip waits.
    pub fn new(memory: &'m mut [(u64, u32)]) -> BusQueue<'m> {
        BusQueue { waiting: memory, count: 0 }
    }

    /// A chip asks for the bus, since an instant in nanoseconds. False if the queue is full: a chip
    /// has one operation at a time.
    pub fn ask(&mut self, since_ns: u64, chip: u32) -> bool {
        let count = index(self.count);
        if count >= self.waiting.len() {
            return false;
        }
        let place = self.waiting[..count].iter().position(|&before| before > (since_ns, chip)).unwrap_or(count);
        self.waiting.copy_within(place..count, place + 1);
        self.waiting[place] = (since_ns, chip);
        self.count += 1;
        true
    }

    /// The instant since when the next chip waits, and the chip.
    pub fn first(&self) -> Option<(u64, u32)> {
        self.waiting[..index(self.count)].first().copied()
    }

    /// The chip that gets the bus now.
    pub fn grant(&mut self) -> Option<u32> {
        let (_, chip) = self.first()?;
        self.waiting.copy_within(1..index(self.count), 0);
        self.count -= 1;
        Some(chip)
    }
}
