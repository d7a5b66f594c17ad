//! The faults that a trace can have.

use rtflash_model::{ChipId, Instant};
use rtflash_plan::{Aging, BlockId, ChannelId, SourceId, Victims};
use rtflash_testkit::ns;
use rtflash_trace::{Action, JobId, Kind, LeftOut, Operation, Padding, Record, Release, Starved, Step, Transfer};

/// A trace is changed like this, and one of these checkers speaks.
pub struct Alteration {
    pub name: &'static str,
    /// `None` where the trace has nothing of the kind.
    pub alter: fn(&mut Vec<Record>) -> Option<()>,
    pub caught_by: &'static [&'static str],
}

fn later(at: Instant, nanoseconds: u64) -> Instant {
    at.saturating_add(ns(nanoseconds))
}

fn earlier(at: Instant, nanoseconds: u64) -> Instant {
    Instant::from_ns(at.as_ns().saturating_sub(nanoseconds)).expect("a moment")
}

/// The record in the middle of those that are wanted.
fn middle(records: &[Record], wanted: impl Fn(&Record) -> bool) -> Option<usize> {
    let found: Vec<usize> = (0..records.len()).filter(|&at| wanted(&records[at])).collect();
    found.get(found.len() / 2).copied()
}

fn release(records: &mut [Record], wanted: impl Fn(&Release) -> bool) -> Option<&mut Release> {
    let at = middle(records, |record| matches!(record, Record::Release(it) if wanted(it)))?;
    match &mut records[at] {
        Record::Release(release) => Some(release),
        _ => None,
    }
}

fn operation(records: &mut [Record], wanted: impl Fn(&Operation) -> bool) -> Option<&mut Operation> {
    let at = middle(records, |record| matches!(record, Record::Operation(it) if wanted(it)))?;
    match &mut records[at] {
        Record::Operation(operation) => Some(operation),
        _ => None,
    }
}

fn transfer(records: &mut [Record]) -> Option<&mut Transfer> {
    let at = middle(records, |record| matches!(record, Record::Transfer(_)))?;
    match &mut records[at] {
        Record::Transfer(transfer) => Some(transfer),
        _ => None,
    }
}

/// Leaves out what is unwanted, if there is any.
fn without(records: &mut Vec<Record>, unwanted: impl Fn(&Record) -> bool) -> Option<()> {
    let before = records.len();
    records.retain(|record| !unwanted(record));
    (records.len() < before).then_some(())
}

fn job(record: &Record) -> Option<JobId> {
    match record {
        Record::Release(it) => Some(it.job),
        Record::Complete(it) => Some(it.job),
        Record::LeftOut(it) => Some(it.job),
        Record::Starved(it) => Some(it.job),
        Record::Selected(it) => Some(it.job),
        Record::Padding(it) => Some(it.job),
        Record::Operation(it) => Some(it.job),
        Record::Transfer(it) => Some(it.job),
        _ => None,
    }
}

fn is_gc(record: &Record, action: Action) -> bool {
    matches!(record, Record::Operation(it) if it.kind == Kind::Gc && it.action == action)
}

fn is_own(it: &Operation) -> bool {
    it.kind != Kind::Gc
}

/// A job of garbage collection that erases something.
fn collecting(records: &[Record]) -> Option<JobId> {
    let at = middle(
        records,
        |record| matches!(record, Record::Operation(it) if it.kind == Kind::Gc && it.action == Action::Erase),
    )?;
    job(&records[at])
}

/// The completion in the middle of those of requests is moved.
fn completes(records: &mut [Record], change: impl Fn(Instant) -> Instant) -> Option<()> {
    let requests: Vec<JobId> = (records.iter())
        .filter_map(|record| match record {
            Record::Release(it) if it.kind == Kind::Read => Some(it.job),
            _ => None,
        })
        .collect();
    let at = middle(records, |record| matches!(record, Record::Complete(it) if requests.contains(&it.job)))?;
    let Record::Complete(complete) = &mut records[at] else { return None };
    complete.at = change(complete.at);
    Some(())
}

/// Everything from a record on that starts at its instant or later is moved.
fn delay(records: &mut [Record], from: Instant, by: u64) {
    for record in records {
        match record {
            Record::Operation(it) if it.start >= from => (it.start, it.end) = (later(it.start, by), later(it.end, by)),
            Record::Transfer(it) if it.start >= from => (it.start, it.end) = (later(it.start, by), later(it.end, by)),
            Record::Padding(it) if it.start >= from => (it.start, it.end) = (later(it.start, by), later(it.end, by)),
            Record::Complete(it) if it.at > from => it.at = later(it.at, by),
            _ => {}
        }
    }
}

