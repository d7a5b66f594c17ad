//! What observers are notified of together, copies of a pass and pages with their transfers, is
//! judged as if it came operation by operation; and where it is altered, so are the breaks found.

use std::slice;

use rtflash_alloc::allocator::allocator;
use rtflash_alloc::analysis::analysis;
use rtflash_exec::check::{Checks, Finding};
use rtflash_exec::report::Statistics;
use rtflash_exec::trace::{
    Action, Complete, CopyRun, Failed, Kind, LeftOut, Moved, Observer, OnBus, Operation, Padding, Policed, Record,
    Release, Reserve, Selection, Setup, Starved, StepBatch, TermsChange, Transfer,
};
use rtflash_exec::{Aging, ChannelId, Options, Phases, Plan, Recurrence, Times, Victims, run};
use rtflash_model::random::Stream;
use rtflash_model::{ClusterId, Device, DeviceSpec, Instant, Lpn, Request, Shortest, Span, Task, TaskSet};
use rtflash_run::TbsServers;

/// What an observer is notified of.
#[derive(Debug, Clone)]
enum Notice {
    Record(Record),
    Operations(Vec<Operation>),
    Page(Operation, OnBus),
    Step(Vec<Operation>, Vec<OnBus>),
    Copies(CopyRun),
}

/// Keeps all of it.
#[derive(Debug, Default)]
struct Notices(Vec<Notice>);

macro_rules! keep {
    ($($name:ident: $of:ident),* $(,)?) => {
        $(fn $name(&mut self, record: &$of) {
            self.0.push(Notice::Record(Record::from_each(record)));
        })*
    };
}

trait FromEach<T> {
    fn from_each(of: &T) -> Record;
}

macro_rules! from_each {
    ($($of:ident => $record:ident),* $(,)?) => {
        $(impl FromEach<$of> for Record {
            fn from_each(of: &$of) -> Record {
                Record::$record(*of)
            }
        })*
    };
}

from_each! {
    Setup => Setup, Release => Release, Complete => Complete, Starved => Starved, Transfer => Transfer,
    Policed => Policed, Failed => Failed, Reserve => Reserve, TermsChange => Changed, LeftOut => LeftOut,
    Moved => Moved, Selection => Selected, Padding => Padding,
}

impl Observer for Notices {
    keep! {
        setup: Setup, release: Release, complete: Complete, starved: Starved, transfer: Transfer, policed: Policed,
        failed: Failed, reserve: Reserve, changed: TermsChange, left_out: LeftOut, moved: Moved, selected: Selection,
        padding: Padding,
    }

    fn operations(&mut self, operations: &[Operation]) {
        self.0.push(Notice::Operations(operations.to_vec()));
    }

    fn page(&mut self, operation: &Operation, bus: &OnBus) {
        self.0.push(Notice::Page(*operation, *bus));
    }

    fn step(&mut self, operations: &[Operation], buses: &[OnBus]) {
        self.0.push(Notice::Step(operations.to_vec(), buses.to_vec()));
    }

    fn copies(&mut self, run: &CopyRun) {
        self.0.push(Notice::Copies(run.clone()));
    }
}

/// Tells an observer of these: `together` as they came, else operation by operation.
fn tell(observer: &mut impl Observer, notices: &[Notice], together: bool) {
    let mut steps = StepBatch::default();
    for notice in notices {
        // Steps that follow each other are told together, whatever clusters they are of.
        if let Notice::Step(operations, buses) = notice
            && together
            && steps.push(operations, buses)
        {
            continue;
        }
        observer.steps(&std::mem::take(&mut steps));
        match notice {
            Notice::Record(record) => observer.record(record),
            Notice::Operations(operations) => observer.operations(operations),
            Notice::Page(operation, bus) if together => observer.page(operation, bus),
            Notice::Page(operation, bus) => {
                observer.operations(slice::from_ref(operation));
                observer.transfer(&operation.transfer(bus));
            }
            Notice::Step(operations, buses) if together => observer.step(operations, buses),
            Notice::Step(operations, buses) => {
                observer.operations(operations);
                operations.iter().zip(buses).for_each(|(operation, bus)| observer.transfer(&operation.transfer(bus)));
            }
            Notice::Copies(run) if together => observer.copies(run),
            Notice::Copies(run) => run.for_each_step(|_, _| true, |step| observer.operations(step)),
        }
    }
    observer.steps(&steps);
}

