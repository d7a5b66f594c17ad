//! Blocks that fail at the worst time (docs/analysis.md, Section 17): firmware on sets brought to
//! the limit of what is accepted, on buses that serve first come, first served. The adversary that
//! chooses failures sees the pending work.

mod limit;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rtflash_analysis::analysis_relying_on;
use rtflash_ftl::image::{Image, ImageDevice, ImageOrganisation};
use rtflash_ftl::{FlashPage, Ftl, Geometry, NandChips, OperationPurpose, RequestHost, RequestOrder, SpareBytes};
use rtflash_model::random::Stream;
use rtflash_plan::{Aging, ColumnId, Plan, Promise, initial_pages};
use rtflash_testkit::cases;
use rtflash_trace::NO_LPN;

use crate::flash::{Flash, Lists};
use limit::{Limit, one_in};

/// The work of a chip: parts, each with or without the bus. `until`: the end of the first one, if
/// it has begun; `asked`: since when it waits for the bus.
struct Doing {
    parts: VecDeque<(bool, u64)>,
    until: u64,
    asked: u64,
    purpose: OperationPurpose,
}

struct Chips<'f> {
    flash: &'f mut Flash,
    device: ImageDevice,
    now: u64,
    doing: BTreeMap<u32, Doing>,
    /// The chip that has the bus of a channel.
    bus: BTreeMap<u32, u32>,
    /// Chips whose erases are being suspended, and what is left of those that are.
    suspends: BTreeSet<u32>,
    left: BTreeMap<u32, u64>,
    /// When requests are due.
    pending: BTreeMap<(u32, u64), u64>,
    begun: Vec<OperationPurpose>,
    seen: Seen,
}

#[derive(Debug, Default, Clone, Copy)]
struct Seen {
    sets: u64,
    over: u64,
    late: u64,
    starved: u64,
    /// Instants at which fewer pages are free than are pending.
    short: u64,
    programs: u64,
    erases: u64,
}

impl Chips<'_> {
    fn begins(&mut self, chip: u32, parts: &[(bool, u64)], purpose: OperationPurpose) {
        let parts: VecDeque<(bool, u64)> = parts.iter().copied().filter(|part| part.1 > 0).collect();
        let until = if parts[0].0 { u64::MAX } else { self.now + parts[0].1 };
        self.begun.push(purpose);
        let before = self.doing.insert(chip, Doing { parts, until, asked: self.now, purpose });
        assert!(before.is_none(), "chip {chip} is idle");
    }

    /// The events of this instant: the chips whose operations are over.
    fn ends(&mut self) -> Vec<u32> {
        let mut over = Vec::new();
        for (&chip, doing) in self.doing.iter_mut().filter(|(_, doing)| doing.until == self.now) {
            if doing.parts.pop_front().is_some_and(|part| part.0) {
                self.bus.retain(|_, on_it| *on_it != chip);
            }
            match doing.parts.front() {
                None => over.push(chip),
                Some(&(true, _)) => (doing.until, doing.asked) = (u64::MAX, self.now),
                Some(&(false, time)) => doing.until = self.now + time,
            }
        }
        over
    }

    /// Grants each free bus to the chip that has waited longest.
    fn grants(&mut self, lowest: bool) {
        let waiting = self.doing.iter().filter(|it| it.1.until == u64::MAX);
        let mut waiting: Vec<(u64, u32)> = waiting.map(|(&chip, it)| (it.asked, chip)).collect();
        waiting.sort_by_key(|&(asked, chip)| (asked, if lowest { chip } else { u32::MAX - chip }));
        for (_, chip) in waiting {
            if let Entry::Vacant(free) = self.bus.entry(chip / self.device.chips_per_channel) {
                free.insert(chip);
                let doing = self.doing.get_mut(&chip).expect("it waits");
                doing.until = self.now + doing.parts[0].1;
            }
        }
    }
}

