//! Which lengths of intervals are to be looked at, and what they show: docs/analysis.md, Sections
//! 2.6, 2.7, 6 and 6.1.

use num_bigint::BigInt;
use num_rational::BigRational;

use super::lines::AffineBound;
use super::numbers::ceil;
use super::processor::{Gc, Processor, VerifiedTask};
use super::told::Asked;
use super::zones::ZoneResets;

/// Lengths times sequences before the test is tried in another way, and half its steps.
const LIMIT: u64 = 2_000_000;
/// Sequences from which on fewer lengths are looked at: each takes longer, and there are more.
const MANY: u64 = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LengthsVerdict {
    /// `None` where that was not found out.
    pub holds: Option<bool>,
    /// A length of least slack, and the slack, among those that were looked at.
    pub least: Option<(i128, i128)>,
}

impl LengthsVerdict {
    pub fn holding() -> LengthsVerdict {
        LengthsVerdict { holds: Some(true), least: None }
    }

    fn sees(&mut self, length: i128, slack: i128) {
        if self.least.is_none_or(|(_, least)| slack < least) {
            self.least = Some((length, slack));
        }
    }

    pub fn of_all(verdicts: impl Iterator<Item = LengthsVerdict>) -> LengthsVerdict {
        verdicts.fold(LengthsVerdict::holding(), |all, one| LengthsVerdict {
            holds: match (all.holds, one.holds) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            least: all.least.into_iter().chain(one.least).min_by_key(|&(_, slack)| slack),
        })
    }
}

/// Decides (T'').
pub(super) fn decide(processor: &Processor) -> LengthsVerdict {
    decide_within(processor, LIMIT)
}

/// Decides (T'') with this for the limits.
pub(super) fn decide_within(processor: &Processor, limit: u64) -> LengthsVerdict {
    let Some(from) = processor.deadlines().min() else { return LengthsVerdict::holding() };
    let mut verdict = LengthsVerdict { holds: None, least: None };
    let last = match last_length(processor) {
        Last::Overloaded => return LengthsVerdict { holds: Some(false), ..verdict },
        Last::At(last) => i128::try_from(last).ok(),
    };
    let mut lengths = Growth::new(processor, from);
    let sequences = lengths.sequences.len() as u64;
    for _ in 0..limit / sequences / (1 + sequences / MANY).pow(2) {
        let length = lengths.next();
        if last.is_some_and(|last| length > last) {
            return LengthsVerdict { holds: Some(true), ..verdict };
        }
        let Some(slack) = processor.slack(length) else { return verdict };
        verdict.sees(length, slack);
        if slack < 0 {
            return LengthsVerdict { holds: Some(false), ..verdict };
        }
    }
    verdict.holds = last.and_then(|last| downwards(processor, last, 2 * limit, &mut verdict));
    verdict
}

enum Last {
    /// Nowhere: the load is as great as what there is, and the test rejected.
    Overloaded,
    At(BigInt),
}

fn ratio(numerator: i128, denominator: i128) -> BigRational {
    BigRational::new(numerator.into(), denominator.into())
}

fn whole(number: i128) -> BigRational {
    BigRational::from_integer(number.into())
}

/// Above the requests due in an interval: (L − D + J)/T + 1 of them.
fn due(item: &VerifiedTask) -> AffineBound {
    AffineBound::each(item.period, -item.soonest(), 1)
}

fn pages_due_above(item: &VerifiedTask) -> AffineBound {
    item.pages.above(&due(item), 1)
}

/// L_max of Eqs. (16), (17) and (38): beyond the lowest line, one for each bound on the waiting.
fn last_length(processor: &Processor) -> Last {
    match lines_above(processor).iter().filter_map(|line| last_below(processor, line)).min() {
        Some(last) => Last::At(last),
        None => Last::Overloaded,
    }
}

