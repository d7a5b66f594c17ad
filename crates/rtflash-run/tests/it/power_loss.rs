//! Firmware on chips as slow as their certificate supposes, aged, and without power now and then:
//! nothing acknowledged is lost, there is always room to recover, and behind each recovery no
//! request is late.

use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use rtflash_alloc::allocator::{Outcome, allocator};
use rtflash_analysis::{Analysis, analysis_relying_on};
use rtflash_ftl::image::{Image, ImageOrganisation};
use rtflash_ftl::{
    FlashPage, Ftl, Geometry, NandChips, OperationPurpose, PassOutcome, Refused, RequestHost, RequestOrder, SpareBytes,
};
use rtflash_model::random::Stream;
use rtflash_model::{Access, Arrivals, ClusterId, Device, Job, Reliance, Request, Task, TaskSet};
use rtflash_plan::{Aging, Certified, ClusterPlan, ColumnId, Plan, Promise, initial_pages, initial_zones};
use rtflash_testkit::cases;
use rtflash_testkit::ns;
use rtflash_trace::NO_LPN;

use crate::common::Words;
use crate::flash::{Flash, Lists, PowerLost};

/// A small device with a few tasks. If they own zones, those that write are streams.
fn set(rng: &mut Stream, zoned: bool) -> Option<TaskSet> {
    let mut spec = Device::profile("dgist-2021").expect("a profile").spec();
    (spec.chips, spec.chips_per_channel) = (rng.small(1, 5), rng.small(1, 3));
    (spec.blocks_per_chip, spec.pages_per_block) = (rng.small(10, 40), rng.small(2, 8));
    if rng.within(0, 2) > 0 {
        spec.spare_blocks = Some(rng.small(1, 3));
        spec.program_failures = (rng.within(0, 1) == 0).then_some(1);
    }
    (spec.page_read, spec.page_program, spec.block_erase, spec.page_transfer) = (ns(40), ns(90), ns(300), ns(10));
    if rng.within(0, 2) == 0 {
        (spec.erase_suspend, spec.erase_resume) = (Some(ns(rng.within(5, 60))), Some(ns(rng.within(0, 30))));
    }
    if rng.within(0, 2) == 0 {
        spec.wear_gap = Some(rng.small(1, 3));
        spec.wear_passes = (rng.within(0, 1) == 0).then(|| rng.small(2, 8));
    }
    let device = Device::new(spec).ok()?;
    let task = |number: u64, rng: &mut Stream| {
        let access = Access::ALL[usize::try_from(rng.within(0, Access::ALL.len() as u64 - 1)).ok()?];
        let mut request = |cost: u64| {
            let pages = rng.within(1, 12);
            let period = pages * cost * rng.within(1, 4);
            let request = Request::new(pages, ns(period))?.with_access(access);
            // Some wait in a buffer of three.
            let buffered = period * rng.one_of(&[0, 0, 2]);
            request.with_deadline(Some(ns(buffered + period - rng.within(0, period / 3))))
        };
        let (read, write) = (request(100)?, request(400)?);
        let kinds = rng.within(0, 3);
        let write = if zoned { write.with_access(Access::Stream) } else { write };
        let (read, write) = ((kinds != 1).then_some(read), (kinds != 0).then_some(write));
        let data_pages = zoned.then(|| rng.within(20, 60));
        Some(Task { name: format!("t{number}"), read, write, data_pages })
    };
    let tasks: Option<Vec<Task>> = (0..rng.within(1, 4)).map(|number| task(number, rng)).collect();
    // The jobs that are not real-time, as many as fit.
    let arrivals = Arrivals::Every(ns(1_000));
    let stream = Job { name: "jobs".into(), read_pages: 4, write_pages: 8, arrivals };
    let jobs = if !zoned && rng.within(0, 2) == 0 { vec![stream] } else { vec![] };
    TaskSet::new(device, tasks?, jobs).ok()
}

