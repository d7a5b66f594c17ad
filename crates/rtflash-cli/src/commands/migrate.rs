//! `rtflash migrate`: from one allocation to another on a device that runs.

use rtflash_alloc::admission::RunningDevice;
use rtflash_alloc::migration::{Migration, MigrationOptions, MigrationRefusal, StageRefusal, migrate};
use rtflash_analysis::{Analysis, Work};
use rtflash_answers::{MigrateAnswer, MissingCluster, RunningCluster, ServedStream, StageExecution, Verdict, Verdicts};
use rtflash_model::{ClusterId, Instant, Span, TaskSet};
use rtflash_plan::{DEFAULT_MEMORY, Options};
use rtflash_run::{StageRun, execute_plan};

use super::admit::read_running;
use super::{analysis_relying_on, export, warn_of_typical_times};
use crate::answer::{Status, Unanswered};
use crate::args::MigrateArgs;
use crate::render::{migrate_text, rendered};
use crate::{CommandFailure, output, source};

pub fn run(args: &MigrateArgs) -> Result<Status, Unanswered> {
    let analysis = analysis_relying_on(&args.analysis, args.rely_on.granted)?;
    let test = analysis.demand_test().expect("--analysis takes names of analyses that make certificates");
    source::at_most_one_from_stdin(&[&args.old, &args.new, &args.file])?;
    let file = export::read_one(&args.file, &args.set)?;
    let set = &file.set;
    warn_of_typical_times(set.device());
    if let Some(refused) = analysis.refuses(set) {
        return Err(Unanswered::because(&refused.to_string(), Status::CannotTell));
    }
    let (mut names, mut devices) = (Vec::new(), Vec::new());
    for path in [&args.old, &args.new] {
        let (name, running, gone) = read_running(path, set)?;
        if let Some(gone) = gone.first() {
            fail!("{name}: task `{gone}` is not in the task set; `rtflash admit` is for tasks that end");
        }
        names.push(name);
        devices.push(RunningDevice::of_parts(set, running.clusters, running.certificates));
    }
    let [old, new] = &devices[..] else { unreachable!("two files were read") };
    let options = MigrationOptions {
        placements: test.on(set.device()).placements,
        granted: test.rely_on,
        buffer_pages: args.buffer_pages,
    };
    let (answer, status) = match migrate(set, old, new, options, &Work::new()) {
        Ok(mut migration) => {
            migration.running = migration.running.tightened(set, test.rely_on, &Work::new());
            let mut answer = MigrateAnswer::found(set, analysis, old, &migration);
            let RunningDevice { clusters, certificates, .. } = &migration.running;
            let mut kinds = clusters.iter().zip(certificates).filter(|(cluster, _)| !cluster.tasks.is_empty());
            let is_its_own = kinds.all(|(_, certificate)| test.verified().contains(&certificate.placement));
            answer.accepted_by = Some(if is_its_own { analysis.name() } else { "sound" }.into());
            let passes = !args.run || executed(set, &migration, &mut answer)?;
            (answer, Status::of(Some(passes)))
        }
        Err(MigrationRefusal::NoWay(_, missing)) => (not_found(set, analysis, old, new, &missing), Status::CannotTell),
        Err(MigrationRefusal::Stream(number, refusal)) => {
            let unserved = Some(ServedStream::new(&set.jobs()[number], Err(refusal)));
            let answer = not_found(set, analysis, old, new, &[]);
            (MigrateAnswer { unserved, ..answer }, Status::CannotTell)
        }
        Err(refusal) => return Err(CommandFailure(says(set, &names, analysis.name(), &refusal)).into()),
    };
    output::print(&rendered(args.format.format, &answer, || migrate_text::text(&answer, set.device())))?;
    Ok(status)
}

fn says(set: &TaskSet, names: &[String], analysis: &str, refusal: &MigrationRefusal) -> String {
    match refusal {
        MigrationRefusal::NotInTime(cluster, is_new) => {
            let name = &names[usize::from(*is_new)];
            format!("{name}: cluster {cluster} is not in time as it runs: see `rtflash check --analysis {analysis}`")
        }
        MigrationRefusal::OtherTasks(task) => format!(
            "{} and {} do not serve the same tasks: task `{}`; `rtflash admit` is for tasks that come and go",
            names[0],
            names[1],
            set.tasks().get(*task).map_or("", |task| &task.name)
        ),
        MigrationRefusal::NoWay(..) | MigrationRefusal::Stream(..) => "no way was found".to_owned(),
    }
}

fn not_found<'a>(
    set: &'a TaskSet,
    analysis: &'static dyn Analysis,
    old: &RunningDevice,
    new: &RunningDevice,
    missing: &[(ClusterId, StageRefusal)],
) -> MigrateAnswer<'a> {
    let of =
        |&(at, refusal): &(ClusterId, StageRefusal)| MissingCluster::new(set, at, &new.clusters[at.index()], refusal);
    MigrateAnswer {
        verdicts: Verdicts::of(set, analysis, &Verdict::cannot_tell("no way was found")),
        analysis: analysis.name().into(),
        missing: missing.iter().map(of).collect(),
        clusters: RunningCluster::all(set, old),
        ..MigrateAnswer::default()
    }
}

/// Runs each stage on a simulated device; whether every check holds.
fn executed(set: &TaskSet, migration: &Migration, answer: &mut MigrateAnswer<'_>) -> Result<bool, CommandFailure> {
    let mut passes = true;
    for (stage, told) in migration.stages.iter().zip(&mut answer.stages) {
        let failed = |why: &dyn std::fmt::Display| CommandFailure(format!("a stage cannot be run: {why}"));
        let run = StageRun::new(set, stage, Instant::START).ok_or_else(|| failed(&"it is too long"))?;
        let releases = run.releases(run.over, |_, _| Span::ZERO, |_, _| Span::ZERO);
        let plan = run.plan(&releases).map_err(|why| failed(&why))?;
        let options =
            Options { duration: run.over, releases: Some(std::sync::Arc::new(releases)), ..Options::default() };
        let found = execute_plan(DEFAULT_MEMORY, plan, &options).map_err(|why| failed(&why))?;
        let operations = found.report.operations();
        let broken = found.findings.iter().filter(|finding| !finding.gauge.holds());
        told.executed = Some(StageExecution {
            passes: found.passes(),
            operations: operations.reads + operations.programs + operations.erases,
            duration_ns: run.over.as_ns(),
            broken: broken.map(|finding| finding.assumption.name().into()).collect(),
        });
        passes &= found.passes();
    }
    Ok(passes)
}
