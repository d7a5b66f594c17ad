//! Jobs, host and scheduler in front of a device, in simulated time (docs/host.md says what happens at an instant, in which order).

mod device;
mod engine;
mod hand_over;
mod read;
mod report;
mod scenario;
mod watch;

pub use device::{Clusters, ClustersError, CommandCost, Cost, Costs, Emmc, Nvme, NvmeError};
pub use engine::{RunError, run, run_watched};
pub use hand_over::hand_over_jitter;
pub use read::{Alone, Outside, read_scenario, read_scenario_with};
pub use report::{JobReport, Latencies};
pub use scenario::{Device, Host, Job, Pattern, Releases, Scenario, cut};
pub use watch::{Seen, Watch};
