//! The answer of `alloc` for a person: the verdict, the clusters, and where it failed what would
//! help.

use rtflash_alloc::advice::Advice;
use rtflash_alloc::allocator::Outcome;
use rtflash_analysis::certified::reliances;
use rtflash_analysis::reason::Reason;
use rtflash_analysis::verdict::{in_time, report, spaces};
use rtflash_analysis::{Analysis, DemandTest, PartFtl};
use rtflash_answers::reasons::{beside, impossible_reason, suspends_nothing};
use rtflash_answers::{Guarantee, Verdicts, needed, on_device, proof, task_name};
use rtflash_model::{Allocation, Certificate, ChipId, Cluster, Reliance, Span, TaskId, TaskSet};

use super::advice_text::advice;
use super::kind::{promises, words};
use super::numbers::{count, names, runs, share, time};
use super::table::table;
use super::{data, unplaced, verdicts};
use crate::output::{DIM, paint};

/// Names of tasks shown for a cluster.
const NAMES: usize = 4;
const CLUSTERS: usize = 64;

pub struct OutcomeText<'a> {
    set: &'a TaskSet,
    algorithm: &'a str,
    analysis: &'a dyn Analysis,
    outcome: &'a Outcome,
    verdicts: Verdicts,
    relies_on: Option<Reliance>,
}

