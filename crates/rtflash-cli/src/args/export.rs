//! Options of `export`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use rtflash_model::Instant;

use super::names::{certified_analyses, duration};
use super::{ChangeArg, DecisionArgs, FormatArg, RelyOnArg};

/// The target of an export.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The target
    #[command(subcommand)]
    pub command: ExportCommand,
}

/// Targets of exports.
#[derive(Debug, Subcommand)]
pub enum ExportCommand {
    /// MQSim: a configuration, a workload and a trace for each request. `check --mqsim` reads its
    /// results
    #[command(
        after_help = "Example:\n  rtflash export mqsim tasksets/case-study.json --out mqsim\n  (cd mqsim && MQSim -i ssd.xml \
                      -w workload.xml)\n  rtflash check tasksets/case-study.json --mqsim mqsim/workload_scenario_1.xml"
    )]
    Mqsim {
        #[command(flatten)]
        set: ExportSetArgs,
        #[command(flatten)]
        allocation: ExportAllocationArgs,
        #[command(flatten)]
        replay: ReplayArgs,
        /// MQSim's garbage collection: its default, or one that yields to requests
        #[arg(long, value_enum, default_value_t = MqsimGcArg::Default)]
        gc: MqsimGcArg,
    },
    /// fio: a job file and an iolog for each request, to be replayed on a drive. `check --fio`
    /// reads its results
    #[command(
        after_help = "Example:\n  rtflash export fio tasksets/case-study.json --out fio --target /dev/nvme0n1\n  (cd fio && \
                      fio replay.fio --output-format=json --output=result.json)\n  \
                      rtflash check tasksets/case-study.json --fio fio/result.json"
    )]
    Fio {
        #[command(flatten)]
        set: ExportSetArgs,
        #[command(flatten)]
        replay: ReplayArgs,
        /// The file or block device that is read and written. Its data are lost
        #[arg(long, value_name = "FILE")]
        target: String,
        /// Pages of the target for each request [default: its task's data, or 64 requests]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
        pages: Option<u64>,
        /// The class of all requests for Linux's schedulers (`prioclass`) [default: that of the
        /// process]
        #[arg(long, value_enum)]
        class: Option<FioClassArg>,
    },
    /// FEMU: the device as an option of QEMU
    #[command(after_help = "Example:\n  rtflash export femu tasksets/case-study.json")]
    Femu {
        #[command(flatten)]
        set: ExportSetArgs,
        #[command(flatten)]
        format: FormatArg,
    },
    /// An NVMe drive: a script that makes a namespace for each cluster, and says what it does not
    /// bring
    #[command(after_help = "Example:\n  rtflash export nvme tasksets/case-study.json --by sets > clusters.sh")]
    Nvme {
        #[command(flatten)]
        set: ExportSetArgs,
        #[command(flatten)]
        allocation: ExportAllocationArgs,
        /// The drive's separation of data: NVM sets, or handles of Flexible Data Placement
        #[arg(long, value_enum)]
        by: NvmeKindArg,
        #[command(flatten)]
        format: FormatArg,
    },
    /// Firmware: the certificates as a binary image that the crate rtflash-ftl loads, and how much
    /// memory it needs
    #[command(after_help = "Example:\n  rtflash export firmware tasksets/case-study.json --out set.bin")]
    Firmware {
        #[command(flatten)]
        set: ExportSetArgs,
        /// The allocation, as `alloc --format json` prints it under a certified analysis; without
        /// it, the one that is found
        #[arg(long, value_name = "ALLOC.json", conflicts_with = "analysis")]
        allocation: Option<PathBuf>,
        /// The certified analysis that decides
        #[arg(long, default_value = "sound", value_parser = certified_analyses())]
        analysis: String,
        #[command(flatten)]
        rely_on: RelyOnArg,
        /// The file for the image
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
        /// Waiting requests of each source, beyond those that can wait if all deadlines are met
        #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=1_000_000))]
        late: u32,
        /// Leave chips of a superblock idle that a step does not use
        #[arg(long)]
        no_backfill: bool,
        #[command(flatten)]
        format: FormatArg,
    },
}

/// Classes of requests, as Linux numbers them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FioClassArg {
    /// Real-time: needs CAP_SYS_ADMIN or CAP_SYS_NICE
    Rt,
    /// Best effort
    Be,
    /// Idle
    Idle,
}

impl FioClassArg {
    /// The number of the class for Linux.
    pub fn number(self) -> u8 {
        match self {
            FioClassArg::Rt => 1,
            FioClassArg::Be => 2,
            FioClassArg::Idle => 3,
        }
    }
}

/// A task set.
#[derive(Debug, Args)]
pub struct ExportSetArgs {
    /// Task set; `-` for standard input
    pub file: PathBuf,
    #[command(flatten)]
    pub set: ChangeArg,
}

/// An allocation, or how it is found.
#[derive(Debug, Args)]
pub struct ExportAllocationArgs {
    /// The allocation, as `alloc --format json` prints it; without it, the one that the algorithm
    /// finds
    #[arg(long, value_name = "ALLOC.json", conflicts_with = "algorithm")]
    pub allocation: Option<PathBuf>,
    #[command(flatten)]
    pub by: DecisionArgs,
}

/// The files, and their place.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The folder for the files; it is made where it is missing
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// The time for which requests come
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = duration)]
    pub duration: Instant,
    /// The seed of places
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub format: FormatArg,
}

/// MQSim's garbage collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MqsimGcArg {
    /// A begun pass ends before waiting requests
    Default,
    /// Requests come first, until few blocks are free
    Preemptible,
}

/// A drive's separation of data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum NvmeKindArg {
    /// NVM sets
    Sets,
    /// Flexible Data Placement
    Fdp,
}
