//! Cases worked out by hand, and certificates that say something false.

use rtflash_model::{
    Access, Allocation, Certificate, Cluster, Collection, Device, DeviceSpec, Placement, Reliance, Remarks, Request,
    Span, Task, TaskSet, Tightest,
};

use super::*;

const BOTH: [Placement; 2] = [Placement::Stripe, Placement::Superblock];

fn ms(milliseconds: u32) -> Span {
    Span::from_us(milliseconds * 1000)
}

/// A sequential task: pages and milliseconds of its reads and writes.
fn task(name: &str, read: (u64, u32), write: (u64, u32)) -> Task {
    let request = |(pages, period)| Request::new(pages, ms(period)).map(|it| it.with_access(Access::Sequential));
    Task { name: name.into(), read: request(read), write: request(write), data_pages: None }
}

fn set(chips: u32, tasks: Vec<Task>) -> TaskSet {
    let profile = Device::profile("dgist-2021").unwrap().spec();
    TaskSet::new(Device::new(DeviceSpec { chips, ..profile }).unwrap(), tasks, vec![]).unwrap()
}

fn allocation(set: &TaskSet, clusters: &[(&[u32], &[u32])], certificates: Vec<Option<Certificate>>) -> Allocation {
    let clusters: Vec<Cluster> =
        clusters.iter().map(|&(chips, tasks)| Cluster::of(chips.iter().copied(), tasks.iter().copied())).collect();
    Allocation::new(set.device().chips(), set.tasks().len(), &clusters).unwrap().with_certificates(certificates)
}

fn collection(deadline: Option<u32>, [alpha, reserve, victim, open]: [u64; 4]) -> Option<Collection> {
    Some(Collection {
        deadline: deadline.map(ms),
        reclaimed_pages: alpha,
        reserve_pages: reserve,
        victim_pages: victim,
        open_blocks: open,
    })
}

/// With the tightest length in milliseconds, and its slack in microseconds.
fn certificate(
    placement: Placement,
    collection: Option<Collection>,
    server: u32,
    tightest: Option<(u32, i64)>,
) -> Certificate {
    let tightest = tightest.map(|(length, slack)| Tightest { length: ms(length), slack_ns: slack * 1000 });
    Certificate { placement, collection, server_thousandths: server, backfill: true, tightest }
}

/// A server of this share alone on a stripe.
fn only_server(server: u32) -> Certificate {
    // H = 255 + 256, so F = ⌊510/256⌋ + 1 + 1.
    certificate(Placement::Stripe, collection(None, [128, 511, 128, 3]), server, None)
}

fn camera() -> Task {
    task("camera", (40, 36), (24, 30))
}

/// The example of Section 8: every page waits for all four chips, since the other two have a
/// server.
fn section_8(server: u32, numbers: [u64; 4], tightest: (u32, i64)) -> (TaskSet, Allocation) {
    let set = set(4, vec![camera()]);
    let own = certificate(Placement::Stripe, collection(Some(360), numbers), server, Some(tightest));
    let allocation = allocation(&set, &[(&[0, 1], &[0]), (&[2, 3], &[])], vec![Some(own), Some(only_server(100))]);
    (set, allocation)
}

fn assert_accepted(set: &TaskSet, allocation: &Allocation) -> CertifiedVerification {
    let verification = verify_certified(set, allocation, &BOTH, Reliance::Queue);
    assert!(verification.accepts(), "{verification:?}");
    assert!(verification.clusters.iter().all(|cluster| cluster.tighter.is_none()), "{verification:?}");
    verification
}

#[test]
fn the_example_of_the_certificate() {
    let (set, allocation) = section_8(0, [128, 399, 128, 2], (30, 17_080));
    let verification = assert_accepted(&set, &allocation);
    let shares = verification.clusters[0].shares.unwrap();
    assert_eq!((shares.length_ns, shares.slack_ns), (30_000_000, 17_080_000));
    assert!((shares.writes - 7.92 / 30.0).abs() < 1e-12 && (shares.blocking - 5.0 / 30.0).abs() < 1e-12);
    assert!((shares.utilization - 12.92 / 30.0).abs() < 1e-12);
    assert_eq!((shares.reads, shares.gc, shares.waiting), (0.0, 0.0, 0.0));
    assert!(verification.clusters[1].shares.is_none());
}