/// What is found of these notices: `together` as they came, else operation by operation.
fn found(plan: &Plan, options: &Options, notices: &[Notice], together: bool) -> Vec<Finding> {
    let clusters: Vec<ClusterId> = plan.clusters().ids().collect();
    let checks = Checks::new(plan, options.dispatch, &clusters);
    let mut checks = if together { checks } else { checks.one_by_one() };
    tell(&mut checks, notices, together);
    checks.finish(options.duration)
}

/// Which checks fail.
fn broken(findings: &[Finding]) -> Vec<&'static str> {
    findings.iter().filter(|finding| !finding.gauge.holds()).map(|finding| finding.assumption.name).collect()
}

/// What is run: two tasks on few chips.
#[derive(Debug, Clone, Copy)]
struct NoticedWorld {
    analysis: &'static str,
    algorithm: &'static str,
    chips: u32,
    chips_per_channel: u32,
    victims: Victims,
    aging: Aging,
    /// What the tasks read, if they do, and whether they write.
    reads: Option<Request>,
    writes: bool,
    /// Whether programs and transfers take any times, some of them no more than half as long as
    /// others. Those who write then come at any times; those who do not come together.
    varied: bool,
}

impl NoticedWorld {
    fn new(analysis: &'static str, victims: Victims) -> NoticedWorld {
        NoticedWorld {
            analysis,
            algorithm: "equal-split",
            chips: 4,
            chips_per_channel: 4,
            victims,
            aging: Aging::Random,
            reads: None,
            writes: true,
            varied: false,
        }
    }

    fn notices(&self) -> (Plan, Options, Vec<Notice>) {
        let spec = Device::profile("dgist-2021").expect("the profile").spec();
        let half = |of: Span| Span::from_ns(of.as_ns() / 2).filter(|_| self.varied);
        let spec = DeviceSpec {
            chips: self.chips,
            chips_per_channel: self.chips_per_channel,
            blocks_per_chip: 40,
            pages_per_block: 32,
            // Steps with pages are the longest ones, and block others.
            block_erase: if self.varied { Span::from_us(50) } else { spec.block_erase },
            shortest: Shortest {
                page_program: half(spec.page_program),
                page_transfer: half(spec.page_transfer),
                ..Shortest::default()
            },
            ..spec
        };
        let device = Device::new(spec).expect("a device");
        let write = |number: u32| Request::new(6 + u64::from(number), Span::from_us(170_000));
        let task = |number: u32| Task {
            name: format!("t{number}"),
            read: self.reads,
            write: write(number).filter(|_| self.writes),
            data_pages: Some(1_000),
        };
        let set = TaskSet::new(device, (0..2).map(task).collect(), vec![]).expect("a set");
        let analysis = analysis(self.analysis).expect("an analysis");
        let outcome = allocator(self.algorithm).expect("an allocator").allocate(&set, analysis);
        let allocation = outcome.allocation().expect("an allocation");
        let plan = rtflash_run::plan(&set, allocation, analysis).expect("a plan");
        let duration = Instant::from_ns(12_000_000_000).expect("a duration");
        let options = Options { duration, victims: self.victims, aging: self.aging, ..Options::default() };
        let options = match self.varied {
            true if self.writes => {
                Options { times: Times::Random, phases: Phases::Random, recurrence: Recurrence::Sporadic, ..options }
            }
            true => Options { times: Times::Random, ..options },
            false => options,
        };
        let mut servers = TbsServers::new(&set, allocation, analysis);
        let groups = run(&plan, &options, &mut servers, |_| Notices::default()).expect("a run");
        let notices = groups.into_iter().flat_map(|notices| notices.0).collect();
        (plan, options, notices)
    }
}

