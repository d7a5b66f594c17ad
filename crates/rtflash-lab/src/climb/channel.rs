//! A plain simulation of the model of docs/analysis.md, Section 1: the chips of one channel and a
//! bus that serves first come, first served. Each chip runs EDF over its jobs. It shares no code
//! with the executor, and takes no time for what takes none: periodic garbage collection, ties that
//! are broken by turns.

#![allow(non_snake_case)] // The document's letters.

use std::collections::VecDeque;

use super::arrivals::Arrivals;

/// Times of the device, in units.
#[derive(Debug, Clone, Copy)]
pub struct UnitTimes {
    /// Sensing a page.
    pub t_r: i128,
    /// Programming one.
    pub t_w: i128,
    /// Moving one over the bus.
    pub t_d: i128,
    /// Erasing a block.
    pub t_e: i128,
}

/// The work of each job of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChannelWork {
    /// Reads this number of pages.
    Read(i128),
    /// Programs this number of pages.
    Write(i128),
    /// Makes this number of copies inside the chip and then erases a block.
    Collect(i128),
}

/// A task of one chip. Its jobs arrive at least T apart; each is due within T.
#[derive(Debug, Clone, Copy)]
pub struct ChannelTask {
    /// The work of each job.
    pub work: ChannelWork,
    /// Period and relative deadline.
    pub T: i128,
}

/// The channel: a list of tasks for each chip.
pub type Chips<'a> = &'a [&'a [ChannelTask]];

/// How a chip chooses between two jobs with the same deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChannelTies {
    /// Rule Q4: the first in the chip's list, always.
    Fixed,
    /// Q4 left out: a job of the task that did not make the last step.
    ByTurns,
}

/// A run: who is on the channel, and what a device may decide.
#[derive(Debug, Clone, Copy)]
pub struct ChannelModel<'a> {
    /// Times of the device.
    pub times: UnitTimes,
    /// The chips on the channel.
    pub chips: Chips<'a>,
    /// Ties of EDF on chip 0; the other chips have a fixed order.
    pub ties: ChannelTies,
    /// How long chips other than 0 sense a page; rule Q3 says t_r.
    pub others_sense: i128,
}

/// The latest end of a job in a run, counted from its deadline: above zero if a job was late.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Latest {
    /// The time of chip 0.
    pub chip_0: i128,
    /// The time of the other chips.
    pub others: i128,
}

#[derive(Debug, Clone, Copy)]
struct ModelJob {
    task: usize,
    due: i128,
    left: i128,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ModelStep {
    Sensing { until: i128 },
    Asking,
    Inside { until: i128 },
}

#[derive(Debug)]
struct ModelChip<'a> {
    tasks: &'a [ChannelTask],
    sense: i128,
    ties: ChannelTies,
    /// For each task: the next job's time, its number, and all arrivals.
    arrivals: Vec<(i128, usize, Arrivals)>,
    jobs: Vec<ModelJob>,
    /// The step under way and the job, by its place in `jobs`.
    step: Option<(usize, ModelStep)>,
    last_task: usize,
    latest: i128,
}

impl ChannelModel<'_> {
    /// `arrivals` are those of all tasks, in the order of the chips and their lists.
    pub fn run(&self, arrivals: &[Arrivals], end: i128) -> Latest {
        let mut arrivals = arrivals.iter().map(|of| (i128::from(of.first), 0, of.clone()));
        let mut chips: Vec<ModelChip> = Vec::new();
        for (number, tasks) in self.chips.iter().enumerate() {
            let arrivals = arrivals.by_ref().take(tasks.len()).collect();
            let (sense, ties) = match number {
                0 => (self.times.t_r, self.ties),
                _ => (self.others_sense, ChannelTies::Fixed),
            };
            let (jobs, latest) = (Vec::new(), i128::MIN);
            chips.push(ModelChip { tasks, sense, ties, arrivals, jobs, step: None, last_task: 0, latest });
        }
        let (mut queue, mut bus) = (VecDeque::new(), None::<(i128, usize)>);
        let mut now = 0;
        while now < end && chips.iter().all(|chip| chip.latest <= 0) {
            if let Some((_, number)) = bus.take_if(|(until, _)| *until == now) {
                chips[number].transferred(now, self.times);
            }
            // If several ask at one instant, chip 0 stands last.
            for number in (1..chips.len()).chain([0]) {
                if chips[number].proceed(now, self.times) {
                    queue.push_back(number);
                }
            }
            if bus.is_none() {
                bus = queue.pop_front().map(|number| (now + self.times.t_d, number));
            }
            let events = chips.iter().map(ModelChip::next_event).chain(bus.map(|(until, _)| until));
            let next = events.min().expect("periodic tasks").min(end);
            assert!(next > now, "time goes on");
            now = next;
        }
        let latest = |chips: &[ModelChip]| chips.iter().map(|chip| chip.latest_by(now)).max().unwrap_or(i128::MIN);
        Latest { chip_0: latest(&chips[..1]), others: latest(&chips[1..]) }
    }
}

