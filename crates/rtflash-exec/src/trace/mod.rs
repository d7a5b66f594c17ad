//! What happens in a run: records, and trace files of them.

mod events;
mod jsonl;
mod record;
#[cfg(test)]
mod samples;

pub use events::TraceEvents;
pub use jsonl::{JobNames, JsonLines, Line, MAX_LINE, TraceError, TraceReader, quoted};
pub use record::{
    Action, Complete, JobId, Kind, LeftOut, Moved, NONE, Observer, Operation, Record, Release, Reserve, Selection,
    Setup, Silent, Starved, Step, Transfer,
};
