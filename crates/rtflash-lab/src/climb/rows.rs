//! The necessary terms of (T''): the table of that name in docs/analysis.md, Section 6.1. Each set
//! is accepted with a term left out of the test, or runs on a device without one of its rules, and
//! a climber finds a run in which chip 0 is late.

#![allow(non_snake_case)] // The document's letters.

use rtflash_alloc::allocator::{Allocator, EqualSplit};
use rtflash_analysis::Stripe;
use rtflash_model::{Allocation, Device, DeviceSpec, Instant, Placement, Reliance, Shortest, Span, TaskSet};
use rtflash_plan::Options;

use super::channel::{ChannelModel, ChannelTask, ChannelTies, ChannelWork, Chips, UnitTimes};
use super::{Arrivals, Climbable, ClimbedRequest, OnExecutor};
use crate::small_device::SmallDevice;

/// The term that a row leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftOutOfRow {
    /// A term of W2 or W3.
    Term(&'static str),
    /// Rule Q3 of the device: other chips than 0 sense in no time.
    Sensing,
    /// Rule Q4 of the device: chip 0 serves jobs of one deadline by turns.
    Ties,
}

impl LeftOutOfRow {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            LeftOutOfRow::Term(term) => term,
            LeftOutOfRow::Sensing => "Q3",
            LeftOutOfRow::Ties => "Q4",
        }
    }

    /// The term that is left out of the test.
    pub const fn term(self) -> Option<&'static str> {
        match self {
            LeftOutOfRow::Term(term) => Some(term),
            LeftOutOfRow::Sensing | LeftOutOfRow::Ties => None,
        }
    }
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The term that it leaves out.
    pub left_out: LeftOutOfRow,
    /// t_r, t_w, t_d and t_e, in units.
    pub times: [u16; 4],
    /// The tasks of each chip.
    pub chips: Chips<'static>,
}

const fn reads(pages: i128, T: i128) -> ChannelTask {
    ChannelTask { work: ChannelWork::Read(pages), T }
}

const fn writes(pages: i128, T: i128) -> ChannelTask {
    ChannelTask { work: ChannelWork::Write(pages), T }
}

/// A number of copies and an erase, which stand for garbage collection.
const fn collects(copies: i128, T: i128) -> ChannelTask {
    ChannelTask { work: ChannelWork::Collect(copies), T }
}

const fn row(left_out: LeftOutOfRow, times: [u16; 4], chips: Chips<'static>) -> Row {
    Row { left_out, times, chips }
}

/// The rows.
#[rustfmt::skip] // A row of the table is a line.
pub const TABLE: &[Row] = &[
    row(LeftOutOfRow::Term("min-fresh"), [10, 10, 8, 6], &[&[reads(5, 112)], &[reads(1, 42)]]),
    row(LeftOutOfRow::Term("sum-fresh"), [8, 4, 4, 4], &[&[reads(15, 214)], &[reads(1, 28)], &[reads(50, 36_000)]]),
    row(LeftOutOfRow::Term("shared-fresh"), [10, 5, 5, 5], &[&[reads(14, 236)], &[reads(1, 48)], &[reads(42, 36_000)]]),
    row(LeftOutOfRow::Term("ranked-fresh"), [15, 20, 7, 6], &[&[reads(9, 232)], &[reads(1, 48)]]),
    row(LeftOutOfRow::Term("ranked-writes"), [8, 16, 8, 8], &[&[reads(6, 312), writes(7, 312)], &[reads(58, 36_000)]]),
    row(LeftOutOfRow::Term("own-jobs"), [4, 4, 4, 4], &[&[reads(12, 153), collects(0, 21)], &[reads(60, 4_000)]]),
    row(LeftOutOfRow::Term("served-twice"), [4, 4, 4, 4], &[&[reads(60, 740)], &[reads(140, 36_000), writes(1, 33)], &[reads(140, 36_000)]]),
    row(LeftOutOfRow::Term("sigma-of-one"), [17, 17, 10, 6], &[&[reads(12, 325)], &[reads(3, 36_000)]]),
    row(LeftOutOfRow::Sensing, [4, 1, 4, 4], &[&[reads(6, 92)], &[reads(44, 36_000)], &[reads(44, 36_000)]]),
    row(LeftOutOfRow::Ties, [4, 8, 4, 4], &[&[reads(7, 168), collects(7, 168)], &[reads(48, 36_000)]]),
];

/// So long that sensing in one nanosecond takes next to no time.
const UNIT: u64 = 1_000;
/// Twice the shortest time that sensing can take, in nanoseconds.
const TWICE: u64 = 2;

impl Row {
    /// Times of the device.
    pub fn times(&self) -> UnitTimes {
        let [t_r, t_w, t_d, t_e] = self.times.map(i128::from);
        UnitTimes { t_r, t_w, t_d, t_e }
    }

    /// Chip 0's period of reads, T.
    pub fn T(&self) -> i128 {
        self.chips[0][0].T
    }

