//! The field's own schemes, once more and apart: each verdict by rational arithmetic from its
//! definition (docs/baselines.md).

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Zero};
use rtflash_model::{Allocation, Device, Request, Task, TaskSet, format_ns};

use crate::dhara::DharaChip;
use crate::equations::{Equations, reclaimed, valid_pages};
use crate::quotient::Quotient;
use crate::verifier::{ClusterVerification, Verification};

/// Requests in a busy window of a drive, beyond which it is given up.
const MOST_RELEASES: u64 = 4_096;

/// Which scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BaselineScheme {
    /// Chang, Kuo and Lo, 2004.
    Chang,
    /// Choudhuri and Givargis, 2008.
    Gftl,
    /// Qin and others, 2012.
    Rftl,
    /// Zhang and others, 2015.
    LazyRtgc,
    /// A drive without deadlines.
    Stock,
    /// Dhara.
    Dhara {
        /// Its ratio.
        gc_ratio: u8,
        /// Whether its callers have priorities.
        by_priority: bool,
    },
}

impl BaselineScheme {
    /// By the name of the analysis.
    pub fn from_name(name: &str) -> Option<BaselineScheme> {
        match name {
            "chang" => Some(BaselineScheme::Chang),
            "gftl" => Some(BaselineScheme::Gftl),
            "rftl" => Some(BaselineScheme::Rftl),
            "lazy-rtgc" => Some(BaselineScheme::LazyRtgc),
            "stock" => Some(BaselineScheme::Stock),
            _ => {
                let (name, by_priority) = name.strip_suffix("-priority").map_or((name, false), |name| (name, true));
                let gc_ratio = if name == "dhara" { 4 } else { name.strip_prefix("dhara-")?.parse().ok()? };
                (gc_ratio > 0).then_some(BaselineScheme::Dhara { gc_ratio, by_priority })
            }
        }
    }
}

/// Tests each cluster of an allocation of the set's tasks.
pub fn verify_baseline(set: &TaskSet, allocation: &Allocation, scheme: BaselineScheme) -> Verification {
    let memory = |chips| Memory { device: set.device(), scheme, chips };
    let defined = memory(set.device().chips()).is_defined(set);
    let clusters = allocation.clusters().into_iter().map(|cluster| {
        let tasks: Vec<&Task> = cluster.tasks.iter().filter_map(|&task| set.tasks().get(task)).collect();
        let memory = memory(cluster.size());
        let (terms, blocking) = memory.terms(&tasks);
        let obstacle = if tasks.is_empty() {
            None
        } else if !defined || set.device().has_commands() {
            Some("the scheme says nothing of such a device".into())
        } else {
            memory.obstacle(&tasks)
        };
        ClusterVerification::summed(set, cluster, Quotient::from(&blocking), terms.iter().map(Quotient::from), obstacle)
    });
    Verification { clusters: clusters.collect() }
}

struct Memory<'a> {
    device: &'a Device,
    scheme: BaselineScheme,
    chips: u32,
}

fn whole(number: impl Into<BigInt>) -> BigRational {
    BigRational::from_integer(number.into())
}

