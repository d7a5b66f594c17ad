//! Each scheduler against a twin that is written from the rules alone: lists, searched from end to
//! end.

use rtflash_host::scheduler::{
    BfqSettings, Cut, K2Settings, KyberSettings, Levels, MinimalEffortSettings, MqDeadlineSettings, SchedulerSettings,
    Split, UserCentricSettings,
};
use rtflash_host::{Class, Command, Op, Scheduler};
use rtflash_model::Instant;
use rtflash_model::random::Stream;
use rtflash_testkit::ns;

use crate::twins::Twin;

fn small(number: u64) -> u32 {
    u32::try_from(number).expect("a small number")
}

fn k2(rng: &mut Stream) -> SchedulerSettings {
    let split = Split {
        cut: rng.one_of(&[Cut::Idle, Cut::Rest]),
        max_sectors: rng.within(1, 20) << 10,
        multiples: rng.within(0, 1) == 0,
    };
    SchedulerSettings::K2(K2Settings {
        max_inflight: small(rng.within(1, 5)),
        max_inflight_rest: (rng.within(0, 2) == 0).then_some(small(rng.within(1, 3))),
        levels: rng.one_of(&[Levels::Eight, Levels::Eight, Levels::One]),
        max_inflight_ahead: None,
        split: (rng.within(0, 1) == 0).then_some(split),
    })
}

fn mq_deadline(rng: &mut Stream) -> SchedulerSettings {
    let mut expire = |most: u64| ns(rng.within(0, most) * 1_000_000);
    let (read_expire, write_expire, prio_aging_expire) = (expire(20), expire(40), expire(60));
    SchedulerSettings::MqDeadline(MqDeadlineSettings {
        read_expire,
        write_expire,
        prio_aging_expire,
        writes_starved: small(rng.within(0, 3)),
        fifo_batch: small(rng.within(0, 4)),
        async_depth: None,
    })
}

fn kyber(rng: &mut Stream) -> SchedulerSettings {
    let mut tokens = || [0; 4].map(|_: u32| small(rng.within(1, 6)));
    let (tokens, batches) = (tokens(), tokens());
    let targets = [0; 3].map(|_: u32| ns(rng.within(1, 40) * 100_000));
    SchedulerSettings::Kyber(KyberSettings { tokens, batches, targets })
}

/// Something that waits becomes longer, at its end or its begin.
fn merge(rng: &mut Stream, scheduler: &mut dyn Scheduler, twin: &mut Twin) {
    let waiting: Vec<Command> = twin.waiting().copied().collect();
    if waiting.is_empty() {
        return;
    }
    let before = rng.one_of(&waiting);
    let size = rng.within(1, 8) << 10;
    let front = rng.within(0, 1) == 0 && before.from >= size;
    let from = if front { before.from - size } else { before.from + before.size };
    let (cpu, job) = (rng.one_of(&[before.cpu, 7]), rng.one_of(&[before.job, 7]));
    let request = Command { id: u64::MAX, from, size, cpu, job, user_centric: rng.within(0, 1) == 0, ..before };
    let may = scheduler.merges(&before, &request);
    assert_eq!(may, twin.merges(&before, &request), "{before:?} {request:?}");
    if may {
        let after = Command { from: if front { from } else { before.from }, size: before.size + size, ..before };
        scheduler.merged(&before, &after);
        twin.merged(&after);
    }
}

/// A random life of a scheduler and its twin, in steps of some milliseconds; how many commands were
/// handed out, and how many asks were in vain.
fn live(seed: u64, settings: &SchedulerSettings, steps: u64, asks: u64) -> (u64, u64) {
    let mut rng = Stream::numbered(seed, b"twins\0\0\0", 0);
    let (mut scheduler, mut twin): (Box<dyn Scheduler>, Twin) = (settings.scheduler(), Twin::new(*settings));
    let (mut now, mut id, mut handed, mut vain) = (Instant::START, 0, 0, 0);
    let mut inside: Vec<Command> = Vec::new();
    let longest = rng.one_of(&[0, 1, 3, 30]);
    let merging = rng.within(0, 1) == 0;
    let classes = rng.one_of(&[&Class::ALL[..], &Class::ALL[..2], &Class::ALL[1..2], &Class::ALL[1..]]);
    for step in 0..steps {
        now = now.saturating_add(ns(rng.within(0, longest) * rng.one_of(&[1_000_000, 250_000])));
        if merging && rng.within(0, 2) == 0 {
            merge(&mut rng, &mut *scheduler, &mut twin);
        }
        match rng.within(0, 3) {
            0 | 1 => {
                let request = Command {
                    id: 0,
                    op: rng.one_of(&[Op::Read, Op::Read, Op::Write, Op::Write, Op::Discard, Op::Other]),
                    from: rng.within(0, 12) << 12,
                    size: rng.within(1, 24) << 10,
                    class: rng.one_of(classes),
                    level: u8::try_from(rng.within(0, 7)).expect("a level"),
                    cpu: small(rng.within(0, 3)),
                    job: small(rng.within(0, 3)),
                    user_centric: rng.within(0, 3) == 0,
                };
                let piece = scheduler.piece(&request);
                assert_eq!(piece, twin.piece(&request), "{settings:?} {request:?}");
                let piece = piece.unwrap_or(request.size);
                for number in 0..request.size.div_ceil(piece) {
                    let before = number * piece;
                    let size = piece.min(request.size - before);
                    let command = Command { id, from: request.from + before, size, ..request };
                    id += 1;
                    scheduler.insert(command, now);
                    twin.insert(command, now);
                }
            }
            2 => {
                for _ in 0..rng.within(1, asks) {
                    let waiting: Vec<Command> = twin.waiting().copied().collect();
                    let (command, said) = (scheduler.ask(now), twin.ask(now));
                    // The command as it was before it was merged is as good.
                    let command = command.and_then(|old| waiting.iter().copied().find(|command| command.id == old.id));
                    assert_eq!(command, said, "seed {seed}, step {step} at {now}: {settings:?}");
                    vain += u64::from(command.is_none());
                    handed += u64::from(command.is_some());
                    inside.extend(command);
                }
                // Due events have been handled.
                assert!(scheduler.next().is_none_or(|next| next > now), "seed {seed}, step {step}: {settings:?}");
            }
            _ => {
                for _ in 0..rng.within(0, asks).min(inside.len() as u64) {
                    let at = usize::try_from(rng.within(0, inside.len() as u64 - 1)).expect("a position");
                    let command = inside.swap_remove(at);
                    scheduler.completed(&command, now);
                    twin.completed(&command, now);
                }
            }
        }
    }
    (handed, vain)
}