/// Chips as slow as they may be: each page waits for one of each other chip of its channel.
struct SlowChips<'f> {
    flash: &'f mut Flash,
    device: rtflash_ftl::image::ImageDevice,
    /// For each chip, the number of others on its channel that are of its superblock.
    own: Vec<u64>,
    now: u64,
    ends: Vec<(u64, u32)>,
    /// Chips whose erases are being suspended, and what is left of those that are.
    suspends: HashSet<u32>,
    left: HashMap<u32, u64>,
    levelled: u64,
    /// The superblock of each chip, and when that began to do something for which request last.
    superblocks: HashMap<u32, u32>,
    begun: HashMap<u32, (u64, OperationPurpose)>,
    filled_in: u64,
    /// Requests that go round and are not over: which source, and their first page.
    rounds: HashMap<(u32, u64), (u32, u32)>,
    /// The page behind the last request of each source that goes round.
    behind: HashMap<u32, u32>,
    /// Numbers of the streams of jobs.
    jobs: HashSet<u32>,
    jobs_over: u64,
    late: Vec<(u32, u64, u64)>,
    starved: u64,
    over: u64,
}

impl SlowChips<'_> {
    /// Counts what begins beside something else of a superblock.
    fn begins(&mut self, chip: u32, purpose: OperationPurpose) {
        let whose = |purpose| match purpose {
            OperationPurpose::Request { source, index, .. } => Some((source, index)),
            OperationPurpose::Collection => None,
        };
        let Some(&superblock) = self.superblocks.get(&chip) else { return };
        let before = self.begun.insert(superblock, (self.now, purpose));
        let beside = before.is_some_and(|(at, of)| at == self.now && whose(of) != whose(purpose));
        self.filled_in += u64::from(beside);
    }

    fn takes(&mut self, chip: u32, length: u64) {
        self.ends.push((self.now + length, chip));
    }

    /// The time of a page on the bus, waiting included.
    fn bus(&self, chip: u32) -> u64 {
        let first = chip / self.device.chips_per_channel * self.device.chips_per_channel;
        let on_channel = self.device.chips.min(first + self.device.chips_per_channel) - first;
        u64::from(on_channel) * self.device.page_transfer_ns
    }
}

impl NandChips for SlowChips<'_> {
    fn read(&mut self, chip: u32, at: FlashPage, lpn: u32, purpose: OperationPurpose) {
        NandChips::read(self.flash, chip, at, lpn, purpose);
        self.begins(chip, purpose);
        // Beside a page that is read a superblock's other chips are silent, or read for the same
        // pass.
        let own = self.own[chip as usize];
        self.takes(chip, self.device.page_read_ns + self.bus(chip) - own * self.device.page_transfer_ns);
    }

    fn program(&mut self, chip: u32, at: FlashPage, spare: SpareBytes, purpose: OperationPurpose) {
        NandChips::program(self.flash, chip, at, spare, purpose);
        self.begins(chip, purpose);
        self.takes(chip, self.device.page_program_ns + self.bus(chip));
    }

    fn copyback(&mut self, chip: u32, from: FlashPage, to: FlashPage, spare: SpareBytes) {
        NandChips::copyback(self.flash, chip, from, to, spare);
        self.takes(chip, self.device.page_read_ns + self.device.page_program_ns);
    }

    fn erase(&mut self, chip: u32, block: u32, purpose: OperationPurpose) {
        NandChips::erase(self.flash, chip, block, purpose);
        self.takes(chip, self.device.block_erase_ns);
    }

    /// As late as the device states.
    fn suspend(&mut self, chip: u32) {
        NandChips::suspend(self.flash, chip);
        let until = self.now + self.device.erase_suspend_ns;
        let end = self.ends.iter_mut().find(|end| end.1 == chip).expect("it erases");
        if end.0 > until {
            self.left.insert(chip, end.0 - self.now + self.device.erase_resume_ns);
            self.suspends.insert(chip);
            end.0 = until;
        }
    }

    fn resume(&mut self, chip: u32, block: u32) {
        NandChips::resume(self.flash, chip, block);
        let left = self.left.remove(&chip).expect("it was suspended");
        self.takes(chip, left);
    }

    fn sense(&mut self, _: u32, _: FlashPage, _: u32, _: OperationPurpose, _: Option<u32>) {
        unreachable!("no chip uses a second page register")
    }

    fn send(&mut self, _: u32) {
        unreachable!("no chip uses a second page register")
    }

    fn load(&mut self, _: u32, _: FlashPage, _: SpareBytes, _: OperationPurpose) {
        unreachable!("no chip uses a second page register")
    }

    fn program_loaded(&mut self, _: u32) {
        unreachable!("no chip uses a second page register")
    }
}

