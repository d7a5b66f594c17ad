//! Random cases: a device, a task set, policies and a workload, all from one number.

use rtflash_alloc::allocator::{ALLOCATORS, Allocator};
use rtflash_analysis::certified::Term;
use rtflash_analysis::{Analysis, Thesis, ThesisEvaluated};
use rtflash_model::random::Stream;
use rtflash_model::{Arrivals, Device, DeviceSpec, Instant, Job, LogicalRatio, Reliance, Request, Span, Task, TaskSet};
use rtflash_plan::{Aging, Arbitration, Dispatch, Options, Pattern, Phases, Recurrence, Service, Ties, Times, Victims};

/// A case as it was drawn.
#[derive(Clone)]
pub struct Case {
    /// The number it was drawn from, with [`Case::run`].
    pub seed: u64,
    /// Which of the seed's cases it is.
    pub run: u64,
    /// Device, tasks and jobs.
    pub set: TaskSet,
    /// Who divides the chips.
    pub allocator: &'static dyn Allocator,
    /// Whose promises are tested.
    pub analysis: &'static dyn Analysis,
    /// Policies and workload.
    pub options: Options,
    /// The term that is left out of the analysis's test: then nothing is promised.
    pub left_out: Option<Term>,
}

/// The readings of Theorem 1.
const THEOREM_1: [&dyn Analysis; 2] = [&Thesis, &ThesisEvaluated];

/// What cases are drawn from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum World {
    /// Everything: shared channels, every dispatch, service, aging and address pattern.
    Any,
    /// What Theorem 1 supposes: clusters that share no channel, serial dispatch, uniform addresses,
    /// real-time tasks alone.
    Supposed,
    /// Sets at the limit of what the sound analyses accept, under whatever is meant to break their
    /// promises; a third on devices with two page registers, a third on ones with commands, a
    /// quarter on ones whose blocks fail.
    Sound,
    /// Small sets at the limit of (T) or (T'), for stripes.
    Stripe,
    /// Small sets at the limit of (T''), of which (T') rejects a cluster at least.
    Queue,
    /// Small sets at the limit of (T) or (T'), for superblocks.
    Superblock,
    /// Small sets at the limit of (T'), stripes beside superblocks.
    Mixed,
    /// Small sets of streams, most of them, at the limit of (T), (T') or (T''), for wide stripes.
    Stream,
    /// Small sets of the worlds of stripes and superblocks, at the limit of (T) or (T'), on devices
    /// whose commands use the bus.
    Command,
    /// Small sets of stripes, at the limit of (T'') with commands, of which (T') rejects a cluster
    /// at least.
    QueueCommand,
    /// Small sets of the worlds of stripes and superblocks, at the limit of (T2), most clusters of
    /// which use two page registers.
    Register,
    /// Small sets as of [`Register`](Self::Register), on devices whose commands use the bus.
    RegisterCommand,
    /// Small sets whose tasks own zones, at the limit of (T) or (T'), some beside stripes and some
    /// on devices whose commands use the bus.
    Zoned,
    /// Small sets of the worlds of stripes and superblocks, at the limit of (T) or (T'), on devices
    /// whose blocks fail while they run.
    Failing,
    /// Small sets of the worlds of stripes and superblocks, at the limit of (T) or (T'), on devices
    /// that suspend erases, long ones.
    Suspending,
    /// Wear is levelled.
    Levelling,
}

/// Terms of the test of two page registers.
const OF_REGISTERS: [Term; 10] = [
    Term::Blocking,
    Term::Turnaround,
    Term::Commit,
    Term::FirstRank,
    Term::CarryIn,
    Term::Transfer,
    Term::Arrivals,
    Term::LastPage,
    Term::OwnRow,
    Term::PassStep,
];

/// Terms of the test of two page registers with commands.
const REGISTERS_TOLD: [Term; 7] =
    [Term::Blocking, Term::Turnaround, Term::Commit, Term::Transfer, Term::ToldRead, Term::PassStep, Term::Commands];

/// The terms of zones.
const OF_ZONES: [Term; 11] = [
    Term::Blocking,
    Term::StepWait,
    Term::Transfer,
    Term::Window,
    Term::StreamPage,
    Term::CarryIn,
    Term::Commands,
    Term::CommandWait,
    Term::Resets,
    Term::ResetPage,
    Term::ResetStep,
];

/// The terms of blocks that fail.
const OF_FAILURES: [Term; 5] =
    [Term::Blocking, Term::Transfer, Term::Repeats, Term::RepeatedTransfers, Term::SpareBlocks];

/// The terms of erases that are suspended.
const OF_SUSPENSIONS: [Term; 4] = [Term::Blocking, Term::PassStep, Term::Suspend, Term::Resume];

