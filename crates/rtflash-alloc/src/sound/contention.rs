//! The transfers of the other chips on the same channel, as far as they are known: the device-level test.

use rtflash_model::Device;

use super::unit::{GcTerms, Item, Unit, transfer_rate};
use crate::fraction::Fraction;

/// A chip of another stripe cluster on the channel: it moves no more pages in an interval than its requests have.
#[derive(Debug, Clone)]
struct Neighbour {
    /// Chips like this.
    chips: u64,
    requests: Vec<Item>,
    gc: Option<GcTerms>,
    /// Pages moved in a nanosecond, in the long run.
    rate: f64,
}

/// Waiting for the bus that is counted by intervals, beyond what [`Bus::ways`](super::Bus) charges each page.
#[derive(Debug, Clone, Default)]
pub struct Contention {
    transfer: u64,
    neighbours: Vec<Neighbour>,
    /// Transfers that every page waits for here beside those that it is charged anyway.
    always: u64,
    queue: Option<Queue>,
}

/// A bus that serves first come, first served, all of whose other chips are known.
#[derive(Debug, Clone, Copy)]
struct Queue {
    /// What a read waits less that follows another read, unless too many of the others come fresh: min(t_r, 2 t_d), with one other chip min(t_r, t_d).
    saved: u64,
    /// min(t_r, t_d): what of it is lost only where all others come fresh.
    first: u64,
    /// Whether a chip that has asked for the bus to program cannot ask again before another has read a page: t_w ≥ t_r.
    slow_writes: bool,
    /// Other chips of the same cluster on the channel.
    siblings: u64,
    /// All other chips on the channel.
    others: u64,
}

/// What a unit does within an interval.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Work {
    pub(super) length: u64,
    /// Pages read for users.
    pub(super) reads: u128,
    /// Pages programmed for users.
    pub(super) writes: u128,
    /// Jobs, those of garbage collection included.
    pub(super) jobs: u128,
}

impl Contention {
    /// Nothing beyond what each page is charged.
    pub fn none() -> Contention {
        Contention::default()
    }

    /// Whether it is that of [`Contention::none`], or comes to as much.
    pub fn is_none(&self) -> bool {
        self.neighbours.is_empty() && self.always == 0
    }

    /// Waiting on this device's buses.
    pub fn new(device: &Device) -> Contention {
        Contention { transfer: device.page_transfer().as_ns(), neighbours: Vec::new(), always: 0, queue: None }
    }

    /// Adds that many chips of another stripe cluster, each a unit such as this, with its garbage collection.
    pub fn add(&mut self, unit: &Unit, gc: Option<GcTerms>, chips: u64) {
        let requests = unit.items.clone();
        self.neighbours.push(Neighbour { chips, gc, rate: transfer_rate(&requests), requests });
    }

    /// Charges every page so many transfers more.
    #[must_use]
    pub fn with_more(self, transfers: u64) -> Contention {
        Contention { always: self.always + transfers, ..self }
    }

    /// Says that the chips added and `siblings` more of the unit's own cluster are all that there are on the channel, that none of them serves
    /// other jobs, and that the bus serves first come, first served.
    #[must_use]
    pub fn in_a_queue(self, device: &Device, siblings: u64) -> Contention {
        let (read, transfer) = (device.page_read().as_ns(), device.page_transfer().as_ns());
        let others = siblings + self.neighbours.iter().map(|neighbour| neighbour.chips).sum::<u64>();
        let first = read.min(transfer);
        let saved = if others > 1 { read.min(transfer.saturating_mul(2)) } else { first };
        let slow_writes = device.page_program_min().as_ns() >= read;
        let queue = Queue { saved, first, slow_writes, siblings, others };
        Contention { queue: (others > 0).then_some(queue), ..self }
    }

    /// Requests of the neighbours.
    pub(super) fn requests(&self) -> usize {
        self.neighbours.iter().map(|neighbour| neighbour.requests.len()).sum()
    }

    /// What each read may wait less, at most.
    pub(super) fn saved(&self) -> u64 {
        self.queue.map_or(0, |queue| queue.saved)
    }

