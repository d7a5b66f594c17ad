//! Copies of GC jobs that follow each other on a chip of a stripe.

use rtflash_model::Instant;

use super::{ProcessorLine, Processors, ReadWait};
use crate::check::gauge::Place;
use crate::check::stretches::Stretch;
use crate::ids::ChipId;
use crate::plan::Plan;
use crate::trace::{Action, JobId, Kind, ListedStep, NONE, StepHead, StepPage};

impl Processors {
    /// Whether a job's operations on a chip of a stripe have waited for nothing, and it goes on
    /// without a break when the last one has ended.
    pub(in crate::check) fn is_judged(&self, processor: usize, job: JobId, start: Instant) -> bool {
        let line = &self.lines[processor];
        let follows = line.under_way.is_some_and(|last| last.start < start && start <= last.end);
        follows
            && line.bounds.stripe
            && line.judged == Some(job)
            && line.job == Some(job)
            && line.waits.is_empty()
            && line.paddings.is_empty()
            && line.suspended.is_none()
    }

    /// Whether what a processor does, over [start, end), is a job's, whose operations on a chip of
    /// a stripe have waited for nothing.
    pub(in crate::check) fn is_as_judged(
        &self,
        processor: usize,
        job: JobId,
        (start, end): (Instant, Instant),
    ) -> bool {
        let line = &self.lines[processor];
        let is_so = line.under_way.is_some_and(|step| (step.start, step.end) == (start, end) && !step.erases);
        is_so
            && line.bounds.stripe
            && (line.judged, line.job) == (Some(job), Some(job))
            && line.waits.is_empty()
            && line.paddings.is_empty()
            && line.suspended.is_none()
    }

    /// When the step begins and ends that a processor is at, if it begins then, and is a job's
    /// whose operations on a superblock have waited for nothing.
    pub(in crate::check) fn step_as_judged(
        &self,
        processor: usize,
        job: JobId,
        start: Instant,
    ) -> Option<(Instant, Instant)> {
        let line = &self.lines[processor];
        let is_so = !line.bounds.stripe
            && (line.judged, line.job) == (Some(job), Some(job))
            && line.paddings.is_empty()
            && line.suspended.is_none();
        line.under_way.filter(|step| is_so && step.start == start && !step.erases).map(|step| (step.start, step.end))
    }

    /// Its job goes on with steps of a superblock, one behind the other without a break, the last
    /// of which ends then.
    #[inline(always)]
    pub(in crate::check) fn goes_on_in_rows(
        &mut self,
        processor: usize,
        (steps, pages): (&[ListedStep], &[StepPage]),
        (end, deadline): (Instant, u64),
        plan: &Plan,
    ) {
        let Some((last, others)) = steps.split_last() else { return };
        let Processors { lines, waits, times, foreign_waits, .. } = self;
        let line = &mut lines[processor];
        line.goes_on_in_rows(steps, (end, deadline));
        if !line.waits.is_empty() {
            line.judge_waits(*times, waits);
        }
        let waited = |head: &StepHead, page: &StepPage| page.end.since(head.start).as_ns().saturating_sub(times.alone);
        let wait = |head: &StepHead, page: &StepPage| {
            let StepHead { start, job, cluster, .. } = *head;
            ReadWait {
                channel: plan.channel_of(page.chip),
                gc: head.kind == Kind::Gc,
                bound: foreign_waits[page.chip].saturating_mul(times.asks),
                waited: waited(head, page),
                place: Place { at: start, job: Some(job), cluster: Some(cluster), chip: Some(page.chip) },
            }
        };
        // What waits for less than that on such a chip changes nothing.
        let mut quiet = (ChipId(NONE), 0);
        line.only_reads = true;
        for step in others.iter().filter(|step| step.head.action == Action::Read) {
            if let [page] = step.of(pages) {
                // Nothing was beside it.
                if quiet.0 != page.chip || waited(&step.head, page) >= quiet.1 {
                    let wait = wait(&step.head, page);
                    waits.note(wait.bound, wait.waited, || wait.place);
                    quiet = (page.chip, waits.quiet_below(wait.bound));
                }
            } else {
                line.waits.extend(step.of(pages).iter().map(|page| wait(&step.head, page)));
                line.judge_waits(*times, waits);
            }
        }
        // What is beside the last one may be still to come.
        line.only_reads = last.head.action == Action::Read && last.head.kind != Kind::Gc;
        if last.head.action == Action::Read {
            line.waits.extend(last.of(pages).iter().map(|page| wait(&last.head, page)));
        }
    }