fn compare(lives: u64, steps: u64, asks: u64, draw: impl Fn(&mut Stream) -> SchedulerSettings) {
    let (mut handed, mut vain) = (0, 0);
    for seed in 0..lives {
        let settings = draw(&mut Stream::numbered(seed, b"settings", 0));
        let (some, none) = live(seed, &settings, steps, asks);
        (handed, vain) = (handed + some, vain + none);
    }
    // The comparison is worth as much as what happens in it.
    assert!(handed > lives * 30 && vain > lives, "{handed} {vain}");
}

#[test]
fn none_is_first_come_first_served() {
    compare(20, 400, 4, |_| SchedulerSettings::None);
}

#[test]
fn k2_and_k2_split() {
    compare(400, 400, 4, k2);
}

#[test]
fn mq_deadline_in_all_its_moods() {
    compare(1_500, 400, 4, mq_deadline);
    compare(100, 400, 4, |_| SchedulerSettings::MqDeadline(MqDeadlineSettings::default()));
}

#[test]
fn kyber_with_its_judgings() {
    compare(600, 500, 4, kyber);
    // Enough samples for a percentile before a second is over.
    compare(6, 20_000, 40, kyber);
}

#[test]
fn bfq_shares_by_weight() {
    compare(200, 400, 4, |rng| SchedulerSettings::Bfq(BfqSettings { budget: rng.within(1, 64) << 10 }));
}

#[test]
fn minimal_effort_write() {
    compare(300, 400, 4, |rng| {
        SchedulerSettings::MinimalEffort(MinimalEffortSettings {
            rate: rng.within(1, 20_000) << 10,
            slice: ns(rng.within(1, 8) * 500_000),
            max_reads: small(rng.within(0, 4)),
        })
    });
}

/// Writes that are held back have what is asked on average, whatever part of a slice each of them
/// is.
#[test]
fn minimal_effort_write_keeps_the_rate() {
    let command = |id, op, size| Command {
        id,
        op,
        from: 0,
        size,
        class: Class::BestEffort,
        level: 4,
        cpu: 0,
        job: 0,
        user_centric: false,
    };
    for size in [4 << 10, 128 << 10, 256 << 10, 512 << 10, 640 << 10, 3 << 20] {
        let mut scheduler = SchedulerSettings::MinimalEffort(MinimalEffortSettings::default()).scheduler();
        let now = |ms: u64| Instant::from_ns(ms * 1_000_000).expect("a short time");
        // Writes for twelve seconds; and one read in each slice.
        (0..1_200_000_000 / size).for_each(|id| scheduler.insert(command(id, Op::Write, size), now(0)));
        let mut written = 0;
        for ms in (0..10_000).step_by(10) {
            scheduler.insert(command(1 << 40 | ms, Op::Read, 4 << 10), now(ms));
            while let Some(command) = scheduler.ask(now(ms)) {
                written += if command.op == Op::Write { command.size } else { 0 };
            }
            assert!(written <= (ms / 10 + 1) * 1_000_000 + size, "{size}: {written} by {ms} ms");
        }
        assert!(written + size >= 1_000_000_000, "{size}: {written} of 1,000,000,000");
    }
}

#[test]
fn user_centric_queues() {
    compare(100, 400, 4, |rng| {
        let (separated, high_priority) = (rng.within(0, 3) > 0, rng.within(0, 2) == 0);
        SchedulerSettings::UserCentric(UserCentricSettings { separated, shortest: false, high_priority })
    });
}

#[test]
fn submission_queues() {
    let command = |cpu, user_centric| Command {
        id: 0,
        op: Op::Read,
        from: 0,
        size: 1,
        class: Class::BestEffort,
        level: 4,
        cpu,
        job: 0,
        user_centric,
    };
    let settings = |shortest| UserCentricSettings { shortest, ..UserCentricSettings::default() };
    let queue = |shortest, cpu, user_centric, unfetched: &[u32]| {
        SchedulerSettings::UserCentric(settings(shortest)).scheduler().queue(&command(cpu, user_centric), unfetched)
    };
    // To the core's own; what is user-centric to the shortest, its own among equals.
    assert_eq!(SchedulerSettings::None.scheduler().queue(&command(5, true), &[1, 2, 3, 4]), 1);
    assert_eq!(SchedulerSettings::None.scheduler().queue(&command(5, true), &[]), 0);
    assert_eq!((queue(false, 2, true, &[0, 0, 7]), queue(true, 2, false, &[0, 0, 7])), (2, 2));
    assert_eq!((queue(true, 2, true, &[1, 0, 7]), queue(true, 2, true, &[1, 1, 1])), (1, 2));
    assert_eq!((queue(true, 1, true, &[0, 3, 0]), queue(true, 9, true, &[])), (0, 0));
}
