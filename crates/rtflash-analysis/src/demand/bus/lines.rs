//! The lines above W2 and W3.

use rtflash_model::Span;
use rtflash_testkit::ns;

use super::neighbour::{PassTerm, Presence, passes};
use super::queue::FifoBus;
use super::{Activity, Contention, Waiter};
use crate::long_run::Line;
use crate::organisation::processor::{DemandTask, Processor};
use crate::random_processors::Drawn;
use crate::time::ProcessorTime;

type LineAbove = for<'p> fn(&Contention, FifoBus, Waiter<'p>) -> Option<Line<f64>>;

struct WaitingBound {
    name: &'static str,
    waiting: fn(&Drawn, FifoBus, Activity) -> f64,
    line: LineAbove,
}

fn waiter(drawn: &Drawn) -> Waiter<'_> {
    Waiter { processor: &drawn.processor, gc: drawn.gc, server: false }
}

const BOUNDS: [WaitingBound; 2] = [
    WaitingBound {
        name: "W2",
        waiting: |drawn, queue, activity| {
            let exceptions = drawn.contention.exceptions(queue, activity, waiter(drawn));
            let wait = drawn.contention.w2(queue, activity, &exceptions);
            wait.more.to_f64() - wait.less.to_f64()
        },
        line: Contention::w2_line,
    },
    WaitingBound {
        name: "W3",
        waiting: |drawn, queue, activity| {
            let contention = &drawn.contention;
            let exceptions = contention.exceptions(queue, activity, waiter(drawn));
            let wait = contention.w3_beside_w1(queue, activity, &exceptions);
            let w1 = contention.w1(activity.length, activity.reads + activity.writes).to_f64();
            w1 + wait.more.to_f64() - wait.less.to_f64()
        },
        line: Contention::w3_line,
    },
];

/// The activity of a processor in an interval in which `due` jobs of each request are due, and the
/// requests' own time.
fn of_requests(processor: &Processor, length: Span, due: impl Fn(&DemandTask) -> u64) -> (Activity, ProcessorTime) {
    let mut activity = Activity { length, ..Activity::default() };
    let mut own = ProcessorTime::ZERO;
    for item in &processor.tasks {
        let jobs = u128::from(due(item));
        let pages = item.transfers.of(jobs);
        *(if item.writes { &mut activity.writes } else { &mut activity.reads }) += pages;
        activity.jobs += jobs;
        own = own.saturating_add(item.step_cost.times(pages));
    }
    (activity, own)
}

/// The line has the slope that the bound has in the long run: of what the bound takes the least of,
/// the line takes the same.
#[test]
fn the_lines_are_as_steep_as_the_bounds() {
    for WaitingBound { name, waiting, line } in &BOUNDS {
        let (mut compared, mut several) = (0, 0);
        for seed in 0..6_000 {
            let Some(drawn) = Drawn::new(seed) else { continue };
            let Drawn { processor, gc, contention, .. } = &drawn;
            let Some(queue) = contention.queue else { continue };
            let Some(line) = line(contention, queue, waiter(&drawn)) else { continue };
            // Long enough for what is added once to be nothing.
            let length = 1_u64 << 50;
            let (mut activity, own) = of_requests(processor, ns(length), |item| length / item.period.as_ns());
            for PassTerm { rate, .. } in passes(&processor.tasks, *gc) {
                activity.jobs += rate.numerator() * u128::from(length) / rate.denominator();
            }
            let slope = (waiting(&drawn, queue, activity) + own.to_f64()) / length as f64;
            let off = (line.rate() - slope).abs();
            assert!(off < 1e-9 * slope.max(1.0), "{name}, seed {seed}: {} and {slope}", line.rate());
            compared += 1;
            several += usize::from(contention.neighbours.len() > 1);
        }
        assert!(compared > 500 && several > 100, "{name}: {compared}, {several}");
    }
}

/// The line is above the bound and the requests' own time from the longest deadline on, and where
/// requests are due early it comes near.
#[test]
fn the_lines_are_above_the_bounds() {
    for WaitingBound { name, waiting, line } in &BOUNDS {
        let (mut compared, mut early) = (0, 0);
        for seed in 0..3_000 {
            let Some(drawn) = Drawn::new(seed) else { continue };
            let Drawn { processor, gc, contention, .. } = &drawn;
            let Some(queue) = contention.queue else { continue };
            let Some(line) = line(contention, queue, waiter(&drawn)) else { continue };
            let longest = processor.tasks.iter().map(DemandTask::window).max().map_or(1, |longest| longest.as_ns());
            for length in (longest..longest + 600).map(ns) {
                let (mut activity, own) = of_requests(processor, length, |item| item.due(length));
                // The time of passes themselves is in another line.
                let deadline = gc.and_then(|gc| Some((gc, length.checked_sub(gc.deadline?)?)));
                activity.jobs += deadline.map_or(0, |(gc, rest)| {
                    let arrived: u128 = processor.write_streams.iter().map(|writer| writer.arriving(rest)).sum();
                    arrived.div_ceil(gc.reclaimed.into())
                });
                let all = own.to_f64() + waiting(&drawn, queue, activity);
                let above = line.rate() * length.as_ns() as f64 + line.constant - all;
                assert!(above > -1e-6, "{name}, seed {seed}, {length}: {above}");
                early += usize::from(above < 10.0 * crate::time::ns(queue.sigma));
            }
            compared += 1;
        }
        assert!(compared > 350 && early > 500, "{name}: {compared}, {early}");
    }
}

/// The long-run demand is at least that of any interval, and is no further above it than the
/// roundings up of each kind of job.
#[test]
fn passes_stay_below_their_rate() {
    let mut compared = 0;
    for seed in 0..3_000 {
        let Some(Drawn { processor, gc, .. }) = Drawn::new(seed) else { continue };
        let Some(gc) = gc.filter(|gc| gc.deadline.is_some()) else { continue };
        let terms: Vec<_> = passes(&processor.tasks, Some(gc)).collect();
        let rate: f64 = terms.iter().map(|term| term.rate.to_f64()).sum();
        let more: f64 = terms.iter().map(|term| term.more).sum();
        let pages: u64 = processor.write_streams.iter().map(|writer| writer.pages.of_one()).sum();
        let mut nearest = f64::INFINITY;
        for length in 1..3_000 {
            let presence = Presence::new(&processor.tasks, Some(gc), ns(length));
            let live: u128 = processor.tasks.iter().map(|item| u128::from(item.live(ns(length)))).sum();
            let line = rate * length as f64 + more;
            let above = line - (presence.S_j - live - 1) as f64;
            assert!(above > -1e-6, "seed {seed}, {length} ns: {above}");
            nearest = nearest.min(above);
        }
        assert!(nearest <= 1.0 + pages as f64 / gc.reclaimed as f64, "seed {seed}: {nearest}");
        compared += 1;
    }
    assert!(compared > 500, "{compared}");
}
