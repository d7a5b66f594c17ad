//! Necessary tests: where one fails, no allocation of the set meets every deadline, whatever the
//! analysis, the scheduler and the flash translation layer (docs/analysis.md, Section 12).
//!
//! Its assumptions are in that section: no page is kept outside the flash or twice in it, blocks
//! are erased whole, and operations take as long as the device says. That none fails proves
//! nothing.

mod analyses;
mod collection;
mod window;

use std::cmp::Ordering;

use rtflash_model::generate::PageCosts;
use rtflash_model::{Access, Device, DeviceSpec, MAX_CHIPS, Request, Span, TaskId, TaskSet};

use crate::fraction::Rational;

pub use analyses::{Necessary, NecessaryWithZones};

/// Why no allocation can meet every deadline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Impossible {
    /// The declared data are more than the device's logical pages.
    Data {
        /// Pages of data that are declared.
        data_pages: u128,
        /// m⌊λNP⌋.
        logical_pages: u128,
    },
    /// A request that takes longer than it has, on all chips and by itself.
    Request(LongRequest),
    /// The buses would have to carry more than all of their time.
    Bus {
        /// The share of its time that each bus would have to carry, on average. Above one.
        load: f64,
    },
    /// The chips would have to be busy for more than all of their time.
    Chips {
        /// The share of its time that each chip would have to be busy, on average. Above one.
        load: f64,
        /// The part of it that is garbage collection: erases, and copies that cannot be avoided.
        collection: f64,
        /// Whether it supposes that all logical pages are in use, as no task declares its data.
        if_full: bool,
    },
    /// The work released and due in an interval is more than the buses or the chips can do in it.
    Window(FullWindow),
}

/// A request that no cluster serves in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LongRequest {
    /// Whose request it is.
    pub task: TaskId,
    /// Whether it is the task's write request, not its read.
    pub writes: bool,
    /// Its pages.
    pub pages: u64,
    /// Its pages that one chip may have to serve, at least.
    pub on_one_chip: u64,
    /// Whether this supposes that all logical pages are in use, as no task declares its data.
    pub if_full: bool,
    /// The time that it takes at least, in nanoseconds. Above D − J.
    pub least_ns: u128,
    /// D − J: the least time from its release to its deadline.
    pub window: Span,
}

/// An interval in which there is more to do than can be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FullWindow {
    /// Whether it is the buses that cannot; otherwise the chips.
    pub bus: bool,
    /// L: the length of the interval.
    pub interval: Span,
    /// The work released and due in it, in nanoseconds of one bus or chip.
    pub demand_ns: u128,
    /// The buses, or the chips: each has L.
    pub servers: u32,
}

impl FullWindow {
    /// The time of all buses, or all chips, in the interval, in nanoseconds.
    pub fn available_ns(&self) -> u128 {
        u128::from(self.servers) * u128::from(self.interval.as_ns())
    }
}

impl Impossible {
    /// Its name in JSON: `data`, `request`, `bus`, `chips` or `window`.
    pub fn name(&self) -> &'static str {
        match self {
            Impossible::Data { .. } => "data",
            Impossible::Request(_) => "request",
            Impossible::Bus { .. } => "bus",
            Impossible::Chips { .. } => "chips",
            Impossible::Window(_) => "window",
        }
    }
}

/// A proof that no allocation meets every deadline. `costs`: how long a page occupies its chip.
pub fn impossible(set: &TaskSet, costs: PageCosts) -> Option<Impossible> {
    let keep_one = set.tasks().iter().any(|task| task.data_pages.is_some());
    let of = NecessaryTests { set, device: set.device(), costs, keep_one };
    of.data().or_else(|| of.of_any_device())
}

/// [`impossible`] on a device with zones, which collects nothing and keeps no page back: without
/// the test of the data, and what declares none keeps a page.
pub fn impossible_with_zones(set: &TaskSet, costs: PageCosts) -> Option<Impossible> {
    NecessaryTests { set, device: set.device(), costs, keep_one: true }.of_any_device()
}

