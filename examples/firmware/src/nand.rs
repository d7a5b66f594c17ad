//! A NAND device in memory, in virtual time: what each page holds, what each chip does, and buses
//! that are first come, first served.

use rtflash_ftl::image::ImageDevice;
use rtflash_ftl::{BusQueue, FlashPage, NONE, NandChips, OperationPurpose, SpareBytes};

/// Chips of a device at most.
pub const MOST_CHIPS: usize = 64;

/// What is done on a chip.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Read,
    Program,
    Erase,
    /// An erase that is suspended; in an order, what suspends one.
    ErasePart,
    /// An order to go on with an erase.
    Resume,
}

/// An operation that has been asked for.
#[derive(Clone, Copy)]
pub struct Asked {
    pub chip: u32,
    pub action: Action,
    pub at: FlashPage,
    /// Where a copy inside the chip goes.
    pub to: Option<FlashPage>,
    pub lpn: u32,
    pub collects: bool,
}

/// Operations that have been asked for and not begun: so that what the firmware takes is measured
/// without the device.
pub struct Orders {
    orders: [Option<Asked>; MOST_CHIPS],
    count: usize,
}

impl Orders {
    pub const fn new() -> Orders {
        Orders { orders: [None; MOST_CHIPS], count: 0 }
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
        self.push(Asked { chip, action: Action::Read, at, to: None, lpn, collects });
    }

    fn program(&mut self, chip: u32, at: FlashPage, spare: SpareBytes, purpose: OperationPurpose) {
        let collects = purpose == OperationPurpose::Collection;
        self.push(Asked { chip, action: Action::Program, at, to: None, lpn: spare.lpn, collects });
    }

    fn copyback(&mut self, chip: u32, from: FlashPage, to: FlashPage, spare: SpareBytes) {
        self.push(Asked { chip, action: Action::Read, at: from, to: Some(to), lpn: spare.lpn, collects: true });
    }

    fn erase(&mut self, chip: u32, block: u32, purpose: OperationPurpose) {
        let collects = purpose == OperationPurpose::Collection;
        let at = FlashPage { block, page: NONE };
        self.push(Asked { chip, action: Action::Erase, at, to: None, lpn: NONE, collects });
    }

    fn suspend(&mut self, chip: u32) {
        let at = FlashPage { block: NONE, page: NONE };
        self.push(Asked { chip, action: Action::ErasePart, at, to: None, lpn: NONE, collects: true });
    }

    fn resume(&mut self, chip: u32, block: u32) {
        let at = FlashPage { block, page: NONE };
        self.push(Asked { chip, action: Action::Resume, at, to: None, lpn: NONE, collects: true });
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

/// Chips and buses.
pub struct Nand<'m> {
    device: ImageDevice,
    /// What each page holds; [`NONE`] where it is erased.
    pages: &'m mut [u32],
    work: [Option<Work>; MOST_CHIPS],
    ends: [u64; MOST_CHIPS],
    /// What is left of erases that are suspended, or are being suspended.
    left: [u64; MOST_CHIPS],
    buses: [Option<BusQueue<'m>>; MOST_CHIPS],
    free_at: [u64; MOST_CHIPS],
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
        Nand { device, pages, work, ends, left: [0; MOST_CHIPS], buses, free_at, now: 0 }
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
            // What it was is told when it ends: it may be suspended.
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
