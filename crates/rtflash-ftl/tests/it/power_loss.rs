//! Power is lost at every operation, in the middle of programs and erases, and in recoveries: what
//! was acknowledged is there, and the reserve is there again.

#![allow(clippy::cast_possible_truncation)]

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::common::{InRegister, Words, cases, small_image};
use crate::flash::{Flash, Lists, PowerLost};
use rtflash_ftl::image::{
    ClusterParts, Image, ImageCollection, ImageDevice, ImageOrganisation, ImageParts, ImageRing, ImageSource,
};
use rtflash_ftl::{Ftl, Geometry, Refused, RequestOrder, SetupError};

fn drawn(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..length).map(|_| next()).collect()
}

#[derive(Debug, Default)]
struct Seen {
    images: u64,
    cuts: u64,
    in_recoveries: u64,
    torn: u64,
    no_room: u64,
    acknowledged: u64,
    failed_programs: u64,
    failed_erases: u64,
    failed_in_zones: u64,
    cached: u64,
    suspensions: u64,
    /// Oldest pages of rings that power has cost.
    lost: u64,
    /// As in the chips.
    recovery_shares: [u64; 3],
}

/// Requests as bytes say, operations that end in any order, until power goes or the bytes are over.
fn runs(image: &Image<'_>, ftl: &mut Ftl<'_, '_>, flash: &mut Flash, words: &mut Words<'_>) -> u64 {
    let (mut now, mut over) = (0u64, 0);
    // A task that writes to a ring can go back once.
    let mut went_on = vec![false; image.sources() as usize];
    let mut under_way: HashMap<u32, HashMap<u64, u32>> = HashMap::new();
    flash.completed.clear();
    let chips = image.device().chips;
    while !words.is_over() && !flash.is_out() {
        if words.byte().is_multiple_of(3) {
            let source = words.below(image.sources());
            let of = image.source(source).expect("a source");
            let count = 1 + words.below(of.pages);
            let chips = image.cluster(of.cluster).expect("a cluster").chips();
            // Pages of its requests that are not over.
            let waiting: u32 = under_way.get(&source).map_or(0, |requests| {
                let is_over = |index: &u64| flash.completed.contains(&(of.number, *index));
                requests.iter().filter(|(index, _)| !is_over(index)).map(|(_, pages)| pages).sum()
            });
            if ftl.next_of_round(source).is_some() && 2 * (waiting + of.pages + chips - 1) >= of.page_count {
                // In so short a round only who sends the requests knows where to go on.
                continue;
            }
            let first = match ftl.next_of_round(source) {
                // It goes on, or where power was lost back with what was not said to be written.
                Some(next) => {
                    let back = if went_on[source as usize] { 0 } else { words.below(of.pages.min(of.page_count) + 1) };
                    next - of.first_page + of.page_count - back
                }
                None => words.below(of.page_count),
            };
            let pages: Vec<u32> = (0..count).map(|nth| of.first_page + (first + nth) % of.page_count).collect();
            let taken = ftl.request(source, None, now, &pages);
            let is_round = ftl.next_of_round(source).is_some();
            assert!(!is_round || !matches!(taken, Err(Refused::Page(_))), "{taken:?}");
            went_on[source as usize] |= taken.is_ok();
            if let Ok(taken) = taken {
                under_way.entry(source).or_default().insert(taken.index, count);
            }
            over += u64::from(taken.is_ok());
            now += u64::from(words.below(60));
        } else if image.job_streams() > 0 && words.byte().is_multiple_of(5) {
            let stream = words.below(image.job_streams());
            crate::common::job(image, stream, false, words, |reads, writes| {
                ftl.job(stream, now, reads, writes).is_ok()
            });
        } else if words.byte().is_multiple_of(6) {
            let source = words.below(image.sources());
            let of = image.source(source).expect("a source");
            let pages: Vec<u32> = (0..words.below(9)).map(|_| of.first_page + words.below(of.page_count)).collect();
            if ftl.trim(source, &pages).is_ok() {
                flash.trimmed(of.cluster, &pages);
            }
        } else {
            let from = words.below(chips);
            let is_at_work = |&chip: &u32| flash.busy(chip) || flash.registers.are_at_work(chip);
            let busy = (from..from + chips).map(|chip| chip % chips).find(is_at_work);
            match busy {
                Some(chip)
                    if flash.registers.are_at_work(chip) && (!flash.busy(chip) || words.byte().is_multiple_of(2)) =>
                {
                    let ended = match flash.registers.ends(chip, words.byte().is_multiple_of(2)) {
                        InRegister::Sensed => ftl.sensed(chip),
                        InRegister::Moved => ftl.moved(chip, flash),
                    };
                    assert!(ended);
                }
                Some(chip) if flash.may_fail(chip) && words.byte().is_multiple_of(8) => {
                    flash.fails(chip);
                    assert!(ftl.failed(chip, flash));
                }
                Some(chip) if flash.is_asked(chip) && words.byte().is_multiple_of(2) => {
                    flash.suspends(chip);
                    assert!(ftl.suspended(chip, flash));
                }
                Some(chip) => {
                    flash.ends(chip);
                    assert!(ftl.ended(chip, flash));
                }
                None => {}
            }
        }
        dispatch(ftl, flash);
    }
    over
}