impl RequestHost for SlowChips<'_> {
    fn complete(&mut self, source: u32, index: u64, due_ns: u64) {
        if self.jobs.contains(&source) {
            // It may be a step late.
            self.jobs_over += 1;
            return self.flash.complete(source, index, due_ns);
        }
        self.over += 1;
        if self.now > due_ns {
            self.late.push((source, index, due_ns));
        }
        self.flash.complete(source, index, due_ns);
        if let Some((position, _)) = self.rounds.remove(&(source, index)) {
            // The source asks again from the first request that is not over.
            let waiting = self.rounds.iter().filter(|((of, _), _)| *of == source);
            let first = waiting.min_by_key(|((_, index), _)| *index).map(|(_, &(_, first))| first);
            self.flash.goes_on.insert(position, first.unwrap_or(self.behind[&position]));
        }
    }

    fn starved(&mut self, _: u32) {
        self.starved += 1;
    }
}

/// The events that a dispatch reports by itself: requests without a free page, and blocks whose
/// pages are moved for wear.
#[derive(Default)]
struct Told(u64, u64);

impl RequestHost for Told {
    fn complete(&mut self, _: u32, _: u64, _: u64) {}

    fn starved(&mut self, _: u32) {
        self.0 += 1;
    }

    fn pass(&mut self, _: u32, _: Option<u32>, _: u64, outcome: PassOutcome) {
        self.1 += u64::from(matches!(outcome, PassOutcome::Levelling(_)));
    }
}

#[derive(Debug, Default)]
struct Seen {
    sets: u64,
    superblocks: u64,
    zoned: u64,
    /// Oldest pages of rings that power has cost.
    lost: u64,
    recovered: u64,
    in_recoveries: u64,
    torn: u64,
    operations: u64,
    failed_programs: u64,
    failed_erases: u64,
    suspended: u64,
    levelled: u64,
    filled_in: u64,
    over: u64,
    jobs: u64,
    late: u64,
    starved: u64,
    no_room: u64,
    /// Largest parts of what is stated of a recovery, in thousandths: looks, copies, erases.
    recovery_shares: [u64; 3],
}

/// For each chip, the number of others on its channel that are of its superblock.
fn own(image: &Image<'_>) -> Vec<u64> {
    let device = image.device();
    let mut own = vec![0; device.chips as usize];
    for number in 0..image.clusters() {
        let of = image.cluster(number).expect("a cluster");
        let chips: Vec<u32> = (0..of.chips()).map(|place| of.chip(place).expect("a chip")).collect();
        for &chip in chips.iter().filter(|_| of.organisation() == ImageOrganisation::Superblock) {
            let channel = |chip: u32| chip / device.chips_per_channel;
            own[chip as usize] = chips.iter().filter(|&&other| channel(other) == channel(chip)).count() as u64 - 1;
        }
    }
    own
}

/// The superblock that each chip is of.
fn superblocks(image: &Image<'_>) -> HashMap<u32, u32> {
    let clusters = (0..image.clusters()).map(|number| (number, image.cluster(number).expect("a cluster")));
    let superblocks = clusters.filter(|(_, of)| of.organisation() == ImageOrganisation::Superblock);
    superblocks.flat_map(|(number, of)| (0..of.chips()).map(move |at| (of.chip(at).expect("a chip"), number))).collect()
}