/// Above dbf'' and the server's step from the longest relative deadline on.
fn lines_above(processor: &Processor) -> Vec<AffineBound> {
    let mut demand = AffineBound::sum(processor.tasks.iter().map(|item| item.steps.above(&due(item), item.step_cost)));
    demand = demand.plus(&resets_above(processor, |resets| resets.cost));
    demand = demand.plus(&AffineBound::level(processor.always_blocks)).plus(&AffineBound::level(processor.repeats));
    // Above the number of own jobs.
    let mut jobs = AffineBound::sum(processor.tasks.iter().map(due));
    let mut collected = AffineBound::level(0);
    if let Some(gc) = &processor.gc {
        let arriving = processor
            .writers()
            .map(|item| item.pages.above(&AffineBound::each(item.period, item.jitter - gc.deadline, 1), 1));
        let passes =
            AffineBound::sum(arriving).plus(&AffineBound::level(gc.reclaimed - 1)).times(&ratio(1, gc.reclaimed));
        demand = demand.plus(&passes.times(&whole(gc.cost)));
        jobs = jobs.plus(&passes);
        collected = passes;
    }
    // Not every job of a stream has a page here.
    let with_pages = processor.tasks.iter().map(|item| due(item).min(pages_due_above(item)));
    let with_pages = AffineBound::sum(with_pages);
    let demand = demand.plus(&with_pages.times(&whole(processor.preempts)));
    let with_pages = with_pages.plus(&collected);
    if let Some(behind) = processor.waiting_behind_above(&with_pages, |item| item.steps.above(&due(item), 1)) {
        return vec![demand.plus(&behind)];
    }
    let of_passes = |each: fn(&Gc) -> i128| collected.times(&whole(processor.gc.as_ref().map_or(0, each)));
    let mut lines = vec![demand.plus(&one_by_one_above(processor, &of_passes(|gc| gc.waits)))];
    if processor.superblock {
        let steps = processor.tasks.iter().map(|item| item.steps.above(&due(item), item.in_full));
        lines.push(demand.plus(&AffineBound::sum(steps)).plus(&of_passes(|gc| gc.in_full)));
    }
    if let Some(told) = &processor.told {
        let requests = requests_above(processor, &of_passes(|gc| gc.waits));
        let reads = AffineBound::sum(processor.tasks.iter().filter(|item| !item.writes).map(pages_due_above));
        lines.push(demand.plus(&told.above(&Asked { requests, reads })));
    }
    if let Some(queue) = &processor.queue {
        let pages = |writes: bool| {
            let items = processor.tasks.iter().filter(move |item| item.writes == writes);
            AffineBound::sum(items.map(pages_due_above))
        };
        let (reads, writes) = (pages(false), pages(true));
        // Waits for siblings are in what pages cost.
        let known: i128 = processor.neighbours.iter().map(|neighbour| neighbour.chips).sum();
        let charged = reads.plus(&writes).times(&whole(processor.transfer * (queue.chips() - known)));
        let above = queue.above(&reads, &writes, &jobs, processor.transfer);
        lines.extend(above.iter().map(|line| demand.plus(line).minus(&charged)));
    }
    lines
}

fn resets_above(processor: &Processor, each: fn(&ZoneResets) -> i128) -> AffineBound {
    let resets = |item: &VerifiedTask| Some(item.resets?.above(&item.steps.above(&due(item), 1), each(&item.resets?)));
    AffineBound::sum(processor.tasks.iter().filter_map(resets))
}

/// Waits for known neighbours one by one: what Eqs. (36) and (37) add to U and K.
fn one_by_one_above(processor: &Processor, pass_waits: &AffineBound) -> AffineBound {
    let own = requests_above(processor, pass_waits).times(&whole(processor.transfer));
    let lines = processor
        .neighbours
        .iter()
        .map(|neighbour| processor.busy_above(neighbour).min(own.clone()).times(&whole(neighbour.chips)));
    AffineBound::sum(lines)
}

fn requests_above(processor: &Processor, pass_waits: &AffineBound) -> AffineBound {
    let waits = processor.tasks.iter().map(|item| item.steps.above(&due(item), item.waits));
    AffineBound::sum(waits).plus(&resets_above(processor, |resets| resets.waits)).plus(pass_waits)
}

