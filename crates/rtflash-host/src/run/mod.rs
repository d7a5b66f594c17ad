//! Jobs, host and scheduler in front of a device, in simulated time (docs/host.md says what happens
//! at an instant, in which order).

mod chain;
mod device;
mod dirty;
mod engine;
mod fio;
mod foresight;
mod hand_over;
mod job;
mod lengths;
mod merge;
mod read;
mod releases;
mod replay;
mod report;
mod scenario;
mod trace;
mod watch;

pub use crate::host::{Host, Kernel, PageCacheSize};
pub use chain::{ChainStep, ChainWork};
pub use device::{
    AfterIdle, Attach, BLOCK, Between, CertifiedClusters, ClustersError, CommandCost, Costs, Emmc, EmmcCost,
    HostDevice, MeasuredCost, MeasuredDrive, Nvme, NvmeError, SizeServices, Slow, StallWindow, WriteCache,
};
pub use engine::{HostRunError, run, run_by, run_watched, until_over};
pub use fio::{FioJobs, FioOutside, is_fio, read_fio};
pub use hand_over::hand_over_jitter;
pub use job::{Job, JobPace, JobPattern, JobReleases, MixedIo, ThinkAfter};
pub use lengths::{LengthMeasure, QueueLength, QueueLengths};
pub use read::{Alone, Outside, read_scenario, read_scenario_with, read_setup};
pub use releases::{WriteBack, paced};
pub use replay::{ReplayedCommand, replay};
pub use report::{JobReport, Latencies, StepReport};
pub use scenario::{HostSetup, Scenario, cut};
pub use trace::QueueTrace;
pub use watch::{RunEvent, Watch};
