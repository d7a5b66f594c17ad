//! The faults of an image: each is refused with its reason.

use crate::common::{Words, cases, run, small_image, with_checksum, with_crc};
use crate::whole::{Whole, WholeCluster};
use rtflash_ftl::image::{
    CLUSTER_BYTES, HEADER_BYTES, Image, ImageCollection, ImageDevice, ImageError, ImageJobs, ImageOrganisation,
    ImagePlace, ImageRing, ImageServer, ImageSource, SOURCE_BYTES,
};
use rtflash_ftl::{Geometry, RequestOrder};

const DEVICE: ImageDevice = ImageDevice {
    chips: 7,
    chips_per_channel: 4,
    blocks_per_chip: 8,
    pages_per_block: 4,
    page_bytes: 4_096,
    spare_blocks: 0,
    wear_gap: 3,
    page_read_ns: 5,
    page_program_ns: 20,
    block_erase_ns: 50,
    page_transfer_ns: 4,
    command_ns: 0,
    erase_suspend_ns: 9,
    erase_resume_ns: 2,
};

const SOURCE: ImageSource = ImageSource {
    number: 0,
    cluster: 0,
    writes: false,
    order: RequestOrder::Any,
    pages: 2,
    first_page: 0,
    page_count: 16,
    period_ns: 1_000,
    deadline_ns: 900,
    jitter_ns: 100,
};

fn collection(reclaimed_pages: u64, reserve_pages: u64, victim_pages: u64) -> Option<ImageCollection> {
    Some(ImageCollection { deadline_ns: Some(500), reclaimed_pages, reserve_pages, victim_pages, wear_pages: 0 })
}

/// The collection with this many pages of its reserve for wear.
fn wear(of: Option<ImageCollection>, wear_pages: u64) -> Option<ImageCollection> {
    of.map(|of| ImageCollection { wear_pages, ..of })
}

/// A stripe of two chips with two tasks, a superblock of two, zones of two, and a chip that is only
/// read.
fn sound() -> Whole {
    let cluster = |organisation, chips: [u32; 2], logical_per_chip, collection| WholeCluster {
        organisation,
        suspends_erases: false,
        backfills: false,
        cached: false,
        chips: chips.into(),
        logical_per_chip,
        collection,
        server: None,
        rings: vec![],
    };
    let ring =
        |first_block, writes| ImageRing { first_block, blocks: 4, first_page: first_block * 8, page_count: 24, writes };
    let mut zoned = cluster(ImageOrganisation::Zoned, [4, 5], 32, None);
    zoned.rings = vec![ring(0, true), ring(4, false)];
    let clusters = vec![
        cluster(ImageOrganisation::Stripe, [0, 2], 16, collection(3, 6, 1)),
        cluster(ImageOrganisation::Superblock, [1, 3], 16, collection(6, 9, 2)),
        zoned,
        WholeCluster { chips: vec![6], ..cluster(ImageOrganisation::Stripe, [0, 0], 32, None) },
    ];
    let of = |number, cluster, writes, order| ImageSource { number, cluster, writes, order, ..SOURCE };
    let sources = vec![
        of(0, 0, false, RequestOrder::Consecutive),
        of(1, 0, true, RequestOrder::Stream),
        ImageSource { first_page: 16, ..of(2, 0, true, RequestOrder::Any) },
        of(4, 1, true, RequestOrder::Any),
        ImageSource { page_count: 24, ..of(5, 2, true, RequestOrder::Round) },
        ImageSource { first_page: 32, page_count: 24, ..of(6, 2, false, RequestOrder::Any) },
        of(9, 3, false, RequestOrder::Stream),
    ];
    Whole { device: DEVICE, clusters, sources, jobs: vec![] }
}

/// The reason for which bytes are refused.
fn refusal(bytes: &[u8]) -> (ImagePlace, &'static str) {
    match Image::read(bytes) {
        Err(ImageError::Fault { place, what }) => (place, what),
        other => panic!("{other:?}"),
    }
}

/// Each alteration is refused with these words.
fn refused(place: ImagePlace, says: &str, alterations: &[fn(&mut Whole)]) {
    for (nth, alter) in alterations.iter().enumerate() {
        let mut whole = sound();
        alter(&mut whole);
        let (found, what) = refusal(&whole.bytes());
        assert!(found == place && what.contains(says), "{nth}: {found:?} {what}, not {place:?} {says}");
    }
}

