//! `rtflash-ftl` on a Cortex-M4: requests come as their certificate declares, the device is in
//! memory, and time is virtual. The operations go into a file, to be compared with those of the
//! executor; their cost is counted.

#![no_std]
#![no_main]

mod file;
mod nand;

use core::fmt::Write;

use cortex_m::peripheral::SYST;
use cortex_m::peripheral::syst::SystClkSource;
use cortex_m_rt::entry;
use cortex_m_semihosting::{debug, hprintln};
use panic_semihosting as _;
use rtflash_ftl::image::{Image, ImageOrganisation};
use rtflash_ftl::{
    AtStart, Ftl, FtlCluster, FtlMemory, FtlProcessor, GcJob, NONE, RequestHost, RequestOrder, RequestSlot, SourceSlot,
};
use static_cell::ConstStaticCell;

use file::HostFile;
use nand::{Action, Done, Nand, Orders};

include!(concat!(env!("OUT_DIR"), "/geometry.rs"));
static IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/image.bin"));

/// How long requests come, in nanoseconds.
const DURATION: u64 = match option_env!("RTFLASH_DURATION_MS") {
    Some(text) => number(text) * 1_000_000,
    None => 10_000_000_000,
};

const fn number(text: &str) -> u64 {
    let (bytes, mut place, mut number) = (text.as_bytes(), 0, 0);
    while place < bytes.len() {
        number = number * 10 + (bytes[place] - b'0') as u64;
        place += 1;
    }
    number
}

const PAGES: usize = GEOMETRY.chips * GEOMETRY.blocks * GEOMETRY.pages;

static WORDS: ConstStaticCell<[u32; GEOMETRY.words()]> = ConstStaticCell::new([0; GEOMETRY.words()]);
static BITS: ConstStaticCell<[u64; GEOMETRY.bits()]> = ConstStaticCell::new([0; GEOMETRY.bits()]);
static GC_JOBS: ConstStaticCell<[GcJob; GEOMETRY.gc_jobs]> = ConstStaticCell::new([GcJob::EMPTY; GEOMETRY.gc_jobs]);
static CLUSTERS: ConstStaticCell<[FtlCluster; GEOMETRY.clusters]> =
    ConstStaticCell::new([FtlCluster::EMPTY; GEOMETRY.clusters]);
static SOURCES: ConstStaticCell<[SourceSlot; GEOMETRY.sources]> =
    ConstStaticCell::new([SourceSlot::EMPTY; GEOMETRY.sources]);
static REQUESTS: ConstStaticCell<[RequestSlot; GEOMETRY.requests]> =
    ConstStaticCell::new([RequestSlot::EMPTY; GEOMETRY.requests]);
static PROCESSORS: ConstStaticCell<[Option<FtlProcessor<'static>>; GEOMETRY.processors]> =
    ConstStaticCell::new([const { None }; GEOMETRY.processors]);
static FLASH: ConstStaticCell<[u32; PAGES]> = ConstStaticCell::new([0; PAGES]);
static WAITING: ConstStaticCell<[(u64, u32); GEOMETRY.chips]> = ConstStaticCell::new([(0, 0); GEOMETRY.chips]);
/// The next page and time of each source.
static NEXT: ConstStaticCell<[(u32, u64); GEOMETRY.sources]> = ConstStaticCell::new([(0, 0); GEOMETRY.sources]);
/// The pages of a request.
static PLACES: ConstStaticCell<[u32; GEOMETRY.request_pages]> = ConstStaticCell::new([0; GEOMETRY.request_pages]);

/// Every logical page has been written once, in order, as with the executor's `--aging fresh`.
struct WrittenOnce<'a> {
    image: Image<'a>,
}

impl AtStart for WrittenOnce<'_> {
    fn pages(&mut self, processor: u32, lpns: &mut [u32]) -> u32 {
        let mut before = 0;
        for number in 0..self.image.clusters() {
            let Some(of) = self.image.cluster(number) else { break };
            if processor < before + of.processors() {
                let column = processor - before;
                let superblock = of.organisation() == ImageOrganisation::Superblock;
                let (stride, count) = if superblock { (1, of.chips()) } else { (of.chips(), 1) };
                let programmed = of.logical_per_chip() * count;
                for (lpn, nth) in lpns.iter_mut().zip(0..programmed) {
                    *lpn = nth * stride + column;
                }
                return programmed;
            }
            before += of.processors();
        }
        0
    }

    fn ring(&mut self, _: u32, _: u32) -> u32 {
        0
    }

    fn is_written(&mut self, _: u32, _: u32) -> bool {
        false
    }
}

