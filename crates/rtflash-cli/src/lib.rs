//! The `rtflash` command: `args` say what the user typed, `commands` make a plan of it and carry it
//! out, `render` words the answer.
//!
//! Standard output carries answers alone; complaints go to standard error. Exit statuses are in
//! `status`.

mod answer;
mod args;
mod batch;
mod commands;
mod diagnose;
mod output;
mod pairs;
mod render;
mod source;
mod status;
mod whole;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};
use status::Status;

/// Runs the command that the process was called with.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // A reader that has gone away while help was printed is no error either.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    output::choose(cli.color, cli.quiet);
    let result = match cli.command {
        Command::Alloc(args) => commands::alloc::run(&args),
        Command::Check(args) => commands::check::run(&args),
        Command::Exec(args) => commands::exec::run(&args),
        Command::Soak(args) => commands::soak::run(&args),
        Command::Explain(args) => commands::explain::run(&args),
        Command::Size(args) => commands::size::run(&args),
        Command::Gen(args) => commands::generate::run(&args),
        Command::Experiment(args) => commands::experiment::run(&args),
        Command::Merge(args) => commands::experiment::merge(&args),
        Command::Host(args) => commands::host::run(&args),
        Command::Profile { name, format } => commands::profile::run(name.as_deref(), format),
        Command::Schema { name } => commands::schema::run(&name),
        Command::Completions { shell } => commands::shell::completions(shell),
        Command::Man { name, out } => commands::shell::man(name.as_deref(), out.as_deref()),
    };
    result
        .unwrap_or_else(|failure| {
            output::complain(&output::error(&failure.0));
            Status::Wrong
        })
        .into()
}

/// Why a command could not be carried out at all.
#[derive(Debug)]
pub struct Failure(pub String);

impl Failure {
    /// A failure to read or write something.
    pub fn io(what: &str, error: &std::io::Error) -> Failure {
        Failure(format!("{what}: {error}"))
    }
}
