//! The terms of the field's own schemes (docs/baselines.md), in the answer of `explain`.

use rtflash_analysis::{BaselineTerm, Room, RoomUnit, baseline};
use rtflash_model::{Cluster, Task, TaskSet, capped};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::parts::{Nanoseconds, Text};

/// The sums of a scheme in a cluster, each with its limit.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Scheme")]
pub struct SchemeTerms<'a> {
    /// The terms, whose sum is at most one in a cluster that is in time.
    pub terms: Vec<SchemeTerm<'a>>,
    /// The quantities that have to fit, or to be in time.
    pub rooms: Vec<SchemeRoom>,
}

/// A term: times · cost / period.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct SchemeTerm<'a> {
    /// Whose it is; null of blocking.
    pub task: Option<Text<'a>>,
    /// The kind of work: `read`, `write`, `gc` or `blocking`.
    pub term: Text<'static>,
    /// Pages, or passes.
    pub times: u64,
    /// The cost of each of them.
    pub cost_ns: Nanoseconds,
    /// In this time.
    pub period_ns: Nanoseconds,
    /// times · cost / period.
    pub utilization: f64,
}

/// Pages that have to go somewhere, or a response that has to be in time.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct SchemeRoom {
    /// Which pages, or whose response.
    pub what: Text<'static>,
    /// The number that has to fit.
    pub needed: u64,
    /// The room for them.
    pub there: u64,
    /// The unit: `pages` or `ns`.
    pub unit: Text<'static>,
    /// Whether they fit.
    pub fits: bool,
}

impl<'a> SchemeTerms<'a> {
    /// Those of a cluster under the scheme of that name; `None` under other analyses.
    pub fn new(set: &'a TaskSet, analysis: &str, cluster: &Cluster) -> Option<SchemeTerms<'a>> {
        let scheme = baseline(analysis)?;
        let tasks: Vec<&Task> = cluster.tasks.iter().filter_map(|&task| set.tasks().get(task)).collect();
        let terms = scheme.terms(set.device(), &tasks, cluster.size());
        let rooms = scheme.rooms(set.device(), &tasks, cluster.size());
        Some(SchemeTerms {
            terms: terms.iter().map(|term| SchemeTerm::new(&tasks, term)).collect(),
            rooms: rooms.iter().map(SchemeRoom::new).collect(),
        })
    }
}

impl<'a> SchemeTerm<'a> {
    fn new(tasks: &[&'a Task], term: &BaselineTerm) -> SchemeTerm<'a> {
        SchemeTerm {
            task: term.task.and_then(|at| tasks.get(at)).map(|task| task.name.as_str().into()),
            term: term.what.into(),
            times: capped(term.times),
            cost_ns: Nanoseconds::Whole(term.cost),
            period_ns: term.period.into(),
            utilization: term.share().to_f64(),
        }
    }
}

impl SchemeRoom {
    fn new(room: &Room) -> SchemeRoom {
        let unit = match room.unit {
            RoomUnit::Pages => "pages",
            RoomUnit::Nanoseconds => "ns",
        };
        SchemeRoom {
            what: room.what.into(),
            needed: capped(room.needed),
            there: capped(room.there),
            unit: unit.into(),
            fits: room.fits(),
        }
    }
}
