//! The results of an experiment, in tables and sentences.

use rtflash_experiment::output::{BandwidthSummary, ContenderSummary, GainSummary, Interval, Summary};

use crate::numbers::volume;
use crate::table::{AnswerTable, Cell};

/// One name where all contenders have the same analysis, else both.
fn name(algorithm: &str, analysis: &str, several: bool) -> String {
    if several { format!("{algorithm} ({analysis})") } else { algorithm.to_owned() }
}

fn several(summary: &Summary) -> bool {
    summary.contenders.windows(2).any(|pair| pair[0].analysis != pair[1].analysis)
}

/// A share of one, in per cent.
fn per_cent(of: Option<f64>) -> Cell {
    Cell::some(of.map(|of| (format!("{:.1} %", of * 100.0), of)))
}

fn interval(of: Option<Interval>, scale: f64, places: usize) -> String {
    let end = |end: Option<f64>| end.map_or("∞".into(), |end| format!("{:.places$}", end * scale));
    of.map_or("-".into(), |of| format!("{} … {}", end(of.ci_low), end(of.ci_high)))
}

/// The ratio of each contender.
pub fn contenders_table(summary: &Summary) -> AnswerTable {
    let several = several(summary);
    let swept = summary.contenders.iter().any(|row| row.at.is_some());
    let bounded = summary.contenders.iter().any(|row| row.of_possible.is_some());
    let row = |of: &ContenderSummary| {
        let mut cells = vec![Cell::text(name(&of.algorithm, &of.analysis, several))];
        if swept {
            cells.push(Cell::text(of.at.clone().unwrap_or_else(|| "all".into())));
        }
        cells.extend([
            Cell::number(format!("{} of {}", of.schedulable, of.sets), of.schedulable as f64),
            per_cent(of.ratio.map(|of| of.value)),
            Cell::text(interval(of.ratio, 100.0, 1)),
            per_cent(of.weighted.map(|of| of.value)),
        ]);
        if bounded {
            cells.push(per_cent(of.of_possible));
        }
        cells
    };
    let (at, possible) = (swept.then_some(">at"), bounded.then_some(">of those possible"));
    let headings = ["algorithm"].into_iter().chain(at).chain([">sets", ">ratio", ">95 %", ">weighted by U"]);
    let mut table = AnswerTable::new(headings.chain(possible));
    table.rows.extend(summary.contenders.iter().map(row));
    table
}

/// A sentence for each pair of algorithms: which one schedules more of the sets.
pub fn gains(summary: &Summary) -> Vec<String> {
    let several = several(summary);
    summary.gains.iter().filter_map(|of| gain(of, several)).collect()
}

/// `clustering-bfd schedules 43.1 % more sets than equal-split (95 %: 39.9 to 46.3)`, with the
/// analysis behind each name if there are several.
fn gain(of: &GainSummary, several: bool) -> Option<String> {
    let names = [name(&of.algorithm, &of.analysis, several), name(&of.over_algorithm, &of.over_analysis, several)];
    let Some(gain) = of.gain else {
        let [first, second] = names;
        return (of.both + of.first_only > 0).then(|| format!("{first} schedules {}, {second} none", of.first_only));
    };
    // Said with the better one first.
    let text = if gain.value >= 0.0 {
        format!(
            "{} schedules {:.1} % more sets than {} (95 %: {})",
            names[0],
            gain.value * 100.0,
            names[1],
            interval(Some(gain), 100.0, 1)
        )
    } else {
        format!(
            "{} schedules {:.1} % fewer sets than {} (95 %: {})",
            names[0],
            -gain.value * 100.0,
            names[1],
            interval(
                Some(Interval {
                    value: -gain.value,
                    ci_low: gain.ci_high.map(|high| -high),
                    ci_high: gain.ci_low.map(|low| -low)
                }),
                100.0,
                1
            )
        )
    };
    Some(text)
}

/// Pages a second of jobs that are not real-time, on a device with pages of this size.
pub fn bandwidth_table(summary: &Summary, page_size: u32) -> AnswerTable {
    let several = several(summary);
    let row = |of: &BandwidthSummary| {
        let rate = of.pages_per_second.map(|of| of.value);
        let bytes = rate.map(|rate| rate * f64::from(page_size));
        let head = [Cell::number(of.utilization.to_string(), of.utilization)];
        let tail = [
            Cell::text(of.job.to_string()),
            Cell::text(format!("{} + {}", name(&of.algorithm, &of.analysis, several), of.server)),
            Cell::whole(of.sets),
            Cell::places(rate, 0),
            Cell::text(interval(of.pages_per_second, 1.0, 0)),
            Cell::some(bytes.map(|bytes| (format!("{}/s", volume(bytes)), bytes))),
            Cell::whole(of.deadline_misses),
        ];
        head.into_iter().chain(of.at.clone().map(Cell::text)).chain(tail).collect()
    };
    let at = summary.bandwidth.iter().any(|row| row.at.is_some()).then_some(">at");
    let rest = ["job", "served by", ">sets", ">pages/s", ">95 %", ">bytes/s", ">deadlines missed"];
    let mut table = AnswerTable::new([">U"].into_iter().chain(at).chain(rest));
    table.rows.extend(summary.bandwidth.iter().map(row));
    table
}
