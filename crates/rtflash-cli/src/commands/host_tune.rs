//! `rtflash host tune`: the queue bound and the size of pieces for an objective.

use std::path::Path;

use rtflash_answers::TuneAnswer;
use rtflash_draw::figure::{Curve, Figure, MeasuredPoint, YAxis};
use rtflash_host::SchedulerSettings;
use rtflash_host::run::{HostRunError, until_over};
use rtflash_host::tune::{Measured, TuneOptions, Tuning, k2, tune};

use super::host_input::Input;
use crate::answer::{SetAnswer, Unanswered, print};
use crate::args::HostTuneArgs;
use crate::render::host_tune::text;
use crate::render::rendered;
use crate::status::Status;
use crate::{CommandFailure, output};

/// Carries the command out.
pub fn run(args: &HostTuneArgs) -> Result<Status, CommandFailure> {
    print(answer(args, &Input::read(&args.input)?))
}

/// The settings, and what they cost and gain.
pub fn answer(args: &HostTuneArgs, input: &Input) -> Result<SetAnswer, Unanswered> {
    let gave_up = |error: HostRunError| Unanswered::because(&error.to_string(), Status::CannotTell);
    let complaint = input.remarks()?;
    let scenario = until_over(input.scenario(None)?, args.seed).map_err(gave_up)?;
    if !scenario.jobs.iter().any(rtflash_host::run::Job::is_real_time) {
        let failure = "no job is real-time (`\"class\": \"rt\"`): there is nothing to choose for";
        return Err(CommandFailure(failure.into()).into());
    }
    input.measured(&scenario)?;
    let schedulers: Vec<SchedulerSettings> =
        args.scheduler.iter().filter_map(|name| SchedulerSettings::named(name)).collect();
    let tuning = tune(&scenario, &schedulers, TuneOptions::new(args.objective, args.seed)).map_err(gave_up)?;
    if let Some(folder) = &args.figures {
        draw(folder, &tuning)?;
    }
    let answer = TuneAnswer::new(&scenario, args.objective, &tuning);
    let text = rendered(args.format.format, &answer, || text(&answer));
    // Without a choice it is open whether a setting that was as wanted in some run is so.
    let is_open = answer.chosen.is_none() && !answer.rivals.is_empty();
    let status = Status::of((!is_open).then_some(answer.chosen.is_some()));
    Ok(SetAnswer { text, complaint, status, ..SetAnswer::default() })
}

/// The worst 99.9th percentile and the bandwidth over the queue bound, a curve for each scheduler
/// and size of pieces.
fn draw(folder: &Path, tuning: &Tuning) -> Result<(), CommandFailure> {
    output::folder(folder)?;
    let tail = |of: &Measured| {
        let worst = of.all.tails.iter().copied().max().flatten();
        worst.map_or(f64::NAN, |tail| tail as f64 / 1e6)
    };
    let bandwidth = |of: &Measured| of.all.bytes_per_s as f64 / 1e6;
    let figures = [
        ("tradeoff-latency", "p99.9 of the worst real-time job (ms)", curves(tuning, &tail)),
        ("tradeoff-bandwidth", "All jobs together (MB/s)", curves(tuning, &bandwidth)),
    ];
    for (name, y_label, curves) in figures {
        let mut ticks: Vec<u32> =
            tuning.measured.iter().filter_map(|of| Some(k2(&of.settings)?.max_inflight)).collect();
        ticks.sort_unstable();
        ticks.dedup();
        let figure = Figure {
            x_label: "Commands inside (max_inflight)".into(),
            y_label: y_label.into(),
            y_axis: YAxis::FromZero,
            x_ticks: Some(ticks.into_iter().map(f64::from).collect()),
            curves,
            ..Figure::default()
        };
        for (ending, content) in [("svg", figure.svg()), ("csv", csv(tuning))] {
            let path = folder.join(format!("{}.{ending}", if ending == "csv" { "tradeoff" } else { name }));
            output::save(&path, content.as_bytes())?;
        }
    }
    Ok(())
}

fn curves(tuning: &Tuning, value: &dyn Fn(&Measured) -> f64) -> Vec<Curve> {
    let mut curves: Vec<Curve> = Vec::new();
    let mut all = f64::NAN;
    for of in &tuning.measured {
        let Some(k2) = k2(&of.settings) else { continue };
        let name = of.settings.name();
        let label = k2.split.map_or_else(|| name.to_owned(), |split| format!("{name}, {} KiB", split.piece() >> 10));
        let point = MeasuredPoint { x: k2.max_inflight.into(), y: value(of), low: f64::NAN, high: f64::NAN };
        all = all.max(point.x);
        match curves.iter_mut().find(|curve| curve.label == label) {
            Some(curve) => curve.points.push(point),
            None => curves.push(Curve { label, points: vec![point] }),
        }
    }
    let none = value(&tuning.none);
    let xs: Vec<f64> = curves.first().map_or_else(Vec::new, |curve| curve.points.iter().map(|point| point.x).collect());
    let level = xs.into_iter().map(|x| MeasuredPoint { x, y: none, low: f64::NAN, high: f64::NAN });
    curves.insert(0, Curve { label: "none".into(), points: level.collect() });
    curves
}

/// All settings, a line each.
fn csv(tuning: &Tuning) -> String {
    let mut text = String::from("scheduler,max_inflight,max_sectors_kib,worst_p999_ns,bytes_per_s\n");
    for of in std::iter::once(&tuning.none).chain(&tuning.measured) {
        let (inside, piece) = k2(&of.settings).map_or((String::new(), String::new()), |k2| {
            let piece = k2.split.map_or_else(String::new, |split| (split.piece() >> 10).to_string());
            (k2.max_inflight.to_string(), piece)
        });
        let tail = of.all.tails.iter().copied().max().flatten().map_or_else(String::new, |tail| tail.to_string());
        text += &format!("{},{inside},{piece},{tail},{}\n", of.settings.name(), of.all.bytes_per_s);
    }
    text
}
