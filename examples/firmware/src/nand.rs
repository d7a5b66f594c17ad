//! A NAND device in memory, in virtual time: what each page holds, what each chip does, and buses
//! that are first come, first served.

use rtflash_ftl::image::ImageDevice;
use rtflash_ftl::{BusQueue, FlashPage, NONE, NandChips, OperationPurpose, SpareBytes};

/// Chips of a device at most.
pub const MOST_CHIPS: usize = 64;

/// Operations that a chip begins at one instant at most: its array, and its cache register.
const MOST_ORDERS: usize = 2 * MOST_CHIPS;

/// An action on a chip.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Read,
    Program,
    Erase,
    /// An erase that is suspended; in an order, what suspends one.
    ErasePart,
    /// An order to go on with an erase.
    Resume,
    /// Orders to chips that use two page registers.
    Sense,
    Send,
    Load,
    ProgramLoaded,
}

/// An operation that has been asked for.
#[derive(Clone, Copy)]
pub struct Asked {
    pub chip: u32,
    pub action: Action,
    pub at: FlashPage,
    /// The target of a copy inside the chip.
    pub to: Option<FlashPage>,
    pub lpn: u32,
    pub collects: bool,
    /// The chip whose page the command of a read goes with.
    pub with: Option<u32>,
}

impl Asked {
    /// An action that needs a chip alone.
    fn of_chip(chip: u32, action: Action) -> Asked {
        let at = FlashPage { block: NONE, page: NONE };
        Asked { chip, action, at, to: None, lpn: NONE, collects: false, with: None }
    }
}

/// Operations that have been asked for and not begun: so that what the firmware takes is measured
/// without the device.
pub struct Orders {
    orders: [Option<Asked>; MOST_ORDERS],
    count: usize,
}

impl Orders {
    pub const fn new() -> Orders {
        Orders { orders: [None; MOST_ORDERS], count: 0 }
    }

    fn push(&mut self, asked: Asked) {
        self.orders[self.count] = Some(asked);
        self.count += 1;
    }

    pub fn count(&self) -> usize {
        self.count
    }

    pub fn take(&mut self) -> impl Iterator<Item = Asked> + '_ {
        let count = core::mem::take(&mut self.count);
        self.orders[..count].iter_mut().filter_map(Option::take)
    }
}

impl NandChips for Orders {
    fn read(&mut self, chip: u32, at: FlashPage, lpn: u32, purpose: OperationPurpose) {
        let collects = purpose == OperationPurpose::Collection;
        self.push(Asked { chip, action: Action::Read, at, to: None, lpn, collects, with: None });
    }

    fn program(&mut self, chip: u32, at: FlashPage, spare: SpareBytes, purpose: OperationPurpose) {
        let collects = purpose == OperationPurpose::Collection;
        self.push(Asked { chip, action: Action::Program, at, to: None, lpn: spare.lpn, collects, with: None });
    }

    fn copyback(&mut self, chip: u32, from: FlashPage, to: FlashPage, spare: SpareBytes) {
        self.push(Asked {
            chip,
            action: Action::Read,
            at: from,
            to: Some(to),
            lpn: spare.lpn,
            collects: true,
            with: None,
        });
    }

    fn erase(&mut self, chip: u32, block: u32, purpose: OperationPurpose) {
        let collects = purpose == OperationPurpose::Collection;
        let at = FlashPage { block, page: NONE };
        self.push(Asked { chip, action: Action::Erase, at, to: None, lpn: NONE, collects, with: None });
    }

    fn suspend(&mut self, chip: u32) {
        let at = FlashPage { block: NONE, page: NONE };
        self.push(Asked { chip, action: Action::ErasePart, at, to: None, lpn: NONE, collects: true, with: None });
    }

    fn resume(&mut self, chip: u32, block: u32) {
        let at = FlashPage { block, page: NONE };
        self.push(Asked { chip, action: Action::Resume, at, to: None, lpn: NONE, collects: true, with: None });
    }

    fn sense(&mut self, chip: u32, at: FlashPage, lpn: u32, _: OperationPurpose, with: Option<u32>) {
        self.push(Asked { at, lpn, with, ..Asked::of_chip(chip, Action::Sense) });
    }

    fn send(&mut self, chip: u32) {
        self.push(Asked::of_chip(chip, Action::Send));
    }