/// Steps begin, and the host is told by the same that does them.
fn dispatch(ftl: &mut Ftl<'_, '_>, flash: &mut Flash) {
    /// Told nothing: requests end by operations alone, but for reads of what was never written.
    struct Nobody;
    impl rtflash_ftl::RequestHost for Nobody {
        fn complete(&mut self, _: u32, _: u64, _: u64) {}
        fn starved(&mut self, _: u32) {}
    }
    ftl.dispatch(flash, &mut Nobody);
}

/// Recovers, also where power is lost meanwhile, and goes on for a while.
fn recovers(image: &Image<'_>, lists: &mut Lists, flash: &mut Flash, words: &mut Words<'_>, seen: &mut Seen) -> bool {
    loop {
        flash.last = if !words.is_over() && words.byte().is_multiple_of(2) {
            u64::from(words.byte() % 16) + 1
        } else {
            u64::MAX
        };
        let then = |ftl: &mut Ftl<'_, '_>, flash: &mut Flash| {
            flash.keeps_its_word(image, ftl);
            let mut number = 0;
            for cluster in 0..image.clusters() {
                let of = image.cluster(cluster).expect("a cluster");
                let reserve = of.collection().map_or(0, |of| of.reserve_pages);
                for _ in 0..of.processors() {
                    let (arrived, free, pending) = ftl.reserve(number).expect("a processor");
                    assert!(arrived == 0 && pending == 0 && u64::from(free) >= reserve, "R5");
                    number += 1;
                }
            }
        };
        match catch_unwind(AssertUnwindSafe(|| lists.recovered(image, flash, then))) {
            Ok(Ok(())) => return true,
            Ok(Err(SetupError::NoRoom(processor))) => {
                assert!(!has_room(image, flash, processor), "processor {processor} has a block that it may lend");
                seen.no_room += 1;
                return false;
            }
            Ok(Err(other)) => panic!("{other}"),
            Err(lost) if lost.is::<PowerLost>() => {
                seen.in_recoveries += 1;
                flash.loses_power(words);
            }
            Err(other) => resume_unwind(other),
        }
    }
}

/// Whether there is room to collect garbage for sure: a block of each chip of a processor is kept
/// back still, and a block is left beside the reserve and all that is mapped.
fn has_room(image: &Image<'_>, flash: &Flash, processor: u32) -> bool {
    let mut before = 0;
    for of in (0..image.clusters()).filter_map(|number| image.cluster(number)) {
        if processor < before + of.processors() {
            let superblock = of.organisation() == ImageOrganisation::Superblock;
            let width = if superblock { of.chips() } else { 1 };
            let chips = if superblock { 0..of.chips() } else { processor - before..processor - before + 1 };
            let device = image.device();
            let blocks = device.blocks_per_chip.saturating_sub(device.spare_blocks * width + 1);
            let most = u64::from(blocks * device.pages_per_block * width);
            let reserve = of.collection().map_or(0, |of| of.reserve_pages);
            let fits = reserve + u64::from(of.logical_per_chip() * width) <= most;
            return fits && chips.into_iter().all(|place| flash.keeps_back(of.chip(place).expect("a chip")));
        }
        before += of.processors();
    }
    false
}

