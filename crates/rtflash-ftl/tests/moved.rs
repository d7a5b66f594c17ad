//! Pages that are moved in one go are moved as they would be one by one.

use proptest::prelude::*;
use rtflash_ftl::{BlockMemory, Blocks, Frontiers, GROUP, Memory, NONE};

/// Memory in lists.
#[derive(Debug)]
struct Lists;

impl Memory for Lists {
    type Words = Vec<u32>;
    type Bits = Vec<u64>;
}

/// Blocks of a chip, the first of which hold these logical pages; the others are erased.
fn made(blocks: u32, pages: u32, held: &[Option<u32>]) -> Blocks<Lists> {
    let size = |number: u32| usize::try_from(number).expect("a small number");
    let full = u32::try_from(held.len()).expect("few pages") / pages * pages;
    let mut lpns: Vec<u32> = held.iter().take(size(full)).map(|lpn| lpn.unwrap_or(NONE)).collect();
    // What is behind them is said to be erased, whatever it looks like.
    lpns.resize(size(blocks * pages), 7);
    let memory = BlockMemory {
        lpns,
        bits: vec![3; size((blocks * pages).div_ceil(64))],
        valid: vec![9; size(blocks)],
        erased: vec![1; size(blocks.div_ceil(64))],
        least: vec![1; size(blocks.div_ceil(GROUP))],
    };
    Blocks::new((pages, 1), memory, full)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 4 } else { ProptestConfig::default().cases },
        ..ProptestConfig::default()
    })]
    #[test]
    fn pages_are_moved_in_one_go_as_they_are_one_by_one(
        pages in 1..140_u32,
        held in prop::collection::vec(prop::option::weighted(0.7, 0..1_000_u32), 140..500),
        // In some worlds those that are valid come first.
        first in any::<bool>(),
        (opened, from, count) in (0..140_u32, 0..140_u32, 0..140_u32),
        write in any::<bool>(),
    ) {
        let mut held = held;
        if first {
            held.chunks_mut(usize::try_from(pages)?).for_each(|block| block.sort_by_key(Option::is_none));
        }
        let full = u32::try_from(held.len())? / pages;
        let stream = if write { Frontiers::Write } else { Frontiers::Copy };
        let prepared = || {
            let mut blocks = made(full + 3, pages, &held);
            let victim = blocks.fewest_valid().expect("a full block");
            blocks.take_victim(victim);
            for lpn in 0..opened % pages {
                blocks.program(stream, 2_000 + lpn).expect("blocks are erased");
            }
            (blocks, victim)
        };
        let (mut together, victim) = prepared();
        for (page, lpn) in (0..).zip(held.iter().take(usize::try_from(full * pages)?)) {
            let (block, row) = together.block_and_page(page);
            prop_assert_eq!(together.next_valid(block, 0, row) == Some(row), lpn.is_some());
        }
        let from = from % pages;
        let count = count.min(together.movable(stream, victim, from));
        let (mut moved, mut one_by_one) = (Vec::new(), Vec::new());
        let last = together.move_together(stream, (victim, from), count, |row, lpn, to| moved.push((row, lpn, to)));
        prop_assert_eq!(last, moved.last().map(|&(row, _, to)| (row, to)));
        let (mut single, _) = prepared();
        let mut at = from;
        for _ in 0..count {
            let row = single.next_valid(victim, 0, at).expect("as many as can be moved");
            let page = victim * pages + row;
            let lpn = single.lpn(page);
            let to = single.program(stream, lpn).expect("there is room for them");
            single.invalidate(page);
            one_by_one.push((row, lpn, to));
            at = row + 1;
        }
        prop_assert_eq!(moved, one_by_one);
        prop_assert_eq!(format!("{together:?}"), format!("{single:?}"));
    }
}
