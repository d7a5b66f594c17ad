//! Which pages the requests of a generated task read and write.

use crate::random::Stream;
use crate::task::{Access, Request, Task};

/// Sets that differ in these alone have the same tasks otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Accesses {
    /// Every request is random.
    #[default]
    Random,
    /// Every request is sequential.
    Sequential,
    /// Every request goes on where the one before it ended.
    Stream,
    /// Each request is random or sequential, with equal chance.
    Mixed,
}

crate::names! {
    Accesses {
        Random = "random",
        Sequential = "sequential",
        Stream = "stream",
        Mixed = "mixed",
    }
}

impl Accesses {
    /// `key`: the stream that mixed patterns are drawn from.
    pub(super) fn give(self, tasks: &mut [Task], key: impl FnOnce() -> [u8; 32]) {
        let all = |tasks: &mut [Task], access: &mut dyn FnMut() -> Access| {
            for task in tasks {
                // Drawn for a request that is not there as well: no pattern depends on which ones
                // are.
                let (read, write) = (access(), access());
                let with = |request: Option<Request>, access| request.map(|request| request.with_access(access));
                (task.read, task.write) = (with(task.read, read), with(task.write, write));
            }
        };
        match self {
            Accesses::Random => {}
            Accesses::Sequential => all(tasks, &mut || Access::Sequential),
            Accesses::Stream => all(tasks, &mut || Access::Stream),
            Accesses::Mixed => {
                let mut stream = Stream::new(key());
                all(tasks, &mut || if stream.below(2) == 0 { Access::Random } else { Access::Sequential });
            }
        }
    }
}
