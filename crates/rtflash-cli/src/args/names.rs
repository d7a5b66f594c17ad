//! What there are manual pages and schemas of.

/// The commands that have a manual page of their own.
pub const COMMANDS: [&str; 18] = [
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
    "profile",
    "schema",
    "completions",
    "man",
];

/// What there are schemas of.
pub const SCHEMAS: [&str; 13] = [
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
];
