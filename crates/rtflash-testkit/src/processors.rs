//! Random processors. Unit tests of rtflash-analysis have this file as a module of their own.

use rtflash_model::random::Stream;
use rtflash_model::{Access, Device, DeviceSpec, LogicalRatio, Placement, Request, Span, Task};

use rtflash_analysis::certified::{ChosenGc, Contention, Processor, SharedBus};

/// A small device, most of them without commands and suspended erases.
pub fn draw_device(rng: &mut Stream) -> Option<Device> {
    let span = |rng: &mut Stream, low, high| Span::from_ns(rng.within(low, high));
    let spec = DeviceSpec {
        chips: 8,
        chips_per_channel: rng.small(1, 4),
        blocks_per_chip: rng.small(6, 40),
        pages_per_block: rng.small(2, 8),
        page_size: 4096,
        logical_ratio: LogicalRatio::from_decimal(rng.within(1, 9).into(), 1).ok()?,
        page_read: span(rng, 1, 5)?,
        page_program: span(rng, 1, 8)?,
        block_erase: span(rng, 6, 29)?,
        page_transfer: span(rng, 1, 3)?,
        erase_suspend: rng.one_of(&[None, None, Span::from_ns(1), Span::from_ns(4)]),
        command: rng.one_of(&[None, None, None, Span::from_ns(1), Span::from_ns(2)]),
        ..DeviceSpec::default()
    };
    Device::new(spec).ok()
}

/// This number of tasks.
pub fn draw_tasks(rng: &mut Stream, count: u64) -> Vec<Task> {
    let mut request = || {
        let period = rng.within(20, 400);
        let access = rng.one_of(&Access::ALL);
        let request = Request::new(rng.within(1, 7), Span::from_ns(period)?)?.with_access(access);
        // Some wait in a buffer of several.
        let longest = period * rng.one_of(&[1, 1, 1, 4]);
        let deadline = rng.within(period / 3 + 1, longest);
        let request = request.with_deadline(Span::from_ns(deadline))?;
        request.with_jitter(Span::from_ns(rng.within(0, 1) * rng.within(0, deadline.min(period) - 1))?)
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
    let first = 7 * count;
    (first..first + count).map(&mut task).collect()
}

/// A processor among others on its channel, with garbage collection.
pub struct Drawn {
    /// The processor.
    pub processor: Processor,
    /// How its pages wait.
    pub contention: Contention,
    /// As it is with some deadline; `None` where nothing is written or there is no room for it.
    pub gc: Option<ChosenGc>,
    /// Whether the bus serves first come, first served.
    pub queue: bool,
    /// For what else is to be drawn.
    pub rng: Stream,
}

impl Drawn {
    /// That of a seed, if there is one.
    pub fn new(seed: u64) -> Option<Drawn> {
        let mut rng = Stream::numbered(seed, b"the-line", 0);
        let device = draw_device(&mut rng)?;
        let two = Stream::numbered(seed, b"register", 0).within(0, 5) == 0;
        let mut rng_of_failures = Stream::numbered(seed, b"failures", 0);
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
        let (tasks, size) = (draw_tasks(&mut rng, most), rng.small(1, 3));
        // Some own zones, where all that writes is a stream.
        let zoned = placement == Placement::Stripe && tasks.iter().all(Task::fits_zones) && seed.is_multiple_of(5);
        let placement = if zoned { Placement::Zoned } else { placement };
        let processor = Processor::new(&device, &tasks, size, placement, bus)?;
        let mut contention = Contention::new(&device).with_more(rng.within(0, 1) * rng.within(0, 2));
        let mut rng_of_gc = Stream::numbered(seed, b"the-gc--", 0);
        let mut gc = |processor: &Processor| {
            if processor.write_streams.is_empty() {
                None
            } else {
                processor.gc(Span::from_ns(rng_of_gc.within(1, 300))?, false)
            }
        };
        let mut others = Vec::new();
        for _ in 0..(if stripe { rng.within(0, 2) } else { 0 }) {
            let most = rng.within(1, 3);
            others.push((draw_tasks(&mut rng, most), rng.within(1, 2)));
        }
        // Nor may programs fail in a queue.
        let queue = stripe && rng.within(0, 2) > 0 && failing.is_none();
        // In a queue all are stripes.
        let mut rng_of_rows = Stream::numbered(seed, b"the-rows", 0);
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
