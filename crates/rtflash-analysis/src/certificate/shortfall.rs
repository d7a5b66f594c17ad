//! Why a cluster fails, and which of several failing clusters comes nearest to holding.

use rtflash_model::{Device, Placement, Request, Space, Span, Task};

use super::choice::nearest_terms;
use super::placed::{PlacedProcessor, worst};
use crate::demand::{Demand, DemandVerdict, Nearest};
use crate::gc::ChosenGc;
use crate::organisation::processor::{DemandTask, Processor};
use crate::organisation::shared_bus::SharedBus;
use crate::reason::{Excess, Reason, TooLong};
use crate::time::{Cost, ProcessorTime, ns};
use crate::work::Work;

/// A cluster that fails, or may.
#[derive(Debug)]
pub struct Shortfall<'w> {
    /// Orders failing clusters, the nearest to holding first: above one. Never shown, as it is a
    /// ratio of whatever there is too much of.
    pub order: f64,
    space: Space,
    placed: Option<PlacedProcessor>,
    gc: Option<ChosenGc>,
    work: &'w Work,
}

impl<'w> Shortfall<'w> {
    /// `placed` is `None` where times cannot be added up.
    pub fn new<'t>(
        device: &Device,
        tasks: impl IntoIterator<Item = &'t Task>,
        chips: u32,
        placement: Placement,
        placed: Option<PlacedProcessor>,
        work: &'w Work,
    ) -> Shortfall<'w> {
        let space = Space::new(device, tasks, chips, Some(placement));
        let writes = |placed: &PlacedProcessor| !placed.processor.write_streams.is_empty();
        let gc =
            placed.as_ref().filter(|placed| writes(placed)).and_then(|placed| nearest_terms(&placed.processor, work));
        let order = placed.as_ref().map_or(f64::MAX, |placed| order(space, placed, gc, work));
        Shortfall { order, space, placed, gc, work }
    }

    /// Why it fails; `None` where nothing is found that would make it fail.
    pub fn reason(&self) -> Option<Reason> {
        if !self.space.fits() {
            return Some(Reason::Data(self.space));
        }
        let Some(placed) = &self.placed else { return Some(Reason::Load { utilization: f64::MAX }) };
        if self.gc.is_none() && !placed.processor.write_streams.is_empty() {
            let few = placed.processor.too_few_blocks().map(Reason::Blocks);
            return Some(few.unwrap_or(Reason::Load { utilization: f64::MAX }));
        }
        let demands: Vec<Demand<'_>> = placed.demands(self.gc, 0, self.work).collect();
        let load = demands.iter().map(Demand::load).fold(0.0, f64::max);
        if load >= 1.0 {
            return Some(Reason::Load { utilization: load });
        }
        let nearest = worst(placed, self.gc, self.work);
        if nearest.slack < 0 {
            return Some(excess(nearest));
        }
        // Beyond the longest deadline, or the load after all, which doubles have just below one.
        demands.iter().find_map(|demand| match demand.test() {
            DemandVerdict::Overloaded => Some(Reason::Load { utilization: 1.0 }),
            DemandVerdict::Fails(interval) => {
                let demand_ns = demand.at(interval).saturating_add(demand.blocking(interval)).as_ns();
                Some(Reason::Demand(Excess { interval, demand_ns }))
            }
            DemandVerdict::Holds | DemandVerdict::TooLong => None,
        })
    }

    /// The reason, or the nearest interval where only the neighbours fail next to the cluster.
    pub fn nearest_reason(&self) -> Reason {
        let nearest = || Some(excess(worst(self.placed.as_ref()?, self.gc, self.work)));
        self.reason().or_else(nearest).unwrap_or(Reason::Load { utilization: f64::MAX })
    }
}

fn excess(Nearest { length, slack }: Nearest) -> Reason {
    // Numbers that are too large have the least slack that there is.
    let demand_ns = i128::from(length.as_ns()).saturating_sub(slack);
    let demand_ns = u128::try_from(demand_ns).expect("no more slack than the interval is long");
    Reason::Demand(Excess { interval: length, demand_ns })
}

