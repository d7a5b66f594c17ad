//! Ways out: a task set and its allocation for simulators and drives of others, and what came of
//! them read back.
//!
//! | to | what | read back |
//! |---|---|---|
//! | [MQSim](mqsim::export) | a configuration, a workload, a trace for each request | [results](mqsim::read_results) |
//! | [fio](fio::export) | a job file and an iolog for each request | [its JSON](fio::read_results) |
//! | [FEMU](femu::device_line) | an option for a virtual drive | |
//! | [NVMe](nvme::script) | namespaces in NVM sets or with FDP's handles | |
//!
//! None of these collects garbage in rtflash's steps or serves the earliest deadline first. What
//! they show is what such a device does; what they do not promise is in the notes.

mod exported;
pub mod femu;
pub mod fio;
pub mod mqsim;
pub mod nvme;
mod replayed;
mod streams;

pub use exported::{Exported, ExportedFile, NotExported};
pub use replayed::{ReplayedStream, StreamMaximum};
pub use streams::{MAX_REQUESTS, RequestStream, request_streams};
