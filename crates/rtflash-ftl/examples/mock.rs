//! A controller around the state machine, with a mock of a NAND device: what each page holds is in
//! memory, and time is virtual. All that firmware has to write is here once, to run on a computer.
//!
//! ```text
//! rtflash export firmware tasksets/case-study.json --out image.bin
//! cargo run --release -p rtflash-ftl --example mock -- image.bin 1000
//! ```
//!
//! Requests come for so many milliseconds, as often as their tasks declare and with all pages that
//! they declare, round and round. It says how many were over, and how long they took at most beside
//! their deadlines. A page that is read has to hold what was written last. Images whose
//! certificates use a second page register or suspend erases need a driver that does, and zones one
//! that resets them.

use std::collections::HashMap;
use std::process::ExitCode;

use rtflash_ftl::image::{Image, ImageDevice};
use rtflash_ftl::{
    AllErased, BusQueue, FlashPage, Ftl, FtlMemory, Geometry, NandChips, OperationPurpose, RequestHost, SpareBytes,
};

/// The data of a page: of which logical page of which cluster, and which write of it that was.
#[derive(Clone, Copy, PartialEq, Eq)]
struct PageData {
    cluster: u32,
    lpn: u32,
    version: u64,
}

/// The work of a chip, and its end.
#[derive(Clone, Copy)]
enum Stage {
    /// It senses a page, which goes over the bus then.
    Senses(u64),
    /// It waits for the bus, and ends so long behind the grant.
    Waits(u64),
    Ends(u64),
}

/// Chips and buses.
struct MockNand<'m> {
    device: ImageDevice,
    now: u64,
    flash: HashMap<(u32, u32, u32), PageData>,
    /// The pages that were read for garbage collection.
    buffer: HashMap<u32, PageData>,
    /// How often each logical page of each cluster was written.
    versions: HashMap<(u32, u32), u64>,
    stages: Vec<Option<Stage>>,
    /// The bus of each channel, and when it is free.
    buses: Vec<(BusQueue<'m>, u64)>,
    operations: u64,
    erases: u64,
}

impl<'m> MockNand<'m> {
    fn new(device: ImageDevice, waiting: &'m mut [(u64, u32)]) -> MockNand<'m> {
        let buses = waiting.chunks_mut(device.chips_per_channel as usize).map(|of| (BusQueue::new(of), 0));
        MockNand {
            device,
            now: 0,
            flash: HashMap::new(),
            buffer: HashMap::new(),
            versions: HashMap::new(),
            stages: vec![None; device.chips as usize],
            buses: buses.collect(),
            operations: 0,
            erases: 0,
        }
    }

    fn begins(&mut self, chip: u32, stage: Stage) {
        assert!(self.stages[chip as usize].replace(stage).is_none(), "a chip does one thing at a time");
        self.operations += 1;
        if let Stage::Waits(_) = stage {
            self.asks(chip);
        }
    }

    fn asks(&mut self, chip: u32) {
        let bus = &mut self.buses[(chip / self.device.chips_per_channel) as usize].0;
        assert!(bus.ask(self.now, chip), "a chip waits once");
    }

    /// Programs a page, which has to be erased.
    fn keeps(&mut self, chip: u32, at: FlashPage, data: PageData) {
        assert!(self.flash.insert((chip, at.block, at.page), data).is_none(), "pages are programmed once");
    }

    /// The next instant at which something ends, or a bus is granted.
    fn next(&self) -> Option<u64> {
        let stages = self.stages.iter().flatten().filter_map(|stage| match *stage {
            Stage::Senses(until) | Stage::Ends(until) => Some(until),
            Stage::Waits(_) => None,
        });
        let grants = self.buses.iter().filter_map(|(bus, free)| bus.first().map(|(since, _)| since.max(*free)));
        stages.chain(grants).min()
    }

    /// Buses that are free take who has waited longest; pages that have been sensed ask for theirs.
    fn goes_on(&mut self) {
        for chip in 0..self.device.chips {
            if let Some(Stage::Senses(until)) = self.stages[chip as usize]
                && until == self.now
            {
                self.stages[chip as usize] = Some(Stage::Waits(self.device.page_transfer_ns));
                self.asks(chip);
            }
        }
        for (bus, free) in &mut self.buses {
            if *free > self.now {
                continue;
            }
            if let Some(chip) = bus.grant()
                && let Some(Stage::Waits(span)) = self.stages[chip as usize]
            {
                *free = self.now + self.device.page_transfer_ns;
                self.stages[chip as usize] = Some(Stage::Ends(self.now + span));
            }
        }
    }

    /// A chip whose operation ends now.
    fn ended(&mut self) -> Option<u32> {
        let ends = |stage: &Option<Stage>| matches!(stage, Some(Stage::Ends(until)) if *until == self.now);
        let place = self.stages.iter().position(ends)?;
        self.stages[place] = None;
        u32::try_from(place).ok()
    }
}

impl NandChips for MockNand<'_> {
    fn read(&mut self, chip: u32, at: FlashPage, lpn: u32, purpose: OperationPurpose) {
        let data = self.flash[&(chip, at.block, at.page)];
        assert_eq!(data.lpn, lpn, "a page holds what was programmed");
        assert_eq!(data.version, self.versions[&(data.cluster, lpn)], "and that is what was written last");
        if purpose == OperationPurpose::Collection {
            self.buffer.insert(lpn, data);
        }
        self.begins(chip, Stage::Senses(self.now + self.device.page_read_ns));
    }

