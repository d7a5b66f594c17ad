//! Names of commands and of answers, and of shapes.

use clap::ValueEnum;

/// How clusters lie on the channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ShapeArg {
    /// Anyhow
    Any,
    /// The same ways on each of some channels
    Rectangles,
}

/// The commands that have a manual page of their own.
pub const COMMANDS: [&str; 29] = [
    "alloc",
    "check",
    "explain",
    "size",
    "exec",
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
pub const SCHEMAS: [&str; 16] = [
    "task-set",
    "allocation",
    "alloc",
    "check",
    "explain",
    "size",
    "exec",
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
