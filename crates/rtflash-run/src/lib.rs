//! Analysis and executor brought together: neither knows the other.
//!
//! - [`plan`]: an allocation and what an analysis says of it, as a [`Plan`](rtflash_exec::Plan).
//! - [`soak`]: random search for a broken assumption; [`climb`]: towards late ends.
//! - [`TbsServers`]: the Total Bandwidth Servers of an allocation, as the executor asks them.

mod case;
pub mod climb;
mod plan;
mod servers;
pub mod soak;

pub use case::{Checkpoint, Executed, NotRun, Sink, Watch, execute, execute_kept, execute_watched, execute_within};
pub use plan::{PlanRefusal, plan, timing};
pub use servers::TbsServers;
