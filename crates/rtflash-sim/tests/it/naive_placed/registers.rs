//! A chip with two page registers, looked at nanosecond by nanosecond.

use rtflash_model::Lpn;
use rtflash_trace::{Action, JobId, Kind, Operation, Record};

use super::pages::At;
use super::processor::{BACKGROUND, Processor};
use super::{Behind, Stage, World, instant, waits_are_worst};

/// The content of the array and the cache register of a processor's chips.
#[derive(Debug, Default)]
pub struct Registers {
    /// Senses, until then; or has sensed, since long ago.
    sensed: Option<(Operation, u64)>,
    /// Programs so many pages of a job, until then.
    programmed: Option<(JobId, usize, u64)>,
    /// Waits for its command.
    untold: Option<Operation>,
    /// On its way out; and since when it is on the bus, where no bus is looked at.
    leaving: Option<Operation>,
    on_bus: Option<u64>,
    /// A row on its way in, or there.
    entering: Vec<Operation>,
}

impl Registers {
    pub fn are_empty(&self) -> bool {
        let senses = self.sensed.is_some() || self.untold.is_some();
        !senses && self.programmed.is_none() && self.leaving.is_none() && self.entering.is_empty()
    }
}

impl Processor {
    fn parts(&mut self) -> &mut Registers {
        self.registers.as_mut().expect("two page registers")
    }

    /// Work that is over at this nanosecond makes room for the next one.
    pub fn registers_change(&mut self, world: &mut World) {
        let now = world.now;
        if let Some(read) = self.parts().untold
            && let Some(at) = world.told.iter().position(|(operation, _)| *operation == read)
        {
            self.parts().untold = None;
            self.parts().sensed = Some(world.told.remove(at));
        }
        let on_bus = |operation: &Operation| world.chips[operation.chip.index()].stage.is_some();
        let left = self.parts().leaving.take_if(|page| !on_bus(page));
        let is_there = !self.parts().entering.iter().any(on_bus);
        if let Some(page) = left {
            self.page_over(world, page.job);
        }
        if let Some((job, pages, _)) = self.parts().programmed.take_if(|(.., until)| *until == now) {
            (0..pages).for_each(|_| self.page_over(world, job));
        }
        let registers = self.parts();
        let free = registers.leaving.is_none() && registers.entering.is_empty();
        if let Some((operation, _)) = registers.sensed.take_if(|(_, until)| *until <= now && free) {
            registers.leaving = Some(operation);
            self.asks(world, operation);
        }
        let registers = self.parts();
        let idle = registers.programmed.is_none() && registers.sensed.is_none() && registers.untold.is_none();
        if idle && is_there && !registers.entering.is_empty() {
            let row = std::mem::take(&mut registers.entering);
            let end = |page: &Operation| now + world.lengths.programming(page.job, page.chip, instant(now)).as_ns();
            let ends: Vec<u64> = row.iter().map(end).collect();
            let last = ends.iter().copied().max().expect("a row");
            registers.programmed = Some((row[0].job, row.len(), last));
            for (page, end) in row.into_iter().zip(ends) {
                world.records.push(Record::Operation(Operation { end: instant(end), ..page }));
            }
        }
    }

    /// A page in the cache register asks for the bus.
    fn asks(&mut self, world: &mut World, operation: Operation) {
        let number = operation.chip.index();
        world.chips[number].through_registers = true;
        if !waits_are_worst(world) {
            world.chips[number].operation = Some(operation);
            world.chips[number].stage = Some(Stage::Waits { since: world.now });
            return;
        }
        let program = operation.action == Action::Program;
        let granted = world.now + self.longest_wait(world, operation) + if program { world.command() } else { 0 };
        self.parts().on_bus = Some(granted);
        let until = granted + world.transfer(operation.job, operation.chip.0, granted);
        if !program {
            world.records.push(Record::Operation(Operation { end: instant(until), ..operation }));
        }
        world.chips[number].stage = Some(Stage::Works { until });
    }

