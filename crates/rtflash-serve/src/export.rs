//! A client's view of a task.

use rtflash_model::{Access, Placement, TaskSet};
use rtflash_plan::{Plan, Promise, Source, SourceId};
use rtflash_trace::Kind;

/// A task's range of logical pages, for clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    /// The task's name.
    pub name: String,
    /// Bytes of a page.
    pub page_size: u32,
    /// Pages of the range.
    pub pages: u64,
    /// The first page of its data in a file that has all exports.
    pub first_page: u64,
    /// The source of its read requests; `None` where the task does not read.
    pub reads: Option<SourceId>,
    /// The source of its write requests; `None` where the task does not write.
    pub writes: Option<SourceId>,
    /// Whether each write has to begin where the last one ended: it owns zones.
    pub in_order: bool,
}

impl Export {
    /// All of a plan by certificates, in the order of the tasks.
    pub fn all(set: &TaskSet, plan: &Plan) -> Vec<Export> {
        let mut exports: Vec<Export> = Vec::new();
        for (task, id) in set.tasks().iter().zip(set.tasks().ids()) {
            let of = |kind: Kind| {
                plan.sources().enumerate().find(|(_, source)| source.task() == Some(id) && source.kind == kind)
            };
            let (reads, writes) = (of(Kind::Read), of(Kind::Write));
            let Some((_, source)) = reads.or(writes) else { continue };
            exports.push(Export {
                name: task.name.clone(),
                page_size: plan.device().page_size(),
                pages: plan.pages_of(source).into(),
                first_page: exports.last().map_or(0, |last| last.first_page + last.pages),
                reads: reads.map(|(number, _)| number),
                writes: writes.map(|(number, _)| number),
                in_order: placement(plan, source).is_zoned(),
            });
        }
        exports
    }

    /// Bytes of the range.
    pub fn size(&self) -> u64 {
        self.pages * u64::from(self.page_size)
    }

    /// Whether its pages may be trimmed: it is written, and owns no zones.
    pub fn is_trimmed(&self) -> bool {
        self.writes.is_some() && !self.in_order
    }
}

fn placement(plan: &Plan, source: &Source) -> Placement {
    match (plan.promise(), source.cluster) {
        (Promise::Certified(certified), Some(cluster)) => certified[cluster].certificate.placement,
        _ => Placement::Superblock,
    }
}

/// How the pages of a source's requests may lie, by its access and where it is served: in how many
/// columns a stream goes round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageRule {
    /// Any pages.
    Any,
    /// Pages behind each other, from anywhere on.
    Consecutive,
    /// Pages behind each other, and each request goes on where the last one ended, as far as chips
    /// are concerned: a page of this many consecutive ones is on each.
    Stream {
        /// s.
        chips: u32,
    },
}

impl PageRule {
    /// That of a source of requests.
    pub(crate) fn of(plan: &Plan, source: &Source) -> PageRule {
        let chips = source.cluster.map_or(1, |cluster| plan.clusters()[cluster].layout.chips());
        match (placement(plan, source).is_by_chip(), source.access) {
            // All pages of a superblock are alike.
            (false, _) | (true, Access::Random) => PageRule::Any,
            (true, Access::Sequential) => PageRule::Consecutive,
            (true, Access::Stream) => PageRule::Stream { chips },
        }
    }
}
