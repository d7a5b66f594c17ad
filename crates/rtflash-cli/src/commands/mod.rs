//! One file for each command: it turns arguments into a plan and carries it out.

#[cfg(feature = "exchange")]
pub mod admit;
pub mod alloc;
pub mod check;
pub mod exec;
mod exec_checkpoint;
mod exec_options;
pub mod exec_output;
pub mod experiment;
pub mod explain;
#[cfg(feature = "exchange")]
pub mod export;
#[cfg(feature = "exchange")]
mod export_firmware;
mod found;
pub mod generate;
pub mod host;
pub mod host_bound;
mod host_datasheet;
mod host_drive;
mod host_figures;
pub mod host_input;
pub mod host_install;
pub mod host_tune;
#[cfg(feature = "exchange")]
pub mod import;
#[cfg(feature = "exchange")]
pub mod migrate;
pub mod profile;
mod releases;
#[cfg(feature = "exchange")]
pub mod replayed;
pub mod schema;
#[cfg(feature = "exchange")]
pub mod serve;
pub mod shell;
pub mod size;
pub mod soak;
pub mod trace;
mod trims;
mod verified;

use crate::CommandFailure;
use crate::args::{DecisionArgs, ShapeArg};
use rtflash_alloc::allocator::{Allocator, BestFit, Limit, Outcome};
use rtflash_alloc::rectangles::in_rectangles;
use rtflash_alloc::spread::spread;
use rtflash_analysis::{Analysis, Work};
use rtflash_answers::Guarantee;
use rtflash_model::{Reliance, TaskSet};

#[cfg(feature = "exchange")]
fn warn_of_typical_times(device: &rtflash_model::Device) {
    if device.has_typical_times() {
        crate::output::complain(&crate::output::warning(
            "the device's times are typical values: nothing is guaranteed; enter the maxima of its datasheet, with \
             \"times\": \"maximum\"",
        ));
    }
}

pub fn on_threads<T: Send>(count: Option<usize>, work: impl FnOnce() -> T + Send) -> Result<T, CommandFailure> {
    Ok(match count {
        Some(count) => threads(count)?.install(work),
        None => work(),
    })
}

/// A pool of `count` threads. A web page starts none: the thread that asks does the work there.
fn threads(count: usize) -> Result<rayon::ThreadPool, CommandFailure> {
    let started = rayon::ThreadPoolBuilder::new().num_threads(count).build();
    let pool = started.or_else(|_| rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build());
    pool.map_err(|error| CommandFailure(format!("cannot start {count} threads: {error}")))
}

fn analysis(name: &str) -> Result<&'static dyn Analysis, CommandFailure> {
    rtflash_analysis::analysis(name).ok_or_else(|| CommandFailure(format!("there is no analysis `{name}`")))
}

/// The analysis of such a name, with guarantees that rely on no more than `granted`.
fn analysis_relying_on(name: &str, granted: Reliance) -> Result<&'static dyn Analysis, CommandFailure> {
    let found = rtflash_analysis::analysis_relying_on(name, granted);
    found.ok_or_else(|| CommandFailure(format!("there is no analysis `{name}`")))
}

fn allocator(name: &str) -> Result<&'static dyn Allocator, CommandFailure> {
    rtflash_alloc::allocator::allocator(name).ok_or_else(|| CommandFailure(format!("there is no algorithm `{name}`")))
}

#[derive(Clone, Copy)]
struct DecidedBy {
    allocator: &'static dyn Allocator,
    analysis: &'static dyn Analysis,
    granted: Reliance,
}

impl DecidedBy {
    fn of(args: &DecisionArgs) -> Result<DecidedBy, CommandFailure> {
        let granted = args.rely_on.granted;
        let analysis = analysis_relying_on(&args.analysis.analysis, granted)?;
        Ok(DecidedBy { allocator: allocator(args.algorithm.under(analysis))?, analysis, granted })
    }

    /// The guarantee of a set: looked for if that is `wanted`, else as far as the outcome shows it.
    fn guarantee(self, set: &TaskSet, outcome: &Outcome, wanted: bool) -> Guarantee {
        match wanted {
            true => Guarantee::of(set, self.allocator, self.analysis, outcome, self.granted),
            false => Guarantee::known(set, self.allocator.name(), self.analysis, outcome),
        }
    }
}

/// The algorithm's outcome for a set; with its free chips used, where that is `wanted` and a gain.
fn allocate(set: &TaskSet, allocator: &dyn Allocator, analysis: &dyn Analysis, wanted: bool, work: &Work) -> Outcome {
    match allocator.divide(set, analysis, work) {
        Outcome::Schedulable(allocation) if wanted => {
            Outcome::Schedulable(spread(set, analysis, &allocation).unwrap_or(allocation))
        }
        outcome => outcome,
    }
}

/// The outcome with its clusters as rectangles, if that is `wanted`; if they cannot be rectangles,
/// with the clusters of best-fit as rectangles.
fn in_shape(set: &TaskSet, analysis: &dyn Analysis, outcome: Outcome, wanted: ShapeArg) -> Outcome {
    match outcome {
        Outcome::Schedulable(allocation) if wanted == ShapeArg::Rectangles => {
            let others = || match BestFit.allocate(set, analysis) {
                Outcome::Schedulable(other) => in_rectangles(set, analysis, &other),
                _ => None,
            };
            let laid_out = in_rectangles(set, analysis, &allocation).or_else(others);
            laid_out.map_or(Outcome::CannotTell(Limit::NoRectangles), Outcome::Schedulable)
        }
        outcome => outcome,
    }
}