#[test]
fn the_example_with_a_server() {
    // U is 0.61631 and so a server may have up to 0.383 of a chip, but not 0.384.
    let (set, allocation) = section_8(383, [128, 655, 128, 4], (30, 5_590));
    let found = verify_certified(&set, &allocation, &BOTH, Reliance::Queue);
    // 30 ms · 0.617 − 12.92 ms.
    assert_eq!(found.clusters[0].shares.unwrap().slack_ns, 5_590_000);
    assert_eq!(found.holds(), Some(true), "{found:?}");
    let (set, allocation) = section_8(384, [128, 655, 128, 4], (30, 5_560));
    assert_eq!(verify_certified(&set, &allocation, &BOTH, Reliance::Queue).clusters[0].holds, Some(false));
}

#[test]
fn the_example_of_the_device_level_test() {
    // One chip reads 300 pages every 40 ms, three write 12 every 30 ms.
    let tasks = ["b", "c", "d"].map(|name| task(name, (0, 1), (12, 30)));
    let set = set(4, [vec![task("a", (300, 40), (0, 1))], tasks.to_vec()].concat());
    // 300 · 90 us, and 3 · 36 waits of 40 us.
    let reader = certificate(Placement::Stripe, None, 0, Some((40, 8_680)));
    // A = 144, H = 399; 12 · 540 us, 3 · 12 waits of 40 us, and an erase.
    let writer = certificate(Placement::Stripe, collection(Some(360), [128, 399, 128, 2]), 0, Some((30, 17_080)));
    let clusters: [(&[u32], &[u32]); 4] = [(&[0], &[0]), (&[1], &[1]), (&[2], &[2]), (&[3], &[3])];
    let allocation = allocation(&set, &clusters, vec![Some(reader), Some(writer), Some(writer), Some(writer)]);
    let verification = assert_accepted(&set, &allocation);
    let shares = verification.clusters[0].shares.unwrap();
    assert!((shares.reads - 27.0 / 40.0).abs() < 1e-12 && (shares.waiting - 4.32 / 40.0).abs() < 1e-12);
}

#[test]
fn a_stream_is_charged_its_share_in_the_long_run() {
    // Two chips read 142 pages each every 20 ms, at 50 us and two transfers of 40 us, and a page
    // of one of them every ms: ten on each in 20 ms, and 20 of sequential requests.
    let logger = |access| {
        let read = Request::new(1, ms(1)).map(|it| it.with_access(access));
        Task { read, ..task("logger", (0, 1), (0, 1)) }
    };
    let verified = |access, slack| {
        let set = set(2, vec![task("reader", (284, 20), (0, 1)), logger(access)]);
        let both = certificate(Placement::Stripe, None, 0, Some((20, slack)));
        let allocation = allocation(&set, &[(&[0, 1], &[0, 1])], vec![Some(both)]);
        verify_certified(&set, &allocation, &BOTH, Reliance::Nothing)
    };
    let slack = 20_000 - (142 + 10) * 130;
    let stream = verified(Access::Stream, slack);
    assert!(stream.accepts() && stream.clusters[0].notes.is_empty(), "{stream:?}");
    let shares = stream.clusters[0].shares.unwrap();
    assert_eq!((shares.length_ns, shares.slack_ns), (20_000_000, i128::from(slack) * 1_000));
    assert_eq!(verified(Access::Sequential, 20_000 - (142 + 20) * 130).holds(), Some(false));
}

