//! Drawing one task set.

use std::fmt;

use super::doubles::{float, whole};
use super::generator::Generator;
use super::options::{MAX_TASKS, SetOptions, SetSpec};
use super::pages::PageRange;
use super::shares::ShareProposal;
use super::utilization::Utilization;
use super::writes::Writes;
use crate::device::Device;
use crate::random::Stream;
use crate::task::{Request, Task};
use crate::task_set::TaskSet;
use crate::time::{Span, TIME_LIMIT_NS};

/// Draws of one set, after which it is given up.
pub const MAX_DRAWS: u32 = 1_000_000;

/// Tasks of all draws of one set, after which it is given up: about a second.
const MAX_DRAWN_TASKS: u64 = 10_000_000;

/// Tasks of a set up to which a refused one refuses the whole set.
const FEW_TASKS: u32 = 100;

/// Draws of one task of a larger set, after which the set is refused.
const MAX_DRAWS_OF_A_TASK: u32 = 10_000;

/// The longest T of a set: 1000 s, in nanoseconds.
const LONGEST_PERIOD: f64 = 1e12;

/// Why a draw was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A task has a utilization above 1 (for integer shares: 1 or more).
    #[error("a task had a utilization above 1")]
    Share,
    /// A period is longer than 1000 s: the task's read or write utilization is tiny.
    #[error("a period was longer than 1000 s")]
    Period,
    /// The pages of a request may take 2⁶³ ns or more.
    #[error("the pages of a request took 2^63 ns or more")]
    Pages,
    /// A task does not even fit on the whole device alone.
    #[error("a task did not fit on the whole device alone")]
    Alone,
}

impl Refusal {
    const ALL: [Refusal; 4] = [Refusal::Share, Refusal::Period, Refusal::Pages, Refusal::Alone];

    /// A change that makes it rarer.
    fn advice(self) -> &'static str {
        match self {
            Refusal::Share => "ask for less utilization or more tasks",
            Refusal::Period => "ask for more utilization or fewer tasks",
            Refusal::Pages => "ask for shorter periods or fewer pages",
            Refusal::Alone => "ask for less utilization, more tasks or a device with more chips",
        }
    }
}

/// No set exists, or none was found in [`MAX_DRAWS`] draws, or fewer of many tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exhausted {
    /// The total utilization asked for.
    pub utilization: Utilization,
    /// The position among the sets of this utilization.
    pub index: u64,
    /// The seed of the whole run.
    pub seed: u64,
    /// How the utilization was divided.
    pub generator: Generator,
    /// n.
    pub tasks: u32,
    /// How often the set was drawn; 0 if it was clear at once that there is none.
    pub draws: u32,
    /// Why most draws were refused.
    pub mostly: Refusal,
    /// Whether [`Generator::RandFixedSum`] draws the set soon, asked for by the other generator.
    pub by_fixed_sum: bool,
}

impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Exhausted { utilization, index, seed, generator, tasks: number, draws, mostly, by_fixed_sum } = self;
        let tasks = if *number == 1 { "1 task".to_owned() } else { format!("{number} tasks") };
        if *draws == 0 {
            let limit = match generator {
                Generator::IntegerShares => "less than",
                Generator::UUniFast
                | Generator::UUniFastDiscard
                | Generator::RandFixedSum
                | Generator::HeavyWriters => "at most",
            };
            return write!(
                f,
                "no set of {tasks} has utilization {utilization}: with {generator}, each task has {limit} 1"
            );
        }
        write!(
            f,
            "no set found: {draws} draws of {tasks} with utilization {utilization} (generator {generator}, \
             index {index}, seed {seed}) were refused, mostly because {mostly}; "
        )?;
        f.write_str(if *by_fixed_sum { "the generator randfixedsum draws such sets" } else { mostly.advice() })
    }
}

impl std::error::Error for Exhausted {}

impl SetOptions {
    /// The set `index` at this total utilization, with tasks `t1` … `tn` and no jobs. `fits_alone`
    /// says whether U_i(m) ≤ 1, as a function of the task; all requests shown are random, with
    /// implicit deadlines.
    ///
    /// # Errors
    /// [`Exhausted`] if there is no such set, or none was found in [`MAX_DRAWS`] draws, or fewer of
    /// many tasks.
    pub fn draw(
        &self,
        utilization: Utilization,
        index: u64,
        fits_alone: impl Fn(&Device, &Task) -> bool,
    ) -> Result<TaskSet, Exhausted> {
        /// Draws of the other generator.
        const SOON: u32 = 1_000;
        self.draw_at_most(MAX_DRAWS, utilization, index, &fits_alone).map_err(|exhausted| {
            let spec = SetSpec { generator: Generator::RandFixedSum, ..*self.spec() };
            let other = SetOptions::new(spec).ok().filter(|_| self.spec().generator == Generator::UUniFastDiscard);
            let by_fixed_sum =
                other.is_some_and(|other| other.draw_at_most(SOON, utilization, index, &fits_alone).is_ok());
            Exhausted { by_fixed_sum, ..exhausted }
        })
    }

