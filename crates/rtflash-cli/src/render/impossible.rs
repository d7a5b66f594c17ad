//! That no allocation will do, and why, in words.

use rtflash_alloc::necessary::Impossible;
use rtflash_model::{TaskSet, format_ns};
use rtflash_wire::task_name;

use super::data::{Beside, beside};
use super::numbers::{plain, separated, time};

/// The proof in a sentence.
pub fn sentence(set: &TaskSet, proof: &Impossible) -> String {
    format!("No allocation meets every deadline, whatever the algorithm: {}.\n", why(set, proof, beside))
}

/// Why, in a clause.
pub fn why(set: &TaskSet, proof: &Impossible, beside: Beside) -> String {
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
            format!("the bus of {} would have to carry {} of its time", each(channels, "channel"), share(load))
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
                share(load),
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

/// What a proof supposes where no task declares its data.
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
fn share(load: f64) -> String {
    let short = format!("{load:.2}");
    if short == "1.00" { "more than all".into() } else { short }
}
