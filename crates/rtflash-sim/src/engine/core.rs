//! The core of a group of clusters whose chips go on one by one. It owns time, the ends of what
//! chips do, buses and observers. A policy decides on releases, on the meaning of an end and on the
//! next work.

use std::ops::Range;

use rtflash_model::{ChipId, Id, Instant, Lpn, PerId};
use rtflash_plan::resume::{Resume, resume};
use rtflash_plan::{Arrival, ChannelId, Options, Plan, SourceId};
use rtflash_trace::{Action, Complete, JobId, Observer, Operation, Padding, Record, Step};

use super::sequencer::{Sequencer, Ticket};
use crate::earliest::{Earliest, earlier};
use crate::engine::lengths::Lengths;
use crate::error::RunError;
use crate::flash::{BusRequest, Channels};

/// The step that a policy has a chip and its bus take with an operation.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ChipStep {
    /// It asks for the bus of its chip's channel, from `since` on, for a lane.
    Ask { since: Instant, lane: usize },
    /// It is one inside the chip, the end of which is known.
    Inside,
    /// It only lets the time of such a step pass.
    Padding(Step),
}

pub(crate) struct Core<O> {
    pub(crate) lengths: Lengths,
    /// When what each chip does ends, as far as that is known: of the first one of the group, and
    /// of those that follow, with few others between them.
    ends: Earliest,
    first_chip: usize,
    pub(crate) channels: Channels,
    pub(crate) observer: Sequencer<O>,
    chips_per_channel: u32,
    pub(crate) duration: Instant,
}

resume!([O] Core<O> {
    values: [ends],
    parts: [channels, observer],
    lists: [],
    made: [lengths, first_chip, chips_per_channel, duration],
});

impl<O: Observer> Core<O> {
    pub(crate) fn new(plan: &Plan, options: &Options, used: &PerId<ChannelId, bool>, observer: O) -> Core<O> {
        let device = plan.device();
        let mut chips = ChipId::first(device.chips()).filter(|&chip| used[plan.channel_of(chip)]);
        let first = chips.next().unwrap_or(ChipId(0));
        let last = chips.next_back().unwrap_or(first);
        Core {
            lengths: Lengths::new(plan, options),
            ends: Earliest::new(last.index() - first.index() + 1),
            first_chip: first.index(),
            channels: Channels::new(used, options),
            observer: Sequencer::new(observer),
            chips_per_channel: device.chips_per_channel(),
            duration: options.duration,
        }
    }

    #[inline]
    pub(crate) fn channel_of(&self, chip: ChipId) -> ChannelId {
        ChannelId(chip.0 / self.chips_per_channel)
    }

    #[inline(always)]
    pub(crate) fn ends(&mut self, chip: ChipId, end: Option<Instant>) {
        self.ends.set(chip.index() - self.first_chip, end);
    }

    /// The chip whose end is first, if that is now: the lowest among equals.
    #[inline(always)]
    fn first_at(&self, now: Instant) -> Option<ChipId> {
        self.ends.first_at(now).map(|number| ChipId::from_index(self.first_chip + number))
    }

    /// A step begins. For an operation that asks for a bus, the place of its record.
    #[inline(always)]
    pub(crate) fn begin(&mut self, operation: &Operation, step: ChipStep) -> Option<Ticket> {
        let Operation { start, end, cluster, chip, job, .. } = *operation;
        assert!(start <= end, "an operation ends after it begins");
        match step {
            ChipStep::Ask { since, lane } => {
                let ticket = self.observer.open(operation);
                self.channels.request(BusRequest { since, channel: self.channel_of(chip), chip, lane });
                return Some(ticket);
            }
            ChipStep::Inside => self.observer.push(Record::Operation(*operation)),
            ChipStep::Padding(step) => {
                self.observer.push(Record::Padding(Padding { start, end, job, cluster, chip, step }));
            }
        }
        self.ends(chip, Some(end));
        None
    }

