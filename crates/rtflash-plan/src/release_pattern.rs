//! When requests are released and how long their operations take, stated as data.

mod read;
mod write;

pub use read::{read_partial_release_pattern, read_release_pattern};
pub use write::write_release_pattern;

use rtflash_model::{Instant, PerId, Span, TaskId};

use crate::jobs::Kind;
use crate::plan::Source;

/// What is stated of the requests of one task, its reads or its writes. Nothing by default.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RequestPattern {
    /// The nominal arrival of the first request, after the start of the run. `None`: as
    /// [`Phases`](crate::Phases) says.
    pub offset: Option<Span>,
    /// Request k + 1 arrives a period and the k-th of these gaps after request k. Behind the list
    /// gaps are as [`Recurrence`](crate::Recurrence) says.
    pub gaps: Vec<Span>,
    /// The nominal arrivals of the first requests, in place of the offset and of the first gaps.
    /// They may come earlier than a period after each other, but not before the one before: see
    /// [`Options::police`](crate::Options::police).
    pub releases: Vec<Instant>,
    /// The pages of the first requests, in order: at least one, and at most
    /// [`MAX_REQUEST_PAGES`](crate::MAX_REQUEST_PAGES). They may be more than declared. Behind the
    /// list requests have what is declared.
    pub pages: Vec<u64>,
    /// How long the operations of request k take where the device states ranges, in thousandths of
    /// the way from the shortest time to the longest, 1000 at most. Behind the list its last entry
    /// holds; where it is empty, [`Times`](crate::Times) says it.
    pub lengths: Vec<u16>,
}

/// A release pattern: what is stated of the requests of each task.
///
/// ```
/// use rtflash_plan::ReleasePattern;
/// use rtflash_plan::Kind;
/// use rtflash_model::{Span, TaskId};
///
/// let mut pattern = ReleasePattern::default();
/// pattern.request_mut(TaskId(1), Kind::Read).offset = Some(Span::from_us(3));
/// assert_eq!(pattern.request(TaskId(1), Kind::Read).map(|request| request.gaps.len()), Some(0));
/// assert_eq!(pattern.request(TaskId(7), Kind::Write), None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReleasePattern {
    /// The reads and the writes of each task.
    tasks: PerId<TaskId, [RequestPattern; 2]>,
}

/// The place of reads or of writes.
fn place(kind: Kind) -> Option<usize> {
    match kind {
        Kind::Read => Some(0),
        Kind::Write => Some(1),
        Kind::Gc | Kind::Server => None,
    }
}

impl ReleasePattern {
    /// What is stated of a task's requests of this kind; `None` for tasks that nothing is stated
    /// of, and for kinds that are no requests.
    pub fn request(&self, task: TaskId, kind: Kind) -> Option<&RequestPattern> {
        self.tasks.get(task)?.get(place(kind)?)
    }

    /// What is stated of the jobs of a source; `None` where they are no requests of a task, or
    /// nothing is stated of it.
    pub fn of(&self, source: &Source) -> Option<&RequestPattern> {
        self.request(source.task()?, source.kind)
    }

    /// The statement of a request, to be changed.
    ///
    /// # Panics
    /// For kinds that are no requests of tasks.
    pub fn request_mut(&mut self, task: TaskId, kind: Kind) -> &mut RequestPattern {
        let place = place(kind).expect("reads and writes are requests of tasks");
        while self.tasks.count() <= task.0 {
            self.tasks.push(Default::default());
        }
        &mut self.tasks[task][place]
    }
}
