//! Reasons in words, the same wherever an answer gives one: for a person, and as the `reason` of an
//! answer in JSON.

use rtflash_alloc::allocator::{Failure, Unplaced};
use rtflash_analysis::necessary::Impossible;
use rtflash_analysis::reason::{Excess, Reason};
use rtflash_analysis::{Analysis, Baseline, BaselineTerm, Rational, Room, RoomUnit, Test, baseline};
use rtflash_model::{Allocation, Certificate, Cluster, Device, Space, Task, TaskId, TaskSet, format_ns};

use crate::numbers::{percent, plain, separated, share, time, volume};
use crate::parts::task_name;

/// Why an algorithm finds no allocation, in a clause: the task and the numbers.
pub fn failure_reason(set: &TaskSet, analysis: &dyn Analysis, failure: &Failure) -> String {
    let unplaced = &failure.unplaced;
    let task = plain(task_name(set, unplaced.task));
    match unplaced.reason {
        Reason::Load { utilization } if analysis.is_theorem() => {
            let load = format!("U = {}", load_above_one(utilization));
            if failure.overloaded.is_some() {
                format!("cluster {} has {load}, the limit is 1", unplaced.cluster)
            } else if failure.by_merge {
                format!("a merge leaves task {task} in a cluster with {load}, the limit is 1")
            } else {
                format!("task {task} needs {load} on its best cluster, the limit is 1")
            }
        }
        Reason::Data(space) => format!("the data of task {task} do not fit: {}", data_sentence(set.device(), &space)),
        reason => {
            let why = unplaced_reason(set, analysis, unplaced, alone);
            match reason {
                Reason::Request(_) => format!("task {task} can be served nowhere: {why}"),
                _ if failure.overloaded.is_some() => format!("cluster {} is overloaded: {why}", unplaced.cluster),
                _ => format!("task {task} is not placed: {why}"),
            }
        }
    }
}

/// Why a cluster does not hold a task, in a clause with its numbers. `beside` prints bytes next to
/// pages.
pub fn unplaced_reason(set: &TaskSet, analysis: &dyn Analysis, unplaced: &Unplaced, beside: Beside) -> String {
    match unplaced.reason {
        Reason::Load { utilization } => {
            match baseline(analysis.name()).and_then(|scheme| full(set, scheme, unplaced)) {
                Some(full) => full,
                None => load(analysis, utilization),
            }
        }
        Reason::Demand(excess) => demand(&excess),
        Reason::Data(space) => data_sentence(set.device(), &space),
        Reason::Request(request) => {
            let bytes = beside(set.device(), request.pages.into());
            let pages = separated(request.pages.into());
            let limit = if request.window < request.period {
                format!("it is due {} after its release", request.window)
            } else {
                format!("its period is {}", request.period)
            };
            let noun = if request.pages == 1 { "page" } else { "pages" };
            let what = if request.behind_erase { "an erase" } else { "a step of garbage collection" };
            let blocked = match request.blocking_ns {
                0 => String::new(),
                blocking => format!(", behind {what} of {} that nothing interrupts", time(blocking as f64)),
            };
            format!(
                "its {} of {pages} {noun}{bytes} takes {} at least{blocked}, and {limit}",
                if request.writes { "write" } else { "read" },
                time(request.least_ns as f64)
            )
        }
        Reason::Blocks(few) => format!(
            "its write requests and the data need {} blocks of each chip, and there are {}",
            separated(few.needed_blocks.into()),
            separated(few.blocks.into())
        ),
    }
}

