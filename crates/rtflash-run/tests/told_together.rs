//! What observers are notified of together, copies of a pass and pages with their transfers, is
//! judged as if it came operation by operation; and where it is altered, so are the breaks found.

use std::slice;

use rtflash_alloc::allocator::allocator;
use rtflash_alloc::analysis::analysis;
use rtflash_exec::check::{Checks, Finding};
use rtflash_exec::trace::{
    Action, Complete, CopyRun, Failed, Kind, LeftOut, Moved, Observer, OnBus, Operation, Padding, Policed, Record,
    Release, Reserve, Selection, Setup, Starved, TermsChange, Transfer,
};
use rtflash_exec::{Aging, Options, Plan, Victims, run};
use rtflash_model::{ClusterId, Device, DeviceSpec, Instant, Lpn, Request, Span, Task, TaskSet};
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

/// What is found of these notices: `together` as they came, else operation by operation.
fn found(plan: &Plan, options: &Options, notices: &[Notice], together: bool) -> Vec<Finding> {
    let clusters: Vec<ClusterId> = plan.clusters().ids().collect();
    let checks = Checks::new(plan, options.dispatch, &clusters);
    let mut checks = if together { checks } else { checks.one_by_one() };
    for notice in notices {
        match notice {
            Notice::Record(record) => checks.record(record),
            Notice::Operations(operations) => checks.operations(operations),
            Notice::Page(operation, bus) if together => checks.page(operation, bus),
            Notice::Page(operation, bus) => {
                checks.operations(slice::from_ref(operation));
                checks.transfer(&operation.transfer(bus));
            }
            Notice::Step(operations, buses) if together => checks.step(operations, buses),
            Notice::Step(operations, buses) => {
                checks.operations(operations);
                operations.iter().zip(buses).for_each(|(operation, bus)| checks.transfer(&operation.transfer(bus)));
            }
            Notice::Copies(run) if together => checks.copies(run),
            Notice::Copies(run) => run.for_each_step(|_, _| true, |step| checks.operations(step)),
        }
    }
    checks.finish(options.duration)
}

/// Which checks fail.
fn broken(findings: &[Finding]) -> Vec<&'static str> {
    findings.iter().filter(|finding| !finding.gauge.holds()).map(|finding| finding.assumption.name).collect()
}

/// A run of three tasks that write on four chips.
fn noticed(name: &str, victims: Victims) -> (Plan, Options, Vec<Notice>) {
    let spec = Device::profile("dgist-2021").expect("the profile").spec();
    let spec = DeviceSpec { chips: 4, chips_per_channel: 4, blocks_per_chip: 40, pages_per_block: 32, ..spec };
    let device = Device::new(spec).expect("a device");
    let task = |number: u32| Task {
        name: format!("t{number}"),
        read: None,
        write: Request::new(6 + u64::from(number), Span::from_us(170_000)),
        data_pages: Some(1_000),
    };
    let set = TaskSet::new(device, (0..2).map(task).collect(), vec![]).expect("a set");
    let analysis = analysis(name).expect("an analysis");
    let outcome = allocator("equal-split").expect("an allocator").allocate(&set, analysis);
    let allocation = outcome.allocation().expect("an allocation");
    let plan = rtflash_run::plan(&set, allocation, analysis).expect("a plan");
    let duration = Instant::from_ns(12_000_000_000).expect("a duration");
    let options = Options { duration, victims, aging: Aging::Random, ..Options::default() };
    let mut servers = TbsServers::new(&set, allocation, analysis);
    let groups = run(&plan, &options, &mut servers, |_| Notices::default()).expect("a run");
    let notices = groups.into_iter().flat_map(|notices| notices.0).collect();
    (plan, options, notices)
}

fn earlier(at: Instant, ns: u64) -> Instant {
    Instant::from_ns(at.as_ns().saturating_sub(ns)).expect("an instant")
}

fn later(at: Instant, ns: u64) -> Instant {
    at.saturating_add(Span::from_ns(ns).expect("a short time"))
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
    assert_eq!(found(plan, options, notices, true), found(plan, options, notices, false), "{what}");
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
        let (plan, options, notices) = noticed(name, victims);
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
