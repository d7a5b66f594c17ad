//! What `host bound` answers.

use rtflash_host::bound::Bound;
use rtflash_host::run::Scenario;
use rtflash_model::format_ns;
use schemars::JsonSchema;
use serde::Serialize;

use super::numbers::plain;
use super::table::table;

/// What `rtflash host bound --format json` prints for each scheduler, a line each.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BoundAnswer<'a> {
    /// The scheduler.
    pub scheduler: &'a str,
    /// The real-time jobs, in the scenario's order.
    pub jobs: Vec<JobBound<'a>>,
}

/// A real-time job in a [`BoundAnswer`].
#[derive(Debug, Serialize, JsonSchema)]
pub struct JobBound<'a> {
    /// Its name.
    pub name: &'a str,
    /// No I/O of it takes longer, from its release to the end of its last request, in nanoseconds; null where there is no bound.
    pub bound_ns: Option<u64>,
    /// The rule of docs/host.md by which a bound was looked for.
    pub rule: &'static str,
    /// Why there is no bound; null where there is one.
    pub why: Option<String>,
    /// What the bound is the sum of; null where there is none.
    pub terms: Option<BoundTerms>,
}

/// The terms of a bound, in nanoseconds.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BoundTerms {
    /// What can be inside the device.
    pub inside_ns: u64,
    /// What other real-time jobs send ahead.
    pub ahead_ns: u64,
    /// The I/O itself.
    pub own_ns: u64,
}

impl<'a> BoundAnswer<'a> {
    /// What was found for a scenario.
    pub fn new(scenario: &'a Scenario, bounds: &[Bound]) -> BoundAnswer<'a> {
        let job = |bound: &Bound| {
            let terms = bound.terms.as_ref().ok();
            JobBound {
                name: &scenario.jobs[bound.job].name,
                bound_ns: terms.map(|terms| terms.bound().as_ns()),
                rule: bound.rule.name(),
                why: bound.terms.as_ref().err().map(ToString::to_string),
                terms: terms.map(|terms| BoundTerms {
                    inside_ns: terms.inside.as_ns(),
                    ahead_ns: terms.ahead.as_ns(),
                    own_ns: terms.own.as_ns(),
                }),
            }
        };
        BoundAnswer { scheduler: scenario.scheduler.name(), jobs: bounds.iter().map(job).collect() }
    }

    /// For a person.
    pub fn text(&self) -> String {
        if self.jobs.is_empty() {
            return format!("{}\nno job is real-time\n", self.scheduler);
        }
        let headings = ["job", ">at most", "rule", ">inside", ">ahead", ">own"];
        let time = |ns: Option<u64>| ns.map_or_else(|| "-".to_owned(), format_ns);
        let rows = self.jobs.iter().map(|job| {
            let terms = job.terms.as_ref();
            vec![
                plain(job.name),
                job.bound_ns.map_or_else(|| "none".to_owned(), format_ns),
                job.rule.to_owned(),
                time(terms.map(|terms| terms.inside_ns)),
                time(terms.map(|terms| terms.ahead_ns)),
                time(terms.map(|terms| terms.own_ns)),
            ]
        });
        let table = table(&headings, rows);
        let whys = self.jobs.iter().filter_map(|job| Some(format!("{}: {}\n", plain(job.name), job.why.as_ref()?)));
        format!("{}\n{table}{}", self.scheduler, whys.collect::<String>())
    }
}