    /// The longest wait of a request: beside a page that is read the processor's others are silent.
    fn longest_wait(&self, world: &World, operation: Operation) -> u64 {
        let channel = |chip: u32| world.plan.device().channel_of(chip);
        let own = self.chips.iter().filter(|chip| channel(chip.0) == channel(operation.chip.0)).count() as u64;
        let own = if operation.action == Action::Program { 1 } else { own };
        (world.sharing(operation.chip.0) - own) * world.hold()
    }

    /// A read is told, where commands are counted: with the page that waits on its channel, or by
    /// itself.
    fn tells(&mut self, world: &mut World, operation: Operation) {
        if waits_are_worst(world) {
            let told = world.now + self.longest_wait(world, operation) + world.command();
            let takes = world.lengths.sensing(operation.job, operation.chip, instant(told)).as_ns();
            self.parts().sensed = Some((operation, told + takes));
            return;
        }
        let channel = |operation: &Operation| world.plan.device().channel_of(operation.chip.0);
        self.parts().untold = Some(operation);
        if let Some(page) = self.parts().leaving.filter(|page| channel(page) == channel(&operation)) {
            world.chips[page.chip.index()].carries = Some(operation);
            return;
        }
        let chip = &mut world.chips[operation.chip.index()];
        (chip.operation, chip.behind) = (Some(operation), Some(Behind::Told));
        chip.stage = Some(Stage::Waits { since: world.now });
    }

    /// Whether the page that leaves is on the bus.
    fn is_on_bus(&mut self, world: &World) -> bool {
        let since = self.parts().on_bus;
        let Some(page) = self.parts().leaving else { return false };
        if waits_are_worst(world) {
            return since.is_some_and(|since| world.now > since);
        }
        matches!(world.chips[page.chip.index()].stage, Some(Stage::Transfers { .. }))
    }

    /// The first part begins its next step if it can; `false` where nothing may begin now.
    pub fn goes_on_with_registers(&mut self, world: &mut World, at: usize) -> bool {
        let on_bus = self.is_on_bus(world);
        let Registers { sensed, untold, programmed, leaving, entering, .. } = self.parts();
        let (senses, programs) = (sensed.is_some() || untold.is_some(), programmed.is_some());
        let (leaves, enters) = (leaving.is_some(), !entering.is_empty());
        if self.queue[at].owes {
            let can = !senses && !programs && !leaves && !enters;
            if can {
                self.go_on_with_pass(world, at);
            }
            return can;
        }
        if !self.queue[at].reads.is_empty() {
            if senses || programs || enters || world.command() > 0 && on_bus {
                return false;
            }
            let lpn = self.queue[at].reads.remove(0);
            let Some(place) = self.pages.locate(lpn) else {
                self.reads_nothing(world, at, lpn);
                return true;
            };
            let operation = self.page(world, at, Action::Read, place, lpn);
            if world.command() > 0 {
                self.tells(world, operation);
                return true;
            }
            let takes = world.lengths.sensing(operation.job, operation.chip, world.at()).as_ns();
            self.parts().sensed = Some((operation, world.now + takes));
            return true;
        }
        if senses || leaves || enters {
            return false;
        }
        let background = self.queue[at].deadline >= BACKGROUND;
        let wanted = self.queue[at].writes.len().min(self.chips.len());
        if background && !self.reserve_is_there(wanted as u64) {
            return false;
        }
        for _ in 0..wanted {
            let lpn = self.queue[at].writes[0];
            let Some(place) = self.pages.program(lpn) else { break };
            self.queue[at].writes.remove(0);
            match self.queue[at].kind {
                Kind::Write => self.pending -= 1,
                _ if !background => self.served += 1,
                _ => {}
            }
            let operation = self.page(world, at, Action::Program, place, lpn);
            self.parts().entering.push(operation);
            self.asks(world, operation);
        }
        let server = self.queue[at].kind == Kind::Server && !background;
        self.queue[at].owes = server && self.server_due();
        if self.parts().entering.is_empty() {
            self.starve(world, at);
        }
        true
    }

    fn page(&mut self, world: &World, at: usize, action: Action, place: At, lpn: Lpn) -> Operation {
        let part = &mut self.queue[at];
        part.starved = false;
        let (id, kind) = (part.id, part.kind);
        self.operation(world.now, id, kind, action, place, lpn)
    }
}