/// Two reads on one chip for different jobs, both released before the first, which has the earlier
/// deadline.
fn out_of_order(records: &[Record]) -> Option<(usize, usize)> {
    let released = |id: JobId| {
        records.iter().find_map(|record| match record {
            Record::Release(it) if it.job == id => Some((it.at, it.deadline)),
            _ => None,
        })
    };
    let reads: Vec<(usize, &Operation)> = (records.iter().enumerate())
        .filter_map(|(at, record)| match record {
            Record::Operation(it) if it.kind == Kind::Read => Some((at, it)),
            _ => None,
        })
        .collect();
    reads.iter().find_map(|&(first, early)| {
        let due = released(early.job)?.1;
        let after = reads.iter().filter(|(_, it)| it.start > early.start && it.chip == early.chip).take(20);
        let found = after.into_iter().find(|(_, it)| {
            it.job != early.job && released(it.job).is_some_and(|(at, late)| at <= early.start && late > due)
        });
        Some((first, found?.0))
    })
}

macro_rules! alterations {
    ($($name:literal => [$($check:literal),+] $alter:expr;)+) => {
        &[$(Alteration { name: $name, alter: $alter, caught_by: &[$($check),+] }),+]
    };
}

/// All of them.
pub const ALTERATIONS: &[Alteration] = alterations! {
    "every deadline a second later" => ["releases"] |records| {
        for record in records {
            if let Record::Release(it) = record {
                it.deadline = it.deadline.map(|deadline| later(deadline, 1_000_000_000));
            }
        }
        Some(())
    };
    "a deadline a nanosecond earlier" => ["releases"] |records| {
        let it = release(records, |it| it.kind == Kind::Write)?;
        it.deadline = it.deadline.map(|deadline| earlier(deadline, 1));
        Some(())
    };
    "a deadline of garbage collection later" => ["releases"] |records| {
        let it = release(records, |it| it.kind == Kind::Gc)?;
        it.deadline = it.deadline.map(|deadline| later(deadline, 1));
        Some(())
    };
    "a server's deadline later" => ["releases"] |records| {
        let it = release(records, |it| it.kind == Kind::Server && it.deadline.is_some())?;
        it.deadline = it.deadline.map(|deadline| later(deadline, 1));
        Some(())
    };
    "a request a nanosecond late" => ["releases"] |records| {
        let it = release(records, |it| it.kind == Kind::Read)?;
        it.at = later(it.at, 1);
        Some(())
    };
    "garbage collection a nanosecond late" => ["releases"] |records| {
        let it = release(records, |it| it.kind == Kind::Gc)?;
        it.at = later(it.at, 1);
        Some(())
    };
    "an arrival a nanosecond late" => ["releases"] |records| {
        let it = release(records, |it| it.kind == Kind::Server)?;
        it.at = later(it.at, 1);
        Some(())
    };
    "a request with a page less" => ["releases"] |records| {
        release(records, |it| it.kind == Kind::Read)?.pages -= 1;
        Some(())
    };
    "the last request of a task is missing" => ["releases"] |records| {
        let last = records.iter().filter_map(|record| match record {
            Record::Release(it) if it.kind == Kind::Read => Some(it.job),
            _ => None,
        });
        let last = last.max_by_key(|job| (job.source == SourceId(0), job.index))?;
        without(records, |record| job(record) == Some(last))
    };
    "a stream of jobs is missing" => ["releases"] |records| {
        let stream = release(records, |it| it.kind == Kind::Server)?.job.source;
        without(records, |record| job(record).is_some_and(|job| job.source == stream))
    };
    "no garbage collection is released" => ["releases"] |records| {
        let all: Vec<SourceId> = records.iter().filter_map(|record| match record {
            Record::Release(it) if it.kind == Kind::Gc => Some(it.job.source),
            _ => None,
        }).collect();
        without(records, |record| job(record).is_some_and(|job| all.contains(&job.source)))
    };
    "a request released twice" => ["conservation"] |records| {
        let it = *release(records, |it| it.kind == Kind::Read)?;
        records.push(Record::Release(it));
        Some(())
    };
    "a completion a nanosecond early" => ["completion"] |records| completes(records, |at| earlier(at, 1));
    "a completion a nanosecond late" => ["completion"] |records| completes(records, |at| later(at, 1));
    "a completion a second late" => ["deadlines"] |records| completes(records, |at| later(at, 1_000_000_000));
    "a completion before the last page" => ["conservation", "completion"] |records| completes(records, |at| earlier(at, 60_000));
    "a server's completion half a second late" => ["server-deadlines"] |records| {
        let jobs: Vec<JobId> = records.iter().filter_map(|record| match record {
            Record::Release(it) if it.kind == Kind::Server && it.deadline.is_some() => Some(it.job),
            _ => None,
        }).collect();
        let at = middle(records, |record| matches!(record, Record::Complete(it) if jobs.contains(&it.job)))?;
        let Record::Complete(complete) = &mut records[at] else { return None };
        complete.at = later(complete.at, 500_000_000);
        Some(())
    };
    "a completion is missing" => ["conservation"] |records| {
        let request = release(records, |it| it.kind == Kind::Read)?.job;
        without(records, |record| matches!(record, Record::Complete(it) if it.job == request))
    };
    "the completion of an overdue request is missing" => ["overdue"] |records| {
        let request = release(records, |it| it.kind == Kind::Write)?.job;
        without(records, |record| matches!(record, Record::Complete(it) if it.job == request))
    };
    "a server's completion is missing" => ["server-overdue"] |records| {
        let request = release(records, |it| it.kind == Kind::Server && it.deadline.is_some())?.job;
        without(records, |record| matches!(record, Record::Complete(it) if it.job == request))
    };
    "a job complete twice" => ["conservation"] |records| {
        let at = middle(records, |record| matches!(record, Record::Complete(_)))?;
        records.push(records[at]);
        Some(())
    };
    "every operation takes a nanosecond" => ["operation-lengths", "transfers"] |records| {
        for record in records {
            if let Record::Operation(it) = record {
                it.end = later(it.start, 1);
            }
        }
        Some(())
    };
    "a read a nanosecond longer" => ["operation-lengths"] |records| {
        let it = operation(records, |it| is_own(it) && it.action == Action::Read)?;
        it.end = later(it.end, 1);
        Some(())
    };
    "a program a nanosecond shorter" => ["operation-lengths"] |records| {
        let it = operation(records, |it| is_own(it) && it.action == Action::Program)?;
        it.end = earlier(it.end, 1);
        Some(())
    };
    "a read waits for one transfer less" => ["operation-lengths", "transfers"] |records| {
        let it = operation(records, |it| is_own(it) && it.action == Action::Read)?;
        it.end = earlier(it.end, 20_000);
        Some(())
    };
    "a program waits for one transfer less" => ["operation-lengths", "transfers"] |records| {
        let it = operation(records, |it| is_own(it) && it.action == Action::Program)?;
        it.end = earlier(it.end, 20_000);
        Some(())
    };
    "a copy waits for one transfer less" => ["operation-lengths", "transfers"] |records| {
        let it = operation(records, |it| !is_own(it) && it.action != Action::Erase)?;
        it.end = earlier(it.end, 20_000);
        Some(())
    };
    "an erase a nanosecond shorter" => ["operation-lengths"] |records| {
        let it = operation(records, |it| it.action == Action::Erase)?;
        it.end = earlier(it.end, 1);
        Some(())
    };
    "an erase of a second" => ["gc-cost"] |records| {
        let it = operation(records, |it| it.action == Action::Erase)?;
        it.end = later(it.end, 1_000_000_000);
        Some(())
    };
    "every erase blocks for a second" => ["one-blocking-erase"] |records| {
        for record in records {
            if let Record::Operation(it) = record
                && it.action == Action::Erase
            {
                it.end = later(it.end, 1_000_000_000);
            }
        }
        Some(())
    };
    "a read that waits for long" => ["bus-wait", "service"] |records| {
        let it = operation(records, |it| is_own(it) && it.action == Action::Read)?;
        it.end = later(it.end, 50_000_000);
        Some(())
    };
    "a request that takes long" => ["service"] |records| {
        let it = operation(records, |it| it.kind == Kind::Write)?;
        it.end = later(it.end, 50_000_000);
        Some(())
    };
    "no transfers" => ["transfers"] |records| without(records, |record| matches!(record, Record::Transfer(_)));
    "a transfer is missing" => ["transfers"] |records| {
        let at = middle(records, |record| matches!(record, Record::Transfer(_)))?;
        records.remove(at);
        Some(())
    };
    "the last transfer of a chip is missing" => ["transfers"] |records| {
        let at = records.iter().rposition(|record| {
            let Record::Transfer(it) = record else { return false };
            let later = |of: &Record| matches!(of, Record::Operation(of) if of.chip == it.chip && of.start > it.start);
            !records.iter().any(later)
        })?;
        records.remove(at);
        Some(())
    };
    "a transfer twice" => ["transfers"] |records| {
        let it = *transfer(records)?;
        records.push(Record::Transfer(it));
        Some(())
    };
    "two transfers at a time" => ["bus-exclusion"] |records| {
        let it = *transfer(records)?;
        records.push(Record::Transfer(it));
        Some(())
    };
    "a transfer on another channel" => ["transfers"] |records| {
        let it = transfer(records)?;
        it.channel = ChannelId(u32::from(it.channel == ChannelId(0)));
        Some(())
    };
    "a transfer for another job" => ["transfers"] |records| {
        transfer(records)?.job.index += 1;
        Some(())
    };
    "a transfer half as long" => ["operation-lengths"] |records| {
        let it = transfer(records)?;
        it.start = earlier(it.end, 10_000);
        Some(())
    };
    "a transfer behind its operation" => ["transfers"] |records| {
        let it = transfer(records)?;
        (it.start, it.end) = (later(it.start, 600_000), later(it.end, 600_000));
        Some(())
    };
    "a page waits for a free bus" => ["bus-order"] |records| {
        let it = *transfer(records)?;
        for record in records {
            match record {
                Record::Operation(of) if of.chip == it.chip && of.start <= it.start && it.end <= of.end => {
                    of.end = later(of.end, 5_000);
                }
                Record::Transfer(of) if *of == it => (of.start, of.end) = (later(it.start, 5_000), later(it.end, 5_000)),
                _ => {}
            }
        }
        Some(())
    };
    "no erases" => ["gc-left-out"] |records| without(records, |record| is_gc(record, Action::Erase));
    "an erase is missing" => ["page-order", "copies", "gc-left-out"] |records| {
        let at = middle(records, |record| is_gc(record, Action::Erase))?;
        records.remove(at);
        Some(())
    };
    "no reads of garbage collection" => ["copies"] |records| without(records, |record| is_gc(record, Action::Read));
    "no programs of garbage collection" => ["mapping"] |records| without(records, |record| is_gc(record, Action::Program));
    "a copy is not read" => ["copies"] |records| {
        let at = middle(records, |record| is_gc(record, Action::Read))?;
        records.remove(at);
        Some(())
    };
    "a copy is not programmed" => ["copies"] |records| {
        let at = middle(records, |record| is_gc(record, Action::Program))?;
        records.remove(at);
        Some(())
    };
    "a copy of something else" => ["copies"] |records| {
        let it = operation(records, |it| it.kind == Kind::Gc && it.action == Action::Program)?;
        it.lpn.0 = if it.lpn.0 >= 4 { it.lpn.0 - 4 } else { it.lpn.0 + 4 };
        Some(())
    };
    "a copy from another block" => ["copies", "mapping"] |records| {
        let it = operation(records, |it| it.kind == Kind::Gc && it.action == Action::Read)?;
        it.block = BlockId((it.block.0 + 1) % 16);
        Some(())
    };
    "another block is erased" => ["copies"] |records| {
        let it = operation(records, |it| it.action == Action::Erase)?;
        it.block = BlockId((it.block.0 + 1) % 16);
        Some(())
    };
    "more is copied than may be" => ["victim-bound"] |records| {
        let at = middle(records, |record| is_gc(record, Action::Read))?;
        let copies = [records[at]; 40];
        records.extend(copies);
        Some(())
    };
    "no victims are chosen" => ["copies"] |records| without(records, |record| matches!(record, Record::Selected(_)));
    "another victim is chosen" => ["copies", "victim-choice"] |records| {
        let at = middle(records, |record| matches!(record, Record::Selected(_)))?;
        let Record::Selected(it) = &mut records[at] else { return None };
        it.block = BlockId((it.block.0 + 1) % 16);
        Some(())
    };
    "every victim is the next block" => ["victim-choice"] |records| {
        for record in records {
            if let Record::Selected(it) = record {
                it.block = BlockId((it.block.0 + 1) % 16);
            }
        }
        Some(())
    };
    "a victim seems fuller" => ["copies"] |records| {
        let at = middle(records, |record| matches!(record, Record::Selected(it) if it.valid < 8))?;
        let Record::Selected(it) = &mut records[at] else { return None };
        it.valid += 9;
        Some(())
    };
    "a pass that nobody asked to leave out" => ["gc-left-out"] |records| {
        let at = middle(records, |record| matches!(record, Record::Selected(_)))?;
        let Record::Selected(it) = &mut records[at] else { return None };
        it.forced = true;
        Some(())
    };
    "nobody says what is left out" => ["gc-left-out"] |records| {
        without(records, |record| matches!(record, Record::LeftOut(_)))
    };
    "a pass is left out with other free pages" => ["gc-left-out"] |records| {
        let at = middle(records, |record| matches!(record, Record::LeftOut(_)))?;
        let Record::LeftOut(it) = &mut records[at] else { return None };
        it.free += 1_000;
        Some(())
    };
    "a pass is left out that is needed" => ["gc-left-out"] |records| {
        let job_id = collecting(records)?;
        let at = middle(records, |record| is_gc(record, Action::Erase) && job(record) == Some(job_id))?;
        let Record::Operation(Operation { start, cluster, chip, .. }) = records[at] else { return None };
        let passing = |record: &Record| {
            job(record) == Some(job_id) && !matches!(record, Record::Release(_) | Record::Complete(_))
        };
        without(records, passing)?;
        records.push(Record::LeftOut(LeftOut { at: start, job: job_id, cluster, chip, free: 1 }));
        Some(())
    };
    "no time passes silently" => ["padding"] |records| without(records, |record| matches!(record, Record::Padding(_)));
    "time passes silently" => ["padding"] |records| {
        if matches!(records.first(), Some(Record::Setup(setup)) if setup.victims == Victims::Worst) {
            return None;
        }
        let it = *operation(records, |it| it.action == Action::Erase)?;
        let Operation { start, job, cluster, chip, .. } = it;
        let (from, step) = (earlier(start, 550_000), Step::Copyback);
        records.push(Record::Padding(Padding { start: from, end: start, job, cluster, chip, step }));
        Some(())
    };
    "a silent copy is shorter" => ["operation-lengths"] |records| {
        let at = middle(records, |record| matches!(record, Record::Padding(_)))?;
        let Record::Padding(it) = &mut records[at] else { return None };
        it.end = earlier(it.end, 10_000);
        Some(())
    };
    "victims are said to be as they are" => ["padding", "copies"] |records| {
        let Some(Record::Setup(setup)) = records.first_mut() else { return None };
        let silent = setup.victims == Victims::Worst;
        setup.victims = Victims::Actual;
        silent.then_some(())
    };
    "victims are said to be the worst" => ["padding"] |records| {
        let Some(Record::Setup(setup)) = records.first_mut() else { return None };
        let silent = setup.victims == Victims::Worst;
        setup.victims = Victims::Worst;
        (!silent).then_some(())
    };
    "the device is said to be fresh" => ["mapping", "page-order"] |records| {
        let Some(Record::Setup(setup)) = records.first_mut() else { return None };
        setup.aging = Some(Aging::Fresh);
        Some(())
    };
    "everything stands still for a while" => ["work-conserving"] |records| {
        let it = *operation(records, is_own)?;
        delay(records, it.start, 30_000_000);
        Some(())
    };
    "a read from another page" => ["mapping"] |records| {
        let it = operation(records, |it| it.kind == Kind::Read)?;
        it.page = (it.page + 1) % 8;
        Some(())
    };
    "a read of somebody else's page" => ["mapping"] |records| {
        let others = operation(records, |it| it.kind == Kind::Read && it.job.source != SourceId(0))?.lpn;
        let it = operation(records, |it| it.kind == Kind::Read && it.job.source == SourceId(0))?;
        it.lpn = others;
        Some(())
    };
    "a program to another page" => ["page-order"] |records| {
        let it = operation(records, |it| it.kind == Kind::Write)?;
        it.page = (it.page + 3) % 8;
        Some(())
    };
    "a read on another chip" => ["mapping", "chip-exclusion"] |records| {
        let it = operation(records, |it| it.kind == Kind::Read)?;
        it.chip = ChipId((it.chip.0 + 1) % 4);
        Some(())
    };
    "two operations at a time" => ["chip-exclusion"] |records| {
        let it = *operation(records, is_own)?;
        records.push(Record::Operation(Operation { start: later(it.start, 1_000), ..it }));
        Some(())
    };
    "an operation of nobody" => ["conservation"] |records| {
        let it = *operation(records, |it| it.kind == Kind::Read)?;
        let start = later(it.start, 700_000_000);
        let end = later(it.end, 700_000_000);
        records.push(Record::Operation(Operation { start, end, ..it }));
        Some(())
    };
    "an operation behind the end" => ["conservation"] |records| {
        let it = *operation(records, |it| it.kind == Kind::Read)?;
        records.push(Record::Operation(Operation { start: later(it.start, 5_000_000_000), end: later(it.end, 5_000_000_000), ..it }));
        Some(())
    };
    "a write that reads" => ["conservation"] |records| {
        operation(records, |it| it.kind == Kind::Write)?.action = Action::Read;
        Some(())
    };
    "the later deadline first" => ["edf-order"] |records| {
        let (first, second) = out_of_order(records)?;
        let (Some(early), Some(late)) = (job(&records[first]), job(&records[second])) else { return None };
        for (at, id) in [(first, late), (second, early)] {
            if let Record::Operation(it) = &mut records[at] {
                it.job = id;
            }
        }
        Some(())
    };
    "a page that finds no room" => ["gc-keeps-pace"] |records| {
        let it = *operation(records, |it| it.kind == Kind::Write)?;
        let Operation { start: at, job, cluster, chip, .. } = it;
        records.push(Record::Starved(Starved { at, job, cluster, chip }));
        Some(())
    };
    "nobody says what has arrived" => ["releases"] |records| without(records, |record| matches!(record, Record::Reserve(_)));
    "a page more has arrived" => ["releases"] |records| {
        let at = middle(records, |record| matches!(record, Record::Reserve(_)))?;
        let Record::Reserve(it) = &mut records[at] else { return None };
        it.arrived += 1;
        Some(())
    };
    "a thousand pages more have arrived" => ["reserve"] |records| {
        let at = middle(records, |record| matches!(record, Record::Reserve(_)))?;
        let Record::Reserve(it) = &mut records[at] else { return None };
        it.arrived += 1_000;
        Some(())
    };
    "a page more is free" => ["releases"] |records| {
        let at = middle(records, |record| matches!(record, Record::Reserve(_)))?;
        let Record::Reserve(it) = &mut records[at] else { return None };
        it.free += 1;
        Some(())
    };
    "a job of a stream that never came" => ["conservation"] |records| {
        let gone = release(records, |it| it.kind == Kind::Server)?.job;
        without(records, |record| job(record) == Some(gone))
    };
    "a device that rests to the end" => ["work-conserving"] |records| {
        let begins = |record: &Record| match record {
            Record::Operation(it) => Some(it.start),
            Record::Transfer(it) => Some(it.start),
            Record::Padding(it) => Some(it.start),
            Record::Complete(it) => Some(it.at),
            Record::Selected(it) => Some(it.at),
            Record::LeftOut(it) => Some(it.at),
            _ => None,
        };
        // A request of a later deadline than the end comes last.
        let last = records.iter().rposition(|record| matches!(record, Record::Release(it) if it.kind == Kind::Write))?;
        let Record::Release(Release { at, .. }) = records[last] else { return None };
        without(records, |record| begins(record).is_some_and(|begins| begins >= at))
    };
    "a transfer for something else" => ["transfers"] |records| {
        let it = transfer(records)?;
        it.kind = if it.kind == Kind::Read { Kind::Write } else { Kind::Read };
        Some(())
    };
    "a pass that is left out twice" => ["conservation", "gc-left-out"] |records| {
        let collects = |id: JobId| {
            records.iter().any(|record| matches!(record, Record::Release(it) if it.job == id && it.kind == Kind::Gc))
        };
        // A job that is not real-time may have several passes.
        let at = middle(records, |record| matches!(record, Record::LeftOut(it) if collects(it.job)))?;
        let again = records[at];
        records.push(again);
        Some(())
    };
    "a collection that is over and does not say so" => ["conservation"] |records| {
        // Without certificates a pass may be shared by jobs.
        records.iter().find(|record| matches!(record, Record::Reserve(_)))?;
        let end = records.iter().map(|record| if let Record::Complete(it) = record { it.at } else { Instant::START }).max()?;
        let open = |id: JobId| {
            let due = |record: &Record| matches!(record, Record::Release(it) if it.job == id && it.kind == Kind::Gc && it.deadline > Some(end));
            records.iter().any(due)
        };
        let at = records.iter().rposition(|record| matches!(record, Record::Complete(it) if open(it.job)))?;
        records.remove(at);
        Some(())
    };
    "a word that is said twice" => ["releases"] |records| {
        let at = middle(records, |record| matches!(record, Record::Reserve(_)))?;
        let again = records[at];
        records.push(again);
        Some(())
    };
};
