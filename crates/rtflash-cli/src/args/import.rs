//! Options of `import`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use rtflash_model::Span;

use super::names::span;
use super::{Format, FormatArg};

/// The source of an import.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// The source
    #[command(subcommand)]
    pub command: ImportCommand,
}

/// Sources of imports.
#[derive(Debug, Subcommand)]
pub enum ImportCommand {
    /// A robot's bag (MCAP): the write task of its recorder, as large as the most that comes in any
    /// window of the flush interval
    #[command(after_help = "Example:\n  rtflash import mcap examples/small.mcap \
                      --flush 100ms --device emmc-64gb-mlc |\n    rtflash alloc -")]
    Mcap {
        #[command(flatten)]
        input: OfDeviceArgs,
        /// The recorder's flush interval: the period of the task
        #[arg(long, value_name = "TIME", value_parser = span)]
        flush: Span,
        /// Buffers that wait to be written, at most, while the recorder fills another one: the
        /// task is due after N flush intervals
        #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
        buffers: u32,
    },
    /// MQSim's configuration of an SSD (ssdconfig.xml): the device, and what it cannot keep
    #[command(
        after_help = "Example:\n  rtflash import mqsim crates/rtflash-exchange/tests/it/ssdconfig.xml > device.json"
    )]
    Mqsim {
        /// Configuration; `-` for standard input
        file: PathBuf,
        #[command(flatten)]
        format: FormatArg,
    },
    /// fio's iolog of version 3 (write_iolog=): job streams and an arrival curve
    #[command(after_help = "Example:\n  rtflash export fio tasksets/case-study.json --out fio --target disk\n  \
                      rtflash import fio fio/0-t1-read.iolog --device dgist-2021 > set.json")]
    Fio(BlockImportArgs),
    /// The text of blkparse: job streams and an arrival curve
    #[command(after_help = "Example:\n  blkparse sda | rtflash import blkparse - --device emmc-64gb-mlc > set.json")]
    Blkparse {
        #[command(flatten)]
        block: BlockImportArgs,
        /// The event that is a request's arrival, by blktrace's letter: Q queued, I inserted into
        /// the scheduler, D sent to the drive, C completed
        #[arg(long, value_name = "LETTER", default_value_t = 'Q')]
        action: char,
    },
    /// The CSV of Microsoft Research's block traces: job streams and an arrival curve
    #[command(after_help = "Example:\n  zcat usr_0.csv.gz | rtflash import msr - --device emmc-64gb-mlc > set.json")]
    Msr(BlockImportArgs),
}

/// A file, and the device that it is for.
#[derive(Debug, Args)]
pub struct OfDeviceArgs {
    /// File; `-` for standard input
    pub file: PathBuf,
    /// The device of the task set: a profile's name, a file, or JSON. Its pages are those that
    /// bytes are counted in
    #[arg(long, value_name = "DEVICE")]
    pub device: String,
    /// The form of the answer: the task set alone, with a summary on standard error; or one line
    /// of JSON with the summary and the task set in it
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// Options for a trace of requests.
#[derive(Debug, Args)]
pub struct BlockImportArgs {
    #[command(flatten)]
    pub input: OfDeviceArgs,
    /// Requests to this device or file alone, by its name in the trace (`8,0`, `usr,0`, a path).
    /// Needed where a trace of blkparse or of MSR names several
    #[arg(long, value_name = "NAME")]
    pub only: Option<String>,
}
