//! The drive at the pace of the clock.

use std::collections::{HashMap, HashSet};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant as WallTime};

use rtflash_model::{Instant, Span, capped};

use super::session::{CommandForDrive, Ended, ForDrive};
use crate::drive::{ClientCommand, Drive, DriveError, ServedRun};
use crate::nbd::{EINVAL, EPERM};

/// How long the clock waits at most before it looks whether all is over.
const LOOK: Duration = Duration::from_millis(20);
/// Commands that are taken at one instant: the rest comes a little later.
const AT_ONCE: usize = 1_024;

#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    began: WallTime,
    slow: u64,
}

impl Pace {
    /// Everything takes `slow` times as long; time begins now.
    pub(super) fn new(slow: u32) -> Pace {
        Pace { began: WallTime::now(), slow: u64::from(slow.max(1)) }
    }

    fn since(self) -> Duration {
        self.began.elapsed()
    }

    fn now(self) -> Instant {
        let ns = capped(self.since().as_nanos()) / self.slow;
        Instant::from_ns(ns).unwrap_or(Instant::END)
    }

    fn on_clock(self, span: Span) -> Duration {
        Duration::from_nanos(span.as_ns().saturating_mul(self.slow))
    }
}

#[derive(Debug)]
pub(super) struct ClockedRun {
    pub(super) run: ServedRun,
    pub(super) refused: u64,
    pub(super) behind: Duration,
    pub(super) overloaded: bool,
}

pub(super) struct DriveClock<'a> {
    drive: Drive<'a>,
    pace: Pace,
    asked: Receiver<ForDrive>,
    /// By the number of a command, with the client's.
    waiting: HashMap<u64, (usize, Ended)>,
    next_ticket: u64,
    last: Instant,
    behind: Span,
    refused: u64,
    // Kept for their memory.
    over: Vec<u64>,
    coming: Vec<(u64, ClientCommand)>,
}

impl<'a> DriveClock<'a> {
    pub(super) fn new(drive: Drive<'a>, pace: Pace, asked: Receiver<ForDrive>) -> DriveClock<'a> {
        DriveClock {
            drive,
            pace,
            asked,
            waiting: HashMap::new(),
            next_ticket: 0,
            last: Instant::START,
            behind: Span::ZERO,
            refused: 0,
            over: Vec::new(),
            coming: Vec::new(),
        }
    }

    /// Goes on until `is_over` says so of the time that has gone by, or more is pending than can be
    /// kept.
    pub(super) fn run(mut self, is_over: &dyn Fn(Duration) -> bool) -> ClockedRun {
        let mut overloaded = false;
        while !overloaded && !is_over(self.pace.since()) {
            self.go_on_to(self.pace.now());
            self.wait();
            overloaded = self.drive.is_overloaded();
        }
        let (run, behind) = (self.drive.finish(self.pace.now()), self.pace.on_clock(self.behind));
        ClockedRun { run, refused: self.refused, behind, overloaded }
    }

    /// All that happens on the device up to then.
    fn go_on_to(&mut self, limit: Instant) {
        while let Some(next) = self.drive.next_instant().filter(|&next| next <= limit) {
            self.behind = self.behind.max(self.pace.now().since(next));
            self.step(next);
        }
    }

    /// Waits for the next command, or for what is next on the device, and hands over what has come.
    fn wait(&mut self) {
        let next = self.drive.next_instant().map(|next| self.pace.on_clock(next.since(self.pace.now())));
        let first = match self.asked.recv_timeout(next.unwrap_or(LOOK).min(LOOK)) {
            Ok(first) => first,
            Err(RecvTimeoutError::Timeout) => return,
            // Every sender is gone: the server ends soon.
            Err(RecvTimeoutError::Disconnected) => return std::thread::sleep(LOOK),
        };
        // Commands that came while the device was behind come when it no longer is.
        let now = self.pace.now();
        self.go_on_to(now);
        self.take(first);
        while self.coming.len() < AT_ONCE
            && let Ok(asked) = self.asked.try_recv()
        {
            self.take(asked);
        }
        self.step(now.max(self.last.saturating_add(Span::NANOSECOND)));
    }

    fn take(&mut self, asked: ForDrive) {
        match asked {
            ForDrive::Command(CommandForDrive { client, command, ended }) => {
                self.coming.push((self.next_ticket, command));
                self.waiting.insert(self.next_ticket, (client, ended));
                self.next_ticket += 1;
            }
            ForDrive::Gone(client) => self.withdraw(client),
        }
    }

    /// A client has gone: what it asked and has not left for the device is over.
    fn withdraw(&mut self, client: usize) {
        let of_client = self.waiting.iter().filter(|(_, (of, _))| *of == client);
        let tickets: HashSet<u64> = of_client.map(|(&ticket, _)| ticket).collect();
        self.coming.retain(|(ticket, _)| !tickets.contains(ticket));
        let mut over = Vec::new();
        self.drive.withdraw(&tickets, &mut over);
        // Operations on the device end there, without an answer.
        for ticket in tickets {
            self.waiting.remove(&ticket);
        }
    }

    fn step(&mut self, now: Instant) {
        self.last = now;
        let coming = std::mem::take(&mut self.coming);
        if let Err(refused) = self.drive.step(now, &coming, &mut self.over) {
            self.refused += refused.len() as u64;
            for (ticket, why) in refused {
                let error = match why {
                    DriveError::NotDeclared => EPERM,
                    DriveError::NoSuchPages | DriveError::OutOfOrder | DriveError::NotTrimmed => EINVAL,
                };
                self.waiting.remove(&ticket).into_iter().for_each(|(_, ended)| ended.tell(error));
            }
        }
        for ticket in self.over.drain(..) {
            self.waiting.remove(&ticket).into_iter().for_each(|(_, ended)| ended.tell(0));
        }
        self.coming = coming;
        self.coming.clear();
    }
}