fn earlier(at: Instant, ns: u64) -> Instant {
    Instant::from_ns(at.as_ns().saturating_sub(ns)).expect("an instant")
}

fn later(at: Instant, ns: u64) -> Instant {
    at.saturating_add(Span::from_ns(ns).expect("a short time"))
}

fn places(few: u64) -> usize {
    usize::try_from(few).expect("few")
}

/// Ways to alter copies, at one of them.
const OF_COPIES: [fn(&mut CopyRun, usize); 9] = [
    |run, at| run.pages[at].lpn = Lpn(run.pages[at].lpn.0 ^ 1),
    |run, at| run.pages[at].from.0.0 ^= 1,
    |run, at| run.pages[at].from.1 ^= 1,
    |run, at| run.pages[at].to.0.0 ^= 1,
    |run, at| run.pages[at].to.1 += 1,
    |run, at| {
        let width = run.chips.len();
        run.times[at / width].read = later(run.times[at / width].read, 1);
    },
    |run, at| {
        let width = run.chips.len();
        run.times[at / width..].iter_mut().for_each(|times| times.end = later(times.end, 1));
    },
    |run, at| {
        // A copy is left out.
        let width = run.chips.len();
        run.times.remove(at / width);
        run.pages.drain(at / width * width..(at / width + 1) * width);
    },
    |run, _| run.job.index += 1,
];

/// Ways to alter a page and its time on the bus.
const OF_PAGES: [fn(&mut Operation, &mut OnBus); 9] = [
    |operation, _| operation.lpn = Lpn(operation.lpn.0 ^ 1 << 12),
    |operation, _| operation.block.0 ^= 1,
    |operation, _| operation.page += 1,
    |operation, _| operation.end = later(operation.end, 1),
    |operation, _| operation.job.index += 1,
    |operation, _| operation.chip.0 ^= 1,
    |operation, _| operation.cluster.0 ^= 1,
    |_, bus| bus.start = later(bus.start, 1),
    |_, bus| bus.end = later(bus.end, 1),
];

/// Ways to alter operations that begin together, at one of them.
const OF_STEPS: [fn(&mut Vec<Operation>, usize); 17] = [
    |step, at| step[at].lpn = Lpn(step[at].lpn.0 ^ 1),
    |step, at| step[at].lpn = Lpn(step[at].lpn.0 ^ 1 << 10),
    |step, at| step[at].lpn = Lpn(step[at].lpn.0 ^ 1 << 12),
    |step, at| step[at].lpn = step[0].lpn,
    |step, at| step[at].block.0 ^= 1,
    |step, at| step[at].page += 1,
    |step, at| step[at].page ^= 1,
    |step, at| step[at].start = later(step[at].start, 1),
    |step, at| step[at].end = later(step[at].end, 1),
    |step, at| step[at].end = later(step[at].end, 900_000_000),
    |step, at| step[at].end = earlier(step[at].end, 1),
    |step, at| step[at].job.index += 1,
    |step, at| step[at].chip.0 ^= 1,
    |step, at| step[at].chip.0 ^= 2,
    |step, at| step[at].cluster.0 ^= 1,
    |step, at| step[at].action = if step[at].action == Action::Read { Action::Program } else { Action::Read },
    |step, at| {
        step.remove(at);
    },
];

type AlterPages = fn(&mut [OnBus], &mut [Operation], usize);
type TellOtherwise = fn(&[Operation], &[OnBus]) -> Vec<Notice>;

/// Ways to alter the times that its pages are on the bus, at one of them, and its operations.
const OF_BUSES: [AlterPages; 8] = [
    |buses, _, at| buses[at].start = later(buses[at].start, 1),
    |buses, _, at| buses[at].end = later(buses[at].end, 1),
    |buses, _, at| (buses[at].start, buses[at].end) = (later(buses[at].start, 1), later(buses[at].end, 1)),
    |buses, _, at| buses[at].end = later(buses[at].end, 900_000_000),
    |buses, _, at| buses.swap(0, at),
    |buses, _, at| buses[0] = buses[at],
    |buses, step, at| (buses[at].end, step[at].end) = (later(buses[at].end, 1), later(step[at].end, 1)),
    |buses, step, at| (buses[at].end, step[at].end) = (earlier(buses[at].end, 1), earlier(step[at].end, 1)),
];