/// Requests that the host learns to be over.
struct Over {
    /// Source, number and deadline of those that are over at an instant: one an operation at most.
    requests: [(u32, u64, u64); nand::MOST_CHIPS],
    count: usize,
}

impl Over {
    const NOTHING: Over = Over { requests: [(0, 0, 0); nand::MOST_CHIPS], count: 0 };
}

impl RequestHost for Over {
    fn complete(&mut self, source: u32, index: u64, due_ns: u64) {
        self.requests[self.count] = (source, index, due_ns);
        self.count += 1;
    }

    fn starved(&mut self, processor: u32) {
        panic!("processor {processor} has no free page");
    }
}

/// Instructions, counted by the clock: 25 MHz, and an instruction takes 64 ns.
#[derive(Default)]
struct Counted {
    times: u64,
    ticks: u64,
    most: u32,
}

impl Counted {
    fn of<T>(&mut self, what: impl FnOnce() -> T) -> T {
        let before = SYST::get_current();
        let result = what();
        let ticks = before.wrapping_sub(SYST::get_current()) & 0x00FF_FFFF;
        (self.times, self.ticks, self.most) = (self.times + 1, self.ticks + u64::from(ticks), self.most.max(ticks));
        result
    }

    /// Counts the instructions of several decisions, whose number `what` returns, one at least:
    /// each counts with its share.
    fn of_many(&mut self, what: impl FnOnce() -> usize) {
        let before = SYST::get_current();
        let times = what().max(1);
        let ticks = before.wrapping_sub(SYST::get_current()) & 0x00FF_FFFF;
        (self.times, self.ticks) = (self.times + times as u64, self.ticks + u64::from(ticks));
        self.most = self.most.max(ticks / times as u32);
    }

    fn tell(&self, what: &str, nothing: u64) {
        let instructions = |ticks: u64| ticks * 1_000 / 1_600;
        let mean = instructions(self.ticks).checked_div(self.times).unwrap_or(0).saturating_sub(nothing);
        let most = instructions(u64::from(self.most)).saturating_sub(nothing);
        hprintln!("{}: {} times, {} instructions in the mean, {} at most", what, self.times, mean, most);
    }
}

#[entry]
fn main() -> ! {
    run();
    debug::exit(debug::EXIT_SUCCESS);
    loop {}
}

