//! The work of one EDF queue, a chip of a stripe or a superblock cluster: docs/analysis.md,
//! Sections 2.6, 3 and 4.

use rtflash_model::{Certificate, Cluster, Device, Placement, Request, TaskSet};

use super::channels::{Channel, ChannelNeighbours, Neighbour, Transfers};
use super::collection::{Numbers, ReleasedGc};
pub(super) use super::items::{Gc, VerifiedTask};
use super::numbers::{PagesInARow, ceil, is_chip_by_chip, pages_on_processor, suspension};
use super::queue::ChannelQueue;
use super::registers::{SecondRegister, Works};
use super::told::{CommandQueue, may_be_relied_on};
use super::zones::ZoneResets;
use crate::on_chip;

/// A superblock cluster, or a chip of a stripe on one of its channels, as neighbours differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Processor {
    pub tasks: Vec<VerifiedTask>,
    /// `None` where nothing real-time writes.
    pub gc: Option<Gc>,
    /// U_s in thousandths.
    pub server: i128,
    /// The blocking in every interval: q_s, zero without a server; B of two page registers.
    pub always_blocks: i128,
    /// E, Eq. (80): programs that fail, each repeated with all that it can wait. In every interval.
    pub repeats: i128,
    /// c_s: what each job of a request with a page here takes for an erase that it may suspend.
    pub preempts: i128,
    /// Whether it is a superblock: what its steps wait is bounded in full as well.
    pub superblock: bool,
    pub register: Option<SecondRegister>,
    /// t_b = t_c + t_d, and t_c.
    pub transfer: i128,
    pub command: i128,
    pub neighbours: Vec<Neighbour>,
    /// `None` if a cluster can ask for the bus as often as it likes, or there is no other.
    pub queue: Option<ChannelQueue>,
    pub told: Option<CommandQueue>,
}

#[derive(Debug, Clone, Copy)]
struct Steps {
    stripe: bool,
    copies_inside: bool,
    /// Whether passes are charged all that they can wait, as with two page registers.
    in_full: bool,
    rows_wait_elsewhere: bool,
    /// P.
    block_pages: i128,
    t_r: i128,
    /// t_c and t_d.
    t_c: i128,
    t_d: i128,
    /// A copyback and an erase: what each costs, and takes at most.
    copy: [i128; 2],
    erase: [i128; 2],
    suspension: Option<i128>,
    /// c_r and c_w, Eqs. (3) and (4): of GC and of rows.
    read: i128,
    program: i128,
    /// c_r and c_w with every wait that the channel's chips can cause.
    longest_read: i128,
    longest_program: i128,
    /// A user's page, c_r' of Eq. (29) in a superblock: cost and longest step.
    user_read: [i128; 2],
    /// A user's page or row: cost and longest step.
    user_write: [i128; 2],
}

impl Steps {
    fn new(device: &Device, placement: Placement, neighbours: &ChannelNeighbours, channel: &Channel) -> Steps {
        let [t_r, t_w] = on_chip::longest(device).map(i128::from);
        let [t_e, t_d] = [device.block_erase(), device.page_transfer()].map(|time| i128::from(time.as_ns()));
        let stripe = is_chip_by_chip(placement);
        let ways = channel.ways;
        let t_c = i128::from(device.spec().command.map_or(0, |command| command.as_ns()));
        // Other chips: each may be served once before each request for the bus, Section 2.10.
        let waiting = |chips: i128| (chips - 1) * (t_c + t_d);
        let command = |chips: i128| if t_c > 0 { t_c + waiting(chips) } else { 0 };
        let reading = |chips: i128| command(chips) + t_r + waiting(chips) + t_d;
        let programming = |chips: i128| waiting(chips) + t_c + t_d + t_w;
        let (read, program) = (reading(ways), programming(ways));
        let (longest_read, longest_program) = (reading(neighbours.max_chips), programming(neighbours.max_chips));
        let alone =
            [channel.foreign, neighbours.foreign].map(|foreign| reading((foreign + 1).min(neighbours.max_chips)));
        let copy = [ways, neighbours.max_chips].map(|chips| command(chips) + t_r + t_w);
        let erase = [ways, neighbours.max_chips].map(|chips| command(chips) + t_e);
        let user_read = if stripe { [read, longest_read] } else { alone };
        let user_write = [program, longest_program];
        Steps {
            stripe,
            copies_inside: stripe && !placement.is_zoned(),
            in_full: placement.is_cached(),
            rows_wait_elsewhere: channel.rows_wait_elsewhere,
            block_pages: device.pages_per_block().into(),
            t_r,
            t_c,
            t_d,
            copy,
            erase,
            suspension: suspension(device, placement),
            read,
            program,
            longest_read,
            longest_program,
            user_read,
            user_write,
        }
    }

