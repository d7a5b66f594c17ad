//! Blocks of superblocks find each valid page that the memory holds at the start.

use proptest::prelude::*;
use rtflash_ftl::{BlockMemory, Blocks, GROUP, Memory, NONE};

/// Memory in lists.
#[derive(Debug)]
struct Lists;

impl Memory for Lists {
    type Words = Vec<u32>;
    type Bits = Vec<u64>;
}

fn size(number: u32) -> usize {
    usize::try_from(number).expect("a small number")
}

/// Blocks of so many pages, the first pages of which hold these.
fn memory(blocks: u32, pages: u32, held: &[u32]) -> BlockMemory<Lists> {
    let mut lpns = held.to_vec();
    lpns.resize(size(blocks * pages), NONE);
    BlockMemory {
        lpns,
        bits: vec![3; size((blocks * pages).div_ceil(64))],
        valid: vec![9; size(blocks)],
        erased: vec![1; size(blocks.div_ceil(64))],
        least: vec![1; size(blocks.div_ceil(GROUP))],
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 4 } else { ProptestConfig::default().cases },
        ..ProptestConfig::default()
    })]
    /// However wide a superblock is, whatever its chips hold.
    #[test]
    fn valid_pages_are_found_at_the_start(
        width in prop_oneof![Just(1_u32), 1..20_u32],
        rows in prop_oneof![Just(64_u32), Just(128), 1..70_u32],
        // How many rows of each chip hold something, in two blocks, and how often one between does
        // not.
        filled in prop::collection::vec(prop_oneof![Just(0_u32), Just(200), 0..130_u32], 60),
        stale in prop_oneof![Just(1_000_u32), 2..200_u32],
        programmed in prop_oneof![Just(1_000_000_u32), 0..5_000_u32],
    ) {
        let pages = width * rows;
        let programmed = programmed.min(2 * pages);
        let is_held = |page: u32| {
            let (block, place) = (page / pages, page % pages);
            let of_chip = filled[size(block * 20 + place % width)];
            page < programmed && place / width < of_chip && !(page * 7 + 3).is_multiple_of(stale)
        };
        let held: Vec<u32> = (0..programmed).map(|page| if is_held(page) { page } else { NONE }).collect();
        let blocks = Blocks::new(pages, width, memory(3, pages, &held), programmed);
        for block in 0..3 {
            let all = (block * pages..(block + 1) * pages).filter(|&page| is_held(page)).count();
            prop_assert_eq!(size(blocks.valid(block)), all);
            for place in 0..pages {
                let is_found = blocks.next_valid(block, place % width, place / width) == Some(place / width);
                prop_assert_eq!(is_found, is_held(block * pages + place), "block {} place {}", block, place);
            }
        }
    }
}
