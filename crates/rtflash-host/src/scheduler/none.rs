//! Linux's `none`: in order of arrival.

use std::collections::VecDeque;

use rtflash_model::Instant;

use super::Scheduler;
use crate::Command;

/// First come, first served.
#[derive(Debug, Default)]
pub struct Noop(VecDeque<Command>);

impl Scheduler for Noop {
    fn insert(&mut self, command: Command, _: Instant) {
        self.0.push_back(command);
    }

    fn ask(&mut self, _: Instant) -> Option<Command> {
        self.0.pop_front()
    }

    fn merges(&self, queued: &Command, request: &Command) -> bool {
        // Each core has a list of its own.
        queued.cpu == request.cpu
    }

    fn completed(&mut self, _: &Command, _: Instant) {}
}
