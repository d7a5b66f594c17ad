//! Windows of time in which nothing but what goes ahead is done.

use std::cell::Cell;

use rtflash_model::{Span, capped};

use crate::run::StallWindow;

/// Why a window has no end that could be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoWindow {
    /// The work ahead, in thousandths of what the device does in the same time, rounded down. It is
    /// all of that or more, or so nearly all that no time is long enough.
    Overload(u64),
    /// Requests of the job of this position may be merged with others.
    Merged(usize),
    /// The device does not say how long a command takes.
    Unlimited,
    /// The host hands over up to this many commands (`None`: any number), and the device states
    /// times for fewer.
    Beyond(Option<u32>, u32),
    /// Too many steps.
    Work,
}

impl NoWindow {
    /// The failure of a load in parts of [`SCALE`].
    fn overload(load: u128) -> NoWindow {
        NoWindow::Overload(capped(load.saturating_mul(1_000) / SCALE))
    }
}

/// The commands that a more urgent job sends ahead.
#[derive(Debug, Clone, Copy)]
pub(super) struct UrgentQueue {
    /// The cost of each I/O, or of each chain, which counts as one.
    pub(super) cost: u128,
    /// Its commands.
    pub(super) commands: u128,
    /// The most of these that are outstanding at a time.
    pub(super) at_once: u128,
    /// Whether its I/Os are chains: one can be pending though none of its commands is outstanding.
    pub(super) is_chain: bool,
    /// The least time from an I/O to the next one in its place.
    pub(super) apart: u128,
    /// The least time from the begin of a window to the next I/O in the place of one that is
    /// pending then and takes part in the window.
    pub(super) pause: u128,
    /// The longest that an I/O is pending, where that is known.
    pub(super) response: Option<u128>,
    /// I/Os at a time.
    pub(super) places: u128,
    /// I/Os in all.
    pub(super) count: u128,
    /// The age from which an I/O goes ahead; 0 where each does.
    pub(super) from: u128,
    /// Whether an I/O is released only after the one before in its place has ended.
    pub(super) is_closed: bool,
    /// Whether another command is handed over between the end of an I/O and the next one: it is one
    /// I/O at a time, and thinks for longer than the turnaround.
    pub(super) yields: bool,
}

impl UrgentQueue {
    /// I/Os of a place that are pending as the window begins, or are released in it, both ends
    /// included.
    fn carried(&self, total: u128) -> u128 {
        // An I/O that goes ahead in the window and is as old was released by then.
        let Some(total) = total.checked_sub(self.from) else { return 1 };
        let apart = self.apart.max(1);
        let later = (total + apart.saturating_sub(self.pause)) / apart + 1;
        // A pending I/O was released less than a response ago.
        let known = self.response.map_or(later, |response| (total + response).div_ceil(apart));
        later.min(known)
    }

    /// I/Os of a place that are released in the window, both ends included.
    fn fresh(&self, total: u128, window: &Window) -> u128 {
        if self.is_chain {
            return self.carried(total + window.earlier);
        }
        // The first I/O of a closed job ends after what is inside as it is released, so its next
        // ones come later by that.
        let time = total + if self.is_closed { window.gaps } else { window.earlier };
        time / self.apart.max(1) + 1
    }

    /// I/Os of all places, if each has `each`.
    fn of_places(&self, each: u128) -> u128 {
        each.saturating_mul(self.places).min(self.count)
    }

    /// Commands that it has outstanding at most.
    pub(super) fn outstanding(&self) -> u128 {
        self.places.min(self.count).saturating_mul(self.at_once)
    }

    /// I/Os that it releases in the long run in each nanosecond, times [`SCALE`], rounded up.
    fn rate(&self) -> u128 {
        if self.count < u128::from(u64::MAX) {
            0
        } else {
            self.places.saturating_mul(SCALE).div_ceil(self.apart.max(1))
        }
    }
}