/// The room that a scheme of the field lacks in a cluster that has time for its requests.
fn full(set: &TaskSet, scheme: &dyn Baseline, unplaced: &Unplaced) -> Option<String> {
    let mut members: Vec<TaskId> = unplaced.others.iter().copied().chain([unplaced.task]).collect();
    members.sort_unstable();
    let tasks: Vec<&Task> = members.iter().filter_map(|&task| set.tasks().get(task)).collect();
    let (device, chips) = (set.device(), unplaced.chips);
    let most = scheme.most_chips(device);
    if chips > most {
        let most = if most == 1 { "one chip".into() } else { format!("at most {most} chips") };
        return Some(format!("`{}` runs on clusters of {most}, and this one has {chips}", scheme.name()));
    }
    let shares: Vec<Rational> = scheme.terms(device, &tasks, chips).iter().map(BaselineTerm::share).collect();
    let room = scheme.rooms(device, &tasks, chips).into_iter().find(|room| !room.fits());
    let Room { what, needed, there, unit } = room.filter(|_| Rational::sum(&shares).cmp_one().is_le())?;
    Some(match unit {
        RoomUnit::Pages if there == 0 => format!("`{}` has no room for data on {}", scheme.name(), all(chips, "chip")),
        RoomUnit::Pages => {
            format!("{what}: {} pages are needed, and there are {}", separated(needed), separated(there))
        }
        RoomUnit::Nanoseconds => {
            format!("{what}: {} at worst, and it has {}", time(needed as f64), time(there as f64))
        }
    })
}

/// A load that is too much, by the kind of test.
fn load(analysis: &dyn Analysis, utilization: f64) -> String {
    let excess = percent((utilization - 1.0).max(f64::MIN_POSITIVE));
    // Four places show too little of the excess.
    let is_close = share(utilization).starts_with('>');
    match analysis.test() {
        Test::Demand(_) => format!("a load of {}, and it has to stay below 1", share(utilization)),
        _ if is_close => format!("U is above 1 by {excess}"),
        Test::Linear(_) | Test::Utilization(_) | Test::Cluster(_) => {
            format!("U = {}, {excess} too much", share(utilization))
        }
    }
}

/// A utilization above one to two places, or as many as show that it is.
pub fn load_above_one(utilization: f64) -> String {
    let short = format!("{utilization:.2}");
    if short == "1.00" { share(utilization) } else { short }
}

fn demand(excess: &Excess) -> String {
    let length = time(excess.interval.as_ns() as f64);
    let [demand, excess] = [excess.demand_ns, excess.excess_ns()].map(|nanoseconds| time(nanoseconds as f64));
    format!("demand and blocking of {demand} in an interval of {length}, {excess} too much")
}

/// Why no allocation meets every deadline, in a clause. `beside` prints bytes next to pages.
pub fn impossible_reason(set: &TaskSet, proof: &Impossible, beside: Beside) -> String {
    let bytes = |pages: u128| beside(set.device(), pages);
    let (chips, channels) = (set.device().chips(), set.device().channels());
    match *proof {
        Impossible::Data { data_pages, logical_pages } => format!(
            "the tasks keep {} pages{} of data, and the device has {} logical pages{}",
            separated(data_pages),
            bytes(data_pages),
            separated(logical_pages),
            bytes(logical_pages)
        ),
        Impossible::Request(long) => {
            let kind = if long.writes { "write" } else { "read" };
            let noun = if long.pages == 1 { "page" } else { "pages" };
            let one_chip = if chips > 1 && long.on_one_chip > long.pages.div_ceil(chips.into()) {
                format!(", {} of which may be on one chip", separated(long.on_one_chip.into()))
            } else {
                String::new()
            };
            format!(
                "a {kind} of task {} ({} {noun}{}{one_chip}) takes {} at least, on {} and by itself, and has {}{}",
                plain(task_name(set, long.task)),
                separated(long.pages.into()),
                bytes(long.pages.into()),
                exactly(long.least_ns),
                all(chips, "chip"),
                long.window,
                supposing(long.if_full)
            )
        }
        Impossible::Bus { load } => {
            format!("the bus of {} would have to carry {} of its time", each(channels, "channel"), times(load))
        }
        Impossible::Chips { load, collection, if_full } => {
            let gc = if collection < 0.005 {
                String::new()
            } else {
                format!(", {collection:.2} of it with garbage collection that nothing can avoid")
            };
            format!(
                "{} would have to be busy {} of its time{gc}{}",
                each(chips, "chip"),
                times(load),
                supposing(if_full)
            )
        }
        Impossible::Window(full) => format!(
            "in an interval of {} there is {} of work for {}, which can do {}",
            full.interval,
            exactly(full.demand_ns),
            all(full.servers, if full.bus { "channel" } else { "chip" }),
            exactly(full.available_ns())
        ),
    }
}

