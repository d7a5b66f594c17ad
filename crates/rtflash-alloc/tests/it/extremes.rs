//! Numbers as small and as large as they may be, together: nothing stops the program, and the
//! verifier agrees.

use rtflash_alloc::advice::advise;
use rtflash_alloc::allocator::{ALLOCATORS, BestFit, Outcome};
use rtflash_alloc::sizing::size;
use rtflash_analysis::certified::held;
use rtflash_analysis::verdict::{completed, passing, report};
use rtflash_analysis::{ANALYSES, Analysis, analysis_relying_on};
use rtflash_model::random::Stream;
use rtflash_model::{
    Access, Allocation, Device, DeviceSpec, LogicalRatio, Reliance, Request, Shortest, Span, Task, TaskSet,
};
use rtflash_verify::{Equations, verify, verify_certified};

use rtflash_testkit::cases;

/// Draws.
struct Rng(Stream);

impl Rng {
    /// A number from one up to 2^`bits` − 1: one of the least, of the greatest, near a power of
    /// two, or any.
    fn number(&mut self, bits: u32) -> u64 {
        let most = u64::MAX >> (64 - bits);
        let near = self.0.below(3);
        match self.0.below(5) {
            0 => 1 + near.min(most - 1),
            1 => most - near.min(most - 1),
            2 => ((1 << self.0.below(bits.into())) + near).min(most),
            _ => {
                let below = most >> self.0.below(bits.into());
                1 + self.0.below(below.max(1))
            }
        }
    }

    fn small(&mut self, most: u64) -> u32 {
        u32::try_from(1 + self.0.below(most)).expect("a small number")
    }

    fn count(&mut self, bits: u32) -> u32 {
        u32::try_from(self.number(bits)).expect("no more than 32 bits")
    }

    fn span(&mut self) -> Option<Span> {
        Span::from_ns(self.number(63))
    }

    /// Often a device that could be built, so that something is accepted, too.
    fn device(&mut self) -> Option<Device> {
        let plain = self.0.below(2) == 0;
        let spec = Device::profile("dgist-2021")?.spec();
        let spec = DeviceSpec {
            chips: self.small(6),
            chips_per_channel: if self.0.below(8) == 0 { self.count(32) } else { self.small(6) },
            ..spec
        };
        if plain {
            return Device::new(spec).ok();
        }
        let places = self.small(18);
        Device::new(DeviceSpec {
            blocks_per_chip: self.count(32),
            pages_per_block: self.count(32),
            logical_ratio: LogicalRatio::from_decimal(1 + u128::from(self.0.below(10u64.pow(places) - 1)), places)
                .ok()?,
            page_read: self.span()?,
            page_program: self.span()?,
            block_erase: self.span()?,
            page_transfer: self.span()?,
            shortest: Shortest::default(),
            ..spec
        })
        .ok()
    }

    fn request(&mut self) -> Option<Request> {
        let pages = if self.0.below(2) == 0 { self.small(20).into() } else { self.number(63) };
        let period = self.span()?;
        let access = Access::ALL[usize::try_from(self.0.below(3)).ok()?];
        let request = Request::new(pages, period)?.with_access(access);
        if self.0.below(3) > 0 {
            return Some(request);
        }
        let longest = if self.0.below(3) == 0 { Span::LONGEST } else { period };
        let deadline = Span::from_ns(1 + self.0.below(longest.as_ns()))?;
        let jitter = Span::from_ns(self.0.below(deadline.min(period).as_ns()))?;
        request.with_deadline(Some(deadline))?.with_jitter(jitter)
    }

    fn task(&mut self, index: u64) -> Option<Task> {
        let (read, write) = (self.request()?, self.request()?);
        let kind = self.0.below(3);
        let data = if self.0.below(4) == 0 { Some(self.number(63)) } else { None };
        Some(Task {
            name: format!("t{index}"),
            read: Some(read).filter(|_| kind != 1),
            write: Some(write).filter(|_| kind != 0),
            data_pages: data.map(|data| data.max(read.pages()).max(write.pages())),
        })
    }

    fn set(&mut self) -> Option<TaskSet> {
        let device = self.device()?;
        let tasks = (0..self.0.below(4)).map(|index| self.task(index)).collect::<Option<Vec<Task>>>()?;
        TaskSet::new(device, tasks, vec![]).ok()
    }
}

/// The verifier's verdict on the allocation; `None` where it cannot tell.
fn verified(set: &TaskSet, allocation: &Allocation, analysis: &dyn Analysis) -> Option<bool> {
    match Equations::from_name(analysis.name()) {
        Some(equations) => Some(verify(set, allocation, equations).schedulable()),
        None => {
            let verification = verify_certified(set, allocation, analysis.placements(), analysis.relies_on());
            Some(verification.holds()? && verification.accepts())
        }
    }
}

/// All that is said of an allocation.
fn describe(set: &TaskSet, allocation: &Allocation, analysis: &dyn Analysis) {
    let allocation = completed(set, analysis, allocation.clone());
    let _ = (passing(set, analysis, &allocation), report(set, analysis, &allocation));
    let _ = held(set, &allocation, analysis.relies_on());
}

#[test]
fn nothing_stops_the_program() {
    let (mut accepted, mut rejected, mut sets) = (0, 0, 0);
    for seed in 0..cases(100) {
        let Some(set) = Rng(Stream::numbered(seed, b"extremes", 0)).set() else { continue };
        sets += 1;
        let queue = ["stripe", "sound"].map(|name| analysis_relying_on(name, Reliance::Queue).expect("an analysis"));
        for analysis in ANALYSES.into_iter().chain(queue) {
            for allocator in ALLOCATORS {
                let outcome = allocator.allocate(&set, analysis);
                let passes = matches!(outcome, Outcome::Schedulable(_));
                let Some(allocation) = outcome.allocation() else { continue };
                let what = || format!("seed {seed}: {} {}: {set:?}", allocator.name(), analysis.name());
                let says = verified(&set, allocation, analysis);
                assert!(says.is_none_or(|holds| holds == passes), "{}", what());
                describe(&set, allocation, analysis);
                accepted += u32::from(passes);
                rejected += u32::from(!passes);
            }
        }
    }
    assert!(sets > 25 && accepted > 600 && rejected > 100, "{sets} {accepted} {rejected}");
}

#[test]
fn nothing_stops_advice_and_limits() {
    let mut sets = 0;
    for seed in 0..cases(8) {
        let Some(set) = Rng(Stream::numbered(seed, b"extremes", 1)).set() else { continue };
        sets += 1;
        for analysis in ANALYSES {
            let _ = (advise(&set, &BestFit, analysis), size(&set, &BestFit, analysis));
        }
    }
    assert!(sets > 1, "{sets}");
}