/// Ways to tell a step that are not as it was: its pages are never on the bus; its last operation
/// comes by itself, on the page of the first one.
const OTHERWISE: [TellOtherwise; 2] = [
    |step, _| vec![Notice::Operations(step.to_vec())],
    |step, buses| {
        let last = step.len() - 1;
        let again = Operation { lpn: step[0].lpn, ..step[last] };
        let moved = Notice::Record(Record::Transfer(again.transfer(&buses[last])));
        let first = if last > 0 { vec![Notice::Step(step[..last].to_vec(), buses[..last].to_vec())] } else { vec![] };
        first.into_iter().chain([Notice::Operations(vec![again]), moved]).collect()
    },
];

/// The positions of some notices, not the first ones of their kind.
fn some(notices: &[Notice], wanted: impl Fn(&Notice) -> bool) -> Vec<usize> {
    let all: Vec<usize> = (0..notices.len()).filter(|&at| wanted(&notices[at])).collect();
    assert!(all.len() > 20, "{}", all.len());
    [all.len() / 3, all.len() / 2, all.len() - 5].map(|at| all[at]).to_vec()
}

/// The same is found together and one by one.
fn assert_same((plan, options): (&Plan, &Options), notices: &[Notice], what: &str) {
    for (together, by_one) in found(plan, options, notices, true).iter().zip(found(plan, options, notices, false)) {
        assert_eq!(together, &by_one, "{what}");
    }
}

/// Pages of requests and of passes under certificates.
fn judge_altered_steps(name: &str, (plan, options): (&Plan, &Options), notices: &[Notice], gc: bool) {
    let is_one = |notice: &Notice| match notice {
        Notice::Operations(step) | Notice::Step(step, _) => {
            (step[0].kind == Kind::Gc) == gc && !step[0].action.erases()
        }
        _ => false,
    };
    if name == "stripe" && gc {
        return;
    }
    for at in some(notices, is_one).into_iter().flat_map(|at| [at, at + 3]) {
        for (number, alter) in OF_STEPS.iter().enumerate() {
            let mut notices = notices.to_vec();
            if let Notice::Operations(step) | Notice::Step(step, _) = &mut notices[at] {
                alter(step, step.len() - 1);
            }
            assert_same((plan, options), &notices, &format!("{name}: step {number} at {at}"));
        }
        for (number, alter) in OF_BUSES.iter().enumerate() {
            let mut notices = notices.to_vec();
            let Notice::Step(step, buses) = &mut notices[at] else { continue };
            let last = buses.len() - 1;
            alter(buses, step, last);
            assert_same((plan, options), &notices, &format!("{name}: buses {number} at {at}"));
        }
        for (number, tell) in OTHERWISE.iter().enumerate() {
            let Notice::Step(step, buses) = &notices[at] else { continue };
            let mut told = notices.to_vec();
            told.splice(at..=at, tell(step, buses));
            assert_same((plan, options), &told, &format!("{name}: told otherwise {number} at {at}"));
        }
    }
}

