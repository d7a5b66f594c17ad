//! Pages of jobs that are not real-time, served beside a set (Figure V.2 of the thesis).

use rtflash_exec::report::{Report, Statistics};
use rtflash_exec::trace::Kind;
use rtflash_exec::{Options, Service, Times, memory, run};
use rtflash_model::random::Stream;
use rtflash_model::{Allocation, Arrivals, Job, TaskSet};
use rtflash_run::{TbsServers, plan as executable};

use super::outcome;
use crate::failure::RunFailure;
use crate::plan::{Bandwidth, Contender, Plan};
use crate::tally::Tally;

/// Bytes that the tables of one run may take. Every thread has a run, and what is run must not
/// depend on how many there are.
const MEMORY: u64 = 256 << 20;

/// Runs a set that every contender schedules, once for each kind of job and each contender, and
/// counts the pages served.
pub(super) fn count(
    plan: &Plan,
    options: &Bandwidth,
    point: usize,
    index: u64,
    set: &TaskSet,
    tally: &mut Tally,
) -> Result<(), RunFailure> {
    let outcomes: Vec<_> =
        plan.contenders().iter().map(|contender| outcome(contender, set)).collect::<Result<_, _>>()?;
    let verdicts: Vec<_> = outcomes.iter().map(rtflash_alloc::allocator::Outcome::is_schedulable).collect();
    tally.count(&verdicts);
    if verdicts.iter().any(|&verdict| verdict != Some(true)) {
        return Ok(());
    }
    let seed = seed(plan, point, index);
    let mut counted = Vec::with_capacity(2);
    for (read_pages, write_pages) in [(options.read_pages, 0), (0, options.write_pages)] {
        let arrivals = Arrivals::Uniform(options.gap.0, options.gap.1);
        let job = Job { name: "job".into(), read_pages, write_pages, arrivals };
        let Ok(set) = TaskSet::new(*set.device(), set.tasks().as_slice().to_vec(), vec![job]) else { break };
        let runs: Option<Vec<(u64, u64)>> = plan
            .contenders()
            .iter()
            .zip(&outcomes)
            .map(|(contender, outcome)| serve(&set, outcome.allocation()?, contender, options, seed))
            .collect();
        let Some(runs) = runs else { break };
        counted.push(runs);
    }
    if counted.len() < tally.runs.len() {
        tally.not_run += 1;
        return Ok(());
    }
    for (sums, runs) in tally.runs.iter_mut().zip(counted) {
        let (pages, misses): (Vec<u64>, Vec<u64>) = runs.into_iter().unzip();
        sums.count(&pages, &misses);
    }
    Ok(())
}

/// The seed of a set's runs: the same for all contenders, so that jobs arrive at the same times.
fn seed(plan: &Plan, point: usize, index: u64) -> u64 {
    let place = Stream::numbered(plan.spec().sets.seed, b"point\0\0\0", plan.point(point).utilization.billionths())
        .below(u64::MAX);
    Stream::numbered(place, b"run\0\0\0\0\0", index).below(u64::MAX)
}

/// Pages of jobs served and real-time deadlines missed in one run; `None` where it cannot be run.
fn serve(
    set: &TaskSet,
    allocation: &Allocation,
    contender: &Contender,
    options: &Bandwidth,
    seed: u64,
) -> Option<(u64, u64)> {
    let &Bandwidth { duration, dispatch, victims, aging, pattern, .. } = options;
    let run_options = Options {
        duration,
        dispatch,
        service: contender.service,
        victims,
        aging,
        pattern,
        times: Times::Worst,
        seed,
        ..Options::default()
    };
    let plan = executable(set, allocation, contender.analysis).ok()?;
    if memory(&plan, &run_options) > MEMORY {
        return None;
    }
    let mut servers = match contender.service {
        Service::Tbs => TbsServers::new(set, allocation, contender.analysis),
        Service::Background => TbsServers::none(),
    };
    let statistics = run(&plan, &run_options, &mut servers, |_| Statistics::new(&plan, duration)).ok()?;
    let report = statistics
        .into_iter()
        .map(|statistics| statistics.finish(&plan))
        .fold(Statistics::new(&plan, duration).finish(&plan), Report::merge);
    let pages = report.clusters.iter().map(|cluster| cluster.non_real_time).sum();
    let requests = |kind: Kind| matches!(kind, Kind::Read | Kind::Write);
    let late = plan.sources().iter().zip(&report.sources).filter(|(source, _)| requests(source.kind));
    Some((pages, late.map(|(_, source)| source.misses + source.overdue).sum()))
}
