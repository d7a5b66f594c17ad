//! Pages of superblocks that are counted or programmed together are so as they would be one by one.

use proptest::prelude::*;
use rtflash_ftl::{
    BlockMemory, Blocks, Columns, EdfProcessor, GROUP, GcStep, Memory, NONE, PaddedPass, Pages, Pass, PassTerms, Spot,
    pass_words,
};

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

/// Blocks of a superblock.
const BLOCKS: u32 = 30;

/// A superblock which holds so many logical pages, and collects whenever it is
/// asked to.
fn processor(width: u32, rows: u32, logical: u32) -> EdfProcessor<Lists> {
    let columns = Columns { superblock: true, width, stride: 1, offset: 0 };
    let held: Vec<u32> = (0..logical).collect();
    let memory = memory(BLOCKS, width * rows, &held);
    let pages = Pages::new(columns, width * rows, memory, vec![0; size(logical)], logical);
    let padded = PaddedPass::default();
    let terms = PassTerms { deadline_ns: Some(1), reclaimed: 1, reserve: 1 << 40, victim: 0, for_wear: 0, padded };
    let (words, buffer) = pass_words(columns);
    let pass = || Pass::new(vec![0; words], vec![0; buffer]);
    EdfProcessor::new(pages, terms, [pass(), pass()])
}

/// Writes pages: together where that can be, or one by one.
fn writes(of: &mut EdfProcessor<Lists>, lpns: &[u32], together: bool) -> Vec<Spot> {
    let count = u32::try_from(lpns.len()).expect("few pages");
    of.arrive(count.into());
    let mut spots = Vec::new();
    let lpn = |place| lpns[size(place)];
    if together && of.write_all(count, lpn, |spot, lpn| spots.push((spot, lpn))) {
        assert!(spots.iter().map(|&(_, lpn)| lpn).eq(lpns.iter().copied()));
        return spots.into_iter().map(|(spot, _)| spot).collect();
    }
    assert!(spots.is_empty(), "nothing has changed");
    lpns.iter().map(|&lpn| of.write(lpn).expect("there is room for them")).collect()
}

/// A pass, and the pages that it reads and programs.
fn collects(of: &mut EdfProcessor<Lists>) -> Vec<(bool, Spot, u32)> {
    let mut all = Vec::new();
    if of.begin_pass(false).is_none() {
        return all;
    }
    loop {
        match of.step_of_pass(false, |page| all.push((page.is_read, page.spot, page.lpn))) {
            Some(GcStep::Read | GcStep::Row) => {}
            Some(GcStep::Erase(_)) => break,
            other => panic!("{other:?}"),
        }
    }
    of.erased(false);
    all
}

/// What is known of pages, but for what is remembered of blocks that are not closed.
fn state(of: &EdfProcessor<Lists>, rows: u32) -> impl PartialEq + std::fmt::Debug + use<> {
    let blocks = of.pages.blocks();
    let valid: Vec<u32> = (0..BLOCKS).map(|block| blocks.valid(block)).collect();
    let on_chips = (0..BLOCKS).flat_map(|block| (0..of.pages.width()).map(move |chip| (block, chip)));
    let next: Vec<Option<u32>> =
        on_chips.flat_map(|(block, chip)| (0..rows).map(move |row| blocks.next_valid(block, chip, row))).collect();
    let (lpns, places) = (blocks.lpns().to_vec(), of.pages.places().to_vec());
    (valid, next, lpns, places, (of.pages.free(), of.pending(), blocks.fewest_valid(), blocks.erased_blocks()))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 4 } else { ProptestConfig::default().cases },
        ..ProptestConfig::default()
    })]
    /// However wide a superblock is, whatever its chips hold.
    #[test]
    fn valid_pages_are_found_at_the_start(
        width in 1..20_u32,
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
        let blocks = Blocks::new((pages, width), memory(3, pages, &held), programmed);
        for block in 0..3 {
            let all = (block * pages..(block + 1) * pages).filter(|&page| is_held(page)).count();
            prop_assert_eq!(size(blocks.valid(block)), all);
            for place in 0..pages {
                let is_found = blocks.next_valid(block, place % width, place / width) == Some(place / width);
                prop_assert_eq!(is_found, is_held(block * pages + place), "block {} place {}", block, place);
            }
        }
    }

    /// In rows or across them, up to the end of a block, each page once or several times.
    #[test]
    fn pages_are_programmed_together_as_they_are_one_by_one(
        width in 1..6_u32,
        rows in 1..20_u32,
        requests in prop::collection::vec(prop::collection::vec(0..1_000_u32, 1..7), 1..80),
    ) {
        let logical = 3 * width * rows;
        let (mut together, mut single) = (processor(width, rows, logical), processor(width, rows, logical));
        for request in requests {
            let lpns: Vec<u32> = request.iter().map(|lpn| lpn % logical).collect();
            while u64::from(together.pages.free()) < lpns.len() as u64 + u64::from(width * rows) {
                prop_assert_eq!(collects(&mut together), collects(&mut single));
            }
            prop_assert_eq!(writes(&mut together, &lpns, true), writes(&mut single, &lpns, false));
            prop_assert_eq!(state(&together, rows), state(&single, rows));
        }
    }
}
