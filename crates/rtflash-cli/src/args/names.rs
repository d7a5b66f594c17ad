//! Names of algorithms, analyses, commands and answers, and of shapes.

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser};
use rtflash_alloc::allocator::ALLOCATORS;
use rtflash_alloc::analysis::{NECESSARY, analyses_and_baselines};

/// How clusters lie on the channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ShapeArg {
    /// Anyhow
    Any,
    /// The same ways on each of some channels
    Rectangles,
}

/// The commands that have a manual page of their own.
pub const COMMANDS: [&str; 32] = [
    "alloc",
    "check",
    "explain",
    "size",
    "admit",
    "migrate",
    "exec",
    "serve",
    "soak",
    "gen",
    "experiment",
    "merge",
    "host",
    "host-order",
    "host-run",
    "host-bound",
    "host-tune",
    "export",
    "export-mqsim",
    "export-fio",
    "export-femu",
    "export-nvme",
    "import",
    "import-mcap",
    "import-mqsim",
    "import-fio",
    "import-blkparse",
    "import-msr",
    "profile",
    "schema",
    "completions",
    "man",
];

/// What there are schemas of.
pub const SCHEMAS: [&str; 19] = [
    "task-set",
    "allocation",
    "alloc",
    "check",
    "explain",
    "size",
    "admit",
    "migrate",
    "exec",
    "serve",
    "soak",
    "experiment",
    "manifest",
    "host-bound",
    "host-run",
    "host-tune",
    "export",
    "replay",
    "import",
];

/// The algorithms, each with what it does in a line.
pub(super) fn algorithms() -> PossibleValuesParser {
    PossibleValuesParser::new(
        ALLOCATORS.map(|allocator| PossibleValue::new(allocator.name()).help(allocator.summary())),
    )
}

/// The analyses, each with what it is in a line.
pub(super) fn analyses() -> PossibleValuesParser {
    PossibleValuesParser::new(
        analyses_and_baselines().map(|analysis| PossibleValue::new(analysis.name()).help(analysis.summary())),
    )
}

/// The same, and the necessary tests.
pub(super) fn analyses_and_necessary() -> PossibleValuesParser {
    let all = analyses_and_baselines().chain(NECESSARY);
    PossibleValuesParser::new(all.map(|analysis| PossibleValue::new(analysis.name()).help(analysis.summary())))
}