    /// The page of an operation that asked for it has the bus of this channel from now on. Says
    /// when the operation ends, which is known from now on.
    #[inline(always)]
    pub(crate) fn moves(
        &mut self,
        operation: &mut Operation,
        ticket: Ticket,
        channel: ChannelId,
        now: Instant,
    ) -> Instant {
        let transfer = self.lengths.moves(operation, channel, now);
        self.channels.hold(channel, transfer.end);
        self.observer.close(ticket, operation.end);
        self.observer.push(Record::Transfer(transfer));
        operation.end
    }

    /// Since when an operation that begins over the bus wants it, where there are no commands.
    #[inline(always)]
    pub(crate) fn wanted(&self, operation: &Operation) -> Instant {
        let Operation { start, chip, action, job, .. } = *operation;
        match action {
            Action::Read => start.saturating_add(self.lengths.sensing(job, chip, start)),
            _ => start,
        }
    }

    pub(crate) fn complete(&mut self, job: JobId, now: Instant) {
        self.observer.observer().over(job);
        if now <= self.duration {
            self.observer.push(Record::Complete(Complete { at: now, job }));
        }
    }

    fn next_end(&self) -> Option<Instant> {
        Instant::from_ns(self.ends.first_ns().min(self.channels.least_ns()))
    }
}

/// A policy: it says what is released, and which chips do what.
pub(crate) trait ChipPolicy: Resume {
    type Notified: Observer;

    fn core(&mut self) -> &mut Core<Self::Notified>;

    fn as_core(&self) -> &Core<Self::Notified>;

    fn into_core(self: Box<Self>) -> Core<Self::Notified>;

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

    fn next_release(&self) -> Option<Instant>;

    fn release_no_more(&mut self);

    fn releases(&mut self, now: Instant);

    /// Pages are trimmed now, behind all that ends at this instant.
    fn trims(&mut self, now: Instant) {
        let _ = now;
    }

    /// The event that a chip waited for has come about.
    fn end(&mut self, chip: ChipId, now: Instant);

    fn dispatch(&mut self, now: Instant);

    fn granted(&mut self, request: BusRequest, now: Instant);

    /// How much may be pending, if more is.
    fn overload(&self) -> Option<usize>;

    #[inline(always)]
    fn ends(&mut self, now: Instant) {
        while let Some(chip) = self.core().first_at(now) {
            self.core().ends(chip, None);
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

    #[inline]
    fn next_instant(&self) -> Option<Instant> {
        earlier(self.as_core().next_end(), self.next_release())
    }

    /// Runs everything before `limit`, which is at most the run's duration. Fails if too many jobs
    /// or pages are pending.
    fn run_until(&mut self, limit: Instant) -> Result<(), RunError> {
        loop {
            let release = self.next_release();
            let next = earlier(self.as_core().next_end(), release);
            let Some(now) = next.filter(|&now| now < limit) else { break };
            debug_assert!(limit <= self.as_core().duration, "nothing begins once the run has ended");
            self.core().observer.passes(now);
            let releases = release == Some(now);
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
        Ok(())
    }

    /// The work that ends now ends, if a host hands over the requests.
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

    /// The run ends here, before its duration: all before `now` has been run.
    fn stop(&mut self, now: Instant) {
        self.core().duration = now;
    }

    /// Every record of what starts before this instant has been passed on.
    fn settled(&mut self, limit: Instant) -> Instant {
        self.core().observer.notify_before(limit)
    }

    fn observer(&mut self) -> &mut Self::Notified {
        self.core().observer.observer()
    }

    /// Ends the run at its duration: what is under way is followed to its end.
    fn finish(mut self: Box<Self>) -> Self::Notified {
        self.release_no_more();
        while let Some(now) = self.next_instant() {
            self.ends(now);
            self.grants(now);
        }
        self.into_core().observer.finish()
    }
}