/// The fewest chips for which no test fails, by bisection; `None` where one fails for every number.
pub fn fewest_chips(set: &TaskSet, costs: PageCosts) -> Option<u32> {
    let fails = |chips: u32| {
        let device = Device::new(DeviceSpec { chips, ..set.device().spec() }).ok();
        device.and_then(|device| set.on(device).ok()).is_none_or(|set| impossible(&set, costs).is_some())
    };
    if fails(MAX_CHIPS) {
        return None;
    }
    let (mut failing, mut passing) = (0, MAX_CHIPS);
    while failing + 1 < passing {
        let middle = u32::midpoint(failing, passing);
        if fails(middle) { failing = middle } else { passing = middle }
    }
    Some(passing)
}

struct NecessaryTests<'a> {
    set: &'a TaskSet,
    device: &'a Device,
    costs: PageCosts,
    /// Whether tasks that declare no data keep a page; otherwise all logical pages are in use.
    keep_one: bool,
}

impl NecessaryTests<'_> {
    /// All but that of the data.
    fn of_any_device(&self) -> Option<Impossible> {
        self.request().or_else(|| self.bus()).or_else(|| self.chips()).or_else(|| self.window())
    }

    fn requests(&self) -> impl Iterator<Item = (TaskId, Request, bool)> {
        let tasks = self.set.tasks();
        tasks.enumerate().flat_map(|(id, task)| task.requests().map(move |(request, writes)| (id, request, writes)))
    }

    /// Command and transfer included, but with a second page register, where both go on beside.
    fn page(&self, writes: bool) -> Span {
        if self.overlaps() {
            return self.on_chip(writes);
        }
        self.on_chip(writes).saturating_add(self.device.bus_hold())
    }

    fn overlaps(&self) -> bool {
        self.device.page_registers() > 1
    }

    /// t_c as far as it takes time of the chip.
    fn command_on_chip(&self) -> Span {
        if self.overlaps() { Span::ZERO } else { self.device.command() }
    }

    /// Without command and transfer: t_r or t_w.
    fn on_chip(&self, writes: bool) -> Span {
        let page = if writes { self.costs.write } else { self.costs.read };
        page.saturating_sub(self.device.page_transfer())
    }

    /// Eq. (60).
    fn data(&self) -> Option<Impossible> {
        let declared = self.set.tasks().iter().filter_map(|task| task.data_pages);
        let (data_pages, logical_pages) = (declared.map(u128::from).sum(), self.device.logical_pages());
        (data_pages > logical_pages).then_some(Impossible::Data { data_pages, logical_pages })
    }

    fn request(&self) -> Option<Impossible> {
        self.requests().find_map(|(task, request, writes)| {
            let (on_one_chip, least_ns) = self.least(task, request, writes);
            let window = request.window();
            let even = request.pages().div_ceil(self.device.chips().into());
            let if_full = on_one_chip > even && self.own_pages(task).is_none();
            let long = LongRequest { task, writes, pages: request.pages(), on_one_chip, if_full, least_ns, window };
            (least_ns > window.as_ns().into()).then_some(Impossible::Request(long))
        })
    }

    /// Pages of a request that one chip may have to serve, and the least time: Eqs. (57) and (58).
    fn least(&self, task: TaskId, request: Request, writes: bool) -> (u64, u128) {
        let device = self.device;
        let (chips, channels) = (u64::from(device.chips()), u64::from(device.channels()));
        let even = request.pages().div_ceil(chips);
        let on_one_chip = match request.access() {
            // Wherever its pages are, some chip has as many as the mean.
            Access::Random if !writes => match self.own_pages(task) {
                Some(pages) => even.max(request.pages().min(pages.div_ceil(chips))),
                None => even.max(request.pages().min(device.logical_pages_per_chip())),
            },
            Access::Random | Access::Sequential | Access::Stream => even,
        };
        let page = self.page(writes);
        // A read's command comes before its page, and others' commands may meanwhile.
        let (ahead, each) = match (device.command(), device.page_transfer()) {
            (_, _) if writes => (Span::ZERO, device.bus_hold()),
            (command, transfer) => (command, transfer),
        };
        let on_chip = self.on_chip(writes).saturating_add(ahead);
        let pages = u128::from(on_one_chip);
        let by_chip = if self.overlaps() {
            // All pages but one are sensed or programmed, or else moved, one after the other.
            let (own, moved) = (u128::from(page.as_ns()), u128::from(device.page_transfer().as_ns()));
            (pages * own + moved).max(pages * moved + own)
        } else {
            pages * u128::from(page.as_ns())
        };
        let by_bus =
            u128::from(request.pages().div_ceil(channels)) * u128::from(each.as_ns()) + u128::from(on_chip.as_ns());
        (on_one_chip, by_chip.max(by_bus))
    }

    /// The pages that it declares, or one; `None`: it can touch every page of its cluster.
    fn own_pages(&self, task: TaskId) -> Option<u64> {
        self.keep_one.then(|| self.set.tasks()[task].kept_pages())
    }

    /// Eq. (53).
    fn bus(&self) -> Option<Impossible> {
        let hold = self.device.bus_hold();
        let terms = self.requests().map(|(_, request, _)| ShareTerm::new(request, [hold.as_ns().into(), 1], 1));
        let load = TimeShare { more: terms.collect(), less: Vec::new() };
        load.exceeds(self.device.channels()).map(|load| Impossible::Bus { load })
    }

    /// Eq. (56).
    fn chips(&self) -> Option<Impossible> {
        let (mut load, copied) = self.collection();
        let collection = load.share(self.device.chips());
        load.more.extend(
            self.requests()
                .map(|(_, request, writes)| ShareTerm::new(request, [self.page(writes).as_ns().into(), 1], 1)),
        );
        let if_full = copied && !self.keep_one;
        load.exceeds(self.device.chips()).map(|load| Impossible::Chips { load, collection, if_full })
    }
}

