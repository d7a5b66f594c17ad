//! A run from start to end: groups of clusters, each with its observer, in windows of time.

use rayon::prelude::*;
use rtflash_model::{Instant, Span};

use crate::dispatch::{Admission, Arrival, ArrivalQueue, NoServers, Parallel, Placed, Serial, Servers};
use crate::error::RunError;
use crate::groups::{groups, shared_channels};
use crate::ids::{ChannelId, ClusterId, PerId};
use crate::options::{Dispatch, Options, Service};
use crate::plan::{Plan, Promise};
use crate::trace::{Observer, Record, Setup};

/// A group of clusters under either dispatch.
enum Group<'a, O> {
    Serial(Box<Serial<'a, O>>),
    Parallel(Box<Parallel<'a, O>>),
    Placed(Box<Placed<'a, O>>),
}

impl<'a, O: Observer> Group<'a, O> {
    /// The clusters at these positions of the plan.
    fn new(
        plan: &'a Plan,
        options: &'a Options,
        group: &[ClusterId],
        shared: &PerId<ChannelId, bool>,
        observer: O,
    ) -> Group<'a, O> {
        match (plan.promise(), options.dispatch) {
            (Promise::Certified(certified), _) => {
                Group::Placed(Box::new(Placed::new((plan, certified), options, group, observer)))
            }
            (Promise::Utilization, Dispatch::Serial) => {
                Group::Serial(Box::new(Serial::new(plan, options, group, shared, observer)))
            }
            (Promise::Utilization, Dispatch::Parallel) => {
                Group::Parallel(Box::new(Parallel::new(plan, options, group, observer)))
            }
        }
    }

    fn arrive(&mut self, arrivals: impl Iterator<Item = Arrival>) {
        match self {
            Group::Serial(group) => group.arrive(arrivals),
            Group::Parallel(group) => group.arrive(arrivals),
            Group::Placed(group) => group.arrive(arrivals),
        }
    }

    fn run_until(&mut self, limit: Instant) -> Result<(), RunError> {
        match self {
            Group::Serial(group) => group.run_until(limit),
            Group::Parallel(group) => group.run_until(limit),
            Group::Placed(group) => group.run_until(limit),
        }
    }

    /// Every record of what starts before this instant has been passed on.
    fn settled(&mut self, limit: Instant) -> Instant {
        match self {
            Group::Serial(group) => group.settled(limit),
            Group::Parallel(group) => group.settled(limit),
            Group::Placed(group) => group.settled(limit),
        }
    }

    fn observer(&mut self) -> &mut O {
        match self {
            Group::Serial(group) => group.observer(),
            Group::Parallel(group) => group.observer(),
            Group::Placed(group) => group.observer(),
        }
    }

    fn finish(self) -> O {
        match self {
            Group::Serial(group) => group.finish(),
            Group::Parallel(group) => group.finish(),
            Group::Placed(group) => group.finish(),
        }
    }
}

/// Arrivals that are drawn ahead of the run at most.
const ARRIVALS_AHEAD: usize = 1 << 16;

/// Runs a plan. With certificates, servers are those of the certificates, and `admission` is not
/// asked. `observe` makes the observer of each group of clusters (positions in the plan); they come
/// back in the groups' order. Groups run on the threads of the current rayon pool; the result does
/// not depend on how many there are.
///
/// # Errors
/// Where a limit was reached.
pub fn run<O: Observer + Send>(
    plan: &Plan,
    options: &Options,
    admission: &mut dyn Admission,
    observe: impl FnMut(&[ClusterId]) -> O,
) -> Result<Vec<O>, RunError> {
    run_in_windows(plan, options, admission, observe, options.duration, |_, _| Ok(()))
}

/// Runs a plan as [`run`] does, and calls `watch` now and then, for whoever wants to know how far
/// it is: with the instant before which all has been simulated, and the observers.
///
/// # Errors
/// Where a limit was reached.
pub fn run_watched<O: Observer + Send>(
    plan: &Plan,
    options: &Options,
    admission: &mut dyn Admission,
    observe: impl FnMut(&[ClusterId]) -> O,
    mut watch: impl FnMut(Instant, &mut [&mut O]),
) -> Result<Vec<O>, RunError> {
    let window = Instant::from_ns(between_looks(options)).expect("no longer than a run, or ten milliseconds");
    run_in_windows(plan, options, admission, observe, window, |settled, observers| {
        watch(settled, observers);
        Ok(())
    })
}

/// Nanoseconds between two looks at a run: long enough to be worth it, and short enough for what
/// happens in them to be kept.
fn between_looks(options: &Options) -> u64 {
    (options.duration.as_ns() / 10_000).max(10_000_000)
}

/// The arrivals of a window for each group. A window is run in one go, or in several where many
/// jobs arrive in it: then `end` is moved to the last of those drawn.
fn draw_ahead(
    queue: &mut ArrivalQueue<'_>,
    admission: &mut dyn Admission,
    servers: &mut Option<Servers<'_>>,
    group_of: &PerId<ClusterId, usize>,
    groups: usize,
    end: &mut Instant,
) -> Vec<Vec<Arrival>> {
    let mut ahead: Vec<Vec<Arrival>> = vec![Vec::new(); groups];
    let mut drawn = 0;
    while drawn < ARRIVALS_AHEAD {
        let Some(mut arrival) = queue.next_before(*end, admission) else { break };
        if let Some(servers) = servers {
            arrival.grant = servers.grant(&arrival);
        }
        drawn += 1;
        if drawn == ARRIVALS_AHEAD {
            *end = arrival.at;
        }
        let group = arrival.grant.map_or(0, |grant| group_of[grant.cluster]);
        ahead[group].push(arrival);
    }
    ahead
}

fn run_in_windows<O: Observer + Send, E: From<RunError>>(
    plan: &Plan,
    options: &Options,
    admission: &mut dyn Admission,
    mut observe: impl FnMut(&[ClusterId]) -> O,
    window: Instant,
    mut between: impl FnMut(Instant, &mut [&mut O]) -> Result<(), E>,
) -> Result<Vec<O>, E> {
    let clusters = groups(plan, options);
    let shared = shared_channels(plan);
    let mut group_of = plan.per_cluster(0);
    for (number, group) in clusters.iter().enumerate() {
        for &cluster in group {
            group_of[cluster] = number;
        }
    }
    let (admission, mut servers): (&mut dyn Admission, _) = match plan.promise() {
        Promise::Utilization => (admission, None),
        Promise::Certified(certified) => {
            let serves = options.service == Service::Tbs;
            (&mut NoServers, serves.then(|| Servers::new(plan, certified, options.seed)))
        }
    };
    let mut running: Vec<Group<'_, O>> = clusters
        .iter()
        .map(|group| {
            let mut observer = observe(group);
            observer.setup(&Setup::from(options));
            Group::new(plan, options, group, &shared, observer)
        })
        .collect();
    let mut queue = ArrivalQueue::new(plan, options.seed);
    let width = window.since(Instant::START).max(Span::NANOSECOND);
    let mut end = Instant::START;
    while end < options.duration {
        end = end.saturating_add(width).min(options.duration);
        let ahead = draw_ahead(&mut queue, admission, &mut servers, &group_of, running.len(), &mut end);
        running
            .par_iter_mut()
            .zip(ahead)
            .map(|(group, arrivals)| {
                group.arrive(arrivals.into_iter());
                group.run_until(end)
            })
            .collect::<Result<Vec<()>, RunError>>()?;
        let settled = running.iter_mut().map(|group| group.settled(end)).min().expect("there is a group");
        let mut observers: Vec<&mut O> = running.iter_mut().map(Group::observer).collect();
        between(settled, &mut observers)?;
    }
    let mut observers: Vec<O> = running.into_par_iter().map(Group::finish).collect();
    let mut last: Vec<&mut O> = observers.iter_mut().collect();
    between(Instant::END, &mut last)?;
    Ok(observers)
}

/// Records that are kept until they are in order, about.
const RECORDS_KEPT: u64 = 1 << 18;

/// The time in which all chips and buses together begin so many operations at most, in nanoseconds.
fn longest_window(plan: &Plan) -> u64 {
    let device = plan.device();
    let times = [device.page_read(), device.page_program(), device.block_erase(), device.page_transfer()];
    let shortest = times.into_iter().min().map_or(1, Span::as_ns).max(1);
    (RECORDS_KEPT.saturating_mul(shortest) / u64::from(device.chips().saturating_add(device.channels()))).max(1)
}

/// Runs a plan as [`run`] does, and hands all records to `sink` in the order of a trace.
///
/// # Errors
/// Where a limit was reached, or the sink fails.
pub fn run_traced<O: Observer + Send, E: From<RunError>>(
    plan: &Plan,
    options: &Options,
    admission: &mut dyn Admission,
    mut observe: impl FnMut(&[ClusterId]) -> O,
    mut sink: impl FnMut(&Record) -> Result<(), E>,
) -> Result<Vec<O>, E> {
    let window = Instant::from_ns(between_looks(options).min(longest_window(plan)))
        .expect("no longer than a run, or ten milliseconds");
    sink(&Record::Setup(Setup::from(options)))?;
    let with_records = |group: &[ClusterId]| (observe(group), Vec::<Record>::new());
    let observers = run_in_windows(plan, options, admission, with_records, window, |settled, observers| {
        let mut ready: Vec<Record> = Vec::new();
        for (_, records) in observers.iter_mut() {
            let (now, later) = std::mem::take(records).into_iter().partition(|record| record.start() < settled);
            *records = later;
            ready.extend::<Vec<Record>>(now);
        }
        ready.sort_by_key(Record::order);
        ready.iter().try_for_each(&mut sink)
    })?;
    Ok(observers.into_iter().map(|(observer, _)| observer).collect())
}
