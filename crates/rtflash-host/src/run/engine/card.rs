//! The driver of an MMC card without command queueing, as Linux 6.12.117 has it.
//!
//! A run of the queue (`blk_mq_sched_dispatch_requests` of block/blk-mq-sched.c) takes commands
//! from the scheduler into a list and issues them one by one. It waits in the driver until the
//! command before has ended (`mmc_blk_rw_wait` of drivers/mmc/core/block.c). A run that comes
//! meanwhile finds the driver busy (`mmc_mq_queue_rq` of drivers/mmc/core/queue.c) and puts its
//! list aside. A process runs the queue itself once it has submitted (`__submit_bio` of
//! block/blk-core.c ends its plug), and goes on when its run is over. A worker has all other runs.

use std::collections::VecDeque;

use super::HostEngine;
use super::tags::Submitter;
use crate::run::device::{Attach, Handed};
use crate::run::watch::{RunEvent, Watch};
use crate::scheduler::SchedulerSettings;

/// The state that all runs of the queue share.
#[derive(Debug, Default)]
pub(super) struct Card {
    /// Commands that were put aside (`hctx->dispatch`).
    aside: VecDeque<Handed>,
    /// Without a scheduler: commands behind one that was put aside (`rq_lists` of
    /// `struct blk_mq_ctx`).
    software: VecDeque<Handed>,
    /// The run that waits in the driver (`busy` of `struct mmc_queue`).
    waiting: Option<QueueRun>,
    /// Whether the card has a command.
    is_running: bool,
    /// Whether the next end runs the queue for commands that were put aside
    /// (`BLK_MQ_S_SCHED_RESTART`), or as the scheduler runs it itself.
    restarts: bool,
    is_kicked: bool,
    /// Whether the worker is to run, at once or when its present run is over.
    worker: bool,
    /// An average of how often lists were put aside (`blk_mq_update_dispatch_busy` of
    /// block/blk-mq.c): above zero, a list has one command.
    busy: u32,
}

/// A process runs the queue; `is_own`: for what it has submitted.
#[derive(Debug, Clone, Copy)]
pub(super) struct CardRun {
    pub(super) submitter: Submitter,
    pub(super) is_own: bool,
}

/// A run of the queue.
#[derive(Debug, Default)]
struct QueueRun {
    list: VecDeque<Handed>,
    /// The process that runs it; `None` for the worker.
    by: Option<Submitter>,
    /// Whether a process issues commands of its own.
    is_direct: bool,
    /// Whether its list is the last one.
    is_last: bool,
    /// Whether it has turned once more to what was put aside.
    is_second: bool,
    /// Whether it began with commands that were put aside.
    is_aside: bool,
    /// Whether it takes commands from the software queue one by one, once that is known.
    is_single: Option<bool>,
}

impl Card {
    /// Whether a process waits in the driver.
    pub(super) fn holds(&self, submitter: Submitter) -> bool {
        self.waiting.as_ref().is_some_and(|run| run.by == Some(submitter))
    }

    /// A run that begins with commands that were put aside. The next end then runs the queue.
    fn run(&mut self, by: Option<Submitter>) -> QueueRun {
        let mut run = QueueRun { by, ..QueueRun::default() };
        self.put_back(&mut run);
        run
    }

    fn put_back(&mut self, run: &mut QueueRun) {
        run.is_aside = !self.aside.is_empty();
        self.restarts |= run.is_aside;
        run.list = std::mem::take(&mut self.aside);
    }

    /// A list was put aside (`blk_mq_update_dispatch_busy`).
    fn found_busy(&mut self) {
        self.busy = (self.busy * 7 + 16) / 8;
    }

    /// Commands that a list can have where none was put aside: one more than there are tags is out
    /// of the scheduler at most.
    fn most(&self) -> usize {
        if self.busy > 0 { 1 } else { Attach::MMC_TAGS as usize + usize::from(!self.is_running) }
    }
}

