//! Losses of power that random runs seldom come to.

#![allow(clippy::cast_possible_truncation)]

use crate::common::{Words, cases};
use crate::flash::{Flash, Lists};
use rtflash_ftl::image::{
    ClusterParts, Image, ImageCollection, ImageDevice, ImageOrganisation, ImageParts, ImageRing, ImageSource,
};
use rtflash_ftl::{FlashPage, Ftl, Geometry, RequestOrder, SpareBytes};
use std::panic::{AssertUnwindSafe, catch_unwind};

const DEVICE: ImageDevice = ImageDevice {
    chips: 1,
    chips_per_channel: 1,
    blocks_per_chip: 6,
    pages_per_block: 4,
    page_bytes: 4096,
    spare_blocks: 1,
    wear_gap: 0,
    page_read_ns: 5,
    page_program_ns: 20,
    block_erase_ns: 50,
    page_transfer_ns: 4,
    command_ns: 0,
    erase_suspend_ns: 0,
    erase_resume_ns: 0,
};
const SOURCE: ImageSource = ImageSource {
    number: 0,
    cluster: 0,
    writes: true,
    order: RequestOrder::Any,
    pages: 4,
    first_page: 0,
    page_count: 14,
    period_ns: 100,
    deadline_ns: 100,
    jitter_ns: 0,
};
struct Nobody;
impl rtflash_ftl::RequestHost for Nobody {
    fn complete(&mut self, _: u32, _: u64, _: u64) {}
    fn starved(&mut self, _: u32) {}
}
fn image(device: ImageDevice, clusters: &[ClusterParts<'_>], sources: &[ImageSource]) -> Vec<u8> {
    let parts = ImageParts { device, clusters, sources, jobs: &[] };
    let mut bytes = vec![0; parts.encoded_len().unwrap()];
    parts.encode(&mut bytes).unwrap();
    bytes
}

#[test]
fn power_is_lost_while_a_block_is_lent() {
    let cuts = (1..30).step_by(cases(1, 12) as usize);
    for (cut, byte) in cuts.flat_map(|cut| (0..3).map(move |byte| (cut, byte))) {
        let collection = ImageCollection {
            deadline_ns: Some(1000),
            reclaimed_pages: 1,
            reserve_pages: 4,
            victim_pages: 3,
            wear_pages: 0,
        };
        let cluster = ClusterParts {
            organisation: ImageOrganisation::Stripe,
            suspends_erases: false,
            backfills: false,
            cached: false,
            chips: &[0],
            logical_per_chip: 12,
            collection: Some(collection),
            server: None,
            rings: &[],
        };
        let bytes = image(DEVICE, &[cluster], &[ImageSource { page_count: 12, ..SOURCE }]);
        let image = Image::read(&bytes).unwrap();
        let mut flash = Flash::new(&image);
        let mut lists = Lists::new(&Geometry::of(&image, 0).unwrap());
        // Five blocks are full, with two or three valid pages each; the last one is kept back.
        for at in 0..20u32 {
            let (block, page) = (at / 4, at % 4);
            let lpn = if block < 2 { 3 * block + page.min(2) } else { 6 + 2 * (block - 2) + page.min(1) };
            let spare = SpareBytes { identity: image.identity(), cluster: 0, lpn, sequence: at.into(), erases: 0 };
            flash.hold(0, FlashPage { block, page }, Some(spare));
        }
        (flash.begun, flash.last) = (8, 8 + cut);
        let lost = catch_unwind(AssertUnwindSafe(|| lists.recovered(&image, &mut flash, |_, _| ())));
        match lost {
            Ok(done) => {
                done.expect("room");
                println!("over behind {cut}");
                return;
            }
            Err(_) => flash.loses_power(&mut Words(&[byte; 100])),
        }
        flash.begun = 8;
        let again = lists.recovered(&image, &mut flash, |ftl, flash| flash.keeps_its_word(&image, ftl));
        again.unwrap_or_else(|error| panic!("cut {cut}, {byte}: {error}"));
    }
}

/// A page says that it has the last sequence number that there is: no other one is above it, and
/// nothing overflows.
#[test]
fn the_last_sequence_number_is_not_passed() {
    let collection = ImageCollection {
        deadline_ns: Some(1_000),
        reclaimed_pages: 1,
        reserve_pages: 4,
        victim_pages: 3,
        wear_pages: 0,
    };
    let cluster = ClusterParts {
        organisation: ImageOrganisation::Stripe,
        suspends_erases: false,
        backfills: false,
        cached: false,
        chips: &[0],
        logical_per_chip: 12,
        collection: Some(collection),
        server: None,
        rings: &[],
    };
    let bytes = image(DEVICE, &[cluster], &[ImageSource { page_count: 12, ..SOURCE }]);
    let image = Image::read(&bytes).unwrap();
    let (mut flash, mut lists) = (Flash::new(&image), Lists::new(&Geometry::of(&image, 0).unwrap()));
    let spare = SpareBytes { identity: image.identity(), cluster: 0, lpn: 3, sequence: u64::MAX, erases: 0 };
    flash.hold(0, FlashPage { block: 0, page: 0 }, Some(spare));
    let ran = lists.recovered(&image, &mut flash, |ftl, flash| {
        ftl.request(0, None, 0, &[0, 1]).unwrap();
        ftl.dispatch(flash, &mut Nobody);
        flash.ends(0);
        ftl.ended(0, flash)
    });
    assert!(ran.unwrap());
}

#[test]
fn a_trimmed_block_that_was_being_erased_takes_no_pages() {
    let device = ImageDevice { spare_blocks: 0, blocks_per_chip: 4, ..DEVICE };
    let collection = ImageCollection {
        deadline_ns: Some(1_000),
        reclaimed_pages: 4,
        reserve_pages: 12,
        victim_pages: 0,
        wear_pages: 0,
    };
    let cluster = ClusterParts {
        organisation: ImageOrganisation::Stripe,
        suspends_erases: false,
        backfills: false,
        cached: false,
        chips: &[0],
        logical_per_chip: 4,
        collection: Some(collection),
        server: None,
        rings: &[],
    };
    let bytes = image(device, &[cluster], &[ImageSource { page_count: 4, ..SOURCE }]);
    let image = Image::read(&bytes).unwrap();
    let mut flash = Flash::new(&image);
    let mut lists = Lists::new(&Geometry::of(&image, 0).unwrap());
    let writes = |ftl: &mut Ftl<'_, '_>, flash: &mut Flash, now: u64, pages: &[u32], trims: bool| {
        ftl.request(0, None, now, pages).unwrap();
        ftl.dispatch(flash, &mut Nobody);
        for nth in 1.. {
            if !flash.busy(0) || flash.erases(0) {
                break;
            }
            flash.ends(0);
            ftl.ended(0, flash);
            if trims && nth == pages.len() {
                ftl.trim(0, &[0]).unwrap();
            }
            ftl.dispatch(flash, &mut Nobody);
        }
    };
    lists
        .recovered(&image, &mut flash, |ftl, flash| {
            writes(ftl, flash, 0, &[0, 1, 2, 3], false);
            writes(ftl, flash, 100, &[0, 0, 0, 0], true);
            assert!(flash.erases(0));
        })
        .unwrap();
    // The first two pages are as they were, the others look erased.
    flash.loses_power(&mut Words(&[2, 0, 0, 2, 2]));
    lists.recovered(&image, &mut flash, |ftl, flash| writes(ftl, flash, 0, &[1, 2], false)).unwrap();
}

fn zoned(chips: u32, pages: u32, count: u32, blocks: u32, per: u32) -> Vec<u8> {
    let device = ImageDevice {
        chips,
        chips_per_channel: chips,
        spare_blocks: 0,
        blocks_per_chip: blocks,
        pages_per_block: per,
        ..DEVICE
    };
    let ring = ImageRing { first_block: 0, blocks, first_page: 0, page_count: count, writes: true };
    let all: Vec<u32> = (0..chips).collect();
    let cluster = ClusterParts {
        organisation: ImageOrganisation::Zoned,
        suspends_erases: false,
        backfills: false,
        cached: false,
        chips: &all,
        logical_per_chip: blocks * per,
        collection: None,
        server: None,
        rings: &[ring],
    };
    image(device, &[cluster], &[ImageSource { order: RequestOrder::Round, page_count: count, pages, ..SOURCE }])
}

/// All requests are over when power is lost: the stream goes on with the next page.
#[test]
fn a_short_round_goes_on_where_it_was() {
    let mut wrong = vec![];
    let most = |count: u64, under_miri: u64| cases(count, under_miri) as u32;
    for (chips, count, pages) in (1..most(5, 3)).flat_map(|chips| {
        (1..most(6, 3)).flat_map(move |rows| (1..=chips * rows).map(move |pages| (chips, chips * rows, pages)))
    }) {
        let bytes = zoned(chips, pages, count, 4, 3);
        let image = Image::read(&bytes).unwrap();
        for done in 0..2 * count {
            let mut flash = Flash::new(&image);
            let mut lists = Lists::new(&Geometry::of(&image, 0).unwrap());
            let go = |ftl: &mut Ftl<'_, '_>, flash: &mut Flash| {
                for nth in 0..done {
                    if ftl.request(0, None, u64::from(nth) * 100, &[nth % count]).is_err() {
                        return false;
                    }
                    ftl.dispatch(flash, &mut Nobody);
                    while let Some(chip) = (0..chips).find(|&chip| flash.busy(chip)) {
                        flash.ends(chip);
                        ftl.ended(chip, flash);
                        ftl.dispatch(flash, &mut Nobody);
                    }
                }
                true
            };
            if !lists.recovered(&image, &mut flash, go).unwrap() {
                wrong.push((chips, count, pages, 0, 99, false));
                break;
            }
            flash.loses_power(&mut Words(&[]));
            let (next, taken) = lists
                .recovered(&image, &mut flash, |ftl, _| {
                    (ftl.next_of_round(0).unwrap(), ftl.request(0, None, 0, &[done % count]))
                })
                .unwrap();
            if next != done % count {
                wrong.push((chips, count, pages, done, next, taken.is_ok()));
            }
        }
    }
    println!("{} wrong", wrong.len());
    for w in wrong.iter().filter(|w| !w.5) {
        println!("refused: chips, count, w, done, next {w:?}");
    }
    assert!(wrong.iter().all(|w| w.5));
}

/// Two pages at the start hold the same logical page: that cannot be.
#[test]
fn a_logical_page_is_held_once_at_the_start() {
    struct Twice;
    impl rtflash_ftl::AtStart for Twice {
        fn pages(&mut self, _: u32, lpns: &mut [u32]) -> u32 {
            lpns[..8].copy_from_slice(&[0, 1, 2, 3, 0, 1, 2, 3]);
            8
        }
        fn ring(&mut self, _: u32, _: u32) -> u32 {
            0
        }
        fn is_written(&mut self, _: u32, _: u32) -> bool {
            false
        }
    }
    let collection = ImageCollection {
        deadline_ns: Some(1_000),
        reclaimed_pages: 3,
        reserve_pages: 4,
        victim_pages: 1,
        wear_pages: 0,
    };
    let cluster = ClusterParts {
        organisation: ImageOrganisation::Stripe,
        suspends_erases: false,
        backfills: false,
        cached: false,
        chips: &[0],
        logical_per_chip: 4,
        collection: Some(collection),
        server: None,
        rings: &[],
    };
    let bytes = image(DEVICE, &[cluster], &[ImageSource { page_count: 4, ..SOURCE }]);
    let image = Image::read(&bytes).unwrap();
    let of = Geometry::of(&image, 0).unwrap();
    let (mut words, mut bits) = (vec![0; of.words()], vec![0; of.bits()]);
    let mut gc_jobs = vec![Default::default(); of.gc_jobs];
    let mut processors: Vec<_> = (0..of.processors).map(|_| None).collect();
    let mut clusters = vec![Default::default(); of.clusters];
    let mut sources = vec![Default::default(); of.sources];
    let mut requests = vec![Default::default(); of.requests];
    let memory = rtflash_ftl::FtlMemory {
        words: &mut words,
        bits: &mut bits,
        gc_jobs: &mut gc_jobs,
        processors: &mut processors,
        clusters: &mut clusters,
        sources: &mut sources,
        requests: &mut requests,
    };
    let made = Ftl::new(&image, 0, memory, &mut Twice).map(|_| ());
    assert_eq!(made, Err(rtflash_ftl::SetupError::Start(0)));
}

/// Rings in which nothing was ever written begin with their first pages.
#[test]
fn a_new_ring_begins_with_its_first_page() {
    for (chips, rows) in (1..6).flat_map(|chips| (1..6).map(move |rows| (chips, rows))) {
        let bytes = zoned(chips, 1, chips * rows, 4, 3);
        let image = Image::read(&bytes).unwrap();
        let mut flash = Flash::new(&image);
        let mut lists = Lists::new(&Geometry::of(&image, 0).unwrap());
        let next = lists.recovered(&image, &mut flash, |ftl, _| ftl.next_of_round(0)).unwrap();
        assert_eq!(next, Some(0), "{chips} chips, {rows} rows");
    }
}
