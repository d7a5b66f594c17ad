//! The manifest that repeats an experiment.

use rtflash_experiment::plan::{Measure, OwnSets, Plan};
use rtflash_experiment::{BUILD, Shard};
use rtflash_model::generate::PeriodDistribution;
use rtflash_model::{Reliance, Span, format_ns, write_device, write_task_set};
use rtflash_plan::Policy;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::CommandFailure;
use crate::args::ExperimentArgs;

/// `manifest.json`: all that the results depend on.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Manifest {
    /// The version of rtflash.
    rtflash: &'static str,
    /// The sources that rtflash was built of, as a hash: the same on every machine. Results of two
    /// builds are not joined.
    build: &'static str,
    /// The command that repeats the results, byte by byte: add `--out DIR`. Null where task sets
    /// of a program's own were given.
    command: Option<Vec<String>>,
    /// `schedulability`, `write-heavy` or `bandwidth`.
    experiment: &'static str,
    /// Task sets of a program's own; left out where sets were drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    task_sets: Option<ManifestSets>,
    /// The device, as in a task-set file; null where task sets were given, each with its own.
    #[schemars(with = "serde_json::Value")]
    device: Option<Box<RawValue>>,
    /// Total utilizations; none if the generator divides no total.
    utilizations: Vec<f64>,
    /// The axis besides, with its values.
    sweep: Option<String>,
    /// Sets at each point; of given sets, all.
    sets: u64,
    /// Tasks in a set; null where task sets were given.
    tasks: Option<u32>,
    /// How utilization is divided among the tasks; null where task sets were given.
    generator: Option<&'static str>,
    /// The analysis that all sets are made for; null where each analysis has sets made for it.
    analysis: Option<&'static str>,
    /// The most that sound analyses may rely on: `nothing`, `neighbours` or `queue`; null where no
    /// analysis asks.
    rely_on: Option<&'static str>,
    /// K, if write-heavy tasks were asked for.
    write_heavy: Option<u32>,
    /// The part of every task's utilization that is writing, if it was asked for.
    write_share: Option<f64>,
    /// Which pages requests read and write: `random`, `sequential`, `stream` or `mixed`; null where
    /// task sets were given.
    access: Option<&'static str>,
    /// Relative deadlines as parts of the period, `0.5..1`, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    deadline: Option<String>,
    /// The periods that requests start from before these are adapted to whole pages, `5ms..50ms`,
    /// if others than those of the thesis were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    period: Option<String>,
    /// How these periods are distributed, `log-uniform`, if not uniformly.
    #[serde(skip_serializing_if = "Option::is_none")]
    period_distribution: Option<&'static str>,
    /// How many pages a request may have, `1..16`, if that was bounded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pages: Option<String>,
    /// The seed of the randomness.
    seed: u64,
    /// The contenders.
    contenders: Vec<ManifestContender>,
    /// How bandwidth is measured.
    bandwidth: Option<ManifestBandwidth>,
    /// Which part of the experiment this is, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    shard: Option<String>,
}

/// Task sets that were given.
#[derive(Debug, Serialize, JsonSchema)]
struct ManifestSets {
    /// The CRC-32 of their lines of JSON, point by point, as eight hexadecimal digits.
    crc32: String,
}

impl ManifestSets {
    fn of(sets: &OwnSets) -> ManifestSets {
        let mut hasher = crc32fast::Hasher::new();
        for set in sets.all() {
            hasher.update(write_task_set(set, None).as_bytes());
            hasher.update(b"\n");
        }
        ManifestSets { crc32: format!("{:08x}", hasher.finalize()) }
    }
}

/// An algorithm under an analysis.
#[derive(Debug, Serialize, JsonSchema)]
struct ManifestContender {
    algorithm: &'static str,
    analysis: &'static str,
    /// How jobs are served, where they are run.
    server: Option<&'static str>,
}

/// How bandwidth is measured.
#[derive(Debug, Serialize, JsonSchema)]
struct ManifestBandwidth {
    /// How long each run goes on before pages are counted; null until writes have filled the
    /// device's free pages once.
    warmup_ns: Option<u64>,
    duration_ns: u64,
    read_pages: u64,
    write_pages: u64,
    /// The shortest and the longest gap between two jobs.
    gap_ns: [u64; 2],
    dispatch: &'static str,
    victims: &'static str,
    aging: &'static str,
    pattern: &'static str,
}

