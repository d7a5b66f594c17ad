//! Rule D3: what is filled in on chips of a superblock that a step leaves idle.

use rtflash_ftl::image::{
    ClusterParts, Image, ImageCollection, ImageDevice, ImageOrganisation, ImageParts, ImageSource,
};
use rtflash_ftl::{
    AtStart, FlashPage, Ftl, FtlMemory, Geometry, NONE, NandChips, OperationPurpose, RequestHost, RequestOrder,
    SetupError, SpareBytes,
};

/// Four chips on two channels, all of one superblock.
const DEVICE: ImageDevice = ImageDevice {
    chips: 4,
    chips_per_channel: 2,
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

/// Sources 0 to 2 read, 3 and 4 write; the first ones are due first.
fn image(device: ImageDevice) -> Vec<u8> {
    let collection = ImageCollection {
        deadline_ns: Some(10_000),
        reclaimed_pages: 8,
        reserve_pages: 8,
        victim_pages: 8,
        wear_pages: 0,
    };
    let cluster = ClusterParts {
        organisation: ImageOrganisation::Superblock,
        suspends_erases: false,
        backfills: true,
        cached: false,
        chips: &[0, 1, 2, 3],
        logical_per_chip: 4,
        collection: Some(collection),
        server: None,
        rings: &[],
    };
    let source = |number: u32| ImageSource {
        number,
        cluster: 0,
        writes: number > 2,
        order: RequestOrder::Any,
        pages: 4,
        first_page: 0,
        page_count: 16,
        period_ns: 1_000,
        deadline_ns: 100 + u64::from(number),
        jitter_ns: 0,
    };
    let sources: Vec<_> = (0..5).map(source).collect();
    let parts = ImageParts { device, clusters: &[cluster], sources: &sources, jobs: &[] };
    let mut bytes = vec![0; parts.encoded_len().expect("a small image")];
    assert_eq!(parts.encode(&mut bytes), Some(bytes.len()));
    bytes
}

/// The first block of each chip holds the logical pages, four in a row.
struct OneBlock;

impl AtStart for OneBlock {
    fn pages(&mut self, _: u32, lpns: &mut [u32]) -> u32 {
        lpns[..16].iter_mut().zip(0..).for_each(|(held, lpn)| *held = lpn);
        16
    }

    fn ring(&mut self, _: u32, _: u32) -> u32 {
        0
    }

    fn is_written(&mut self, _: u32, _: u32) -> bool {
        false
    }
}

/// The operations that chips began since the last question: the chip, whether it programs, and the
/// logical page. And for which page of which source's request.
#[derive(Default)]
struct Begun(Vec<(u32, bool, u32)>, Vec<(u32, u32)>);

impl Begun {
    fn is_for(&mut self, purpose: OperationPurpose) {
        if let OperationPurpose::Request { source, place, .. } = purpose {
            self.1.push((source, place));
        }
    }
}

impl NandChips for Begun {
    fn read(&mut self, chip: u32, _: FlashPage, lpn: u32, purpose: OperationPurpose) {
        self.is_for(purpose);
        self.0.push((chip, false, lpn));
    }

    fn program(&mut self, chip: u32, _: FlashPage, spare: SpareBytes, purpose: OperationPurpose) {
        self.is_for(purpose);
        self.0.push((chip, true, spare.lpn));
    }

    fn copyback(&mut self, _: u32, _: FlashPage, _: FlashPage, _: SpareBytes) {
        unreachable!("a superblock copies over the bus")
    }

    fn erase(&mut self, chip: u32, _: u32, _: OperationPurpose) {
        self.0.push((chip, true, NONE));
    }

    fn suspend(&mut self, _: u32) {
        unreachable!("no erase is suspended")
    }

    fn resume(&mut self, _: u32, _: u32) {
        unreachable!("no erase is suspended")
    }

    fn sense(&mut self, _: u32, _: FlashPage, _: u32, _: OperationPurpose, _: Option<u32>) {
        unreachable!("no chip uses a second page register")
    }

    fn send(&mut self, _: u32) {
        unreachable!("no chip uses a second page register")
    }

    fn load(&mut self, _: u32, _: FlashPage, _: SpareBytes, _: OperationPurpose) {
        unreachable!("no chip uses a second page register")
    }

    fn program_loaded(&mut self, _: u32) {
        unreachable!("no chip uses a second page register")
    }
}

/// Sources whose requests are over.
#[derive(Default)]
struct Over(Vec<u32>);

impl RequestHost for Over {
    fn complete(&mut self, source: u32, _: u64, _: u64) {
        self.0.push(source);
    }

    fn starved(&mut self, _: u32) {
        unreachable!("pages are free")
    }
}

/// Runs something on the state machine of a device.
fn with(device: ImageDevice, run: impl FnOnce(&mut Ftl<'_, '_>, &mut Begun, &mut Over)) {
    with_less(0, device, run).expect("enough memory");
}

/// Runs a case with fewer words than are stated.
fn with_less(
    less: usize,
    device: ImageDevice,
    run: impl FnOnce(&mut Ftl<'_, '_>, &mut Begun, &mut Over),
) -> Result<(), SetupError> {
    let bytes = image(device);
    let image = Image::read(&bytes).expect("a sound image");
    let geometry = Geometry::of(&image, 0).expect("a small device");
    let (mut words, mut bits) = (vec![7; geometry.words() - less], vec![7; geometry.bits()]);
    let mut gc_jobs = vec![Default::default(); geometry.gc_jobs];
    let mut processors: Vec<_> = (0..geometry.processors).map(|_| None).collect();
    let mut clusters = vec![Default::default(); geometry.clusters];
    let mut sources = vec![Default::default(); geometry.sources];
    let mut requests = vec![Default::default(); geometry.requests];
    let memory = FtlMemory {
        words: &mut words,
        bits: &mut bits,
        gc_jobs: &mut gc_jobs,
        processors: &mut processors,
        clusters: &mut clusters,
        sources: &mut sources,
        requests: &mut requests,
    };
    let mut ftl = Ftl::new(&image, 0, memory, &mut OneBlock)?;
    run(&mut ftl, &mut Begun::default(), &mut Over::default());
    Ok(())
}

#[test]
fn beside_a_read_others_use_other_channels() {
    with(DEVICE, |ftl, nand, host| {
        // Page l is on chip l mod 4; chips 0 and 1 are on one channel.
        ftl.request(0, None, 0, &[0]).expect("as declared");
        ftl.request(1, None, 0, &[1, 4, 3]).expect("as declared");
        ftl.request(2, None, 0, &[2]).expect("as declared");
        ftl.dispatch(nand, host);
        assert_eq!(std::mem::take(&mut nand.0), [(0, false, 0), (3, false, 3)]);
        assert!(ftl.ended(3, host) && host.0.is_empty(), "a step ends as a whole");
        assert!(ftl.ended(0, host));
        assert_eq!(std::mem::take(&mut host.0), [0]);
        // The page that was taken is not read again.
        ftl.dispatch(nand, host);
        assert_eq!(std::mem::take(&mut nand.0), [(1, false, 1), (2, false, 2)]);
        assert!(ftl.ended(1, host) && ftl.ended(2, host));
        assert_eq!(std::mem::take(&mut host.0), [2]);
        ftl.dispatch(nand, host);
        assert_eq!(std::mem::take(&mut nand.0), [(0, false, 4)]);
        assert!(ftl.ended(0, host));
        assert_eq!(host.0, [1]);
    });
}

#[test]
fn a_row_takes_what_others_write_and_then_reads() {
    with(DEVICE, |ftl, nand, host| {
        ftl.request(3, None, 0, &[8, 9]).expect("as declared");
        ftl.request(4, None, 0, &[10]).expect("as declared");
        ftl.dispatch(nand, host);
        assert_eq!(std::mem::take(&mut nand.0), [(0, true, 8), (1, true, 9), (2, true, 10)]);
        ftl.request(0, None, 1, &[3]).expect("as declared");
        ftl.dispatch(nand, host);
        assert!(nand.0.is_empty(), "nothing begins while a step is under way");
        assert!((0..3).all(|chip| ftl.ended(chip, host)));
        assert_eq!(std::mem::take(&mut host.0), [3, 4]);
        ftl.dispatch(nand, host);
        assert_eq!(std::mem::take(&mut nand.0), [(3, false, 3)]);
        assert!(ftl.ended(3, host));
    });
    // All are there at once here, and the read is due last.
    with(DEVICE, |ftl, nand, host| {
        ftl.request(3, None, 0, &[8, 9]).expect("as declared");
        ftl.request(1, None, 100, &[7, 6]).expect("as declared");
        ftl.dispatch(nand, host);
        assert_eq!(std::mem::take(&mut nand.0), [(0, true, 8), (1, true, 9), (3, false, 7), (2, false, 6)]);
        assert!((0..4).all(|chip| ftl.ended(chip, host)));
        assert_eq!(host.0, [3, 1]);
    });
}

#[test]
fn a_read_that_may_last_longer_than_a_row_is_not_beside_it() {
    // With commands a read waits once more, for each other chip of its channel.
    for (read, command, beside) in [(20, 0, true), (21, 0, false), (15, 1, true), (16, 1, false)] {
        let device = ImageDevice { page_read_ns: read, command_ns: command, ..DEVICE };
        with(device, |ftl, nand, host| {
            ftl.request(3, None, 0, &[8]).expect("as declared");
            ftl.request(1, None, 100, &[7]).expect("as declared");
            ftl.dispatch(nand, host);
            assert_eq!(nand.0.len() == 2, beside, "{read}, {command}");
        });
    }
}

#[test]
fn what_fails_is_programmed_again_and_nothing_else() {
    // A chip that reads has nothing that fails: its block goes on.
    with(DEVICE, |ftl, nand, host| {
        ftl.request(3, None, 0, &[8, 9]).expect("as declared");
        ftl.request(1, None, 100, &[7]).expect("as declared");
        ftl.dispatch(nand, host);
        nand.0.clear();
        let free = ftl.reserve(0).map(|(_, free, _)| free);
        assert!(ftl.failed(3, host) && ftl.ended(0, host) && ftl.ended(1, host));
        assert_eq!(host.0, [3, 1]);
        assert_eq!(ftl.reserve(0).map(|(_, free, _)| free), free);
        ftl.dispatch(nand, host);
        assert!(nand.0.is_empty());
    });
    // The request whose page is programmed again goes on alone.
    with(DEVICE, |ftl, nand, host| {
        ftl.request(3, None, 0, &[8, 9]).expect("as declared");
        ftl.request(4, None, 0, &[10]).expect("as declared");
        ftl.request(1, None, 101, &[7]).expect("as declared");
        ftl.dispatch(nand, host);
        nand.0.clear();
        assert!(ftl.failed(1, host) && ftl.ended(0, host) && ftl.ended(2, host) && ftl.ended(3, host));
        assert_eq!(std::mem::take(&mut host.0), [4, 1]);
        ftl.dispatch(nand, host);
        assert_eq!(nand.0.iter().map(|of| (of.1, of.2)).collect::<Vec<_>>(), [(true, 9)]);
        assert!(ftl.ended(nand.0[0].0, host));
        assert_eq!(host.0, [3]);
    });
    // A page that another page of the step has overwritten is not programmed again.
    with(DEVICE, |ftl, nand, host| {
        ftl.request(3, None, 0, &[8, 9]).expect("as declared");
        ftl.request(4, None, 0, &[9]).expect("as declared");
        ftl.dispatch(nand, host);
        assert_eq!(std::mem::take(&mut nand.0), [(0, true, 8), (1, true, 9), (2, true, 9)]);
        assert!(ftl.failed(1, host) && ftl.ended(0, host) && ftl.ended(2, host));
        assert_eq!(host.0, [3, 4]);
        ftl.dispatch(nand, host);
        assert!(nand.0.is_empty());
    });
    // If that has failed, too, neither is said to be written before it is.
    with(DEVICE, |ftl, nand, host| {
        ftl.request(3, None, 0, &[9]).expect("as declared");
        ftl.request(4, None, 0, &[9]).expect("as declared");
        ftl.dispatch(nand, host);
        assert_eq!(std::mem::take(&mut nand.0), [(0, true, 9), (1, true, 9)]);
        assert!(ftl.failed(0, host) && ftl.failed(1, host) && host.0.is_empty());
        ftl.dispatch(nand, host);
        assert_eq!(nand.0.iter().map(|of| (of.1, of.2)).collect::<Vec<_>>(), [(true, 9)]);
        assert!(ftl.ended(nand.0[0].0, host));
        assert_eq!(host.0, [3, 4]);
    });
    // Nor where it fails once more, on a chip that failed for neither.
    with(ImageDevice { spare_blocks: 2, blocks_per_chip: 14, ..DEVICE }, |ftl, nand, host| {
        ftl.request(3, None, 0, &[8, 9]).expect("as declared");
        ftl.request(4, None, 0, &[9]).expect("as declared");
        ftl.dispatch(nand, host);
        assert_eq!(std::mem::take(&mut nand.0), [(0, true, 8), (1, true, 9), (2, true, 9)]);
        assert!(ftl.ended(0, host) && ftl.failed(1, host) && ftl.failed(2, host) && host.0.is_empty());
        for again in 0..3 {
            ftl.dispatch(nand, host);
            let [(chip, true, 9)] = std::mem::take(&mut nand.0)[..] else { panic!("{again}") };
            assert!(again > 0 || chip == 0, "where no page of the two was");
            assert!(if again < 2 { ftl.failed(chip, host) } else { ftl.ended(chip, host) });
            assert_eq!(host.0.is_empty(), again < 2, "{again}: {:?}", host.0);
        }
        assert_eq!(host.0, [3, 4]);
    });
}

#[test]
fn what_is_filled_in_says_which_page_of_its_request_it_is() {
    with(DEVICE, |ftl, nand, host| {
        ftl.request(3, None, 0, &[8]).expect("as declared");
        ftl.request(4, None, 0, &[9, 10]).expect("as declared");
        // Pages 0 to 2 are on chips that program.
        ftl.request(1, None, 100, &[0, 1, 3]).expect("as declared");
        ftl.dispatch(nand, host);
        assert_eq!(std::mem::take(&mut nand.0), [(0, true, 8), (1, true, 9), (2, true, 10), (3, false, 3)]);
        assert_eq!(std::mem::take(&mut nand.1), [(3, 0), (4, 0), (4, 1), (1, 2)]);
        // A request that has failed says it again.
        assert!(ftl.ended(0, host) && ftl.ended(1, host) && ftl.failed(2, host) && ftl.ended(3, host));
        assert_eq!(host.0, [3]);
        ftl.dispatch(nand, host);
        assert_eq!(std::mem::take(&mut nand.1), [(4, 1)]);
        assert!(ftl.ended(nand.0[0].0, host));
        nand.0.clear();
        assert_eq!(host.0, [3, 4]);
        // Beside a read likewise: pages 0 and 1 are on chips of one channel.
        ftl.request(0, None, 100, &[2]).expect("as declared");
        ftl.dispatch(nand, host);
        assert_eq!(std::mem::take(&mut nand.0), [(2, false, 2), (0, false, 0)]);
        assert_eq!(nand.1, [(0, 0), (1, 0)]);
    });
}

#[test]
fn what_is_trimmed_meanwhile_is_not_programmed_again() {
    // The failed page, and the one that overwrote it in the same row, but for the latest page.
    for trims in [false, true] {
        with(DEVICE, |ftl, nand, host| {
            ftl.request(3, None, 0, &[8, 9]).expect("as declared");
            ftl.request(4, None, 0, &[8, 10]).expect("as declared");
            ftl.dispatch(nand, host);
            assert_eq!(std::mem::take(&mut nand.0), [(0, true, 8), (1, true, 9), (2, true, 8), (3, true, 10)]);
            assert!(ftl.failed(0, host) && ftl.ended(1, host));
            // Page 10 is the one that was programmed last.
            ftl.trim(4, if trims { &[8, 10] } else { &[] }).expect("they are its own");
            assert!(ftl.failed(2, host) && ftl.failed(3, host));
            assert_eq!(host.0, if trims { [3].as_slice() } else { &[] });
            ftl.dispatch(nand, host);
            let again: Vec<_> = nand.0.iter().map(|of| of.2).collect();
            assert_eq!(again, if trims { [10].as_slice() } else { &[8, 10] });
            assert!(nand.0.iter().all(|of| ftl.ended(of.0, host)));
            assert_eq!(host.0, [3, 4]);
            assert_eq!(ftl.locate(0, 8).is_none(), trims);
            assert_eq!(ftl.locate(0, 10), ftl.locate(0, 10).filter(|at| at.1.block != 1), "its block has failed");
        });
    }
}

/// Each of several pages that were overwritten waits for its own page alone.
#[test]
fn each_page_that_was_overwritten_waits_for_what_overwrote_it() {
    let device = ImageDevice { spare_blocks: 2, blocks_per_chip: 14, ..DEVICE };
    // The chips that fail once more, and what is over then.
    for (pages, fails_again, over, then) in [
        ([8, 8, 8], 8, [].as_slice(), [3, 4, 3].as_slice()),
        ([8, 9, 8], 9, &[3, 3], &[4]),
        ([8, 9, 8], 8, &[4], &[3, 3]),
    ] {
        with(device, |ftl, nand, host| {
            for (source, now, page) in [(3, 0, pages[0]), (4, 0, pages[1]), (3, 1_000, pages[2])] {
                ftl.request(source, None, now, &[page]).expect("as declared");
            }
            ftl.dispatch(nand, host);
            assert!(std::mem::take(&mut nand.0).iter().all(|of| ftl.failed(of.0, host)) && host.0.is_empty());
            ftl.dispatch(nand, host);
            for (chip, _, page) in std::mem::take(&mut nand.0) {
                assert!(if page == fails_again { ftl.failed(chip, host) } else { ftl.ended(chip, host) });
            }
            assert_eq!(std::mem::take(&mut host.0), over, "{pages:?}");
            ftl.dispatch(nand, host);
            assert!(nand.0.iter().all(|of| of.2 == fails_again && ftl.ended(of.0, host)));
            assert_eq!(host.0, then, "{pages:?}");
        });
    }
}

/// A request whose failed pages are all trimmed before they are programmed once more is over at
/// once, and the next one begins.
#[test]
fn where_nothing_is_left_to_be_programmed_again_the_next_step_begins() {
    with(DEVICE, |ftl, nand, host| {
        ftl.request(3, None, 0, &[8]).expect("as declared");
        ftl.request(4, None, 0, &[8, 10]).expect("as declared");
        ftl.dispatch(nand, host);
        assert_eq!(std::mem::take(&mut nand.0), [(0, true, 8), (1, true, 8), (2, true, 10)]);
        assert!(ftl.failed(0, host) && ftl.failed(1, host) && ftl.ended(2, host) && host.0.is_empty());
        ftl.trim(3, &[8]).expect("it is its own");
        ftl.request(0, None, 100, &[5]).expect("as declared");
        ftl.dispatch(nand, host);
        assert_eq!(nand.0, [(1, false, 5)]);
        assert_eq!(host.0, [3, 4]);
    });
}

#[test]
fn as_much_memory_as_is_stated_is_enough_and_a_word_less_is_not() {
    for (chips, per_channel) in [(4, 2), (7, 3), (16, 2), (16, 16)] {
        let device = ImageDevice { chips, chips_per_channel: per_channel, ..DEVICE };
        for less in 0..2 {
            let made = with_less(less, device, |_, _, _| ());
            assert_eq!(made.err(), (less > 0).then_some(SetupError::Memory), "{chips}, {per_channel}");
        }
    }
}
