//! Options of `host`.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Subcommand, ValueEnum};
use rtflash_host::SchedulerSettings;
use rtflash_host::tune::{Millionths, Objective};
use rtflash_model::Span;

use super::FormatArg;
use super::drive::{HostCheckArgs, HostDatasheetArgs, HostFitArgs, HostProtocolArgs};

/// The commands of a host.
#[derive(Debug, Args)]
pub struct HostArgs {
    /// The command
    #[command(subcommand)]
    pub command: HostCommand,
}

/// Commands of `host`.
#[derive(Debug, Subcommand)]
pub enum HostCommand {
    /// Run a script by a scheduler alone, without a device: prints what it hands out, an array of
    /// ids for each `ask`
    #[command(after_help = r#"Example:
  echo '{"scheduler": "k2", "script": [{"at": "0ms", "insert": [{"id": "a", "op": "read",
    "size": "4KiB"}]}, {"at": "0ms", "ask": 1}]}' | rtflash host order -"#)]
    Order {
        /// Script; `-` for standard input
        file: PathBuf,
    },
    /// Run jobs by a scheduler in front of a device: latencies, bytes a second, lengths of queues
    #[command(after_help = "Example:\n  rtflash host run scenarios/large-reads.json --scheduler none,k2,k2-split")]
    Run(HostRunArgs),
    /// Bound the latencies of real-time jobs, whatever the phases and places are
    #[command(after_help = "Example:\n  rtflash host bound scenarios/large-reads.json --scheduler k2,k2-split")]
    Bound(HostBoundArgs),
    /// Choose the queue bound and the size of pieces: what settings cost and gain, and the lines
    /// that make a host use them
    #[command(after_help = "Example:\n  rtflash host tune scenarios/large-reads.json --objective latency-share=50%")]
    Tune(HostTuneArgs),
    /// Print a job file of fio that measures a drive, in rounds: what `host fit` reads. It
    /// OVERWRITES the drive
    #[command(after_help = "Example:\n  rtflash host protocol --filename /dev/mmcblk0 > measure.fio")]
    Protocol(HostProtocolArgs),
    /// Fit a device to measurements of a drive, with its error on rounds held out
    #[command(
        after_help = "Example:\n  trace-cmd report > trace.txt\n  rtflash host fit --trace trace.txt --out drive.json"
    )]
    Fit(HostFitArgs),
    /// Print what a data sheet says of a drive that was not measured: lifetime, least times, no
    /// bound
    #[command(after_help = "Example:\n  rtflash host datasheet --tbw 150TB --per-day 20GB --read 250MB --io 512KiB")]
    Datasheet(HostDatasheetArgs),
    /// Check whether a drive still does what it did when it was fitted
    #[command(after_help = "Example:\n  trace-cmd report > new.txt\n  rtflash host check drive.json --trace new.txt")]
    Check(HostCheckArgs),
}

/// Options of `host tune`.
#[derive(Debug, Args)]
pub struct HostTuneArgs {
    #[command(flatten)]
    pub input: HostInputArgs,
    /// The objective. `latency-share=50%`: each real-time job's 99.9th percentile at most this
    /// share of none's, then the most bandwidth. `bandwidth-share=80%`: at least this share of
    /// none's, then the shortest percentile. `deadline`, `deadline=5ms`: every real-time job has a
    /// bound (of at most so long), then the most bandwidth
    #[arg(long, value_name = "WHAT", value_parser = objective)]
    pub objective: Objective,
    /// Schedulers that are tried [default: k2,k2-split; for a fitted drive also
    /// mq-deadline,kyber,bfq]
    #[arg(long, value_name = "S,…", value_delimiter = ',', value_parser = schedulers(&["k2", "k2-split", "k2-ahead", "mq-deadline", "kyber", "bfq"]))]
    pub scheduler: Vec<String>,
    /// Seed of the randomness: places of random jobs, jitter
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Draw percentiles and bandwidths over the queue bound into this folder, as SVG with the
    /// numbers as CSV
    #[arg(long, value_name = "DIR")]
    pub figures: Option<PathBuf>,
    /// Write files that install the chosen setting into this folder, each with its undo: scripts, a
    /// rule for udev, and a drop-in of systemd for each job
    #[arg(long, value_name = "DIR", requires = "block")]
    pub install: Option<PathBuf>,
    /// The block device that the files are for, such as `mmcblk0`
    #[arg(long, value_name = "NAME", requires = "install", value_parser = block_device)]
    pub block: Option<String>,
    #[command(flatten)]
    pub format: FormatArg,
}