/// Terms that matter where wear is levelled.
const OF_LEVELLING: [Term; 4] = [Term::Blocking, Term::Arrivals, Term::ReservePage, Term::VictimPage];

impl World {
    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            World::Any => "any",
            World::Supposed => "supposed",
            World::Sound => "sound",
            World::Stripe => "stripe",
            World::Queue => "queue",
            World::Superblock => "superblock",
            World::Mixed => "mixed",
            World::Stream => "stream",
            World::Command => "command",
            World::QueueCommand => "queue-command",
            World::Register => "register",
            World::RegisterCommand => "register-command",
            World::Zoned => "zoned",
            World::Failing => "failing",
            World::Suspending => "suspending",
            World::Levelling => "levelling",
        }
    }

    /// The terms of its test that a search may leave out, for which it draws sets: none where it
    /// draws no small ones.
    pub const fn terms(self) -> &'static [Term] {
        match self {
            World::Any | World::Supposed | World::Sound => &[],
            World::Stripe => &[
                Term::Blocking,
                Term::StepWait,
                Term::Transfer,
                Term::Window,
                Term::Arrivals,
                Term::ServerReserve,
                Term::ReservePage,
                Term::VictimPage,
                Term::CarryIn,
                Term::Servers,
            ],
            World::Queue => &[
                Term::MinFresh,
                Term::SumFresh,
                Term::SharedFresh,
                Term::RankedFresh,
                Term::RankedWrites,
                Term::OwnJobs,
                Term::ServedTwice,
                Term::FirstRead,
                Term::SigmaOfOne,
                Term::CarryIn,
            ],
            World::Mixed => &[Term::Blocking, Term::Transfer, Term::CarryIn, Term::Copies],
            World::Stream => &[Term::Blocking, Term::Transfer, Term::StreamPage],
            World::Command => &[Term::Blocking, Term::StepWait, Term::Transfer, Term::Commands, Term::CommandWait],
            World::QueueCommand => &[Term::Blocking, Term::Transfer, Term::QueuedPrograms, Term::Commands],
            World::Register => &OF_REGISTERS,
            World::RegisterCommand => &REGISTERS_TOLD,
            World::Zoned => &OF_ZONES,
            World::Failing => &OF_FAILURES,
            World::Suspending => &OF_SUSPENSIONS,
            World::Levelling => &OF_LEVELLING,
            World::Superblock => &[
                Term::Blocking,
                Term::StepWait,
                Term::Transfer,
                Term::Window,
                Term::Arrivals,
                Term::ServerReserve,
                Term::ReservePage,
                Term::VictimPage,
                Term::Beside,
                Term::CarryIn,
                Term::Copies,
                Term::PassWait,
            ],
        }
    }

    /// How many runs there are of each set.
    pub const fn runs_of_a_set(self) -> u64 {
        if self.terms().is_empty() { 1 } else { 16 }
    }
}

/// Random numbers of one case.
pub(super) struct Rng(Stream);

impl Rng {
    pub(super) fn new(seed: u64, domain: &[u8; 8], run: u64) -> Rng {
        Rng(Stream::numbered(seed, domain, run))
    }

    pub(super) fn within(&mut self, low: u64, high: u64) -> u64 {
        low + self.0.below(high - low + 1)
    }

    pub(super) fn small(&mut self, low: u32, high: u32) -> u32 {
        u32::try_from(self.within(low.into(), high.into())).expect("at most `high`")
    }