    fn second_register(&self, device: &Device, neighbours: &ChannelNeighbours, channel: &Channel) -> SecondRegister {
        if self.stripe {
            return SecondRegister::new(device, neighbours.max_chips, channel.ways);
        }
        SecondRegister::of_superblock(device, neighbours, self.longest_read.max(self.longest_program))
    }

    fn longest(&self) -> i128 {
        let copy = if self.stripe { self.copy[1] } else { 0 };
        self.erase[1].max(self.longest_read).max(self.longest_program).max(copy)
    }

    /// Each of the processor's chips counts; `None` for a number of more than 127 bits.
    fn repeated(&self, device: &Device, size: u64) -> Option<i128> {
        let chips = if self.stripe { 1 } else { i128::from(size) };
        let copy = if self.copies_inside { self.copy[1] } else { 0 };
        self.longest_program.max(copy).checked_mul(chips * i128::from(device.program_failures()))
    }

    /// On `size` chips: C_g and q_g, Eqs. (22) and (23), or (27) and (28). `None` where nothing
    /// real-time writes, and outside where a number takes more than 127 bits.
    fn collection(&self, numbers: &Numbers, size: u64, block_pages: u32) -> Option<Option<Gc>> {
        let Some(deadline) = numbers.deadline else { return Some(None) };
        let victim = i128::from(numbers.victim);
        let (copying, in_full, step, waits) = if self.stripe {
            let waits = if self.t_c > 0 { victim + 1 } else { 0 };
            let copying = victim.checked_mul(self.copy[usize::from(self.in_full)])?;
            (copying, copying, self.copy[1], waits)
        } else {
            let (steps, rows) = (victim.min(block_pages.into()), ceil(victim, size.into()));
            let charged =
                self.copied_over_the_bus(victim, steps, rows, [self.read, self.program, self.user_read[0]])?;
            let longest = [self.longest_read, self.longest_program, self.user_read[1]];
            let in_full = self.copied_over_the_bus(victim, steps, rows, longest)?;
            let asks = if self.t_c > 0 { 2 } else { 1 };
            // The part of passes in Eq. (70); the erase has a command.
            let other_waits = if self.rows_wait_elsewhere { 0 } else { rows + asks - 1 };
            let waits = steps.checked_mul(asks)?.checked_add(other_waits)?;
            (charged, in_full, self.longest_read.max(self.longest_program), waits)
        };
        // A victim without valid pages has nothing to copy. Each request is charged for the
        // blocking of an erase that is suspended, Eq. (83).
        let erase = if self.suspension.is_some() { 0 } else { self.erase[1] };
        let longest = if victim == 0 { erase } else { erase.max(step) };
        let cost = copying.checked_add(self.erase[usize::from(self.in_full)])?;
        let reclaimed = numbers.reclaimed.into();
        let in_full = in_full.checked_add(self.erase[1])? - cost;
        Some(Some(Gc { deadline: deadline.as_ns().into(), cost, longest, reclaimed, waits, in_full }))
    }

    /// From the costs of a read, a row and a user's read.
    fn copied_over_the_bus(
        &self,
        victim: i128,
        steps: i128,
        rows: i128,
        [read, program, alone]: [i128; 3],
    ) -> Option<i128> {
        // Each page is on one channel: those read together wait for each other there.
        let beside = if self.t_c > 0 { 2 } else { 1 } * (self.t_c + self.t_d);
        let more = (victim - steps).checked_mul(beside)?;
        let apart = steps.checked_mul(alone.max(beside))?.checked_add(more)?;
        let reads = steps.checked_mul(read)?.min(apart);
        reads.checked_add(rows.checked_mul(program)?)
    }

    /// A request on a processor of a cluster of `size` chips: Eqs. (20), (21), (25) and (26).
    fn demand_task(&self, request: &Request, writes: bool, placement: Placement, size: u64) -> Option<VerifiedTask> {
        let pages = pages_on_processor(request, placement, size);
        let rows = PagesInARow::each(request.pages().div_ceil(size).into());
        let steps = if writes && !self.stripe { rows } else { pages };
        let [step_cost, longest] = if writes { self.user_write } else { self.user_read };
        let resets = (placement.is_zoned() && writes).then(|| ZoneResets {
            block_pages: self.block_pages,
            cost: self.erase[0],
            waits: i128::from(self.t_c > 0),
        });
        // Eq. (77): a reset is the longest step of who writes, where it takes longer than a page.
        let longest = if resets.is_some() { longest.max(self.erase[1]) } else { longest };
        let waits = match writes {
            true => i128::from(self.stripe || !self.rows_wait_elsewhere),
            false if self.t_c > 0 => 2,
            false => 1,
        };
        Some(VerifiedTask {
            writes,
            period: request.period().as_ns().into(),
            deadline: request.deadline().as_ns().into(),
            jitter: request.jitter().as_ns().into(),
            step_cost,
            steps,
            longest,
            pages,
            waits,
            in_full: longest - step_cost,
            resets,
        })
    }
}