/// Some runs, each ended by a cut behind so many operations, each begun by a recovery.
fn lives(image: &Image<'_>, seed: u64, cut: u64, seen: &mut Seen) {
    let geometry = Geometry::of(image, 0).expect("a small image");
    let (mut lists, mut flash) = (Lists::new(&geometry), Flash::new(image));
    let bytes = drawn(seed, if cfg!(miri) { 800 } else { 4_000 });
    let mut words = Words(&bytes);
    for life in 0..4 {
        if !recovers(image, &mut lists, &mut flash, &mut words, seen) {
            return;
        }
        flash.begun = 0;
        flash.last = if life == 0 { cut } else { 1 + u64::from(words.byte() % 64) };
        let mut run = |ftl: &mut Ftl<'_, '_>, flash: &mut Flash| runs(image, ftl, flash, &mut words);
        let last = flash.last;
        flash.last = u64::MAX;
        let ran = lists.recovered(image, &mut flash, |ftl, flash| {
            (flash.begun, flash.last) = (0, last);
            run(ftl, flash)
        });
        seen.acknowledged += ran.expect("it was recovered just now");
        flash.loses_power(&mut words);
        seen.cuts += 1;
    }
    seen.torn += flash.torn;
    seen.failed_programs += flash.failed_programs;
    seen.failed_erases += flash.failed_erases;
    seen.failed_in_zones += flash.failed_in_zones;
    seen.cached += flash.cached;
    seen.suspensions += flash.suspensions;
    seen.lost += flash.lost;
    for (seen, share) in seen.recovery_shares.iter_mut().zip(flash.recovery_shares) {
        *seen = share.max(*seen);
    }
}

#[test]
fn what_is_acknowledged_survives_a_loss_of_power_at_every_operation() {
    let mut seen = Seen::default();
    for seed in 0..cases(140, 6) {
        let bytes = drawn(seed, 200);
        let image = small_image(&mut Words(&bytes));
        let Ok(image) = Image::read(&image) else { continue };
        if Geometry::of(&image, 0).is_none_or(|of| of.requests > 4_000) {
            continue;
        }
        seen.images += 1;
        for cut in (1..40).step_by(if cfg!(miri) { 16 } else { 1 }) {
            lives(&image, 1_000 * seed + cut, cut, &mut seen);
        }
    }
    println!("{seen:?}");
    if cfg!(miri) {
        assert!(seen.cuts > 0 && seen.acknowledged > 0, "{seen:?}");
        return;
    }
    assert!(seen.images > 50 && seen.cuts > 5_000 && seen.torn > 1_000 && seen.in_recoveries > 500, "{seen:?}");
    assert!(seen.failed_programs > 1_000 && seen.failed_erases > 500, "{seen:?}");
    assert!(seen.failed_in_zones > 100 && seen.cached > 1_000, "{seen:?}");
    assert!(seen.suspensions > 50 && seen.lost > 50, "{seen:?}");
    assert!(seen.recovery_shares.iter().all(|&share| share > 200), "{seen:?}");
}

/// A superblock of two chips, of which two blocks each may fail; one task writes, one reads.
fn superblock() -> Vec<u8> {
    let device = ImageDevice {
        chips: 2,
        chips_per_channel: 2,
        blocks_per_chip: 9,
        pages_per_block: 2,
        page_bytes: 4_096,
        spare_blocks: 2,
        wear_gap: 0,
        page_read_ns: 5,
        page_program_ns: 20,
        block_erase_ns: 50,
        page_transfer_ns: 4,
        command_ns: 0,
        erase_suspend_ns: 9,
        erase_resume_ns: 2,
    };
    let collection = ImageCollection {
        deadline_ns: Some(100_000),
        reclaimed_pages: 3,
        reserve_pages: 4,
        victim_pages: 1,
        wear_pages: 0,
    };
    let cluster = ClusterParts {
        organisation: ImageOrganisation::Superblock,
        suspends_erases: true,
        backfills: false,
        cached: false,
        chips: &[0, 1],
        logical_per_chip: 3,
        collection: Some(collection),
        server: None,
        rings: &[],
    };
    let reads = ImageSource {
        number: 0,
        cluster: 0,
        writes: false,
        order: RequestOrder::Any,
        pages: 1,
        first_page: 0,
        page_count: 6,
        period_ns: 100,
        deadline_ns: 100,
        jitter_ns: 0,
    };
    let writes = ImageSource { number: 1, writes: true, pages: 4, ..reads };
    let parts = ImageParts { device, clusters: &[cluster], sources: &[reads, writes], jobs: &[] };
    let mut bytes = vec![0; parts.encoded_len().expect("a small image")];
    assert_eq!(parts.encode(&mut bytes), Some(bytes.len()));
    bytes
}