/// Each alteration is taken.
fn taken(alterations: &[fn(&mut Whole)]) {
    for (nth, alter) in alterations.iter().enumerate() {
        let mut whole = sound();
        alter(&mut whole);
        let bytes = whole.bytes();
        let image = Image::read(&bytes).unwrap_or_else(|why| panic!("{nth}: {why}"));
        assert_eq!(Whole::of(&image).bytes(), bytes);
    }
}

/// A word of an image is altered: which one, what it becomes.
fn with_word(at: usize, word: u32) -> Vec<u8> {
    let mut bytes = sound().bytes();
    bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
    with_crc(&mut bytes);
    bytes
}

fn first_source() -> usize {
    HEADER_BYTES + sound().clusters.len() * CLUSTER_BYTES
}

fn first_chip() -> usize {
    first_source() + sound().sources.len() * SOURCE_BYTES
}

const NEVER: u64 = 1 << 63;

#[test]
fn what_is_sound_is_taken() {
    taken(&[
        |_| {},
        |of| of.device.command_ns = 1,
        |of| of.clusters[0].suspends_erases = true,
        |of| (of.clusters[1].suspends_erases, of.clusters[3].suspends_erases) = (true, true),
        |of| of.clusters[1].backfills = true,
        |of| (of.clusters[0].cached, of.clusters[1].cached, of.device.wear_gap) = (true, true, 0),
        |of| (of.clusters[1].backfills, of.clusters[1].suspends_erases) = (true, true),
        |of| (of.device.erase_suspend_ns, of.device.erase_resume_ns) = (49, NEVER - 1),
        |of| (of.device.erase_suspend_ns, of.device.erase_resume_ns, of.device.wear_gap) = (0, 0, 0),
        |of| of.clusters[0].collection = wear(collection(2, 6, 1), 1),
        |of| of.clusters[1].collection = wear(collection(1, 9, 2), 5),
        |of| of.device.chips_per_channel = 100,
        |of| of.clusters[0].collection = collection(3, 16, 1),
        |of| of.clusters[0].collection = collection(1, 6, 3),
        |of| of.clusters[3].collection = collection(1, 0, 3),
        |of| of.sources[0].jitter_ns = 899,
        |of| of.sources[0].deadline_ns = 1_000,
        |of| of.sources[0].deadline_ns = 1_001,
        |of| of.sources[0].deadline_ns = 100_000,
        |of| (of.sources[0].period_ns, of.sources[0].deadline_ns) = (NEVER - 1, NEVER - 1),
        |of| of.device.page_transfer_ns = (NEVER - 1) / 4 - 1,
        |of| of.sources[2].pages = 1 << 24,
        |of| of.sources[3].writes = false,
        |of| of.sources[6].number = u32::MAX,
        |of| of.sources.clear(),
        // Nobody uses these chips.
        |of| {
            of.clusters[2].rings.clear();
            of.sources.drain(4..6);
        },
        |of| (of.sources, of.clusters) = (vec![], vec![]),
    ]);
}

#[test]
fn devices_that_cannot_be_are_refused() {
    let refused = |says, alterations| refused(ImagePlace::Device, says, alterations);
    refused(
        "has no pages, or more than 2^30",
        &[
            |of| of.device.blocks_per_chip = 0,
            |of| of.device.pages_per_block = 1 << 25,
            |of| (of.device.chips, of.device.blocks_per_chip) = (u32::MAX, u32::MAX),
        ],
    );
    refused(
        "more than 2^20 chips, channels without chips, or pages without bytes",
        &[|of| of.device.chips = (1 << 20) + 1, |of| of.device.chips_per_channel = 0, |of| of.device.page_bytes = 0],
    );
    refused("spare blocks alone", &[|of| of.device.spare_blocks = 8, |of| of.device.spare_blocks = u32::MAX]);
    refused(
        "operations that take no time",
        &[
            |of| of.device.page_read_ns = 0,
            |of| of.device.page_program_ns = NEVER,
            |of| of.device.block_erase_ns = u64::MAX,
            |of| of.device.page_transfer_ns = 0,
        ],
    );
    refused(
        "suspensions as long as erases",
        &[
            |of| of.device.erase_suspend_ns = 50,
            |of| of.device.erase_suspend_ns = u64::MAX,
            |of| of.device.erase_suspend_ns = 0,
            |of| of.device.erase_resume_ns = NEVER,
        ],
    );
    refused(
        "a transfer for each chip",
        &[
            |of| of.device.command_ns = NEVER,
            |of| of.device.command_ns = u64::MAX,
            |of| of.device.page_transfer_ns = NEVER / 4,
            |of| (of.device.chips_per_channel, of.device.page_transfer_ns) = (u32::MAX, 1 << 32),
        ],
    );
}

