//! The core of a group of clusters whose chips go on one by one. It owns time, the ends of what
//! chips do, buses and observers. What is released, what an end means and what comes next is a
//! policy's.

mod ends;

use std::ops::Range;

use rtflash_model::{Instant, Span};

use self::ends::ChipEnds;
use super::Arrival;
use super::sequencer::{Sequencer, Ticket};
use crate::earliest::earlier;
use crate::error::RunError;
use crate::flash::{BusRequest, Channels};
use crate::ids::{ChannelId, ChipId, Lpn, PerId, SourceId};
use crate::lengths::{FixedMove, Lengths};
use crate::options::Options;
use crate::plan::Plan;
use crate::resume::{Resume, resume};
use crate::trace::{Action, Complete, JobId, Observer, OnBus, Operation, Padding, Record, Step, StepBatch, StepHead};

/// What a policy has a chip and its bus do with an operation.
#[derive(Debug, Clone, Copy)]
pub(super) enum ChipStep {
    /// It asks for the bus of its chip's channel, from `since` on, for a lane.
    Ask { since: Instant, lane: usize },
    /// It is one inside the chip, the end of which is known.
    Inside,
    /// It only lets the time of such a step pass.
    Padding(Step),
}

/// Time, ends, buses and observers.
pub(crate) struct Core<O> {
    pub(super) lengths: Lengths,
    pub(super) ends: ChipEnds,
    pub(super) channels: Channels,
    pub(super) observer: Sequencer<O>,
    /// Before this instant a run goes on by itself, and nothing more is released, nor at the
    /// instant that it is: the start of time where that is not so.
    undisturbed: Instant,
    chips_per_channel: u32,
    pub(super) duration: Instant,
}

resume!([O: Resume] Core<O> {
    values: [ends],
    parts: [channels, observer],
    lists: [],
    made: [lengths, undisturbed, chips_per_channel, duration],
});

impl<O: Observer> Core<O> {
    /// `used` says which channels its chips are on.
    pub(super) fn new(plan: &Plan, options: &Options, used: &PerId<ChannelId, bool>, observer: O) -> Core<O> {
        let device = plan.device();
        Core {
            lengths: Lengths::new(plan, options),
            ends: ChipEnds::new(plan, used),
            channels: Channels::new(used, options),
            observer: Sequencer::new(observer),
            undisturbed: Instant::START,
            chips_per_channel: device.chips_per_channel(),
            duration: options.duration,
        }
    }

    /// Before this instant nothing more is released, where a run goes on by itself.
    #[inline]
    pub(super) fn undisturbed(&self) -> Instant {
        self.undisturbed
    }

    #[inline]
    pub(super) fn channel_of(&self, chip: ChipId) -> ChannelId {
        ChannelId(chip.0 / self.chips_per_channel)
    }

    /// A step begins. Of an operation that asks for a bus, the place of its record.
    #[inline(always)]
    pub(super) fn begin(&mut self, operation: &Operation, step: ChipStep) -> Option<Ticket> {
        let Operation { start, end, cluster, chip, job, .. } = *operation;
        match step {
            ChipStep::Ask { since, lane } => {
                let ticket = self.observer.open(operation);
                self.channels.request(BusRequest { since, channel: self.channel_of(chip), chip, lane });
                return Some(ticket);
            }
            ChipStep::Inside => self.observer.operation(*operation),
            ChipStep::Padding(step) => {
                self.observer.push(Record::Padding(Padding { start, end, job, cluster, chip, step }));
            }
        }
        self.ends.set(chip, Some(end));
        None
    }

    /// The page of an operation that asked for it has the bus of this channel from now on. Says
    /// when the operation ends, which is known from now on.
    #[inline(always)]
    pub(super) fn moves(
        &mut self,
        (operation, ticket): (&mut Operation, Ticket),
        channel: ChannelId,
        now: Instant,
    ) -> Instant {
        let bus = self.lengths.moves(operation, channel, now);
        self.channels.hold(channel, bus.end);
        self.observer.close(ticket, operation.end);
        self.observer.transfer(operation.transfer(&bus));
        operation.end
    }

    /// Whether nothing else happens now and this bus is free: whoever asks for it has it at once.
    #[inline]
    pub(super) fn is_alone(&self, channel: ChannelId, now: Instant) -> bool {
        now < self.undisturbed
            && self.ends.first_ns().min(self.channels.least_ns()) > now.as_ns()
            && self.channels.free_at(channel) <= now
    }