    /// Time that a unit waits in an interval beyond what its pages are charged, and time by which that charge is too much; the second is less than the
    /// charge for its reads.
    pub(super) fn waiting(&self, work: Work, unit: &Unit, gc: Option<GcTerms>) -> (u128, u128) {
        let transfers = work.reads.saturating_add(work.writes);
        let waits = self.neighbours.iter().map(|neighbour| {
            let mut most = 0u128;
            for request in &neighbour.requests {
                most = most.saturating_add(request.live(work.length).saturating_mul(request.transfers.into()));
                if most >= transfers {
                    break;
                }
            }
            most.min(transfers).saturating_mul(neighbour.chips.into())
        });
        let always = transfers.saturating_mul(self.always.into());
        let waits = waits.fold(always, u128::saturating_add);
        let waiting = waits.saturating_mul(self.transfer.into());
        let Some(queue) = self.queue.filter(|_| work.reads > 0) else { return (waiting, 0) };
        let siblings = (queue.siblings > 0).then(|| Presence::new(&unit.items, gc, work.length));
        let neighbours =
            self.neighbours.iter().map(|each| (each.chips, Presence::new(&each.requests, each.gc, work.length)));
        let chips = siblings.map(|presence| (queue.siblings, presence)).into_iter().chain(neighbours);
        let (mut least, mut fresh, mut again) = (u128::MAX, 0, 0);
        for (count, presence) in chips {
            least = least.min(presence.fresh);
            fresh = presence.fresh.saturating_mul(count.into()).saturating_add(fresh);
            again = presence.again(queue).saturating_mul(count.into()).saturating_add(again);
        }
        let foreign: u128 = self.neighbours.iter().map(|neighbour| u128::from(neighbour.chips)).sum();
        // Each page waits for every other chip, less what is saved for each read that is not excepted.
        let (saved, first) = (u128::from(queue.saved), u128::from(queue.first));
        let parts = u128::from(queue.others.saturating_sub(1).max(1));
        let excepted = work.jobs.saturating_add(again).saturating_add(1).saturating_mul(saved);
        let excepted = excepted
            .saturating_add(first.saturating_mul(least))
            .saturating_add((saved - first).saturating_mul(fresh.div_ceil(parts)));
        let everyone = foreign + u128::from(self.always);
        let all = everyone.saturating_mul(self.transfer.into()).saturating_mul(transfers).saturating_add(excepted);
        (waiting, waiting.saturating_add(saved.saturating_mul(work.reads)).saturating_sub(all))
    }

    /// The long-run waiting as an upper bound load·L + constant: adds the load, the requests' own time with it, and gives the constant.
    pub(super) fn add_to(&self, load: &mut Vec<Fraction>, unit: &Unit, gc: Option<GcTerms>) -> f64 {
        let (mut plain, mut queued) = (Vec::new(), Vec::new());
        let plain_constant = self.plain(&mut plain, &unit.items);
        let queued_constant = self.queued(&mut queued, unit, gc);
        let sum = |load: &[Fraction]| load.iter().map(|term| term.to_f64()).sum::<f64>();
        match queued_constant.filter(|_| sum(&queued) < sum(&plain)) {
            Some(constant) => {
                load.append(&mut queued);
                constant
            }
            None => {
                load.append(&mut plain);
                plain_constant
            }
        }
    }

    fn plain(&self, load: &mut Vec<Fraction>, items: &[Item]) -> f64 {
        let mut constant = 0.0;
        for item in items {
            let more = u128::from(self.transfer) * u128::from(self.always) * u128::from(item.transfers);
            let time = u128::from(item.cost) + more;
            load.push(Fraction::new(time, item.period.into()));
            constant += time as f64 * item.early();
        }
        let own = transfer_rate(items);
        for neighbour in &self.neighbours {
            let cost = u128::from(self.transfer) * u128::from(neighbour.chips);
            let term = |item: &Item| Fraction::new(cost.saturating_mul(item.transfers.into()), item.period.into());
            if neighbour.rate < own {
                load.extend(neighbour.requests.iter().map(term));
                constant += cost as f64 * neighbour.more();
            } else {
                load.extend(items.iter().map(term));
                let early: f64 = items.iter().map(|item| item.transfers as f64 * item.early()).sum();
                constant += cost as f64 * early;
            }
        }
        constant
    }