#[test]
fn clusters_that_cannot_be_are_refused() {
    let of = ImagePlace::Cluster;
    refused(
        of(1),
        "a chip that another one has",
        &[|of| of.clusters[1].chips = vec![0, 3], |of| of.clusters[1].chips = vec![1, 2]],
    );
    refused(of(3), "a chip that another one has", &[|of| of.clusters[3].chips = vec![1]]);
    refused(
        of(0),
        "do not ascend",
        &[
            |of| of.clusters[0].chips = vec![2, 0],
            |of| of.clusters[0].chips = vec![0, 0],
            |of| of.clusters[0].chips = vec![0, 7],
        ],
    );
    refused(of(0), "no chips", &[|of| of.clusters[0].chips.clear()]);
    refused(
        of(0),
        "no logical pages",
        &[|of| of.clusters[0].logical_per_chip = 0, |of| of.clusters[0].logical_per_chip = 33],
    );
    refused(
        of(0),
        "passes that reclaim more than a victim has",
        &[
            |of| of.clusters[0].collection = collection(4, 6, 1),
            |of| of.clusters[0].collection = collection(u64::MAX, 6, 1),
            |of| of.clusters[0].collection = collection(1, 6, 4),
        ],
    );
    refused(
        of(1),
        "passes that reclaim more than a victim has",
        &[|of| of.clusters[1].collection = collection(7, 9, 2)],
    );
    refused(
        of(0),
        "no room for its reserve",
        &[
            |of| of.clusters[0].collection = collection(3, 17, 1),
            |of| of.clusters[0].collection = collection(3, u64::MAX, 1),
        ],
    );
    refused(
        of(0),
        "pages for wear that is not levelled, or more than its passes leave",
        &[
            |of| of.clusters[0].collection = wear(collection(3, 6, 1), 1),
            |of| of.clusters[0].collection = wear(collection(1, 6, 1), 3),
            |of| of.clusters[0].collection = wear(collection(1, 1, 1), 2),
            |of| of.clusters[0].collection = wear(collection(1, 6, 1), u64::MAX),
            |of| (of.clusters[0].collection, of.device.wear_gap) = (wear(collection(2, 6, 1), 1), 0),
        ],
    );
    let suspends = "suspends erases, where the device does not, has commands or tasks own zones";
    refused(
        of(0),
        suspends,
        &[
            |of| (of.clusters[0].suspends_erases, of.device.command_ns) = (true, 1),
            |of| {
                of.clusters[0].suspends_erases = true;
                (of.device.erase_suspend_ns, of.device.erase_resume_ns) = (0, 0);
            },
        ],
    );
    refused(of(2), suspends, &[|of| of.clusters[2].suspends_erases = true]);
    let cached = "uses a second page register beside";
    refused(of(2), cached, &[|of| (of.clusters[2].cached, of.device.wear_gap) = (true, 0)]);
    refused(
        of(1),
        cached,
        &[
            |of| (of.clusters[1].cached, of.clusters[1].backfills, of.device.wear_gap) = (true, true, 0),
            |of| (of.clusters[1].cached, of.clusters[1].suspends_erases, of.device.wear_gap) = (true, true, 0),
            |of| of.clusters[1].cached = true,
        ],
    );
    let fills_in = "fills in, and is no superblock";
    refused(of(0), fills_in, &[|of| of.clusters[0].backfills = true]);
    refused(of(2), fills_in, &[|of| of.clusters[2].backfills = true]);
    refused(of(3), fills_in, &[|of| of.clusters[3].backfills = true]);
    let deadline = |of: &mut Whole, deadline_ns| {
        of.clusters[0].collection = collection(3, 6, 1).map(|of| ImageCollection { deadline_ns, ..of });
    };
    for wrong in [0, NEVER, u64::MAX - 1] {
        let mut whole = sound();
        deadline(&mut whole, Some(wrong));
        let (place, what) = refusal(&whole.bytes());
        assert!(place == of(0) && what.contains("a deadline of garbage collection"), "{wrong}: {what}");
    }
    let mut whole = sound();
    deadline(&mut whole, None);
    assert_eq!(refusal(&whole.bytes()), (ImagePlace::Source(1), "writes where no garbage is collected"));
}

