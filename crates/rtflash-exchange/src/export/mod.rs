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
//! None of these collects garbage in rtflash's steps or serves the earliest deadline first. Such
//! files show the work of the device; the notes say what they do not promise.
//!
//! A camera, to be replayed on a drive for a second:
//!
//! ```
//! use rtflash_exchange::export::fio::{FioOptions, export};
//! use rtflash_model::{Device, Instant, Request, Span, Task, TaskSet};
//!
//! let device = Device::profile("dgist-2021").ok_or("no such device")?;
//! let camera = Task { name: "camera".into(), read: None, write: Request::new(24, Span::from_us(30_000)), data_pages: None };
//! let set = TaskSet::new(device, vec![camera], vec![]).map_err(|wrong| wrong[0].to_string())?;
//! let second = Instant::from_ns(1_000_000_000).ok_or("too long")?;
//! let options = FioOptions { target: "/dev/nullb0".into(), duration: second, pages: None, seed: 1, class: None };
//! let replay = export(&set, &options)?;
//! assert_eq!(replay.files[0].name, "replay.fio");
//! assert_eq!(replay.files[1].text.lines().filter(|line| line.contains(" write ")).count(), 34);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod exported;
pub mod femu;
pub mod fio;
pub mod mqsim;
pub mod nvme;
mod replayed;
mod streams;

pub use exported::{Exported, ExportedFile, MAX_REQUESTS, NotExported};
pub use replayed::{ReplayedStream, StreamMaximum};
pub use streams::{RequestStream, request_streams};
