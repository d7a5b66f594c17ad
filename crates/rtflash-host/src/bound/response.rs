//! Windows of time in which nothing but what goes ahead is done.

use std::cell::Cell;

/// Why a window has no end that could be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoWindow {
    /// What goes ahead is as much as time passes, or more.
    Overload,
    /// Others may be merged into what goes ahead.
    Merged,
    /// The device does not say how long a command takes.
    Unlimited,
    /// So many commands may be handed over (`None`: any number), and the device speaks of fewer.
    Beyond(Option<u32>, u32),
    /// Too many steps.
    Work,
}

/// What a more urgent job sends ahead.
#[derive(Debug, Clone, Copy)]
pub(super) struct UrgentQueue {
    /// Of each I/O.
    pub(super) cost: u128,
    /// Its commands.
    pub(super) commands: u128,
    /// The least time from an I/O to the next one in its place.
    pub(super) apart: u128,
    /// The longest that an I/O is pending, where that is known.
    pub(super) response: Option<u128>,
    /// I/Os at a time.
    pub(super) places: u128,
    /// I/Os in all.
    pub(super) count: u128,
    /// Whether an I/O is released only after the one before in its place has ended.
    pub(super) is_closed: bool,
}

impl UrgentQueue {
    /// I/Os that are pending as the window begins, or are released in it, both ends included.
    fn carried(&self, total: u128, _: &Window) -> u128 {
        let apart = self.apart.max(1);
        let later = total / apart + 2;
        // What is pending was released less than a response ago.
        let known = self.response.map_or(later, |response| (total + response).div_ceil(apart));
        (later.min(known) * self.places).min(self.count)
    }

    /// I/Os that are released in the window, both ends included.
    fn fresh(&self, total: u128, window: &Window) -> u128 {
        // The first I/O of a closed job ends after what is inside as it is released, so its next
        // ones come later by that.
        let time = total + if self.is_closed { window.gaps } else { window.earlier };
        ((time / self.apart.max(1) + 1) * self.places).min(self.count)
    }
}

/// Time that passes from the release of an I/O until its last command is handed over, in
/// nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    /// What is inside as it begins.
    pub(super) inside: u128,
    /// What goes ahead whenever that is; with what the more urgent ones send, once that is known.
    pub(super) fixed: u128,
    /// What is done in it before the I/O is released.
    pub(super) earlier: u128,
    /// Of that, turnarounds.
    pub(super) gaps: u128,
}

/// Steps that a search may take: sums over queues and commands, all jobs together.
#[derive(Debug)]
pub(super) struct ResponseWork(Cell<u64>);

impl ResponseWork {
    /// What a few seconds are enough for.
    pub(super) fn new() -> ResponseWork {
        ResponseWork(Cell::new(1 << 30))
    }

    /// Charges so many.
    pub(super) fn charge(&self, steps: usize) -> Result<(), NoWindow> {
        let left = self.0.get().checked_sub(steps as u64).ok_or(NoWindow::Work)?;
        self.0.set(left);
        Ok(())
    }
}

/// Nothing is as long as this: 2^63 nanoseconds.
const END: u128 = 1 << 63;

impl Window {
    /// Its length, without what is done earlier.
    pub(super) fn total(&self) -> u128 {
        self.inside + self.fixed
    }

    /// With what is pending as it begins, and what is released in it.
    pub(super) fn with_carried(self, higher: &[UrgentQueue], work: &ResponseWork) -> Result<Window, NoWindow> {
        self.least_fixed_point(higher, work, UrgentQueue::carried)
    }

    /// With what is released in it.
    pub(super) fn fresh(self, higher: &[UrgentQueue], work: &ResponseWork) -> Result<Window, NoWindow> {
        self.least_fixed_point(higher, work, UrgentQueue::fresh)
    }

    /// With what is pending as it begins, and what is released in it, counted in rounds of its
    /// length: in each, so many commands are handed over.
    pub(super) fn in_rounds(
        self,
        commands: u128,
        max: u128,
        higher: &[UrgentQueue],
        work: &ResponseWork,
    ) -> Result<Window, NoWindow> {
        let mut rounds = commands.div_ceil(max.max(1)).max(1);
        loop {
            work.charge(higher.len() + 1)?;
            let total = self.inside.checked_mul(rounds).filter(|&total| total < END).ok_or(NoWindow::Overload)?;
            let ahead = higher.iter().try_fold(commands, |sum, queue| {
                sum.checked_add(queue.carried(total, &self).checked_mul(queue.commands)?)
            });
            let next = ahead.ok_or(NoWindow::Overload)?.div_ceil(max.max(1)).max(1);
            if next <= rounds {
                return Ok(Window { fixed: total - self.inside, ..self });
            }
            rounds = next;
        }
    }

    /// The least window that holds all that arrives in it.
    fn least_fixed_point(
        self,
        higher: &[UrgentQueue],
        work: &ResponseWork,
        arrived: fn(&UrgentQueue, u128, &Window) -> u128,
    ) -> Result<Window, NoWindow> {
        if is_overloaded(higher) {
            return Err(NoWindow::Overload);
        }
        let mut total = self.total();
        loop {
            work.charge(higher.len() + 1)?;
            let ahead = higher
                .iter()
                .try_fold(0_u128, |sum, queue| sum.checked_add(arrived(queue, total, &self).checked_mul(queue.cost)?));
            let next = ahead.and_then(|ahead| self.total().checked_add(ahead));
            let Some(next) = next.filter(|&next| next < END) else { return Err(NoWindow::Overload) };
            if next == total {
                return Ok(Window { fixed: total - self.inside, ..self });
            }
            total = next;
        }
    }
}

/// Whether the queues without an end send as much as time passes, or more.
fn is_overloaded(queues: &[UrgentQueue]) -> bool {
    let endless = queues.iter().filter(|queue| queue.count == u128::from(u64::MAX));
    // In parts of 2^-40, rounded down: what is just below one may be left to the search.
    let share = |queue: &UrgentQueue| queue.cost.saturating_mul(queue.places << 40) / queue.apart.max(1);
    endless.map(share).fold(0, u128::saturating_add) >= 1 << 40
}
