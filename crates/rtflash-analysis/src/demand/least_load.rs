//! Loads that clusters have at least, whatever they and their neighbours are run with: what has too
//! much to do is known before any deadline of garbage collection is looked for.

use rtflash_model::{Device, Placement, Task};

use crate::organisation::processor::Processor;
use crate::organisation::shared_bus::SharedBus;
use crate::time::ns;

/// A load above this is above one, whatever roundings there are on the way to it.
pub const SURELY_ABOVE_ONE: f64 = 1.0 + 1e-8;

/// The load of each chip of a cluster in the long run if no page ever waits.
#[derive(Debug, Clone, Copy, Default)]
pub struct LeastLoad {
    /// Garbage collection is at the shortest deadline, where a reclaimed page costs least.
    /// Infinite where there is no room for it: then there is none at any other deadline.
    load: f64,
    /// Pages that it moves over the bus in a nanosecond.
    pages: f64,
    writes: f64,
}

/// The sums that tasks add to a [`LeastLoad`], but for the cost of collecting for all of them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LeastShare {
    /// The load of reads and writes, and of resets.
    load: f64,
    pages: f64,
    writes: f64,
    /// Pages that arrive to be programmed, and are collected some day, in a nanosecond.
    arriving: f64,
    /// A at the shortest deadline of garbage collection.
    at_once: u64,
    /// W.
    pending: u64,
}

impl LeastShare {
    fn of(processor: &Processor) -> LeastShare {
        let mut share = LeastShare::default();
        for item in &processor.tasks {
            let rate = item.transfers.mean() / ns(item.period);
            share.load += item.step_cost.to_f64() * rate;
            if item.resets {
                continue;
            }
            share.pages += rate;
            share.writes += if item.writes { rate } else { 0.0 };
        }
        let arriving = processor.write_streams.iter().map(|writer| writer.pages.mean() / ns(writer.period));
        let (at_once, pending) = (processor.of_one_each(), processor.pending());
        LeastShare { arriving: arriving.sum(), at_once, pending, ..share }
    }

    fn and(self, other: LeastShare) -> LeastShare {
        LeastShare {
            load: self.load + other.load,
            pages: self.pages + other.pages,
            writes: self.writes + other.writes,
            arriving: self.arriving + other.arriving,
            at_once: self.at_once.saturating_add(other.at_once),
            pending: self.pending.saturating_add(other.pending),
        }
    }

    /// Their load together on a processor like this one, whatever tasks it has.
    fn on(self, processor: &Processor) -> LeastLoad {
        let LeastShare { load, pages, writes, arriving, at_once, pending } = self;
        let collecting = match pending {
            0 => 0.0,
            _ => processor.gc_per_page(at_once, pending).map_or(f64::INFINITY, |cost| cost * arriving),
        };
        LeastLoad { load: load + collecting, pages, writes }
    }
}

/// The part of each task of a set in clusters of one form.
#[derive(Debug)]
pub struct LeastShares {
    processor: Option<Processor>,
    each: Vec<LeastShare>,
}

impl LeastShares {
    /// The shares of these tasks in clusters of `chips` chips.
    pub fn new<'t>(
        device: &Device,
        tasks: impl IntoIterator<Item = &'t Task>,
        chips: u32,
        placement: Placement,
    ) -> LeastShares {
        let processor = Processor::idle(device, chips, placement, SharedBus::alone());
        let with = |task| processor.clone()?.with([task]);
        let share = |task| with(task).as_ref().map_or_else(LeastShare::default, LeastShare::of);
        LeastShares { each: tasks.into_iter().map(share).collect(), processor }
    }

    /// The load of the tasks of these numbers together.
    pub fn of(&self, tasks: impl Iterator<Item = usize>) -> LeastLoad {
        let share = tasks.map(|task| self.each[task]).fold(LeastShare::default(), LeastShare::and);
        self.processor.as_ref().map_or_else(LeastLoad::default, |processor| share.on(processor))
    }
}

impl LeastLoad {
    /// The load if no page ever waits.
    pub fn alone(self) -> f64 {
        self.load
    }

    /// The load of a stripe each of whose pages waits for `chips` idle chips.
    pub fn waiting_for(self, device: &Device, chips: u32) -> f64 {
        self.load + ns(device.bus_hold()) * self.pages * f64::from(chips)
    }

    /// A lower bound for a stripe on `ways` chips of a first-come-first-served channel.
    ///
    /// The least of three bounds counts: each page waits for each other chip, or σ is taken back
    /// for each read, or σ for each page of the busiest chip; programs are fresh, and spoil some.
    /// The terms of the bounds for jobs, passes and commands are left out.
    pub fn in_a_queue(self, device: &Device, ways: u32) -> f64 {
        let (others, hold) = (f64::from(ways - 1), ns(device.bus_hold()));
        let load = self.load + hold * (others * self.pages);
        // Nor does a queue of commands take more off.
        if ways == 1 || device.has_commands() {
            return load;
        }
        let (sense, transfer) = (ns(device.page_read()), ns(device.page_transfer()));
        let (phi, fresh) = (sense.min(transfer), others * self.writes);
        let sigma = if ways > 2 { sense.min(2.0 * transfer) } else { phi };
        let apart = phi * self.writes + (sigma - phi) * fresh / (others - 1.0).max(1.0);
        let spoilt = apart.min(sigma * fresh / others);
        let reads = self.pages - self.writes;
        let in_turn = self.load + hold * others * self.pages - sigma * reads + spoilt;
        let ranked = load + sigma * self.writes + phi * fresh - sigma * self.pages;
        load.min(in_turn).min(ranked)
    }
}

