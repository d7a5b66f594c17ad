//! The words of a command line.

use std::iter::once;

use clap::Parser;

use crate::args::{Cli, Commands};
use crate::{CommandFailure, output};

pub fn parse<'w>(words: impl IntoIterator<Item = &'w str>) -> Result<Commands, CommandFailure> {
    let parsed = Cli::try_parse_from(once("rtflash").chain(words));
    parsed.map(|cli| cli.command).map_err(|error| {
        let text = output::in_plain_words(&error.render().to_string());
        // How a shell is to call it is nothing to a program.
        let before = |text: &str, of: &str| text.split_once(of).map_or(text, |(before, _)| before).to_owned();
        let problem = before(&before(&text, "\n\nUsage:"), "\n\nFor more information");
        let problem = problem.trim();
        CommandFailure(problem.strip_prefix("error: ").unwrap_or(problem).to_owned())
    })
}

pub fn other(words: &[&str]) -> CommandFailure {
    CommandFailure(format!("`{}` is not answered here", words.first().unwrap_or(&"")))
}