#[test]
fn reads_in_a_queue() {
    // Two chips read 160 pages each every 40 ms; a third one does, too, and writes 12 every 30 ms.
    let set = set(4, vec![task("a", (320, 40), (0, 1)), task("b", (160, 40), (12, 30))]);
    // Reading: 160 · 90 us. Each page waits for two chips, less 50 us; but ten times (at the start,
    // for the job, and for eight changes of b's) the 50 us are not saved, three times 40 us, and 47
    // times 10 us, since the chips come fresh 3 times and 44 (five jobs, two passes, one more, and
    // 36 pages written).
    let reader =
        certificate(Placement::Stripe, None, 0, Some((40, 40_000 - 14_400 - (12_800 - 8_000 + 500 + 120 + 470))));
    // 160 · 90 us, 12 · 540 us and an erase; both chips of a come fresh 3 times, for 50 / 2 us.
    let waits = 2 * 40 * 172 - 160 * 50 + 3 * 50 + 6 * 25;
    let slack = 40_000 - 14_400 - 6_480 - 5_000 - waits;
    let both = certificate(Placement::Stripe, collection(Some(360), [128, 399, 128, 2]), 0, Some((40, slack)));
    let clusters: [(&[u32], &[u32]); 2] = [(&[0, 1], &[0]), (&[2], &[1])];
    let verification =
        verify_certified(&set, &allocation(&set, &clusters, vec![Some(reader), Some(both)]), &BOTH, Reliance::Queue);
    assert!(verification.accepts(), "{verification:?}");
    // One by one, each page would wait for both.
    let saved = [0, 1].map(|cluster| verification.clusters[cluster].shares.unwrap().saved_ns);
    assert_eq!(saved, [(12_800 - 5_890) * 1000, i128::from(2 * 40 * 172 - waits) * 1000]);
    // With an unknown chip on the channel nothing is.
    let clusters: [(&[u32], &[u32]); 3] = [(&[0, 1], &[0]), (&[2], &[1]), (&[3], &[])];
    let certificates = vec![Some(reader), Some(both), Some(only_server(100))];
    let verification = verify_certified(&set, &allocation(&set, &clusters, certificates), &BOTH, Reliance::Queue);
    assert_eq!(verification.clusters[0].shares.unwrap().saved_ns, 0);
    assert_eq!(verification.clusters[1].holds, Some(false));
}

#[test]
fn a_superblock_cluster() {
    // Alone on its channel: a read takes 90 us, a row or GC read waits for one sibling.
    // A = 288, H = 288 + 511, F = ⌊822/512⌋ + 1, v = ⌊262144/1022⌋; 12 rows of 580 us.
    let set = set(4, vec![camera()]);
    let own = certificate(Placement::Superblock, collection(Some(360), [256, 799, 256, 2]), 0, Some((30, 18_040)));
    let clusters: [(&[u32], &[u32]); 2] = [(&[0, 1], &[0]), (&[2, 3], &[])];
    assert_accepted(&set, &allocation(&set, &clusters, vec![Some(own), None]));
    let verification = verify_certified(
        &set,
        &allocation(&set, &clusters, vec![Some(own), None]),
        &[Placement::Stripe],
        Reliance::Queue,
    );
    assert_eq!((verification.holds(), verification.clusters[0].discrepancies.len()), (Some(true), 1));
    // The length 396 ms: 13 writes, 11 reads of 3.6 ms, and one pass of 256 · 90 us + 128 · 580 us
    // + 5 ms.
    let far = Certificate { tightest: Some(Tightest { length: ms(396), slack_ns: 163_640_000 }), ..own };
    let found = verify_certified(&set, &allocation(&set, &clusters, vec![Some(far), None]), &BOTH, Reliance::Queue);
    assert_eq!(found.clusters[0].shares.unwrap().slack_ns, 396_000_000 - 13 * 6_960_000 - 11 * 3_600_000 - 102_280_000);
    assert_eq!((found.clusters[0].discrepancies.len(), found.clusters[0].tighter), (0, own.tightest));
    // With a foreign server on the channel a read waits for two chips, a row for three: 12 rows of
    // 660 us and 40 reads of 170 us in 36 ms.

    let beside = Certificate { tightest: Some(Tightest { length: ms(36), slack_ns: 16_280_000 }), ..own };
    let found = assert_accepted(&set, &allocation(&set, &clusters, vec![Some(beside), Some(only_server(1000))]));
    assert!((found.clusters[0].shares.unwrap().reads - 6.8 / 36.0).abs() < 1e-12);
}

