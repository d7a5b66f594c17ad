//! Any bytes as an image, with any commands: an error, or what a device allows.
#![no_main]

#[path = "../../crates/rtflash-ftl/tests/it/common/mod.rs"]
mod common;

use common::{Words, run, small_image, with_checksum};
use libfuzzer_sys::fuzz_target;
use rtflash_ftl::image::Image;

fuzz_target!(|bytes: &[u8]| {
    let Some((&kind, rest)) = bytes.split_first() else { return };
    let image = match kind % 3 {
        // The bytes as they are; the bytes with a right checksum; a small image, and some of its
        // bytes changed.
        0 => rest.to_vec(),
        1 => {
            let mut image = rest.to_vec();
            with_checksum(&mut image);
            image
        }
        _ => {
            let mut words = Words(rest);
            let mut image = small_image(&mut words);
            for _ in 0..words.byte() % 4 {
                let place = words.below(u32::try_from(image.len()).unwrap_or(1)) as usize;
                image[place] = words.byte();
            }
            with_checksum(&mut image);
            image
        }
    };
    if let Ok(image) = Image::read(&image) {
        run(&image, rest);
    }
});