impl<'a> OutcomeText<'a> {
    pub fn new(
        set: &'a TaskSet,
        algorithm: &'a str,
        analysis: &'a dyn Analysis,
        outcome: &'a Outcome,
        guarantee: &Guarantee,
    ) -> OutcomeText<'a> {
        let verdicts = Verdicts::of_outcome(set, algorithm, analysis, outcome, &guarantee.verdict);
        let relies_on = match outcome {
            Outcome::Schedulable(allocation) => needed(set, allocation),
            _ => None,
        };
        OutcomeText { set, algorithm, analysis, outcome, verdicts, relies_on }
    }

    /// The two verdicts, and a line on what the algorithm made of the set.
    pub fn headline(&self) -> String {
        verdicts::text(&self.verdicts) + &self.line()
    }

    pub fn line(&self) -> String {
        format!("{} {}\n", self.what(), paint(DIM, &self.how()))
    }

    fn what(&self) -> String {
        let OutcomeText { set, algorithm, outcome, .. } = *self;
        let tasks = count(set.tasks().len(), "task");
        let device = count(set.device().chips(), "chip");
        match outcome {
            Outcome::Schedulable(allocation) => {
                let clusters = allocation.clusters();
                let used = clusters.iter().filter(|cluster| !cluster.tasks.is_empty()).count();
                let free: usize =
                    clusters.iter().filter(|cluster| cluster.tasks.is_empty()).map(|cluster| cluster.chips.len()).sum();
                let spare = if free > 0 { format!(", {free} left free") } else { String::new() };
                format!("{algorithm} puts {tasks} into {} of the {device}{spare}", count(used, "cluster"))
            }
            Outcome::NotSchedulable(failure) if matches!(failure.unplaced.reason, Reason::Data(_)) => {
                let size = failure.overloaded.as_ref().map_or(0, |allocation| {
                    allocation.clusters().iter().filter(|cluster| !cluster.tasks.is_empty()).count()
                });
                match size {
                    0 => format!("{algorithm} finds no allocation of {tasks} to {device}"),
                    size => format!(
                        "{algorithm} puts {tasks} into {} of the {device}, where their data do not fit",
                        count(size, "cluster")
                    ),
                }
            }
            Outcome::NotSchedulable(_) if algorithm == "exact" && !promises(self.analysis) => {
                format!("no allocation of {tasks} to {device} passes the test")
            }
            Outcome::NotSchedulable(_) => format!("{algorithm} finds no allocation of {tasks} to {device}"),
            Outcome::Partitioned(_) if outcome.is_schedulable() == Some(true) => {
                format!("{algorithm} divides {device} by its own test: {tasks}")
            }
            Outcome::Partitioned(_) => format!("{algorithm} finds no division of {device} for {tasks}"),
            Outcome::Impossible(_) => format!("no allocation of {tasks} to {device} meets every deadline"),
            Outcome::CannotTell(_) => format!("{algorithm} decides nothing on {tasks} and {device}"),
        }
    }

    /// By what it was tested.
    fn how(&self) -> String {
        let name = self.analysis.name();
        // Only a yes has a reliance: behind a no it is other clusters that rely on something.
        let relies_on = self.relies_on.filter(|_| self.outcome.is_schedulable() == Some(true));
        match self.outcome {
            Outcome::Partitioned(_) => "(its own test)".to_owned(),
            Outcome::CannotTell(_) | Outcome::Impossible(_) => format!("(analysis: {name})"),
            _ => match self.analysis.demand_test() {
                None => format!("(analysis: {name})"),
                Some(test) => format!("(analysis: {name}; {})", relying_on(test, relies_on)),
            },
        }
    }

    /// The answer to a set that stands alone, with what would help.
    pub fn answer(&self, help: Option<&Advice>) -> String {
        let OutcomeText { set, outcome, .. } = *self;
        let mut text = self.headline();
        if let Outcome::Partitioned(verdict) = outcome {
            text += &partitioned(verdict);
        }
        if let Some(allocation) = outcome.allocation() {
            text += "\n";
            text += &self.clusters(allocation);
            if outcome.is_schedulable() == Some(true) && promises(self.analysis) {
                text += &relying(set, allocation);
                text += &suspends_nothing(set, allocation).map_or_else(String::new, |note| format!("  ({note})\n"));
            }
        }
        let why = self.failure();
        let text = if why.is_empty() { text } else { format!("{text}\n{why}") };
        text + &help.map_or_else(String::new, |help| advice(set, self.algorithm, help))
    }

    /// Why the set fails: the task that could not be placed, data that do not fit, and whether any
    /// allocation would do.
    pub fn failure(&self) -> String {
        let unplaced = match self.outcome {
            Outcome::NotSchedulable(failure) => unplaced::text(self.set, failure, self.analysis),
            _ => String::new(),
        };
        let impossible = proof(self.set, self.analysis, self.outcome);
        let impossible = impossible.map_or_else(String::new, |proof| {
            let why = impossible_reason(self.set, &proof, beside);
            match self.outcome {
                // The line above has said that there is none.
                Outcome::Impossible(_) => capitalised(&why) + ".\n",
                _ => format!("No allocation meets every deadline, whatever the algorithm: {why}.\n"),
            }
        });
        let failed = self.outcome.is_schedulable() == Some(false);
        let no_use = if failed { granted_for_nothing(self.set, self.analysis) } else { String::new() };
        unplaced + &self.too_full() + &no_use + &impossible
    }

    /// The clusters of an allocation as a table. Free clusters of one chip share a row.
    fn clusters(&self, allocation: &Allocation) -> String {
        let set = self.set;
        let clusters = allocation.clusters();
        let reports = report(set, self.analysis, allocation);
        let promises = promises(self.analysis);
        let serves = |position: usize| !promises || reports[position].server > 0.0;
        let (free, shown): (Vec<_>, Vec<_>) = clusters
            .iter()
            .enumerate()
            .partition(|(position, cluster)| cluster.tasks.is_empty() && cluster.size() == 1 && serves(*position));
        let row = |(position, cluster): &(usize, &Cluster)| {
            let report = &reports[*position];
            let members = names(cluster.tasks.iter().map(|&task| task_name(set, task)), NAMES);
            let server = if report.utilization > 1.0 { "none".into() } else { share(report.server) };
            let shares = [report.utilization, report.read, report.write, report.gc, report.blocking].map(share);
            let members = if members.is_empty() { "(free)".into() } else { members };
            let certificate = allocation.certificate(*position);
            let (organisation, slack) = promises.then(|| (organisation(certificate), slack(certificate))).unzip();
            [position.to_string(), runs(&cluster.chips), members]
                .into_iter()
                .chain(organisation)
                .chain(shares)
                .chain(slack)
                .chain([server])
                .collect()
        };
        let mut rows: Vec<Vec<String>> = shown.iter().take(CLUSTERS).map(row).collect();
        if !free.is_empty() {
            let all: Vec<ChipId> = free.iter().flat_map(|(_, cluster)| cluster.chips.iter().copied()).collect();
            let positions: Vec<u32> = free.iter().filter_map(|(position, _)| u32::try_from(*position).ok()).collect();
            let each = if free.len() == 1 { "(free)" } else { "(free, one chip each)" };
            let zero = share(0.0);
            let shares = std::iter::repeat_n(zero, 5);
            let cells = [elide(&runs(&positions)), elide(&runs(&all)), each.to_owned()].into_iter();
            let (organisation, slack) = promises.then(|| ("stripe".to_owned(), String::new())).unzip();
            let server = free.iter().map(|(position, _)| reports[*position].server).fold(1.0, f64::min);
            rows.push(cells.chain(organisation).chain(shares).chain(slack).chain([share(server)]).collect());
        }
        let heading = ["cluster", "chips", "tasks"].into_iter().chain(promises.then_some("kind"));
        let heading = heading
            .chain([words(self.analysis).share, ">read", ">write", ">gc", ">blocking"])
            .chain(promises.then_some(">slack"))
            .chain([">server"]);
        let mut text = table(&heading.collect::<Vec<_>>(), rows);
        if promises && !shown.is_empty() {
            text += "  (demand, its parts and the slack: of the tightest interval; a server's share is a stripe's of \
                     each chip)\n";
        }
        if shown.len() > CLUSTERS {
            text += &format!("  … and {} more clusters (all of them: --format json)\n", shown.len() - CLUSTERS);
        }
        text
    }

    /// The report on data that do not fit, cluster by cluster and task by task; beside it, the
    /// verdict of the test of time by itself.
    fn too_full(&self) -> String {
        let OutcomeText { set, analysis, outcome, .. } = *self;
        let mut text = String::new();
        if let Some(allocation) = outcome.allocation() {
            let spaces = spaces(set, analysis, allocation);
            for (position, (cluster, space)) in allocation.clusters().iter().zip(&spaces).enumerate() {
                if !space.fits() {
                    text += &data::too_full(set, position, &cluster.tasks, cluster.chips.len(), space);
                }
            }
            if !text.is_empty() {
                let late = in_time(set, analysis, allocation).iter().position(|in_time| !in_time);
                text += &match late {
                    None => words(analysis).only_data.to_owned(),
                    Some(late) => format!("Nor are all deadlines met: cluster {late} fails its test of time.\n"),
                };
            }
            return text;
        }
        match outcome {
            Outcome::Partitioned(verdict) if !verdict.space.fits() => {
                let all: Vec<TaskId> = set.tasks().ids().collect();
                let test = if verdict.schedulable { "by itself would pass" } else { "fails, too" };
                data::all_too_full(set, &all, "the data chips", &verdict.space)
                    + &format!("Its test {test}: it knows nothing of space.\n")
            }
            Outcome::NotSchedulable(_) if !on_device(set).fits() => {
                let all: Vec<TaskId> = set.tasks().ids().collect();
                data::all_too_full(set, &all, "the device", &on_device(set))
            }
            _ => text,
        }
    }
}

