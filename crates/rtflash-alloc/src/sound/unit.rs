//! What one EDF queue serves: a chip of a static stripe, or a whole superblock cluster.

use rtflash_model::{Access, Device, Request, Task};

/// How pages are placed on the chips of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Static stripe: the address of a page fixes its chip, and every chip is an EDF processor of its own.
    Stripe,
    /// Superblock: rows are striped over the chips as they are written, and the cluster is one processor.
    Superblock {
        /// Whether the cluster owns whole channels, but for at most one channel that it owns a part of: its reads then wait for
        /// none but its own chips.
        compact: bool,
    },
}

/// A periodic request on a unit, due within its period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Item {
    /// C: worst-case time of all its steps, in nanoseconds, waiting for the bus included.
    pub cost: u64,
    /// T and D, in nanoseconds.
    pub period: u64,
    /// q: its longest step, in nanoseconds.
    pub step: u64,
}

/// What a writing request does to a unit's free pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Writer {
    /// w_i: pages of a request that can fall on the unit.
    pub pages: u64,
    /// T_i, in nanoseconds.
    pub period: u64,
}

/// A cluster's unit, before a deadline of garbage collection is chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// Reads and writes.
    pub items: Vec<Item>,
    /// The writes among them.
    pub writers: Vec<Writer>,
    /// PP: pages of a block of the unit.
    pub block_pages: u64,
    /// N: blocks of the unit.
    pub blocks: u64,
    /// Λ: logical pages mapped in the unit, at most.
    pub mapped: u64,
    costs: Costs,
    kind: Kind,
    chips: u64,
}

/// Times of the steps, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Costs {
    /// c_r: reading a page, the bus busy with all other chips of the channel first.
    read: u64,
    /// c_w: programming a page, likewise.
    write: u64,
    /// t_r + t_w: a copy inside a chip.
    copy: u64,
    /// t_e.
    erase: u64,
}

/// Garbage collection on a unit, once its relative deadline is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Collection {
    /// D_g, in nanoseconds.
    pub deadline: u64,
    /// H: free pages kept in reserve.
    pub reserve: u64,
    /// F: blocks that are not closed, or being collected, when a victim is chosen, at most.
    pub open: u64,
    /// v: valid pages of a victim, at most.
    pub valid: u64,
    /// α: pages that a pass reclaims, at least.
    pub reclaimed: u64,
    /// C_g: worst-case time of a pass, in nanoseconds.
    pub cost: u64,
    /// q_g: its longest step, in nanoseconds.
    pub step: u64,
}

impl Unit {
    /// The unit of a cluster of `chips` chips with these tasks; `None` where times cannot be added up.
    pub fn new<'t>(device: &Device, tasks: impl IntoIterator<Item = &'t Task>, chips: u32, kind: Kind) -> Option<Unit> {
        let costs = Costs::new(device)?;
        let wide = u64::from(chips.max(1));
        let per_chip =
            device.logical_ratio().floor_of(u64::from(device.blocks_per_chip()) * u64::from(device.pages_per_block()));
        let (width, mapped) = match kind {
            Kind::Stripe => (1, per_chip),
            Kind::Superblock { .. } => (wide, per_chip.checked_mul(wide)?),
        };
        let mut unit = Unit {
            items: Vec::new(),
            writers: Vec::new(),
            block_pages: u64::from(device.pages_per_block()).checked_mul(width)?,
            blocks: device.blocks_per_chip().into(),
            mapped,
            costs,
            kind,
            chips: wide,
        };
        let read_step = unit.read_step(device);
        for task in tasks {
            if let Some(read) = task.read {
                let steps = unit.pages_here(read);
                unit.items.push(item(steps, read_step, read)?);
            }
            if let Some(write) = task.write {
                let pages = unit.pages_here(write);
                let steps = if kind == Kind::Stripe { pages } else { pages.div_ceil(wide) };
                unit.items.push(item(steps, costs.write, write)?);
                unit.writers.push(Writer { pages, period: write.period().as_ns() });
            }
        }
        Some(unit)
    }

    /// Pages of a request that can fall on the unit.
    fn pages_here(&self, request: Request) -> u64 {
        match (self.kind, request.access()) {
            (Kind::Stripe, Access::Sequential) => request.pages().div_ceil(self.chips),
            _ => request.pages(),
        }
    }

    /// The time of a user's read of a page.
    fn read_step(&self, device: &Device) -> u64 {
        let ways = u64::from(device.chips_per_channel());
        match self.kind {
            Kind::Superblock { compact: true } => {
                // k chips of the cluster on its partial channel, or on any of its own: the other m_c − k may be another's.
                let part = match self.chips % ways {
                    0 => ways,
                    part => part,
                };
                device.page_read().as_ns() + device.page_transfer().as_ns() * (1 + ways - part)
            }
            _ => self.costs.read,
        }
    }

    /// The longest step of a server's or a background job.
    pub fn server_step(&self) -> u64 {
        self.costs.erase.max(self.costs.write).max(self.costs.copy).max(self.costs.read)
    }

    /// Garbage collection with this relative deadline (Section 2.2 of docs/analysis.md), `None` where the blocks do not suffice for it.
    pub fn collection(&self, deadline: u64, server: bool) -> Option<Collection> {
        let arrivals = self.writers.iter().try_fold(0u64, |sum, writer| {
            sum.checked_add(writer.pages.checked_mul(deadline.div_ceil(writer.period))?)
        })?;
        let pending = self.writers.iter().try_fold(0u64, |sum, writer| sum.checked_add(writer.pages))?;
        let drawn = match (server, self.kind) {
            (false, _) => 0,
            (true, Kind::Stripe) => self.block_pages,
            (true, Kind::Superblock { .. }) => self.block_pages + self.chips - 1,
        };
        let reserve = arrivals.checked_add(self.block_pages - 1)?.checked_add(drawn)?;
        let open = (reserve - 1).checked_add(pending)? / self.block_pages + 1 + u64::from(server);
        let closed = self.blocks.checked_sub(open).filter(|&closed| closed > 0)?;
        let valid = self.mapped / closed;
        let reclaimed = self.block_pages.checked_sub(valid).filter(|&reclaimed| reclaimed > 0)?;
        let Costs { read, write, copy, erase } = self.costs;
        let (cost, step) = match self.kind {
            Kind::Stripe => (valid.checked_mul(copy)?.checked_add(erase)?, erase.max(copy)),
            Kind::Superblock { .. } => {
                let reads = valid.min(self.block_pages / self.chips).checked_mul(read)?;
                let rows = valid.div_ceil(self.chips).checked_mul(write)?;
                (reads.checked_add(rows)?.checked_add(erase)?, erase.max(write).max(read))
            }
        };
        Some(Collection { deadline, reserve, open, valid, reclaimed, cost, step })
    }
}

impl Costs {
    /// c_r = t_r + m_c·t_d and c_w = t_w + m_c·t_d: a page waits for one transfer of every other chip of its channel, at most (Section 2.1).
    fn new(device: &Device) -> Option<Costs> {
        let bus = device.page_transfer().as_ns().checked_mul(device.chips_per_channel().into())?;
        Some(Costs {
            read: device.page_read().as_ns().checked_add(bus)?,
            write: device.page_program().as_ns().checked_add(bus)?,
            copy: device.page_read().as_ns().checked_add(device.page_program().as_ns())?,
            erase: device.block_erase().as_ns(),
        })
    }
}

/// A request of so many equal steps.
fn item(steps: u64, step: u64, request: Request) -> Option<Item> {
    Some(Item { cost: steps.checked_mul(step)?, period: request.period().as_ns(), step })
}