#[cfg(test)]
mod tests {
    use rtflash_model::Request;
    use rtflash_model::random::Stream;
    use rtflash_testkit::ns;

    use super::*;
    use crate::demand::Demand;
    use crate::demand::bus::Contention;
    use crate::gc::ChosenGc;
    use crate::random_processors::{draw_device, draw_tasks};
    use crate::work::Work;

    /// A stripe's chips on a channel, with garbage collection of any deadline.
    struct Drawn {
        tasks: Vec<Task>,
        size: u32,
        own: u32,
        gc: Option<ChosenGc>,
    }

    impl Drawn {
        fn new(device: &Device, rng: &mut Stream) -> Option<Drawn> {
            let (most, size) = (rng.within(1, 3), rng.small(1, 3));
            // Reads of many pages, so that jobs are few: what they cost is left out of the bound.
            let longer = |read: Request| Request::new(40 * read.pages(), ns(40 * read.period().as_ns()));
            let tasks = draw_tasks(rng, most).into_iter().map(|task| Task { read: task.read.and_then(longer), ..task });
            let drawn = Drawn { tasks: tasks.collect(), size, own: rng.small(1, size), gc: None };
            let processor = drawn.processor(device, SharedBus::alone())?;
            let Some(shortest) = processor.shortest_gc_deadline() else { return Some(drawn) };
            let more = shortest.as_ns() * rng.within(0, 2) * rng.within(0, 3);
            Some(Drawn { gc: Some(processor.gc(ns(shortest.as_ns() + more), false)?), ..drawn })
        }

        fn processor(&self, device: &Device, bus: SharedBus) -> Option<Processor> {
            Processor::new(device, &self.tasks, self.size, Placement::Stripe, bus)
        }

        fn least(&self, device: &Device) -> LeastLoad {
            LeastShares::new(device, &self.tasks, self.size, Placement::Stripe).of(0..self.tasks.len())
        }
    }

    /// The additions of each task sum up to the load of all of them together.
    #[test]
    fn shares_add_up_to_the_least_load() {
        let (mut compared, mut collecting, mut crowded) = (0, 0, 0);
        for seed in 0..4_000 {
            let mut rng = Stream::numbered(seed, b"theshare", 0);
            let Some(device) = draw_device(&mut rng) else { continue };
            let most = rng.within(1, 6);
            let (tasks, size) = (draw_tasks(&mut rng, most), rng.small(1, 5));
            for placement in [Placement::Stripe, Placement::Superblock, Placement::Zoned] {
                let shares = LeastShares::new(&device, &tasks, size, placement);
                let chosen = rng.within(1, (1 << tasks.len()) - 1);
                let numbers = || (0..tasks.len()).filter(|task| chosen >> task & 1 == 1);
                let of = numbers().map(|number| &tasks[number]);
                let whole = Processor::new(&device, of, size, placement, SharedBus::alone());
                let Some(whole) = whole else { continue };
                let all = LeastShare::of(&whole).on(&whole);
                let sum = shares.of(numbers());
                let pairs = [(all.load, sum.load), (all.pages, sum.pages), (all.writes, sum.writes)];
                let near = pairs.into_iter().all(|(a, b)| a == b || (a - b).abs() <= 1e-12 * a.abs());
                assert!(near, "seed {seed}, {placement:?}: {all:?} and {sum:?}");
                compared += 1;
                collecting += u32::from(all.writes > 0.0 && all.load.is_finite());
                crowded += u32::from(all.load.is_infinite());
            }
        }
        assert!(compared > 4_000 && collecting > 1_000 && crowded > 100, "{compared} {collecting} {crowded}");
    }

    /// No load of the tests is below, whatever the deadlines of garbage collection, and where these
    /// are the shortest it comes near.
    #[test]
    fn no_load_is_below_the_least() {
        let (mut compared, mut near, mut queued) = (0, 0, 0);
        for seed in 0..6_000 {
            let mut rng = Stream::numbered(seed, b"theleast", 0);
            let Some(device) = draw_device(&mut rng) else { continue };
            let Some(one) = Drawn::new(&device, &mut rng) else { continue };
            let least = one.least(&device);
            for queues in [false, true] {
                let ways = if queues { one.own } else { 4 };
                let Some(processor) = one.processor(&device, SharedBus::on_a_channel(ways, 0)) else { continue };
                let contention = Contention::new(&device);
                let contention = if queues { contention.in_a_queue(&device, u64::from(ways) - 1) } else { contention };
                let work = Work::new();
                let load = Demand::new(&processor, &contention, one.gc, 0, &work).load();
                let waits = least.waiting_for(&device, ways - 1);
                let bound = if queues { least.in_a_queue(&device, ways) } else { waits };
                assert!(bound <= load * (1.0 + 1e-9), "seed {seed}, {queues}: {bound} and {load}");
                compared += 1;
                near += u32::from(bound > 0.9 * load);
                queued += u32::from(bound < 0.99 * waits);
            }
        }
        assert!(compared > 5_000 && near > 2_000 && queued > 500, "{compared} {near} {queued}");
    }
}
