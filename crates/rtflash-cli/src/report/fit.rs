//! The report of `host fit`.

use std::collections::BTreeMap;

use rtflash_answers::Tone;
use rtflash_draw::figure::{BarSeries, Bars, Curve, Figure, MeasuredPoint, YAxis};
use rtflash_draw::page::{HtmlReport, Picture, ReportPart};
use rtflash_drive::claims::Fitted;
use rtflash_drive::fit::Fit;
use rtflash_drive::statistics::{geometric, median};
use rtflash_drive::{Done, Measurement, bytes, three_digits};
use rtflash_host::Op;

use super::{Origin, table_parts};
use crate::render::host_fit::{held_out, kinds, residuals};

/// Points of a distribution's curve.
const STEPS: u32 = 64;

/// Parts of a round, of each of which the longest command is drawn.
const PARTS: u64 = 16;

/// Commands that a median by the number in flight needs.
const ENOUGH: usize = 20;

pub fn fit(measurement: &Measurement, fit: &Fit, fitted: &Fitted) -> HtmlReport {
    let origin = Origin::of_call(None);
    let mut parts = vec![ReportPart::Pictures(pictures(measurement, fit))];
    parts.push(ReportPart::Note(in_flight(measurement)));
    parts.extend(table_parts("The line through the medians of lone commands", residuals(fitted)));
    parts.extend(table_parts("Kinds of device: the factor off on rounds held out", kinds(fit)));
    parts.extend(table_parts("The chosen kind on rounds held out", held_out(fitted)));
    parts.push(ReportPart::Heading("What can be claimed".into()));
    parts.extend(fitted.no_bound().into_iter().chain(fitted.claims()).map(ReportPart::Note));
    parts.extend(fitted.notes.iter().cloned().map(ReportPart::Note));
    let verdict = match fitted.no_bound() {
        None => (Tone::Good, format!("fitted: {}", fitted.kind)),
        Some(reason) => (Tone::Open, reason),
    };
    let answer = serde_json::to_string(fitted).expect("numbers and names: invariant of `Fitted`");
    origin.page("A drive, fitted to measurements", verdict, parts, answer)
}

fn pictures(measurement: &Measurement, fit: &Fit) -> Vec<Picture> {
    let mut pictures = Vec::new();
    for (at, op) in [Op::Read, Op::Write].into_iter().enumerate() {
        let (measured, predicted) = (&fit.held_out[at], &fit.candidates[0].predicted[at]);
        if let (Some(first), Some(last)) = (measured.first(), measured.last()) {
            let figure = distribution([measured, predicted], *first, *last);
            pictures.push(Picture::figure(&format!("{}s of rounds held out", op.name()), &figure));
        }
    }
    pictures.push(Picture::bars("How far the line is off", &residual_bars(fit)));
    let by_round = |caption: &str, y_label: &str, of: &dyn Fn(Op) -> Vec<(f64, f64)>, y_axis: YAxis| {
        let curves = [Op::Read, Op::Write].map(|op| curve(op.name(), of(op)));
        let curves = curves.into_iter().filter(|curve| !curve.points.is_empty()).collect();
        let (x_label, y_label) = ("Round".into(), y_label.into());
        Picture::figure(caption, &Figure { x_label, y_label, y_axis, curves, ..Figure::default() })
    };
    let longest = |op| longest_over_time(measurement, op);
    let stalls = "The longest command in each sixteenth of a round";
    pictures.push(by_round(stalls, "Issue to end (ms)", &longest, YAxis::Logarithmic));
    if fit.episodes.iter().any(|of| !of.is_empty()) {
        let episodes = |op: Op| episodes(measurement, fit, op);
        pictures.push(by_round("Slow episodes", "Beyond the line (ms)", &episodes, YAxis::FromZero));
    }
    let medians = |op| medians(measurement, fit, op);
    let caption = "Medians of rounds: lone commands next to the line";
    pictures.push(by_round(caption, "Times the line", &medians, YAxis::FromZero));
    let curves = [Op::Read, Op::Write].into_iter().filter_map(|op| {
        let (size, medians) = by_others(measurement, op)?;
        let points = medians.into_iter().map(|(others, ns)| (f64::from(others), ns as f64 / 1e3));
        Some(curve(&format!("{} of {}", op.name(), bytes(size)), points.collect()))
    });
    // One number in flight is no curve: a sentence says it.
    let curves: Vec<Curve> = curves.filter(|curve| curve.points.len() > 1).collect();
    if !curves.is_empty() {
        let figure = Figure {
            x_label: "Other commands in flight at the issue".into(),
            y_label: "Median from issue to end (us)".into(),
            y_axis: YAxis::FromZero,
            curves,
            ..Figure::default()
        };
        pictures.push(Picture::figure("Residence by commands in flight", &figure));
    }
    pictures
}

fn curve(label: &str, points: Vec<(f64, f64)>) -> Curve {
    Curve { label: label.to_owned(), points: points.into_iter().map(|(x, y)| MeasuredPoint::exact(x, y)).collect() }
}