/// Time asked for in a unit of time: pages/T of a request, times two factors, over a divisor.
#[derive(Debug, Clone, Copy)]
struct ShareTerm {
    numerators: [u128; 3],
    denominators: [u128; 2],
}

impl ShareTerm {
    fn new(request: Request, factors: [u128; 2], divisor: u128) -> ShareTerm {
        let [first, second] = factors;
        ShareTerm {
            numerators: [request.pages().into(), first, second],
            denominators: [request.period().as_ns().into(), divisor],
        }
    }

    fn to_f64(self) -> f64 {
        let product = |factors: &[u128]| factors.iter().map(|&factor| factor as f64).product::<f64>();
        product(&self.numerators) / product(&self.denominators)
    }

    fn exact(self) -> Rational {
        Rational::product(self.numerators, self.denominators)
    }
}

#[derive(Debug, Clone)]
struct TimeShare {
    more: Vec<ShareTerm>,
    less: Vec<ShareTerm>,
}

impl TimeShare {
    fn share(&self, servers: u32) -> f64 {
        let sum = |terms: &[ShareTerm]| terms.iter().map(|term| term.to_f64()).sum::<f64>();
        (sum(&self.more) - sum(&self.less)) / f64::from(servers)
    }

    fn exceeds(&self, servers: u32) -> Option<f64> {
        let sum = |terms: &[ShareTerm]| Rational::sum(&terms.iter().map(|term| term.exact()).collect::<Vec<_>>());
        let load = self.share(servers);
        let gross = self.more.iter().map(|term| term.to_f64()).sum::<f64>() / f64::from(servers);
        // Six roundings a term, and one an addition; what is taken away is less than the rest.
        let margin = (self.more.len() + self.less.len() + 16) as f64 * 8.0 * f64::EPSILON * gross.max(1.0);
        let above = if (load - 1.0).abs() > margin {
            load > 1.0
        } else {
            let carried = Rational::sum(&[Rational::product([servers.into()], [1]), sum(&self.less)]);
            sum(&self.more).cmp(&carried) == Ordering::Greater
        };
        // Above one exactly, whatever became of it in doubles.
        above.then_some(load.max(1.0f64.next_up()))
    }
}

#[cfg(test)]
mod tests;
