//! Figures of `rtflash host run`: how latencies are distributed, percentiles, and bandwidths.

use std::collections::{BTreeSet, HashSet};
use std::fmt::Write;
use std::path::Path;

use rtflash_answers::HostAnswer;
use rtflash_draw::figure::{BarSeries, Bars, Curve, Figure, MeasuredPoint, YAxis};
use rtflash_draw::page::Picture;
use rtflash_host::bound::BoundAssumption;
use rtflash_host::run::{JobReport, Latencies, QueueLengths};

use crate::{CommandFailure, output};

pub struct Ran {
    pub scheduler: &'static str,
    pub jobs: Vec<JobReport>,
    pub queues: QueueLengths,
    pub assumptions: Vec<BoundAssumption>,
}

impl Ran {
    pub fn answer(&self) -> HostAnswer<'_> {
        HostAnswer::new(self.scheduler, &self.jobs, &self.queues, &self.assumptions)
    }
}

/// Steps of a logarithmic scale from one power of two to the next, as a power of two.
const STEPS: u32 = 5;

/// How many times the shortest bar the longest may be on a linear axis.
const FAR_APART: f64 = 50.0;

/// Writes the figures of runs of one scenario into a folder, each as SVG with its numbers beside it
/// as CSV. Fails if one cannot be written.
pub fn write(folder: &Path, runs: &[Ran]) -> Result<(), CommandFailure> {
    output::folder(folder)?;
    for HostFigure { name, svg, csv, .. } in figures(runs) {
        for (ending, content) in [("svg", svg), ("csv", csv)] {
            output::save(&folder.join(format!("{name}.{ending}")), content.as_bytes())?;
        }
    }
    Ok(())
}

pub fn pictures(runs: &[Ran]) -> Vec<Picture> {
    figures(runs).into_iter().map(|figure| figure.picture).collect()
}

struct HostFigure {
    name: String,
    svg: String,
    csv: String,
    picture: Picture,
}

impl HostFigure {
    fn of_curves(name: String, caption: &str, figure: &Figure, csv: String) -> HostFigure {
        HostFigure { svg: figure.svg(), csv, picture: Picture::figure(caption, figure), name }
    }

    fn of_bars(name: String, caption: &str, bars: &Bars) -> HostFigure {
        HostFigure { svg: bars.svg(), csv: bars.csv(), picture: Picture::bars(caption, bars), name }
    }
}

fn figures(runs: &[Ran]) -> Vec<HostFigure> {
    let jobs = runs.first().map_or(&[][..], |run| &run.jobs);
    let (mut known, mut all) = (HashSet::new(), Vec::new());
    for (at, job) in jobs.iter().enumerate() {
        let name = file_name(&job.name, &mut known);
        let latencies: Vec<(&str, &Latencies)> =
            runs.iter().filter_map(|run| Some((run.scheduler, &run.jobs.get(at)?.latencies))).collect();
        if let Some((figure, csv)) = distribution(&job.name, &latencies) {
            all.push(HostFigure::of_curves(format!("ccdf-{name}"), &format!("Latencies of {name}"), &figure, csv));
        }
        let bars = percentiles(&job.name, &latencies);
        all.push(HostFigure::of_bars(format!("latency-{name}"), &format!("Percentiles of {name}"), &bars));
    }
    all.push(HostFigure::of_bars("bandwidth".into(), "Bandwidth of each job", &bandwidths(runs)));
    all
}

/// The name of a job's files: letters, digits and hyphens of its name, and a number if that is
/// taken.
fn file_name(job: &str, known: &mut HashSet<String>) -> String {
    let plain: String =
        job.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' }).collect();
    let plain: String = plain.trim_start_matches('.').chars().take(60).collect();
    let plain = if plain.is_empty() { "job".to_owned() } else { plain };
    let mut name = plain.clone();
    let mut number = 2_u64;
    // Some file systems do not tell upper case from lower case.
    while !known.insert(name.to_ascii_lowercase()) {
        name = format!("{plain}-{number}");
        number += 1;
    }
    name
}

