//! A run: groups of clusters, each with its observer, in windows of time.

use std::ops::ControlFlow;
use std::time::{Duration, Instant as Clock};

use rayon::prelude::*;
use rtflash_model::{ClusterId, Instant, PerId, Span};
use rtflash_plan::resume::{NoState, Rest, Resume, State};
use rtflash_plan::{
    Admission, Arrival, ArrivalQueue, Dispatch, NoServers, Options, Plan, Promise, Servers, Service, groups,
};
use rtflash_trace::{Observer, Record, Setup};

use crate::engine::core::ChipPolicy;
use crate::error::RunError;
use crate::organisation::certified::CertifiedGroup;
use crate::organisation::group::ClusterGroup;
use crate::organisation::{parallel::Parallel, serial::Serial};

type Group<'a, O> = Box<dyn ChipPolicy<Notified = O> + Send + 'a>;

fn group<'a, O: Observer + Send + 'a>(
    plan: &'a Plan,
    options: &'a Options,
    clusters: &[ClusterId],
    observer: O,
) -> Group<'a, O> {
    match (plan.promise(), options.dispatch) {
        (Promise::Certified(by), _) => {
            let mut group = CertifiedGroup::new(plan, by, options, clusters, observer);
            group.begin();
            Box::new(group)
        }
        (Promise::Utilization, Dispatch::Serial) => {
            Box::new(ClusterGroup::<O, Serial>::new(plan, options, clusters, observer))
        }
        (Promise::Utilization, Dispatch::Parallel) => {
            Box::new(ClusterGroup::<O, Parallel>::new(plan, options, clusters, observer))
        }
    }
}

/// Arrivals that are drawn ahead of the run at most.
const ARRIVALS_AHEAD: usize = 1 << 16;

/// A run under way, which goes on window by window. The result does not depend on how long windows
/// are, nor on how many threads there are.
///
/// A run that is made alike goes on from the state of another one ([`Resume`]), as that one would
/// have gone on.
pub struct Running<'a, O: 'a> {
    groups: Vec<Group<'a, O>>,
    group_of: PerId<ClusterId, usize>,
    arrivals: ArrivalQueue<'a>,
    admission: &'a mut dyn Admission,
    servers: Option<Servers<'a>>,
    /// Before this instant all has been run.
    now: Instant,
    duration: Instant,
    is_stopped: bool,
}

impl<O> std::fmt::Debug for Running<'_, O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Running").field("now", &self.now).field("duration", &self.duration).finish_non_exhaustive()
    }
}

