//! `rtflash gen`: random task sets as JSON Lines.

use std::path::Path;

use rayon::prelude::*;
use rtflash_analysis::{Analysis, fits_alone};
use rtflash_model::generate::{
    Aperiodic, Exhausted, Generator, Meta, OptionsError, SetOptions, SetSpec, Utilization, UtilizationRange, Writes,
};
use rtflash_model::{Device, MetaJson, read_device, write_task_set};

use super::{analysis, on_threads};
use crate::CommandFailure;
use crate::answer::{Status, Unanswered};
use crate::args::{GenArgs, SetArgs};
use crate::output::{self, Output};
use crate::render::numbers::count;

/// Sets drawn before they are written: enough for all cores, little in memory.
const CHUNK: u64 = 512;

pub struct GeneratePlan {
    points: Vec<Utilization>,
    sets: u64,
    options: SetOptions,
    aperiodic: Option<Aperiodic>,
    analysis: &'static dyn Analysis,
}

pub fn run(args: &GenArgs) -> Result<Status, Unanswered> {
    let plan = plan(args)?;
    let mut output = match &args.out {
        None => Output::stdout(),
        Some(path) => Output::file(path)
            .map_err(|error| CommandFailure::io(&format!("cannot write {}", path.display()), &error))?,
    };
    let status = on_threads(args.jobs.map(usize::from), || plan.write(&mut output))??;
    // A file with some of the sets would look like one with all.
    if status == Status::Yes {
        output.finish().map_err(|error| CommandFailure::io("cannot write", &error))?;
    }
    Ok(status)
}

pub fn plan(args: &GenArgs) -> Result<GeneratePlan, Unanswered> {
    let device = device(&args.sets.device, DeviceFrom::Anywhere)?;
    let analysis = analysis(&args.analysis)?;
    let asked = utilizations(args.util.as_deref(), None, &args.sets)?;
    let spec = set_spec(&args.sets, device, analysis);
    let options = SetOptions::new(spec).map_err(impossible)?;
    some_sets(&args.sets)?;
    let points = options.mean_utilization().map_or(asked, |mean| vec![mean]);
    if let Some(&beyond) = points.iter().find(|&&point| !options.is_possible(point)) {
        let failure = CommandFailure(format!(
            "--util {} --tasks {}: no set of {} has a utilization of {beyond}, because no task has one {} 1: more \
             --tasks, or a lower --util",
            args.util.as_deref().expect("a generator that divides no total draws every mean"),
            args.sets.tasks,
            count(args.sets.tasks, "task"),
            if spec.generator == Generator::IntegerShares { "of" } else { "above" },
        ));
        return Err(failure.into());
    }
    let streams = |streams| Aperiodic { streams, utilization: args.aperiodic_util, arrivals: args.arrivals };
    let aperiodic = args.aperiodic.map(streams);
    Ok(GeneratePlan { points, sets: args.sets.sets, options, aperiodic, analysis })
}

/// Which sets are drawn, as the options say it, with page costs of this analysis.
pub fn set_spec(args: &SetArgs, device: Device, analysis: &dyn Analysis) -> SetSpec {
    SetSpec {
        device,
        tasks: args.tasks,
        generator: args.generator,
        page_costs: analysis.page_costs(&device),
        writes: match (args.write_heavy, args.write_share) {
            (Some(tasks), _) => Writes::Heavy(tasks),
            (None, Some(share)) => Writes::Share(share),
            (None, None) => Writes::Drawn,
        },
        accesses: args.access,
        deadlines: args.deadline,
        periods: args.period.distributed(args.period_distribution),
        pages: args.pages,
        seed: args.seed,
    }
}

/// Sets that cannot be drawn: which options say so.
pub fn impossible(error: OptionsError) -> CommandFailure {
    let options = match error {
        OptionsError::NoTasks => "--tasks 0".to_owned(),
        OptionsError::TooManyTasks { tasks, .. } => format!("--tasks {tasks}"),
        OptionsError::TooManyWriteHeavy { write_heavy, tasks } => {
            format!("--write-heavy {write_heavy} --tasks {tasks}")
        }
        OptionsError::FreePages => "--device".to_owned(),
        OptionsError::SharedWriters => "--write-share".to_owned(),
    };
    CommandFailure(format!("{options}: {error}"))
}