    /// The row's channel, on a device without the rule that the row leaves out.
    pub fn channel(&self) -> ChannelModel<'static> {
        let times = self.times();
        let others_sense = if self.left_out == LeftOutOfRow::Sensing { 0 } else { times.t_r };
        let ties = if self.left_out == LeftOutOfRow::Ties { ChannelTies::ByTurns } else { ChannelTies::Fixed };
        ChannelModel { times, chips: self.chips, ties, others_sense }
    }

    /// The row's channel as the climber's subject, for three periods of chip 0.
    pub fn on_channel(&self) -> OnChannel<'static> {
        OnChannel::new(self.channel(), 3 * self.T())
    }

    /// Certificates are by the test without its term; `None` if the executor does not do it:
    /// collection without writes, ties by turns.
    pub fn on_executor(&self) -> Option<OnExecutor> {
        let set = self.set()?;
        let allocation = allocation(&set, self.left_out.term())?;
        let set = match self.left_out {
            LeftOutOfRow::Sensing => {
                let spec = set.device().spec();
                let shortest = Shortest { page_read: Some(Span::NANOSECOND), ..spec.shortest };
                set.on(Device::new(DeviceSpec { shortest, ..spec }).ok()?).ok()?
            }
            LeftOutOfRow::Term(_) | LeftOutOfRow::Ties => set,
        };
        let end = u64::try_from(3 * self.T()).ok()?.checked_mul(UNIT)?;
        let options = Options { duration: Instant::from_ns(end)?, ..Options::default() };
        OnExecutor::new(&set, &allocation, &Stripe::relying_on(Reliance::Queue), options, Span::from_ns(UNIT)?).ok()
    }

    /// A task for each chip and chip 0 last: the bus goes to the lowest. `None` where a chip does
    /// what is no request.
    pub fn set(&self) -> Option<TaskSet> {
        let mut times = self.times.map(|time| u64::from(time) * UNIT);
        if self.left_out == LeftOutOfRow::Sensing {
            // A chip that senses in a nanosecond asks before chip 0 then, as on the channel.
            times[2] = times[2].checked_sub(TWICE)?;
        }
        let chips = u32::try_from(self.chips.len()).ok()?;
        let small = SmallDevice { chips, ways: chips, blocks: 64, pages: 64, logical: 10, times };
        let order = (1..self.chips.len()).chain([0]);
        let tasks = order.map(|chip| task(format!("chip-{chip}"), self.chips[chip])).collect::<Option<Vec<_>>>();
        TaskSet::new(Device::new(small.spec()?).ok()?, tasks?, vec![]).ok()
    }
}

/// `None` where they collect, or there are more than a read and a write.
fn task(name: String, of: &[ChannelTask]) -> Option<rtflash_model::Task> {
    let mut task = rtflash_model::Task { name, read: None, write: None, data_pages: None };
    for ChannelTask { work, T } in of {
        let (request, pages) = match work {
            ChannelWork::Read(pages) => (&mut task.read, pages),
            ChannelWork::Write(pages) => (&mut task.write, pages),
            ChannelWork::Collect(_) => return None,
        };
        let period = Span::from_ns(u64::try_from(*T).ok()?.checked_mul(UNIT)?)?;
        let new = rtflash_model::Request::new(u64::try_from(*pages).ok()?, period)?;
        if request.replace(new).is_some() {
            return None;
        }
    }
    Some(task)
}

/// Each task on a chip, by (T'') with a term left out; `None` where it rejects the set.
pub fn allocation(set: &TaskSet, left_out: Option<&'static str>) -> Option<Allocation> {
    let analysis = Stripe::relying_on(Reliance::Queue);
    let clusters = EqualSplit.allocate(set, &analysis).allocation()?.clusters();
    let placements = vec![Placement::Stripe; clusters.len()];
    let certificates = crate::certify(left_out, set, &clusters, &placements, Reliance::Queue)?;
    let allocation = Allocation::new(set.device().chips(), set.tasks().len(), &clusters).ok()?;
    Some(allocation.with_certificates(certificates))
}

/// A channel as something to climb on.
#[derive(Debug)]
pub struct OnChannel<'a> {
    channel: ChannelModel<'a>,
    requests: Vec<ClimbedRequest>,
    end: i128,
}

impl<'a> OnChannel<'a> {
    /// A channel, run up to an instant. Requests are chip 0's first.
    pub fn new(channel: ChannelModel<'a>, end: i128) -> OnChannel<'a> {
        let tasks = channel.chips.iter().copied().flatten();
        let period = |task: &ChannelTask| u64::try_from(task.T).expect("a period is above zero, and short");
        let requests = tasks.map(|task| ClimbedRequest { period: period(task), varies: false }).collect();
        OnChannel { channel, requests, end }
    }
}

impl Climbable for OnChannel<'_> {
    fn requests(&self) -> &[ClimbedRequest] {
        &self.requests
    }

    /// Chip 0's requests share one latest end, and those of the others another.
    fn run(&self, arrivals: &[Arrivals]) -> Vec<Option<i64>> {
        let latest = self.channel.run(arrivals, self.end);
        let units = |latest: i128| i64::try_from(latest).ok();
        let of_chip_0 = self.channel.chips[0].len();
        let of = |number: usize| units(if number < of_chip_0 { latest.chip_0 } else { latest.others });
        (0..self.requests.len()).map(of).collect()
    }
}
