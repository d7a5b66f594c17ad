//! Files: descriptions of a device, tasks or an allocation become the core types here, or a list of
//! all that is wrong with them; and task sets are written.
//!
//! Nothing here opens a file: texts come in as texts, streams as [`std::io::Read`].

mod allocation;
mod alternatives;
mod change;
mod derived;
mod device;
mod diagnostic;
mod job;
mod meta;
mod place;
mod reader;
mod record;
mod request;
mod scalar;
mod scan;
mod set;
mod stream;
mod tree;
mod wire;
mod write;

#[cfg(test)]
mod tests;

pub use allocation::{PartialAllocation, read_allocation, read_partial_allocation};
pub use change::{Change, ChangeError};
pub use device::read_device;
pub use diagnostic::{Diagnostic, Diagnostics, line_column};
pub use meta::MetaJson;
pub use place::{Place, Slot, quote, quoted};
pub use reader::{Reader, nearest};
pub use record::{ANSWER_FORMAT, AllocationRecord, read_allocation_record};
pub use scalar::parse_bytes;
pub use set::{TaskSetFile, read_task_set, read_task_set_bytes};
pub use stream::{Frame, FrameTooLong, Frames, MAX_FRAME};
pub use tree::JsonKind;
pub use write::{allocation_schema, task_set_schema, write_device, write_device_in_full, write_task_set};