/// I/Os that higher jobs send ahead within a window, if each place releases as many as `arrived`.
/// `between`: commands of the queue below, which go between those of a job that yields.
fn sent(
    higher: &[UrgentQueue],
    between: u128,
    arrived: impl Fn(&UrgentQueue) -> u128,
) -> impl Iterator<Item = (&UrgentQueue, u128)> {
    let commands = |queue: &UrgentQueue, each: u128| queue.of_places(each).saturating_mul(queue.commands);
    let all = higher.iter().map(|queue| commands(queue, arrived(queue))).fold(between, u128::saturating_add);
    higher.iter().map(move |queue| {
        let each = arrived(queue);
        let others = all - commands(queue, each);
        (queue, queue.of_places(if queue.yields { each.min(others.saturating_add(1)) } else { each }))
    })
}

/// Parts of a nanosecond in which rates are counted.
const SCALE: u128 = 1 << 64;

/// Work that higher jobs send in the long run, by their rates of I/Os, times [`SCALE`].
/// As rates are rounded up, no search begins that comes to an end after all time alone.
fn in_the_long_run(higher: &[UrgentQueue], of: impl Fn(&UrgentQueue, u128) -> u128) -> u128 {
    let commands = |queue: &UrgentQueue| queue.rate().saturating_mul(queue.commands);
    let all = higher.iter().map(commands).fold(0, u128::saturating_add);
    let rate = |queue: &UrgentQueue| {
        if queue.yields { queue.rate().min(all - commands(queue)) } else { queue.rate() }
    };
    higher.iter().map(|queue| of(queue, rate(queue))).fold(0, u128::saturating_add)
}

/// Time that passes from the release of an I/O until its last command is handed over, in
/// nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    /// The commands inside as it begins.
    pub(super) inside: u128,
    /// The commands that go ahead whenever that is; with those of the more urgent jobs, once they
    /// are known.
    pub(super) fixed: u128,
    /// The work done in it before the I/O is released.
    pub(super) earlier: u128,
    /// The turnarounds in that work.
    pub(super) gaps: u128,
    /// Commands ahead of the last one in its queue.
    pub(super) between: u128,
}

/// Rounds of time, in each of which a command is handed over into each place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rounds {
    /// The length of a round.
    pub(super) length: u128,
    /// Places, above zero.
    pub(super) places: u128,
    /// Commands up to the last one of the I/O in its queue, which counts.
    pub(super) commands: u128,
    /// Places that these have as the I/O is released.
    pub(super) free: u128,
}

impl Rounds {
    /// In how many rounds the last one of the commands is handed over.
    pub(super) fn number(&self, higher: &[UrgentQueue], work: &ResponseWork) -> Result<u128, NoWindow> {
        let load = in_the_long_run(higher, |queue, rate| {
            let arriving = queue.commands.saturating_mul(rate).saturating_mul(self.length);
            arriving.min(queue.outstanding().saturating_mul(SCALE))
        });
        let load = load.div_ceil(self.places);
        let overload = NoWindow::overload(load);
        if load >= SCALE {
            return Err(overload);
        }
        let mut rounds: u128 = 0;
        loop {
            work.charge(2 * higher.len() + 1)?;
            let total = self.length.saturating_mul(rounds);
            if total >= END {
                return Err(overload);
            }
            let sent = sent(higher, self.commands - 1, |queue| queue.carried(total));
            let ahead = sent
                .map(|(queue, ios)| ios.saturating_mul(queue.commands).min(queue.outstanding().saturating_mul(rounds)));
            let wanted = ahead.fold(self.commands, u128::saturating_add).saturating_sub(self.free);
            let next = wanted.div_ceil(self.places);
            if next <= rounds {
                return Ok(rounds);
            }
            rounds = next;
        }
    }
}

const LIMITS: &str = "a curve of stalls has a limit (invariant)";

/// The time of commands beyond the usual, if the device limits how often they take longer.
#[derive(Debug, Clone)]
pub(super) struct StallCurve {
    /// At least one.
    limits: Vec<StallWindow>,
    /// The most that one command takes beyond the usual, in nanoseconds.
    beyond: u128,
}