    fn load(&mut self, chip: u32, at: FlashPage, spare: SpareBytes, _: OperationPurpose) {
        self.push(Asked { at, lpn: spare.lpn, ..Asked::of_chip(chip, Action::Load) });
    }

    fn program_loaded(&mut self, chip: u32) {
        self.push(Asked::of_chip(chip, Action::ProgramLoaded));
    }
}

/// An operation that has begun.
#[derive(Clone, Copy)]
struct Work {
    asked: Asked,
    start: u64,
    /// Whether its command has been on the bus, where commands are counted.
    is_told: bool,
}

/// An operation that is over.
pub struct Done {
    pub chip: u32,
    pub start: u64,
    pub end: u64,
    pub action: Action,
    pub at: FlashPage,
    pub lpn: u32,
    pub collects: bool,
}

/// The contents of the two page registers of a chip, each with the instant at which that is sensed
/// or has been moved: [`NEVER`] while it is not known.
#[derive(Clone, Copy, Default)]
struct Registers {
    array: Option<(Work, u64)>,
    cache: Option<(Work, u64)>,
    /// The chip whose page the command of a read goes with.
    with: Option<u32>,
}

/// Chips and buses.
pub struct Nand<'m> {
    device: ImageDevice,
    /// The content of each page; [`NONE`] for an erased one.
    pages: &'m mut [u32],
    work: [Option<Work>; MOST_CHIPS],
    ends: [u64; MOST_CHIPS],
    /// The rest of erases that are suspended, or are being suspended.
    left: [u64; MOST_CHIPS],
    buses: [Option<BusQueue<'m>>; MOST_CHIPS],
    free_at: [u64; MOST_CHIPS],
    registers: [Registers; MOST_CHIPS],
    /// A bit for each chip that sends a page which has just been granted its bus.
    granted: u64,
    pub now: u64,
}

const NEVER: u64 = u64::MAX;