/// Requests every period from some offset on, until power goes.
fn runs(image: &Image<'_>, ftl: &mut Ftl<'_, '_>, flash: &mut Flash, rng: &mut Stream, seen: &mut Seen) {
    let mut sources: Vec<(u64, u32)> = (0..image.sources())
        .map(|number| (rng.within(0, image.source(number).expect("a source").period_ns), 0))
        .collect();
    if rng.within(0, 2) == 0 {
        sources.iter_mut().for_each(|source| source.0 = 0);
    }
    // A task that goes round continues with the pages that were not reported as written.
    for (number, source) in (0..).zip(&mut sources) {
        let first = image.source(number).expect("a source").first_page;
        source.1 = ftl.next_of_round(number).map_or(0, |next| *flash.goes_on.entry(number).or_insert(next - first));
    }
    let device = image.device();
    // Blocks fail as soon as they may, or now and then.
    let seldom = [0, 4, 40][usize::try_from(rng.within(0, 2)).expect("a place")];
    let (ends, late, suspends, left) = (Vec::new(), Vec::new(), HashSet::new(), HashMap::new());
    let (rounds, behind) = (HashMap::new(), HashMap::new());
    let (own, superblocks) = (own(image), superblocks(image));
    let (now, starved, over, levelled, jobs_over) = (0, 0, 0, 0, 0);
    let jobs = (0..image.job_streams()).map(|stream| image.job_stream(stream).expect("a stream").number).collect();
    let mut chips = SlowChips {
        flash,
        device,
        own,
        now,
        ends,
        suspends,
        left,
        levelled,
        superblocks,
        begun: HashMap::new(),
        filled_in: 0,
        rounds,
        behind,
        jobs,
        jobs_over,
        late,
        starved,
        over,
    };
    while !chips.flash.is_out() {
        let release = sources.iter().map(|&(at, _)| at).min().unwrap_or(u64::MAX);
        chips.now = chips.ends.iter().map(|&(at, _)| at).min().unwrap_or(u64::MAX).min(release);
        for (number, (at, next)) in (0..).zip(&mut sources) {
            if *at != chips.now {
                continue;
            }
            let of = image.source(number).expect("a source");
            let pages: Vec<u32> = if of.order == RequestOrder::Any {
                (0..of.pages).map(|_| of.first_page + rng.small(0, of.page_count - 1)).collect()
            } else {
                (0..of.pages).map(|nth| of.first_page + (*next + nth) % of.page_count).collect()
            };
            let first = *next;
            *next = (first + of.pages) % of.page_count;
            let taken = ftl.request(number, None, chips.now, &pages).expect("as declared, and nothing late");
            if of.order == RequestOrder::Round {
                chips.rounds.insert((of.number, taken.index), (number, first));
                chips.behind.insert(number, *next);
            }
            assert_eq!(taken.due_ns, chips.now + of.deadline_ns);
            *at += of.period_ns;
        }
        if image.job_streams() > 0 && rng.within(0, 3) == 0 {
            let stream = rng.small(0, image.job_streams() - 1);
            let of = image.job_stream(stream).expect("a stream");
            let pages: Vec<u32> =
                (0..rng.within(1, 12)).map(|_| of.first_page + rng.small(0, of.page_count - 1)).collect();
            let (reads, writes) = pages.split_at(usize::try_from(rng.within(0, pages.len() as u64)).expect("a place"));
            let taken = ftl.job(stream, chips.now, reads, writes);
            assert!(matches!(taken, Ok(_) | Err(Refused::Full)), "{taken:?}");
        }
        let now = chips.now;
        let mut ended: Vec<u32> = chips.ends.extract_if(.., |end| end.0 == now).map(|(_, chip)| chip).collect();
        ended.sort_unstable();
        for chip in ended {
            if chips.suspends.remove(&chip) {
                chips.flash.suspends(chip);
                assert!(ftl.suspended(chip, &mut chips));
            } else if chips.flash.may_fail(chip)
                && rng.within(0, seldom) == 0
                && (!chips.flash.erases(chip) || rng.within(0, 3) == 0)
            {
                chips.flash.fails(chip);
                assert!(ftl.failed(chip, &mut chips));
            } else {
                chips.flash.ends(chip);
                assert!(ftl.ended(chip, &mut chips));
            }
        }
        let mut told = Told::default();
        ftl.dispatch(&mut chips, &mut told);
        chips.starved += told.0;
        chips.levelled += told.1;
    }
    seen.late += chips.late.len() as u64;
    seen.starved += chips.starved;
    seen.over += chips.over;
    seen.jobs += chips.jobs_over;
    seen.levelled += chips.levelled;
    seen.filled_in += chips.filled_in;
}