/// The share of commands that take at least as long as a time, measured and predicted, both sorted.
fn distribution(of: [&[u64]; 2], first: u64, last: u64) -> Figure {
    let ends = of.map(|times| (times.first().copied().unwrap_or(first), times.last().copied().unwrap_or(last)));
    let (least, most) = (ends[0].0.min(ends[1].0).max(1) as f64, ends[0].1.max(ends[1].1).max(2) as f64);
    let places = geometric(least, most, STEPS);
    let share = |times: &[u64], at: f64| {
        let longer = times.len() - times.partition_point(|&time| (time as f64) < at);
        longer as f64 / times.len().max(1) as f64
    };
    let points = |times: &[u64]| -> Vec<(f64, f64)> {
        let all = places.iter().map(|&place| (place / 1e6, share(times, place)));
        all.filter(|&(_, share)| share > 0.0).collect()
    };
    Figure {
        x_label: "Issue to end (ms)".into(),
        y_label: "Share of commands that take at least this".into(),
        y_axis: YAxis::Logarithmic,
        x_logarithmic: true,
        curves: ["measured", "predicted"].into_iter().zip(of).map(|(name, of)| curve(name, points(of))).collect(),
        ..Figure::default()
    }
}

fn residual_bars(fit: &Fit) -> Bars {
    let mut sizes: Vec<u64> = fit.lines.iter().flat_map(|line| &line.sizes).map(|of| of.size).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let of = |at: usize, size: u64| {
        let found = fit.lines[at].sizes.iter().find(|of| of.size == size);
        found.map_or(f64::NAN, |of| of.residual().abs() * 100.0)
    };
    let series = [Op::Read, Op::Write].into_iter().enumerate();
    let series = series.map(|(at, op)| BarSeries::new(op.name(), sizes.iter().map(|&size| of(at, size)).collect()));
    Bars {
        y_label: "Line and median differ by (%)".into(),
        groups: sizes.iter().map(|&size| bytes(size)).collect(),
        series: series.collect(),
        logarithmic: false,
    }
}

/// The place of a time in its round. A round begins at its number, counted from 1.
fn place(number: usize, round: &[Done], at: u64) -> f64 {
    let (first, last) = (round.first().map_or(0, |done| done.issued), round.last().map_or(0, |done| done.issued));
    number as f64 + 1.0 + at.saturating_sub(first) as f64 / (last - first + 1) as f64
}

fn longest_over_time(measurement: &Measurement, op: Op) -> Vec<(f64, f64)> {
    let mut points = Vec::new();
    for (number, round) in measurement.rounds.iter().enumerate() {
        let first = round.first().map_or(0, |done| done.issued);
        let length = (round.last().map_or(0, |done| done.issued) - first) / PARTS + 1;
        let mut longest: BTreeMap<u64, &Done> = BTreeMap::new();
        for done in round.iter().filter(|done| done.op == op) {
            let of = longest.entry((done.issued - first) / length).or_insert(done);
            *of = if done.residence() > of.residence() { done } else { of };
        }
        points.extend(longest.values().map(|of| (place(number, round, of.issued), of.residence() as f64 / 1e6)));
    }
    points
}

/// Episodes as steps, if the rounds are of one clock.
fn episodes(measurement: &Measurement, fit: &Fit, op: Op) -> Vec<(f64, f64)> {
    let of = |at: u64| {
        let holds = |round: &Vec<Done>| {
            round.first().is_some_and(|first| first.issued <= at) && round.last().is_some_and(|last| at <= last.issued)
        };
        let number = measurement.rounds.iter().position(holds)?;
        Some(place(number, &measurement.rounds[number], at))
    };
    let mut points = Vec::new();
    for episode in &fit.episodes[usize::from(op != Op::Read)] {
        if let (Some(begin), Some(end)) = (of(episode.begin), of(episode.end)) {
            let extra = episode.extra as f64 / 1e6;
            points.extend([(begin - 1e-6, 0.0), (begin, extra), (end, extra), (end + 1e-6, 0.0)]);
        }
    }
    points
}

/// The median of each round's lone commands, as a multiple of the line.
fn medians(measurement: &Measurement, fit: &Fit, op: Op) -> Vec<(f64, f64)> {
    let line = &fit.lines[usize::from(op != Op::Read)];
    let mut points = Vec::new();
    for (number, round) in measurement.rounds.iter().enumerate() {
        let own = round.iter().filter(|done| done.op == op && done.is_alone() && !done.continues);
        // Thousandths, as medians are of whole numbers.
        let times = own.map(|done| done.service().saturating_mul(1_000) / line.at(done.size).max(1));
        points.extend(median(times.collect()).map(|median| (number as f64 + 1.0, median as f64 / 1e3)));
    }
    points
}

/// The commonest size of an operation, and the median residence by the commands in flight.
fn by_others(measurement: &Measurement, op: Op) -> Option<(u64, Vec<(u32, u64)>)> {
    let size = measurement.largest.iter().filter(|of| of.op == op).max_by_key(|of| of.count)?.size;
    let mut times: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for done in measurement.commands().filter(|done| done.op == op && done.size == size) {
        times.entry(done.others).or_default().push(done.residence());
    }
    let enough = times.into_iter().filter(|(_, times)| times.len() >= ENOUGH);
    Some((size, enough.filter_map(|(others, times)| Some((others, median(times)?))).collect()))
}

fn in_flight(measurement: &Measurement) -> String {
    let Some((_, medians)) = by_others(measurement, Op::Read).or_else(|| by_others(measurement, Op::Write)) else {
        return "No command was measured.".into();
    };
    match (medians.first(), medians.last()) {
        (Some(&(alone, one)), Some(&(others, many))) if others > alone => {
            let how = if many > one.saturating_mul(u64::from(others).div_ceil(2).max(2)) {
                "the drive takes commands one after the other"
            } else {
                "the drive takes commands together"
            };
            let [one, many] = [one, many].map(three_digits);
            format!("A command takes {one} with {alone} others in flight and {many} with {others}: {how}.")
        }
        _ => "All commands were alone in flight: how the drive takes several is not known.".into(),
    }
}
