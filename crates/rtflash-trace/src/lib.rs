//! Records of a run, and trace files of them.

// For samples that tests of other crates share.
#[cfg(test)]
extern crate self as rtflash_trace;

mod any_record;
mod events;
mod jsonl;
mod observer;
mod record;
#[cfg(test)]
mod record_samples;
#[cfg(test)]
mod samples;
mod setup;

#[cfg(test)]
use samples::{at, plan};

pub use any_record::Record;
pub use events::TraceEvents;
pub use jsonl::{JobNames, JsonLine, JsonLines, MAX_LINE, TraceError, TraceReader, quoted};
pub use observer::Observer;
pub use record::{
    Action, Complete, EmptyPage, Failed, LeftOut, Moved, NONE, Operation, Padding, Policed, Release, Reserve,
    Selection, Starved, Step, TermsChange, Transfer, Trimmed,
};
pub use setup::Setup;

pub use rtflash_plan::{JobId, Kind, NO_LPN};
