//! What happens in a run: records, trace files and pictures of them.

mod events;
mod gantt;
mod jsonl;
mod observer;
mod perfetto;
mod png;
mod record;
#[cfg(test)]
pub(crate) mod samples;
mod setup;

pub use events::TraceEvents;
pub use gantt::Gantt;
pub use jsonl::{JsonLines, Line, MAX_LINE, TraceError, TraceReader, quoted};
pub use observer::Observer;
pub use perfetto::Perfetto;
pub use png::{PngError, png, png_scaled, svg_tree};
pub use record::{
    Action, Complete, JobId, Kind, LeftOut, Moved, NONE, Operation, Record, Release, Reserve, Selection, Silent,
    Starved, Step, Transfer,
};
pub use setup::Setup;
