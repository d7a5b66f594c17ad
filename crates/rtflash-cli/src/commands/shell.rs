//! `rtflash completions` and `rtflash man`: both come from the one definition of the arguments.

use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::CommandFailure;
use crate::answer::Status;
use crate::args::help::{TOPICS, topic};
use crate::args::{COMMANDS, Cli};
use crate::output;

pub fn completions(shell: Shell) -> Result<Status, CommandFailure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "rtflash", &mut script);
    print(&script)
}

/// Prints the manual page with every command in it, or that of one command; or writes one of each
/// into a folder.
pub fn man(name: Option<&str>, out: Option<&Path>) -> Result<Status, CommandFailure> {
    let mut command = Cli::command();
    command.build();
    if let Some(folder) = out {
        return write_all(&command, folder);
    }
    match name {
        Some(name) => print(&of_command(&command, name)?),
        None => print(&whole(&command)?),
    }
}

fn failed(error: std::io::Error) -> CommandFailure {
    CommandFailure::io("cannot write the manual page", &error)
}

fn page_of(command: &clap::Command) -> clap_mangen::Man {
    clap_mangen::Man::new(command.clone()).source(concat!("rtflash ", env!("CARGO_PKG_VERSION")))
}

/// The page of everything, with the lists of `rtflash help` at its end.
fn whole(command: &clap::Command) -> Result<Vec<u8>, CommandFailure> {
    let mut page = Vec::new();
    page_of(command).render(&mut page).map_err(failed)?;
    sections(command, "RTFLASH", &mut page)?;
    for name in TOPICS {
        let list = topic(name).expect("each topic has a list: an invariant");
        page.extend(format!(".SH {}\n.nf\n{list}.fi\n", name.to_uppercase()).into_bytes());
    }
    Ok(page)
}

fn sections(command: &clap::Command, name: &str, page: &mut Vec<u8>) -> Result<(), CommandFailure> {
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        let name = format!("{name} {}", sub.get_name().to_uppercase());
        page.extend(format!(".SH \"{name}\"\n").into_bytes());
        let man = clap_mangen::Man::new(sub.clone());
        man.render_description_section(page).and_then(|()| man.render_options_section(page)).map_err(failed)?;
        sections(sub, &name, page)?;
    }
    Ok(())
}

fn of_command(command: &clap::Command, name: &str) -> Result<Vec<u8>, CommandFailure> {
    let found = name.split('-').try_fold(command, |command, part| command.find_subcommand(part));
    let sub = found.ok_or_else(|| CommandFailure(format!("there is no command `{name}`")))?;
    let mut page = Vec::new();
    page_of(sub).render(&mut page).map_err(failed)?;
    // The text behind the options of a command is its examples.
    Ok(String::from_utf8_lossy(&page).replace(".SH EXTRA\n", ".SH EXAMPLES\n").into_bytes())
}

fn write_all(command: &clap::Command, folder: &Path) -> Result<Status, CommandFailure> {
    output::folder(folder)?;
    output::save(&folder.join("rtflash.1"), &whole(command)?)?;
    for name in COMMANDS.split(' ') {
        output::save(&folder.join(format!("rtflash-{name}.1")), &of_command(command, name)?)?;
    }
    Ok(Status::Yes)
}

fn print(text: &[u8]) -> Result<Status, CommandFailure> {
    output::print(&String::from_utf8_lossy(text))?;
    Ok(Status::Yes)
}
