//! Demand tests: what is guaranteed on the device that the executor models.
//!
//! - [`Processor`]: what one EDF queue serves, a chip of a stripe or a superblock.
//! - [`SharedBus`] and [`Contention`]: how long its pages wait for the channel.
//! - [`Demand`]: the processor-demand test, exact.
//! - [`choose`]: the relative deadline of garbage collection.
//! - [`ChannelContention`] and [`certify`]: clusters on their chips, and their certificates.
//!
//! The theory, with proofs, is in docs/analysis.md.

pub use crate::certificate::anywhere::holds_anywhere;
pub use crate::certificate::channels::{
    Certification, ChannelContention, certify, certify_beside, certify_whole, certify_without_servers,
};
pub use crate::certificate::choice::{
    Choice, choose, choose_with, is_surely_late, largest_server, terms_without_server,
};
pub use crate::certificate::grounds::{GROUNDS, Ground, grounds};
pub use crate::certificate::placed::PlacedProcessor;
pub use crate::certificate::report::{
    Held, ONE_PLACEMENT, certified, held, holding, is_independent, load_millionths, reliances, reports, tightened,
};
pub use crate::certificate::shortfall::{Shortfall, never_served};
pub use crate::demand::bus::Contention;
pub use crate::demand::least_load::{LeastLoad, LeastShares, SURELY_ABOVE_ONE};
pub use crate::demand::{Demand, DemandVerdict, Nearest, Patience};
pub use crate::gc::ChosenGc;
pub use crate::organisation::processor::{DemandTask, Processor, WriteStream};
pub use crate::organisation::shared_bus::SharedBus;
pub use crate::organisation::{collects, may_queue, may_serve_one_chip, processors, waits_for_each};
pub use crate::time::{Cost, ProcessorTime};
pub use crate::workload::WorkloadCurve;
