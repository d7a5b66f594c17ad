//! Sound analyses: what may be promised on the device that the executor models.
//!
//! - [`Processor`]: what one EDF queue serves, under two placements of pages: static stripe and
//!   superblock.
//! - [`SharedBus`] and [`Contention`]: how long its pages wait for the channel.
//! - [`Demand`]: the processor-demand test, exact.
//! - [`choose`]: the relative deadline of garbage collection.
//!
//! The theory, with proofs, is in docs/analysis.md.

mod anywhere;
mod bus;
mod channels;
mod choice;
mod contention;
mod costs;
mod demand;
mod grounds;
mod least_load;
mod long_run;
mod organisation;
mod placed;
mod processor;
#[cfg(test)]
mod random_processors;
mod registers;
mod report;
mod shortfall;
mod term;
mod time;
mod workload;

pub use anywhere::holds_anywhere;
pub use bus::SharedBus;
pub use channels::NumberedMember;
pub use channels::{
    Certification, ChannelContention, Trial, TrialAnswers, certify, certify_beside, certify_leaving_out, certify_whole,
    certify_without_servers, tried,
};
pub use choice::{Choice, LastFailure, choose, choose_with, is_surely_late, largest_server, terms_without_server};
pub use contention::Contention;
pub use demand::{Demand, DemandVerdict, Nearest, Patience};
pub use grounds::{GROUNDS, Ground, grounds};
pub use least_load::{LeastLoad, LeastShares, SURELY_ABOVE_ONE};
pub use organisation::{collects, may_queue, may_serve_one_chip, processors, waits_for_each};
pub use placed::PlacedProcessor;
pub use processor::{ChosenGc, DemandTask, Processor, WriteStream};
pub use report::ONE_PLACEMENT;
pub use report::{Held, certified, held, holding, is_independent, load_millionths, reliances, reports, tightened};
pub use shortfall::{Shortfall, never_served};
pub use term::Term;
pub use time::{Cost, ProcessorTime};
pub use workload::WorkloadCurve;