/// `None` where the line never is below what there is of time, Eq. (15).
fn last_below(processor: &Processor, line: &AffineBound) -> Option<BigInt> {
    let longest = BigInt::from(processor.deadlines().max().expect("a processor that is tested has requests"));
    Some(longest.max(line.last_above(1000 - processor.server)?))
}

/// The lengths at which dbf'' can grow, ascending.
struct Growth {
    /// The next length of each sequence, and what it grows by.
    sequences: Vec<(i128, i128)>,
}

impl Growth {
    fn new(processor: &Processor, from: i128) -> Growth {
        let requests = processor.tasks.iter().map(|item| (item.soonest(), item.period));
        // X grows at y = 0, and where y + J is a multiple of T.
        let gc = processor.gc.iter().flat_map(|gc| {
            processor.writers().flat_map(|item| {
                let multiples = (gc.deadline - item.jitter + item.period, item.period);
                [(gc.deadline, i128::MAX / 2), multiples]
            })
        });
        let siblings = processor.queue.iter().flat_map(|queue| &queue.others);
        let siblings = siblings.chain(processor.told.iter().flat_map(|told| &told.siblings));
        let others = processor.neighbours.iter().chain(siblings).flat_map(|other| {
            let live = other.requests.iter().map(|it| (1 - it.deadline, it.period));
            let passes = other.gc.iter().flat_map(|gc| {
                let writers = other.requests.iter().filter(|it| it.writes);
                writers.map(move |it| (1 - gc.deadline - it.jitter, it.period))
            });
            live.chain(passes)
        });
        let mut sequences: Vec<(i128, i128)> = requests
            .chain(gc)
            .chain(others)
            .map(|(first, step)| (first + ceil((from - first).max(0), step) * step, step))
            .collect();
        sequences.sort_unstable();
        sequences.dedup();
        Growth { sequences }
    }

    fn next(&mut self) -> i128 {
        let length = self.sequences.iter().map(|&(next, _)| next).min().expect("requests grow");
        for (next, step) in &mut self.sequences {
            if *next == length {
                *next += *step;
            }
        }
        length
    }
}