fn ms(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e6
}

/// For each scheduler, the share of a job's I/Os that take at least so long; `None` where none
/// counts at all.
fn distribution(job: &str, latencies: &[(&str, &Latencies)]) -> Option<(Figure, String)> {
    let all = || latencies.iter().map(|(_, latencies)| latencies);
    let shortest = all().filter_map(|latencies| latencies.percentile(0)).min()?;
    let longest = all().filter_map(|latencies| latencies.max()).max()?;
    let ends = all().flat_map(|latencies| [latencies.percentile(0), latencies.max()]).flatten();
    let mut places: BTreeSet<u64> = ends.collect();
    let mut scale = 0_u32;
    while scale < 64 - STEPS && (1_u64 << (scale + STEPS)) <= longest {
        let octave = (1_u64 << STEPS..2 << STEPS).map(|step| step << scale);
        places.extend(octave.filter(|place| (shortest..=longest).contains(place)));
        scale += 1;
    }
    let share = |latencies: &Latencies, place: u64| {
        let count = latencies.at_least(place);
        (count > 0).then(|| count as f64 / latencies.count() as f64)
    };
    let curve = |(scheduler, latencies): &(&str, &Latencies)| {
        let points = places.iter().filter_map(|&place| Some(MeasuredPoint::exact(ms(place), share(latencies, place)?)));
        Curve { label: (*scheduler).to_owned(), points: points.collect() }
    };
    let figure = Figure {
        x_label: format!("Latency of {job} (ms)"),
        y_label: "Share of I/Os that take at least this".into(),
        y_axis: YAxis::Logarithmic,
        x_logarithmic: true,
        curves: latencies.iter().map(curve).collect(),
        ..Figure::default()
    };
    let mut csv = String::from("latency_ns");
    latencies.iter().for_each(|(scheduler, _)| csv += &format!(",{scheduler}"));
    csv.push('\n');
    for &place in &places {
        // Writing to a string cannot fail.
        let _ = write!(csv, "{place}");
        for (_, latencies) in latencies {
            let _ = write!(csv, ",{}", share(latencies, place).unwrap_or(0.0));
        }
        csv.push('\n');
    }
    Some((figure, csv))
}

fn percentiles(job: &str, latencies: &[(&str, &Latencies)]) -> Bars {
    let series = [("p50", 5_000), ("p99", 9_900), ("p99.9", 9_990)].map(|(name, share)| {
        let of = |(_, latencies): &(&str, &Latencies)| latencies.percentile(share).map_or(f64::NAN, ms);
        BarSeries::new(name, latencies.iter().map(of).collect())
    });
    let numbers = || series.iter().flat_map(|series| &series.values).copied();
    let (min, max) = (numbers().fold(f64::INFINITY, f64::min), numbers().fold(0.0, f64::max));
    Bars {
        y_label: format!("Latency of {job} (ms)"),
        groups: latencies.iter().map(|(scheduler, _)| (*scheduler).to_owned()).collect(),
        // The scale is logarithmic if one bar would leave nothing of another.
        logarithmic: max > FAR_APART * min,
        series: series.into(),
    }
}

fn bandwidths(runs: &[Ran]) -> Bars {
    let jobs = runs.first().map_or(&[][..], |run| &run.jobs);
    let series = jobs.iter().enumerate().map(|(at, job)| {
        let of = |run: &Ran| run.jobs.get(at).map_or(f64::NAN, |job| job.bytes_per_s as f64 / 1e6);
        BarSeries::new(job.name.clone(), runs.iter().map(of).collect())
    });
    Bars {
        y_label: "Bandwidth (MB/s)".into(),
        groups: runs.iter().map(|run| run.scheduler.to_owned()).collect(),
        series: series.collect(),
        logarithmic: false,
    }
}