impl<'a, O: Observer + Send + 'a> Running<'a, O> {
    /// A run of a plan that has not begun. With certificates, servers are those of the
    /// certificates, and `admission` is not asked. `observe` makes the observer of each group of
    /// clusters (positions in the plan).
    pub fn new(
        plan: &'a Plan,
        options: &'a Options,
        admission: &'a mut dyn Admission,
        mut observe: impl FnMut(&[ClusterId]) -> O,
    ) -> Running<'a, O> {
        let clusters = groups(plan, options);
        let mut group_of = plan.per_cluster(0);
        for (number, group) in clusters.iter().enumerate() {
            for &cluster in group {
                group_of[cluster] = number;
            }
        }
        let servers = match plan.promise() {
            Promise::Certified(certified) if options.service == Service::Tbs => {
                Some(Servers::new(plan, certified, options.seed))
            }
            Promise::Utilization | Promise::Certified(_) => None,
        };
        let begin = |clusters: &Vec<ClusterId>| {
            let mut observer = observe(clusters);
            observer.record(&Record::Setup(Setup::from(options)));
            group(plan, options, clusters, observer)
        };
        Running {
            groups: clusters.iter().map(begin).collect(),
            group_of,
            arrivals: ArrivalQueue::new(plan, options.seed),
            admission,
            servers,
            now: Instant::START,
            duration: options.duration,
            is_stopped: false,
        }
    }

    /// Before which instant all has been run.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Whether the end of the run is reached.
    pub fn is_over(&self) -> bool {
        self.now >= self.duration
    }

    /// Ends the run here: the rest is as if it had been asked to end now.
    pub fn stop(&mut self) {
        if !self.is_over() {
            (self.duration, self.is_stopped) = (self.now, true);
            self.groups.iter_mut().for_each(|group| group.stop(self.now));
        }
    }

    /// When the run was ended, if that was before its duration.
    pub fn stopped(&self) -> Option<Instant> {
        self.is_stopped.then_some(self.now)
    }

    /// Runs to the end in windows of at most `longest`, and calls `look` behind each of them. A
    /// `look` that breaks stops the run. Fails if a limit was reached, or `look` fails.
    pub fn advance_in_windows<E: From<RunError>>(
        &mut self,
        longest: Span,
        mut look: impl FnMut(&mut Self) -> Result<ControlFlow<()>, E>,
    ) -> Result<(), E> {
        let mut window = SHORTEST_WINDOW;
        while !self.is_over() {
            let begun = Clock::now();
            self.advance(window.min(longest))?;
            // Short runs take few windows, and none lasts long.
            window = if begun.elapsed() < BETWEEN_LOOKS { window.saturating_add(window) } else { SHORTEST_WINDOW };
            if look(self)?.is_break() {
                self.stop();
            }
        }
        Ok(())
    }

    /// Runs a window of time, in one go or in several where many jobs arrive in it, on the threads
    /// of the current rayon pool. Fails if a limit was reached.
    pub fn advance(&mut self, window: Span) -> Result<(), RunError> {
        let mut end = self.now.saturating_add(window.max(Span::NANOSECOND)).min(self.duration);
        let ahead = self.draw_ahead(&mut end);
        self.groups
            .par_iter_mut()
            .zip(ahead)
            .map(|(group, arrivals)| {
                arrivals.into_iter().for_each(|arrival| group.hand_over(arrival));
                group.run_until(end)
            })
            .collect::<Result<Vec<()>, RunError>>()?;
        self.now = end;
        Ok(())
    }

    /// The arrivals of a window for each group. If many jobs arrive in it, `end` is moved to the
    /// last of those drawn.
    fn draw_ahead(&mut self, end: &mut Instant) -> Vec<Vec<Arrival>> {
        let mut ahead: Vec<Vec<Arrival>> = vec![Vec::new(); self.groups.len()];
        let mut drawn = 0;
        while drawn < ARRIVALS_AHEAD {
            let arrival = match &mut self.servers {
                None => self.arrivals.next_before(*end, self.admission),
                Some(servers) => self.arrivals.next_before(*end, &mut NoServers).map(|mut arrival| {
                    arrival.grant = servers.grant(&arrival);
                    arrival
                }),
            };
            let Some(arrival) = arrival else { break };
            drawn += 1;
            if drawn == ARRIVALS_AHEAD {
                *end = arrival.at;
            }
            let group = arrival.grant.map_or(0, |grant| self.group_of[grant.cluster]);
            ahead[group].push(arrival);
        }
        ahead
    }

    /// Every record of what starts before this instant has been passed on.
    pub fn settled(&mut self) -> Instant {
        let end = self.now;
        self.groups.iter_mut().map(|group| group.settled(end)).min().expect("there is a group")
    }

    /// The observers, in the groups' order.
    pub fn observers(&mut self) -> Vec<&mut O> {
        self.groups.iter_mut().map(|group| group.observer()).collect()
    }

    /// Follows what is under way to its end.
    pub fn finish(self) -> Vec<O> {
        self.groups.into_par_iter().map(|group| group.finish()).collect()
    }
}

impl<O: Observer + Resume> Resume for Running<'_, O> {
    fn save(&self, state: &mut State<'_>) {
        state.put(&self.now);
        self.arrivals.save(state);
        state.put(&self.admission.state());
        self.servers.iter().for_each(|servers| servers.save(state));
        for group in &self.groups {
            group.save(state);
            group.as_core().observer.as_observer().save(state);
        }
    }

    fn restore(&mut self, rest: &mut Rest<'_>) -> Result<(), NoState> {
        self.now = rest.take()?;
        self.arrivals.restore(rest)?;
        self.admission.go_on(&rest.take::<Vec<u64>>()?)?;
        self.servers.iter_mut().try_for_each(|servers| servers.restore(rest))?;
        self.groups.iter_mut().try_for_each(|group| {
            group.restore(rest)?;
            group.observer().restore(rest)
        })
    }
}

