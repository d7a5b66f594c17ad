//! The necessary tests of docs/analysis.md, Section 12, once more and plainly: rationals, every set
//! of writers by its level, every deadline up to a length.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::Zero;
use rtflash_model::{Access, Request, Task, TaskSet};

use crate::on_chip;

/// The name of the first necessary test that fails. `transfer_inside`: whether times include a
/// page's transfer if they do not say. `horizon_ns`: how far the demand is tested.
pub fn impossible(set: &TaskSet, transfer_inside: bool, horizon_ns: u64) -> Option<&'static str> {
    let somebody = set.tasks().iter().any(|task| task.data_pages.is_some());
    first_failing(&Tests { set, transfer_inside, keep_one: somebody }, horizon_ns, &["data"])
}

/// [`impossible`] by the tests that hold on devices with zones, too.
pub fn impossible_with_zones(set: &TaskSet, transfer_inside: bool, horizon_ns: u64) -> Option<&'static str> {
    first_failing(&Tests { set, transfer_inside, keep_one: true }, horizon_ns, &[])
}

/// `further`: those that are asked beside the ones that hold everywhere.
fn first_failing(of: &Tests<'_>, horizon_ns: u64, further: &[&str]) -> Option<&'static str> {
    let set = of.set;
    let (m, channels) = (u64::from(set.device().chips()), u64::from(set.device().channels()));
    let names = [
        ("data", further.contains(&"data") && of.data()),
        ("request", of.requests().any(|(task, request, writes)| of.is_too_long(task, &request, writes))),
        ("bus", of.bus_load() > ratio(channels, 1)),
        ("chips", of.chip_load() > ratio(m, 1)),
        ("window", of.is_overfull(horizon_ns)),
    ];
    names.into_iter().find_map(|(name, fails)| fails.then_some(name))
}

struct Tests<'a> {
    set: &'a TaskSet,
    transfer_inside: bool,
    /// Whether a task that declares nothing keeps a page, and not every page of its cluster.
    keep_one: bool,
}

fn ratio(above: impl Into<BigInt>, below: impl Into<BigInt>) -> BigRational {
    BigRational::new(above.into(), below.into())
}

