//! Jobs, host and scheduler in front of a device, in simulated time (docs/host.md says what happens at an instant, in which order).

mod device;
mod engine;
mod fio;
mod lengths;
mod merge;
mod read;
mod releases;
mod report;
mod scenario;
mod trace;
mod watch;

pub use device::{Between, Cost, Emmc, Slow};
pub use engine::{RunError, run, run_watched};
pub use fio::{is_fio, read_fio};
pub use lengths::{Lengths, QueueLength, QueueLengths};
pub use read::{read_scenario, read_setup};
pub use releases::{WriteBack, paced};
pub use report::{JobReport, Latencies};
pub use scenario::{Device, Host, Job, Pattern, Releases, Scenario, Setup, cut};
pub use trace::QueueTrace;
pub use watch::{Seen, Watch};