#[test]
fn zones_that_cannot_be_are_refused() {
    let of = ImagePlace::Cluster;
    refused(
        of(0),
        "has zones, and another organisation",
        &[|of| {
            of.clusters[0].rings = of.clusters[2].rings.split_off(1);
        }],
    );
    refused(of(2), "no garbage collection, and numbers of it", &[|of| of.clusters[2].collection = collection(1, 0, 0)]);
    refused(of(2), "not a logical page for each page that", &[|of| of.clusters[2].logical_per_chip = 31]);
    refused(
        of(2),
        "rings without blocks, or that overlap",
        &[
            |of| of.clusters[2].rings[0].blocks = 0,
            |of| of.clusters[2].rings[0].blocks = u32::MAX,
            |of| of.clusters[2].rings[1].blocks = 5,
            |of| of.clusters[2].rings[1] = of.clusters[2].rings[0],
        ],
    );
    refused(
        of(2),
        "a ring whose pages do not fit it",
        &[
            |of| of.clusters[2].rings[0].page_count = 25,
            |of| of.clusters[2].rings[0].page_count = 32,
            |of| of.clusters[2].rings[0].page_count = 0,
            |of| of.clusters[2].rings[1].first_page = 24,
        ],
    );
    // Zones are of blocks that are not kept back, whatever else fits.
    fn keeps_one_back(of: &mut Whole) {
        of.device.spare_blocks = 1;
        of.clusters[0].collection = collection(3, 6, 1);
        of.clusters[1].collection = collection(6, 9, 2);
        of.clusters[2].logical_per_chip -= of.device.pages_per_block;
    }
    refused(of(2), "or more than chips have beside spare blocks", &[keeps_one_back]);
}

#[test]
fn sources_that_cannot_be_are_refused() {
    let of = ImagePlace::Source;
    refused(of(1), "does not follow", &[|of| of.sources[1].number = 0]);
    refused(of(6), "a cluster that there is not", &[|of| of.sources[6].cluster = 4]);
    refused(
        of(0),
        "requests without pages, or of more",
        &[|of| of.sources[0].pages = 0, |of| of.sources[0].pages = (1 << 24) + 1],
    );
    refused(
        of(0),
        "a period of 2^63",
        &[|of| of.sources[0].period_ns = NEVER, |of| of.sources[0].period_ns = u64::MAX],
    );
    refused(
        of(0),
        "no deadline, or one of 2^63",
        &[
            |of| of.sources[0].deadline_ns = 0,
            |of| of.sources[0].deadline_ns = NEVER,
            |of| of.sources[0].deadline_ns = u64::MAX,
        ],
    );
    refused(
        of(0),
        "a jitter that leaves it no time",
        &[|of| of.sources[0].jitter_ns = 900, |of| of.sources[0].jitter_ns = u64::MAX],
    );
    refused(
        of(0),
        "a jitter of its period or longer",
        &[|of| of.sources[0].period_ns = 0, |of| (of.sources[0].period_ns, of.sources[0].jitter_ns) = (500, 500)],
    );
    refused(
        of(6),
        "no logical pages, or some that its cluster has not",
        &[
            |of| of.sources[6].page_count = 0,
            |of| of.sources[6].page_count = 33,
            |of| of.sources[6].first_page = u32::MAX,
        ],
    );
    refused(
        of(1),
        "some pages of another one, and not the same",
        &[
            |of| of.sources[1].page_count = 14,
            |of| of.sources[1].first_page = 2,
            |of| (of.sources[1].first_page, of.sources[1].page_count) = (14, 4),
        ],
    );
    refused(of(2), "some pages of another one, and not the same", &[|of| of.sources[2].first_page = 15]);
    refused(
        of(0),
        "consecutive pages, and not whole rows",
        &[|of| of.sources[0].page_count = 15, |of| of.sources[0].first_page = 1],
    );
    refused(
        of(3),
        "an order of pages in a superblock",
        &[|of| of.sources[3].order = RequestOrder::Consecutive, |of| of.sources[3].order = RequestOrder::Stream],
    );
    let order = "goes round in no zones, or writes to zones in another order";
    refused(of(0), order, &[|of| of.sources[0].order = RequestOrder::Round]);
    refused(of(3), order, &[|of| of.sources[3].order = RequestOrder::Round]);
    refused(of(4), order, &[|of| of.sources[4].order = RequestOrder::Any]);
    refused(of(5), order, &[|of| of.sources[5].order = RequestOrder::Round]);
    refused(of(5), "zones that are no ring's", &[|of| of.sources[5].page_count = 22]);
    refused(of(4), "zones that are no ring's", &[|of| of.clusters[2].rings.clear()]);
    refused(
        of(5),
        "zones that are not written",
        &[|of| {
            (of.sources[5].writes, of.sources[5].order) = (true, RequestOrder::Round);
        }],
    );
    refused(
        of(5),
        "zones that another one writes to",
        &[|of| {
            of.sources[5] = ImageSource { number: 6, ..of.sources[4] };
        }],
    );
    refused(of(6), "writes where no garbage is collected", &[|of| of.sources[6].writes = true]);
}

