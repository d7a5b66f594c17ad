//! Hill climbing towards late ends: when requests arrive, how far apart, and how long their
//! operations take is moved as long as a request ends no earlier.
//!
//! A climber works on a [`Climbable`]: the executor ([`OnExecutor`]), or a plain simulation of one
//! channel ([`channel`]) for cases that the executor does not have.

mod arrivals;
pub mod channel;
mod executor;
pub mod rows;

use rtflash_model::random::Stream;

pub use arrivals::Arrivals;
pub use executor::OnExecutor;

/// The parts of a request that a climber may move, in units of time of its subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClimbedRequest {
    /// T: requests come this far apart at least.
    pub period: u64,
    /// Whether its operations may be shorter than stated.
    pub varies: bool,
}

/// A device under requests whose arrivals are moved.
pub trait Climbable {
    /// The parts that can be moved: one entry for each request of each task.
    fn requests(&self) -> &[ClimbedRequest];

    /// The latest end of a job of each request after its deadline, in nanoseconds or units, with
    /// these arrivals; `None` where none was due.
    fn run(&self, arrivals: &[Arrivals]) -> Vec<Option<i64>>;
}

/// How long a climber goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClimbOptions {
    /// The seed of the randomness.
    pub seed: u64,
    /// How often it starts anew.
    pub starts: u64,
    /// Moves from each start.
    pub moves: u64,
    /// Whether the first late end is enough.
    pub until_late: bool,
}

/// The best point of a climber.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Climbed {
    /// The latest end of the request, counted from its deadline; `None` where none was due.
    pub latest: Option<i64>,
    /// The arrivals with which it is.
    pub arrivals: Vec<Arrivals>,
    /// Runs that were made.
    pub runs: u64,
}

impl Climbed {
    /// Whether a job was late.
    pub fn is_late(&self) -> bool {
        self.latest.is_some_and(|latest| latest > 0)
    }
}

/// Towards late ends of one of [`Climbable::requests`]. Each start has random phases within two
/// periods; a third are strictly periodic, and in thirds requests come up to 8 units, or a quarter
/// of a period, later.
pub fn climb(on: &dyn Climbable, watched: usize, options: ClimbOptions) -> Climbed {
    let mut runs = 0;
    let mut run = |arrivals: &[Arrivals]| {
        runs += 1;
        on.run(arrivals)[watched]
    };
    let (mut best, mut arrivals) = (None, Vec::new());
    for start in 0..options.starts {
        let mut climber = Climber::new(on.requests(), watched, options.seed, start);
        let mut here = climber.start();
        let mut latest = run(&here);
        for _ in 0..options.moves {
            if options.until_late && latest > Some(0) {
                break;
            }
            let next = climber.moved(&here);
            let found = run(&next);
            if found >= latest {
                (here, latest) = (next, found);
            }
        }
        if start == 0 || latest > best {
            (best, arrivals) = (latest, here);
        }
        if options.until_late && latest > Some(0) {
            break;
        }
    }
    Climbed { latest: best, arrivals, runs }
}

struct Climber<'r> {
    requests: &'r [ClimbedRequest],
    period: u64,
    stream: Stream,
    gaps: Gaps,
}

/// By how much more than a period requests may come apart.
#[derive(Clone, Copy)]
enum Gaps {
    None,
    Few,
    Many,
}

/// Gaps of a request that are moved one by one, at most.
const GAPS: usize = 12;

impl Climber<'_> {
    fn new(requests: &[ClimbedRequest], watched: usize, seed: u64, start: u64) -> Climber<'_> {
        let gaps = match start % 3 {
            0 => Gaps::None,
            1 => Gaps::Few,
            _ => Gaps::Many,
        };
        let stream = Stream::numbered(seed, b"climber\0", start);
        Climber { requests, period: requests[watched].period, stream, gaps }
    }

    fn start(&mut self) -> Vec<Arrivals> {
        let requests = self.requests;
        requests
            .iter()
            .map(|request| Arrivals {
                first: self.phase(request),
                gaps: vec![self.gap(request)],
                length: self.length(request),
            })
            .collect()
    }

    fn moved(&mut self, from: &[Arrivals]) -> Vec<Arrivals> {
        let mut next = from.to_vec();
        let place = usize::try_from(self.stream.below(next.len() as u64)).expect("a place in a list");
        let request = self.requests[place];
        let arrivals = &mut next[place];
        match self.stream.below(7) {
            0 => arrivals.first = self.phase(&request),
            1 | 2 => arrivals.first = self.near(arrivals.first, 4),
            3 => arrivals.first = self.near(arrivals.first, 1 + self.period / 8),
            4 => arrivals.gaps = vec![self.gap(&request)],
            5 => {
                let last = arrivals.gaps.last().copied().expect("there is a gap");
                arrivals.gaps.resize(GAPS, last);
                let which = usize::try_from(self.stream.below(GAPS as u64)).expect("a place in a list");
                arrivals.gaps[which] = self.gap(&request);
            }
            _ if request.varies => arrivals.length = self.length(&request),
            _ => arrivals.first = self.near(arrivals.first, 4),
        }
        next
    }

    fn phase(&mut self, request: &ClimbedRequest) -> u64 {
        self.stream.below(request.period.min(self.period.saturating_mul(2)))
    }

    fn near(&mut self, from: u64, most: u64) -> u64 {
        (from + self.stream.below(2 * most + 1)).saturating_sub(most)
    }

    fn gap(&mut self, request: &ClimbedRequest) -> u64 {
        match self.gaps {
            Gaps::None => 0,
            Gaps::Few => self.stream.below(9),
            Gaps::Many => self.stream.below(1 + request.period.min(self.period) / 4),
        }
    }

    /// The longest, the shortest or anything in between, where operations may be shorter.
    fn length(&mut self, request: &ClimbedRequest) -> u16 {
        const LONGEST: u64 = 1_000;
        let drawn = match self.stream.below(3) {
            _ if !request.varies => LONGEST,
            0 => 0,
            1 => LONGEST,
            _ => self.stream.below(LONGEST + 1),
        };
        u16::try_from(drawn).expect("a thousand at most")
    }
}
