//! The plan that the user typed.

use rtflash_alloc::allocator::{ALLOCATORS, Allocator, AnyAllocation};
use rtflash_analysis::{Analysis, baseline};
use rtflash_experiment::Plan;
use rtflash_experiment::plan::{Axis, Bandwidth, Contender, ExperimentError, Measure, Spec, Sweep, Value};
use rtflash_model::generate::MAX_TASKS;
use rtflash_model::{Reliance, TaskSet};
use rtflash_plan::Service;

use super::manifest::Manifest;
use crate::CommandFailure;
use crate::answer::Unanswered;
use crate::args::{ExperimentArgs, ExperimentKind};
use crate::commands::generate::DeviceFrom;
use crate::commands::{allocator, analysis_relying_on, generate};
use crate::render::kind::promises;

pub fn plan(
    args: &ExperimentArgs,
    device_from: DeviceFrom,
    own: &OwnContenders,
) -> Result<(Plan, Manifest), Unanswered> {
    let device = generate::device(&args.sets.device, device_from)?;
    let analyses = analyses(args, own)?;
    let made_for = match &args.analysis {
        Some(name) => Some(own.analysis(name, args.rely_on.granted)?),
        // With one analysis there is no question.
        None => Some(analyses[0]).filter(|only| analyses.len() == 1 && !only.is_necessary()),
    };
    let others = analyses.iter().filter(|analysis| !analysis.is_necessary()).count();
    if args.analysis.is_none() && others > 1 && others < analyses.len() {
        fail!(
            "--analyses: `necessary` bounds the others on the same sets: --analysis says for which of them these are made"
        );
    }
    let usual = match args.kind {
        ExperimentKind::Schedulability => "0.1..4.0",
        ExperimentKind::WriteHeavy => "2.0",
        ExperimentKind::Bandwidth => "0.1..3.1",
    };
    let utilizations = generate::utilizations(args.util.as_deref(), Some(usual), &args.sets)?;
    let sets = generate::set_spec(&args.sets, device, analyses[0]);
    let spec = Spec {
        measure: measure(args),
        sets,
        sets_per_point: args.sets.sets,
        analysis: made_for,
        utilizations,
        sweep: sweep(args)?,
        contenders: contenders(args, &analyses, own)?,
    };
    generate::some_sets(&args.sets)?;
    let planned = match &own.sets {
        None => Plan::new(spec),
        Some(sets) => Plan::of_sets(spec, sets.clone(), args.sets.step),
    };
    let plan = planned.map_err(|error| match error {
        ExperimentError::Options(None, error) => generate::impossible(error),
        error => CommandFailure(error.to_string()),
    })?;
    let manifest = Manifest::new(args, &plan);
    Ok((plan, manifest))
}

/// Algorithms and analyses of a program that embeds the command, found by name before its own, and
/// task sets.
#[derive(Default, Clone)]
pub struct OwnContenders {
    /// The algorithms.
    pub allocators: Vec<&'static dyn Allocator>,
    /// The analyses.
    pub analyses: Vec<&'static dyn Analysis>,
    /// The task sets; `None` where they are to be drawn.
    pub sets: Option<Vec<TaskSet>>,
}

impl OwnContenders {
    fn analysis(&self, name: &str, granted: Reliance) -> Result<&'static dyn Analysis, CommandFailure> {
        let own = self.analyses.iter().copied().find(|analysis| analysis.name() == name);
        own.map_or_else(|| analysis_relying_on(name, granted), Ok)
    }

    fn allocator(&self, name: &str) -> Result<&'static dyn Allocator, CommandFailure> {
        let own = self.allocators.iter().copied().find(|allocator| allocator.name() == name);
        own.map_or_else(|| allocator(name), Ok)
    }
}

fn analyses(args: &ExperimentArgs, own: &OwnContenders) -> Result<Vec<&'static dyn Analysis>, CommandFailure> {
    let granted = args.rely_on.granted;
    if args.analyses.is_empty() {
        return Ok(vec![own.analysis(args.analysis.as_deref().unwrap_or("thesis"), granted)?]);
    }
    args.analyses.iter().map(|name| own.analysis(name, granted)).collect()
}

fn measure(args: &ExperimentArgs) -> Measure {
    if args.kind != ExperimentKind::Bandwidth {
        return Measure::Schedulability;
    }
    Measure::Bandwidth(Bandwidth {
        warmup: args.warmup,
        duration: args.duration,
        read_pages: args.read_pages,
        write_pages: args.write_pages,
        gap: args.gap,
        dispatch: args.dispatch,
        victims: args.victims,
        aging: args.aging,
        pattern: args.pattern,
    })
}