impl Manifest {
    pub fn new(args: &ExperimentArgs, plan: &Plan) -> Manifest {
        let spec = plan.spec();
        let sets = &spec.sets;
        let own = plan.own_sets();
        let is_drawn = own.is_none();
        let measure = match &spec.measure {
            Measure::Schedulability => None,
            Measure::Bandwidth(options) => Some(options),
        };
        Manifest {
            rtflash: env!("CARGO_PKG_VERSION"),
            build: BUILD,
            command: is_drawn.then(|| command(args, plan)),
            task_sets: own.map(ManifestSets::of),
            experiment: args.kind.name(),
            device: is_drawn
                .then(|| RawValue::from_string(write_device(&sets.device)).expect("a device is written as JSON")),
            utilizations: spec.utilizations.iter().map(|utilization| utilization.to_f64()).collect(),
            sweep: spec.sweep.as_ref().map(ToString::to_string),
            sets: if is_drawn { spec.sets_per_point } else { plan.sets() },
            tasks: is_drawn.then_some(sets.tasks),
            generator: is_drawn.then(|| sets.generator.name()),
            analysis: spec.analysis.map(|analysis| analysis.name()),
            rely_on: rely_on(plan).map(Reliance::name),
            write_heavy: sets.writes.heavy(),
            write_share: sets.writes.share().map(|share| share.to_f64()),
            access: is_drawn.then(|| sets.accesses.name()),
            deadline: sets.deadlines.as_ref().map(ToString::to_string),
            period: sets.stated_periods().map(|periods| periods.to_string()),
            period_distribution: sets.stated_distribution().map(PeriodDistribution::name),
            pages: sets.pages.as_ref().map(ToString::to_string),
            seed: sets.seed,
            contenders: plan
                .contenders()
                .iter()
                .map(|contender| ManifestContender {
                    algorithm: contender.allocator.name(),
                    analysis: contender.analysis.name(),
                    server: measure.map(|_| contender.server()),
                })
                .collect(),
            bandwidth: measure.map(|options| ManifestBandwidth {
                warmup_ns: options.warmup.map(Span::as_ns),
                duration_ns: options.duration.as_ns(),
                read_pages: options.read_pages,
                write_pages: options.write_pages,
                gap_ns: [options.gap.0.as_ns(), options.gap.1.as_ns()],
                dispatch: options.dispatch.name(),
                victims: options.victims.name(),
                aging: options.aging.name(),
                pattern: options.pattern.name(),
            }),
            shard: None,
        }
    }

    /// The manifest as text on one line, to compare: two experiments with the same are the same.
    pub fn identity(&self) -> Result<String, CommandFailure> {
        serde_json::to_string(self).map_err(|error| CommandFailure(error.to_string()))
    }

    pub fn text(&self, shard: Option<Shard>) -> Result<String, CommandFailure> {
        Ok(rtflash_answers::pretty(&self.value(shard)?))
    }

    fn value(&self, shard: Option<Shard>) -> Result<Value, CommandFailure> {
        let mut value = serde_json::to_value(self).map_err(|error| CommandFailure(error.to_string()))?;
        if let (Some(shard), Value::Object(fields)) = (shard, &mut value) {
            fields.insert("shard".into(), shard.to_string().into());
        }
        Ok(value)
    }

    /// Whether a text is this manifest, of the whole or of a part; and if not, what it is.
    pub fn compare(&self, text: &[u8], shard: Option<Shard>) -> Result<(), &'static str> {
        let mut there: Value = serde_json::from_slice(text).map_err(|_| "a manifest that rtflash did not write")?;
        if let Value::Object(fields) = &mut there {
            // How it is written, not what it says.
            fields.remove("format");
        }
        let ours = self.value(shard).map_err(|_| "another experiment")?;
        if there == ours {
            return Ok(());
        }
        let without = |value: &Value, names: &[&str]| {
            let mut value = value.clone();
            if let Value::Object(fields) = &mut value {
                names.iter().for_each(|name| drop(fields.remove(*name)));
            }
            value
        };
        let same_without = |names: &[&str]| without(&there, names) == without(&ours, names);
        Err(if same_without(&["rtflash", "build"]) {
            "this experiment by another build of rtflash"
        } else if same_without(&["shard"]) {
            "another part of this experiment"
        } else {
            "another experiment"
        })
    }

    pub fn built(&self) -> String {
        format!("this is rtflash {}, build {}", self.rtflash, self.build)
    }

    pub fn command_of(manifest: &str) -> Option<Vec<String>> {
        let manifest: Value = serde_json::from_str(manifest).ok()?;
        let command = manifest.get("command")?.as_array()?;
        let mut words: Vec<String> =
            command.iter().map(|word| word.as_str().map(str::to_owned)).collect::<Option<_>>()?;
        // The parser wants a directory; nothing is done in it.
        words.extend(["--out".into(), ".".into()]);
        Some(words)
    }
}