/// Runs a plan from start to end, see [`Running`]. Observers come back in the groups' order. Fails
/// if a limit was reached.
pub fn run<O: Observer + Send>(
    plan: &Plan,
    options: &Options,
    admission: &mut dyn Admission,
    observe: impl FnMut(&[ClusterId]) -> O,
) -> Result<Vec<O>, RunError> {
    let mut running = Running::new(plan, options, admission, observe);
    while !running.is_over() {
        running.advance(Span::LONGEST)?;
    }
    Ok(running.finish())
}

const SHORTEST_WINDOW: Span = Span::from_us(10_000);

/// The time that a window takes, about: often enough for who looks on.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// Records that are kept until they are in order, about.
const RECORDS_KEPT: u64 = 1 << 18;

/// The time in which all chips and buses together begin [`RECORDS_KEPT`] operations at most.
fn longest_window(plan: &Plan) -> Span {
    let device = plan.device();
    let times = [device.page_read(), device.page_program(), device.block_erase(), device.page_transfer()];
    let shortest = times.into_iter().min().map_or(1, Span::as_ns).max(1);
    let parts = u64::from(device.chips().saturating_add(device.channels()));
    // There is a chip and a channel at least.
    Span::from_ns(RECORDS_KEPT.saturating_mul(shortest) / parts).expect("half of 64 bits at most")
}

/// Runs a plan as [`run`] does, and hands all records to `sink` in the order of a trace. Fails if a
/// limit was reached, or the sink fails.
pub fn run_traced<O: Observer + Send, E: From<RunError>>(
    plan: &Plan,
    options: &Options,
    admission: &mut dyn Admission,
    observe: impl FnMut(&[ClusterId]) -> O,
    sink: impl FnMut(&Record) -> Result<(), E>,
) -> Result<Vec<O>, E> {
    let goes_on = |_, _: Vec<&O>| ControlFlow::Continue(());
    Ok(run_traced_watched(plan, options, admission, observe, sink, goes_on)?.0)
}

/// As [`run_traced`], and calls `look` when the device is prepared and now and then behind that:
/// before which instant all records have been handed over, and the observers. A `look` behind the
/// first that breaks stops the run. Returns when, too.
pub fn run_traced_watched<O: Observer + Send, E: From<RunError>>(
    plan: &Plan,
    options: &Options,
    admission: &mut dyn Admission,
    mut observe: impl FnMut(&[ClusterId]) -> O,
    mut sink: impl FnMut(&Record) -> Result<(), E>,
    mut look: impl FnMut(Instant, Vec<&O>) -> ControlFlow<()>,
) -> Result<(Vec<O>, Option<Instant>), E> {
    sink(&Record::Setup(Setup::from(options)))?;
    let with_records = |group: &[ClusterId]| (observe(group), Vec::<Record>::new());
    let mut running = Running::new(plan, options, admission, with_records);
    let mut look = |at, observers: Vec<&mut (O, Vec<Record>)>| {
        look(at, observers.into_iter().map(|(observer, _)| &*observer).collect())
    };
    let _ = look(Instant::START, running.observers());
    let mut pass_on = |settled, observers: Vec<&mut (O, Vec<Record>)>| {
        let mut ready: Vec<Record> = Vec::new();
        for (_, records) in observers {
            let (now, later) = std::mem::take(records).into_iter().partition(|record| record.start() < settled);
            *records = later;
            ready.extend::<Vec<Record>>(now);
        }
        ready.sort_by_key(Record::order);
        ready.iter().try_for_each(&mut sink)
    };
    running.advance_in_windows(longest_window(plan), |running| {
        let settled = running.settled();
        pass_on(settled, running.observers())?;
        Ok::<_, E>(look(settled, running.observers()))
    })?;
    let stopped = running.stopped();
    let mut observers = running.finish();
    pass_on(Instant::END, observers.iter_mut().collect())?;
    Ok((observers.into_iter().map(|(observer, _)| observer).collect(), stopped))
}
