//! The `rtflash` command: `args` say what the user typed, `commands` make a plan of it and carry it
//! out, `render` words the answer.
//!
//! `ask` gives the answers to programs that embed the command.
//!
//! Standard output carries answers alone; complaints go to standard error. Exit statuses are in
//! `answer`.
//!
//! Without the feature `full` there are only the commands that take a task set.
//!
//! The output of `rtflash alloc camera.json --analysis sound --format json`:
//!
//! ```
//! # #[cfg(feature = "full")] {
//! use rtflash_cli::ask::{NamedSet, SetQuestion};
//!
//! let text = r#"{"device": "dgist-2021", "tasks": [{"name": "camera", "write": {"pages": 24, "period": "30ms"}}]}"#;
//! let Ok(set) = NamedSet::read("camera.json", text.as_bytes()) else { panic!("no task set") };
//! let Ok(question) = SetQuestion::new(&["alloc", "--analysis", "sound"]) else { panic!("no such option") };
//! let Ok(answer) = question.answer(&set, None) else { panic!("no answer") };
//! assert!(answer.text.starts_with(r#"{"format":1,"schedulable":true"#));
//! # }
//! ```

// Code for other commands is compiled, and the linker drops it.
#![cfg_attr(not(feature = "full"), allow(dead_code, unused_imports))]

/// Ends a function with a [`CommandFailure`]: takes the arguments of `format!`.
macro_rules! fail {
    ($($message:tt)*) => { return Err($crate::CommandFailure(format!($($message)*)).into()) };
}

mod answer;
mod args;
#[cfg(feature = "full")]
pub mod ask;
mod batch;
mod commands;
mod diagnose;
mod output;
mod pairs;
mod progress;
mod render;
mod report;
mod source;
mod whole;

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

use answer::{Status, Unanswered};
use args::{Cli, Commands};

/// Runs the command that the process was called with.
pub fn main() -> ExitCode {
    let done = topic().map_or_else(called, |text| output::print(&text).map(|()| Status::Yes));
    done.unwrap_or_else(|failure| {
        output::complain(&output::error(&failure.0));
        Status::Wrong
    })
    .into()
}

fn called() -> Result<Status, CommandFailure> {
    let parsed = args::help::summarised(Cli::command()).try_get_matches();
    match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => {
            output::choose(cli.color, cli.quiet);
            carry_out(cli.command).or_else(Unanswered::tell)
        }
        Err(error) => printed(&error),
    }
}

fn carry_out(command: Commands) -> Result<Status, Unanswered> {
    Ok(match command {
        Commands::Alloc(args) => commands::alloc::run(&args)?,
        Commands::Check(args) => commands::check::run(&args)?,
        Commands::Exec(args) => commands::exec::run(&args)?,
        #[cfg(feature = "full")]
        Commands::Soak(args) => commands::soak::run(&args)?,
        Commands::Explain(args) => commands::explain::run(&args)?,
        Commands::Size(args) => commands::size::run(&args)?,
        #[cfg(feature = "exchange")]
        Commands::Admit(args) => commands::admit::run(&args)?,
        #[cfg(feature = "exchange")]
        Commands::Migrate(args) => commands::migrate::run(&args)?,
        #[cfg(feature = "exchange")]
        Commands::Serve(args) => commands::serve::run(&args)?,
        #[cfg(feature = "full")]
        Commands::Gen(args) => commands::generate::run(&args)?,
        #[cfg(feature = "full")]
        Commands::Experiment(args) => commands::experiment::run(&args)?,
        #[cfg(feature = "full")]
        Commands::Merge(args) => commands::experiment::merge(&args)?,
        #[cfg(feature = "full")]
        Commands::Host(args) => commands::host::run(&args)?,
        #[cfg(feature = "exchange")]
        Commands::Export(args) => commands::export::run(&args)?,
        #[cfg(feature = "exchange")]
        Commands::Import(args) => commands::import::run(&args)?,
        Commands::Profile { name, format } => commands::profile::run(name.as_deref(), format)?,
        #[cfg(feature = "full")]
        Commands::Schema { name } => commands::schema::run(&name)?,
        #[cfg(feature = "full")]
        Commands::Completions { shell } => commands::shell::completions(shell)?,
        #[cfg(feature = "full")]
        Commands::Man { name, out } => commands::shell::man(name.as_deref(), out.as_deref())?,
    })
}

fn topic() -> Option<String> {
    let words: Vec<String> = std::env::args_os().skip(1).filter_map(|word| word.into_string().ok()).collect();
    match &words[..] {
        [help, name] if help == "help" => args::help::topic(name),
        _ => None,
    }
}

/// Prints help and versions, which clap has as errors, and complains about calls that are wrong.
fn printed(error: &clap::Error) -> Result<Status, CommandFailure> {
    if error.use_stderr() {
        output::complain(&output::in_plain_words(&error.render().ansi().to_string()));
        return Ok(Status::Wrong);
    }
    match error.print().and_then(|()| io::stdout().flush()) {
        // A reader that has gone away while help was printed is no error either.
        Err(failed) if failed.kind() != io::ErrorKind::BrokenPipe => Err(CommandFailure::io("cannot write", &failed)),
        _ => Ok(Status::Yes),
    }
}

/// Why a command could not be carried out at all.
#[derive(Debug)]
pub struct CommandFailure(pub String);

impl CommandFailure {
    /// A failure to read or write something.
    pub fn io(what: &str, error: &std::io::Error) -> CommandFailure {
        CommandFailure(format!("{what}: {error}"))
    }

    fn writing(path: &Path, error: &std::io::Error) -> CommandFailure {
        CommandFailure::io(&format!("cannot write {}", path.display()), error)
    }
}