    fn program(&mut self, chip: u32, at: FlashPage, spare: SpareBytes, purpose: OperationPurpose) {
        let SpareBytes { cluster, lpn, .. } = spare;
        let data = if purpose == OperationPurpose::Collection {
            self.buffer[&lpn]
        } else {
            let version = self.versions.entry((cluster, lpn)).or_default();
            *version += 1;
            PageData { cluster, lpn, version: *version }
        };
        self.keeps(chip, at, data);
        self.begins(chip, Stage::Waits(self.device.page_transfer_ns + self.device.page_program_ns));
    }

    fn copyback(&mut self, chip: u32, from: FlashPage, to: FlashPage, _: SpareBytes) {
        self.keeps(chip, to, self.flash[&(chip, from.block, from.page)]);
        let ends = self.now + self.device.page_read_ns + self.device.page_program_ns;
        self.begins(chip, Stage::Ends(ends));
    }

    fn erase(&mut self, chip: u32, block: u32, _: OperationPurpose) {
        self.flash.retain(|&(of, number, _), _| (of, number) != (chip, block));
        self.erases += 1;
        self.begins(chip, Stage::Ends(self.now + self.device.block_erase_ns));
    }

    fn suspend(&mut self, _: u32) {
        unreachable!("images that suspend erases are not taken");
    }

    fn resume(&mut self, _: u32, _: u32) {
        unreachable!("images that suspend erases are not taken");
    }

    fn sense(&mut self, _: u32, _: FlashPage, _: u32, _: OperationPurpose, _: Option<u32>) {
        unreachable!("images with a second page register are not taken");
    }

    fn send(&mut self, _: u32) {
        unreachable!("images with a second page register are not taken");
    }

    fn load(&mut self, _: u32, _: FlashPage, _: SpareBytes, _: OperationPurpose) {
        unreachable!("images with a second page register are not taken");
    }

    fn program_loaded(&mut self, _: u32) {
        unreachable!("images with a second page register are not taken");
    }
}

/// The known state of a source's requests.
#[derive(Clone, Default)]
struct SourceRun {
    next: u64,
    /// The first page of the next request, counted from the first one of the range.
    page: u32,
    over: u64,
    late: u64,
    longest: u64,
}

/// The sender of the requests.
struct MockHost<'a> {
    image: Image<'a>,
    now: u64,
    sources: Vec<SourceRun>,
}

impl RequestHost for MockHost<'_> {
    fn complete(&mut self, source: u32, _: u64, due_ns: u64) {
        let declared = self.image.source(source).expect("a source of the image");
        let of = &mut self.sources[source as usize];
        of.over += 1;
        of.late += u64::from(self.now > due_ns);
        of.longest = of.longest.max(self.now + declared.deadline_ns - due_ns);
    }

    fn starved(&mut self, processor: u32) {
        panic!("processor {processor} has no free page");
    }
}