impl Tests<'_> {
    fn requests(&self) -> impl Iterator<Item = (&Task, Request, bool)> {
        self.set.tasks().iter().flat_map(|task| {
            let read = task.read.map(|request| (task, request, false));
            read.into_iter().chain(task.write.map(|request| (task, request, true)))
        })
    }

    /// t_c.
    fn command(&self) -> u64 {
        self.set.device().spec().command.map_or(0, |command| command.as_ns())
    }

    /// t_b = t_c + t_d, and c_r and c_w alone on the bus.
    fn times(&self) -> (u64, [u64; 2]) {
        let device = self.set.device();
        let (stated, transfer, command) = (device.spec(), device.page_transfer().as_ns(), self.command());
        let includes = [stated.page_read_includes_transfer, stated.page_program_includes_transfer];
        let [read, write] = on_chip::longest(device);
        let whole = |time: u64, includes: Option<bool>| {
            let whole = if includes.is_none() && self.transfer_inside { time.max(transfer) } else { time + transfer };
            whole + command
        };
        (transfer + command, [whole(read, includes[0]), whole(write, includes[1])])
    }

    /// Two page registers: no command and no transfer.
    fn chip_times(&self) -> ([u64; 2], u64, u64) {
        let (t_b, pages) = self.times();
        let [t_r, t_w] = pages.map(|page| page - t_b);
        let erase = self.set.device().block_erase().as_ns();
        if self.set.device().page_registers() > 1 {
            return ([t_r, t_w], t_r + t_w, erase);
        }
        (pages, self.command() + t_r + t_w, self.command() + erase)
    }

    /// Σ data > m⌊λNP⌋, Eq. (60).
    fn data(&self) -> bool {
        let data: u128 = self.set.tasks().iter().filter_map(|task| task.data_pages).map(u128::from).sum();
        data > self.set.device().logical_pages()
    }

    /// The number of addresses that a task can have, in pages; `None`: every page of its cluster.
    fn own(&self, task: &Task) -> Option<u64> {
        self.keep_one.then(|| task.data_pages.unwrap_or(1))
    }

    fn is_too_long(&self, task: &Task, request: &Request, writes: bool) -> bool {
        let device = self.set.device();
        let (m, channels, n) = (u64::from(device.chips()), u64::from(device.channels()), request.pages());
        let (t_b, pages) = self.times();
        let c = pages[usize::from(writes)];
        // Pages on one chip, Eq. (57).
        let mut k = n.div_ceil(m);
        if !writes && request.access() == Access::Random {
            let held = self.own(task).map_or(device.logical_pages_per_chip(), |own| own.div_ceil(m));
            k = k.max(n.min(held));
        }
        // By chip, and by bus, Eq. (58).
        // Programs hold the bus for t_b each, reads for t_d each behind the first command.
        let (ahead, each) = if writes { (0, t_b) } else { (self.command(), t_b - self.command()) };
        let by_bus = u128::from(ahead + c - t_b) + u128::from(n.div_ceil(channels)) * u128::from(each);
        let by_chip = if device.page_registers() > 1 {
            let (one, moved) = (u128::from(c - t_b), u128::from(t_b - self.command()));
            let k = u128::from(k);
            (k * one + moved).max(k * moved + one)
        } else {
            u128::from(k) * u128::from(c)
        };
        let least = by_chip.max(by_bus);
        least > u128::from(request.deadline().as_ns() - request.jitter().as_ns())
    }

    /// t_b Σ n/T, Eq. (53).
    fn bus_load(&self) -> BigRational {
        let (t_b, _) = self.times();
        self.requests().map(|(_, request, _)| pages_a_time(&request) * ratio(t_b, 1)).sum()
    }

    /// Eq. (56).
    fn chip_load(&self) -> BigRational {
        let device = self.set.device();
        let (pages, copy, erase) = self.chip_times();
        let own: BigRational = self
            .requests()
            .map(|(_, request, writes)| pages_a_time(&request) * ratio(pages[usize::from(writes)], 1))
            .sum();
        let written: BigRational =
            self.requests().filter(|&(.., writes)| writes).map(|(_, request, _)| pages_a_time(&request)).sum();
        let copies = self.copies();
        let erased = ratio(erase, device.pages_per_block());
        own + (written + &copies) * erased + copies * ratio(copy, 1)
    }

    /// Copies forced in a unit of time, Eq. (55): with ν at least one writer's, the most.
    fn copies(&self) -> BigRational {
        let p = u64::from(self.set.device().pages_per_block());
        let writers: Vec<(u64, BigRational)> = self
            .requests()
            .filter(|&(.., writes)| writes)
            .map(|(task, request, _)| (self.left(task, &request), pages_a_time(&request)))
            .collect();
        let of = |&(nu, _): &(u64, BigRational)| {
            let sum = |counted: bool| -> BigRational {
                writers.iter().filter(|writer| (writer.0 >= nu) == counted).map(|writer| writer.1.clone()).sum()
            };
            sum(true) * ratio(nu, p - nu) - sum(false)
        };
        writers.iter().map(of).max().unwrap_or_else(BigRational::zero).max(BigRational::zero())
    }

    /// ν, Eq. (54).
    fn left(&self, task: &Task, request: &Request) -> u64 {
        if request.access().is_consecutive() {
            return 0;
        }
        let device = self.set.device();
        let (n, p) = (u64::from(device.blocks_per_chip()), u64::from(device.pages_per_block()));
        let of_all = |(_, request, _): (_, Request, _)| {
            // ⌈D/T⌉ of them.
            let waiting = request.deadline().as_ns().div_ceil(request.period().as_ns());
            u128::from(request.pages()) * u128::from(waiting)
        };
        let pending = self.requests().filter(|&(.., writes)| writes).map(of_all).fold(0, u128::saturating_add);
        let (pages, blocks) = match self.own(task) {
            Some(own) => (u128::from(own), u128::from(n) * u128::from(device.chips())),
            None => (u128::from(device.logical_pages_per_chip()), u128::from(n)),
        };
        let level = if pages > pending { (pages - pending).div_ceil(blocks) } else { 1 };
        u64::try_from(level - 1).map_or(p - 1, |level| level.min(p - 1))
    }

    /// Whether what is released and due in some [0, L] is more than buses or chips do, Eq. (59).
    fn is_overfull(&self, horizon: u64) -> bool {
        if self.requests().all(|(_, request, _)| request.has_a_whole_period()) {
            return false;
        }
        let device = self.set.device();
        let (t_b, _) = self.times();
        let (pages, ..) = self.chip_times();
        let d = |request: &Request| request.deadline().as_ns() - request.jitter().as_ns();
        let demand = |length: u64, cost: &dyn Fn(bool) -> u64| -> u128 {
            let jobs = |request: &Request| {
                if length < d(request) { 0 } else { (length - d(request)) / request.period().as_ns() + 1 }
            };
            let each = self.requests().map(|(_, request, writes)| {
                u128::from(jobs(&request)) * u128::from(request.pages()) * u128::from(cost(writes))
            });
            each.sum()
        };
        let mut lengths = self.requests().flat_map(|(_, request, _)| {
            (0..).map(move |k| d(&request) + k * request.period().as_ns()).take_while(move |&length| length <= horizon)
        });
        lengths.any(|length| {
            demand(length, &|_| t_b) > u128::from(device.channels()) * u128::from(length)
                || demand(length, &|writes| pages[usize::from(writes)])
                    > u128::from(device.chips()) * u128::from(length)
        })
    }
}

/// n/T.
fn pages_a_time(request: &Request) -> BigRational {
    ratio(request.pages(), request.period().as_ns())
}
