//! Any bytes and any events: an error, never a panic, never a page lost.

#![allow(clippy::cast_possible_truncation)]

use crate::common::{Ran, Words, cases, run, small_image, with_checksum};
use proptest::prelude::*;
use rtflash_ftl::image::{HEADER_BYTES, Image, ImageError};

/// Bytes that say events.
const EVENTS: usize = if cfg!(miri) { 600 } else { 3_000 };

/// Random bytes of a seed.
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

#[test]
fn small_images_run_by_any_events() {
    let mut all = Ran::default();
    let (mut sound, mut run_at_all) = (0, 0);
    for seed in 0..cases(8_000, 20) {
        let bytes = drawn(seed, 200);
        let image = small_image(&mut Words(&bytes));
        let Ok(image) = Image::read(&image) else { continue };
        sound += 1;
        let Some(ran) = run(&image, &drawn(seed + 1_000_000, EVENTS)) else { continue };
        run_at_all += 1;
        all.taken += ran.taken;
        all.jobs += ran.jobs;
        all.server_passes += ran.server_passes;
        all.refused += ran.refused;
        all.over += ran.over;
        all.starved += ran.starved;
        all.operations += ran.operations;
        all.collected += ran.collected;
        all.dropped += ran.dropped;
        all.failed += ran.failed;
        all.moved += ran.moved;
        all.levelled += ran.levelled;
        all.suspensions += ran.suspensions;
        all.trimmed += ran.trimmed;
        all.cached += ran.cached;
    }
    assert!(run_at_all > 0 && all.taken > 0 && all.operations > 0, "{all:?}");
    if cfg!(miri) {
        return;
    }
    assert!(sound > 600 && run_at_all > 600, "{sound} {run_at_all} {all:?}");
    assert!(all.taken > 20_000 && all.refused > 50_000 && all.over > 15_000, "{all:?}");
    assert!(all.operations > 40_000 && all.collected > 5_000 && all.starved > 500, "{all:?}");
    assert!(all.failed > 1_000 && all.moved > 50 && all.trimmed > 5_000, "{all:?}");
    assert!(all.jobs > 1_000 && all.server_passes > 100, "{all:?}");
    assert!(all.cached > 1_000, "{all:?}");
    assert!(all.levelled > 50 && all.suspensions > 8, "{all:?}");
}

#[test]
fn altered_images_are_refused_or_run() {
    let (mut sound, mut faults) = (0, 0);
    for seed in 0..cases(4_000, 40) {
        let bytes = drawn(seed, 200);
        let mut image = small_image(&mut Words(&bytes));
        let changes = drawn(seed + 7, 12);
        for change in changes.chunks(3).take(1 + seed as usize % 4) {
            let place = usize::from(change[0]) | usize::from(change[1]) << 8;
            let place = 8 + place % (image.len() - 8);
            image[place] = if change[2] < 200 { change[2] % 8 } else { change[2] };
        }
        with_checksum(&mut image);
        match Image::read(&image) {
            Ok(image) => {
                sound += 1;
                run(&image, &drawn(seed + 2_000_000, EVENTS / 3));
            }
            Err(ImageError::Checksum) => panic!("the checksum is right"),
            Err(error) => {
                faults += u32::from(matches!(error, ImageError::Fault { .. }));
                assert!(!error.to_string().is_empty());
            }
        }
    }
    assert!(cfg!(miri) || sound > 150 && faults > 250, "{sound} sound, {faults} faults");
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 8 } else { ProptestConfig::default().cases },
        ..ProptestConfig::default()
    })]
    #[test]
    fn no_bytes_are_read_behind_their_end(mut bytes in prop::collection::vec(any::<u8>(), 0..400), checked: bool) {
        if bytes.len() >= HEADER_BYTES {
            bytes[..8].copy_from_slice(&rtflash_ftl::image::MAGIC);
            bytes[8..12].copy_from_slice(&u32::from(rtflash_ftl::image::VERSION).to_le_bytes());
            // Lists of a few entries.
            for place in (20..64).filter(|place| place % 4 != 0) {
                bytes[place] = 0;
            }
            if checked {
                with_checksum(&mut bytes);
            }
        }
        if let Ok(image) = Image::read(&bytes) {
            run(&image, &bytes);
        }
    }
}