    fn queued(&self, load: &mut Vec<Fraction>, unit: &Unit, gc: Option<GcTerms>) -> Option<f64> {
        let queue = self.queue?;
        let (saved, foreign) =
            (u128::from(queue.saved), self.neighbours.iter().map(|each| u128::from(each.chips)).sum::<u128>());
        let mut constant = queue.saved as f64;
        for item in &unit.items {
            let transfers = u128::from(item.transfers);
            let others = foreign + u128::from(self.always);
            let time = u128::from(item.cost) + u128::from(self.transfer) * others * transfers;
            let time = if item.writes { time } else { time.saturating_sub(saved * transfers) };
            load.push(Fraction::new(time + saved, item.period.into()));
            constant += (time + saved) as f64 * item.early();
        }
        for (rate, more) in passes(&unit.items, gc) {
            load.push(Fraction::new(saved.checked_mul(rate.numerator())?, rate.denominator()));
            constant += more * queue.saved as f64;
        }
        let siblings = (queue.siblings > 0).then_some((queue.siblings, &unit.items, gc));
        let chips =
            siblings.into_iter().chain(self.neighbours.iter().map(|each| (each.chips, &each.requests, each.gc)));
        let (first, shared) = (u128::from(queue.first), u128::from(queue.saved - queue.first));
        let each_of = u128::from(queue.others.saturating_sub(1).max(1));
        let mut calmest: Option<(f64, Vec<Fraction>, f64)> = None;
        for (count, requests, gc) in chips {
            let count = u128::from(count);
            // Jobs, and writes, as rates, with what may come on top of them.
            let (mut jobs, mut writes) = ((Vec::new(), 1.0), (Vec::new(), 0.0));
            for item in requests {
                jobs.0.push(Fraction::new(1, item.period.into()));
                jobs.1 += more_live(item);
                if item.writes {
                    writes.0.push(Fraction::new(item.transfers.into(), item.period.into()));
                    writes.1 += more_live(item) * item.transfers as f64;
                }
            }
            for (rate, more) in passes(requests, gc) {
                jobs.0.push(rate);
                jobs.1 += more;
            }
            let mut charge = |(rates, more): &(Vec<Fraction>, f64), time: u128, parts: u128| {
                for rate in rates {
                    load.push(Fraction::new(
                        time.checked_mul(rate.numerator())?,
                        rate.denominator().checked_mul(parts)?,
                    ));
                }
                constant += more * time as f64 / parts as f64;
                Some(())
            };
            let often = |(rates, _): &(Vec<Fraction>, f64)| rates.iter().map(|rate| rate.to_f64()).sum::<f64>();
            // The lesser of the two, as in any interval.
            let again = if queue.slow_writes && often(&jobs) < often(&writes) { &jobs } else { &writes };
            charge(again, u128::from(queue.saved) * count, 1)?;
            charge(&jobs, shared * count, each_of)?;
            charge(&writes, shared * count, each_of)?;
            let fresh =
                jobs.0.iter().chain(&writes.0).map(|rate| Fraction::new(first * rate.numerator(), rate.denominator()));
            let fresh: Vec<Fraction> = fresh.collect();
            let rate = fresh.iter().map(|term| term.to_f64()).sum::<f64>();
            if calmest.as_ref().is_none_or(|calmest| rate < calmest.0) {
                calmest = Some((rate, fresh, (jobs.1 + writes.1) * queue.first as f64));
            }
        }
        let (_, mut fresh, more) = calmest?;
        load.append(&mut fresh);
        // And a round-up.
        Some(constant + more + queue.saved as f64)
    }

    /// The share of intervals of `length` and more that is waiting, at most, for requests that move `rate` pages a nanosecond.
    pub(super) fn share(&self, length: f64, rate: f64) -> f64 {
        let shares = self
            .neighbours
            .iter()
            .map(|neighbour| neighbour.chips as f64 * rate.min(neighbour.rate + neighbour.more() / length));
        self.transfer as f64 * (shares.sum::<f64>() + self.always as f64 * rate)
    }

    /// Lengths up to this one from which on the other chips do no more.
    pub(super) fn steps(&self, length: u64, unit: &Unit, gc: Option<GcTerms>) -> u64 {
        let siblings = self.queue.filter(|queue| queue.siblings > 0).map(|_| (&unit.items, gc));
        let chips = siblings.into_iter().chain(self.neighbours.iter().map(|each| (&each.requests, each.gc)));
        let mut last = 0;
        for (requests, gc) in chips {
            for item in requests {
                // ⌈(L + x)/T⌉ grows just behind each multiple of T less x.
                let behind = |more: u64| {
                    let multiple = (length.saturating_add(more) - 1) / item.period * item.period + 1;
                    multiple.saturating_sub(more).min(length)
                };
                last = last.max(behind(item.deadline));
                if let Some(deadline) = gc.and_then(|gc| gc.deadline).filter(|_| item.writes) {
                    last = last.max(behind(deadline.saturating_add(item.jitter)));
                }
            }
        }
        last
    }
}

impl Neighbour {
    /// Transfers beyond the rate's: ⌈(L + D)/T⌉·n ≤ n·L/T + (1 + D/T)·n, summed.
    fn more(&self) -> f64 {
        self.requests.iter().map(|item| more_live(item) * item.transfers as f64).sum()
    }
}

/// 1 + D/T: what [`Item::live`] is above L/T, at most.
fn more_live(item: &Item) -> f64 {
    1.0 + item.deadline as f64 / item.period as f64
}