impl<'m> Nand<'m> {
    /// The device with pages that hold what they hold, and memory for its buses: an entry a chip.
    pub fn new(device: ImageDevice, pages: &'m mut [u32], waiting: &'m mut [(u64, u32)]) -> Nand<'m> {
        let mut buses = [const { None }; MOST_CHIPS];
        for (bus, memory) in buses.iter_mut().zip(waiting.chunks_mut(device.chips_per_channel as usize)) {
            *bus = Some(BusQueue::new(memory));
        }
        let (work, ends, free_at) = ([None; MOST_CHIPS], [NEVER; MOST_CHIPS], [0; MOST_CHIPS]);
        let (left, registers) = ([0; MOST_CHIPS], [Registers::default(); MOST_CHIPS]);
        Nand { device, pages, work, ends, left, buses, free_at, registers, granted: 0, now: 0 }
    }

    fn page(&mut self, chip: u32, at: FlashPage) -> &mut u32 {
        let ImageDevice { blocks_per_chip, pages_per_block, .. } = self.device;
        &mut self.pages[((chip * blocks_per_chip + at.block) * pages_per_block + at.page) as usize]
    }

    fn channel(&self, chip: u32) -> usize {
        (chip / self.device.chips_per_channel) as usize
    }

    fn ask(&mut self, since: u64, chip: u32) {
        let channel = self.channel(chip);
        let bus = self.buses[channel].as_mut().expect("a bus of the device");
        assert!(bus.ask(since, chip), "a chip has one operation at a time");
    }

    /// A chip begins what it is asked for.
    pub fn begin(&mut self, asked: Asked, done: &mut impl FnMut(Done)) {
        let Asked { chip, action, at, to, lpn, .. } = asked;
        match action {
            Action::Program => assert_eq!(core::mem::replace(self.page(chip, at), lpn), NONE, "pages are erased"),
            Action::Read => assert_eq!(*self.page(chip, at), lpn, "a page holds what was programmed"),
            Action::Erase => {
                for page in 0..self.device.pages_per_block {
                    *self.page(chip, FlashPage { page, ..at }) = NONE;
                }
            }
            Action::ErasePart => return self.suspend(chip as usize),
            Action::Sense | Action::Send | Action::Load | Action::ProgramLoaded => {
                return self.begin_in_registers(asked, done);
            }
            Action::Resume => {
                let asked = Asked { action: Action::Erase, ..asked };
                self.work[chip as usize] = Some(Work { asked, start: self.now, is_told: true });
                self.ends[chip as usize] = self.now + core::mem::take(&mut self.left[chip as usize]);
                return;
            }
        }
        if let Some(to) = to {
            *self.page(chip, to) = lpn;
        }
        let commands = self.device.command_ns > 0;
        self.work[chip as usize] = Some(Work { asked, start: self.now, is_told: !commands });
        match action {
            Action::Program => self.ask(self.now, chip),
            _ if commands => self.ask(self.now, chip),
            _ => self.goes_on(chip, self.now, done),
        }
    }

    /// A chip begins what it is asked for in its registers.
    fn begin_in_registers(&mut self, asked: Asked, done: &mut impl FnMut(Done)) {
        let Asked { chip, action, at, lpn, with, .. } = asked;
        let (now, commands) = (self.now, self.device.command_ns > 0);
        let work = |action| Work { asked: Asked { action, ..asked }, start: now, is_told: true };
        let number = chip as usize;
        match action {
            Action::Sense => {
                assert_eq!(*self.page(chip, at), lpn, "a page holds what was programmed");
                let over = if commands { NEVER } else { now + self.device.page_read_ns };
                let of = &mut self.registers[number];
                assert!(of.array.replace((work(Action::Read), over)).is_none(), "its array is idle");
                of.with = with;
                if !commands || with.is_some() {
                    return;
                }
            }
            Action::Send => {
                let of = &mut self.registers[number];
                let (work, _) = of.array.take().expect("a page has been sensed");
                assert!(of.cache.replace((work, NEVER)).is_none(), "its cache register is empty");
            }
            Action::Load => {
                assert_eq!(core::mem::replace(self.page(chip, at), lpn), NONE, "pages are erased");
                let cache = &mut self.registers[number].cache;
                assert!(cache.replace((work(Action::Program), NEVER)).is_none(), "its cache register is empty");
            }
            _ => {
                let (work, _) = self.registers[number].cache.take().expect("a page is there");
                self.work[number] = Some(work);
                return self.ends_at(chip, now + self.device.page_program_ns, done);
            }
        }
        self.ask(now, chip);
    }

    /// A chip that uses two page registers is granted its bus, if it is one that waits for it.
    /// Gives the instant from which on the bus is free again.
    fn grant_cached(&mut self, chip: u32, done: &mut impl FnMut(Done)) -> Option<u64> {
        let ImageDevice { page_read_ns, page_transfer_ns, command_ns, .. } = self.device;
        let mut from = self.now;
        match self.registers[chip as usize] {
            Registers { cache: Some((work, NEVER)), .. } if work.asked.action == Action::Program => {
                let over = from + page_transfer_ns + command_ns;
                self.registers[chip as usize].cache = Some((work, over));
                Some(over)
            }
            Registers { cache: Some((work, NEVER)), .. } => {
                if let Some(next) = self.registers.iter_mut().find(|of| of.with == Some(chip)) {
                    from += command_ns;
                    (next.with, next.array) = (None, next.array.map(|(work, _)| (work, from + page_read_ns)));
                }
                let end = from + page_transfer_ns;
                self.registers[chip as usize].cache = Some((work, end));
                let Asked { action, at, lpn, collects, .. } = work.asked;
                done(Done { chip, start: work.start, end, action, at, lpn, collects });
                self.granted |= 1 << chip;
                Some(end)
            }
            Registers { array: Some((work, NEVER)), .. } => {
                self.registers[chip as usize].array = Some((work, from + command_ns + page_read_ns));
                Some(from + command_ns)
            }
            _ => None,
        }
    }

    /// A chip that sends a page which has just been granted its bus.
    pub fn take_granted(&mut self) -> Option<u32> {
        let chip = (self.granted > 0).then(|| self.granted.trailing_zeros())?;
        self.granted &= self.granted - 1;
        Some(chip)
    }

    /// A chip in whose registers something is over now, and whether it has been moved.
    pub fn in_registers(&mut self) -> Option<(u32, bool)> {
        for (chip, of) in (0..).zip(&mut self.registers) {
            if let Some((_, over)) = of.array.as_mut().filter(|(_, over)| *over == self.now) {
                *over = 0;
                return Some((chip, false));
            }
            let Some((work, over)) = of.cache.as_mut().filter(|(_, over)| *over == self.now) else { continue };
            *over = 0;
            if work.asked.action == Action::Read {
                of.cache = None;
            }
            return Some((chip, true));
        }
        None
    }

    /// An erase is suspended, unless it is over before that.
    fn suspend(&mut self, chip: usize) {
        let until = self.now + self.device.erase_suspend_ns;
        if self.ends[chip] <= until {
            return;
        }
        self.left[chip] = self.ends[chip] - self.now + self.device.erase_resume_ns;
        self.ends[chip] = until;
        if let Some(work) = &mut self.work[chip] {
            work.asked.action = Action::ErasePart;
        }
    }

    /// An operation whose command is over: it senses, copies or erases.
    fn goes_on(&mut self, chip: u32, from: u64, done: &mut impl FnMut(Done)) {
        let Some(Work { asked, start, .. }) = self.work[chip as usize] else { return };
        let Asked { at, lpn, collects, .. } = asked;
        let ImageDevice { page_read_ns, page_program_ns, block_erase_ns, .. } = self.device;
        match (asked.action, asked.to) {
            (Action::Read, Some(to)) => {
                let middle = from + page_read_ns;
                done(Done { chip, start, end: middle, action: Action::Read, at, lpn, collects });
                let end = middle + page_program_ns;
                done(Done { chip, start: middle, end, action: Action::Program, at: to, lpn, collects });
                self.ends[chip as usize] = end;
            }
            // The record of an erase comes when it ends: it can be suspended.
            (Action::Erase, _) => self.ends[chip as usize] = from + block_erase_ns,
            _ => self.ask(from + page_read_ns, chip),
        }
    }

    fn ends_at(&mut self, chip: u32, end: u64, done: &mut impl FnMut(Done)) {
        let Some(Work { asked, start, .. }) = self.work[chip as usize] else { return };
        let Asked { action, at, lpn, collects, .. } = asked;
        done(Done { chip, start, end, action, at, lpn, collects });
        self.ends[chip as usize] = end;
    }

    /// Buses that are free take what has waited longest.
    pub fn grant(&mut self, done: &mut impl FnMut(Done)) {
        for channel in 0..MOST_CHIPS {
            let Some(bus) = &mut self.buses[channel] else { break };
            let due = bus.first().is_some_and(|(since, _)| since.max(self.free_at[channel]) <= self.now);
            let Some(chip) = (if due { bus.grant() } else { None }) else { continue };
            if let Some(until) = self.grant_cached(chip, done) {
                self.free_at[channel] = until;
                continue;
            }
            let Some(work) = &mut self.work[chip as usize] else { continue };
            let ImageDevice { page_transfer_ns, page_program_ns, command_ns, .. } = self.device;
            if work.asked.action != Action::Program && !core::mem::replace(&mut work.is_told, true) {
                self.free_at[channel] = self.now + command_ns;
                self.goes_on(chip, self.now + command_ns, done);
                continue;
            }
            let over = self.now + page_transfer_ns;
            if work.asked.action == Action::Program {
                self.free_at[channel] = over + command_ns;
                self.ends_at(chip, over + command_ns + page_program_ns, done);
            } else {
                self.free_at[channel] = over;
                self.ends_at(chip, over, done);
            }
        }
    }

    /// When something comes about next.
    pub fn next(&self) -> u64 {
        let ends = self.ends.iter().copied().min().unwrap_or(NEVER);
        let grant = |(bus, free_at): (&Option<BusQueue<'_>>, &u64)| {
            bus.as_ref().and_then(BusQueue::first).map_or(NEVER, |(since, _)| since.max(*free_at))
        };
        let over = |of: Option<(Work, u64)>| of.map_or(NEVER, |(_, over)| if over > self.now { over } else { NEVER });
        let in_registers = self.registers.iter().map(|of| over(of.array).min(over(of.cache))).min();
        let ends = ends.min(in_registers.unwrap_or(NEVER));
        ends.min(self.buses.iter().zip(&self.free_at).map(grant).min().unwrap_or(NEVER))
    }

    /// A chip whose operation ends now, and whether that is an erase that is suspended.
    pub fn ended(&mut self, done: &mut impl FnMut(Done)) -> Option<(u32, bool)> {
        let place = self.ends.iter().position(|&end| end == self.now)?;
        let (chip, work) = (u32::try_from(place).ok()?, self.work[place]);
        let action = work.map(|work| work.asked.action);
        if matches!(action, Some(Action::Erase | Action::ErasePart)) {
            self.ends_at(chip, self.now, done);
        }
        (self.ends[place], self.work[place]) = (NEVER, None);
        Some((chip, action == Some(Action::ErasePart)))
    }
}