#[test]
fn every_number_is_compared() {
    let numbers = [128, 399, 128, 2];
    let (set, allocation) = section_8(0, numbers, (30, 17_080));
    let good = *allocation.certificate(0).unwrap();
    let stated = good.collection.unwrap();
    let (length, slack) = (ms(30).as_ns(), 17_080_000);
    let tightest = |length, slack_ns| Some(Tightest { length: Span::from_ns(length).unwrap(), slack_ns });
    let with = |change: Collection| Certificate { collection: Some(change), ..good };
    let near = |length, slack_ns| Certificate { tightest: tightest(length, slack_ns), ..good };
    // The statements that promise more than is true, and those that say more, or something else,
    // than is needed.
    let false_ones = vec![
        Certificate { collection: None, ..good },
        Certificate { server_thousandths: 1, ..good },
        Certificate { server_thousandths: 1001, ..good },
        with(Collection { deadline: None, ..stated }),
        with(Collection { deadline: Some(Span::from_ns(ms(360).as_ns() + 1).unwrap()), ..stated }),
        with(Collection { reclaimed_pages: 0, ..stated }),
        with(Collection { reclaimed_pages: 129, ..stated }),
        with(Collection { reserve_pages: 398, ..stated }),
        with(Collection { victim_pages: 127, ..stated }),
        with(Collection { victim_pages: 129, ..stated }),
        with(Collection { open_blocks: 1, ..stated }),
        // 501 pages and 12 are more than two blocks: a third one is open.
        with(Collection { reserve_pages: 502, ..stated }),
    ];
    let mut other_ones = vec![
        Certificate { tightest: None, ..good },
        with(Collection { deadline: Some(ms(330)), ..stated }),
        with(Collection { reclaimed_pages: 127, ..stated }),
        with(Collection { reserve_pages: 400, ..stated }),
        with(Collection { open_blocks: 3, ..stated }),
        with(Collection { reserve_pages: 502, open_blocks: 3, ..stated }),
        near(length - 1, slack),
    ];
    for change in [-1i64, 1] {
        let length = length.checked_add_signed(change).unwrap();
        other_ones.extend([near(length, slack), near(ms(30).as_ns(), slack + change)]);
    }
    let judged = |certificate: Certificate| {
        let changed = allocation.clone().with_certificates(vec![Some(certificate), Some(only_server(100))]);
        let verification = verify_certified(&set, &changed, &BOTH, Reliance::Queue);
        assert!(verification.clusters[1].discrepancies.is_empty() && verification.clusters[1].notes.is_empty());
        (verification.accepts(), verification.clusters[0].clone())
    };
    for certificate in false_ones {
        let (accepted, found) = judged(certificate);
        assert!(!accepted && !found.discrepancies.is_empty(), "{certificate:?}: {found:?}");
    }
    // No alpha goes with more valid pages than a block has.
    let (_, found) = judged(with(Collection { victim_pages: 1 << 40, ..stated }));
    assert_eq!(found.discrepancies[0], "alpha is 128, and no number is small enough");
    for certificate in other_ones {
        let (accepted, found) = judged(certificate);
        assert!(accepted && !found.notes.is_empty(), "{certificate:?}: {found:?}");
    }
    let (accepted, found) = judged(good);
    assert!(accepted && found.notes.is_empty());
}

/// The certificate does not change when the camera writes half as much at half the rate, or nothing
/// any more.
#[test]
fn lighter_loads_keep_their_certificates() {
    let (_, allocation) = section_8(0, [128, 399, 128, 2], (30, 17_080));
    for (task, notes) in [
        // A = 6 · 6 = 36: H = 291 would do. The shortest deadline is 36 ms, and the length of 30 ms
        // of no use.
        (task("camera", (40, 36), (12, 60)), vec!["H is 399, where 291 would do", "the tightest length"]),
        (
            task("camera", (40, 36), (0, 1)),
            vec!["garbage collection where nothing is ever written", "the tightest length"],
        ),
        (task("camera", (40, 36), (22, 30)), vec!["the slack of 30ms"]),
    ] {
        let verification = verify_certified(&set(4, vec![task]), &allocation, &BOTH, Reliance::Queue);
        assert!(verification.accepts(), "{verification:?}");
        let found = &verification.clusters[0];
        assert_eq!(found.relies_on, Some(Reliance::Nothing));
        for note in notes {
            assert!(found.notes.iter().any(|said| said.starts_with(note)), "{note}: {found:?}");
        }
    }
}

#[test]
fn what_cannot_hold() {
    let own = certificate(Placement::Stripe, collection(Some(360), [128, 399, 128, 2]), 0, Some((30, 17_080)));
    let holds = |task: Task, certificate: Option<Certificate>| {
        let set = set(1, vec![task]);
        let verification =
            verify_certified(&set, &allocation(&set, &[(&[0], &[0])], vec![certificate]), &BOTH, Reliance::Queue);
        (verification.holds(), verification.clusters[0].data_fits)
    };
    let writer = || task("writer", (0, 1), (12, 30));
    assert_eq!(holds(writer(), Some(own)), (Some(true), true));
    // Data of 131072 pages fits, one more does not.
    assert_eq!(holds(Task { data_pages: Some(131_072), ..writer() }, Some(own)), (Some(true), true));
    let much = set(2, vec![Task { data_pages: Some(131_073), ..writer() }]);
    let found = verify_certified(&much, &allocation(&much, &[(&[0], &[0])], vec![Some(own)]), &BOTH, Reliance::Queue);
    assert_eq!((found.holds(), found.clusters[0].data_fits), (Some(false), false));
    assert_eq!(holds(writer(), None).0, Some(false));
    // A D_g so long that no block is eligible: 12 pages every 30 ms for 1024 blocks of 256 pages.
    let endless = Certificate { collection: collection(Some(660_000), [128, 399, 128, 2]), ..own };
    let set_of_one = set(1, vec![writer()]);
    let found = verify_certified(
        &set_of_one,
        &allocation(&set_of_one, &[(&[0], &[0])], vec![Some(endless)]),
        &BOTH,
        Reliance::Queue,
    );
    assert!(!found.accepts(), "{found:?}");
    // 44 pages every 30 ms: 23.76 ms, and 75.4 ms for every 128 of them.
    assert_eq!(holds(task("writer", (0, 1), (44, 30)), Some(own)).0, Some(false));
}

