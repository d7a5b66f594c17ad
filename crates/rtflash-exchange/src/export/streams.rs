//! The requests of a task set, a stream for each.

use rtflash_model::random::Stream;
use rtflash_model::{Access, Instant, Request, TaskId, TaskSet};

use crate::export::exported::{MAX_REQUESTS, NotExported};

/// Which random streams draw places here.
const DOMAIN: &[u8; 8] = b"exported";

/// A request of a task, as it comes again and again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestStream {
    /// Its task.
    pub task: TaskId,
    /// The task's name.
    pub name: String,
    /// Whether it writes.
    pub writes: bool,
    /// Its pages, period and deadline.
    pub request: Request,
    /// How often it comes.
    pub count: u64,
}

/// A name of plain characters, at most 40.
pub(crate) fn plain(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    name.chars().take(40).map(plain).collect()
}

impl RequestStream {
    /// When the n-th of them comes, from 0.
    pub fn arrival(&self, number: u64) -> u64 {
        number * self.request.period().as_ns()
    }

    /// A name that every file system takes: its place among the streams, the task's name as far as
    /// it is of plain characters, and what it does.
    pub fn file_name(&self, position: usize) -> String {
        format!("{position}-{}-{}", plain(&self.name), self.operation())
    }

    /// `read` or `write`.
    pub fn operation(&self) -> &'static str {
        if self.writes { "write" } else { "read" }
    }

    /// The first page of each of its requests among `pages` pages: one behind the other, or drawn
    /// alike from all places where it fits.
    ///
    /// # Errors
    /// If a request has more pages than there are.
    pub(crate) fn places(&self, position: usize, pages: u64, seed: u64) -> Result<Vec<u64>, NotExported> {
        let size = self.request.pages();
        let last = pages.checked_sub(size).ok_or_else(|| NotExported::NoRoom(self.name.clone()))?;
        let mut random = Stream::numbered(seed, DOMAIN, position as u64);
        let mut next = 0;
        let place = |_| match self.request.access() {
            Access::Random => random.below(last + 1),
            Access::Sequential | Access::Stream => {
                let place = if next > last { 0 } else { next };
                next = place + size;
                place
            }
        };
        Ok((0..self.count).map(place).collect())
    }
}

/// The requests of all tasks, reads first in each, as they come before `duration`: at 0 and once a
/// period from there. Jitter and jobs that are not real-time are left out.
///
/// # Errors
/// There are more than [`MAX_REQUESTS`].
pub fn request_streams(set: &TaskSet, duration: Instant) -> Result<Vec<RequestStream>, NotExported> {
    let of_task = |(task, of): (TaskId, &rtflash_model::Task)| {
        let name = of.name.clone();
        of.requests()
            .map(move |(request, writes)| RequestStream {
                task,
                name: name.clone(),
                writes,
                request,
                count: duration.as_ns().div_ceil(request.period().as_ns()),
            })
            .collect::<Vec<_>>()
    };
    let streams: Vec<RequestStream> = set.tasks().enumerate().flat_map(of_task).collect();
    let all: u128 = streams.iter().map(|stream| u128::from(stream.count)).sum();
    match all {
        all if all > MAX_REQUESTS => Err(NotExported::TooMany(all)),
        _ => Ok(streams),
    }
}
