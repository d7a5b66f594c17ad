//! What an experiment comes to, for a person.

use rtflash_wire::{Answer, BandwidthSummary, ContenderSummary, GainSummary, Interval, Summary};

use super::Render;
use super::numbers::{count, volume};
use super::table::table;
use crate::output::{BOLD, GREEN, paint};

/// The answer to `experiment` and `merge`.
pub struct ExperimentView<'a> {
    /// What the experiment comes to.
    pub summary: &'a Summary,
    /// Bytes of a page.
    pub page_size: u32,
    /// Where its files are.
    pub directory: &'a str,
    /// What they are called.
    pub written: &'a [String],
}

impl Render for ExperimentView<'_> {
    fn text(&self) -> String {
        answer(self.summary, self.page_size, self.directory, self.written)
    }

    fn json(&self) -> String {
        self.summary.line()
    }
}

fn answer(summary: &Summary, page_size: u32, directory: &str, written: &[String]) -> String {
    let drawn =
        format!("{}: {} at {}", summary.experiment, count(summary.sets, "task set"), count(summary.points, "point"));
    let mut text = format!("{} {drawn}\n", paint(GREEN, "done"));
    text += &format!("\n{}\n{}", paint(BOLD, "Schedulable"), contenders(summary));
    let gains: Vec<String> = summary.gains.iter().filter_map(gain).collect();
    if !gains.is_empty() {
        text += &format!("\n{}\n{}", paint(BOLD, "On the same sets"), gains.concat());
    }
    if !summary.bandwidth.is_empty() {
        text += &format!(
            "\n{}\n{}",
            paint(BOLD, "Pages a second of jobs that are not real-time"),
            bandwidth(summary, page_size)
        );
    }
    text + &format!("\nin {directory}: {}\n", written.join(", "))
}

/// One name where all contenders have the same analysis, else both.
fn name(algorithm: &str, analysis: &str, several: bool) -> String {
    if several { format!("{algorithm} ({analysis})") } else { algorithm.to_owned() }
}

fn several(summary: &Summary) -> bool {
    summary.contenders.windows(2).any(|pair| pair[0].analysis != pair[1].analysis)
}

fn per_cent(of: Option<Interval>) -> String {
    of.map_or("-".into(), |of| format!("{:.1} %", of.value * 100.0))
}

fn interval(of: Option<Interval>, scale: f64, places: usize) -> String {
    let end = |end: Option<f64>| end.map_or("∞".into(), |end| format!("{:.places$}", end * scale));
    of.map_or("-".into(), |of| format!("{} … {}", end(of.ci_low), end(of.ci_high)))
}

fn contenders(summary: &Summary) -> String {
    let several = several(summary);
    let swept = summary.contenders.iter().any(|row| row.at.is_some());
    let bounded = summary.contenders.iter().any(|row| row.of_possible.is_some());
    let row = |of: &ContenderSummary| {
        let mut cells = vec![name(&of.algorithm, &of.analysis, several)];
        if swept {
            cells.push(of.at.clone().unwrap_or_else(|| "all".into()));
        }
        cells.extend([
            format!("{} of {}", of.schedulable, of.sets),
            per_cent(of.ratio),
            interval(of.ratio, 100.0, 1),
            per_cent(of.weighted),
        ]);
        if bounded {
            cells.push(of.of_possible.map_or("-".into(), |share| format!("{:.1} %", share * 100.0)));
        }
        cells
    };
    let mut headings = vec!["algorithm"];
    if swept {
        headings.push(">at");
    }
    headings.extend([">sets", ">ratio", ">95 %", ">weighted by U"]);
    if bounded {
        headings.push(">of those possible");
    }
    table(&headings, summary.contenders.iter().map(row))
}

/// `clustering-bfd schedules 43.1 % more sets than equal-split (95 %: 39.9 to 46.3)`.
fn gain(of: &GainSummary) -> Option<String> {
    let several = of.analysis != of.over_analysis;
    let names = [name(&of.algorithm, &of.analysis, several), name(&of.over_algorithm, &of.over_analysis, several)];
    let Some(gain) = of.gain else {
        let [first, second] = names;
        return (of.both + of.first_only > 0).then(|| format!("{first} schedules {}, {second} none\n", of.first_only));
    };
    // Said with the better one first.
    let text = if gain.value >= 0.0 {
        format!(
            "{} schedules {:.1} % more sets than {} (95 %: {})\n",
            names[0],
            gain.value * 100.0,
            names[1],
            interval(Some(gain), 100.0, 1)
        )
    } else {
        format!(
            "{} schedules {:.1} % fewer sets than {} (95 %: {})\n",
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

fn bandwidth(summary: &Summary, page_size: u32) -> String {
    let several = several(summary);
    let row = |of: &BandwidthSummary| {
        let mut cells = vec![of.utilization.to_string()];
        cells.extend(of.at.clone());
        cells.extend([
            of.job.to_string(),
            format!("{} + {}", name(&of.algorithm, &of.analysis, several), of.server),
            of.sets.to_string(),
            of.pages_per_second.map_or("-".into(), |of| format!("{:.0}", of.value)),
            interval(of.pages_per_second, 1.0, 0),
            of.pages_per_second.map_or("-".into(), |of| format!("{}/s", volume(of.value * f64::from(page_size)))),
            of.deadline_misses.to_string(),
        ]);
        cells
    };
    let mut headings = vec![">U"];
    if summary.bandwidth.iter().any(|row| row.at.is_some()) {
        headings.push(">at");
    }
    headings.extend(["job", "served by", ">sets", ">pages/s", ">95 %", ">bytes/s", ">deadlines missed"]);
    table(&headings, summary.bandwidth.iter().map(row))
}