fn order(space: Space, placed: &PlacedProcessor, gc: Option<ChosenGc>, work: &Work) -> f64 {
    let above = |ratio: f64| ratio.max(1.0f64.next_up());
    if !space.fits() {
        return above(space.needed_pages as f64 / (space.logical_pages as f64).max(1.0));
    }
    if gc.is_none() && !placed.processor.write_streams.is_empty() {
        return above(placed.processor.crowding());
    }
    let load = placed.demands(gc, 0, work).map(|demand| demand.load()).fold(0.0, f64::max);
    if load >= 1.0 {
        return above(load);
    }
    let nearest = worst(placed, gc, work);
    above(1.0 - nearest.slack as f64 / ns(nearest.length.max(Span::NANOSECOND)))
}

/// Requests of the task that no cluster of up to this many chips serves in time, even if no page
/// waits for the bus: longer than D − J behind a step of its own task's collection, or than its
/// period.
///
/// Collection due later blocks with its longest step; due earlier, it takes at least that.
pub fn never_served(
    device: &Device,
    placements: &[Placement],
    task: &Task,
    chips: u32,
) -> impl Iterator<Item = TooLong> {
    let alone = |task: &Task, placement| Processor::new(device, [task], chips, placement, SharedBus::alone());
    let too_long = |writes: bool| {
        let request: Request = if writes { task.write? } else { task.read? };
        let only = Task { read: task.read.filter(|_| !writes), write: task.write.filter(|_| writes), ..task.clone() };
        let time = |&placement: &Placement| {
            let (own, whole) = (alone(&only, placement)?, alone(task, placement)?);
            let costs = own.tasks.iter().map(DemandTask::cost);
            let cost = costs.fold(ProcessorTime::from(whole.preemption(false)), ProcessorTime::saturating_add);
            let collects = !whole.write_streams.is_empty();
            let gc = whole.shortest_gc_deadline().filter(|_| collects).and_then(|deadline| whole.gc(deadline, false));
            Some((cost, gc.map_or(Cost::ZERO, |gc| gc.step)))
        };
        let times = placements.iter().map(time).collect::<Option<Vec<(ProcessorTime, Cost)>>>()?;
        let in_all = |(cost, step): (ProcessorTime, Cost)| cost.saturating_add(step);
        let fails = |&(cost, step): &(ProcessorTime, Cost)| {
            in_all((cost, step)) > Cost::from(request.window()).into() || cost >= Cost::from(request.period()).into()
        };
        let (least, step) =
            times.iter().copied().min_by_key(|&time| in_all(time)).filter(|_| times.iter().all(fails))?;
        Some(TooLong {
            writes,
            pages: request.pages(),
            least_ns: least.as_ns(),
            blocking_ns: step.as_ns().into(),
            behind_erase: device.erase_suspend().is_none() && step >= Cost::from(device.block_erase()),
            period: request.period(),
            window: request.window(),
            utilization: None,
        })
    };
    [false, true].map(too_long).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use rtflash_model::random::Stream;

    use super::*;
    use crate::certificate::choice::choose;
    use crate::demand::bus::Contention;
    use crate::random_processors::{Drawn, draw_device, draw_tasks};
    use crate::reason::NoRoomForGc;

    /// Clusters are ordered by how much too much there is of what is named as the reason.
    #[test]
    fn the_order_is_that_of_the_reason() {
        let mut compared = [0; 5];
        for seed in 0..10_000 {
            let Some(Drawn { processor, contention, mut rng, .. }) = Drawn::new(seed) else { continue };
            let needed_pages = rng.within(1, 10) * rng.within(1, 10);
            let space = Space {
                data_pages: needed_pages.into(),
                needed_pages: needed_pages.into(),
                logical_pages: 80,
                declared: true,
            };
            let work = Work::new();
            let placed = PlacedProcessor { processor, contentions: vec![contention] };
            let gc =
                if placed.processor.write_streams.is_empty() { None } else { nearest_terms(&placed.processor, &work) };
            let order = order(space, &placed, gc, &work);
            let above_one = |ratio: f64| ratio.max(1.0f64.next_up());
            // Intervals beyond the longest deadline are no longer compared.
            let longest = placed.demands(gc, 0, &work).filter_map(|demand| demand.tightest()).map(|it| it.slack).min();
            let shortfall = Shortfall { order, space, placed: Some(placed), gc, work: &work };
            let reason = shortfall.reason();
            let (kind, expected) = match &reason {
                Some(Reason::Data(_)) => (0, needed_pages as f64 / 80.0),
                Some(Reason::Blocks(NoRoomForGc { needed_blocks, blocks })) => {
                    let off = order * (*blocks).max(1) as f64 - *needed_blocks as f64;
                    assert!(off.abs() < 1.0 + 1e-9, "seed {seed}: {order}, {reason:?}");
                    (1, order)
                }
                Some(Reason::Load { utilization }) if *utilization < f64::MAX => (2, *utilization),
                Some(Reason::Demand(Excess { interval, demand_ns })) if longest < Some(0) => {
                    (3, *demand_ns as f64 / ns(*interval))
                }
                Some(Reason::Demand(_)) | None => (4, 1.0),
                _ => continue,
            };
            if let Some(Reason::Demand(Excess { interval, demand_ns })) = reason {
                assert!(demand_ns > interval.as_ns().into(), "seed {seed}: nothing is too much");
            }
            assert!((order - above_one(expected)).abs() < 1e-9 * order, "seed {seed}: {order}, {reason:?}");
            compared[kind] += 1;
        }
        assert!(compared.iter().all(|&compared| compared > 100), "{compared:?}");
    }

    /// If an interval is just long enough no reason makes a cluster fail.
    #[test]
    fn at_the_limit_there_is_no_reason() {
        let device = Device::profile("dgist-2021").expect("a profile");
        let read = Request::new(7, Span::from_us(1_000_000)).expect("a request");
        let reader = |read| Task { name: "reader".into(), read, write: None, data_pages: None };
        let processor = |task: &Task| {
            Processor::new(&device, [task], 1, Placement::Stripe, SharedBus::alone()).expect("a small one")
        };
        let cost = processor(&reader(Some(read))).tasks[0].cost().as_ns();
        let reason = |window: u128| {
            let task = reader(read.with_deadline(u64::try_from(window).ok().and_then(Span::from_ns)));
            let placed = PlacedProcessor { processor: processor(&task), contentions: vec![Contention::none()] };
            Shortfall::new(&device, [&task], 1, Placement::Stripe, Some(placed), &Work::new()).reason()
        };
        let nearest = [reason(cost), reason(cost - 1)];
        assert!(nearest[0].is_none() && nearest[1].is_some(), "{nearest:?}");
    }

    /// A task with a request that is never served holds in no cluster of its own.
    #[test]
    fn a_request_that_is_never_served_is_served_by_no_cluster() {
        let mut found = [0; 3];
        for seed in 0..4_000 {
            let mut rng = Stream::numbered(seed, b"never---", 0);
            let (Some(device), tasks) = (draw_device(&mut rng), draw_tasks(&mut rng, 2)) else { continue };
            let placements: Vec<Placement> =
                Placement::COLLECTING.into_iter().filter(|placement| placement.is_possible_on(&device)).collect();
            for task in &tasks {
                let never = never_served(&device, &placements, task, device.chips()).next().map(|it| it.writes);
                let served = (1..=device.chips()).flat_map(|chips| placements.iter().map(move |&it| (chips, it))).any(
                    |(chips, placement)| {
                        let processor = Processor::new(&device, [task], chips, placement, SharedBus::alone());
                        let work = Work::new();
                        choose(&processor.expect("a small one"), &[Contention::none()], 0, &work).holds()
                    },
                );
                assert!(never.is_none() || !served, "seed {seed}: {task:?}");
                found[never.map_or(2, usize::from)] += 1;
            }
        }
        assert!(found.iter().all(|&found| found > 20), "{found:?}");
    }
}