#[test]
fn what_is_told_together_is_judged_as_if_it_came_one_by_one() {
    let (worst, actual) = (Victims::Worst, Victims::Actual);
    let worlds =
        [("thesis", worst), ("thesis", actual), ("stripe", worst), ("superblock", worst), ("superblock", actual)];
    for (name, victims) in worlds {
        let (plan, options, notices) = NoticedWorld::new(name, victims).notices();
        let findings = found(&plan, &options, &notices, true);
        assert_eq!(broken(&findings), Vec::<&str>::new(), "{name}");
        assert_eq!(findings, found(&plan, &options, &notices, false), "{name}");
        let mut altered = 0;
        let mut judge = |notices: &[Notice], what: &str, number: usize| {
            altered += 1;
            let together = broken(&found(&plan, &options, notices, true));
            assert!(!together.is_empty(), "{name}: {what} {number} is not seen");
            assert_eq!(together, broken(&found(&plan, &options, notices, false)), "{name}: {what} {number}");
        };
        let long = |notice: &Notice| matches!(notice, Notice::Copies(run) if run.times.len() > 3);
        // Copies of a superblock go over buses.
        let runs = if name == "superblock" { vec![] } else { some(&notices, long) };
        for at in runs {
            for (number, alter) in OF_COPIES.iter().enumerate() {
                let mut notices = notices.clone();
                if let Notice::Copies(run) = &mut notices[at] {
                    alter(run, run.pages.len() / 2);
                }
                judge(&notices, "copy", number);
            }
        }
        if name == "thesis" {
            for at in some(&notices, |notice| matches!(notice, Notice::Page(..))) {
                for (number, alter) in OF_PAGES.iter().enumerate() {
                    let mut notices = notices.clone();
                    if let Notice::Page(operation, bus) = &mut notices[at] {
                        alter(operation, bus);
                    }
                    judge(&notices, "page", number);
                }
            }
        }
        assert!(altered >= 27 || name == "superblock", "{altered}");
        if name != "thesis" {
            let steps = notices.iter().filter(|notice| matches!(notice, Notice::Step(..))).count();
            assert_eq!(steps > 500, name == "superblock", "{steps}");
            for gc in [false, true] {
                judge_altered_steps(name, (&plan, &options), &notices, gc);
            }
        }
    }
}

