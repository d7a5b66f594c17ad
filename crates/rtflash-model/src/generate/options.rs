//! The specification of draws: generator, device, number of tasks, seed.

use serde::Serialize;

use super::accesses::Accesses;
use super::aperiodic::Aperiodic;
use super::deadlines::DeadlineRange;
use super::fixed_sum::MAX_NUMBERS;
use super::generator::Generator;
use super::pages::PageRange;
use super::periods::{PeriodDistribution, PeriodRange};
use super::shares::ShareProposal;
use super::utilization::Utilization;
use super::writes::{WriteShare, Writes};
use crate::device::Device;
use crate::task::Request;
use crate::task_set::TaskSet;
use crate::time::Span;

/// Tasks that a generated set may have.
pub const MAX_TASKS: u32 = 10_000;

impl Generator {
    /// Tasks that a set may have.
    pub const fn max_tasks(self) -> u32 {
        match self {
            Generator::RandFixedSum => MAX_NUMBERS,
            Generator::UUniFast | Generator::UUniFastDiscard | Generator::IntegerShares | Generator::HeavyWriters => {
                MAX_TASKS
            }
        }
    }
}

/// The factors of C^r and C^w in Eqs. (IV.1) and (IV.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageCosts {
    /// Time to read a page.
    pub read: Span,
    /// Time to write a page.
    pub write: Span,
}

impl PageCosts {
    /// t_r and t_w with the transfer, Eqs. (IV.1) and (IV.2); as stated if the device does not say.
    pub fn transfer_inside(device: &Device) -> PageCosts {
        let whole = |on_chip: Span, includes: Option<bool>| match includes {
            None => on_chip,
            // A page of a request costs below 2⁶³ ns, which is checked with the task set.
            Some(_) => on_chip.saturating_add(device.page_transfer()),
        };
        PageCosts {
            read: whole(device.page_read(), device.page_read_includes_transfer()),
            write: whole(device.page_program(), device.page_program_includes_transfer()),
        }
    }

    /// t_r + t_d and t_w + t_d, but where the device's times contain the transfer.
    pub fn transfer_on_top(device: &Device) -> PageCosts {
        // As above.
        let whole = |on_chip: Span| on_chip.saturating_add(device.page_transfer());
        PageCosts { read: whole(device.page_read()), write: whole(device.page_program()) }
    }
}

/// A description of the sets to draw that is not yet checked; [`SetOptions::new`] checks it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetSpec {
    /// The device of the sets.
    pub device: Device,
    /// n: tasks in each set.
    pub tasks: u32,
    /// How the utilization is divided among them.
    pub generator: Generator,
    /// The cost of a page.
    pub page_costs: PageCosts,
    /// How each task's utilization is split between reading and writing.
    pub writes: Writes,
    /// Which pages the requests read and write.
    pub accesses: Accesses,
    /// When the requests are due; `None` for the end of their period.
    pub deadlines: Option<DeadlineRange>,
    /// The periods that requests start from.
    pub periods: PeriodRange,
    /// How many pages a request has; `None` for as many as make up its utilization in its period.
    pub pages: Option<PageRange>,
    /// Decides everything random, together with utilization and index of a set.
    pub seed: u64,
}

impl SetSpec {
    /// As `rtflash gen` does: eight tasks, UUniFast, a page costs t_r or t_w, random requests.
    pub fn of(device: Device) -> SetSpec {
        SetSpec {
            device,
            tasks: 8,
            generator: Generator::UUniFast,
            page_costs: PageCosts::transfer_inside(&device),
            writes: Writes::default(),
            accesses: Accesses::default(),
            deadlines: None,
            periods: PeriodRange::default(),
            pages: None,
            seed: 1,
        }
    }

    /// The periods that requests start from, if others than those of the thesis.
    pub fn stated_periods(&self) -> Option<PeriodRange> {
        let uniform = |periods: PeriodRange| periods.distributed(PeriodDistribution::Uniform);
        Some(self.periods).filter(|&periods| uniform(periods) != PeriodRange::THESIS)
    }

    /// How they are distributed, if not as those of the thesis.
    pub fn stated_distribution(&self) -> Option<PeriodDistribution> {
        Some(self.periods.distribution()).filter(|&distribution| distribution != PeriodDistribution::Uniform)
    }
}

impl Default for SetSpec {
    fn default() -> SetSpec {
        SetSpec::of(Device::profile("dgist-2021").expect("a device that is always there"))
    }
}

/// Why a [`SetSpec`] cannot be drawn. Says what would be right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OptionsError {
    /// No tasks.
    #[error("a set of no tasks: at least one")]
    NoTasks,
    /// More tasks than the generator takes: [`Generator::max_tasks`].
    #[error("{tasks} tasks are too many: at most {} with {generator}", .generator.max_tasks())]
    TooManyTasks {
        /// n.
        tasks: u32,
        /// The generator.
        generator: Generator,
    },
    /// More write-heavy tasks than tasks.
    #[error("{write_heavy} write-heavy tasks are more than there are tasks: at most {tasks}")]
    TooManyWriteHeavy {
        /// K.
        write_heavy: u32,
        /// n.
        tasks: u32,
    },
    /// A page costs no time.
    #[error("pages that cost no time: a cost above zero")]
    FreePages,
    /// A share of writes, where the generator says how much each task writes.
    #[error("heavy-writers draws how much each task writes: no share of writes goes with it")]
    SharedWriters,
}

/// The specification of draws, checked: 1 ≤ n ≤ [`Generator::max_tasks`], K ≤ n, pages cost time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetOptions {
    spec: SetSpec,
}

