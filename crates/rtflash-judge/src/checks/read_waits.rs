//! The waits of a superblock's reads for their buses.

use rtflash_plan::{ChannelId, Plan};
use rtflash_trace::{Action, Kind, Operation};
use serde::{Deserialize, Serialize};

use crate::gauge::Gauge;
use crate::place::Place;
use crate::shadow::jobs::Pending;

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct ReadTimes {
    /// The time that a page holds the bus, with its command.
    pub(crate) hold: u64,
    /// A read that does not wait, and how often it asks for the bus.
    pub(crate) alone: u64,
    pub(crate) asks: u64,
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct ReadWaits {
    /// Whether no chip has done anything but users' reads in it.
    only_reads: bool,
    waits: Vec<ReadWait>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct ReadWait {
    channel: ChannelId,
    gc: bool,
    bound: u64,
    waited: u64,
    place: Place,
}

impl ReadWaits {
    /// An operation of the step, which other clusters may make wait for `foreign` whenever it asks.
    #[inline(always)]
    pub(crate) fn note(
        &mut self,
        operation: &Operation,
        foreign: u64,
        times: ReadTimes,
        pending: &Pending,
        plan: &Plan,
    ) {
        let gc = operation.kind == Kind::Gc;
        self.only_reads &= operation.action == Action::Read && !gc;
        if operation.action == Action::Read {
            let took = operation.end.since(operation.start).as_ns();
            self.waits.push(ReadWait {
                channel: plan.channel_of(operation.chip),
                gc,
                bound: foreign.saturating_mul(times.asks),
                waited: took.saturating_sub(times.alone),
                place: pending.place(operation.start, Some(operation.chip)),
            });
        }
    }

    #[inline(always)]
    pub(crate) fn judge(&mut self, times: ReadTimes, gauge: &mut Gauge) {
        if !self.waits.is_empty() {
            self.judge_all(times, gauge);
        }
        self.only_reads = true;
    }

    fn judge_all(&mut self, times: ReadTimes, gauge: &mut Gauge) {
        let hold = times.hold.saturating_mul(times.asks);
        for read in self.waits.iter().filter(|read| read.gc || self.only_reads) {
            // Reads of a pass wait for each other, and for nothing else of their cluster.
            let beside = |other: &&ReadWait| other.gc && read.gc && other.channel == read.channel;
            let beside = (self.waits.iter().filter(beside).count() as u64).saturating_sub(1);
            gauge.note(read.bound.saturating_add(hold.saturating_mul(beside)), read.waited, || read.place);
        }
        self.waits.clear();
    }
}