impl Processor {
    /// On this channel if it is a stripe; `None` where a number takes more than 127 bits.
    pub fn new(
        set: &TaskSet,
        cluster: &Cluster,
        certificate: &Certificate,
        gc: Option<&Numbers>,
        neighbours: &ChannelNeighbours,
        channel: &Channel,
    ) -> Option<Processor> {
        let (device, placement, size) = (set.device(), certificate.placement, u64::from(cluster.size()));
        let server = i128::from(certificate.server_thousandths);
        let (steps, mut tasks) = (Steps::new(device, placement, neighbours, channel), Vec::new());
        for task in cluster.tasks.iter().map(|&task| &set.tasks()[task]) {
            for (request, writes) in [(&task.read, false), (&task.write, true)] {
                if let Some(request) = request {
                    tasks.push(steps.demand_task(request, writes, placement, size)?);
                }
            }
        }
        let register = placement.is_cached().then(|| steps.second_register(device, neighbours, channel));
        let page = |writes: bool| register.as_ref().map(|register| register.page(writes));
        tasks.iter_mut().for_each(|item| item.step_cost = page(item.writes).unwrap_or(item.step_cost));
        let gc = gc.map_or(Some(None), |numbers| steps.collection(numbers, size, device.pages_per_block()))?;
        let [reads, writes] = [false, true].map(|does| server > 0 || tasks.iter().any(|item| item.writes == does));
        let repeats = if writes { steps.repeated(device, size)? } else { 0 };
        let mut processor = Processor {
            tasks,
            preempts: steps.suspension.filter(|_| server == 0 && gc.is_some()).unwrap_or(0),
            gc,
            server,
            always_blocks: if server > 0 { steps.longest() } else { 0 },
            repeats,
            superblock: !steps.stripe,
            register,
            transfer: steps.t_c + steps.t_d,
            command: steps.t_c,
            neighbours: channel.neighbours.clone(),
            queue: None,
            told: None,
        };
        if let Some(register) = &mut processor.register {
            register.works(Works { reads, writes, server: server > 0 });
            processor.always_blocks = register.blocking;
            processor.gc.iter_mut().for_each(|gc| gc.longest = 0);
            processor.tasks.iter_mut().for_each(|item| item.longest = 0);
            return Some(processor);
        }
        // (Q1).
        if steps.stripe
            && !placement.is_zoned()
            && server == 0
            && channel.queued
            && may_be_relied_on(device)
            && device.program_failures() == 0
        {
            processor.join_queue(device, channel, &steps);
        }
        Some(processor)
    }

    fn join_queue(&mut self, device: &Device, channel: &Channel, steps: &Steps) {
        let siblings = self.siblings(channel.own - 1);
        let mut others = self.neighbours.clone();
        if steps.t_c > 0 {
            let (hold, transfer, command) = (self.transfer, steps.t_d, steps.t_c);
            self.told = Some(CommandQueue { hold, transfer, command, others, siblings });
            return;
        }
        others.extend(siblings);
        let least_program = i128::from(on_chip::least_program(device));
        self.queue = ChannelQueue::of([steps.t_r, least_program, steps.t_d], others);
    }

    /// The cluster's other chips on the channel, this many.
    fn siblings(&self, chips: i128) -> Option<Neighbour> {
        let transfers = |item: &VerifiedTask| Transfers {
            period: item.period,
            deadline: item.deadline,
            jitter: item.jitter,
            pages: item.pages,
            writes: item.writes,
            zone_block: item.resets.map(|resets| resets.block_pages),
        };
        (chips > 0).then(|| Neighbour {
            chips,
            requests: self.tasks.iter().map(transfers).collect(),
            repeated: 0,
            // Copies of a stripe stay inside the chip.
            gc: self.gc.as_ref().map(|gc| ReleasedGc { deadline: gc.deadline, reclaimed: gc.reclaimed, victim: 0 }),
            rows: None,
        })
    }

    /// From where on each item has a demand and blocks no more: D − J of requests, and D_g.
    pub fn deadlines(&self) -> impl Iterator<Item = i128> {
        self.tasks.iter().map(VerifiedTask::soonest).chain(self.gc.iter().map(|gc| gc.deadline))
    }

    pub fn writers(&self) -> impl Iterator<Item = &VerifiedTask> {
        self.tasks.iter().filter(|item| item.writes)
    }
}
