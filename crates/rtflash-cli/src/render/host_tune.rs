//! The answer of `host tune` for a person.

use rtflash_answers::{TuneAnswer, TuneSetting};
use rtflash_drive::three_digits;
use rtflash_model::format_ns;

use super::numbers::{bound, plain, quantity, separated};
use super::table::table;

/// The answer for a person, about a drive that is known by measurements (`is_fitted`) or by its
/// constants, and that Linux knows as `block`.
pub fn text(answer: &TuneAnswer<'_>, is_fitted: bool, block: Option<&str>) -> String {
    let runs = format!("{} {}", answer.runs, if answer.runs == 1 { "run" } else { "runs" });
    let headings = [
        "",
        "scheduler",
        ">inside",
        ">pieces",
        ">p99.9",
        ">of none's",
        ">MB/s",
        ">of none's",
        ">background",
        ">bound",
        ">as wanted",
    ];
    let same = |one: &TuneSetting, other: &TuneSetting| {
        let key = |of: &TuneSetting| (of.scheduler.clone(), of.max_inflight, of.max_sectors, of.fifo_batch);
        key(one) == key(other)
    };
    let is_chosen = |of: &TuneSetting| answer.chosen.as_ref().is_some_and(|chosen| same(chosen, of));
    let rows =
        std::iter::once(&answer.none).chain(&answer.settings).map(|of| row(of, answer.runs, is_chosen(of), is_fitted));
    let deadline = |deadline: Option<u64>| deadline.map_or_else(String::new, |ns| format!(" ({})", format_ns(ns)));
    let named = answer.jobs.iter().zip(&answer.deadline_ns);
    let jobs: Vec<String> = named.map(|(name, &ns)| format!("{}{}", plain(name), deadline(ns))).collect();
    let mut text = format!("{}; real-time: {}\n{}", answer.objective, jobs.join(", "), table(&headings, rows));
    text += &format!("each setting: {runs} of {}\n", format_ns(answer.run_ns));
    text += &doubts(answer);
    let Some(chosen) = &answer.chosen else {
        return text + &format!("no setting is as wanted in every run ({runs})\n");
    };
    let cost = chosen.bandwidth_share.map_or_else(String::new, |share| {
        format!("it costs {:.1} % of the bandwidth under none", 100.0 * (1.0 - share).max(0.0))
    });
    let gain =
        chosen.latency_share.map_or_else(String::new, |share| format!("; p99.9 is {:.1} % of none's", 100.0 * share));
    text += &format!("{cost}{gain}\n");
    match &answer.sysfs {
        Some(lines) => {
            let named = |line: &String| block.map_or_else(|| line.clone(), |block| line.replace("<device>", block));
            lines.iter().for_each(|line| text += &format!("{}\n", named(line)));
            if answer.cuts_rest {
                text += "(for a k2-split that cuts all that is not real-time; the published one cuts class idle \
                         alone: `cut`)\n";
            }
        }
        None => text += "no kernel has this scheduler yet\n",
    }
    text
}

/// I/Os that a 99.9th percentile needs: ten of them are above it.
const ENOUGH: u64 = 10_000;

fn doubts(answer: &TuneAnswer<'_>) -> String {
    let mut text = String::new();
    for (at, job) in answer.jobs.iter().enumerate() {
        let settings = std::iter::once(&answer.none).chain(&answer.chosen);
        let fewest = settings.map(|of| of.samples[at]).min().expect("`none` is always measured");
        // A deadline is kept by a bound.
        if fewest < ENOUGH && answer.objective != "deadline" {
            let (job, fewest, enough) = (plain(job), separated(fewest.into()), separated(ENOUGH.into()));
            text += &format!("not sure: a 99.9th percentile needs {enough} I/Os of {job}, and {fewest} count\n");
        }
    }
    if !answer.rivals.is_empty() {
        let name = |of: &TuneSetting| {
            let inside = of.max_inflight.map_or_else(String::new, |inside| format!(" {inside} inside"));
            let pieces = of.max_sectors.map_or_else(String::new, |size| format!(" {} KiB", size >> 10));
            format!("{}{inside}{pieces} (as wanted in {} of {})", name_of(of), of.wanted_in, answer.runs)
        };
        let names: Vec<String> = answer.rivals.iter().map(name).collect();
        text += &format!("not sure: these settings can be better: {}\n", names.join(", "));
    }
    text
}

fn name_of(of: &TuneSetting) -> String {
    let batch = of.fifo_batch.map_or_else(String::new, |batch| format!(", fifo_batch {batch}"));
    format!("{}{batch}", of.scheduler)
}

fn row(of: &TuneSetting, runs: u32, is_chosen: bool, is_fitted: bool) -> Vec<String> {
    // Measurements carry three digits.
    let [tail, bound]: [fn(u64) -> String; 2] = if is_fitted { [three_digits; 2] } else { [format_ns, bound] };
    let percent = |share: Option<f64>| share.map_or_else(|| "-".to_owned(), |share| format!("{:.1} %", 100.0 * share));
    let times = |times: &[Option<u64>], format: fn(u64) -> String| {
        let worst = times.iter().copied().reduce(|one, other| Some(one?.max(other?))).flatten();
        worst.map_or_else(|| "none".to_owned(), format)
    };
    vec![
        if is_chosen { "→".to_owned() } else { String::new() },
        name_of(of),
        of.max_inflight.map_or_else(String::new, |inside| inside.to_string()),
        of.max_sectors.map_or_else(|| "whole".to_owned(), |size| format!("{} KiB", size >> 10)),
        times(&of.p999_ns, tail),
        percent(of.latency_share),
        quantity(of.bytes_per_s as f64 / 1e6),
        percent(of.bandwidth_share),
        quantity(of.background_bytes_per_s as f64 / 1e6),
        times(&of.bound_ns, bound),
        format!("{} of {runs}", of.wanted_in),
    ]
}