fn sweep(args: &ExperimentArgs) -> Result<Option<Sweep>, CommandFailure> {
    let wrong = |error: rtflash_experiment::plan::SweepError| {
        CommandFailure(format!("--sweep {}: {error}", args.sweep.as_deref().unwrap_or("write_heavy")))
    };
    match (&args.sweep, args.kind) {
        (None, ExperimentKind::WriteHeavy) => {
            if args.sets.write_heavy.is_some() || args.sets.write_share.is_some() {
                fail!(
                    "write-heavy goes through all numbers of write-heavy tasks: leave --write-heavy and --write-share \
                     out"
                );
            }
            // More than there may be are refused with the sets.
            let tasks = args.sets.tasks.min(MAX_TASKS);
            Sweep::new(Axis::WriteHeavy, (0..=tasks).map(Value::Count).collect()).map(Some).map_err(wrong)
        }
        (None, _) => Ok(None),
        (Some(text), _) => {
            let sweep: Sweep = text.parse().map_err(wrong)?;
            if args.kind == ExperimentKind::WriteHeavy && sweep.axis() != Axis::WriteHeavy {
                fail!(
                    "--sweep {text}: write-heavy is a sweep itself; `experiment schedulability --write-heavy K \
                     --sweep {text}` sweeps this"
                );
            }
            if matches!(sweep.axis(), Axis::WriteHeavy | Axis::WriteShare)
                && (args.sets.write_heavy.is_some() || args.sets.write_share.is_some())
            {
                fail!("--sweep {text} says how much tasks write: leave --write-heavy and --write-share out");
            }
            Ok(Some(sweep))
        }
    }
}

fn contenders(
    args: &ExperimentArgs,
    analyses: &[&'static dyn Analysis],
    own: &OwnContenders,
) -> Result<Vec<Contender>, CommandFailure> {
    let bandwidth = args.kind == ExperimentKind::Bandwidth;
    if bandwidth && analyses.iter().any(|analysis| analysis.is_necessary()) {
        fail!("--analyses necessary: it divides nothing, so there is no job to serve");
    }
    let given: Vec<&str> = args.algorithms.iter().map(String::as_str).collect();
    let mut contenders = Vec::new();
    for name in if given.is_empty() { usual_contenders(analyses, bandwidth) } else { &given } {
        let (allocator, service) = contender(name.trim(), bandwidth, own)?;
        let deciding = analyses.iter().filter(|analysis| !analysis.is_necessary());
        contenders.extend(deciding.map(|&analysis| Contender { allocator, analysis, service }));
    }
    // The necessary analyses are of all algorithms at once.
    let necessary = analyses.iter().filter(|analysis| analysis.is_necessary());
    contenders.extend(necessary.map(|&analysis| Contender::new(&AnyAllocation, analysis)));
    Ok(contenders)
}

/// The contenders if no algorithms are named, in bandwidth or in schedulability.
fn usual_contenders(analyses: &[&'static dyn Analysis], bandwidth: bool) -> &'static [&'static str] {
    let is_baseline = analyses.first().is_some_and(|first| baseline(first.name()).is_some());
    match (analyses.iter().any(|&analysis| promises(analysis)), is_baseline, bandwidth) {
        (true, _, true) => &["best-fit+tbs", "equal-split+background"],
        // Part-FTL makes no clusters that could be placed.
        (true, _, false) => &["best-fit", "clustering-bfd", "equal-split", "global"],
        (false, true, true) => &["equal-split+background"],
        (false, true, false) => &["clustering-bfd", "equal-split", "global"],
        (false, false, true) => &["clustering-bfd+tbs", "equal-split+background"],
        (false, false, false) => &["clustering-bfd", "equal-split", "part-ftl", "global"],
    }
}

/// An algorithm, with its service behind a `+` where jobs are run.
fn contender(
    text: &str,
    bandwidth: bool,
    own: &OwnContenders,
) -> Result<(&'static dyn Allocator, Service), CommandFailure> {
    let wrong = |problem: String| CommandFailure(format!("--algorithms {text}: {problem}"));
    let (name, server) = text.split_once('+').map_or((text, None), |(name, server)| (name, Some(server)));
    let allocator = own.allocator(name).map_err(|failure| {
        wrong(format!("{}; there are {}", failure.0, ALLOCATORS.map(|allocator| allocator.name()).join(", ")))
    })?;
    if !bandwidth {
        return match server {
            Some(_) => Err(wrong("a server belongs to `experiment bandwidth` alone: no job is run here".into())),
            None => Ok((allocator, Service::Tbs)),
        };
    }
    if name == "part-ftl" {
        return Err(wrong("it makes no clusters: there is nothing to run".into()));
    }
    // As the thesis compares them: its own algorithm (and its betters) with servers, the baselines
    // with background execution.
    let baseline = ["global", "full-isolation", "equal-split"].contains(&name);
    let service = match server {
        Some("tbs") => Service::Tbs,
        Some("background") => Service::Background,
        Some(other) => return Err(wrong(format!("there is no server `{other}`: write +tbs or +background"))),
        None if baseline => Service::Background,
        None => Service::Tbs,
    };
    Ok((allocator, service))
}
