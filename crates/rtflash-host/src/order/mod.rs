//! A scheduler by itself, driven by a script: what arrives when, when it is asked, what ends. There
//! is no host and no device in it.

mod names;
mod read;

use std::collections::HashMap;
use std::ops::Range;

use rtflash_model::reading::quote;
use rtflash_model::{Diagnostic, Diagnostics, Instant, Path};

pub use names::Names;
pub use read::read_script;

use crate::{Command, Scheduler, SchedulerSettings};

/// A script: a scheduler, and what happens to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// The scheduler.
    pub scheduler: SchedulerSettings,
    /// The events, in order; times never decrease.
    pub steps: Vec<Step>,
    /// The names of requests and pieces.
    pub names: Names,
}

/// The events at an instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// When.
    pub at: Instant,
    /// The event.
    pub event: Event,
}

/// An event of a scheduler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Requests or pieces arrive.
    Insert(Vec<Command>),
    /// The script asks it this number of times.
    Ask(u64),
    /// Commands that were handed out end; by [`Command::id`], each with its bytes in the text of
    /// the script.
    Complete(Vec<(u64, Range<usize>)>),
}

/// Why a script was given up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OrderError<E> {
    /// Something in it cannot be.
    Script(Diagnostics),
    /// Its answers could not be passed on.
    Answer(E),
}

/// Runs a script. `answer` gets what was handed out for each `ask`, by [`Command::id`]: fewer than
/// asked for where the scheduler has nothing.
///
/// # Errors
/// Those of `answer`, and [`OrderError::Script`] for the first completion of something that was not
/// handed out, or has ended.
pub fn run<E>(script: &Script, mut answer: impl FnMut(&[u64]) -> Result<(), E>) -> Result<(), OrderError<E>> {
    let mut scheduler: Box<dyn Scheduler> = script.scheduler.scheduler();
    let mut inside: HashMap<u64, Command> = HashMap::new();
    let mut handed = Vec::new();
    for (step, Step { at, event }) in script.steps.iter().enumerate() {
        match event {
            Event::Insert(commands) => commands.iter().for_each(|command| scheduler.insert(*command, *at)),
            Event::Ask(times) => {
                handed.clear();
                for _ in 0..*times {
                    let Some(command) = scheduler.ask(*at) else { break };
                    handed.push(command.id);
                    inside.insert(command.id, command);
                }
                answer(&handed).map_err(OrderError::Answer)?;
            }
            Event::Complete(ids) => {
                for (position, (id, range)) in ids.iter().enumerate() {
                    let Some(command) = inside.remove(id) else {
                        let problem = format!("{} is not inside", quote(&script.names.of(*id)));
                        let path = Path::root().key("script").index(step).key("complete").index(position);
                        let expected = "a request or piece that has been handed out and has not ended".to_owned();
                        let wrong = Diagnostic { range: range.clone(), path, problem, expected };
                        return Err(OrderError::Script(Diagnostics::new([wrong])));
                    };
                    scheduler.completed(&command, *at);
                }
            }
        }
    }
    Ok(())
}