#[test]
fn words_that_say_nothing_are_zero() {
    // The version's upper half, the flags, and numbers of garbage collection where there is none.
    assert_eq!(Image::read(&with_word(8, 0x0001_0002)), Err(ImageError::Version(2)));
    assert_eq!(Image::read(&with_word(8, 1)), Err(ImageError::Version(1)));
    for bit in (1..8).chain(10..32) {
        let flags = 1 << bit | 1;
        assert!(refusal(&with_word(first_source() + SOURCE_BYTES + 8, flags)).1.contains("an order that"), "{bit}");
    }
    let last = HEADER_BYTES + 3 * CLUSTER_BYTES;
    for place in [24, 28, 40, 48, 52, 56, 60] {
        let (place, what) = refusal(&with_word(last + place, 1));
        assert!(place == ImagePlace::Cluster(3) && what.contains("and numbers of it"), "{place:?} {what}");
    }
    let ring = first_chip() + 4 * 7;
    let (place, what) = refusal(&with_word(ring + 16, 2));
    assert!(place == ImagePlace::Cluster(2) && what.contains("neither written nor not"), "{what}");
    for word in [3, 128, 256 + 3, 512 + 3, 1024 + 3, 2048, 1 << 31] {
        assert!(refusal(&with_word(HEADER_BYTES, word)).1.contains("an organisation that there is not"), "{word}");
    }
    assert!(refusal(&with_word(HEADER_BYTES + 4, 1)).1.contains("do not follow those before"));
    assert!(refusal(&with_word(HEADER_BYTES + 16, 1)).1.contains("do not follow those before"));
}

#[test]
fn bytes_behind_the_end_are_refused() {
    let bytes = sound().bytes();
    for more in (1..64).step_by(if cfg!(miri) { 9 } else { 1 }) {
        let mut longer = bytes.clone();
        longer.resize(bytes.len() + more, 0);
        with_crc(&mut longer);
        assert_eq!(Image::read(&longer), Err(ImageError::Length));
        with_checksum(&mut longer);
        assert_eq!(Image::read(&longer), Err(ImageError::Length), "as it says, and longer than its lists");
    }
    let length = u32::try_from(bytes.len()).expect("a short image");
    for said in [0, length - 1, length + 1, u32::MAX] {
        assert_eq!(Image::read(&with_word(12, said)), Err(ImageError::Length), "{said}");
    }
    for count in [20, 24, 28, 32] {
        let word = u32::from(bytes[count]);
        for word in [word - 1, word + 1, u32::MAX] {
            assert_eq!(Image::read(&with_word(count, word)), Err(ImageError::Length), "{count}");
        }
    }
}

