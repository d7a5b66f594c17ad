//! `rtflash host tune`: the queue bound and the size of pieces for an objective.

use std::path::Path;

use rtflash_answers::TuneAnswer;
use rtflash_draw::figure::{BarSeries, Bars, Curve, Figure, MeasuredPoint, YAxis};
use rtflash_host::SchedulerSettings;
use rtflash_host::run::{HostRunError, until_over};
use rtflash_host::tune::{Measured, Objective, TuneOptions, TuneRun, Tuning, k2, tune};

use super::host_input::{Input, advice};
use super::host_install;
use crate::answer::{SetAnswer, Status, Unanswered};
use crate::args::HostTuneArgs;
use crate::render::host_tune::text;
use crate::render::rendered;
use crate::{CommandFailure, output};

pub fn answer(args: &HostTuneArgs, input: &Input) -> Result<SetAnswer, Unanswered> {
    let gave_up = |error: HostRunError| Unanswered::because(&error.to_string(), Status::CannotTell);
    let mut complaint = input.remarks()?;
    let scenario = until_over(input.scenario(None)?, args.seed).map_err(gave_up)?;
    if !scenario.jobs.iter().any(rtflash_host::run::Job::is_real_time) {
        fail!("no job is real-time (`\"class\": \"rt\"`): there is nothing to choose for");
    }
    complaint += &advice(&scenario);
    let fitted = input.measured_jobs(&scenario)?;
    let (is_fitted, no_bound) = (fitted.is_some(), fitted.and_then(|fitted| fitted.no_bound()));
    if let (Objective::Deadline(_), Some(reason)) = (args.objective, &no_bound) {
        return Err(Unanswered::because(reason, Status::CannotTell));
    }
    let named: Vec<&str> = match args.scheduler.as_slice() {
        [] if is_fitted => vec!["k2", "k2-split", "mq-deadline", "kyber", "bfq"],
        [] => vec!["k2", "k2-split"],
        named => named.iter().map(String::as_str).collect(),
    };
    let schedulers: Vec<SchedulerSettings> = named.into_iter().filter_map(SchedulerSettings::named).collect();
    let mut tuning = tune(&scenario, &schedulers, TuneOptions::new(args.objective, args.seed)).map_err(gave_up)?;
    if let Some(reason) = no_bound {
        complaint += &output::warning(&format!("{reason}; the other columns are those of runs"));
        tuning.measured.iter_mut().chain([&mut tuning.none]).for_each(|of| of.bounds.fill(None));
    }
    if let Some(folder) = &args.figures {
        draw(folder, &tuning)?;
    }
    if let (Some(folder), Some(block), Some(best)) = (&args.install, &args.block, tuning.best(args.objective)) {
        host_install::write(folder, block, &scenario, &tuning.measured[best].settings)?;
    }
    let answer = TuneAnswer::new(&scenario, args.objective, &tuning);
    let text = rendered(args.format.format, &answer, || text(&answer, is_fitted, args.block.as_deref()));
    // Without a choice it is open whether a setting that was as wanted in some run is so.
    let is_open = answer.chosen.is_none() && !answer.rivals.is_empty();
    let status = Status::of((!is_open).then_some(answer.chosen.is_some()));
    Ok(SetAnswer { text, complaint, status, ..SetAnswer::default() })
}

/// Figures of the settings: the best ones side by side, and percentile and bandwidth over the queue
/// bound.
fn draw(folder: &Path, tuning: &Tuning) -> Result<(), CommandFailure> {
    output::folder(folder)?;
    let save = |name: &str, content: &str| output::save(&folder.join(name), content.as_bytes());
    save("tradeoff.csv", &csv(tuning))?;
    let best = front(tuning);
    let bars = |y_label: &str, series: Vec<BarSeries>, logarithmic| Bars {
        y_label: y_label.into(),
        groups: best.iter().map(|of| label(of)).collect(),
        series,
        logarithmic,
    };
    let series =
        |name: &str, of: &dyn Fn(&Measured) -> f64| BarSeries::new(name, best.iter().map(|one| of(one)).collect());
    let bound = |of: &Measured| {
        let worst = of.bounds.iter().copied().reduce(|one, other| Some(one?.max(other?))).flatten();
        worst.map_or(f64::NAN, |bound| bound as f64 / 1e6)
    };
    let latencies = vec![series("p99.9", &tail), series("bound", &bound)];
    save("settings-latency.svg", &bars("Worst real-time job (ms)", latencies, true).svg())?;
    let background = vec![series("background", &|of| of.all.background_bytes_per_s as f64 / 1e6)];
    save("settings-background.svg", &bars("Jobs that are not real-time (MB/s)", background, false).svg())?;
    let bandwidth = |of: &Measured| of.all.bytes_per_s as f64 / 1e6;
    let mut ticks: Vec<u32> = tuning.measured.iter().filter_map(|of| Some(k2(&of.settings)?.max_inflight)).collect();
    ticks.sort_unstable();
    ticks.dedup();
    // One queue bound is no curve: the bars show it.
    if ticks.len() < 2 {
        return Ok(());
    }
    let figures = [
        ("tradeoff-latency.svg", "p99.9 of the worst real-time job (ms)", curves(tuning, &tail)),
        ("tradeoff-bandwidth.svg", "All jobs together (MB/s)", curves(tuning, &bandwidth)),
    ];
    for (name, y_label, curves) in figures {
        let figure = Figure {
            x_label: "Commands inside (max_inflight)".into(),
            y_label: y_label.into(),
            y_axis: YAxis::FromZero,
            x_ticks: Some(ticks.iter().map(|&tick| f64::from(tick)).collect()),
            curves,
            ..Figure::default()
        };
        save(name, &figure.svg())?;
    }
    Ok(())
}