    /// Draws with another limit.
    ///
    /// # Errors
    /// As [`SetOptions::draw`], but without trying another generator.
    pub fn draw_at_most(
        &self,
        limit: u32,
        utilization: Utilization,
        index: u64,
        fits_alone: impl Fn(&Device, &Task) -> bool,
    ) -> Result<TaskSet, Exhausted> {
        let &SetSpec { device, tasks: n, generator, accesses, deadlines, seed, .. } = self.spec();
        let exhausted = |draws, mostly| Exhausted {
            utilization,
            index,
            seed,
            generator,
            tasks: n,
            draws,
            mostly,
            by_fixed_sum: false,
        };
        let Some(mut shares) = ShareProposal::new(generator, n, utilization) else {
            return Err(exhausted(0, Refusal::Share));
        };
        let mut stream = Stream::new(self.key(utilization, index, b"gen"));
        let mut utilizations = vec![0.0; n as usize];
        let mut tasks = Vec::new();
        let mut refused = [0u32; Refusal::ALL.len()];
        let (mut draws, mut left) = (0, MAX_DRAWN_TASKS);
        while draws < limit && left > 0 {
            (draws, left) = (draws + 1, left.saturating_sub(n.into()));
            let refusal = if shares.propose(&mut stream, &mut utilizations) {
                // Named only now: the shares are what is refused most.
                if tasks.is_empty() {
                    tasks = unfinished_tasks(n);
                }
                match self.fill(&mut stream, &utilizations, &mut tasks, &mut left, &fits_alone) {
                    Ok(()) => {
                        accesses.give(&mut tasks, || self.key(utilization, index, b"acc"));
                        if let Some(deadlines) = deadlines {
                            deadlines.give(&mut tasks, self.key(utilization, index, b"due"));
                        }
                        // Names differ and costs are bounded, so the set is valid.
                        return Ok(TaskSet::of_known_tasks(device, tasks));
                    }
                    Err(refusal) => {
                        if n > FEW_TASKS {
                            shares = shares.of_at_least(self.least_utilization(), n);
                        }
                        refusal
                    }
                }
            } else {
                Refusal::Share
            };
            refused[refusal as usize] += 1;
        }
        let commonest = Refusal::ALL.into_iter().max_by_key(|&refusal| refused[refusal as usize]);
        Err(exhausted(draws, commonest.unwrap_or(Refusal::Share)))
    }

    /// Up to the first that is refused. Among many tasks one that is refused is drawn again alone.
    fn fill(
        &self,
        stream: &mut Stream,
        utilizations: &[f64],
        tasks: &mut [Task],
        left: &mut u64,
        fits_alone: impl Fn(&Device, &Task) -> bool,
    ) -> Result<(), Refusal> {
        let most = if self.spec().tasks > FEW_TASKS { MAX_DRAWS_OF_A_TASK } else { 1 };
        for ((position, &utilization), task) in (0..).zip(utilizations).zip(tasks) {
            let mut draw = || {
                *left = left.saturating_sub(1);
                self.fill_task(stream, (position, utilization), task, &fits_alone)
            };
            let mut drawn = draw();
            for _ in 1..most {
                drawn = drawn.or_else(|_| draw());
            }
            drawn?;
        }
        Ok(())
    }

    fn fill_task(
        &self,
        stream: &mut Stream,
        (position, utilization): (u32, f64),
        task: &mut Task,
        fits_alone: impl Fn(&Device, &Task) -> bool,
    ) -> Result<(), Refusal> {
        let &SetSpec { ref device, generator, page_costs, periods, pages, .. } = self.spec();
        let (read_bound, write_bound) = device.page_cost_bound();
        let OfRequests { read, write } = self.parts(stream, position, utilization);
        let read_period = |period: u64| match generator {
            // As many pages as a write of this utilization has.
            Generator::HeavyWriters => {
                whole(float(period) * float(page_costs.read.as_ns()) / float(page_costs.write.as_ns()))
            }
            Generator::UUniFast | Generator::UUniFastDiscard | Generator::RandFixedSum | Generator::IntegerShares => {
                period
            }
        };
        let read =
            read.map(|part| request(read_period(periods.draw(stream)), pages, part, page_costs.read, read_bound));
        task.read = read.transpose()?;
        let write = write.map(|part| request(periods.draw(stream), pages, part, page_costs.write, write_bound));
        task.write = write.transpose()?;
        if fits_alone(device, task) { Ok(()) } else { Err(Refusal::Alone) }
    }

