//! What a run wants of a group of clusters, however it is dispatched.

use rtflash_model::Instant;

use super::Arrival;
use super::core::ChipPolicy;
use crate::error::RunError;

/// A group of clusters under some dispatch: lanes that run ahead, or chips that go on one by one.
pub(crate) trait Policy {
    /// Who is notified.
    type Notified;

    /// More arrivals, in order, none before what has been run already.
    fn arrive(&mut self, arrivals: Vec<Arrival>);

    /// Runs everything before `limit`, which is at most the run's duration.
    ///
    /// # Errors
    /// Where too much is pending.
    fn run_until(&mut self, limit: Instant) -> Result<(), RunError>;

    /// Every record of what starts before this instant has been passed on.
    fn settled(&mut self, limit: Instant) -> Instant;

    /// The observer.
    fn observer(&mut self) -> &mut Self::Notified;

    /// The run ends here, before its duration: all before `now` has been run.
    fn stop(&mut self, now: Instant);
}

impl<P: ChipPolicy> Policy for P {
    type Notified = P::Notified;

    fn arrive(&mut self, arrivals: Vec<Arrival>) {
        arrivals.into_iter().for_each(|arrival| self.hand_over(arrival));
    }

    fn run_until(&mut self, limit: Instant) -> Result<(), RunError> {
        ChipPolicy::run_until(self, limit)
    }

    fn settled(&mut self, limit: Instant) -> Instant {
        ChipPolicy::settled(self, limit)
    }

    fn observer(&mut self) -> &mut P::Notified {
        ChipPolicy::observer(self)
    }

    fn stop(&mut self, now: Instant) {
        self.core().duration = now;
    }
}
