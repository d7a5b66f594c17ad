//! A climber: releases, gaps, lengths and addresses of a stock drive are moved towards late ends.

use rtflash_model::random::Stream;
use rtflash_model::{Request, Task, TaskSet};

use super::drive::{RELEASES, StockArrivals, StockFinding, StockSource};
use super::limit::drive;
use super::memory::StockAddresses;

const GAPS: usize = RELEASES - 1;

pub(super) const MOVES: u32 = 80;

/// Its first release, the gaps behind its releases, and its pages, no more than the set says.
#[derive(Debug, Clone)]
struct ToldStream {
    first: u64,
    gaps: Vec<u64>,
    pages: u64,
}

impl ToldStream {
    fn random(request: Request, rng: &mut Stream) -> ToldStream {
        let period = request.period().as_ns();
        let mut gap = || if rng.index(2) == 0 { 0 } else { rng.within(0, period) };
        let (first, gaps) = (gap(), (0..GAPS).map(|_| gap()).collect());
        let pages = if rng.index(2) == 0 { request.pages() } else { rng.within(1, request.pages()) };
        ToldStream { first, gaps, pages }
    }

    fn gap_before(&mut self, release: usize) -> &mut u64 {
        if release == 0 { &mut self.first } else { &mut self.gaps[release - 1] }
    }

    /// Moves the last release that may come by then to an instant.
    fn release_at(&mut self, period: u64, wanted: u64) {
        let mut may = 0;
        for release in 0..=GAPS {
            let gap = self.gap_before(release);
            let next = may + *gap + period;
            if next > wanted || release == GAPS {
                *gap = wanted.saturating_sub(may);
                return;
            }
            may = next;
        }
    }

    fn shift(&mut self, period: u64, rng: &mut Stream) {
        let release = rng.index(GAPS + 1);
        let gap = self.gap_before(release);
        *gap = match rng.index(4) {
            0 => rng.within(0, period),
            1 => 0,
            2 => (*gap + 1 + rng.within(0, period / 16)).min(period),
            _ => gap.saturating_sub(1 + rng.within(0, period / 16)),
        };
    }
}

#[derive(Debug, Clone)]
struct ToldStock {
    streams: Vec<ToldStream>,
    addresses: StockAddresses,
    /// The seed of random addresses.
    seed: u64,
}

struct ToldRun {
    broken: Option<StockFinding>,
    /// The time left at the deadline of a read, and of a write, that came nearest.
    least: [i128; 2],
    began: Vec<u64>,
    passes: u64,
}

fn requests(set: &TaskSet) -> Vec<(Request, bool)> {
    set.tasks().iter().flat_map(Task::requests).collect()
}

impl ToldStock {
    fn random(set: &TaskSet, rng: &mut Stream) -> ToldStock {
        let streams = requests(set).into_iter().map(|(request, _)| ToldStream::random(request, rng)).collect();
        ToldStock { streams, addresses: rng.one_of(&StockAddresses::ALL), seed: rng.within(0, u64::MAX - 1) }
    }

    /// These arrivals with releases, a gap, lengths or the addresses moved.
    fn moved(&self, set: &TaskSet, began: &[u64], rng: &mut Stream) -> ToldStock {
        let (mut told, requests) = (self.clone(), requests(set));
        let at = rng.index(requests.len());
        let (request, _) = requests[at];
        match rng.index(8) {
            // Reads, or all, together, just behind the begin of an operation.
            0..=2 if !began.is_empty() => {
                let (wanted, all) = (began[rng.index(began.len())] + rng.within(0, 1), rng.index(2) == 0);
                let streams = requests.iter().zip(&mut told.streams).filter(|((_, writes), _)| all || !writes);
                streams.for_each(|((request, _), stream)| stream.release_at(request.period().as_ns(), wanted));
            }
            0..=4 => told.streams[at].shift(request.period().as_ns(), rng),
            5 => told.streams[at].gaps.fill(0),
            6 if rng.index(4) > 0 => {
                let streams = told.streams.iter_mut().zip(&requests);
                streams.for_each(|(stream, (request, _))| stream.pages = request.pages());
            }
            6 => told.streams[at].pages = rng.within(1, request.pages()),
            _ => (told.addresses, told.seed) = (rng.one_of(&StockAddresses::ALL), rng.within(0, u64::MAX - 1)),
        }
        told
    }

    fn run(&self, set: &TaskSet) -> ToldRun {
        let source = |((request, writes), stream): ((Request, bool), &ToldStream)| StockSource {
            pages: stream.pages,
            period: request.period().as_ns(),
            writes,
            may: 0,
            comes: Some(stream.first),
            releases: 0,
            gaps: stream.gaps.clone(),
        };
        let sources = requests(set).into_iter().zip(&self.streams).map(source).collect();
        let mut rng = Stream::numbered(self.seed, b"told\0\0\0\0", 0);
        let mut drive = drive(set, sources, StockArrivals::ToldStock, self.addresses, &mut rng);
        let broken = drive.run();
        ToldRun { broken, least: drive.least, began: std::mem::take(&mut drive.began), passes: drive.passes }
    }
}

/// Towards late reads (0) or late writes (1), and the passes of its last run.
pub(super) fn climbed(watched: usize, set: &TaskSet, rng: &mut Stream) -> (Option<StockFinding>, u64) {
    let mut best = ToldStock { addresses: StockAddresses::Levelled, ..ToldStock::random(set, rng) };
    let mut run = best.run(set);
    for _ in 0..MOVES {
        if run.broken.is_some() {
            break;
        }
        let next = best.moved(set, &run.began, rng);
        let then = next.run(set);
        if then.broken.is_some() || then.least[watched] <= run.least[watched] {
            (best, run) = (next, then);
        }
    }
    (run.broken, run.passes)
}