    /// U_i from which on no request of a task need have too long a period.
    fn least_utilization(&self) -> f64 {
        let &SetSpec { page_costs, pages, writes, .. } = self.spec();
        let fewest = float(pages.map_or(1, |range| range.nearest(1)));
        let [read, write] =
            [page_costs.read, page_costs.write].map(|cost| fewest * float(cost.as_ns()) / LONGEST_PERIOD);
        let of = |request: f64, part: f64| if part > 0.0 { request / part } else { 0.0 };
        match writes {
            Writes::Drawn => read + write,
            Writes::Heavy(_) => 2.0 * read.max(write),
            Writes::Share(share) => of(read, 1.0 - share.to_f64()).max(of(write, share.to_f64())),
        }
    }

    /// Or the requests' own utilizations, if no total is divided.
    fn parts(&self, stream: &mut Stream, position: u32, utilization: f64) -> OfRequests {
        let &SetSpec { generator, writes, .. } = self.spec();
        let is_heavy = writes.heavy().is_some_and(|tasks| position < tasks);
        let mut weight = || match generator {
            Generator::HeavyWriters => stream.unit() / 4.0,
            // In (0, 1]: two zeros would have no ratio.
            Generator::UUniFast | Generator::UUniFastDiscard | Generator::RandFixedSum => 1.0 - stream.unit(),
            Generator::IntegerShares => float(1 + stream.below(10)),
        };
        let part = match (generator, writes) {
            (Generator::HeavyWriters, _) if is_heavy => {
                return OfRequests { read: None, write: Some(0.5 + stream.unit() / 5.0) };
            }
            (Generator::HeavyWriters, _) => return OfRequests { read: Some(weight()), write: Some(weight()) },
            (_, Writes::Drawn) => {
                let (read, write) = (weight(), weight());
                write / (read + write)
            }
            (_, Writes::Heavy(_)) => stream.unit() / 2.0 + if is_heavy { 0.5 } else { 0.0 },
            (_, Writes::Share(share)) => share.to_f64(),
        };
        let write = utilization * part;
        // A fixed part may leave nothing of one of them.
        let is_drawn = writes.share().is_none();
        OfRequests {
            read: (is_drawn || part < 1.0).then_some(utilization - write),
            write: (is_drawn || part > 0.0).then_some(write),
        }
    }
}

/// Utilizations of a task's requests; `None` for a request that is not there.
struct OfRequests {
    read: Option<f64>,
    write: Option<f64>,
}

/// The period is adapted to whole pages, in their range, from one in nanoseconds.
/// `page_cost_bound`: nanoseconds a page, at most, under any analysis.
fn request(
    period: u64,
    range: Option<PageRange>,
    utilization: f64,
    page_cost: Span,
    page_cost_bound: u128,
) -> Result<Request, Refusal> {
    let page_cost = float(page_cost.as_ns());
    let pages = whole(utilization * float(period) / page_cost).max(1);
    let pages = range.map_or(pages, |range| range.nearest(pages));
    if u128::from(pages).checked_mul(page_cost_bound).is_none_or(|cost| cost >= u128::from(TIME_LIMIT_NS)) {
        return Err(Refusal::Pages);
    }
    let period = (float(pages) * page_cost / utilization).round();
    // Infinite for a utilization of zero.
    if period > LONGEST_PERIOD {
        return Err(Refusal::Period);
    }
    let period = Span::from_ns(whole(period)).ok_or(Refusal::Period)?;
    Request::new(pages, period).ok_or(Refusal::Period)
}

fn unfinished_tasks(n: u32) -> Vec<Task> {
    (1..=n.min(MAX_TASKS))
        .map(|number| Task { name: name(number), read: None, write: None, data_pages: None })
        .collect()
}

/// `t` and the number; written by hand, because formatting would take longer than drawing the task.
fn name(number: u32) -> String {
    let mut name = String::with_capacity(8);
    name.push('t');
    let mut place = 10u32.pow(number.max(1).ilog10());
    while place > 0 {
        name.push(char::from_digit(number / place % 10, 10).unwrap_or('0'));
        place /= 10;
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_t_and_the_number() {
        assert!((0..=MAX_TASKS).all(|number| name(number) == format!("t{number}")));
        assert_eq!(name(u32::MAX), "t4294967295");
    }

    #[test]
    fn utilizations_of_nothing_are_refused() {
        let period = 100_000_000;
        let cost = Span::from_us(50);
        assert_eq!(request(period, None, 0.0, cost, 1), Err(Refusal::Period));
        assert_eq!(request(period, None, 1e-9, cost, 1), Err(Refusal::Period));
        assert_eq!(request(period, None, 1.0, cost, 1 << 60), Err(Refusal::Pages));
        assert_eq!(request(period, None, 1.0, cost, u128::MAX), Err(Refusal::Pages));
    }
}
