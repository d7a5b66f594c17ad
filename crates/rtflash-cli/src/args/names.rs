//! Names of commands and of answers.

/// The commands that have a manual page of their own.
pub const COMMANDS: [&str; 24] = [
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
pub const SCHEMAS: [&str; 14] = [
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
    "import",
];