impl StallCurve {
    pub(super) fn new(limits: &[StallWindow], beyond: Span) -> StallCurve {
        StallCurve { limits: limits.to_vec(), beyond: u128::from(beyond.as_ns()) }
    }

    /// The most that stalls add to a window of this length: all that begin in it, and one that
    /// began before.
    fn within(&self, total: u128) -> u128 {
        let number = |limit: &StallWindow| {
            u128::from(limit.most) * total.div_ceil(u128::from(limit.within.as_ns().max(1))).max(1)
        };
        let most = self.limits.iter().map(number).min().expect(LIMITS);
        most.saturating_add(1).saturating_mul(self.beyond)
    }

    /// The most that stalls add in the long run in each nanosecond, times [`SCALE`], rounded up.
    fn rate(&self) -> u128 {
        let rate = |limit: &StallWindow| {
            let added = u128::from(limit.most).saturating_mul(self.beyond).saturating_mul(SCALE);
            added.div_ceil(u128::from(limit.within.as_ns().max(1)))
        };
        self.limits.iter().map(rate).min().expect(LIMITS)
    }
}

/// Steps that a search can take: sums over queues and commands, all jobs together. The stalls of
/// the device that it counts are here, too.
#[derive(Debug)]
pub(super) struct ResponseWork {
    left: Cell<u64>,
    stalls: Option<StallCurve>,
}

impl ResponseWork {
    /// The limit keeps the search within a few seconds.
    pub(super) const MOST: u64 = 1 << 30;

    pub(super) fn new(stalls: Option<StallCurve>) -> ResponseWork {
        ResponseWork { left: Cell::new(Self::MOST), stalls }
    }

    /// Subtracts `steps` steps from what is left.
    pub(super) fn charge(&self, steps: usize) -> Result<(), NoWindow> {
        let left = self.left.get().checked_sub(steps as u64).ok_or(NoWindow::Work)?;
        self.left.set(left);
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
        self.least_fixed_point(higher, work, |queue, total, _| queue.carried(total))
    }

    /// With what is released in it.
    pub(super) fn fresh(self, higher: &[UrgentQueue], work: &ResponseWork) -> Result<Window, NoWindow> {
        self.least_fixed_point(higher, work, UrgentQueue::fresh)
    }

    /// The least window that holds all that arrives in it.
    fn least_fixed_point(
        self,
        higher: &[UrgentQueue],
        work: &ResponseWork,
        arrived: fn(&UrgentQueue, u128, &Window) -> u128,
    ) -> Result<Window, NoWindow> {
        let stall_rate = work.stalls.as_ref().map_or(0, StallCurve::rate);
        let load = |higher: &[UrgentQueue]| {
            let sent = in_the_long_run(higher, |queue, rate| queue.cost.saturating_mul(rate));
            stall_rate.saturating_add(sent)
        };
        // Queues that go ahead once they are old send only their pending I/Os in a shorter window.
        let later = higher.iter().map(|queue| queue.from).fold(0, u128::max);
        let at_once: Vec<UrgentQueue> = higher.iter().filter(|queue| queue.from == 0).copied().collect();
        let (early, load) = (load(&at_once), load(higher));
        let overload = NoWindow::overload(load.max(early));
        let stalled = |total: u128| work.stalls.as_ref().map_or(0, |of| of.within(total + self.earlier));
        let mut total = self.total();
        loop {
            work.charge(2 * higher.len() + 1)?;
            let sent = sent(higher, self.between, |queue| arrived(queue, total, &self));
            let next = sent.map(|(queue, ios)| ios.saturating_mul(queue.cost)).fold(self.total(), u128::saturating_add);
            let next = next.saturating_add(stalled(total));
            if next >= END || early >= SCALE || (load >= SCALE && next >= later) {
                return Err(overload);
            }
            if next == total {
                return Ok(Window { fixed: total - self.inside, ..self });
            }
            total = next;
        }
    }
}
