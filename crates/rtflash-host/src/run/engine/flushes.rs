//! Flushes of the device's volatile cache, as block/blk-flush.c (6.12.117) has them.
//!
//! A hardware queue does one flush at a time (`blk_kick_flush`). Flushes that come meanwhile wait,
//! and the next one is for all of them. A flush goes to the device ahead of all that waits at the
//! scheduler (`blk_mq_insert_request` of block/blk-mq.c).

use rtflash_model::{Instant, Span};

use super::{HostEngine, Io};
use crate::run::device::Handed;
use crate::run::watch::{RunEvent, Watch};
use crate::{Command, Op};

/// The time after which a flush waits for no data (`FLUSH_PENDING_TIMEOUT`).
const PENDING_TIMEOUT: Span = Span::from_us(5_000_000);

/// The flushes of a hardware queue.
#[derive(Debug, Default)]
pub(super) struct FlushQueue {
    /// I/Os that wait for a flush that has not been issued, with the time at which they came.
    pending: Vec<(u64, Instant)>,
    /// The command of the one that was issued.
    running: Option<u64>,
    /// Writes that have a flush behind them, and have not ended (`flush_data_in_flight`).
    data: u32,
}

impl<W: Watch> HostEngine<'_, W> {
    /// The hardware queue of an I/O of this job.
    fn flush_queue(&self, job: usize) -> usize {
        self.scenario.jobs[job].cpu as usize % self.flushes.len()
    }

    /// A job flushes the cache: a chain that comes to such a step, or a place of the job.
    pub(super) fn flush_cache(&mut self, job: usize, chain: Option<u64>) {
        let (op, released) = (Op::Other, self.now);
        let flush = Io { job, released, op, bytes: 0, left: 0, begun: false, chain, fua: false, flushes: false };
        let io = self.begin_io(flush);
        self.wait_for_flush(job, io);
    }

    /// Whether a place of a job flushes now that its write has ended.
    pub(super) fn flushes_after(&mut self, job: usize) -> bool {
        let of = &self.scenario.jobs[job];
        let has_work = self.scenario.device.has_cache() || of.is_buffered;
        let Some(every) = of.fsync.filter(|_| has_work) else { return false };
        let writes = &mut self.progress[job].written;
        *writes += 1;
        writes.is_multiple_of(u64::from(every)) && !self.has_planned_all(job)
    }

    /// A write that ends when the medium has it is on its way.
    pub(super) fn begin_fua(&mut self, job: usize) {
        if self.scenario.device.has_cache() && !self.scenario.device.has_fua() {
            let queue = self.flush_queue(job);
            self.flushes[queue].data += 1;
        }
    }

    /// The data of such a write has ended. Says whether a flush is to follow: one does on a device
    /// with a cache through which no write goes (`blk_insert_flush`).
    pub(super) fn flushes_behind(&mut self, job: usize, io: u64) -> bool {
        let follows = self.scenario.device.has_cache() && !self.scenario.device.has_fua();
        if follows {
            let queue = self.flush_queue(job);
            self.flushes[queue].data -= 1;
            self.wait_for_flush(job, io);
        }
        follows
    }

    /// An I/O waits for the next flush.
    pub(super) fn wait_for_flush(&mut self, job: usize, io: u64) {
        if let Some(io) = self.ios.get_mut(&io) {
            io.left = 1;
        }
        let queue = self.flush_queue(job);
        self.flushes[queue].pending.push((io, self.now));
        self.kick_flush(queue);
    }

    /// Issues the next flush of a queue, if it can be issued now.
    fn kick_flush(&mut self, queue: usize) {
        let of = &mut self.flushes[queue];
        let Some(&(first, since)) = of.pending.first().filter(|_| of.running.is_none()) else { return };
        if of.data > 0 && self.now.since(since) < PENDING_TIMEOUT {
            return;
        }
        let id = self.next_command;
        self.next_command += 1;
        of.running = Some(id);
        let ios: Vec<u64> = of.pending.drain(..).map(|(io, _)| io).collect();
        let job = self.ios[&first].job;
        let of = &self.scenario.jobs[job];
        let number = u32::try_from(job).expect("a job has a number of 32 bits (invariant)");
        let command = Command {
            id,
            op: Op::Other,
            from: 0,
            size: 0,
            class: of.class,
            level: of.level,
            cpu: of.cpu,
            job: number,
            user_centric: of.user_centric,
        };
        self.watch.see(self.now, &RunEvent::Queued { io: first, command: &command });
        self.io_of.insert(id, first);
        self.merged.insert(id, ios[1..].to_vec());
        let handed = Handed { command, is_first: true, queue: of.cpu as usize, fua: false };
        if !self.put_ahead(handed) {
            self.due.push_back(handed);
        }
    }

    /// The flush that is due, if one is: it goes to the device.
    pub(super) fn due_flush(&mut self) -> Option<Handed> {
        let handed = self.due.pop_front()?;
        self.watch.see(self.now, &RunEvent::HandedOver(&handed.command));
        Some(handed)
    }

    /// A flush has ended.
    pub(super) fn end_flush(&mut self, command: &Command) {
        self.watch.see(self.now, &RunEvent::Ended(command));
        let ended = self.flushes.iter().position(|of| of.running == Some(command.id));
        let queue = ended.expect("the flush of a queue (invariant)");
        self.flushes[queue].running = None;
        let first = self.io_of.remove(&command.id);
        for io in first.into_iter().chain(self.merged.remove(&command.id).into_iter().flatten()) {
            self.part(Some(io));
        }
        self.kick_flush(queue);
    }
}