fn capitalised(clause: &str) -> String {
    let mut letters = clause.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The reliance of the clusters that do not hold by themselves.
fn relying(set: &TaskSet, allocation: &Allocation) -> String {
    let reliances = reliances(set, allocation);
    let of = |wanted: Reliance| -> Vec<u32> {
        (0..).zip(&reliances).filter(|(_, reliance)| **reliance == Some(wanted)).map(|(position, _)| position).collect()
    };
    let line = |wanted: Reliance, because: &str| {
        let positions = of(wanted);
        if positions.is_empty() {
            return String::new();
        }
        let (clusters, verb) = if positions.len() == 1 { ("cluster", "relies") } else { ("clusters", "rely") };
        format!("  ({clusters} {} {verb} on {because})\n", elide(&runs(&positions)))
    };
    line(Reliance::Neighbours, "what the tasks of the clusters next to it move at most: docs/analysis.md, Section 6")
        + &line(
            Reliance::Queue,
            "a first-come-first-served bus, steady reads and transfers, and what all chips there move at \
             most: docs/analysis.md, Section 6.1",
        )
}

/// The reliance of a guarantee, in words: that of the clusters, if it is known.
fn relying_on(test: DemandTest, relies_on: Option<Reliance>) -> String {
    match relies_on {
        Some(Reliance::Nothing) => "relies on no neighbour".into(),
        Some(Reliance::Neighbours) => "relies on its neighbours' tasks".into(),
        Some(Reliance::Queue) => "relies on its neighbours' tasks, a FIFO bus and steady reads".into(),
        None => format!("--assume {}", test.rely_on.assumption()),
    }
}

/// The reliance that is granted and is of no use on this device; empty where there is none.
fn granted_for_nothing(set: &TaskSet, analysis: &dyn Analysis) -> String {
    let device = set.device();
    if analysis.demand_test().is_none_or(|test| test.rely_on != Reliance::Queue) || device.has_steady_reads() {
        return String::new();
    }
    let stated = |[least, most]: [Span; 2]| {
        if least == most { most.to_string() } else { format!("{least} to {most}") }
    };
    let sensing = stated([device.page_read_min(), device.page_read()]);
    let transfers = stated([device.page_transfer_min(), device.page_transfer()]);
    if device.has_commands() {
        let command = device.command();
        return format!(
            "--assume fifo-bus allows no more than --assume neighbour-load here: the device has no steady reads, with \
             commands of {command}, sensing of {sensing} and transfers of {transfers} (docs/analysis.md, Section \
             6.3, Q5).\n"
        );
    }
    format!(
        "--assume fifo-bus allows no more than --assume neighbour-load here: the device has no steady reads, with \
         sensing of {sensing} and transfers of {transfers} (docs/analysis.md, Section 6.1, Q3).\n"
    )
}

fn organisation(certificate: Option<&Certificate>) -> String {
    certificate.map_or("none", |each| each.placement.name()).to_owned()
}

fn slack(certificate: Option<&Certificate>) -> String {
    match certificate.and_then(|certificate| certificate.tightest) {
        None => "-".into(),
        Some(tightest) => {
            let (sign, slack) = (if tightest.slack_ns < 0 { "-" } else { "" }, tightest.slack_ns.unsigned_abs() as f64);
            format!("{sign}{} of {}", time(slack), time(tightest.length.as_ns() as f64))
        }
    }
}

fn elide(list: &str) -> String {
    if list.len() <= 24 { list.to_owned() } else { format!("{} …", &list[..list[..22].rfind(", ").unwrap_or(22)]) }
}

fn partitioned(verdict: &PartFtl) -> String {
    let rows = [("reading", verdict.read_utilization), ("writing", verdict.write_utilization)];
    let rows = rows.map(|(mode, utilization)| vec![mode.to_owned(), share(utilization)]);
    format!("\n{}", table(&["chips in mode", ">U"], rows))
}