/// The assumption of a proof about a set in which no task declares its data.
fn supposing(if_full: bool) -> &'static str {
    if if_full { " (if all logical pages are in use; with data_pages declared it may be another matter)" } else { "" }
}

/// A time to the nanosecond.
fn exactly(nanoseconds: u128) -> String {
    u64::try_from(nanoseconds).map_or_else(|_| time(nanoseconds as f64), format_ns)
}

fn all(number: u32, what: &str) -> String {
    if number == 1 { format!("the {what}") } else { format!("all {number} {what}s") }
}

fn each(number: u32, what: &str) -> String {
    if number == 1 { format!("the {what}") } else { format!("each {what}") }
}

/// A load above one.
fn times(load: f64) -> String {
    let short = format!("{load:.2}");
    if short == "1.00" { "more than all".into() } else { short }
}

/// `800,000 pages (6,553,600,000 bytes)`: a number of pages, exactly.
pub fn pages(device: &Device, pages: u128) -> String {
    format!("{} ({} bytes)", count_pages(pages), separated(device.bytes(pages)))
}

/// Prints bytes next to a number of pages: [`beside`] for people, [`alone`] in answers for
/// programs.
pub type Beside = fn(&Device, u128) -> String;

/// ` (196.6 kB)`: the size of `pages` pages.
pub fn beside(device: &Device, pages: u128) -> String {
    format!(" ({})", volume(device.bytes(pages) as f64))
}

/// Nothing: programs have numbers of their own for bytes.
pub fn alone(_: &Device, _: u128) -> String {
    String::new()
}

/// `800,000 pages`.
pub fn count_pages(pages: u128) -> String {
    format!("{} {}", separated(pages), if pages == 1 { "page" } else { "pages" })
}

/// That clusters which collect could suspend erases and do not, as each reserves a server;
/// `None` where none does.
pub fn suspends_nothing(set: &TaskSet, allocation: &Allocation) -> Option<String> {
    let device = set.device();
    device.erase_suspend()?;
    let writes = |cluster: &Cluster| {
        cluster.tasks.iter().any(|&task| set.tasks().get(task).is_some_and(|of| of.write.is_some()))
    };
    let could = |certificate: Certificate| {
        !certificate.suspends_erases(device)
            && Certificate { server_thousandths: 0, ..certificate }.suspends_erases(device)
    };
    let clusters = allocation.clusters();
    let serving: Vec<String> = (0..)
        .zip(&clusters)
        .filter(|(position, cluster)| writes(cluster) && allocation.certificate(*position).copied().is_some_and(could))
        .map(|(position, _)| position.to_string())
        .collect();
    let (noun, verb) = if serving.len() == 1 { ("cluster", "suspends") } else { ("clusters", "suspend") };
    (!serving.is_empty()).then(|| {
        format!(
            "{noun} {} {verb} no erase: a server is reserved there, and `alloc --reserve-server no` reserves none \
             (`exec --allocation FILE` runs what it prints)",
            serving.join(", ")
        )
    })
}

/// A clause on a space: what the data take, and what there is.
pub fn data_sentence(device: &Device, space: &Space) -> String {
    let rounded = if space.needed_pages > space.data_pages {
        format!(", {} in whole rows of a stripe", pages(device, space.needed_pages))
    } else {
        String::new()
    };
    format!("{} of data{rounded}, and {}", pages(device, space.data_pages), room(device, space))
}

fn room(device: &Device, space: &Space) -> String {
    let bytes = separated(device.bytes(space.logical_pages));
    let noun = if space.logical_pages == 1 { "page" } else { "pages" };
    format!("{} logical {noun} ({bytes} bytes) for them", separated(space.logical_pages))
}
