//! The garbage collection that cannot be avoided: erases for what is written, and copies that
//! random writers force.

use std::cmp::Reverse;

use rtflash_model::{Request, TaskId, capped};

use super::{NecessaryTests, ShareTerm, TimeShare};

impl NecessaryTests<'_> {
    /// The least share of all chips' time for collection, and whether there are copies in it.
    pub(super) fn collection(&self) -> (TimeShare, bool) {
        let device = self.device;
        let erase = u128::from(device.block_erase().as_ns()) + u128::from(self.command_on_chip().as_ns());
        let block = u128::from(device.pages_per_block());
        let mut load = self.copies(block, erase);
        let copied = !load.more.is_empty();
        load.more.extend(self.writers().map(|(_, request)| ShareTerm::new(request, [erase, 1], block)));
        (load, copied)
    }

    fn writers(&self) -> impl Iterator<Item = (TaskId, Request)> {
        self.requests().filter(|&(.., writes)| writes).map(|(task, request, _)| (task, request))
    }

    /// Forced copies and the erases that they cause: ψ, Eq. (55), times t_r + t_w + t_e/P. Any
    /// number of writers may count; doubles choose those with the greatest ν, and the sum is exact.
    fn copies(&self, block: u128, erase: u128) -> TimeShare {
        let pending = self.writers().map(|(_, request)| u128::from(request.pages()) * u128::from(request.waiting()));
        let pending = pending.fold(0, u128::saturating_add);
        let mut writers: Vec<(u64, Request)> =
            self.writers().map(|(task, request)| (self.left(task, request, pending), request)).collect();
        writers.sort_by_key(|&(left, request)| (Reverse(left), request.pages(), request.period()));
        let pages = |(_, request): &(u64, Request)| request.pages() as f64 / request.period().as_ns() as f64;
        let all: f64 = writers.iter().map(pages).sum();
        let (mut counted, mut most, mut count) = (0.0, 0.0, 0);
        for (position, writer) in writers.iter().enumerate() {
            counted += pages(writer);
            let left = writer.0 as f64;
            let copies = left / (block as f64 - left) * counted - (all - counted);
            if copies > most {
                (most, count) = (copies, position + 1);
            }
        }
        let (counted, others) = writers.split_at(count);
        let Some(&(left, _)) = counted.last() else { return TimeShare { more: Vec::new(), less: Vec::new() } };
        let left = u128::from(left);
        // In the chip: no page crosses the bus, but a command does.
        let [read, write] = [false, true].map(|writes| u128::from(self.on_chip(writes).as_ns()));
        let copy = u128::from(self.command_on_chip().as_ns()) + read + write;
        let copies = block * copy + erase;
        TimeShare {
            more: counted
                .iter()
                .map(|&(_, request)| ShareTerm::new(request, [left, copies], block * (block - left)))
                .collect(),
            less: others.iter().map(|&(_, request)| ShareTerm::new(request, [copies, 1], block)).collect(),
        }
    }

    /// ν, Eq. (54): valid pages of a block when a random writer has chosen there for the last time;
    /// zero for a sequential one. `pending`: of all writers at one time, at most.
    fn left(&self, task: TaskId, request: Request, pending: u128) -> u64 {
        if request.access().is_consecutive() {
            return 0;
        }
        let blocks = u128::from(self.device.blocks_per_chip());
        let (pages, blocks) = match self.own_pages(task) {
            Some(pages) => (u128::from(pages), blocks * u128::from(self.device.chips())),
            None => (u128::from(self.device.logical_pages_per_chip()), blocks),
        };
        let level = pages.saturating_sub(pending).div_ceil(blocks).saturating_sub(1);
        capped(level).min(u64::from(self.device.pages_per_block()) - 1)
    }
}