    pub(super) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        let place = self.within(0, choices.len() as u64 - 1);
        choices[usize::try_from(place).expect("a place among the choices")]
    }

    /// A place in a list of `many` entries.
    pub(super) fn index(&mut self, many: usize) -> usize {
        usize::try_from(self.0.below(many as u64)).expect("a place in the list")
    }

    fn device(&mut self, world: World) -> Option<Device> {
        let chips = self.small(1, 8);
        let read = self.small(20, 100);
        let spec = DeviceSpec {
            chips,
            chips_per_channel: if world == World::Supposed { 1 } else { self.small(1, 4) },
            blocks_per_chip: self.small(16, 96),
            pages_per_block: self.small(4, 64),
            page_size: 4096,
            logical_ratio: LogicalRatio::from_decimal(self.within(20, 90).into(), 2).ok()?,
            page_read: Span::from_us(read),
            page_program: Span::from_us(self.small(200, 800)),
            block_erase: Span::from_us(self.small(1_000, 8_000)),
            page_transfer: Span::from_us(self.small(1, read)),
            ..DeviceSpec::default()
        };
        Device::new(spec).ok()
    }

    /// A request of pages every period that takes about this share of a chip.
    fn request(&mut self, share: f64, cost: Span) -> Option<Request> {
        let period = self.within(5_000, 200_000) * 1_000;
        #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let pages = (share * period as f64 / cost.as_ns() as f64) as u64;
        Request::new(pages.max(1), Span::from_ns(period)?)
    }

    fn tasks(&mut self, device: &Device, load: f64) -> Vec<Task> {
        let count = self.small(1, 6);
        let mut shares: Vec<f64> = (0..count).map(|_| self.0.unit() + 0.05).collect();
        let total: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|share| *share *= load / total);
        let task = |(number, &share): (usize, &f64)| {
            let kinds = self.within(0, 3);
            let split = self.0.unit();
            let read = (kinds != 1).then(|| self.request(share * split, device.page_read())).flatten();
            // Garbage collection costs about as much again.
            let write =
                (kinds != 0).then(|| self.request(share * (1.0 - split) / 3.0, device.page_program())).flatten();
            Task { name: format!("t{}", number + 1), read, write, data_pages: None }
        };
        shares.iter().enumerate().map(task).collect()
    }

    fn jobs(&mut self) -> Vec<Job> {
        if self.within(0, 2) == 0 {
            return Vec::new();
        }
        let gap = |rng: &mut Rng| Span::from_us(rng.small(1_000, 50_000));
        let arrivals = if self.within(0, 1) == 0 {
            Arrivals::Every(gap(self))
        } else {
            let (a, b) = (gap(self), gap(self));
            Arrivals::Uniform(a.min(b), a.max(b))
        };
        let (read_pages, write_pages) = (self.within(0, 20), self.within(1, 20));
        vec![Job { name: "j1".into(), read_pages, write_pages, arrivals }]
    }
}

/// The case with other releases, ties and arbitration. They are drawn apart: all else stays what it
/// was.
pub(super) fn with_adversaries(mut case: Case) -> Case {
    let mut rng = Rng::new(case.seed, b"releases", case.run);
    let phases = rng.one_of(&[Phases::Periodic, Phases::Random]);
    if case.options.phases == Phases::Periodic {
        case.options.phases = phases;
    }
    case.options.ties = rng.one_of(&[Ties::Lowest, Ties::Lowest, Ties::Highest, Ties::Random]);
    // What relies on the queue needs a bus that serves first come, first served.
    let queue = case.analysis.relies_on() == Reliance::Queue;
    let arbitration = rng.one_of(&[Arbitration::Fifo, Arbitration::Fifo, Arbitration::RoundRobin]);
    case.options.arbitration = if queue { Arbitration::Fifo } else { arbitration };
    case.options.recurrence = rng.one_of(&[Recurrence::Periodic, Recurrence::Periodic, Recurrence::Sporadic]);
    case
}

/// A case for Theorem 1.
pub(super) fn draw(seed: u64, run: u64, world: World) -> Option<Case> {
    let mut rng = Rng::new(seed, b"soak\0\0\0\0", run);
    let device = rng.device(world)?;
    let load = (0.2 + 0.8 * rng.0.unit()) * f64::from(device.chips());
    let tasks = rng.tasks(&device, load);
    let jobs = if world == World::Any { rng.jobs() } else { Vec::new() };
    let set = TaskSet::new(device, tasks, jobs).ok()?;
    let any = world == World::Any;
    let names: &[&str] = if any {
        &["clustering-bfd", "full-isolation", "equal-split", "global"]
    } else {
        &["clustering-bfd", "equal-split", "global"]
    };
    let name = rng.one_of(names);
    let allocator = ALLOCATORS.into_iter().find(|allocator| allocator.name() == name)?;
    let options = Options {
        duration: Instant::from_ns(rng.within(500, 4_000) * 1_000_000)?,
        dispatch: if any {
            rng.one_of(&[Dispatch::Serial, Dispatch::Serial, Dispatch::Parallel])
        } else {
            Dispatch::Serial
        },
        service: if any { rng.one_of(&[Service::Tbs, Service::Background]) } else { Service::Tbs },
        victims: rng.one_of(&[Victims::Actual, Victims::Worst]),
        aging: rng.one_of(if any { &[Aging::Worst, Aging::Random, Aging::Fresh] } else { &[Aging::Worst] }),
        pattern: if any {
            rng.one_of(&[Pattern::Uniform, Pattern::Sequential, Pattern::HotCold, Pattern::OneChip])
        } else {
            Pattern::Uniform
        },
        times: Times::Worst,
        seed: rng.0.below(u64::MAX),
        ..Options::default()
    };
    Some(Case { seed, run, set, allocator, analysis: rng.one_of(&THEOREM_1), options, left_out: None })
}