/// GC jobs in the long run: jobs a nanosecond, and beyond that at most.
fn passes(requests: &[Item], gc: Option<GcTerms>) -> Vec<(Fraction, f64)> {
    let Some((gc, deadline)) = gc.and_then(|gc| Some((gc, gc.deadline?))) else { return vec![] };
    let writers = requests.iter().filter(|item| item.writes);
    let mut all = vec![(Fraction::new(0, 1), 1.0)];
    all.extend(writers.map(|item| {
        let rate = Fraction::new(item.transfers.into(), u128::from(gc.reclaimed) * u128::from(item.period));
        let more = item.transfers as f64 / gc.reclaimed as f64;
        (rate, more * ((deadline as f64 + item.jitter as f64) / item.period as f64 + 1.0))
    }));
    all
}

/// What another chip may do within an interval.
struct Presence {
    /// Transfers that it may ask for without having just finished another.
    fresh: u128,
    /// Times that it may begin to do something else.
    switches: u128,
    /// Pages programmed for users.
    writes: u128,
}

impl Presence {
    fn new(requests: &[Item], gc: Option<GcTerms>, length: u64) -> Presence {
        let (mut jobs, mut writes, mut arrived) = (0, 0, 0);
        for item in requests {
            let live = item.live(length);
            jobs += live;
            if item.writes {
                writes = live.saturating_mul(item.transfers.into()).saturating_add(writes);
                if let Some(deadline) = gc.and_then(|gc| gc.deadline) {
                    let window = u128::from(length) + u128::from(deadline) + u128::from(item.jitter);
                    let released = window.div_ceil(item.period.into());
                    arrived = released.saturating_mul(item.transfers.into()).saturating_add(arrived);
                }
            }
        }
        let passes = gc.map_or(0, |gc| arrived.div_ceil(gc.reclaimed.into()));
        // Where a job is released, or ends; one more for what was before.
        let switches = jobs + passes + 1;
        Presence { fresh: writes.saturating_add(switches), switches, writes }
    }

    /// Times that it may transfer a page and then ask for the bus again, to program, before another chip has read a page.
    fn again(&self, queue: Queue) -> u128 {
        if queue.slow_writes { self.writes.min(self.switches) } else { self.writes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sound::random_units::Drawn;

    /// What is there long-run is at least what is there in any interval, and is no further above it than what roundings up of each kind of job come to.
    #[test]
    fn passes_stay_below_their_rate() {
        let mut compared = 0;
        for seed in 0..3_000 {
            let Some(Drawn { unit, gc, .. }) = Drawn::new(seed) else { continue };
            let Some(gc) = gc.filter(|gc| gc.deadline.is_some()) else { continue };
            let terms = passes(&unit.items, Some(gc));
            let (rate, more) = terms.iter().fold((0.0, 0.0), |sum, (rate, more)| (sum.0 + rate.to_f64(), sum.1 + more));
            let pages: u64 = unit.writers.iter().map(|writer| writer.pages).sum();
            let mut nearest = f64::INFINITY;
            for length in 1..3_000 {
                let presence = Presence::new(&unit.items, Some(gc), length);
                let live: u128 = unit.items.iter().map(|item| item.live(length)).sum();
                let line = rate * length as f64 + more;
                let above = line - (presence.switches - live - 1) as f64;
                assert!(above > -1e-6, "seed {seed}, {length} ns: {above}");
                nearest = nearest.min(above);
            }
            assert!(nearest <= 1.0 + pages as f64 / gc.reclaimed as f64, "seed {seed}: {nearest}");
            compared += 1;
        }
        assert!(compared > 500, "{compared}");
    }

    #[test]
    fn none_is_nothing_to_wait_for() {
        let drawn = (0..).find_map(Drawn::new).expect("a unit");
        let (unit, gc) = (&drawn.unit, drawn.gc);
        assert!(Contention::none().is_none() && !Contention::none().with_more(1).is_none());
        let mut one = Contention::none();
        one.add(unit, gc, 1);
        assert!(!one.is_none());
    }

    /// With this length on, nothing is added before the next one.
    #[test]
    fn between_steps_waiting_stays() {
        for seed in 0..3_000 {
            let Some(Drawn { unit, contention, gc, mut dice, .. }) = Drawn::new(seed) else { continue };
            let length = dice.within(1, 2_000);
            let step = contention.steps(length, &unit, gc);
            assert!(step <= length);
            let work = |length| Work { length, reads: 1_000, writes: 1_000, jobs: 10 };
            let at = contention.waiting(work(length), &unit, gc);
            for between in step.max(1)..length {
                assert_eq!(contention.waiting(work(between), &unit, gc), at, "seed {seed}: {between} to {length}");
            }
        }
    }
}