/// An erase fails on one chip of a superblock, and is suspended on the other one: it has failed
/// when it is over, whatever was done in between.
#[test]
fn an_erase_that_failed_before_it_was_suspended_has_failed() {
    let bytes = superblock();
    let image = Image::read(&bytes).expect("a sound image");
    let (mut lists, mut flash) = (Lists::new(&Geometry::of(&image, 0).expect("small")), Flash::new(&image));
    let failed = lists.recovered(&image, &mut flash, |ftl, flash| {
        let mut failed = false;
        for now in (0u64..).step_by(100).take(200) {
            let first = u32::try_from(now / 100 % 3).expect("small");
            ftl.request(1, None, now, &[first, 5 - first, first + 1, 4]).expect("as declared");
            let mut read = false;
            dispatch(ftl, flash);
            while let Some(chip) = (0..2).find(|&chip| flash.busy(chip)) {
                if flash.erases(0) && flash.erases(1) && !failed && !read {
                    ftl.request(0, None, now, &[first]).expect("as declared");
                    dispatch(ftl, flash);
                    assert!(flash.is_asked(0) && flash.is_asked(1), "a read is more urgent than the pass");
                    flash.fails(0);
                    assert!(ftl.failed(0, flash));
                    flash.suspends(1);
                    assert!(ftl.suspended(1, flash));
                    (failed, read) = (true, true);
                } else {
                    flash.ends(chip);
                    assert!(ftl.ended(chip, flash));
                }
                dispatch(ftl, flash);
            }
        }
        failed
    });
    assert!(failed.expect("there is room") && flash.suspensions == 1, "{flash:?}");
}

/// A chip with zones: a ring of two blocks, a block that is nobody's, and two that are kept back.
fn zones_and_a_block_of_nobody() -> Vec<u8> {
    let base = superblock();
    let device = ImageDevice {
        chips: 1,
        chips_per_channel: 1,
        blocks_per_chip: 5,
        erase_suspend_ns: 0,
        erase_resume_ns: 0,
        ..Image::read(&base).expect("a sound image").device()
    };
    let ring = ImageRing { first_block: 0, blocks: 2, first_page: 0, page_count: 2, writes: true };
    let cluster = ClusterParts {
        organisation: ImageOrganisation::Zoned,
        suspends_erases: false,
        backfills: false,
        cached: false,
        chips: &[0],
        logical_per_chip: 6,
        collection: None,
        server: None,
        rings: &[ring],
    };
    let writes = ImageSource {
        number: 0,
        cluster: 0,
        writes: true,
        order: RequestOrder::Round,
        pages: 1,
        first_page: 0,
        page_count: 2,
        period_ns: 1_000,
        deadline_ns: 1_000,
        jitter_ns: 0,
    };
    let parts = ImageParts { device, clusters: &[cluster], sources: &[writes], jobs: &[] };
    let mut bytes = vec![0; parts.encoded_len().expect("a small image")];
    assert_eq!(parts.encode(&mut bytes), Some(bytes.len()));
    bytes
}

/// A block of a ring fails, and power is lost while the one in its place takes its first page. In a
/// recovery that one comes in a place again, and not a block that is in no ring: it is not erased.
#[test]
fn a_block_that_took_the_place_of_another_is_not_kept_back_again() {
    let bytes = zones_and_a_block_of_nobody();
    let image = Image::read(&bytes).expect("a sound image");
    let (mut lists, mut flash) = (Lists::new(&Geometry::of(&image, 0).expect("small")), Flash::new(&image));
    for (now, page) in [(0, 0), (1_000, 0)] {
        let ran = lists.recovered(&image, &mut flash, |ftl, flash| {
            ftl.request(0, None, now, &[page]).expect("as declared");
            dispatch(ftl, flash);
            assert!(flash.erases(0), "a block is reset before it takes a page");
            flash.ends(0);
            assert!(ftl.ended(0, flash));
            dispatch(ftl, flash);
            flash.fails(0);
            assert!(ftl.failed(0, flash));
            // To the block in its place, which is erased.
            dispatch(ftl, flash);
            assert!(flash.busy(0));
        });
        ran.expect("there is room");
        flash.loses_power(&mut Words(&[2]));
    }
    assert_eq!((flash.failed_programs, flash.torn), (2, 2));
}
