//! The device keeps its deadlines against any clients: random devices, and clients that come when
//! and with what they like.

use rtflash_testkit::ns;
use std::collections::HashMap;

use rtflash_alloc::allocator::allocator;
use rtflash_analysis::{Analysis, Sound, Zoned};
use rtflash_host::run::CertifiedClusters;
use rtflash_model::random::Stream;
use rtflash_model::{Access, Device, Instant, Request, Span, Task, TaskSet};
use rtflash_plan::{Aging, Options};
use rtflash_serve::{ClientAction, ClientCommand, Drive, DriveError, ServedRun};

use rtflash_testkit::cases;

/// A small device with a few tasks.
fn set(rng: &mut Stream, zoned: bool) -> Option<TaskSet> {
    let mut spec = Device::profile("dgist-2021").expect("a profile").spec();
    (spec.chips, spec.chips_per_channel) = (rng.small(2, 6), rng.small(1, 3));
    (spec.blocks_per_chip, spec.pages_per_block) = (rng.small(24, 60), rng.small(2, 8));
    (spec.page_read, spec.page_program, spec.block_erase, spec.page_transfer) = (ns(40), ns(90), ns(300), ns(10));
    let device = Device::new(spec).ok()?;
    let task = |number: u64, rng: &mut Stream| {
        let access = [Access::Random, Access::Sequential, Access::Stream][rng.index(3)];
        let access = if zoned { Access::Stream } else { access };
        let mut request = |cost: u64| {
            let pages = rng.within(1, 12);
            let period = pages * cost * rng.within(1, 4);
            let request = Request::new(pages, ns(period))?.with_access(access);
            let deadline = period - rng.within(0, period / 3);
            request.with_deadline(Some(ns(deadline)))?.with_jitter(ns(rng.within(0, deadline / 4)))
        };
        let (read, write) = (request(100)?, request(400)?);
        let kinds = rng.within(0, 2);
        Some(Task {
            name: format!("t{number}"),
            read: (kinds != 1).then_some(read),
            write: (kinds != 0).then_some(write),
            data_pages: None,
        })
    };
    let tasks: Option<Vec<Task>> = (0..rng.within(1, 5)).map(|number| task(number, rng)).collect();
    TaskSet::new(device, tasks?, vec![]).ok()
}

/// The outcome of a run: its answer, commands that came, and those that were refused.
struct Run {
    came: HashMap<u64, Instant>,
    over: Vec<u64>,
    refused: Vec<DriveError>,
    ends_early: bool,
    /// Trims that were taken, and their pages.
    trims: [u64; 2],
    run: ServedRun,
}

/// Clients that come when they like, with what they like.
fn run(rng: &mut Stream, set: &TaskSet, clusters: &CertifiedClusters, options: &Options) -> Run {
    let mut drive = Drive::new(set, clusters.plan(), options);
    let (mut now, mut came, mut over, mut refused) = (Instant::START, HashMap::new(), Vec::new(), Vec::new());
    let mut trims = [0; 2];
    // Some aim at one chip, page by page, and never pause.
    let aims = rng.within(0, 1) == 0;
    for ticket in 0..rng.within(20, 300) {
        // Bursts, and pauses.
        let pause = if aims { 0 } else { [0, 1, 30, 4_000][rng.index(4)] };
        let until = now.saturating_add(ns(rng.within(1, 1 + pause)));
        while let Some(next) = drive.next_instant().filter(|&next| next < until) {
            drive.step(next, &[], &mut over).expect("nothing came");
        }
        now = until;
        let export = rng.index(drive.exports().len());
        let of = &drive.exports()[export];
        let room = u32::try_from(of.pages).expect("small");
        let (first, pages) = match (aims, rng.within(0, 30)) {
            // The number of chips does not matter.
            (true, _) => (rng.small(0, (room - 1) / 60) * 60, 1),
            (false, 0) => (rng.small(0, room - 1), 0),
            (false, _) => (rng.small(0, room - 1), rng.small(1, 20.min(room))),
        };
        let action = [ClientAction::Read, ClientAction::Write, ClientAction::Trim][rng.index(3)];
        let command = ClientCommand { export, action, first, pages };
        match drive.step(now, &[(ticket, command)], &mut over) {
            Ok(()) => {
                came.insert(ticket, now);
                if action == ClientAction::Trim {
                    // It is over at once.
                    assert_eq!(over.last(), Some(&ticket));
                    trims = [trims[0] + 1, trims[1] + u64::from(pages)];
                }
            }
            Err(why) => {
                assert_eq!(why.len(), 1);
                refused.push(why[0].1);
            }
        }
    }
    // Some end where they are, maybe in the middle of a request.
    let ends_early = rng.within(0, 1) == 0;
    while let Some(next) = drive.next_instant().filter(|_| !ends_early) {
        drive.step(next, &[], &mut over).expect("nothing came");
    }
    Run { came, over, refused, ends_early, trims, run: drive.finish(Instant::START) }
}

