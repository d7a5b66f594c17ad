//! `rtflash admit`: may tasks be added to what runs, without moving data?

use std::path::Path;

use rtflash_alloc::admission::{Decision, Removals, RunningDevice, admit, served_streams, servers_left_out};
use rtflash_analysis::{Analysis, DemandTest, Work};
use rtflash_answers::{
    AddedTask, AdmitAnswer, LeftOutAnswer, RefusedTask, RemovableTask, RunningCluster, ServedStream, Verdict, Verdicts,
};
use rtflash_model::{Certificate, PartialAllocation, TaskSet, read_partial_allocation};

use super::{analysis_relying_on, export, warn_of_typical_times};
use crate::answer::{Status, Unanswered};
use crate::args::AdmitArgs;
use crate::render::numbers::plain;
use crate::render::{admit_text, rendered};
use crate::{CommandFailure, output, source};

pub fn run(args: &AdmitArgs) -> Result<Status, Unanswered> {
    let analysis = analysis_relying_on(&args.analysis, args.rely_on.granted)?;
    let test = analysis.demand_test().expect("--analysis takes names of analyses that make certificates");
    source::at_most_one_from_stdin(&[&args.allocation, &args.file])?;
    let file = export::read_one(&args.file, &args.set)?;
    let set = &file.set;
    if let Some(refused) = analysis.refuses(set) {
        return Err(Unanswered::because(&refused.to_string(), Status::CannotTell));
    }
    warn_of_typical_times(set.device());
    let (name, running, gone_tasks) = read_running(&args.allocation, set)?;
    // Without jobs, servers that are not named have served none.
    let named = !args.without_server.is_empty();
    let running = if named { running } else { RunningDevice::of_parts(set, running.clusters, running.certificates) };
    if let Some(late) = running.late(set, test.rely_on, &Work::new()) {
        let analysis = analysis.name();
        fail!("{name}: cluster {late} is not in time as it runs: see `rtflash check --analysis {analysis}`");
    }
    let (running, left_out) = match &args.without_server[..] {
        [] => (running, None),
        positions => {
            let Some((running, left_out)) = without_servers(&name, set, running, positions, test)? else {
                let what = "it is not known when the cluster, or one on its channels, is idle";
                let why = format!("{name}: --without-server: {what}");
                return Err(Unanswered::because(&why, Status::CannotTell));
            };
            (running, Some(left_out))
        }
    };
    let answer = AdmitAnswer { left_out, ..answered(set, running, analysis, test, gone_tasks) };
    output::print(&rendered(args.format.format, &answer, || admit_text::text(&answer, set.device())))?;
    Ok(Status::of(Some(answer.admitted)))
}

/// An allocation with certificates: its file's name, what runs by it with all servers that it
/// states, and tasks that it names and the set does not have.
pub fn read_running(path: &Path, set: &TaskSet) -> Result<(String, RunningDevice, Vec<String>), Unanswered> {
    let (name, text) = source::read(path)?;
    let read = read_partial_allocation(&text, set).map_err(|wrong| Unanswered::refused(&name, &text, &wrong))?;
    let PartialAllocation { clusters, certificates, gone_tasks } = read;
    let certificates: Option<Vec<Certificate>> = certificates.into_iter().collect();
    let Some(certificates) = certificates else {
        fail!(
            "{name}: a cluster has no certificate to run by; `rtflash alloc --analysis sound --format json` makes them"
        );
    };
    Ok((name, RunningDevice { clusters, certificates }, gone_tasks))
}

/// The clusters that run once some servers are left out; `None` where it is not known when they may
/// be.
fn without_servers(
    name: &str,
    set: &TaskSet,
    running: RunningDevice,
    positions: &[usize],
    test: DemandTest,
) -> Result<Option<(RunningDevice, LeftOutAnswer)>, CommandFailure> {
    let serves = |&at: &usize| running.certificates.get(at).is_some_and(|of| of.server_thousandths > 0);
    if let Some(at) = positions.iter().find(|at| !serves(at)) {
        fail!("{name}: --without-server {at}: there is no server");
    }
    let left_out = servers_left_out(set, &running, positions, test.rely_on, &Work::new());
    let Some(left_out) = left_out else { return Ok(None) };
    let answer = LeftOutAnswer::new(&running, &left_out);
    let RunningDevice { clusters, certificates } = left_out.running;
    Ok(Some((RunningDevice::of_parts(set, clusters, certificates), answer)))
}

fn answered<'a>(
    set: &'a TaskSet,
    running: RunningDevice,
    analysis: &dyn Analysis,
    test: DemandTest,
    gone: Vec<String>,
) -> AdmitAnswer<'a> {
    let work = Work::new();
    let removals = Removals::new(set, &running, test.rely_on, &work);
    let removable = |task| RemovableTask::new(set, task, removals.within(task));
    let removable = set.tasks().ids().filter(|&task| removals.runs(task)).map(removable).collect();
    let (mut added, mut refused, mut after) = (Vec::new(), None, running.clone());
    for task in set.tasks().ids().filter(|&task| !removals.runs(task)) {
        match admit(test, set, &after, task, &work) {
            Decision::Admitted(admitted) => {
                added.push(AddedTask::new(set, task, &admitted));
                after = admitted.running;
            }
            Decision::Refused(refusals) => {
                refused = Some(RefusedTask::new(set, task, &refusals));
                added.clear();
                after = running.clone();
                break;
            }
        }
    }
    let served = served_streams(set, &after, test.rely_on, &work);
    let all_served = served.iter().all(Result::is_ok);
    let streams = set.jobs().iter().zip(served).map(|(job, served)| ServedStream::new(job, served)).collect();
    // Job streams have no deadlines.
    let own = refused
        .as_ref()
        .map_or(Verdict::YES, |refused| Verdict::no(format!("task {} is not admitted", plain(&refused.task))));
    AdmitAnswer {
        admitted: own == Verdict::YES && all_served,
        verdicts: Verdicts::of(set, analysis, &own),
        analysis: analysis.name().into(),
        left_out: None,
        added,
        refused,
        streams,
        gone: gone.into_iter().map(Into::into).collect(),
        removable,
        clusters: RunningCluster::all(set, &after.tightened(set, test.rely_on, &work)),
    }
}