fn rely_on(plan: &Plan) -> Option<Reliance> {
    let mut analyses = plan.contenders().iter().map(|contender| contender.analysis).chain(plan.spec().analysis);
    analyses.find_map(|analysis| analysis.demand_test()).map(|test| test.rely_on)
}

/// The algorithms, with their servers where these matter, and the analyses: each once.
fn contenders(plan: &Plan) -> [Vec<String>; 2] {
    let [mut algorithms, mut analyses] = [Vec::new(), Vec::new()];
    for contender in plan.contenders() {
        let server = match &plan.spec().measure {
            Measure::Schedulability => String::new(),
            Measure::Bandwidth(_) => format!("+{}", contender.server()),
        };
        let algorithm = format!("{}{server}", contender.allocator.name());
        let of_all = contender.analysis.is_necessary();
        for (list, name) in [(&mut algorithms, algorithm), (&mut analyses, contender.analysis.name().to_owned())] {
            let nobody = of_all && name == contender.allocator.name();
            if !list.contains(&name) && !nobody {
                list.push(name);
            }
        }
    }
    [algorithms, analyses]
}

fn command(args: &ExperimentArgs, plan: &Plan) -> Vec<String> {
    let spec = plan.spec();
    let sets = &spec.sets;
    let range = spec.utilizations.first().zip(spec.utilizations.last());
    let range = range.map(|(first, last)| if first == last { first.to_string() } else { format!("{first}..{last}") });
    let device = write_device(&sets.device);
    // A profile's name, without the quotes of JSON.
    let device = serde_json::from_str::<String>(&device).unwrap_or(device);
    let [algorithms, analyses] = contenders(plan);
    let mut stated = vec![
        ("--util", range),
        ("--step", Some(args.sets.step.to_string())),
        ("--sets", Some(spec.sets_per_point.to_string())),
        ("--tasks", Some(sets.tasks.to_string())),
        ("--generator", Some(sets.generator.name().to_owned())),
        ("--device", Some(device)),
        ("--analysis", spec.analysis.map(|analysis| analysis.name().to_owned())),
        ("--write-heavy", sets.writes.heavy().map(|tasks| tasks.to_string())),
        ("--write-share", sets.writes.share().map(|share| share.to_string())),
        ("--access", Some(sets.accesses.name().to_owned())),
        ("--deadline", sets.deadlines.map(|deadlines| deadlines.to_string())),
        ("--period", sets.stated_periods().map(|periods| periods.to_string())),
        ("--period-distribution", sets.stated_distribution().map(|distribution| distribution.to_string())),
        ("--pages", sets.pages.map(|pages| pages.to_string())),
        ("--seed", Some(sets.seed.to_string())),
        ("--algorithms", Some(algorithms.join(",")).filter(|names| !names.is_empty())),
        ("--analyses", Some(analyses.join(","))),
        ("--assume", rely_on(plan).map(|granted| granted.assumption().to_owned())),
        ("--sweep", spec.sweep.as_ref().map(ToString::to_string)),
    ];
    if let Measure::Bandwidth(options) = &spec.measure {
        let time = |span: Span| format_ns(span.as_ns());
        stated.extend([
            ("--warmup", options.warmup.map(time)),
            ("--duration", Some(format_ns(options.duration.as_ns()))),
            ("--read-pages", Some(options.read_pages.to_string())),
            ("--write-pages", Some(options.write_pages.to_string())),
            ("--gap", Some(format!("{}..{}", time(options.gap.0), time(options.gap.1)))),
            ("--dispatch", Some(options.dispatch.name().to_owned())),
            ("--victims", Some(options.victims.name().to_owned())),
            ("--aging", Some(options.aging.name().to_owned())),
            ("--pattern", Some(options.pattern.name().to_owned())),
        ]);
    }
    let stated = stated.into_iter().filter_map(|(option, value)| Some([option.to_owned(), value?]));
    let words = ["rtflash", "experiment", args.kind.name()].map(String::from);
    words.into_iter().chain(stated.flatten()).collect()
}
