//! What happens in a run: records, and trace files of them.

mod any_record;
mod events;
mod jsonl;
mod observer;
mod record;
#[cfg(test)]
pub(crate) mod samples;
mod setup;

pub use any_record::Record;
pub use events::TraceEvents;
pub use jsonl::{JobNames, JsonLine, JsonLines, MAX_LINE, TraceError, TraceReader, quoted};
pub use observer::Observer;
pub use record::{
    Action, Complete, EmptyPage, Failed, LeftOut, Moved, NO_LPN, NONE, OnBus, Operation, Padding, Policed, Release,
    Reserve, Selection, Starved, Step, TermsChange, Transfer, Trimmed,
};
pub use setup::Setup;

pub use crate::jobs::{JobId, Kind};