    /// Its job goes on with steps over these times, one behind the other.
    pub(in crate::check) fn goes_on_with(
        &mut self,
        processor: usize,
        steps: impl Iterator<Item = (Instant, Instant)>,
        deadline: u64,
    ) {
        let line = &mut self.lines[processor];
        line.only_reads = true;
        for (start, end) in steps {
            if let Some(last) = line.under_way.replace(Stretch { start, end, deadline, erases: false }) {
                line.ends(last);
            }
        }
    }
}

impl ProcessorLine {
    /// Its job goes on with steps, one behind the other without a break, the last of which ends
    /// then.
    #[inline(always)]
    fn goes_on_in_rows(&mut self, steps: &[ListedStep], (end, deadline): (Instant, u64)) {
        let Some((first, others)) = steps.split_first() else { return };
        let stretch = |start, end| Stretch { start, end, deadline, erases: false };
        if let Some(last) = self.under_way.take() {
            self.ends(last);
        }
        let mut start = first.head.start;
        if let Some((second, others)) = others.split_first() {
            self.ends(stretch(start, second.head.start));
            start = second.head.start;
            if let Some((last, others)) = others.split_last() {
                for step in others {
                    self.is_behind(stretch(start, step.head.start));
                    start = step.head.start;
                }
                self.is_behind(stretch(start, last.head.start));
                // They have the deadline of the first one.
                self.latest.last_mut().expect("a stretch has just ended").0 = start;
                start = last.head.start;
            }
        }
        self.under_way = Some(stretch(start, end));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::check::Ledger;
    use crate::check::gauge::{Gauge, Worst};
    use crate::check::processors::{Bounds, ReadTimes};
    use crate::check::stretches::{LastStretches, REMEMBERED};
    use crate::ids::{BlockId, ChannelId, ClusterId, Lpn, PerId, SourceId};
    use crate::trace::samples::{at, plan};
    use crate::trace::{OnBus, Operation, Release, StepBatch};

    const JOB: JobId = JobId { source: SourceId(0), index: 0 };

    /// A step of three chips that begins then: what it does, and how long each chip takes, if it
    /// does anything.
    fn step(start: u64, (kind, action): (Kind, Action), chips: [Option<u64>; 3]) -> Vec<Operation> {
        let operation = |(chip, took): (u32, Option<u64>)| {
            Some(Operation {
                start: at(start),
                end: at(start + took?),
                cluster: ClusterId(0),
                chip: ChipId(chip),
                action,
                job: JOB,
                kind,
                block: BlockId(0),
                page: 0,
                lpn: Lpn(0),
            })
        };
        (0..).zip(chips).filter_map(operation).collect()
    }

    /// The same steps in a list.
    fn listed(steps: &[Vec<Operation>]) -> StepBatch {
        let mut all = StepBatch::default();
        for step in steps {
            let buses: Vec<OnBus> =
                step.iter().map(|of| OnBus { channel: ChannelId(0), start: of.start, end: of.end }).collect();
            assert!(all.push(step, &buses));
        }
        all
    }

    /// When steps that follow each other begin and end, from 100 on, the first of them of so long.
    fn spans(lengths: &[u64]) -> Vec<(u64, u64)> {
        let ends = lengths.iter().scan(100, |end, length| {
            *end += length;
            Some((*end - length, *end))
        });
        ends.collect()
    }

    type Remembered = (Vec<(Instant, Instant, u64, bool)>, Vec<(Instant, u64)>);

    /// All that is remembered of what a processor did, with what it is at.
    fn remembered(line: &ProcessorLine) -> Remembered {
        let before = (0..line.before.len()).filter_map(|number| line.before.get(number));
        let all = before.chain(&line.under_way);
        (all.map(|of| (of.start, of.end, of.deadline, of.erases)).collect(), line.latest.clone())
    }

    /// A line that has done so much before, its last step over [90, 100).
    fn line(before: usize, deadlines: &[u64]) -> ProcessorLine {
        let mut line = ProcessorLine { before: LastStretches::default(), ..ProcessorLine::default() };
        let mut deadlines = deadlines.iter().cycle();
        for _ in 0..before {
            line.ends(Stretch { deadline: *deadlines.next().expect("it goes round"), ..Stretch::default() });
        }
        line.under_way =
            deadlines.next().map(|&deadline| Stretch { start: at(90), end: at(100), deadline, erases: false });
        line
    }

    /// All chips are of one processor, which has done nothing yet.
    fn one_processor(plan: &Plan, foreign_waits: &PerId<ChipId, u64>, times: ReadTimes, bounds: Bounds) -> Processors {
        Processors {
            of_chip: plan.per_chip(Some(0)),
            foreign_waits: foreign_waits.clone(),
            times,
            lines: vec![ProcessorLine { bounds, ..ProcessorLine::default() }],
            waits: Gauge::default(),
            order: Gauge::default(),
            idling: Gauge::default(),
            blocking: Gauge::default(),
        }
    }

    /// How long its program takes is known with its record, also where it is made once more.
    #[test]
    fn a_copy_that_is_made_once_more_is_over_with_its_program() {
        let plan = plan();
        let mut ledger = Ledger::new(plan.sources().len(), false);
        let (kind, deadline, cluster) = (Kind::Gc, Some(at(9)), Some(ClusterId(0)));
        ledger.release(&Release { at: at(0), job: JOB, kind, deadline, pages: 0, cluster });
        let pending = ledger.get(JOB).expect("it is released");
        let program = rtflash_model::Span::from_ns(11).expect("a short time");
        let times = ReadTimes { hold: 0, alone: 5, asks: 1, program };
        let bounds = Bounds { stripe: true, ..Bounds::default() };
        let mut processors = one_processor(&plan, &plan.per_chip(0), times, bounds);
        let copy = [(100, Action::Read, 5, false), (105, Action::Program, 2, false)];
        let again = [(107, Action::Read, 5, true), (112, Action::Program, 2, true)];
        for (start, action, took, repeated) in copy.into_iter().chain(again) {
            let of = step(start, (kind, action), [Some(took), None, None])[0];
            processors.operation((&of, &of), (0, repeated), pending, &plan);
        }
        assert_eq!(processors.step_end(ChipId(0)), Some(at(114)));
        let next = step(115, (kind, Action::Read), [Some(5), None, None])[0];
        processors.operation((&next, &next), (0, false), pending, &plan);
        assert_eq!(processors.busy_since(0), at(115));
    }

    /// Deadlines that become earlier and earlier are all remembered, as far as there is room.
    #[test]
    fn the_latest_deadlines_of_many_steps_are_remembered() {
        let mut line = ProcessorLine::default();
        for number in 0..10_000_u64 {
            let (start, end, deadline) = (at(number), at(number + 1), 20_000 - number);
            line.ends(Stretch { start, end, deadline, erases: false });
            assert!(line.latest.len() <= REMEMBERED);
            let least = usize::try_from(number + 1).expect("few").min(REMEMBERED / 2);
            let last = line.latest.iter().rev().take(least);
            let own = (0..=number).rev().take(least).map(|number| (at(number), 20_000 - number));
            assert!(last.copied().eq(own), "{number}");
        }
    }

    proptest! {
        #[test]
        fn steps_told_together_are_remembered_as_if_they_came_one_by_one(
            lengths in prop::collection::vec(1..9_u64, 1..7),
            deadlines in prop::collection::vec(0..4_u64, 1..5),
            deadline in 0..4_u64,
            before in prop_oneof![0..4_usize, REMEMBERED - 4..REMEMBERED + 2],
        ) {
            let steps: Vec<_> = spans(&lengths)
                .iter()
                .map(|&(start, end)| step(start, (Kind::Gc, Action::Read), [Some(end - start), None, None]))
                .collect();
            let [mut together, mut one_by_one] = [line(before, &deadlines), line(before, &deadlines)];
            let (end, batch) = (at(100 + lengths.iter().sum::<u64>()), listed(&steps));
            together.goes_on_in_rows(batch.steps(), (end, deadline));
            for (start, end) in spans(&lengths) {
                let next = Stretch { start: at(start), end: at(end), deadline, erases: false };
                if let Some(last) = one_by_one.under_way.replace(next) {
                    one_by_one.ends(last);
                }
            }
            prop_assert_eq!(remembered(&together), remembered(&one_by_one));
            // The latest deadline of all that began then, or later.
            for from in 90..100 + lengths.iter().sum::<u64>() {
                let before = (0..together.before.len()).filter_map(|number| together.before.get(number));
                let latest = before.filter(|of| of.start >= at(from)).map(|of| of.deadline).max();
                let found = together.latest.iter().find(|&&(start, _)| start >= at(from)).map(|&(_, latest)| latest);
                prop_assert_eq!(found, latest);
            }
        }

        #[test]
        fn reads_told_together_wait_as_if_they_came_one_by_one(
            kind in prop_oneof![Just(Kind::Gc), Just(Kind::Read)],
            steps in prop::collection::vec((any::<bool>(), prop::array::uniform3(prop::option::of(0..9_u64))), 2..9),
            first in 0..3_usize,
            bounds in prop::array::uniform3(0..4_u64),
            asks in 1..3_u64,
        ) {
            let plan = plan();
            let mut ledger = Ledger::new(plan.sources().len(), false);
            let release =
                Release { at: at(0), job: JOB, kind, deadline: Some(at(9)), pages: 9, cluster: Some(ClusterId(0)) };
            ledger.release(&release);
            let pending = ledger.get(JOB).expect("it is released");
            let mut foreign_waits = plan.per_chip(0);
            (0..).zip(bounds).for_each(|(chip, bound)| foreign_waits[ChipId(chip)] = bound);
            let times = ReadTimes { hold: 2, alone: 10, asks, program: rtflash_model::Span::ZERO };
            let bounds = Bounds { backfill: true, ..Bounds::default() };
            let [mut together, mut one_by_one] = [(), ()].map(|()| one_processor(&plan, &foreign_waits, times, bounds));
            // A request reads page by page; no step is without a page.
            let mut start = 100;
            let mut all = Vec::new();
            for (programs, waits) in steps {
                let action = if programs && kind == Kind::Gc { Action::Program } else { Action::Read };
                let only = (0..3).find(|&chip| waits[chip].is_some()).unwrap_or(0);
                let takes = |chip: usize| match waits[chip] {
                    None if chip == only => Some(10),
                    _ if kind == Kind::Read && chip != only => None,
                    wait => Some(10 + wait?),
                };
                all.push(step(start, (kind, action), [0, 1, 2].map(takes)));
                start = all.last().and_then(|step| step.iter().map(|of| of.end.as_ns()).max()).expect("a page");
            }
            let notify = |processors: &mut Processors, steps: &[Vec<Operation>]| {
                for of in steps.iter().flatten() {
                    processors.operation((of, of), (0, false), pending, &plan);
                }
            };
            let (before, behind) = all.split_at(first.min(all.len() - 1));
            notify(&mut one_by_one, &all);
            notify(&mut together, before);
            let batch = listed(behind);
            together.goes_on_in_rows(0, (batch.steps(), batch.pages()), (at(start), 9), &plan);
            let found = |processors: &mut Processors| -> (Option<Worst>, u64, bool) {
                let only_reads = processors.lines[0].only_reads;
                processors.lines[0].judge_waits(times, &mut processors.waits);
                (processors.waits.worst(), processors.waits.violations(), only_reads)
            };
            prop_assert_eq!(found(&mut together), found(&mut one_by_one));
            // What each of them waits, of all that may make it wait.
            let mut expected = Gauge::default();
            for step in &all {
                for of in step.iter().filter(|of| of.action == Action::Read) {
                    let beside = |other: &&Operation| plan.channel_of(other.chip) == plan.channel_of(of.chip);
                    let beside = if kind == Kind::Gc { step.iter().filter(beside).count() as u64 - 1 } else { 0 };
                    let place = Place { at: of.start, job: Some(JOB), cluster: Some(ClusterId(0)), chip: Some(of.chip) };
                    let bound = asks * (foreign_waits[of.chip] + 2 * beside);
                    expected.note(bound, of.end.since(of.start).as_ns() - 10, || place);
                }
            }
            prop_assert_eq!((expected.worst(), expected.violations()), (one_by_one.waits.worst(), one_by_one.waits.violations()));
        }
    }
}