/// The worst 99.9th percentile of a real-time job, in ms.
fn tail(of: &Measured) -> f64 {
    let worst = of.all.tails.iter().copied().max().flatten();
    worst.map_or(f64::NAN, |tail| tail as f64 / 1e6)
}

fn label(of: &Measured) -> String {
    let name = of.settings.name();
    k2(&of.settings).map_or_else(
        || name.to_owned(),
        |k2| {
            let piece = k2.split.map_or_else(String::new, |split| format!(" {} KiB", split.piece() >> 10));
            format!("{name} {}{piece}", k2.max_inflight)
        },
    )
}

/// Settings that bars are drawn of: more could not be distinguished.
const BARS: usize = 10;

/// `none`, and the settings than which no other has both a shorter worst percentile and more
/// background bandwidth, the shortest percentile first.
fn front(tuning: &Tuning) -> Vec<&Measured> {
    let key = |of: &Measured| {
        // A job without a percentile is worse than any with one.
        let worst = of.all.tails.iter().map(|&tail| (tail.is_none(), tail)).max();
        (worst, u128::MAX - of.all.background_bytes_per_s)
    };
    let mut all: Vec<&Measured> = tuning.measured.iter().collect();
    all.sort_by_key(|of| key(of));
    let mut least = u128::MAX;
    all.retain(|of| {
        let is_more = key(of).1 < least;
        least = least.min(key(of).1);
        is_more
    });
    all.truncate(BARS - 1);
    std::iter::once(&tuning.none).chain(all).collect()
}

/// A curve for each scheduler and size of pieces; those that are one line are one curve.
fn curves(tuning: &Tuning, value: &dyn Fn(&Measured) -> f64) -> Vec<Curve> {
    let mut curves: Vec<Curve> = Vec::new();
    for of in &tuning.measured {
        let Some(k2) = k2(&of.settings) else { continue };
        let name = of.settings.name();
        let label = k2.split.map_or_else(|| name.to_owned(), |split| format!("{name}, {} KiB", split.piece() >> 10));
        let point = MeasuredPoint::exact(k2.max_inflight.into(), value(of));
        match curves.iter_mut().find(|curve| curve.label == label) {
            Some(curve) => curve.points.push(point),
            None => curves.push(Curve { label, points: vec![point] }),
        }
    }
    let none = value(&tuning.none);
    let xs: Vec<f64> = curves.first().map_or_else(Vec::new, |curve| curve.points.iter().map(|point| point.x).collect());
    let level = xs.into_iter().map(|x| MeasuredPoint::exact(x, none));
    curves.insert(0, Curve { label: "none".into(), points: level.collect() });
    joined(curves)
}

/// Curves of which none is another one: each has the labels of the first and the last of those that
/// it stands for.
fn joined(curves: Vec<Curve>) -> Vec<Curve> {
    let line =
        |curve: &Curve| curve.points.iter().map(|point| [point.x, point.y].map(f64::to_bits)).collect::<Vec<_>>();
    let mut alone: Vec<(Curve, String)> = Vec::new();
    for curve in curves {
        match alone.iter_mut().find(|(of, _)| line(of) == line(&curve)) {
            Some((_, last)) => *last = curve.label,
            None => alone.push((curve, String::new())),
        }
    }
    let name = |(curve, last): (Curve, String)| {
        let label = if last.is_empty() { curve.label } else { format!("{} to {last}", curve.label) };
        Curve { label, ..curve }
    };
    alone.into_iter().map(name).collect()
}

fn csv(tuning: &Tuning) -> String {
    let mut text =
        String::from("scheduler,max_inflight,max_sectors_kib,worst_p999_ns,bytes_per_s,background_bytes_per_s\n");
    for of in std::iter::once(&tuning.none).chain(&tuning.measured) {
        let (inside, piece) = k2(&of.settings).map_or((String::new(), String::new()), |k2| {
            let piece = k2.split.map_or_else(String::new, |split| (split.piece() >> 10).to_string());
            (k2.max_inflight.to_string(), piece)
        });
        let tail = of.all.tails.iter().copied().max().flatten().map_or_else(String::new, |tail| tail.to_string());
        let TuneRun { bytes_per_s, background_bytes_per_s, .. } = of.all;
        text += &format!("{},{inside},{piece},{tail},{bytes_per_s},{background_bytes_per_s}\n", of.settings.name());
    }
    text
}
