//! The advice, as a person reads it.

use rtflash_alloc::advice::{Advice, MoreChips, RequestTime, ServedBy, Supposed};
use rtflash_alloc::sizing::{Front, FrontPoint};
use rtflash_model::{Device, TaskSet};

use super::numbers::{count, plain, separated, volume};

/// The advice, if anything was found. The algorithm is the one that was asked for.
pub fn advice(set: &TaskSet, algorithm: &str, advice: &Advice) -> String {
    let device = set.device();
    let needs = advice.served.iter().map(|of| served(set, of));
    let needs: String = needs.chain(advice.supposed.as_ref().map(|of| supposed(set, of))).collect();
    let changes = [
        advice.chips.map(|more| chips(device, more)),
        advice.logical_ratio.map(|found| {
            let (ratio, now) = (found.ratio, device.logical_ratio());
            format!("a logical_ratio of {ratio} instead of {now} ({})", in_steps(found.steps))
        }),
        advice.together.as_ref().map(|front| together(device, algorithm, front)),
        advice
            .channels
            .map(|channels| format!("{channels} channels instead of {}, with as many chips", device.channels())),
        advice.less_data.map(|less| {
            let bytes = volume(device.bytes(less.pages) as f64);
            let pages = separated(less.pages);
            format!("{} of the data of each task: {pages} data_pages ({bytes}) in all", percent(less.permille))
        }),
        advice.algorithm.map(|algorithm| format!("--algorithm {algorithm}")),
        advice.program_failures.map(|failures| {
            let now = device.program_failures();
            format!("program_failures of {failures} instead of {now}: fewer programs that fail at once")
        }),
        advice.load_permille.map(|permille| {
            let factor = f64::from(permille) / 1000.0;
            format!("{} of the load: every period divided by {factor}", percent(permille))
        }),
    ];
    let lines: String = changes.into_iter().flatten().map(|line| format!("  - {line}\n")).collect();
    if lines.is_empty() { needs } else { format!("{needs}\nAny one of these would do:\n{lines}") }
}

fn percent(permille: u32) -> String {
    format!("{}.{} %", permille / 10, permille % 10)
}

fn chips(device: &Device, more: MoreChips) -> String {
    let how =
        if more.fewest { "every number between was tried and fails" } else { "not every smaller number was tried" };
    let ways = device.chips_per_channel();
    let whole =
        more.whole_channels.map_or_else(String::new, |chips| format!("; in whole channels of {ways}, {chips} chips"));
    format!("{} chips instead of {} ({how}){whole}", more.chips, device.chips())
}

/// Chips and λ that do together; channels where some differ from the device's.
fn together(device: &Device, algorithm: &str, Front { points, steps, complete }: &Front) -> String {
    let other_channels = |point: &FrontPoint| point.channels != point.chips.div_ceil(device.chips_per_channel());
    let with_channels = points.iter().any(other_channels);
    let points = points.iter().map(|point| {
        let channels = if with_channels { format!(" on {}", count(point.channels, "channel")) } else { String::new() };
        let by = match point.algorithm {
            name if name == algorithm => String::new(),
            name => format!(" (--algorithm {name})"),
        };
        format!("{}{channels} at {}{by}", count(point.chips, "chip"), point.logical_ratio)
    });
    let points: Vec<String> = points.collect();
    let points = match &points[..] {
        [first, _, _, _, .., last] => format!("{first} to {last}, {} in all", count(points.len(), "choice")),
        few => few.join(", "),
    };
    let more = if *complete { "" } else { ", and more chips were not tried" };
    format!("chips and logical_ratio together: {points} ({}{more})", in_steps(*steps))
}

fn in_steps(steps: u32) -> String {
    format!("in steps of {}", 1.0 / f64::from(steps))
}

fn served(set: &TaskSet, served: &ServedBy) -> String {
    let times = |times: &[RequestTime]| {
        let each = times.iter().map(|of| format!("{} for its {}", of.time, kind(of.writes)));
        each.collect::<Vec<String>>().join(" and ")
    };
    let mut lines = Vec::new();
    if let Some(longest) = served.suspension {
        lines.push(format!(
            "erases that are suspended: \"erase_suspend\" and \"erase_resume\" of the device, {longest} each, the \
             longest step that was found"
        ));
    }
    if !served.deadlines.is_empty() {
        lines.push(format!("a deadline of {}", times(&served.deadlines)));
    }
    if let [RequestTime { writes: true, time, .. }] = served.deadlines[..] {
        lines.push(format!("a buffer that takes the write at once, and passes it on within {time}"));
    }
    if !served.periods.is_empty() {
        lines.push(format!("a period of {}, with no earlier deadline", times(&served.periods)));
    }
    let with = if lines.is_empty() { "" } else { " With any one of these it passes alone:" };
    let lines: String = lines.iter().map(|line| format!("  - {line}\n")).collect();
    format!("\nMore chips do not help task {}.{with}\n{lines}", name(set, served.task))
}

fn supposed(set: &TaskSet, Supposed { suspension, deadlines, enough }: &Supposed) -> String {
    let suspension = suspension.map(|time| format!("\"erase_suspend\" and \"erase_resume\" of {time} each"));
    let due =
        |of: &RequestTime| format!("a deadline of {} for the {} of {}", of.time, kind(of.writes), name(set, of.task));
    let all: Vec<String> = suspension.into_iter().chain(deadlines.iter().map(due)).collect();
    let all = all.join(", ");
    if *enough {
        format!("With {all} nothing else is needed.\n")
    } else {
        format!("The changes below suppose {all}.\n")
    }
}

fn kind(writes: bool) -> &'static str {
    if writes { "write" } else { "read" }
}

fn name(set: &TaskSet, task: usize) -> String {
    set.tasks().as_slice().get(task).map_or_else(String::new, |task| plain(&task.name))
}
