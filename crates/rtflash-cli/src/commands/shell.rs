//! `rtflash completions` and `rtflash man`: both come from the one definition of the arguments.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::Failure;
use crate::args::Cli;
use crate::output::Output;
use crate::status::Status;

/// Prints a completion script.
pub fn completions(shell: Shell) -> Result<Status, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "rtflash", &mut script);
    print(&script)
}

/// Prints the manual page, every command in it.
pub fn man() -> Result<Status, Failure> {
    let mut page = Vec::new();
    let mut command = Cli::command();
    command.build();
    let render = |command: clap::Command, page: &mut Vec<u8>| clap_mangen::Man::new(command).render(page);
    render(command.clone(), &mut page).map_err(|error| Failure::io("cannot write the manual page", &error))?;
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        page.extend(format!(".SH \"RTFLASH {}\"\n", sub.get_name().to_uppercase()).into_bytes());
        let man = clap_mangen::Man::new(sub.clone());
        let sections = man.render_description_section(&mut page).and_then(|()| man.render_options_section(&mut page));
        sections.map_err(|error| Failure::io("cannot write the manual page", &error))?;
    }
    print(&page)
}

fn print(text: &[u8]) -> Result<Status, Failure> {
    let mut output = Output::stdout();
    output
        .write(&String::from_utf8_lossy(text))
        .and_then(|_| output.flush())
        .map_err(|error| Failure::io("cannot write", &error))?;
    Ok(Status::Yes)
}