impl NandChips for Chips<'_> {
    fn read(&mut self, chip: u32, at: FlashPage, lpn: u32, purpose: OperationPurpose) {
        NandChips::read(self.flash, chip, at, lpn, purpose);
        let ImageDevice { page_read_ns: sense, page_transfer_ns: page, command_ns: command, .. } = self.device;
        self.begins(chip, &[(true, command), (false, sense), (true, page)], purpose);
    }

    fn program(&mut self, chip: u32, at: FlashPage, spare: SpareBytes, purpose: OperationPurpose) {
        NandChips::program(self.flash, chip, at, spare, purpose);
        let ImageDevice { page_program_ns: program, page_transfer_ns: page, command_ns: command, .. } = self.device;
        self.begins(chip, &[(true, command + page), (false, program)], purpose);
    }

    fn copyback(&mut self, chip: u32, from: FlashPage, to: FlashPage, spare: SpareBytes) {
        NandChips::copyback(self.flash, chip, from, to, spare);
        let time = self.device.page_read_ns + self.device.page_program_ns;
        self.begins(chip, &[(true, self.device.command_ns), (false, time)], OperationPurpose::Collection);
    }

    fn erase(&mut self, chip: u32, block: u32, purpose: OperationPurpose) {
        NandChips::erase(self.flash, chip, block, purpose);
        self.begins(chip, &[(true, self.device.command_ns), (false, self.device.block_erase_ns)], purpose);
    }

    fn suspend(&mut self, chip: u32) {
        NandChips::suspend(self.flash, chip);
        let doing = self.doing.get_mut(&chip).expect("it erases");
        let until = self.now + self.device.erase_suspend_ns;
        if doing.until > until {
            self.left.insert(chip, doing.until - self.now + self.device.erase_resume_ns);
            doing.until = until;
            self.suspends.insert(chip);
        }
    }

    fn resume(&mut self, chip: u32, block: u32) {
        NandChips::resume(self.flash, chip, block);
        let left = self.left.remove(&chip).expect("it was suspended");
        self.begins(chip, &[(false, left)], OperationPurpose::Collection);
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

impl RequestHost for Chips<'_> {
    fn complete(&mut self, source: u32, index: u64, due_ns: u64) {
        (self.seen.over, self.seen.late) = (self.seen.over + 1, self.seen.late + u64::from(self.now > due_ns));
        self.pending.remove(&(source, index));
        self.flash.complete(source, index, due_ns);
    }

    fn starved(&mut self, _: u32) {
        self.seen.starved += 1;
    }
}

/// The events that a dispatch reports by itself: requests whose pages were never written are over.
#[derive(Default)]
struct Told(u64, Vec<(u32, u64, u64)>);

impl RequestHost for Told {
    fn complete(&mut self, source: u32, index: u64, due_ns: u64) {
        self.1.push((source, index, due_ns));
    }

    fn starved(&mut self, _: u32) {
        self.0 += 1;
    }
}

/// Whether what a chip of this cluster has done fails, by who thinks so: all that may (0 and 1);
/// while something more urgent waits; while something is due soon; of all chips within the same
/// times; copies; erases; now and then.
fn fails((who, time): (u64, u64), chips: &Chips<'_>, image: &Image<'_>, of: (u32, u32), rng: &mut Stream) -> bool {
    let pending =
        || chips.pending.iter().filter(|it| image.source(it.0.0).is_some_and(|source| source.cluster == of.1));
    let (erases, purpose) = (chips.flash.erases(of.0), chips.doing[&of.0].purpose);
    let own = match purpose {
        OperationPurpose::Request { source, index, .. } => chips.pending.get(&(source, index)).copied(),
        OperationPurpose::Collection => None,
    };
    match who {
        0 | 1 => true,
        2 => pending().any(|(_, &due)| own.is_none_or(|own| due < own)),
        3 => pending().any(|(_, &due)| due < chips.now + time),
        4 => chips.now % (8 * time) < time,
        5 => !erases && purpose == OperationPurpose::Collection,
        6 => erases,
        _ => one_in(rng, 1 + time / 200),
    }
}

/// When a source's requests come: the number that is left before it waits for the worst instant.
struct Source {
    next: u64,
    left: u64,
    page: u32,
}

/// The processors: of which cluster, and its chips.
fn processors(image: &Image<'_>) -> Vec<(u32, Vec<u32>)> {
    let clusters = (0..image.clusters()).map(|number| (number, image.cluster(number).expect("a cluster")));
    let all = clusters.flat_map(|(number, of)| {
        let chips: Vec<u32> = (0..of.chips()).map(|place| of.chip(place).expect("a chip")).collect();
        let one = of.organisation() == ImageOrganisation::Superblock;
        let each = if one { chips.len() } else { 1 };
        chips.chunks(each).map(|chips| (number, chips.to_vec())).collect::<Vec<_>>()
    });
    all.collect()
}