/// The chips as a run of the executor finds them, with the reserve free and nothing else.
fn age(plan: &Plan, image: &Image<'_>, flash: &mut Flash, seed: u64) {
    let Promise::Certified(certified) = plan.promise() else { panic!("certificates") };
    for (number, of) in plan.clusters().enumerate() {
        let by = &certified[number];
        if by.is_zoned() {
            age_zones((number, of, by), image, flash, seed);
            continue;
        }
        let columns = if by.is_stripe() { of.chips.len() } else { 1 };
        for column in 0..columns {
            let chips = if by.is_stripe() { &of.chips[column..=column] } else { &of.chips[..] };
            let mut stream = Stream::numbered(seed, b"initial\0", chips[0].into());
            let column = ColumnId(u32::try_from(column).expect("few chips"));
            let held = initial_pages(&of.layout, by.certificate.placement, column, Aging::Worst, &mut stream);
            let width = u32::try_from(chips.len()).expect("few chips");
            for (page, lpn) in (0u32..).zip(&held) {
                let (block, nth) = (page / (width * of.layout.pages()), page % (width * of.layout.pages()));
                let at = FlashPage { block, page: nth / width };
                let sequence = u64::from(page) + 1;
                let spare =
                    SpareBytes { identity: image.identity(), cluster: number.0, lpn: lpn.0, sequence, erases: 0 };
                flash.hold(chips[(nth % width) as usize].0, at, (*lpn != NO_LPN).then_some(spare));
            }
        }
    }
}

/// Ages a cluster whose tasks own zones: each ring ends with a block.
fn age_zones((number, of, by): (ClusterId, &ClusterPlan, &Certified), image: &Image<'_>, flash: &mut Flash, seed: u64) {
    let identity = image.identity();
    for (column, chip) in (0..).map(ColumnId).zip(&of.chips) {
        let found = initial_zones(of, by, column, Aging::Worst, seed);
        for (ring, next) in by.rings.iter().zip(found.next) {
            let all = ring.zones() * of.layout.pages();
            for nth in 0..all {
                let place = (next + nth) % all;
                let at = FlashPage {
                    block: ring.blocks.start.0 + place / of.layout.pages(),
                    page: place % of.layout.pages(),
                };
                let Some(lpn) = found.blocks[at.block as usize].get(at.page as usize) else { continue };
                let sequence = u64::from(nth) + 1;
                let spare = SpareBytes { identity, cluster: number.0, lpn: lpn.0, sequence, erases: 0 };
                flash.hold(chip.0, at, (*lpn != NO_LPN).then_some(spare));
            }
        }
    }
}

/// How many programs of each chip may fail until power goes: no more than while it is busy.
fn failures(plan: &Plan) -> HashMap<u32, u32> {
    (0..plan.device().chips()).map(|chip| (chip, plan.device().program_failures())).collect()
}