fn run() {
    let mut core = cortex_m::Peripherals::take().expect("this is the first to take them");
    core.SYST.set_clock_source(SystClkSource::Core);
    core.SYST.set_reload(0x00FF_FFFF);
    core.SYST.clear_current();
    core.SYST.enable_counter();
    let image = Image::read(IMAGE).expect("a sound image");
    let memory = FtlMemory {
        words: WORDS.take().as_mut_slice(),
        bits: BITS.take().as_mut_slice(),
        gc_jobs: GC_JOBS.take().as_mut_slice(),
        processors: PROCESSORS.take().as_mut_slice(),
        clusters: CLUSTERS.take().as_mut_slice(),
        sources: SOURCES.take().as_mut_slice(),
        requests: REQUESTS.take().as_mut_slice(),
    };
    let mut ftl = Ftl::new(&image, 0, memory, &mut WrittenOnce { image }).expect("memory as the geometry says");
    let flash = FLASH.take();
    fill(&image, flash);
    let mut nand = Nand::new(image.device(), flash, WAITING.take().as_mut_slice());
    let mut file = HostFile::create("firmware.txt\0");
    let (next, places) = (NEXT.take(), PLACES.take());
    let mut orders = Orders::new();
    let [mut nothing, mut arrivals, mut ends, mut dispatches] = [const { Counted { times: 0, ticks: 0, most: 0 } }; 4];
    (0..1_000).for_each(|_| nothing.of(|| ()));
    let (mut over, mut late, mut host) = (0, 0, Over::NOTHING);
    loop {
        let release = next.iter().map(|&(_, at)| at).min().unwrap_or(u64::MAX);
        let release = if release < DURATION { release } else { u64::MAX };
        nand.now = release.min(nand.next());
        if nand.now == u64::MAX {
            break;
        }
        for (number, next) in (0..).zip(next.iter_mut()) {
            if next.1 == nand.now && nand.now < DURATION {
                let pages = draw(&image, number, &mut next.0, places);
                let taken = arrivals.of(|| ftl.request(number, None, nand.now, pages));
                taken.expect("a request as declared");
                next.1 += image.source(number).map_or(u64::MAX, |of| of.period_ns);
            }
        }
        while let Some((chip, suspended)) = nand.ended(&mut |done| tell(&mut file, &done)) {
            ends.of(|| if suspended { ftl.suspended(chip, &mut host) } else { ftl.ended(chip, &mut host) });
        }
        while let Some((chip, has_moved)) = nand.in_registers() {
            ends.of(|| if has_moved { ftl.moved(chip, &mut host) } else { ftl.sensed(chip) });
        }
        if nand.now >= DURATION {
            ftl.carry_on(&mut orders);
        } else {
            dispatches.of_many(|| {
                ftl.dispatch(&mut orders, &mut host);
                orders.count()
            });
        }
        for &(source, index, due) in &host.requests[..core::mem::take(&mut host.count)] {
            (over, late) = (over + 1, late + u32::from(nand.now > due));
            let _ = writeln!(file, "{} over {source} {index}", nand.now);
        }
        for order in orders.take() {
            nand.begin(order, &mut |done| tell(&mut file, &done));
        }
        nand.grant(&mut |done| tell(&mut file, &done));
        while let Some(chip) = nand.take_granted() {
            ftl.granted(chip);
        }
    }
    file.flush();
    hprintln!("{} requests over, {} late", over, late);
    let nothing = nothing.ticks * 1_000 / 1_600 / nothing.times;
    arrivals.tell("request", nothing);
    ends.tell("ended", nothing);
    dispatches.tell("a decision of dispatch", nothing);
    let slots = size_of::<[Option<FtlProcessor<'_>>; GEOMETRY.processors]>()
        + size_of::<[FtlCluster; GEOMETRY.clusters]>()
        + size_of::<[SourceSlot; GEOMETRY.sources]>()
        + size_of::<[RequestSlot; GEOMETRY.requests]>()
        + size_of::<[GcJob; GEOMETRY.gc_jobs]>();
    hprintln!("RAM: {} bytes", 4 * GEOMETRY.words() + 8 * GEOMETRY.bits() + slots);
}

/// The device as [`WrittenOnce`] has it.
fn fill(image: &Image<'_>, flash: &mut [u32]) {
    flash.fill(NONE);
    let device = image.device();
    let (pages, blocks) = (device.pages_per_block as usize, device.blocks_per_chip as usize);
    for number in 0..image.clusters() {
        let Some(of) = image.cluster(number) else { break };
        let width = of.chips() as usize;
        for column in 0..of.chips() {
            let chip = of.chip(column).unwrap_or(0) as usize;
            for nth in 0..of.logical_per_chip() {
                // Row nth of a chip of a stripe, and of a superblock, holds the same page.
                flash[chip * blocks * pages + nth as usize] = nth * width as u32 + column;
            }
        }
    }
}

/// The pages of the next request of a source, in order from where the last one ended, as with the
/// executor's `--pattern sequential`.
fn draw<'p>(image: &Image<'_>, number: u32, next: &mut u32, places: &'p mut [u32]) -> &'p [u32] {
    let Some(of) = image.source(number) else { return &[] };
    if of.order == RequestOrder::Consecutive && of.page_count - *next < of.pages {
        *next = 0;
    }
    let pages = &mut places[..of.pages as usize];
    for page in pages.iter_mut() {
        let at = *next % of.page_count;
        *page = of.first_page + at;
        *next = at + 1;
    }
    pages
}

/// Tells of an operation.
fn tell(file: &mut HostFile, done: &Done) {
    let action = match done.action {
        Action::Read | Action::Sense | Action::Send => "read",
        Action::Program | Action::Load | Action::ProgramLoaded => "program",
        Action::Erase | Action::Resume => "erase",
        Action::ErasePart => "erase-part",
    };
    let kind = if done.collects { "gc" } else { "request" };
    let Done { chip, start, end, at, lpn, .. } = done;
    let _ = writeln!(file, "{start} {end} {chip} {action} {} {} {} {kind}", at.block, at.page as i32, *lpn as i32);
}
