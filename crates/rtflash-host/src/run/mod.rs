//! Jobs, host and scheduler in front of a device, in simulated time (docs/host.md says what happens at an instant, in which order).

mod engine;
mod read;
mod report;
mod scenario;

pub use engine::{RunError, run};
pub use read::read_scenario;
pub use report::{JobReport, Latencies};
pub use scenario::{Cost, Emmc, Host, Job, Pattern, Releases, Scenario, cut};