#[test]
fn lists_that_cannot_be_counted_have_no_geometry() {
    let mut whole = sound();
    let bytes = whole.bytes();
    let image = Image::read(&bytes).expect("a sound image");
    assert!(Geometry::of(&image, 1 << 20).is_some());
    assert_eq!(Geometry::of(&image, u32::MAX - 10), None);
    // Pages of requests are counted in words, each with a place.
    whole.sources[0].pages = 1 << 24;
    let bytes = whole.bytes();
    let image = Image::read(&bytes).expect("a sound image");
    assert!(Geometry::of(&image, 100).is_some_and(|of| of.words() < 1 << 32));
    assert_eq!(Geometry::of(&image, 200), None);
}

/// Bytes that are accepted are written again as they were.
#[test]
fn what_is_read_is_written_again() {
    let mut sound = 0;
    for seed in 0..cases(3_000, 12) {
        let drawn: Vec<u8> =
            (0..200).map(|nth| (seed.wrapping_mul(0x9E37_79B9_7F4A_7C15 + 2 * nth) >> 56) as u8).collect();
        let bytes = small_image(&mut Words(&drawn));
        let Ok(image) = Image::read(&bytes) else { continue };
        assert_eq!(Whole::of(&image).bytes(), bytes);
        sound += 1;
        run(&image, &drawn);
    }
    assert!(sound > cases(500, 1), "{sound}");
}

/// With a server in the stripe, whose stream of jobs has some pages of its own.
fn served() -> Whole {
    let mut of = sound();
    of.clusters[0].server =
        Some(ImageServer { thousandths: 100, read_ns: 50, program_ns: 60, pass_ns: 500, turn_ns: 0 });
    of.jobs = vec![ImageJobs { number: 10, cluster: 0, pages: 4, waiting: 2, first_page: 20, page_count: 12 }];
    of
}

/// Each alteration of it is refused with these words.
fn refused_of_served(place: ImagePlace, says: &str, alterations: &[fn(&mut Whole)]) {
    assert!(Image::read(&served().bytes()).is_ok());
    for (nth, alter) in alterations.iter().enumerate() {
        let mut whole = served();
        alter(&mut whole);
        let (found, what) = refusal(&whole.bytes());
        assert!(found == place && what.contains(says), "{nth}: {found:?} {what}, not {place:?} {says}");
    }
}

fn server(of: &mut Whole) -> &mut ImageServer {
    of.clusters[0].server.as_mut().expect("it has one")
}

#[test]
fn servers_that_cannot_be_are_refused() {
    let of = ImagePlace::Cluster(0);
    refused_of_served(
        of,
        "a server of more than all, or whose steps take no time",
        &[
            |of| server(of).thousandths = 1_001,
            |of| server(of).read_ns = 0,
            |of| server(of).program_ns = NEVER,
            |of| server(of).pass_ns = u64::MAX,
        ],
    );
    refused_of_served(of, "no server, and numbers of it", &[|of| server(of).thousandths = 0]);
    refused_of_served(of, "or erases that are suspended", &[|of| of.clusters[0].suspends_erases = true]);
    let zoned = |of: &mut Whole| of.clusters[2].server = of.clusters[0].server;
    refused_of_served(ImagePlace::Cluster(2), "a server, and no garbage collection", &[zoned]);
}

#[test]
fn streams_of_jobs_that_cannot_be_are_refused() {
    let of = ImagePlace::Jobs;
    refused_of_served(
        of(0),
        "a cluster that there is not, or that has no server",
        &[|of| of.jobs[0].cluster = 1, |of| of.jobs[0].cluster = 9],
    );
    refused_of_served(
        of(0),
        "jobs without pages, or of more",
        &[
            |of| of.jobs[0].pages = 0,
            |of| of.jobs[0].pages = u32::MAX,
            |of| of.jobs[0].waiting = 0,
            |of| of.jobs[0].waiting = u32::MAX,
        ],
    );
    refused_of_served(
        of(0),
        "no logical pages, or some that its cluster has not",
        &[|of| of.jobs[0].page_count = 0, |of| of.jobs[0].page_count = 13, |of| of.jobs[0].first_page = u32::MAX],
    );
    refused_of_served(of(0), "the number of a source of requests", &[|of| of.jobs[0].number = 9]);
    refused_of_served(of(1), "does not follow the one before", &[|of| of.jobs.push(of.jobs[0])]);
}