impl ModelChip<'_> {
    fn proceed(&mut self, now: i128, times: UnitTimes) -> bool {
        self.release(now);
        match self.step {
            Some((job, ModelStep::Sensing { until })) if until == now => {
                self.step = Some((job, ModelStep::Asking));
                true
            }
            Some((job, ModelStep::Inside { until })) if until == now => {
                self.end_step(job, now);
                self.begin_step(now, times)
            }
            Some(_) => false,
            None => self.begin_step(now, times),
        }
    }

    fn release(&mut self, now: i128) {
        for (task, (next, number, arrivals)) in self.arrivals.iter_mut().enumerate() {
            if *next == now {
                let ChannelTask { work, T } = self.tasks[task];
                let left = match work {
                    ChannelWork::Read(pages) | ChannelWork::Write(pages) => pages,
                    ChannelWork::Collect(copies) => copies + 1,
                };
                self.jobs.push(ModelJob { task, due: now + T, left });
                *next += T + i128::from(arrivals.gap(*number));
                *number += 1;
            }
        }
    }

    /// Whether the step of the earliest deadline asks for the bus.
    fn begin_step(&mut self, now: i128, times: UnitTimes) -> bool {
        let Some(job) = self.earliest() else { return false };
        let ModelJob { task, left, .. } = self.jobs[job];
        self.last_task = task;
        let step = match self.tasks[task].work {
            ChannelWork::Read(_) if self.sense > 0 => ModelStep::Sensing { until: now + self.sense },
            ChannelWork::Read(_) | ChannelWork::Write(_) => ModelStep::Asking,
            ChannelWork::Collect(_) if left > 1 => ModelStep::Inside { until: now + times.t_r + times.t_w },
            ChannelWork::Collect(_) => ModelStep::Inside { until: now + times.t_e },
        };
        self.step = Some((job, step));
        step == ModelStep::Asking
    }

    fn earliest(&self) -> Option<usize> {
        let key = |job: &ModelJob| (job.due, self.ties == ChannelTies::ByTurns && job.task == self.last_task, job.task);
        (0..self.jobs.len()).min_by_key(|&job| key(&self.jobs[job]))
    }

    fn transferred(&mut self, now: i128, times: UnitTimes) {
        let (job, _) = self.step.expect("it asked");
        match self.tasks[self.jobs[job].task].work {
            ChannelWork::Write(_) => self.step = Some((job, ModelStep::Inside { until: now + times.t_w })),
            _ => self.end_step(job, now),
        }
    }

    fn end_step(&mut self, job: usize, now: i128) {
        self.step = None;
        self.jobs[job].left -= 1;
        if self.jobs[job].left == 0 {
            let over = self.jobs.remove(job);
            self.latest = self.latest.max(now - over.due);
        }
    }

    fn next_event(&self) -> i128 {
        let releases = self.arrivals.iter().map(|(next, ..)| *next).fold(i128::MAX, i128::min);
        match self.step {
            Some((_, ModelStep::Sensing { until } | ModelStep::Inside { until })) => releases.min(until),
            _ => releases,
        }
    }

    /// The latest end so far. An overdue job counts as if it ended now.
    fn latest_by(&self, now: i128) -> i128 {
        let overdue = self.jobs.iter().filter(|job| job.due < now).map(|job| now - job.due);
        overdue.chain([self.latest]).max().unwrap_or(i128::MIN)
    }
}