/// The points that are asked for, or those of a range by default. None where the generator divides
/// no total.
pub fn utilizations(
    asked: Option<&str>,
    default: Option<&str>,
    args: &SetArgs,
) -> Result<Vec<Utilization>, CommandFailure> {
    let generator = args.generator;
    let text = match (generator.divides_total(), asked) {
        (true, _) => asked.or(default).ok_or_else(|| {
            CommandFailure(
                "--util is missing: the total utilization of a set, such as 2.5, or a range, 0.1..4.0".into(),
            )
        })?,
        (false, None) => return Ok(Vec::new()),
        (false, Some(text)) => {
            fail!("--util {text}: {generator} draws the utilization of each task: leave --util out");
        }
    };
    let range: UtilizationRange = text.parse().map_err(|error| CommandFailure(format!("--util {text}: {error}")))?;
    range.points(args.step).map_err(|error| CommandFailure(format!("--util {text} --step {}: {error}", args.step)))
}

/// Refuses to draw no set at all.
pub fn some_sets(args: &SetArgs) -> Result<(), CommandFailure> {
    if args.sets == 0 { Err(CommandFailure("--sets 0: nothing would be drawn; at least 1".into())) } else { Ok(()) }
}

/// A source of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceFrom {
    /// A profile, JSON, or a file of this name.
    Anywhere,
    /// A profile or JSON: the author of the text must not choose which files are opened.
    Inline,
}

/// The device of a profile's name, JSON, or a file if it may be one.
pub fn device(text: &str, from: DeviceFrom) -> Result<Device, Unanswered> {
    let (name, json) = if text.trim_start().starts_with('{') {
        ("--device", text.to_owned())
    } else if from == DeviceFrom::Anywhere && Device::profile(text).is_none() && Path::new(text).is_file() {
        let content =
            std::fs::read(text).map_err(|error| CommandFailure::io(&format!("cannot read {text}"), &error))?;
        (
            text,
            String::from_utf8(content)
                .map_err(|_| CommandFailure(format!("cannot read {text}: it is not text in UTF-8")))?,
        )
    } else {
        // A name: said as JSON, so that an unknown one is answered as in a file.
        ("--device", serde_json::Value::from(text).to_string())
    };
    read_device(&json).map_err(|diagnostics| Unanswered::refused(name, &json, &diagnostics))
}

impl GeneratePlan {
    fn write(&self, output: &mut Output) -> Result<Status, CommandFailure> {
        let failure = |error: std::io::Error| CommandFailure::io("cannot write", &error);
        let total = self.total();
        let mut start = 0;
        while start < total {
            let end = total.min(start + CHUNK);
            let lines: Vec<_> = (start..end).into_par_iter().map(|number| self.line(number)).collect();
            for line in lines {
                let listening = match line {
                    Ok(line) => output.write(&line).map_err(failure)?,
                    Err(exhausted) => {
                        output.flush().map_err(failure)?;
                        output::complain(&output::error(&exhausted.to_string()));
                        return Ok(Status::CannotTell);
                    }
                };
                if !listening {
                    return Ok(Status::Yes);
                }
            }
            start = end;
        }
        output.flush().map_err(failure)?;
        Ok(Status::Yes)
    }

    pub fn total(&self) -> u64 {
        (self.points.len() as u64).saturating_mul(self.sets)
    }

    /// Set `number` counted over all points, on a line.
    pub fn line(&self, number: u64) -> Result<String, Exhausted> {
        let point = usize::try_from(number / self.sets).expect("a set of these points");
        let utilization = self.points[point];
        let index = number % self.sets;
        let mut set = self.options.draw(utilization, index, |device, task| fits_alone(self.analysis, device, task))?;
        let drawn_utilization = self.options.drawn_utilization(&set);
        if let Some(aperiodic) = self.aperiodic {
            set = self.options.with_aperiodic(&set, aperiodic, utilization, index)?;
        }
        let aperiodic = self.aperiodic;
        let meta = Meta { drawn_utilization, aperiodic, ..self.options.meta(utilization, index, self.analysis.name()) };
        let mut line = write_task_set(&set, MetaJson::of(&meta).as_ref());
        line.push('\n');
        Ok(line)
    }
}