    /// Since when an operation that begins over the bus wants it, where there are no commands.
    #[inline(always)]
    pub(super) fn wanted(&self, operation: &Operation) -> Instant {
        let Operation { start, chip, action, job, .. } = *operation;
        match action {
            Action::Read => start.saturating_add(self.lengths.sensing(job, chip, start)),
            _ => start,
        }
    }

    /// The same of all operations that do this from then on, if it is the same.
    #[inline(always)]
    pub(super) fn all_wanted(&self, action: Action, start: Instant) -> Option<Instant> {
        Some(start.saturating_add(self.lengths.fixed_moves(action)?.before))
    }

    /// Operations of a step, up to this chip, have their bus when it is free, from since when they
    /// want it, if what they take is fixed. Then `moves` adds them to the steps that are told: it
    /// is given when the bus is free, how long a page is on it and what it takes behind that, and
    /// says when the bus is free again. Says whether it was.
    #[inline(always)]
    pub(super) fn moves_row_ahead(
        &mut self,
        (head, last): (&StepHead, ChipId),
        wanted: Instant,
        moves: impl FnOnce(&mut StepBatch, (Instant, Span, Span)) -> Instant,
    ) -> bool {
        let Some(&FixedMove { on_bus, behind, .. }) = self.lengths.fixed_moves(head.action) else { return false };
        let steps = self.observer.steps();
        self.channels.serve_from((head.channel, last), wanted, |free_at| moves(steps, (free_at, on_bus, behind)));
        steps.ends(head);
        self.observer.has_steps();
        true
    }

    /// Operations have their buses, which they want since then, each when its bus is free. Says
    /// when the last one ends, and on which chip.
    #[inline(never)]
    pub(super) fn moves_each_ahead(
        &mut self,
        operations: &mut [Operation],
        since: Instant,
        buses: &mut Vec<OnBus>,
    ) -> (Instant, ChipId) {
        let mut last = (Instant::START, ChipId(0));
        buses.clear();
        for operation in &mut *operations {
            buses.push(self.moves_ahead(operation, since));
            last = last.max((operation.end, operation.chip));
        }
        self.observer.step(operations, buses);
        last
    }

    /// An operation has the bus of its channel, which it wants since then, as soon as that is free.
    /// Says when, and when the operation ends.
    #[inline(always)]
    pub(super) fn moves_ahead(&mut self, operation: &mut Operation, since: Instant) -> OnBus {
        let channel = self.channel_of(operation.chip);
        let bus = self.lengths.moves(operation, channel, since.max(self.channels.free_at(channel)));
        self.channels.serve(channel, operation.chip, bus.end);
        bus
    }

    /// An operation that begins now has the bus of this channel at once. Says when it ends.
    #[inline]
    pub(super) fn moves_at_once(&mut self, operation: &mut Operation, channel: ChannelId) -> Instant {
        let bus = self.lengths.moves(operation, channel, operation.start);
        self.channels.serve(channel, operation.chip, bus.end);
        self.observer.operation(*operation);
        self.observer.transfer(operation.transfer(&bus));
        operation.end
    }

    /// A job is over.
    pub(super) fn complete(&mut self, job: JobId, now: Instant) {
        self.observer.observer().over(job);
        if now <= self.duration {
            self.observer.push(Record::Complete(Complete { at: now, job }));
        }
    }

    /// When something ends next, or a bus is granted.
    fn next_end(&self) -> Option<Instant> {
        Instant::from_ns(self.ends.first_ns().min(self.channels.least_ns()))
    }
}

/// Who says what is released, and which chips do what.
pub(crate) trait ChipPolicy {
    /// Who is notified.
    type Notified: Observer;

    /// The core that carries it out.
    fn core(&mut self) -> &mut Core<Self::Notified>;

    /// The same, to be looked at.
    fn as_core(&self) -> &Core<Self::Notified>;

    /// Nothing is left but the core.
    fn into_core(self) -> Core<Self::Notified>
    where
        Self: Sized;

    /// A job that is not real-time arrives: behind all that has arrived, and not before what has
    /// been run already.
    fn hand_over(&mut self, arrival: Arrival);

