//! Options of `host fit`, `host check` and `host protocol`.

use std::path::PathBuf;

use clap::Args;
use rtflash_model::Span;

/// Options of `host fit`.
#[derive(Debug, Args)]
pub struct HostFitArgs {
    #[command(flatten)]
    pub input: MeasurementArgs,
    /// Write the device into this file: `host run`, `bound` and `tune` read it
    #[arg(long, value_name = "DEVICE.json")]
    pub out: PathBuf,
}

/// Measurements of a drive.
#[derive(Debug, Args)]
pub struct MeasurementArgs {
    /// Traces of block commands as text: ftrace, `trace-cmd report`, `perf script`, blkparse,
    /// biosnoop; five or more are a round each
    #[arg(long, value_name = "FILE", num_args = 1.., required_unless_present = "fio")]
    pub trace: Vec<PathBuf>,
    /// Answers of fio in JSON, each with the latency logs of its jobs behind it
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "trace")]
    pub fio: Vec<PathBuf>,
    /// The drive in a trace of several, as Linux numbers it
    #[arg(long, value_name = "MAJOR:MINOR", value_parser = device)]
    pub of: Option<(u32, u32)>,
}

/// Options of `host check`.
#[derive(Debug, Args)]
pub struct HostCheckArgs {
    /// The fitted device, as `host fit` wrote it
    pub device: PathBuf,
    #[command(flatten)]
    pub input: MeasurementArgs,
    /// Print a script for bpftrace that watches the drive by the same limits
    #[arg(long)]
    pub script: bool,
}

/// Options of `host protocol`.
#[derive(Debug, Args)]
pub struct HostProtocolArgs {
    /// The drive that is measured: its content is OVERWRITTEN
    #[arg(long, value_name = "DEV")]
    pub filename: PathBuf,
    /// A first guess of what a command takes on average, queues aside
    #[arg(long, value_name = "TIME", default_value = "1ms", value_parser = time)]
    pub guess: Span,
    /// Bytes of the drive that are used
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = bytes)]
    pub size: u64,
    /// Measure long enough for a sentence about the 99.9th percentile: 3,000 commands a size and
    /// round, in place of 200
    #[arg(long)]
    pub tail: bool,
    /// A scenario whose real-time jobs are measured, too
    #[arg(long, value_name = "FILE")]
    pub scenario: Option<PathBuf>,
}

fn device(text: &str) -> Result<(u32, u32), String> {
    let pair = text.split_once([':', ',']).and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    pair.ok_or_else(|| "expected major and minor number, such as 179:0 (`cat /sys/block/mmcblk0/dev`)".into())
}

fn time(text: &str) -> Result<Span, String> {
    let ns = rtflash_model::parse_ns(text).map_err(|error| error.to_string())?;
    Span::from_ns(ns).filter(|_| ns > 0).ok_or_else(|| "expected a time above 0, such as `5ms`".into())
}

fn bytes(text: &str) -> Result<u64, String> {
    let (number, unit) = text.split_at(text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len()));
    let unit: u64 = match unit {
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return Err("expected whole MiB or GiB, such as `1GiB`".into()),
    };
    let bytes = number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    bytes.filter(|&bytes| bytes >= 1 << 26).ok_or_else(|| "expected 64MiB or more".into())
}