/// The reader of Section 6 needs to know its neighbours, and the readers of Section 6.1 the queue;
/// each is given what it needs, and a statement of less is refused.
#[test]
fn what_is_relied_on_is_judged() {
    let tasks = ["b", "c", "d"].map(|name| task(name, (0, 1), (12, 30)));
    let beside = set(4, [vec![task("a", (300, 40), (0, 1))], tasks.to_vec()].concat());
    let reader = certificate(Placement::Stripe, None, 0, Some((40, 8_680)));
    let writer = certificate(Placement::Stripe, collection(Some(360), [128, 399, 128, 2]), 0, Some((30, 17_080)));
    let clusters: [(&[u32], &[u32]); 4] = [(&[0], &[0]), (&[1], &[1]), (&[2], &[2]), (&[3], &[3])];
    let known = allocation(&beside, &clusters, vec![Some(reader), Some(writer), Some(writer), Some(writer)]);
    let queue = set(4, vec![task("a", (320, 40), (0, 1)), task("b", (160, 40), (12, 30))]);
    let clusters: [(&[u32], &[u32]); 2] = [(&[0, 1], &[0]), (&[2], &[1])];
    let both = Certificate { tightest: None, ..writer };
    let queued = allocation(&queue, &clusters, vec![Some(Certificate { tightest: None, ..reader }), Some(both)]);
    use Reliance::{Neighbours, Nothing, Queue};
    for (set, allocation, needs) in [
        (&beside, known, [Neighbours, Nothing, Nothing, Nothing].as_slice()),
        // The chips that only read hold whatever the third one does.
        (&queue, queued, &[Nothing, Queue]),
    ] {
        for granted in Reliance::ALL {
            let verification = verify_certified(set, &allocation, &BOTH, granted);
            for (found, &needed) in verification.clusters.iter().zip(needs) {
                assert_eq!((found.relies_on, found.holds), (Some(needed), Some(needed <= granted)), "{found:?}");
            }
            for stated in Reliance::ALL {
                let remarks = Remarks { relies_on: Some(stated), gone_tasks: vec![] };
                let remarked = allocation.clone().with_remarks(vec![remarks; needs.len()]);
                let verification = verify_certified(set, &remarked, &BOTH, granted);
                for (found, &needed) in verification.clusters.iter().zip(needs) {
                    let of = |said: &[String]| said.iter().any(|it| it.starts_with("it states that it relies on"));
                    assert_eq!((of(&found.discrepancies), of(&found.notes)), (stated < needed, stated > needed));
                }
            }
        }
    }
}

/// Nine chips, eight on a channel: the last one has a channel to itself.
#[test]
fn the_worst_case_is_of_the_actual_chips() {
    let profile = Device::profile("dgist-2021").unwrap().spec();
    let device = |chips| Device::new(DeviceSpec { chips, chips_per_channel: 8, ..profile }).unwrap();
    // 100 pages every 10 ms: 0.9 of a chip alone.
    let of = |chips: u32, chip: u32| {
        let set = TaskSet::new(device(chips), vec![task("a", (100, 10), (0, 1))], vec![]).unwrap();
        let own = certificate(Placement::Stripe, None, 0, None);
        let allocation = allocation(&set, &[(&[chip], &[0])], vec![Some(own)]);
        verify_certified(&set, &allocation, &BOTH, Reliance::Queue).clusters[0].relies_on
    };
    assert_eq!(
        (of(9, 8), of(10, 8), of(9, 0)),
        (Some(Reliance::Nothing), Some(Reliance::Neighbours), Some(Reliance::Neighbours))
    );
}