    /// A host releases the next request of a source, that arrived nominally then: for these pages,
    /// or where there are none for those that a run would draw. `None` where no task has it here.
    fn request(&mut self, source: SourceId, nominal: Instant, now: Instant, pages: &[Lpn]) -> Option<JobId>;

    /// A host trims pages of a source, which has them here: they hold nothing any more. Says
    /// whether that can be.
    fn trim(&mut self, source: SourceId, pages: Range<Lpn>, now: Instant) -> bool {
        let _ = (source, pages, now);
        false
    }

    /// When something is released next.
    fn next_release(&self) -> Option<Instant>;

    /// Nothing is released any more.
    fn release_no_more(&mut self);

    /// All that is released now.
    fn releases(&mut self, now: Instant);

    /// What is trimmed now, behind all that ends at this instant.
    fn trims(&mut self, now: Instant) {
        let _ = now;
    }

    /// What a chip waited for has come about.
    fn end(&mut self, chip: ChipId, now: Instant);

    /// The same, where nothing is released at this instant: whether the chip has gone on with more
    /// of the same, so that there is nothing else to be done.
    fn carries_on(&mut self, chip: ChipId, now: Instant) -> bool {
        let _ = (chip, now);
        false
    }

    /// All that happens from now on up to `until`, before which nothing is released, has happened.
    /// Says whether that is so; if not, nothing has.
    fn runs_ahead(&mut self, now: Instant, until: Instant) -> bool {
        let _ = (now, until);
        false
    }

    /// Idle chips begin what is next.
    fn dispatch(&mut self, now: Instant);

    /// A request for a bus is granted.
    fn granted(&mut self, request: BusRequest, now: Instant);

    /// How much may be pending, if more is.
    fn overload(&self) -> Option<usize>;

    /// What ends now ends.
    #[inline(always)]
    fn ends(&mut self, now: Instant) {
        while let Some(chip) = self.core().ends.first_at(now) {
            if now < self.core().undisturbed && self.carries_on(chip, now) {
                continue;
            }
            self.core().ends.set(chip, None);
            self.end(chip, now);
        }
    }

    /// Buses that are free take what has waited longest.
    #[inline(always)]
    fn grants(&mut self, now: Instant) {
        while self.core().channels.grants_by(now) {
            let request = self.core().channels.grant();
            self.granted(request, now);
        }
    }

    /// When something happens next.
    #[inline]
    fn next_instant(&self) -> Option<Instant> {
        earlier(self.as_core().next_end(), self.next_release())
    }

    /// Runs everything before `limit`, which is at most the run's duration.
    ///
    /// # Errors
    /// Where too many jobs or pages are pending.
    fn run_until(&mut self, limit: Instant) -> Result<(), RunError> {
        loop {
            let release = self.next_release();
            let next = earlier(self.as_core().next_end(), release);
            let Some(now) = next.filter(|&now| now < limit) else { break };
            let until = release.unwrap_or(limit).min(limit);
            if now < until && self.runs_ahead(now, until) {
                continue;
            }
            self.core().observer.passes(now);
            let releases = release == Some(now);
            self.core().undisturbed = if releases { Instant::START } else { until };
            if releases {
                self.releases(now);
            }
            self.ends(now);
            if releases {
                self.trims(now);
            }
            self.dispatch(now);
            self.grants(now);
            if let Some(limit) = self.overload() {
                return Err(RunError::TooManyPending { at: now, limit });
            }
        }
        self.core().undisturbed = Instant::START;
        Ok(())
    }

    /// What ends now ends, where a host hands over what is released.
    fn ends_at(&mut self, now: Instant) {
        self.core().observer.passes(now);
        self.ends(now);
    }

    /// Everything of this instant but the ends.
    fn goes_on(&mut self, now: Instant) {
        self.releases(now);
        self.trims(now);
        self.dispatch(now);
        self.grants(now);
    }

    /// Every record of what starts before this instant has been passed on.
    fn settled(&mut self, limit: Instant) -> Instant {
        self.core().observer.notify_before(limit)
    }

    /// The observer.
    fn observer(&mut self) -> &mut Self::Notified {
        self.core().observer.observer()
    }

    /// Ends the run at its duration: what is under way is followed to its end.
    fn finish(mut self) -> Self::Notified
    where
        Self: Sized,
    {
        self.release_no_more();
        while let Some(now) = self.next_instant() {
            self.ends(now);
            self.grants(now);
        }
        self.into_core().observer.finish()
    }
}
