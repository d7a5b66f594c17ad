//! Garbage collection as it is stated.

use rtflash_testkit::ns;

use super::*;
use crate::organisation::costs::StepCosts;
use crate::random_processors::Drawn;
use crate::reason::NoRoomForGc;

/// A certificate is accepted with the numbers that were found, and with none below them.
#[test]
fn no_number_of_a_certificate_may_be_smaller() {
    let mut compared = [0; 5];
    for seed in 0..4_000 {
        let Some(Drawn { processor, mut rng, .. }) = Drawn::new(seed) else { continue };
        let server = rng.within(0, 1) > 0;
        let Some(gc) = processor.gc(ns(rng.within(1, 300)), server).filter(|gc| gc.deadline.is_some()) else {
            continue;
        };
        let certificate = |collection: Collection| Certificate {
            placement: processor.placement(),
            collection: Some(collection),
            server_thousandths: u32::from(server),
            backfill: true,
            tightest: None,
        };
        let found = gc.to_collection();
        let stated = processor.stated(&certificate(found));
        assert_eq!(stated, Some(Some(gc)), "seed {seed}");
        let smaller = |change: fn(&mut Collection)| {
            let mut collection = found;
            change(&mut collection);
            processor.stated(&certificate(collection)).flatten()
        };
        if gc.reserve > 0 {
            assert_eq!(smaller(|of| of.reserve_pages -= 1), None, "seed {seed}: {gc:?}");
            compared[0] += 1;
        }
        assert_eq!(smaller(|of| of.open_blocks -= 1), None, "seed {seed}: {gc:?}");
        compared[1] += 1;
        if gc.valid > 0 {
            // α + v stays a block.
            let fewer =
                smaller(|of| (of.victim_pages, of.reclaimed_pages) = (of.victim_pages - 1, of.reclaimed_pages + 1));
            assert_eq!(fewer, None, "seed {seed}: {gc:?}");
            compared[2] += 1;
        }
        assert_eq!(smaller(|of| of.reclaimed_pages = 0), None, "seed {seed}");
        // A copy takes a step; if nothing is copied, the erase is the longest.
        let StepCosts { erase, copy, longest_read, longest_write, row, .. } = processor.costs;
        let longest_row = longest_write.max(row);
        let copies = if processor.placement().is_by_chip() { copy } else { longest_read.max(longest_row) };
        // One that is suspended is charged to requests.
        let erase = if processor.suspension.is_some() { Cost::ZERO } else { erase };
        assert_eq!(gc.step, if gc.valid > 0 { erase.max(copies) } else { erase }, "seed {seed}");
        compared[3] += u32::from(copies > erase && gc.valid > 0);
        compared[4] += u32::from(erase == Cost::ZERO);
    }
    assert!(compared.iter().all(|&compared| compared > 100), "{compared:?}");
}

/// There are too few blocks just where no pass at the shortest deadline reclaims anything.
#[test]
fn too_few_blocks_is_what_the_shortest_deadline_says() {
    let mut compared = [0, 0];
    for seed in 0..20_000 {
        let Some(Drawn { processor, .. }) = Drawn::new(seed) else { continue };
        let Some(shortest) = processor.shortest_gc_deadline() else {
            continue;
        };
        let none = processor.gc(shortest, false).is_none();
        assert_eq!(processor.too_few_blocks().is_some(), none, "seed {seed}: {processor:?}");
        compared[usize::from(none)] += 1;
    }
    assert!(compared.iter().all(|&compared| compared > 100), "{compared:?}");
}

/// If there are too few blocks, the order is by how many times the actual blocks would be needed,
/// to a block.
#[test]
fn crowding_is_what_is_needed_of_what_there_is() {
    let mut compared = 0;
    for seed in 0..20_000 {
        let Some(Drawn { processor, .. }) = Drawn::new(seed) else { continue };
        if processor.write_streams.is_empty() {
            continue;
        }
        let Some(NoRoomForGc { needed_blocks, blocks }) = processor.too_few_blocks() else { continue };
        let needed = processor.crowding() * blocks.max(1) as f64;
        assert!((needed - needed_blocks as f64).abs() < 1.0 + 1e-9, "seed {seed}: {needed} for {needed_blocks}");
        compared += 1;
    }
    assert!(compared > 100, "{compared}");
}