/// Ways to alter what comes at a step, or behind it.
const OF_NOTICES: [fn(&mut Vec<Notice>, usize, u64); 15] = [
    |notices, at, by| {
        // It begins too early.
        let Notice::Step(step, _) = &mut notices[at] else { return };
        step.iter_mut().for_each(|of| of.start = earlier(of.start, by));
    },
    |notices, at, by| {
        // With its pages on the bus.
        let Notice::Step(step, buses) = &mut notices[at] else { return };
        for (of, bus) in step.iter_mut().zip(buses) {
            (of.start, of.end) = (earlier(of.start, by), earlier(of.end, by));
            (bus.start, bus.end) = (earlier(bus.start, by), earlier(bus.end, by));
        }
    },
    |notices, at, _| {
        let Notice::Step(step, _) = &mut notices[at] else { return };
        step.iter_mut().for_each(|of| of.action = Action::Erase);
    },
    |notices, at, by| {
        let Notice::Step(_, buses) = &mut notices[at] else { return };
        buses[0].start = earlier(buses[0].start, by * 1_000);
    },
    |notices, at, _| {
        // What it reads, or writes, is a page that was programmed on the chip before.
        let Notice::Step(step, _) = &notices[at] else { return };
        let chip = step[0].chip;
        let is_before = |notice: &Notice| match notice {
            Notice::Step(step, _) => step.iter().rfind(|of| of.chip == chip && of.action == Action::Program).copied(),
            _ => None,
        };
        let Some(before) = notices[..at].iter().rev().filter_map(is_before).nth(3) else { return };
        let Notice::Step(step, _) = &mut notices[at] else { return };
        (step[0].block, step[0].page, step[0].lpn) = (before.block, before.page, before.lpn);
    },
    |notices, at, _| {
        // What it writes is a page of somebody else.
        let Notice::Step(step, _) = &notices[at] else { return };
        let first = step[0];
        let is_other = |notice: &Notice| match notice {
            Notice::Step(step, _) => step.iter().find(|of| of.cluster == first.cluster && of.job != first.job).copied(),
            _ => None,
        };
        let Some(other) = notices[at..].iter().find_map(is_other) else { return };
        let Notice::Step(step, _) = &mut notices[at] else { return };
        step[0].lpn = other.lpn;
    },
    |notices, at, by| {
        // The next release comes too late.
        let is_release = |notice: &Notice| matches!(notice, Notice::Record(Record::Release(_)));
        let Some(release) = (at..notices.len()).find(|&at| is_release(&notices[at])) else { return };
        let notice = notices.remove(release);
        let later = (release + places(by)).min(notices.len());
        notices.insert(later, notice);
    },
    |notices, at, by| {
        // More has arrived.
        let arrives = |notice: &&mut Notice| matches!(notice, Notice::Record(Record::Reserve(_)));
        if let Some(Notice::Record(Record::Reserve(reserve))) = notices[at..].iter_mut().find(arrives) {
            (reserve.arrived, reserve.pending) = (reserve.arrived + by * 8, reserve.pending + by * 8);
        }
    },
    |notices, at, by| {
        // So much has arrived that few more pages may be programmed.
        let arrives = |notice: &&mut Notice| matches!(notice, Notice::Record(Record::Reserve(_)));
        if let Some(Notice::Record(Record::Reserve(reserve))) = notices[at..].iter_mut().find(arrives) {
            let more = reserve.free.saturating_sub(reserve.pending + by);
            (reserve.arrived, reserve.pending) = (reserve.arrived + more, reserve.pending + more);
        }
    },
    |notices, at, _| {
        // It is said to be for something else.
        let Notice::Step(step, _) = &mut notices[at] else { return };
        let kind = if step[0].kind == Kind::Gc { Kind::Write } else { Kind::Gc };
        step.iter_mut().for_each(|of| of.kind = kind);
    },
    |notices, at, _| {
        // The next step has the bus before it, though it has wanted it for less time.
        let Some([Notice::Step(step, buses), Notice::Step(other, others)]) = notices.get(at..at + 2) else { return };
        let (mut step, mut buses, mut other, mut others) = (step.clone(), buses.clone(), other.clone(), others.clone());
        let mut free = buses[0].start;
        let wanted = |of: &Operation, bus: &OnBus| match of.action {
            Action::Program => of.start,
            _ => bus.start,
        };
        for (of, bus) in other.iter_mut().zip(&mut others).chain(step.iter_mut().zip(&mut buses)) {
            let (behind, takes) = (of.end.since(bus.end), bus.end.since(bus.start));
            bus.start = if of.action == Action::Program { free.max(wanted(of, bus)) } else { free };
            bus.end = bus.start.saturating_add(takes);
            (of.end, free) = (bus.end.saturating_add(behind), bus.end);
        }
        (notices[at], notices[at + 1]) = (Notice::Step(other, others), Notice::Step(step, buses));
    },
    |notices, at, _| {
        let Notice::Step(_, buses) = &mut notices[at] else { return };
        buses.iter_mut().for_each(|bus| bus.channel = ChannelId(bus.channel.0 ^ 1));
    },
    |notices, at, by| {
        let other = (at + places(by)).min(notices.len() - 1);
        notices.swap(at, other);
    },
    |notices, at, by| {
        let behind = (at + places(by)).min(notices.len());
        notices.drain(at..behind);
    },
    |_, _, _| {},
];

/// The one of these with which pages are on another channel.
const OTHER_CHANNEL: usize = 11;

/// In how many ways a step is altered.
const WAYS: usize = OF_STEPS.len() + OF_BUSES.len() + 2 * OF_NOTICES.len() + OTHERWISE.len();

/// Alters a step in one of these ways. Another cluster or channel is none where there is one alone.
fn alter(
    notices: &mut Vec<Notice>,
    at: usize,
    (way, by): (usize, u64),
    draw: &mut impl FnMut(usize) -> usize,
    (clusters, channels): (bool, bool),
) {
    const BUSES: usize = OF_STEPS.len();
    const NOTICES: usize = BUSES + OF_BUSES.len();
    const TOLD: usize = NOTICES + 2 * OF_NOTICES.len();
    match (way, &mut notices[at]) {
        (14, _) if !clusters => {}
        (..BUSES, Notice::Step(step, _) | Notice::Operations(step)) => {
            let place = draw(step.len());
            OF_STEPS[way](step, place);
        }
        (BUSES..NOTICES, Notice::Step(step, buses)) => {
            let place = draw(step.len());
            OF_BUSES[way - BUSES](buses, step, place);
        }
        (TOLD.., Notice::Step(step, buses)) => {
            let otherwise = OTHERWISE[way - TOLD](step, buses);
            notices.splice(at..=at, otherwise);
        }
        _ => {
            let way = way % OF_NOTICES.len();
            if way != OTHER_CHANNEL || channels {
                OF_NOTICES[way](notices, at, by);
            }
        }
    }
}