/// Runs until the chips have begun the last operation that the flash allows.
fn run(image: &Image<'_>, ftl: &mut Ftl<'_, '_>, mut chips: Chips<'_>, at_once: u32, rng: &mut Stream) -> Seen {
    let (processors, who, erases_fail) =
        (processors(image), (rng.within(0, 7), rng.within(200, 2_500)), one_in(rng, 2));
    let (pattern, lowest) = (rng.within(0, 3), one_in(rng, 2));
    let source = |number| image.source(number).expect("a source");
    let next = |number, rng: &mut Stream| if pattern == 0 { 0 } else { rng.within(0, source(number).period_ns) };
    let left = if pattern == 3 { 0 } else { u64::MAX };
    let mut sources: Vec<Source> =
        (0..image.sources()).map(|number| Source { next: next(number, rng), left, page: 0 }).collect();
    // One goes on always: the others come behind its operations.
    let bait = rng.small(0, image.sources() - 1);
    sources[bait as usize].left = u64::MAX;
    while !chips.flash.is_out() {
        let releases = sources.iter().filter(|it| it.left > 0).map(|it| it.next);
        chips.now = releases.chain(chips.doing.values().map(|doing| doing.until)).min().expect("the bait");
        for (number, it) in (0..).zip(&mut sources).filter(|(_, it)| it.left > 0) {
            if it.next != chips.now {
                continue;
            }
            let of = source(number);
            let range = if one_in(rng, 3) { of.page_count } else { of.page_count.min(of.pages + 3) };
            let any = of.order == RequestOrder::Any;
            let page = |nth| if any { rng.small(0, range - 1) } else { (it.page + nth) % of.page_count };
            let pages: Vec<u32> = (0..of.pages).map(page).map(|page| of.first_page + page).collect();
            let Ok(taken) = ftl.request(number, None, chips.now, &pages) else {
                chips.seen.late += 1;
                return chips.seen;
            };
            chips.pending.insert((number, taken.index), taken.due_ns);
            (it.page, it.left) = ((it.page + of.pages) % of.page_count, it.left - u64::from(it.left < u64::MAX));
            it.next += of.period_ns + if pattern == 2 && one_in(rng, 4) { rng.within(0, of.period_ns) } else { 0 };
        }
        for chip in chips.ends() {
            let cluster = processors.iter().find(|of| of.1.contains(&chip)).expect("its own").0;
            if chips.suspends.remove(&chip) {
                chips.doing.remove(&chip);
                chips.flash.suspends(chip);
                assert!(ftl.suspended(chip, &mut chips));
                continue;
            }
            let may = chips.flash.may_fail(chip) && (erases_fail || who.0 == 6 || !chips.flash.erases(chip));
            let failed = may && fails(who, &chips, image, (chip, cluster), rng);
            chips.doing.remove(&chip);
            if failed {
                chips.flash.fails(chip);
                assert!(ftl.failed(chip, &mut chips));
            } else {
                chips.flash.ends(chip);
                assert!(ftl.ended(chip, &mut chips));
            }
        }
        chips.begun.clear();
        let mut told = Told::default();
        ftl.dispatch(&mut chips, &mut told);
        chips.seen.starved += told.0;
        told.1.into_iter().for_each(|(source, index, due)| chips.complete(source, index, due));
        chips.grants(lowest);
        for (number, (_, own)) in (0..).zip(&processors) {
            // Behind a break of the processor as many may fail as before.
            if own.iter().all(|chip| !chips.doing.contains_key(chip)) {
                chips.flash.program_failures.extend(own.iter().map(|&chip| (chip, at_once)));
            }
            let short = ftl.reserve(number).is_some_and(|(_, free, pending)| u64::from(free) < pending);
            chips.seen.short += u64::from(short);
        }
        let baited = |of: &OperationPurpose| !matches!(of, OperationPurpose::Request { source, .. } if *source != bait);
        if chips.begun.iter().any(baited) {
            for it in sources.iter_mut().filter(|it| it.left == 0) {
                (it.next, it.left) = (it.next.max(chips.now + 1), rng.within(1, 5));
            }
        }
    }
    chips.seen.late += chips.pending.values().filter(|&&due| due < chips.now).count() as u64;
    chips.seen
}

