//! Random processors for tests, here and in rtflash-alloc.

use rtflash_model::random::Stream;
use rtflash_model::{Access, Device, DeviceSpec, LogicalRatio, Placement, Request, Span, Task};

use rtflash_analysis::certified::{ChosenGc, Contention, Processor, SharedBus};

/// So many nanoseconds.
pub(crate) fn ns(nanoseconds: u64) -> Span {
    Span::from_ns(nanoseconds).expect("a short time")
}

/// Draws.
pub(crate) struct ProcessorRng(Stream);

impl ProcessorRng {
    /// By seed and purpose.
    pub(crate) fn new(seed: u64, what: &'static [u8; 8]) -> ProcessorRng {
        ProcessorRng(Stream::numbered(seed, what, 0))
    }

    pub(crate) fn within(&mut self, low: u64, high: u64) -> u64 {
        low + self.0.below(high - low + 1)
    }

    pub(crate) fn small(&mut self, low: u64, high: u64) -> u32 {
        u32::try_from(self.within(low, high)).expect("a small number")
    }

    pub(crate) fn span(&mut self, low: u64, high: u64) -> Span {
        ns(self.within(low, high))
    }

    pub(crate) fn device(&mut self) -> Option<Device> {
        Device::new(DeviceSpec {
            chips: 8,
            chips_per_channel: self.small(1, 4),
            blocks_per_chip: self.small(6, 40),
            pages_per_block: self.small(2, 8),
            page_size: 4096,
            logical_ratio: LogicalRatio::from_decimal(self.within(1, 9).into(), 1).ok()?,
            page_read: self.span(1, 5),
            page_program: self.span(1, 8),
            block_erase: self.span(6, 29),
            page_transfer: self.span(1, 3),
            // Most devices do not count them.
            // Nor suspend erases.
            erase_suspend: [None, None, Span::from_ns(1), Span::from_ns(4)][self.small(0, 3) as usize],
            command: [None, None, None, Span::from_ns(1), Span::from_ns(2)][self.small(0, 4) as usize],
            ..DeviceSpec::default()
        })
        .ok()
    }

    pub(crate) fn tasks(&mut self, most: u64) -> Vec<Task> {
        let mut request = || {
            let period = self.within(20, 400);
            let access = Access::ALL[self.small(0, 2) as usize];
            let request = Request::new(self.within(1, 7), Span::from_ns(period)?)?.with_access(access);
            let deadline = self.within(period / 3 + 1, period);
            let request = request.with_deadline(Span::from_ns(deadline))?;
            request.with_jitter(Span::from_ns(self.within(0, 1) * self.within(0, deadline - 1))?)
        };
        let mut task = |number: u64| {
            let (read, write) = (request(), request());
            let (read, write) = match number % 3 {
                0 => (read, None),
                1 => (None, write),
                _ => (read, write),
            };
            Task { name: "t".into(), read, write, data_pages: None }
        };
        let first = 7 * most;
        (first..first + most).map(&mut task).collect()
    }
}

/// A processor among others on its channel, with garbage collection.
pub(crate) struct Drawn {
    pub(crate) processor: Processor,
    pub(crate) contention: Contention,
    /// As it is with some deadline; `None` where nothing is written or there is no room for it.
    pub(crate) gc: Option<ChosenGc>,
    /// Whether the bus serves first come, first served.
    pub(crate) queue: bool,
    /// For what else is to be drawn.
    pub(crate) rng: ProcessorRng,
}

impl Drawn {
    /// That of a seed, if there is one.
    pub(crate) fn new(seed: u64) -> Option<Drawn> {
        let mut rng = ProcessorRng::new(seed, b"the-line");
        let device = rng.device()?;
        let two = ProcessorRng::new(seed, b"register").within(0, 5) == 0;
        let mut rng_of_failures = ProcessorRng::new(seed, b"failures");
        let failing = (rng_of_failures.within(0, 3) == 0).then(|| rng_of_failures.small(1, 2));
        let page_registers = two.then_some(2);
        let device = Device::new(DeviceSpec { page_registers, spare_blocks: failing, ..device.spec() }).ok()?;
        let bus = SharedBus::anywhere(&device);
        let stripe = rng.within(0, 3) > 0;
        let cached = device.has_cache_register();
        let placement = match stripe {
            true if cached => Placement::CachedStripe,
            true => Placement::Stripe,
            false if cached && seed.is_multiple_of(2) => Placement::CachedSuperblock,
            false => Placement::Superblock,
        };
        let most = rng.within(1, 4);
        let (tasks, size) = (rng.tasks(most), rng.small(1, 3));
        // Some own zones, where all that writes is a stream.
        let zoned = placement == Placement::Stripe && tasks.iter().all(Task::fits_zones) && seed.is_multiple_of(5);
        let placement = if zoned { Placement::Zoned } else { placement };
        let processor = Processor::new(&device, &tasks, size, placement, bus)?;
        let mut contention = Contention::new(&device).with_more(rng.within(0, 1) * rng.within(0, 2));
        let mut rng_of_gc = ProcessorRng::new(seed, b"the-gc--");
        let mut gc = |processor: &Processor| {
            if processor.write_streams.is_empty() { None } else { processor.gc(ns(rng_of_gc.within(1, 300)), false) }
        };
        let mut others = Vec::new();
        for _ in 0..(if stripe { rng.within(0, 2) } else { 0 }) {
            let most = rng.within(1, 3);
            others.push((rng.tasks(most), rng.within(1, 2)));
        }
        // Nor may programs fail in a queue.
        let queue = stripe && rng.within(0, 2) > 0 && failing.is_none();
        // In a queue all are stripes.
        let mut rng_of_rows = ProcessorRng::new(seed, b"the-rows");
        for (tasks, chips) in others {
            let rows = rng_of_rows.within(0, 1) == 0 && !queue;
            let (size, placement) =
                if rows { (3, Placement::Superblock) } else { (rng_of_rows.small(1, 3), Placement::Stripe) };
            let Some(other) = Processor::new(&device, &tasks, size, placement, bus) else { continue };
            contention.add(&other, gc(&other), chips);
        }
        let queue = queue && !zoned;
        if queue && !cached {
            // With commands a page is charged all that its siblings let it wait less.
            let most = if device.has_commands() { u64::from(bus.ways) - 1 } else { 2 };
            contention = contention.in_a_queue(&device, rng.within(0, 2).min(most));
        }
        let queue = queue && !device.has_commands() && !placement.is_cached();
        let gc = gc(&processor);
        Some(Drawn { processor, contention, gc, queue, rng })
    }
}
