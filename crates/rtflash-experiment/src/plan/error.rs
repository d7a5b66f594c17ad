//! What is wrong with an experiment that is asked for.

use rtflash_model::generate::{Generator, OptionsError, Utilization};

use super::limits::{MAX_CONTENDERS, MAX_POINTS};
use super::sweep::{Axis, SweepError, Value};

/// Why there is no such experiment. Says what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExperimentError {
    /// No utilization, no value, no set or no contender.
    #[error("no {0}: at least one")]
    Empty(&'static str),
    /// Utilizations, where the generator divides none.
    #[error("{0} draws the utilization of each task: no total utilization goes with it")]
    Undivided(Generator),
    /// More than [`MAX_POINTS`] points.
    #[error("{0} points are too many: at most {MAX_POINTS}")]
    TooManyPoints(usize),
    /// More sets than can be counted.
    #[error("too many sets to count: fewer sets at each point")]
    TooManySets,
    /// More than [`MAX_CONTENDERS`] contenders.
    #[error("{0} algorithms and analyses are too many: at most {MAX_CONTENDERS}")]
    TooManyContenders(usize),
    /// A contender is named twice.
    #[error("{0} is there twice")]
    Twice(String),
    /// The sets have deadlines before the end of the period, of which this analysis does not know.
    #[error(
        "{0} knows implicit deadlines only, and --deadline draws others: --analyses stripe, superblock or \
             sound take them"
    )]
    NotImplicit(&'static str),
    /// The device's commands use the bus, of which this analysis does not know.
    #[error(
        "{0} knows no commands on the bus, and the device has a `command`: --analyses stripe, superblock or \
             sound take it"
    )]
    Commands(&'static str),
    /// Bandwidth is compared on the same sets, and there are several analyses to make them for.
    #[error("bandwidth is compared on the same sets: say which of the analyses they are made for")]
    SeveralAnalyses,
    /// Sets that cannot be drawn; with the value of the sweep, if there is one.
    #[error("{at}{1}", at = at(.0, "", ": "))]
    Options(Option<(Axis, Value)>, OptionsError),
    /// At this utilization, or at this value of the sweep, there is no set at all: no task has a
    /// utilization above 1.
    #[error("no set{at} has a utilization of {1}, because no task has one above 1: more tasks (--tasks), or a lower \
             --util", at = at(.0, " with ", ""))]
    Impossible(Option<(Axis, Value)>, Utilization),
    /// A value that suits no device.
    #[error("{0}")]
    Sweep(SweepError),
    /// Own task sets are what they are.
    #[error("own task sets are what they are: no sweep changes them")]
    SweepOfOwn,
}

fn at(of: &Option<(Axis, Value)>, before: &str, behind: &str) -> String {
    of.map_or_else(String::new, |(axis, value)| format!("{before}{}={value}{behind}", axis.name()))
}
