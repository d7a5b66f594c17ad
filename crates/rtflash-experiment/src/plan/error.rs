//! The fault of an experiment that was asked for.

use rtflash_model::generate::{Generator, OptionsError, Utilization};

use super::sweep::{Axis, SweepError, Value};

/// Points that an experiment may have.
pub const MAX_POINTS: usize = 100_000;

/// Contenders that an experiment may have.
pub const MAX_CONTENDERS: usize = 64;

/// Why there is no such experiment. Says what would be right.
#[allow(missing_docs)] // The messages say it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExperimentError {
    #[error("no {0}: at least one")]
    Empty(&'static str),
    #[error("{0} draws the utilization of each task: no total utilization goes with it")]
    Undivided(Generator),
    #[error("{0} points are too many: at most {MAX_POINTS}")]
    TooManyPoints(usize),
    #[error("too many sets to count: fewer sets at each point")]
    TooManySets,
    #[error("{0} algorithms and analyses are too many: at most {MAX_CONTENDERS}")]
    TooManyContenders(usize),
    #[error("{0} is there twice")]
    Twice(String),
    #[error(
        "{0} knows implicit deadlines only, and --deadline draws others: --analyses stripe, superblock or \
             sound take them"
    )]
    NotImplicit(&'static str),
    #[error(
        "{0} knows no commands on the bus, and the device has a `command`: --analyses stripe, superblock or \
             sound take it"
    )]
    Commands(&'static str),
    #[error("bandwidth is compared on the same sets: say which of the analyses they are made for")]
    SeveralAnalyses,
    #[error("{at}{1}", at = at(.0, "", ": "))]
    Options(Option<(Axis, Value)>, OptionsError),
    #[error("no set{at} has a utilization of {1}, because no task has one above 1: more tasks (--tasks), or a lower \
             --util", at = at(.0, " with ", ""))]
    Impossible(Option<(Axis, Value)>, Utilization),
    #[error("{0}")]
    Sweep(SweepError),
    #[error("own task sets are what they are: no sweep changes them")]
    SweepOfOwn,
}

fn at(of: &Option<(Axis, Value)>, before: &str, behind: &str) -> String {
    of.map_or_else(String::new, |(axis, value)| format!("{before}{}={value}{behind}", axis.name()))
}
