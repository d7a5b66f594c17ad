//! The host asks the scheduler for commands, and hands them to the device.

use super::HostEngine;
use crate::run::device::Handed;
use crate::run::watch::{RunEvent, Watch};

impl<W: Watch> HostEngine<'_, W> {
    /// Asks until nothing comes, or there is no room.
    pub(super) fn ask(&mut self) {
        if self.run_card(None) {
            // A process whose run is over can have more to submit.
            while self.tags.has_running() {
                self.admit(false);
                self.run_card(None);
            }
            return;
        }
        while self.device.has_room() {
            let Some(handed) = self.hand_over() else {
                if !self.asks_at_ends && self.queued > 0 {
                    // A delay that runs is kept (`blk_mq_delay_run_hw_queues`). The run at a
                    // completion has ended it (`blk_mq_sched_restart`), that at an arrival has not.
                    self.retry.get_or_insert(self.scenario.host.retry(self.now));
                }
                break;
            };
            self.device.take(handed, self.now);
        }
        self.restarts |= !self.device.has_room();
    }

    /// Asks once.
    pub(super) fn hand_over(&mut self) -> Option<Handed> {
        if let Some(flush) = self.due_flush() {
            return Some(flush);
        }
        if let Some(foresight) = &self.foresight {
            self.scheduler.foresee(foresight.earliest(self.now));
        }
        let command = self.scheduler.ask(self.now)?;
        let command = self.merger.as_mut().and_then(|merger| merger.take(command.id)).unwrap_or(command);
        let is_part = self.left.get_mut(&command.id).is_some_and(|(unhanded, _)| {
            *unhanded = unhanded.saturating_sub(command.size);
            *unhanded > 0
        });
        self.queued -= usize::from(!is_part);
        let seen = if is_part { RunEvent::PartHandedOver(&command) } else { RunEvent::HandedOver(&command) };
        self.watch.see(self.now, &seen);
        let (mut is_first, mut fua) = (false, false);
        for number in self.io_of.get(&command.id).into_iter().chain(self.merged.get(&command.id).into_iter().flatten())
        {
            let io = self.ios.get_mut(number);
            fua |= io.as_ref().is_some_and(|io| io.fua);
            is_first |= io.is_none_or(|io| !std::mem::replace(&mut io.begun, true));
        }
        let queue = self.scheduler.queue(&command, self.device.unfetched());
        Some(Handed { command, is_first, queue, fua: fua && self.scenario.device.has_fua() })
    }
}
