//! A chip with two page registers, looked at nanosecond by nanosecond.

use rtflash_exec::trace::{Action, JobId, Kind, Operation, Record};
use rtflash_model::Lpn;

use super::pages::At;
use super::processor::{BACKGROUND, Processor};
use super::{Stage, World, instant, waits_are_worst};

/// What a chip's array and cache register have in them.
#[derive(Debug, Default)]
pub struct Registers {
    /// Senses, until then; or has sensed, since long ago.
    sensed: Option<(Operation, u64)>,
    /// Programs for a job, until then.
    programmed: Option<(JobId, u64)>,
    /// On its way out.
    leaving: Option<JobId>,
    /// On its way in, or there.
    entering: Option<Operation>,
}

impl Registers {
    pub fn are_empty(&self) -> bool {
        self.sensed.is_none() && self.programmed.is_none() && self.leaving.is_none() && self.entering.is_none()
    }
}

impl Processor {
    fn parts(&mut self) -> &mut Registers {
        self.registers.as_mut().expect("two page registers")
    }

    /// What is over at this nanosecond makes room for what comes next.
    pub fn registers_change(&mut self, world: &mut World) {
        let (now, chip) = (world.now, self.chips[0]);
        let on_bus = |world: &World| world.chips[chip.index()].stage.is_some();
        if let Some(job) = self.parts().leaving.take_if(|_| !on_bus(world)) {
            self.page_over(world, job);
        }
        if let Some((job, _)) = self.parts().programmed.take_if(|(_, until)| *until == now) {
            self.page_over(world, job);
        }
        let registers = self.parts();
        let free = registers.leaving.is_none() && registers.entering.is_none();
        if let Some((operation, _)) = registers.sensed.take_if(|(_, until)| *until <= now && free) {
            registers.leaving = Some(operation.job);
            self.asks(world, operation);
        }
        let registers = self.parts();
        let idle = registers.programmed.is_none() && registers.sensed.is_none();
        if let Some(operation) = registers.entering.take_if(|_| idle && !on_bus(world)) {
            let until = now + world.lengths.programming(operation.job, chip, instant(now)).as_ns();
            world.chips[chip.index()].programs_until = until;
            registers.programmed = Some((operation.job, until));
        }
    }

    /// The page in the cache register asks for the bus.
    fn asks(&mut self, world: &mut World, operation: Operation) {
        let number = operation.chip.index();
        if !waits_are_worst(world) {
            world.chips[number].operation = Some(operation);
            world.chips[number].stage = Some(Stage::Waits { since: world.now });
            return;
        }
        let granted = world.now + (world.sharing(operation.chip.0) - 1) * world.hold();
        let until = granted + world.transfer(operation.job, operation.chip.0, granted);
        let end = if operation.action == Action::Program {
            let begun = until.max(world.chips[number].programs_until);
            begun + world.lengths.programming(operation.job, operation.chip, instant(begun)).as_ns()
        } else {
            until
        };
        world.records.push(Record::Operation(Operation { end: instant(end), ..operation }));
        world.chips[number].stage = Some(Stage::Works { until });
    }

    /// The first part begins its next step if it can; `false` where nothing may begin now.
    pub fn goes_on_with_registers(&mut self, world: &mut World, at: usize) -> bool {
        let Registers { sensed, programmed, leaving, entering } = self.parts();
        let (senses, programs) = (sensed.is_some(), programmed.is_some());
        let (leaves, enters) = (leaving.is_some(), entering.is_some());
        if self.queue[at].owes {
            let can = !senses && !programs && !leaves && !enters;
            if can {
                self.go_on_with_pass(world, at);
            }
            return can;
        }
        if !self.queue[at].reads.is_empty() {
            if senses || programs || enters {
                return false;
            }
            let lpn = self.queue[at].reads.remove(0);
            let place = self.pages.locate(lpn);
            let operation = self.page(world, at, Action::Read, place, lpn);
            let takes = world.lengths.sensing(operation.job, operation.chip, world.at()).as_ns();
            self.parts().sensed = Some((operation, world.now + takes));
            return true;
        }
        if senses || leaves || enters {
            return false;
        }
        let background = self.queue[at].deadline >= BACKGROUND;
        if background && !self.reserve_is_there(world, 1) {
            return false;
        }
        let lpn = self.queue[at].writes[0];
        let Some(place) = self.pages.program(lpn) else {
            self.starve(world, at);
            return true;
        };
        self.queue[at].writes.remove(0);
        match self.queue[at].kind {
            Kind::Write => self.pending -= 1,
            _ if !background => self.served += 1,
            _ => {}
        }
        let server = self.queue[at].kind == Kind::Server && !background;
        self.queue[at].owes = server && self.server_due(world);
        let operation = self.page(world, at, Action::Program, place, lpn);
        self.parts().entering = Some(operation);
        self.asks(world, operation);
        true
    }

    fn page(&mut self, world: &World, at: usize, action: Action, place: At, lpn: Lpn) -> Operation {
        let part = &mut self.queue[at];
        part.starved = false;
        let (id, kind) = (part.id, part.kind);
        self.operation(world.now, id, kind, action, place, lpn)
    }
}
