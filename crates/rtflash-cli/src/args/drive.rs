//! Options of `host fit`, `host check` and `host protocol`.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{ArgGroup, Args};
use rtflash_model::Span;
use rtflash_model::reading::parse_bytes;

use super::FormatArg;
use super::names::{bytes, span};

/// Options of `host fit`.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("source").args(["trace", "fio"]).required(true)))]
pub struct HostFitArgs {
    #[command(flatten)]
    pub input: MeasurementArgs,
    /// Write the device into this file: `host run`, `bound` and `tune` read it
    #[arg(long, value_name = "DEVICE.json")]
    pub out: PathBuf,
    /// Write a report as well: one HTML page with pictures, errors and claims, which needs no
    /// network and no other file
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// How Linux reaches the drive, as `host protocol` names it: a bound counts the commands that
    /// are out of the scheduler
    #[arg(long, value_name = "HOW", value_parser = PossibleValuesParser::new(["usb", "scsi", "ufs", "tags", "mmc", "mmc-cqe"]))]
    pub attach: Option<String>,
    #[command(flatten)]
    pub format: FormatArg,
}

/// Measurements of a drive.
#[derive(Debug, Args)]
pub struct MeasurementArgs {
    /// Traces of block commands as text: ftrace, `trace-cmd report`, `perf script`, blkparse,
    /// biosnoop; five or more are a round each
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub trace: Vec<PathBuf>,
    /// Answers of fio in JSON, each with the latency logs of its jobs behind it
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub fio: Vec<PathBuf>,
    /// The drive in a trace of several, as Linux numbers it
    #[arg(long, value_name = "MAJOR:MINOR", value_parser = device)]
    pub of: Option<(u32, u32)>,
}

/// Options of `host check`.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("source").args(["trace", "fio", "script"]).required(true)))]
pub struct HostCheckArgs {
    /// The fitted device, as `host fit` wrote it
    pub device: PathBuf,
    #[command(flatten)]
    pub input: MeasurementArgs,
    /// Print a script for bpftrace that watches the drive by the same limits
    #[arg(long)]
    pub script: bool,
    #[command(flatten)]
    pub format: FormatArg,
}

/// Options of `host protocol`.
#[derive(Debug, Args)]
pub struct HostProtocolArgs {
    /// The drive that is measured: its content is OVERWRITTEN
    #[arg(long, value_name = "DEV")]
    pub filename: PathBuf,
    /// A first guess of what a command takes on average, queues aside
    #[arg(long, value_name = "TIME", default_value = "1ms", value_parser = span)]
    pub guess: Span,
    /// Bytes of the drive that are used
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = whole_mebibytes)]
    pub size: u64,
    /// Measure long enough for a sentence about the 99.9th percentile: 3,000 commands a size and
    /// round, in place of 200
    #[arg(long)]
    pub tail: bool,
    /// A scenario whose jobs are measured, too: each real-time one alone, and all of them together
    #[arg(long, value_name = "FILE")]
    pub scenario: Option<PathBuf>,
    #[command(flatten)]
    pub format: FormatArg,
}

/// Options of `host datasheet`.
#[derive(Debug, Args)]
pub struct HostDatasheetArgs {
    /// Bytes that can be written in the drive's life (TBW), such as `150TB`
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub tbw: Option<u64>,
    /// Bytes that the host writes a day, such as `20GB`
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub per_day: Option<u64>,
    /// The most bytes that it reads a second, such as `250MB`
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub read: Option<u64>,
    /// The most bytes that it writes a second
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub write: Option<u64>,
    /// The most reads a second
    #[arg(long, value_name = "N")]
    pub read_iops: Option<u64>,
    /// The most writes a second
    #[arg(long, value_name = "N")]
    pub write_iops: Option<u64>,
    /// The I/O whose least time is printed
    #[arg(long, value_name = "SIZE", default_value = "512KiB", value_parser = bytes)]
    pub io: u64,
    #[command(flatten)]
    pub format: FormatArg,
}

fn device(text: &str) -> Result<(u32, u32), String> {
    let pair = text.split_once([':', ',']).and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    pair.ok_or_else(|| "expected major and minor number, such as 179:0 (`cat /sys/block/mmcblk0/dev`)".into())
}

fn whole_mebibytes(text: &str) -> Result<u64, String> {
    let is_drive = |&bytes: &u64| bytes >= 1 << 26 && bytes.is_multiple_of(1 << 20);
    parse_bytes(text).filter(is_drive).ok_or_else(|| "expected whole MiB or GiB, 64MiB or more, such as `1GiB`".into())
}