/// Runs an image for so many nanoseconds.
fn run(image: Image<'_>, duration: u64) -> Result<(), String> {
    let device = image.device();
    for of in (0..image.clusters()).filter_map(|number| image.cluster(number)) {
        if of.is_cached() || of.suspends_erases() || of.rings() > 0 || device.command_ns > 0 {
            return Err("this driver knows one page register, whole erases, no zones and no commands".into());
        }
    }
    let geometry = Geometry::of(&image, 0).ok_or("the device is too large")?;
    let (mut words, mut bits) = (vec![0; geometry.words()], vec![0; geometry.bits()]);
    let mut gc_jobs = vec![Default::default(); geometry.gc_jobs];
    let mut processors: Vec<_> = (0..geometry.processors).map(|_| None).collect();
    let mut clusters = vec![Default::default(); geometry.clusters];
    let mut sources = vec![Default::default(); geometry.sources];
    let mut requests = vec![Default::default(); geometry.requests];
    let memory = FtlMemory {
        words: &mut words,
        bits: &mut bits,
        gc_jobs: &mut gc_jobs,
        processors: &mut processors,
        clusters: &mut clusters,
        sources: &mut sources,
        requests: &mut requests,
    };
    let mut ftl = Ftl::new(&image, 0, memory, &mut AllErased).map_err(|error| format!("{error:?}"))?;
    let mut waiting = vec![(0, 0); device.chips as usize];
    let mut nand = MockNand::new(device, &mut waiting);
    let mut host = MockHost { image, now: 0, sources: vec![SourceRun::default(); image.sources() as usize] };
    loop {
        let release = host.sources.iter().map(|of| of.next).min().filter(|&at| at < duration);
        let Some(now) = release.into_iter().chain(nand.next()).min() else { break };
        (nand.now, host.now) = (now, now);
        // Completions are handed over, and then the next steps begin.
        for number in 0..image.sources() {
            let declared = image.source(number).ok_or("a source of the image")?;
            let of = &mut host.sources[number as usize];
            if of.next == now && now < duration {
                let pages: Vec<u32> = (0..declared.pages)
                    .map(|page| declared.first_page + (of.page + page) % declared.page_count)
                    .collect();
                of.page = (of.page + declared.pages) % declared.page_count;
                of.next += declared.period_ns;
                ftl.request(number, None, now, &pages).map_err(|refused| format!("{refused:?}"))?;
            }
        }
        while let Some(chip) = nand.ended() {
            ftl.ended(chip, &mut host);
        }
        ftl.dispatch(&mut nand, &mut host);
        nand.goes_on();
    }
    println!("{} operations, {} erases", nand.operations, nand.erases);
    for (number, of) in (0..).zip(&host.sources) {
        let declared = image.source(number).ok_or("a source of the image")?;
        let does = if declared.writes { "writes" } else { "reads" };
        let (longest, deadline) = (of.longest / 1_000, declared.deadline_ns / 1_000);
        println!(
            "source {number} {does}: {} requests, {longest} us at most of {deadline} us, {} late",
            of.over, of.late
        );
    }
    if host.sources.iter().any(|of| of.late > 0) { Err("requests are late".into()) } else { Ok(()) }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, milliseconds] = &arguments[..] else {
        eprintln!("usage: mock IMAGE MILLISECONDS");
        return ExitCode::from(2);
    };
    let bytes = std::fs::read(path).map_err(|error| format!("{path}: {error}"));
    let duration = milliseconds.parse::<u32>().map_err(|error| format!("{milliseconds}: {error}"));
    let outcome = bytes.and_then(|bytes| {
        let image = Image::read(&bytes).map_err(|error| format!("{path}: {error:?}"))?;
        run(image, u64::from(duration?) * 1_000_000)
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(says) => {
            eprintln!("error: {says}");
            ExitCode::FAILURE
        }
    }
}
