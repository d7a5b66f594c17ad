//! Images as `rtflash export firmware` writes them, each bit of them flipped: they are refused.
//! With a corrected checksum they are refused, or the image written of what they say is the same
//! again, and a state machine runs by it.

use rtflash_alloc::allocator::{Outcome, allocator};
use rtflash_analysis::analysis_relying_on;
use rtflash_ftl::image::{Image, ImageError, ImageOrganisation};
use rtflash_model::random::Stream;
use rtflash_model::{Access, Device, Reliance, Request, Span, Task, TaskSet};

use crate::common::{run, with_crc};
use crate::whole::Whole;

fn us(us: u32) -> Span {
    Span::from_us(us)
}

/// Three tasks that write streams or any pages, read, or both.
fn set(spare_blocks: Option<u32>, access: Access) -> TaskSet {
    let mut spec = Device::profile("dgist-2021").expect("a profile").spec();
    (spec.chips, spec.chips_per_channel, spec.spare_blocks) = (4, 2, spare_blocks);
    (spec.blocks_per_chip, spec.pages_per_block) = (32, 4);
    let device = Device::new(spec).expect("a device");
    let request = |pages, period: u32, access| {
        let request = Request::new(pages, us(period)).expect("a request").with_access(access);
        let request = request.with_deadline(Some(us(period - period / 5))).expect("within the period");
        request.with_jitter(us(period / 20)).expect("before the deadline")
    };
    let task = |name: &str, read, write| Task { name: name.into(), read, write, data_pages: None };
    let tasks = vec![
        task("a", Some(request(3, 40_000, Access::Sequential)), Some(request(2, 60_000, access))),
        task("b", None, Some(request(1, 80_000, access))),
        task("c", Some(request(4, 50_000, Access::Random)), None),
    ];
    TaskSet::new(device, tasks, vec![]).expect("a set")
}

/// The image of what an analysis accepts of it.
fn image(set: &TaskSet, name: &str) -> Vec<u8> {
    let analysis = analysis_relying_on(name, Reliance::Nothing).expect("an analysis");
    let found = allocator("best-fit").expect("an algorithm").allocate(set, analysis);
    let Outcome::Schedulable(found) = found else { panic!("{name}: {found:?}") };
    rtflash_run::plan(set, &found, analysis).expect("it can be run").image(true).expect("firmware can run it")
}

#[derive(Debug, Default)]
struct Seen {
    flips: usize,
    /// With the checksum corrected: refused, taken, and run.
    refused: usize,
    taken: usize,
    run: usize,
    operations: u64,
}

/// Flips each bit of an image.
fn flipped(bytes: &[u8], seed: u64, seen: &mut Seen) {
    let sound = Image::read(bytes).expect("a sound image");
    assert_eq!(Whole::of(&sound).bytes(), bytes);
    let mut events = Stream::numbered(seed, b"flipped\0", 0);
    for bit in 0..8 * bytes.len() {
        let mut altered = bytes.to_vec();
        altered[bit / 8] ^= 1 << (bit % 8);
        let why = Image::read(&altered).expect_err("a bit that is flipped");
        assert!(!matches!(why, ImageError::Fault { .. }), "bit {bit}: {why}, before the checksum was looked at");
        seen.flips += 1;
        with_crc(&mut altered);
        let Ok(image) = Image::read(&altered) else {
            seen.refused += 1;
            continue;
        };
        seen.taken += 1;
        assert_eq!(Whole::of(&image).bytes(), altered, "bit {bit}");
        let events: Vec<u8> = (0..300).map(|_| u8::try_from(events.below(256)).expect("a byte")).collect();
        if let Some(ran) = run(&image, &events) {
            seen.run += 1;
            seen.operations += ran.operations;
        }
    }
}

#[test]
fn a_flipped_bit_is_refused_or_is_what_it_says() {
    let mut seen = Seen::default();
    let has = |bytes: &[u8], organisation| {
        let image = Image::read(bytes).expect("a sound image");
        (0..image.clusters()).any(|number| image.cluster(number).expect("a cluster").organisation() == organisation)
    };
    let [random, stream] = [Access::Random, Access::Stream];
    let cases = [
        (None, random, "stripe", ImageOrganisation::Stripe),
        (None, stream, "stripe", ImageOrganisation::Stripe),
        (None, random, "superblock", ImageOrganisation::Superblock),
        (None, stream, "zoned", ImageOrganisation::Zoned),
        (Some(1), random, "stripe", ImageOrganisation::Stripe),
        (Some(1), stream, "superblock", ImageOrganisation::Superblock),
    ];
    for (seed, (spare_blocks, access, name, organisation)) in (0..).zip(cases) {
        let bytes = image(&set(spare_blocks, access), name);
        assert!(has(&bytes, organisation), "{name}");
        flipped(&bytes, seed, &mut seen);
    }
    assert!(seen.flips > 10_000 && seen.refused > 4_000 && seen.taken > 2_000, "{seen:?}");
    assert!(seen.run > 1_000 && seen.operations > 10_000, "{seen:?}");
    println!("{seen:?}");
}
