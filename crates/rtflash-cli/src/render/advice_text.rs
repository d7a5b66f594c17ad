//! What would help, as a person reads it.

use rtflash_alloc::advice::{Advice, MoreChips, ServedBy, Supposed};
use rtflash_alloc::sizing::{Front, FrontPoint, RATIO_STEPS};
use rtflash_model::{Device, TaskSet};

use super::numbers::{count, plain, separated, volume};

/// What would help, if anything was found. The algorithm is the one that was asked for.
pub fn advice(set: &TaskSet, algorithm: &str, advice: &Advice) -> String {
    let device = set.device();
    let request = advice.request.as_ref().map_or_else(String::new, |of| served(set, of));
    let changes = [
        advice.chips.map(|more| chips(device, more)),
        advice.logical_ratio.map(|ratio| format!("a logical_ratio of {ratio} instead of {}", device.logical_ratio())),
        (!advice.together.points.is_empty()).then(|| together(device, algorithm, &advice.together)),
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
    if lines.is_empty() { request } else { format!("{request}\nAny one of these would do:\n{lines}") }
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
fn together(device: &Device, algorithm: &str, Front { points, steps }: &Front) -> String {
    let other_channels = |point: &FrontPoint| point.channels != point.chips.div_ceil(device.chips_per_channel());
    let with_channels = points.iter().any(other_channels);
    let points = points.iter().map(|point| {
        let channels = if with_channels { format!(" on {}", count(point.channels, "channel")) } else { String::new() };
        let by = match point.algorithm {
            name if name == algorithm => String::new(),
            name => format!(" (--algorithm {name})"),
        };
        format!("{}{channels} at up to {}{by}", count(point.chips, "chip"), point.logical_ratio)
    });
    let points: Vec<String> = points.collect();
    // `size` prints what lies between the ends.
    let points = match &points[..] {
        [first, _, _, _, .., last] => {
            format!("{first} to {last}, {} in all (`size --over chips,logical_ratio`)", count(points.len(), "choice"))
        }
        few => few.join(", "),
    };
    let tried = match steps {
        &Some(RATIO_STEPS) => String::new(),
        Some(steps) => format!(" (in steps of {})", 1.0 / f64::from(*steps)),
        None => " (more chips were not tried)".to_owned(),
    };
    format!("chips and logical_ratio together: {points}{tried}")
}

/// What lets a request be served, and what the other advice supposes.
fn served(set: &TaskSet, served: &ServedBy) -> String {
    let mut lines = Vec::new();
    if let Some(longest) = served.suspension {
        lines.push(format!(
            "erases that are suspended: \"erase_suspend\" and \"erase_resume\" of the device, {longest} each"
        ));
    }
    if let Some(deadline) = served.deadline {
        lines.push(format!("a deadline of {deadline}"));
        if served.too_long.writes {
            lines.push(format!("a buffer that takes the write at once, and passes it on within {deadline}"));
        }
    }
    if let Some(period) = served.period {
        lines.push(format!("a period of {period}, with no earlier deadline"));
    }
    let task = set.tasks().as_slice().get(served.task).map_or_else(String::new, |task| plain(&task.name));
    let lines: String = lines.iter().map(|line| format!("  - {line}\n")).collect();
    let supposed = match (served.supposed, served.enough) {
        (None, _) => String::new(),
        (Some(Supposed::Suspension(time)), true) => {
            format!("With \"erase_suspend\" and \"erase_resume\" of {time} each nothing else is needed.\n")
        }
        (Some(Supposed::Deadlines), true) => "With that deadline nothing else is needed.\n".to_owned(),
        (Some(Supposed::Suspension(time)), false) => {
            format!("What follows supposes \"erase_suspend\" and \"erase_resume\" of {time} each.\n")
        }
        (Some(Supposed::Deadlines), false) => "What follows supposes that deadline.\n".to_owned(),
    };
    if lines.is_empty() {
        return format!("\nMore chips do not help task {task}.\n{supposed}");
    }
    format!("\nMore chips do not help task {task}. With any one of these it passes alone:\n{lines}{supposed}")
}