impl<W: Watch> HostEngine<'_, W> {
    /// The worker is to run, behind whatever runs.
    pub(super) fn run_by_worker(&mut self) {
        if let Some(card) = &mut self.card
            && (self.queued > 0 || !card.aside.is_empty() || !card.software.is_empty())
        {
            card.worker = true;
            self.retry = None;
        }
    }

    /// A process sleeps, and leaves what was in its plug to the worker: without a scheduler in the
    /// software queue (`blk_mq_insert_requests` of block/blk-mq.c).
    pub(super) fn leave_to_worker(&mut self) {
        if let Some(mut card) = self.card.take() {
            if !self.has_scheduler() {
                card.software.extend(std::iter::from_fn(|| self.hand_over()));
            }
            self.card = Some(card);
        }
        self.run_by_worker();
    }

    /// A flush goes to the front of what was put aside, if there is a card, and the worker runs for
    /// it (`blk_mq_requeue_work` of block/blk-mq.c). Says whether there is one.
    pub(super) fn put_ahead(&mut self, handed: Handed) -> bool {
        let Some(card) = &mut self.card else { return false };
        card.aside.push_front(handed);
        self.watch.see(self.now, &RunEvent::HandedOver(&handed.command));
        self.run_by_worker();
        true
    }

    /// The card's command has ended.
    pub(super) fn card_ended(&mut self) {
        if let Some(card) = &mut self.card {
            card.is_running = false;
            if std::mem::take(&mut card.restarts) | std::mem::take(&mut card.is_kicked) {
                self.run_by_worker();
            }
        }
    }

    /// All runs of the queue that are due go on, until they are over or wait in the driver: that of
    /// a process, too. Says whether there is a card.
    pub(super) fn run_card(&mut self, process: Option<CardRun>) -> bool {
        let Some(mut card) = self.card.take() else { return false };
        if let Some(run) = card.waiting.take_if(|_| !card.is_running) {
            self.continue_run(&mut card, run);
        }
        if let Some(CardRun { submitter, is_own }) = process {
            let run = if self.has_scheduler() || !is_own {
                card.run(Some(submitter))
            } else {
                let list = std::iter::from_fn(|| self.hand_over()).collect();
                QueueRun { list, by: Some(submitter), is_direct: true, is_last: true, ..QueueRun::default() }
            };
            self.continue_run(&mut card, run);
        }
        // A process that goes on comes before the worker.
        while !self.tags.has_running()
            && card.waiting.as_ref().is_none_or(|run| run.by.is_some())
            && std::mem::take(&mut card.worker)
        {
            let run = card.run(None);
            self.continue_run(&mut card, run);
        }
        self.card = Some(card);
        // A process that went on can have caused a flush.
        if let Some(flush) = self.due.pop_front() {
            self.put_ahead(flush);
            return self.run_card(None);
        }
        true
    }

    /// Without a scheduler, a process issues what it has submitted itself
    /// (`blk_mq_plug_issue_direct` of block/blk-mq.c).
    fn has_scheduler(&self) -> bool {
        !matches!(self.scenario.scheduler, SchedulerSettings::None)
    }

    /// A run goes on until it is over or waits in the driver.
    fn continue_run(&mut self, card: &mut Card, mut run: QueueRun) {
        loop {
            if run.list.is_empty() && !run.is_last {
                self.fill(card, &mut run);
            }
            if run.list.is_empty() {
                break;
            }
            if card.waiting.is_some() {
                if run.is_direct {
                    self.cannot_issue(card, &mut run.list);
                }
                self.put_aside(card, run.list);
                break;
            }
            if card.is_running {
                card.waiting = Some(run);
                return;
            }
            let handed = run.list.pop_front().expect("the list has a command");
            self.device.take(handed, self.now);
            card.is_running = true;
            // The last command of a list counts (`blk_mq_dispatch_rq_list`).
            if run.list.is_empty() {
                card.busy = card.busy * 7 / 8;
            }
        }
        match run.by {
            // It has more to submit.
            Some(submitter) if self.tags.resume(submitter) => {}
            Some(Submitter::Job(job)) => self.reap(job),
            Some(Submitter::Io(io)) => self.see_end(io),
            None => {}
        }
    }

    /// The next list of a run: commands that were put aside, else those that the scheduler gives
    /// (`__blk_mq_do_dispatch_sched` of block/blk-mq-sched.c).
    fn fill(&mut self, card: &mut Card, run: &mut QueueRun) {
        let is_single = *run.is_single.get_or_insert(run.is_aside || card.busy > 0);
        if !card.aside.is_empty() && if self.has_scheduler() { self.queued > 0 } else { is_single } {
            if std::mem::replace(&mut run.is_second, true) {
                (card.worker, self.retry) = (true, None);
            } else {
                card.put_back(run);
            }
            return;
        }
        if !self.has_scheduler() {
            card.software.extend(std::iter::from_fn(|| self.hand_over()));
            // One by one behind others (`blk_mq_do_dispatch_ctx`), else all
            // (`blk_mq_flush_busy_ctxs`), and no more.
            let most = if is_single { card.software.len().min(1) } else { card.software.len() };
            run.list = card.software.drain(..most).collect();
            run.is_last = !is_single;
            return;
        }
        let most = card.most();
        while self.queued > 0 && run.list.len() < most {
            let Some(handed) = self.hand_over() else {
                card.is_kicked |= self.scheduler.kicks_queue();
                if run.list.is_empty() && !card.worker {
                    self.retry.get_or_insert(self.scenario.host.retry(self.now));
                }
                return;
            };
            run.list.push_back(handed);
        }
    }

    /// A process that issues by itself finds the driver busy. It leaves all but the first command
    /// to the software queue, and runs the queue in vain (`blk_mq_plug_issue_direct`,
    /// `blk_mq_insert_requests` of block/blk-mq.c).
    fn cannot_issue(&self, card: &mut Card, list: &mut VecDeque<Handed>) {
        card.found_busy();
        card.software.extend(list.split_off(1));
        card.restarts = true;
    }

    /// The driver is busy (`blk_mq_dispatch_rq_list` of block/blk-mq.c). The worker runs at once,
    /// or, if the next end runs the queue anyway, 3 ms later at the latest.
    fn put_aside(&mut self, card: &mut Card, list: VecDeque<Handed>) {
        card.aside.extend(list);
        card.found_busy();
        card.worker = !card.restarts;
        self.retry = card.restarts.then(|| self.scenario.host.retry(self.now));
    }
}