fn block_device(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.!".contains(c);
    match text.starts_with('.') || text.is_empty() || !text.chars().all(is_plain) {
        true => Err("expected a name in /sys/block, such as `mmcblk0`".into()),
        false => Ok(text.into()),
    }
}

fn schedulers(names: &[&'static str]) -> PossibleValuesParser {
    let settings = |name| SchedulerSettings::named(name).expect("each name is a scheduler's");
    PossibleValuesParser::new(names.iter().map(|name| PossibleValue::new(*name).help(settings(name).summary())))
}

fn objective(text: &str) -> Result<Objective, String> {
    let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
    let share =
        || value.and_then(share).ok_or_else(|| format!("`{name}` takes a share up to 100%, such as `{name}=50%`"));
    match name {
        "latency-share" => share().map(Objective::LatencyShare),
        "bandwidth-share" => share().map(Objective::BandwidthShare),
        "deadline" => {
            let limit =
                value.map(|value| rtflash_model::parse_ns(value).map_err(|error| error.to_string())).transpose()?;
            if limit == Some(0) {
                return Err("a deadline is longer than 0, such as `deadline=5ms`".into());
            }
            Ok(Objective::Deadline(limit.and_then(Span::from_ns)))
        }
        _ => Err("expected `latency-share=50%`, `bandwidth-share=80%`, `deadline` or `deadline=5ms`".into()),
    }
}

/// A share in percent, with up to four decimals.
fn share(text: &str) -> Option<Millionths> {
    let number = text.strip_suffix('%')?;
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || whole.len() > 3 || part.len() > 4 || !digits(whole) || !digits(part) {
        return None;
    }
    let millionths = format!("{whole}{part:0<4}").parse().ok()?;
    Millionths::of_million(millionths)
}

/// The input of `host`.
#[derive(Debug, Args)]
pub struct HostInputArgs {
    /// Scenario, or a job file of fio; `-` for standard input
    pub file: PathBuf,
    /// Device, host and scheduler for a job file of fio, which has none: an object with `device`,
    /// `host` and `scheduler`, as in a scenario
    #[arg(long, value_name = "FILE")]
    pub device: Option<PathBuf>,
}

/// `--scheduler` of a scenario that is run or bounded.
#[derive(Debug, Args)]
pub struct SchedulersArg {
    /// Schedulers instead of the scenario's own (`rtflash help schedulers`); one that the scenario
    /// names keeps its parameters
    #[arg(long, value_name = "S,…", value_delimiter = ',', value_parser = schedulers(&SchedulerSettings::NAMES), hide_possible_values = true)]
    scheduler: Vec<String>,
}

impl SchedulersArg {
    /// The name of each scheduler; `None` is the scenario's own.
    pub fn names(&self) -> Vec<Option<&str>> {
        let names: Vec<_> = self.scheduler.iter().map(|name| Some(name.as_str())).collect();
        if names.is_empty() { vec![None] } else { names }
    }
}

/// Options of `host bound`.
#[derive(Debug, Args)]
pub struct HostBoundArgs {
    #[command(flatten)]
    pub input: HostInputArgs,
    #[command(flatten)]
    pub schedulers: SchedulersArg,
    #[command(flatten)]
    pub format: FormatArg,
}

/// Options of `host run`.
#[derive(Debug, Args)]
pub struct HostRunArgs {
    #[command(flatten)]
    pub input: HostInputArgs,
    #[command(flatten)]
    pub schedulers: SchedulersArg,
    /// Seed of the randomness: places of random jobs, jitter, slow episodes
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Write the requests' ways through the queues into this file, for Perfetto; with several
    /// schedulers one for each, with its name before the ending
    #[arg(long, value_name = "OUT.json")]
    pub trace: Option<PathBuf>,
    /// Draw distributions of latencies, percentiles and bandwidths into this folder, as SVG with
    /// the numbers as CSV
    #[arg(long, value_name = "DIR")]
    pub figures: Option<PathBuf>,
    /// Write a report as well: one HTML page with these figures, tables and the data, which needs
    /// no network and no other file
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// How the answer is printed
    #[arg(long, value_enum, default_value_t = HostFormat::Text)]
    pub format: HostFormat,
}

/// How `host run` answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HostFormat {
    /// For a person
    Text,
    /// One JSON object a scheduler, one line each
    Json,
    /// One line a scheduler and job
    Csv,
}