/// QPA from the longest length downwards: Eq. (18), Lemma 5. Demand grows with the length and
/// blocking falls: if an interval of length x has time for its blocking and a longer one's demand,
/// all between are long enough.
fn downwards(processor: &Processor, last: i128, limit: u64, verdict: &mut LengthsVerdict) -> Option<bool> {
    let mut deadlines: Vec<i128> = processor.deadlines().collect();
    deadlines.sort_unstable();
    let mut length = last;
    for _ in 0..limit {
        if length < deadlines[0] {
            return Some(true);
        }
        let demand = processor.demand(length)?.total()?;
        let needed = |blocked_at: i128| {
            let taken = demand.checked_add(processor.blocking(blocked_at))?.checked_mul(1000)?;
            Some(ceil(taken, 1000 - processor.server))
        };
        let mut x = needed(length)?;
        if x > length {
            verdict.sees(length, processor.slack(length)?);
            return Some(false);
        }
        // Blocking stays up to the next relative deadline.
        while needed(x)? > x {
            let next = deadlines[deadlines.partition_point(|&deadline| deadline <= x)];
            x = needed(x)?.min(next);
        }
        length = x.min(length) - 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use rtflash_testkit::cases;

    use super::*;
    use crate::certified::channels::{Neighbour, Rows, Transfers};
    use crate::certified::collection::ReleasedGc;
    use crate::certified::numbers::PagesInARow;
    use crate::certified::queue::ChannelQueue;
    use crate::certified::registers::{SecondRegister, Works};
    use crate::certified::told::CommandQueue;

    fn demand_task(
        writes: bool,
        [period, deadline, jitter]: [i128; 3],
        step_cost: i128,
        pages: PagesInARow,
    ) -> VerifiedTask {
        VerifiedTask {
            writes,
            period,
            deadline,
            jitter,
            step_cost,
            steps: pages,
            longest: step_cost,
            pages,
            waits: 1,
            in_full: 2,
            resets: None,
        }
    }

    fn plainly(processor: &Processor, from: i128, to: i128) -> bool {
        (from..=to).all(|length| processor.slack(length).unwrap() >= 0)
    }

    /// Waits one by one or in the queue, each below its own lines.
    fn assert_below_the_lines(processor: &Processor, length: i128) {
        let lines = lines_above(processor);
        let demand = processor.demand(length).unwrap();
        let own = demand.reads + demand.writes + demand.gc + processor.always_blocks + processor.repeats;
        let below = |waiting: i128, line: &AffineBound| line.is_above(own + waiting, length);
        let behind = processor.waiting_behind(length).unwrap();
        let waits = behind.unwrap_or_else(|| processor.waiting_one_by_one(length).unwrap());
        assert!(below(waits, &lines[0]), "{length}: {waits} {processor:?}");
        if let Some(waits) = processor.waiting_in_queue(length).unwrap() {
            assert_eq!(lines.len(), if processor.told.is_some() { 2 } else { 4 });
            // The least of three bounds is below the line of each.
            assert!(
                lines.iter().skip(1).all(|line| below(waits, line)),
                "{length}: {waits} in the queue of {processor:?}"
            );
        }
    }

    fn transfers_of(item: &VerifiedTask) -> Transfers {
        let VerifiedTask { period, deadline, jitter, pages, writes, .. } = *item;
        Transfers { period, deadline, jitter, pages, writes, zone_block: None }
    }

    fn stretch<const N: usize>(times: [&mut i128; N], by: i128) {
        times.into_iter().for_each(|time| *time *= by);
    }

    /// The processor with all times `by` times as long.
    fn scaled(mut processor: Processor, by: i128) -> Processor {
        for it in &mut processor.tasks {
            stretch(
                [&mut it.period, &mut it.deadline, &mut it.jitter, &mut it.step_cost, &mut it.longest, &mut it.in_full],
                by,
            );
            it.resets.iter_mut().for_each(|resets| resets.cost *= by);
        }
        if let Some(gc) = &mut processor.gc {
            stretch([&mut gc.deadline, &mut gc.cost, &mut gc.longest, &mut gc.in_full], by);
        }
        let told = processor.told.iter_mut().flat_map(|told| {
            stretch([&mut told.hold, &mut told.transfer, &mut told.command], by);
            told.others.iter_mut().chain(&mut told.siblings)
        });
        let beside = processor.queue.iter_mut().flat_map(|queue| {
            stretch([&mut queue.saved, &mut queue.first], by);
            &mut queue.others
        });
        for neighbour in told.chain(beside).chain(&mut processor.neighbours) {
            for it in &mut neighbour.requests {
                stretch([&mut it.period, &mut it.deadline, &mut it.jitter], by);
            }
            neighbour.gc.iter_mut().for_each(|gc| gc.deadline *= by);
        }
        let Processor { always_blocks, repeats, preempts, transfer, command, .. } = &mut processor;
        stretch([always_blocks, repeats, preempts, transfer, command], by);
        processor.register.iter_mut().for_each(|register| register.stretch(by));
        processor
    }

    /// Each look is at every request; looks are as few with many of them.
    #[test]
    fn many_requests_take_no_more_looks() {
        for count in [100, 200, 400, 800] {
            let task = |number: i128| {
                let period = 1_000_000 + 997 * number;
                let cost = 900_000 / count;
                demand_task(number % 2 == 0, [period, period, 0], cost, PagesInARow::each(1))
            };
            let processor = Processor {
                tasks: (0..count).map(task).collect(),
                gc: None,
                server: 0,
                always_blocks: 0,
                repeats: 0,
                preempts: 0,
                superblock: false,
                register: None,
                transfer: 1,
                command: 0,
                neighbours: vec![],
                queue: None,
                told: None,
            };
            let Last::At(last) = last_length(&processor) else { panic!("nine tenths of all there is") };
            let mut seen = LengthsVerdict { holds: None, least: None };
            let last = i128::try_from(last).unwrap();
            assert_eq!(downwards(&processor, last, 100, &mut seen), Some(true), "{count}");
        }
    }

    /// A second page register of a chip that has these to do.
    fn register(
        draw: &mut dyn FnMut(u64) -> i128,
        tasks: &[VerifiedTask],
        (server, command): (i128, i128),
    ) -> SecondRegister {
        let times = [draw(6), draw(9), draw(20), if command > 0 { 1 } else { 1 + draw(3) }];
        let most = 1 + draw(3);
        let mut register = SecondRegister::of(times, most, 1 + draw(4)).with_commands(command, most);
        let works = |writes: bool| server > 0 || tasks.iter().any(|item| item.writes == writes);
        register.works(Works { reads: works(false), writes: works(true), server: server > 0 });
        register
    }

    #[test]
    fn both_ways_agree_with_every_length() {
        let mut random = 12345u64;
        let mut draw = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            i128::from((random >> 33) % below)
        };
        let (mut outcomes, mut decisive, mut counted) = ([0; 2], 0, 0);
        for _ in 0..cases(4_000_u32) {
            // Some read 50 times the pages, so that the time saved on each counts.
            let (times, seldom) = if draw(2) == 0 { (50, 20) } else { (1, 2) };
            let explicit = draw(2) == 0;
            // T, D and J.
            let due = |period: i128, draw: &mut dyn FnMut(u64) -> i128| {
                if !explicit {
                    return [period, period, 0];
                }
                // Some wait in a buffer of several.
                let longest = period * (1 + 2 * draw(2));
                let deadline = 1 + draw(longest.unsigned_abs().try_into().unwrap());
                [period, deadline, draw(deadline.min(period).unsigned_abs().try_into().unwrap())]
            };
            let mut tasks: Vec<VerifiedTask> = (0..1 + draw(3))
                .map(|_| {
                    let pages = PagesInARow { pages: (1 + draw(4)) * times, chips: 1 + draw(2) * draw(4) };
                    let times = due((5 + draw(40)) * times, &mut draw);
                    demand_task(draw(seldom) == 0, times, 1 + draw(3), pages)
                })
                .collect();
            let writes = tasks.iter().any(|item| item.writes);
            let (deadline, cost) = (5 + draw(80), 1 + draw(12));
            // Some devices count commands.
            let command = if draw(6) == 0 { 1 + draw(2) } else { 0 };
            tasks.iter_mut().filter(|item| !item.writes && command > 0).for_each(|item| item.waits = 2);
            // Some write zones.
            let zoned = draw(4) == 0;
            for item in tasks.iter_mut().filter(|item| item.writes && zoned) {
                let waits = i128::from(command > 0);
                item.resets = Some(ZoneResets { block_pages: 1 + draw(5), cost: 1 + draw(9), waits });
            }
            // Passes wait for their commands, or as a superblock's.
            let waits = if command > 0 || draw(4) == 0 { 1 + draw(6) } else { 0 };
            let mut gc = Gc { deadline, cost, longest: 1 + cost / 2, reclaimed: 1 + draw(9), waits, in_full: draw(9) };
            let server = draw(2) * draw(500);
            let requests: Vec<Transfers> = (0..draw(3))
                .map(|_| {
                    let [period, deadline, jitter] = due((3 + draw(30)) * times, &mut draw);
                    let pages = PagesInARow { pages: (1 + draw(4)) * times, chips: 1 + draw(2) * draw(4) };
                    let zone_block = (draw(3) == 0).then(|| 1 + draw(5));
                    Transfers { period, deadline, jitter, pages, writes: draw(seldom) == 0, zone_block }
                })
                .collect();
            let collects = requests.iter().any(|it| it.writes);
            let gc_beside =
                collects.then(|| ReleasedGc { deadline: 5 + draw(80), reclaimed: 1 + draw(9), victim: draw(6) });
            let chips = 1 + draw(2);
            let rows = (draw(4) == 0).then(|| Rows { chips: chips + draw(2), block_pages: 1 + draw(4) });
            let neighbours = match draw(3) {
                0 => vec![],
                _ => {
                    let repeated = draw(2) * draw(3);
                    vec![Neighbour { chips, requests, repeated, gc: gc_beside, rows }]
                }
            };
            // Each page is charged a unit of time at least, and no more is saved of it.
            let queue = ChannelQueue::of([draw(3), draw(4), 1], neighbours.clone())
                .filter(|_| server == 0 && rows.is_none() && command == 0 && !zoned && draw(3) > 0);
            let in_a_queue = command > 0 && server == 0 && rows.is_none() && !zoned && draw(3) > 0;
            let told = in_a_queue.then(|| {
                let siblings = draw(3);
                let (hold, of_own) = (1 + command, tasks.iter().map(transfers_of).collect());
                // Siblings are charged to each request.
                tasks.iter_mut().for_each(|item| item.step_cost += siblings * hold * item.waits);
                gc.cost += siblings * hold * gc.waits;
                let own = Neighbour { chips: siblings, requests: of_own, repeated: 0, gc: None, rows: None };
                let siblings = (siblings > 0).then_some(own);
                CommandQueue { hold, transfer: 1, command, others: neighbours.clone(), siblings }
            });
            // Some chips have two page registers.
            let register = (told.is_none() && queue.is_none() && !zoned && draw(3) == 0)
                .then(|| register(&mut draw, &tasks, (server, command)));
            let processor = Processor {
                tasks,
                gc: writes.then_some(gc),
                server,
                always_blocks: match &register {
                    Some(register) => register.blocking,
                    None => 3 * i128::from(server > 0),
                },
                repeats: draw(2) * draw(6),
                preempts: draw(2) * draw(4),
                // Some are superblocks.
                superblock: register.is_none() && queue.is_none() && told.is_none() && !zoned && draw(3) == 0,
                register,
                transfer: 1 + command,
                command,
                neighbours,
                queue,
                told,
            };
            let from = processor.deadlines().min().unwrap();
            let Last::At(last) = last_length(&processor) else { continue };
            let last = i128::try_from(last).unwrap();
            if last > 20_000 {
                continue;
            }
            let truth = plainly(&processor, from, last + 300);
            let verdict = decide(&processor);
            assert_eq!(verdict.holds, Some(truth), "{processor:?}");
            let mut seen = LengthsVerdict { holds: None, least: None };
            assert_eq!(downwards(&processor, last, LIMIT, &mut seen), Some(truth), "{processor:?}");
            assert!(decide_within(&processor, 1).holds.is_none_or(|holds| holds == truth), "{processor:?}");
            assert_eq!(downwards(&processor, last, 0, &mut seen), None, "{processor:?}");
            let longest = processor.deadlines().max().unwrap();
            let long = scaled(processor.clone(), 100);
            for _ in 0..6 {
                let length = longest + draw(u64::try_from(last - longest).unwrap() + 300);
                assert_below_the_lines(&processor, length);
                assert_below_the_lines(&long, 100 * length);
            }
            if truth {
                let least = (from..=last).map(|length| processor.slack(length).unwrap()).min();
                assert_eq!(verdict.least.map(|(_, least)| least), least, "{processor:?}");
            }
            outcomes[usize::from(truth)] += 1;
            counted += u32::from(processor.told.as_ref().is_some_and(|told| told.siblings.is_some()));
            let without = Processor { queue: None, told: None, ..processor };
            decisive += i32::from(truth && decide(&without).holds == Some(false));
        }
        assert!(outcomes[0] > 60 && outcomes[1] > 60 && decisive > 4, "{outcomes:?} {decisive}");
        assert!(counted > 8, "{counted}");
    }
}