impl Memory<'_> {
    /// Its chip under Dhara; none where that takes no such chip, or under another scheme.
    fn dhara(&self) -> Option<DharaChip<'_>> {
        let BaselineScheme::Dhara { gc_ratio, .. } = self.scheme else { return None };
        DharaChip::new(self.device, gc_ratio.into())
    }

    fn is_defined(&self, set: &TaskSet) -> bool {
        match self.scheme {
            BaselineScheme::Stock => self.reclaims().is_some() || set.tasks().iter().all(|task| task.write.is_none()),
            _ => self.usable() > BigRational::zero(),
        }
    }

    /// t_rd, t_wr, t_er and t_oob.
    fn times(&self) -> [BigRational; 4] {
        let (read, write) = Equations::Thesis.page_costs(self.device);
        [whole(read), whole(write), whole(self.device.block_erase().as_ns()), whole(read)]
    }

    /// π.
    fn block(&self) -> BigRational {
        whole(self.device.pages_per_block())
    }

    fn pages(&self) -> BigRational {
        whole(self.chips) * whole(self.device.blocks_per_chip()) * self.block()
    }

    /// The pages that data may take, λ's among them: the least of the two.
    fn usable(&self) -> BigRational {
        let [read, write, erase, oob] = self.times();
        let logical = whole(self.device.logical_pages_of(self.chips));
        let own = match self.scheme {
            BaselineScheme::Chang | BaselineScheme::Stock => logical.clone(),
            BaselineScheme::Gftl => {
                let steps = (self.block() * (read + write + oob) / erase).ceil();
                let share = whole(1) - (steps + whole(1)) / (whole(2) * self.block());
                (self.pages() * share).floor().max(BigRational::zero())
            }
            BaselineScheme::Rftl => (self.pages() / self.block() / whole(3)).floor() * self.block(),
            BaselineScheme::LazyRtgc => self.pages() / self.block() * whole(self.victim()),
            _ => self.dhara().map_or(BigRational::zero(), |chip| chip.usable()) * whole(self.chips),
        };
        own.min(logical)
    }

    /// Lazy-RTGC: the most valid pages of a victim whose pass has no more steps than it reclaims.
    fn victim(&self) -> u64 {
        let [read, write, erase, _] = self.times();
        let (copies, pages) = ((erase / (read + write)).floor(), u64::from(self.device.pages_per_block()));
        if copies.is_zero() {
            return 0;
        }
        let enough = |valid: u64| (whole(valid) / &copies).ceil() + whole(1) <= whole(pages - valid);
        if !enough(0) {
            return 0;
        }
        let (mut yes, mut no) = (0, pages);
        while yes + 1 < no {
            let middle = u64::midpoint(yes, no);
            if enough(middle) { yes = middle } else { no = middle }
        }
        yes
    }

    fn costs(&self) -> [BigRational; 3] {
        let [read, write, erase, oob] = self.times();
        let [read, write] = match self.scheme {
            BaselineScheme::Chang => return [read, write, erase],
            BaselineScheme::Stock => return [read, write, BigRational::zero()],
            BaselineScheme::Gftl => [read + self.block() * oob + &erase, write + &erase],
            BaselineScheme::Rftl => [read + &oob, write + oob + erase],
            BaselineScheme::LazyRtgc => [read, write + erase],
            _ => {
                let [read, write] = self.dhara().map_or_else(|| [0, 0].map(whole), |chip| chip.costs());
                return [read, write, BigRational::zero()];
            }
        };
        let longest = read.clone().max(write.clone());
        [read, write, longest]
    }

    fn terms(&self, tasks: &[&Task]) -> (Vec<BigRational>, BigRational) {
        let [read, write, longest] = self.costs();
        let mut shortest: Option<BigRational> = None;
        let mut terms = Vec::new();
        let mut add = |cost: BigRational, period: BigRational| {
            terms.push(cost / &period);
            shortest = Some(shortest.take().map_or(period.clone(), |shortest| shortest.min(period)));
        };
        for (request, writes) in tasks.iter().flat_map(|task| task.requests()) {
            let cost = if writes { &write } else { &read };
            add(whole(request.pages()) * cost, whole(request.period().as_ns()));
        }
        if self.scheme == BaselineScheme::Chang {
            let pass = whole(valid_pages(self.device)) * (read + write) + &longest;
            for request in tasks.iter().filter_map(|task| task.write) {
                add(pass.clone(), self.collector_period(request));
            }
        }
        if self.scheme == BaselineScheme::Stock {
            let (pass, reclaims) = (self.whole_pass(), self.reclaims().unwrap_or(1));
            for write in tasks.iter().filter_map(|task| task.write) {
                terms.push(whole(write.pages()) * &pass / (whole(write.period().as_ns()) * whole(reclaims)));
            }
        }
        (terms, shortest.map_or(BigRational::zero(), |shortest| longest / shortest))
    }

    fn collector_period(&self, write: Request) -> BigRational {
        let (period, alpha, pages) =
            (whole(write.period().as_ns()), whole(reclaimed(self.device)), whole(write.pages()));
        if pages > alpha { period / (pages / alpha).ceil() } else { period * (alpha / pages).floor() }
    }

    /// Data, the reserves of Chang's collectors, a drive's late answers.
    fn obstacle(&self, tasks: &[&Task]) -> Option<String> {
        let declared = tasks.iter().any(|task| task.data_pages.is_some());
        let data: BigRational = tasks.iter().map(|task| whole(task.kept_pages())).sum();
        let data = if declared { data.max(BigRational::one()) } else { BigRational::one() };
        let usable = self.usable();
        if data > usable {
            return Some(format!("its data take {data} pages, and the scheme has {usable} for them"));
        }
        match self.scheme {
            BaselineScheme::Chang => {
                let writes = tasks.iter().filter_map(|task| task.write);
                let reserves: BigRational = writes.map(|write| self.reserve(write)).sum();
                let free = self.pages() - whole(self.device.logical_pages_of(self.chips));
                let reserved = reserves.ceil();
                (reserves > free).then(|| format!("its reserves take {reserved} pages, and {free} are free"))
            }
            BaselineScheme::Stock => self.late_answer(tasks),
            scheme => {
                let by_priority = matches!(scheme, BaselineScheme::Dhara { by_priority: true, .. });
                self.dhara().and_then(|chip| chip.obstacle(tasks, self.chips, by_priority))
            }
        }
    }

    /// ρ_T = w·max(1, p_G/p_T), rounded as p_G is, and ρ_G = π − α.
    fn reserve(&self, write: Request) -> BigRational {
        let periods = self.collector_period(write) / whole(write.period().as_ns());
        whole(write.pages()) * periods.max(BigRational::one()) + whole(valid_pages(self.device))
    }

    /// A drive's α: π less the data's mean over the blocks that are not empty, rounded down.
    fn reclaims(&self) -> Option<u64> {
        let blocks = self.pages() / self.block() - whole(1);
        let logical = whole(self.device.logical_pages_of(self.chips));
        let mean = (!blocks.is_zero()).then(|| (logical / blocks).floor())?;
        let left = self.block() - mean;
        (left > BigRational::zero()).then(|| u64::try_from(left.to_integer()).expect("pages of a block"))
    }

    fn whole_pass(&self) -> BigRational {
        let [read, write, erase, _] = self.times();
        let copies = self.reclaims().map_or(BigRational::zero(), |left| self.block() - whole(left));
        copies * (read + write) + erase
    }

    fn late_answer(&self, tasks: &[&Task]) -> Option<String> {
        let [read, write, erase, _] = self.times();
        let reads: Vec<Request> = tasks.iter().filter_map(|task| task.read).collect();
        let writes: Vec<Request> = tasks.iter().filter_map(|task| task.write).collect();
        let period = |of: &Request| whole(of.period().as_ns());
        let reading = |of: &Request| whole(of.pages()) * &read;
        let late = |kind: &str, response: BigRational, shortest: BigRational| {
            let [response, limit] = [&response, &shortest].map(|time| time.to_integer().try_into().map(format_ns));
            let [response, limit] = [response, limit].map(|time| time.unwrap_or_else(|_| "more than 584 years".into()));
            format!("a {kind} takes up to {response}, and the shortest period of {kind}s is {limit}")
        };
        let longest = read.clone().max(write.clone()).max(erase);
        let blocking = if writes.is_empty() { BigRational::zero() } else { longest };
        let all: BigRational = reads.iter().map(reading).sum::<BigRational>() + blocking;
        if let Some(shortest) = reads.iter().map(period).min().filter(|shortest| all > *shortest) {
            return Some(late("read", all, shortest));
        }
        let shortest = writes.iter().map(period).min()?;
        let Some(reclaims) = self.reclaims() else { return Some("garbage collection has no bound".into()) };
        let writing = |pages: &BigRational| pages * &write + (pages / whole(reclaims)).ceil() * self.whole_pass();
        let before = |of: &Request, at: &BigRational| (at / period(of)).ceil();
        let until = |of: &Request, at: &BigRational| (at / period(of)).floor() + whole(1);
        // The busy window, up to a number of releases.
        let mut window = whole(1);
        loop {
            let releases: BigRational = reads.iter().chain(&writes).map(|of| before(of, &window)).sum();
            if releases > whole(MOST_RELEASES) {
                return Some(format!("a write may wait behind more than {MOST_RELEASES} requests"));
            }
            let pages: BigRational = writes.iter().map(|of| before(of, &window) * whole(of.pages())).sum();
            let next = writing(&pages) + reads.iter().map(|of| before(of, &window) * reading(of)).sum::<BigRational>();
            if next <= window {
                break;
            }
            window = next;
        }
        let response = |at: BigRational| {
            let pages: BigRational = writes.iter().map(|of| until(of, &at) * whole(of.pages())).sum();
            let work = writing(&pages) - &write;
            let mut begins = work.clone();
            loop {
                let next = &work + reads.iter().map(|of| until(of, &begins) * reading(of)).sum::<BigRational>();
                if next == begins {
                    return begins + &write - at;
                }
                begins = next;
            }
        };
        let releases = writes.iter().flat_map(|of| {
            let many = u64::try_from((&window / period(of)).ceil().to_integer()).expect("few releases");
            (0..many).map(move |nth| whole(nth) * period(of))
        });
        let worst = releases.map(response).max().filter(|worst| *worst > shortest)?;
        Some(late("write", worst, shortest))
    }
}