/// Some runs of one allocation, each ended by a loss of power.
fn lives(plan: &Plan, image: &Image<'_>, rng: &mut Stream, seen: &mut Seen) {
    let geometry = Geometry::of(image, 0).expect("a small device");
    let (mut lists, mut flash) = (Lists::new(&geometry), Flash::new(image));
    age(plan, image, &mut flash, rng.within(0, 1_000));
    for _ in 0..8 {
        let bytes: Vec<u8> = (0..400).map(|_| u8::try_from(rng.within(0, 255)).expect("a byte")).collect();
        let mut words = Words(&bytes);
        flash.last = if rng.within(0, 2) == 0 { rng.within(1, 60) } else { u64::MAX };
        let cut = rng.within(1, 1_500);
        let then = |ftl: &mut Ftl<'_, '_>, flash: &mut Flash| {
            flash.keeps_its_word(image, ftl);
            (flash.begun, flash.last) = (0, cut);
            flash.program_failures = failures(plan);
            runs(image, ftl, flash, rng, seen);
        };
        match catch_unwind(AssertUnwindSafe(|| lists.recovered(image, &mut flash, then))) {
            Ok(Ok(())) => seen.recovered += 1,
            Ok(Err(_)) => {
                seen.no_room += 1;
                return;
            }
            Err(lost) if lost.is::<PowerLost>() => seen.in_recoveries += 1,
            Err(other) => resume_unwind(other),
        }
        flash.loses_power(&mut words);
    }
    seen.torn += flash.torn;
    for (seen, share) in seen.recovery_shares.iter_mut().zip(flash.recovery_shares) {
        *seen = share.max(*seen);
    }
    seen.operations += flash.operations;
    seen.failed_programs += flash.failed_programs;
    seen.failed_erases += flash.failed_erases;
    seen.suspended += flash.suspensions;
    seen.lost += flash.lost;
}

#[test]
fn behind_a_loss_of_power_nothing_is_lost_and_no_request_is_late() {
    let mut seen = Seen::default();
    for case in 0..cases(600u64) {
        let mut rng = Stream::numbered(5, b"power\0\0\0", case);
        let name = ["stripe", "superblock", "sound", "zoned"][usize::try_from(rng.within(0, 3)).expect("a place")];
        let Some(set) = set(&mut rng, name == "zoned") else { continue };
        // One superblock of all chips has most to fill in.
        let algorithm = if name == "superblock" && case % 2 == 0 { "global" } else { "best-fit" };
        let analysis: &dyn Analysis = analysis_relying_on(name, Reliance::Nothing).expect("an analysis");
        let Outcome::Schedulable(found) = allocator(algorithm).expect("an algorithm").allocate(&set, analysis) else {
            continue;
        };
        let plan = rtflash_run::plan(&set, &found, analysis).expect("it can be run");
        let bytes = plan.image(case % 4 != 3).expect("firmware can run it");
        let image = Image::read(&bytes).expect("a sound image");
        seen.sets += 1;
        let Promise::Certified(certified) = plan.promise() else { panic!("certificates") };
        seen.zoned += u64::from(name == "zoned");
        seen.superblocks += u64::from(plan.clusters().ids().any(|of: ClusterId| !certified[of].is_stripe()));
        lives(&plan, &image, &mut rng, &mut seen);
    }
    println!("{seen:?}");
    assert!(seen.late == 0 && seen.starved == 0 && seen.no_room == 0, "{seen:?}");
    assert!(seen.sets > 100 && seen.recovered > 500 && seen.over > 10_000 && seen.torn > 150, "{seen:?}");
    assert!(seen.jobs > 5_000, "{seen:?}");
    assert!(seen.filled_in > 500, "{seen:?}");
    assert!(seen.suspended > 500 && seen.levelled > 2_500, "{seen:?}");
    assert!(seen.failed_programs > 150 && seen.failed_erases > 100, "{seen:?}");
    assert!(seen.recovery_shares.iter().all(|&share| share > 100), "{seen:?}");
}
