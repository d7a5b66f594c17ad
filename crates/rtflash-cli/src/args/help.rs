//! Help: lists that several commands share, and a summary that fits two screens.

use clap::{Arg, ArgAction, Command};
use rtflash_alloc::allocator::ALLOCATORS;
use rtflash_analysis::{NECESSARY, analyses_and_baselines};
use rtflash_plan::{
    Aging, Arbitration, Dispatch, Pattern, Phases, Policy, Recurrence, Service, Ties, Times, Victims, Waits,
};

/// Lists of `rtflash help TOPIC`.
pub const TOPICS: [&str; 4] = ["algorithms", "analyses", "policies", "schedulers"];

fn listed<'a>(rows: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    rows.map(|(name, meaning)| format!("  {name:<22}{meaning}\n")).collect()
}

fn choices<P: Policy>(option: &str) -> String {
    format!("--{option}\n") + &listed(P::ALL.iter().map(|of| (of.name(), of.summary())))
}

/// The text of `rtflash help TOPIC`; `None` if that is the name of a command, or nothing's.
pub fn topic(name: &str) -> Option<String> {
    Some(match name {
        "algorithms" => {
            let rows = ALLOCATORS.iter().map(|allocator| (allocator.name(), allocator.summary()));
            format!("Algorithms that divide the chips (--algorithm)\n\n{}", listed(rows))
        }
        "analyses" => {
            let all = analyses_and_baselines().chain(NECESSARY);
            let rows: Vec<_> = all.map(|analysis| (analysis.name(), analysis.summary())).collect();
            format!("Analyses that decide (--analysis)\n\n{}", listed(rows.into_iter()))
        }
        "policies" => {
            let all = [
                choices::<Service>("server"),
                choices::<Dispatch>("dispatch"),
                choices::<Victims>("victims"),
                choices::<Aging>("aging"),
                choices::<Pattern>("pattern"),
                choices::<Waits>("waits"),
                choices::<Times>("times"),
                choices::<Phases>("phases"),
                choices::<Recurrence>("arrivals"),
                choices::<Arbitration>("arbitration"),
                choices::<Ties>("ties"),
            ];
            format!("Policies of a run (exec, experiment bandwidth)\n\n{}", all.join("\n"))
        }
        "schedulers" => schedulers()?,
        _ => return None,
    })
}

#[cfg(feature = "full")]
fn schedulers() -> Option<String> {
    let named =
        rtflash_host::SchedulerSettings::NAMES.iter().map(|&name| (name, rtflash_host::SchedulerSettings::named(name)));
    let rows: Vec<_> = named.map(|(name, of)| (name, of.expect("each name is a scheduler's").summary())).collect();
    Some(format!("I/O schedulers of Linux and of papers (host --scheduler)\n\n{}", listed(rows.into_iter())))
}

#[cfg(not(feature = "full"))]
fn schedulers() -> Option<String> {
    None
}

/// The command with `--help` as a summary; `rtflash help COMMAND` has each choice's meaning.
pub fn summarised(command: Command) -> Command {
    let help = Arg::new("help").short('h').long("help").action(ArgAction::HelpShort).display_order(902);
    let help = help.help_heading(super::OUTPUT).help("Print this summary; `rtflash help COMMAND` prints all");
    command.disable_help_flag(true).arg(help).mut_subcommands(summarised)
}