/// The first operation of a step.
fn first_of(notice: &Notice) -> Option<&Operation> {
    if let Notice::Step(step, _) = notice { step.first() } else { None }
}

/// What statistics come to.
fn counted(plan: &Plan, options: &Options, notices: &[Notice], together: bool) -> String {
    let mut statistics = Statistics::new(plan, options.duration);
    tell(&mut statistics, notices, together);
    format!("{:?}", statistics.finish(plan))
}

/// Steps of superblocks that are altered in any of these ways, some of them at the end of a run.
#[test]
fn any_steps_are_judged_as_if_they_came_one_by_one() {
    let reads = Request::new(5, Span::from_us(90_000));
    let alike = NoticedWorld { reads, ..NoticedWorld::new("superblock", Victims::Actual) };
    let worst = NoticedWorld { victims: Victims::Worst, aging: Aging::Worst, ..alike };
    let worlds = [
        alike,
        NoticedWorld { chips_per_channel: 2, ..alike },
        NoticedWorld { algorithm: "global", ..worst },
        NoticedWorld { algorithm: "global", ..alike },
        NoticedWorld { reads: None, ..worst },
        NoticedWorld { varied: true, ..alike },
        NoticedWorld { varied: true, algorithm: "global", chips: 8, ..alike },
        NoticedWorld { varied: true, writes: false, reads: Request::new(20, Span::from_us(300_000)), ..alike },
    ];
    for (number, world) in (0..).zip(worlds) {
        let (plan, options, notices) = world.notices();
        // Whether there are other clusters, and other channels.
        let has_channels = (plan.clusters().len() > 1, world.chips_per_channel < world.chips);
        // Where all read at once, whoever has the bus is told later.
        let is_step = |notice: &Notice| match notice {
            Notice::Step(..) => true,
            Notice::Operations(_) => !world.writes,
            _ => false,
        };
        let steps: Vec<usize> = (0..notices.len()).filter(|&at| is_step(&notices[at])).collect();
        assert!(steps.len() > 500, "{}", steps.len());
        let mut stream = Stream::numbered(number, b"together", 0);
        for round in 0..800 {
            let mut draw = |below: usize| places(stream.below(below as u64));
            // The first steps of a run, too.
            let from = if draw(8) > 0 { steps.len() - 100 } else { 30 };
            let at = steps[draw(from)];
            let (mut told, mut options, by) = (notices.clone(), options.clone(), 1 + draw(20) as u64);
            let way = draw(WAYS);
            alter(&mut told, at, (way, by), &mut draw, has_channels);
            // Perhaps one of the next steps as well.
            if draw(3) == 0 && at < told.len() {
                let behind = told[at..].iter().enumerate().filter(|(_, notice)| is_step(notice)).nth(1 + draw(4));
                let other = draw(WAYS - OTHERWISE.len());
                if let Some(place) = behind.map(|(place, _)| place) {
                    alter(&mut told, at + place, (other, by), &mut draw, has_channels);
                }
            }
            if draw(3) > 0 {
                // The run ends with a step behind it.
                let last = at + draw(150);
                told.truncate(last.max(1));
                if let Some(first) = told.last().and_then(first_of) {
                    options.duration = later(first.start, draw(2) as u64);
                }
            }
            assert_same((&plan, &options), &told, &format!("{number}, round {round}, way {way} at {at} by {by}"));
            let what = format!("{number}, round {round}, way {way} at {at}");
            let (together, by_one) = (counted(&plan, &options, &told, true), counted(&plan, &options, &told, false));
            assert_eq!(together, by_one, "{what}");
        }
    }
}