/// The chips as a run of the executor finds them, with the reserve free and nothing else.
fn age(plan: &Plan, image: &Image<'_>, flash: &mut Flash, seed: u64) {
    let Promise::Certified(certified) = plan.promise() else { panic!("certificates") };
    for (number, of) in plan.clusters().enumerate() {
        let by = &certified[number];
        let width = if by.is_stripe() { 1 } else { of.chips.len() };
        for (column, chips) in (0..).map(ColumnId).zip(of.chips.chunks(width)) {
            let mut stream = Stream::numbered(seed, b"initial\0", chips[0].into());
            let held = initial_pages(&of.layout, by.certificate.placement, column, Aging::Worst, &mut stream);
            let pages = width * of.layout.pages() as usize;
            for (page, (sequence, lpn)) in (1..).zip(&held).enumerate() {
                let small = |number: usize| u32::try_from(number).expect("few pages");
                let at = FlashPage { block: small(page / pages), page: small(page % pages / width) };
                let spare =
                    SpareBytes { identity: image.identity(), cluster: number.0, lpn: lpn.0, sequence, erases: 0 };
                flash.hold(chips[page % width].0, at, (*lpn != NO_LPN).then_some(spare));
            }
        }
    }
}

/// Searches `cases` sets from `first` on; if a term is left out, it stops at a late one.
fn search(beside: bool, without: Option<&'static str>, (first, cases): (u64, u64)) -> Seen {
    let mut all = Seen::default();
    for case in first..first + cases {
        let mut rng = Stream::numbered(9, b"failing\0", case);
        let Some(mut limit) = Limit::new(&mut rng, beside, without) else { continue };
        let Some((set, allocation)) = limit.reached() else { continue };
        let analysis = analysis_relying_on("sound", limit.relies).expect("an analysis");
        let Ok(plan) = rtflash_run::plan(&set, &allocation, analysis) else { continue };
        let Ok(bytes) = plan.image(true) else { continue };
        let image = Image::read(&bytes).expect("a sound image");
        let geometry = Geometry::of(&image, 0).expect("a small device");
        if without.is_some() && all.late > 0 {
            println!("{without:?}: behind case {case}");
            break;
        }
        all.sets += 1;
        for life in 0..4 {
            let (mut lists, mut flash) = (Lists::new(&geometry), Flash::new(&image));
            age(&plan, &image, &mut flash, rng.within(0, 1_000));
            flash.program_failures = (0..limit.device.chips()).map(|chip| (chip, 0)).collect();
            let (at_once, last) = (limit.device.program_failures(), rng.within(100, 1_200));
            let ran = lists.recovered(&image, &mut flash, |ftl, flash| {
                (flash.begun, flash.last) = (0, last);
                flash.program_failures.values_mut().for_each(|failures| *failures = at_once);
                let (device, (doing, bus, pending, begun, seen)) = (image.device(), Default::default());
                let (suspends, left) = Default::default();
                let chips = Chips { flash, device, now: 0, doing, bus, suspends, left, pending, begun, seen };
                run(&image, ftl, chips, at_once, &mut rng)
            });
            let seen = ran.expect("there is room");
            if without.is_none() && seen.late + seen.starved + seen.short > 0 {
                println!("case {case}, life {life}: {seen:?}, {:?} {:?}: {set:?}", limit.clusters, limit.placements);
            }
            (all.over, all.late) = (all.over + seen.over, all.late + seen.late);
            (all.starved, all.short) = (all.starved + seen.starved, all.short + seen.short);
            (all.programs, all.erases) = (all.programs + flash.failed_programs, all.erases + flash.failed_erases);
        }
    }
    all
}

#[test]
fn whatever_fails_and_when_no_request_is_late() {
    for beside in [false, true] {
        let seen = search(beside, None, (0, cases(80)));
        println!("{seen:?}");
        assert!(seen.late == 0 && seen.starved == 0 && seen.short == 0, "{seen:?}");
        assert!(seen.sets > 30 && seen.programs > 300 && seen.erases > 200, "{seen:?}");
    }
}

/// Runs find requests late without E, and without what neighbours program once more.
#[test]
fn runs_find_what_is_left_out() {
    for (beside, term, first) in [(false, "repeats", 25), (true, "repeated-transfers", 155)] {
        let seen = search(beside, Some(term), (first, cases(400)));
        println!("{term:?}: {seen:?}");
        assert!(seen.late > 0, "{term:?}: {seen:?}");
    }
}
