//! The transfers of other clusters' chips on the same channel, as far as they are known: the device-level test.

use rtflash_model::Device;

use super::demand::transfer_rate;
use super::unit::{Item, Unit};
use crate::fraction::Fraction;

/// A request of a neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Stream {
    pages: u64,
    period: u64,
}

/// Chips of another stripe cluster on the channel: each moves no more pages in an interval than its requests have.
#[derive(Debug, Clone)]
struct Neighbour {
    chips: u64,
    streams: Vec<Stream>,
    /// Pages moved in a nanosecond, in the long run.
    rate: f64,
}

/// Waiting for the bus that is counted by intervals, beyond what [`Bus::ways`](super::Bus) charges each page.
#[derive(Debug, Clone, Default)]
pub struct Contention {
    transfer: u64,
    neighbours: Vec<Neighbour>,
}

impl Contention {
    /// Nothing beyond what each page is charged.
    pub fn none() -> Contention {
        Contention::default()
    }

    /// Waiting on this device's buses.
    pub fn new(device: &Device) -> Contention {
        Contention { transfer: device.page_transfer().as_ns(), neighbours: Vec::new() }
    }

    /// Adds that many chips of another stripe cluster, each a unit such as this.
    pub fn add(&mut self, unit: &Unit, chips: u64) {
        let stream = |item: &Item| Stream { pages: item.transfers, period: item.period };
        let streams = unit.items.iter().map(stream).collect();
        self.neighbours.push(Neighbour { chips, streams, rate: transfer_rate(&unit.items) });
    }

    /// Whether there is nobody to wait for.
    pub fn is_empty(&self) -> bool {
        self.neighbours.is_empty()
    }

    /// Time that `transfers` pages, moved within an interval of `length` as one chip's, wait for the neighbours: for each of their chips no more
    /// transfers than there are pages, and no more than it makes in the interval.
    pub fn waiting(&self, length: u64, transfers: u128) -> u128 {
        let waits = self.neighbours.iter().map(|neighbour| {
            let mut most = 0u128;
            for stream in &neighbour.streams {
                // Jobs whose time from release to deadline meets the interval.
                most += (u128::from(length.div_ceil(stream.period)) + 1) * u128::from(stream.pages);
                if most >= transfers {
                    break;
                }
            }
            u128::from(neighbour.chips) * most.min(transfers)
        });
        u128::from(self.transfer) * waits.sum::<u128>()
    }

    /// Lengths up to this one from which on a neighbour moves no more.
    pub(super) fn steps(&self, length: u64) -> impl Iterator<Item = u64> {
        let streams = self.neighbours.iter().flat_map(|neighbour| &neighbour.streams);
        // ⌈L/T⌉ grows just behind each multiple.
        streams.map(move |stream| (length.saturating_sub(1) / stream.period) * stream.period + 1)
    }

    /// The long-run waiting of these requests, as an upper bound load·L + constant: adds the load, and gives the constant.
    pub(super) fn add_to(&self, load: &mut Vec<Fraction>, items: &[Item]) -> f64 {
        let own = transfer_rate(items);
        let mut constant = 0.0;
        for neighbour in &self.neighbours {
            let cost = u128::from(self.transfer) * u128::from(neighbour.chips);
            let mut push =
                |pages: u64, period: u64| load.push(Fraction::new(cost.saturating_mul(pages.into()), period.into()));
            if neighbour.rate < own {
                for stream in &neighbour.streams {
                    push(stream.pages, stream.period);
                    // (⌈L/T⌉ + 1)·n ≤ n·L/T + 2n.
                    constant += 2.0 * cost as f64 * stream.pages as f64;
                }
            } else {
                items.iter().for_each(|item| push(item.transfers, item.period));
            }
        }
        constant
    }

    /// The share of intervals of `length` and more that is waiting, at most, for requests that move `rate` pages a nanosecond.
    pub(super) fn share(&self, length: f64, rate: f64) -> f64 {
        let shares = self.neighbours.iter().map(|neighbour| {
            let pages: f64 = neighbour.streams.iter().map(|stream| stream.pages as f64).sum();
            neighbour.chips as f64 * rate.min(neighbour.rate + 2.0 * pages / length)
        });
        self.transfer as f64 * shares.sum::<f64>()
    }
}
