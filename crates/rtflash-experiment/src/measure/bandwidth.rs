//! Pages of jobs that are not real-time, served beside a set (Figure V.2 of the thesis).

use rtflash_judge::report::{Report, Statistics};
use rtflash_model::random::Stream;
use rtflash_model::{Allocation, Arrivals, ClusterId, Instant, Job, Span, TaskSet};
use rtflash_plan::{Options, Service, Times, memory};
use rtflash_run::{TbsServers, plan as executable};
use rtflash_sim::run;
use rtflash_trace::{Kind, Observer, Operation, Record};

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
    let &Bandwidth { dispatch, victims, aging, pattern, .. } = options;
    let counted_from = Instant::START.saturating_add(options.warmup.unwrap_or_else(|| turnover(set, options)));
    let duration = counted_from.saturating_add(options.duration.since(Instant::START));
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
    let observe = |_: &[ClusterId]| JobsAndPages { jobs: Statistics::new(&plan, duration), counted_from, pages: 0 };
    let served = run(&plan, &run_options, &mut servers, observe).ok()?;
    let pages = served.iter().map(|served| served.pages).sum();
    let report = served
        .into_iter()
        .map(|served| served.jobs.finish(&plan))
        .fold(Statistics::new(&plan, duration).finish(&plan), Report::merge);
    let requests = |kind: Kind| matches!(kind, Kind::Read | Kind::Write);
    let late = plan.sources().iter().zip(&report.sources).filter(|(source, _)| requests(source.kind));
    Some((pages, late.map(|(_, source)| source.misses + source.overdue).sum()))
}

/// The time in which tasks and write-only jobs, if all that arrives is written, fill the pages that
/// hold no data at the start. Until then garbage collection meets blocks as aging left them.
fn turnover(set: &TaskSet, options: &Bandwidth) -> Span {
    /// 1000 s in nanoseconds.
    const WINDOW: u128 = 1_000_000_000_000;
    let device = set.device();
    let pages_per_chip = u128::from(device.blocks_per_chip()) * u128::from(device.pages_per_block());
    let free = (u128::from(device.chips()) * pages_per_chip).saturating_sub(device.logical_pages());
    let written = |pages: u64, time_ns: u128| u128::from(pages) * WINDOW / time_ns;
    let by_tasks = set.tasks().iter().filter_map(|task| task.write);
    let by_tasks: u128 = by_tasks.map(|write| written(write.pages(), write.period().as_ns().into())).sum();
    // A gap is half of both ends on average.
    let two_gaps = u128::from(options.gap.0.as_ns()) + u128::from(options.gap.1.as_ns());
    let by_jobs = 2 * written(options.write_pages, two_gaps);
    let time = (free * WINDOW).div_ceil((by_tasks + by_jobs).max(1));
    u64::try_from(time).ok().and_then(Span::from_ns).unwrap_or(Instant::END.since(Instant::START))
}

/// Counts jobs, and from an instant on pages of those that are not real-time.
struct JobsAndPages {
    jobs: Statistics,
    counted_from: Instant,
    pages: u64,
}

impl Observer for JobsAndPages {
    fn record(&mut self, record: &Record) {
        match record {
            Record::Release(_) | Record::Complete(_) => self.jobs.record(record),
            Record::Operation(Operation { kind: Kind::Server, start, .. }) => {
                self.pages += u64::from(*start >= self.counted_from);
            }
            _ => {}
        }
    }

    /// Counts are equal in any order.
    fn wants_order(&self) -> bool {
        false
    }
}