fn attack(seed: u64, analysis: &dyn Analysis, zoned: bool) -> [u64; 7] {
    let mut seen = [0; 7];
    for case in 0..cases(700) {
        let mut rng = Stream::numbered(seed, b"serve\0\0\0", case);
        let Some(set) = set(&mut rng, zoned) else { continue };
        let outcome = allocator("best-fit").expect("an algorithm").allocate(&set, analysis);
        let Some(allocation) = outcome.allocation().filter(|_| outcome.is_schedulable() == Some(true)) else {
            continue;
        };
        let Ok(clusters) = CertifiedClusters::new(&set, allocation, &[], Span::ZERO) else { continue };
        let aging = if rng.within(0, 1) == 0 { Aging::Worst } else { Aging::Random };
        let options = Options { aging, ..Drive::options() };
        let Run { came, mut over, refused, run, ends_early, trims } = run(&mut rng, &set, &clusters, &options);
        // Each command that was taken is over, once, or the run was too early.
        over.sort_unstable();
        let mut taken: Vec<u64> = came.into_keys().collect();
        taken.sort_unstable();
        taken.retain(|ticket| !ends_early || over.contains(ticket));
        assert_eq!(over, taken, "case {case}");
        let broken: Vec<_> = run.findings.iter().filter(|of| !of.gauge.holds()).collect();
        assert!(broken.is_empty(), "case {case}: {broken:?}\n{set:?}");
        let counts = || run.exports.iter().flat_map(|of| of.reads.iter().chain(&of.writes));
        for of in counts() {
            assert!(of.late == 0 && of.longest <= of.deadline, "case {case}: {of:?}");
        }
        assert_eq!(counts().map(|of| of.commands).sum::<u64>() + trims[0], taken.len() as u64);
        assert_eq!(run.exports.iter().map(|of| of.trimmed).sum::<u64>(), trims[1]);
        seen[0] += 1;
        seen[1] += counts().map(|of| of.requests).sum::<u64>();
        seen[2] += counts().map(|of| of.held).sum::<u64>();
        seen[3] += refused.iter().filter(|&&why| why == DriveError::OutOfOrder).count() as u64;
        seen[5] += trims[1];
        let others = [DriveError::NoSuchPages, DriveError::NotDeclared];
        seen[4] += refused.iter().filter(|why| others.contains(why)).count() as u64;
        seen[6] += refused.iter().filter(|&&why| why == DriveError::NotTrimmed).count() as u64;
    }
    println!("{seen:?}");
    seen
}

#[test]
fn no_client_makes_a_deadline_missed() {
    let [sets, requests, held, _, refused, trimmed, not_trimmed] = attack(1, &Sound::default(), false);
    assert!(sets > 150 && requests > 10_000 && held > 1_000 && refused > 1_000 && trimmed > 10_000 && not_trimmed == 0);
}

#[test]
fn who_owns_zones_writes_in_order() {
    let [sets, requests, _, out_of_order, _, trimmed, not_trimmed] = attack(2, &Zoned::default(), true);
    assert!(sets > 60 && requests > 1_000 && out_of_order > 500 && trimmed == 0 && not_trimmed > 500);
}

/// A read of trimmed pages is over as soon as it would begin; a chip keeps the page that it
/// programmed last.
#[test]
fn what_is_trimmed_is_read_in_no_time() {
    let device = Device::profile("dgist-2021").expect("a profile");
    let request = |pages, us| Request::new(pages, Span::from_us(us));
    let (read, write) = (request(4, 20_000), request(8, 40_000));
    let task = |name: &str| Task { name: name.into(), read, write, data_pages: Some(512) };
    let set = TaskSet::new(device, vec![task("a"), task("b")], vec![]).expect("a set");
    let outcome = allocator("best-fit").expect("an algorithm").allocate(&set, &Sound::default());
    let allocation = outcome.allocation().expect("an allocation");
    let clusters = CertifiedClusters::new(&set, allocation, &[], Span::ZERO).expect("it can be run");
    let options = Drive::options();
    // The pages of 60 of the first export that are read in no time after all of an export is
    // trimmed.
    let at_once = |trimmed: usize| {
        let mut drive = Drive::new(&set, clusters.plan(), &options);
        let (mut now, mut over, mut longest) = (Instant::START, Vec::new(), Vec::new());
        let trim = ClientCommand { export: trimmed, action: ClientAction::Trim, first: 0, pages: 512 };
        now = now.saturating_add(Span::NANOSECOND);
        drive.step(now, &[(100, trim)], &mut over).expect("it may");
        assert_eq!(over, [100]);
        for page in 0..60 {
            let read = ClientCommand { export: 0, action: ClientAction::Read, first: page * 8, pages: 1 };
            let came = now.saturating_add(ns(50_000_000));
            while let Some(next) = drive.next_instant().filter(|&next| next < came) {
                drive.step(next, &[], &mut over).expect("nothing came");
            }
            now = came;
            drive.step(now, &[(page.into(), read)], &mut over).expect("it may");
            while !over.contains(&page.into()) {
                now = drive.next_instant().expect("it is not over");
                drive.step(now, &[], &mut over).expect("nothing came");
            }
            longest.push(now.since(came));
        }
        let run = drive.finish(now);
        assert_eq!(run.exports.iter().map(|of| of.trimmed).collect::<Vec<_>>(), [[512, 0], [0, 512]][trimmed]);
        assert!(run.findings.iter().all(|finding| finding.gauge.holds()));
        longest.iter().filter(|&&took| took <= Span::NANOSECOND).count()
    };
    let (own, other) = (at_once(0), at_once(1));
    assert!(own >= 50 && other == 0, "{own} {other}");
}
