//! What is wrong with an experiment that is asked for.

use std::fmt;

use rtflash_model::generate::{Generator, OptionsError, Utilization};

use super::limits::{MAX_CONTENDERS, MAX_POINTS};
use super::sweep::{Axis, SweepError, Value};

/// Why there is no such experiment. Says what would be right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExperimentError {
    /// No utilization, no value, no set or no contender.
    Empty(&'static str),
    /// Utilizations, where the generator divides none.
    Undivided(Generator),
    /// More than [`MAX_POINTS`] points.
    TooManyPoints(usize),
    /// More sets than can be counted.
    TooManySets,
    /// More than [`MAX_CONTENDERS`] contenders.
    TooManyContenders(usize),
    /// A contender is named twice.
    Twice(String),
    /// The sets have deadlines before the end of the period, of which this analysis does not know.
    NotImplicit(&'static str),
    /// The device's commands use the bus, of which this analysis does not know.
    Commands(&'static str),
    /// Bandwidth is compared on the same sets, and there are several analyses to make them for.
    SeveralAnalyses,
    /// Sets that cannot be drawn; with the value of the sweep, if there is one.
    Options(Option<(Axis, Value)>, OptionsError),
    /// At this utilization, or at this value of the sweep, there is no set at all: no task has a
    /// utilization above 1.
    Impossible(Option<(Axis, Value)>, Utilization),
    /// A value that suits no device.
    Sweep(SweepError),
    /// Own task sets are what they are.
    SweepOfOwn,
}

impl fmt::Display for ExperimentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExperimentError::Empty(what) => write!(f, "no {what}: at least one"),
            ExperimentError::Undivided(generator) => {
                write!(f, "{generator} draws the utilization of each task: no total utilization goes with it")
            }
            ExperimentError::TooManyPoints(points) => write!(f, "{points} points are too many: at most {MAX_POINTS}"),
            ExperimentError::TooManySets => f.write_str("too many sets to count: fewer sets at each point"),
            ExperimentError::TooManyContenders(count) => {
                write!(f, "{count} algorithms and analyses are too many: at most {MAX_CONTENDERS}")
            }
            ExperimentError::Twice(contender) => write!(f, "{contender} is there twice"),
            ExperimentError::NotImplicit(analysis) => write!(
                f,
                "{analysis} knows implicit deadlines only, and --deadline draws others: --analyses stripe, superblock \
                 or sound take them"
            ),
            ExperimentError::Commands(analysis) => write!(
                f,
                "{analysis} knows no commands on the bus, and the device has a `command`: --analyses stripe, \
                 superblock or sound take it"
            ),
            ExperimentError::SeveralAnalyses => {
                f.write_str("bandwidth is compared on the same sets: say which of the analyses they are made for")
            }
            ExperimentError::Options(None, error) => error.fmt(f),
            ExperimentError::Options(Some((axis, value)), error) => write!(f, "{}={value}: {error}", axis.name()),
            ExperimentError::Impossible(of, utilization) => {
                let at = of.map_or_else(String::new, |(axis, value)| format!(" with {}={value}", axis.name()));
                write!(
                    f,
                    "no set{at} has a utilization of {utilization}, because no task has one above 1: more tasks \
                     (--tasks), or a lower --util"
                )
            }
            ExperimentError::Sweep(error) => error.fmt(f),
            ExperimentError::SweepOfOwn => f.write_str("own task sets are what they are: no sweep changes them"),
        }
    }
}

impl std::error::Error for ExperimentError {}