impl SetOptions {
    /// Checks a request: the first thing found wrong is the error.
    pub fn new(spec: SetSpec) -> Result<SetOptions, OptionsError> {
        let SetSpec { tasks, generator, .. } = spec;
        if tasks == 0 {
            return Err(OptionsError::NoTasks);
        }
        if tasks > generator.max_tasks() {
            return Err(OptionsError::TooManyTasks { tasks, generator });
        }
        if let Some(write_heavy) = spec.writes.heavy().filter(|&write_heavy| write_heavy > tasks) {
            return Err(OptionsError::TooManyWriteHeavy { write_heavy, tasks });
        }
        if spec.page_costs.read == Span::ZERO || spec.page_costs.write == Span::ZERO {
            return Err(OptionsError::FreePages);
        }
        if !spec.generator.divides_total() && spec.writes.share().is_some() {
            return Err(OptionsError::SharedWriters);
        }
        Ok(SetOptions { spec })
    }

    /// No task has more than 1, so n tasks have no more than n.
    pub fn is_possible(&self, utilization: Utilization) -> bool {
        ShareProposal::new(self.spec.generator, self.spec.tasks, utilization).is_some()
    }

    /// If the generator divides no total: 0.6 for each heavy task and 0.25 for each other one. It
    /// stands for the total in [`SetOptions::draw`] and [`SetOptions::meta`].
    pub fn mean_utilization(&self) -> Option<Utilization> {
        let heavy = self.spec.writes.heavy().map_or(0, u64::from);
        let others = u64::from(self.spec.tasks) - heavy;
        let mean = Utilization::from_billionths(heavy * 600_000_000 + others * 250_000_000);
        mean.filter(|_| !self.spec.generator.divides_total())
    }

    /// By these page costs, in whole billionths, if the generator divides no total.
    pub fn drawn_utilization(&self, set: &TaskSet) -> Option<Utilization> {
        let SetSpec { generator, page_costs, .. } = &self.spec;
        let of = |request: Option<Request>, cost: Span| {
            request.map_or(0, |of| {
                u128::from(of.pages()) * u128::from(cost.as_ns()) * 1_000_000_000 / u128::from(of.period().as_ns())
            })
        };
        let all = set.tasks().iter().map(|task| of(task.read, page_costs.read) + of(task.write, page_costs.write));
        let all = u64::try_from(all.sum::<u128>()).ok().and_then(Utilization::from_billionths);
        all.filter(|_| !generator.divides_total())
    }

    /// The request these options were made from, to change and check again.
    pub fn spec(&self) -> &SetSpec {
        &self.spec
    }

    /// Key of a random stream of the set: seed, utilization in billionths, index, number of tasks,
    /// generator, `of` (`gen`, `acc` for access patterns, `due` for deadlines, `job` for aperiodic
    /// streams), little-endian.
    ///
    /// Device, page costs, access, periods, pages, deadlines and the split of reads and writes are
    /// left out: experiments that differ in these alone start from the same utilizations.
    pub(super) fn key(&self, utilization: Utilization, index: u64, of: &[u8; 3]) -> [u8; 32] {
        let generator = match self.spec.generator {
            Generator::UUniFast => 0,
            Generator::IntegerShares => 1,
            Generator::UUniFastDiscard => 2,
            Generator::RandFixedSum => 3,
            Generator::HeavyWriters => 4,
        };
        let mut key = [0; 32];
        key[..8].copy_from_slice(&self.spec.seed.to_le_bytes());
        key[8..16].copy_from_slice(&utilization.billionths().to_le_bytes());
        key[16..24].copy_from_slice(&index.to_le_bytes());
        key[24..28].copy_from_slice(&self.spec.tasks.to_le_bytes());
        key[28] = generator;
        key[29..].copy_from_slice(of);
        key
    }

    /// `analysis`: the name of the one that gave the page costs.
    pub fn meta<'a>(&self, utilization: Utilization, index: u64, analysis: &'a str) -> Meta<'a> {
        let SetSpec { seed, generator, tasks, writes, accesses, deadlines, pages, .. } = self.spec;
        let (write_heavy, write_share) = (writes.heavy(), writes.share());
        let access = Some(accesses).filter(|&accesses| accesses != Accesses::Random);
        Meta {
            utilization,
            drawn_utilization: None,
            index,
            seed,
            generator,
            tasks,
            write_heavy,
            write_share,
            access,
            deadline: deadlines,
            period: self.spec.stated_periods(),
            period_distribution: self.spec.stated_distribution(),
            pages,
            aperiodic: None,
            analysis,
        }
    }
}

/// The `meta` object of a set's line. Together with the device it repeats the set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Meta<'a> {
    /// The total utilization asked for; the mean of such sets, if the generator divides no total.
    pub utilization: Utilization,
    /// That of this set's requests, if the generator divides no total and the set is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drawn_utilization: Option<Utilization>,
    /// The position among the sets of this utilization, from 0.
    pub index: u64,
    /// The seed of the whole run.
    pub seed: u64,
    /// How the utilization was divided.
    pub generator: Generator,
    /// n: tasks in the set.
    pub tasks: u32,
    /// K: write-heavy tasks, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_heavy: Option<u32>,
    /// The part of every task's utilization that its writes take, if one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_share: Option<WriteShare>,
    /// Which pages the requests read and write, if not all are random.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<Accesses>,
    /// The relative deadlines as parts of the period, if not all are the period.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<DeadlineRange>,
    /// The periods that requests started from, if not those of the thesis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period: Option<PeriodRange>,
    /// How they are distributed, if not uniformly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period_distribution: Option<PeriodDistribution>,
    /// How many pages a request may have, if that was bounded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<PageRange>,
    /// The streams of aperiodic requests, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aperiodic: Option<Aperiodic>,
    /// The analysis that gave the page costs and the test of each task alone.
    pub analysis: &'a str,
}
