//! Random task sets of a given total utilization, for experiments.
//!
//! Sources: E. Bini and G. C. Buttazzo, "Measuring the performance of schedulability tests",
//! Real-Time Systems 30, 2005 (UUniFast); R. I. Davis and A. Burns, "Improved priority assignment
//! for global fixed priority pre-emptive scheduling in multiprocessor real-time systems", Real-Time
//! Systems 47, 2011 (UUniFast-Discard); P. Emberson, R. Stafford and R. I. Davis, "Techniques for
//! the synthesis of multiprocessor tasksets", WATERS 2010 (RandFixedSum, log-uniform periods); the
//! thesis, Section 5.1 (periods, pages, the split between reads and writes).
//!
//! A set is drawn in these steps, and drawn again from the first one where a step refuses it. Among
//! more than 100 tasks one that step 3 or 4 refuses is drawn again by itself, from step 2. Given
//! U_1 … U_n its read and write have the distribution of step 2 and 3, on the condition that both
//! steps accept them, independently of other tasks. Up to 100 tasks the condition holds for whole
//! sets, U_1 … U_n among them. Without a total both are the same, as tasks are independent then.
//! 1. U_1 … U_n with ΣU_i = U ([`Generator`] says how); no task may have more than 1. Without a
//!    total (`heavy-writers`), step 2 draws the utilizations of reads and writes.
//! 2. Each U_i is split between read and write ([`Writes`] says how).
//! 3. T^r and T^w are uniform in [100, 500) ms, or as [`PeriodRange`] says; pages =
//!    ⌊U·T/cost⌋, at least 1; then T = pages·cost/U, to the nearest nanosecond, so that the pages,
//!    which are whole, still make up U. No T may exceed 1000 s. If a [`PageRange`] is given,
//!    pages are first moved into it, so that T may leave its range.
//! 4. The task must fit on the whole device alone. The caller decides what that means: nothing
//!    here knows an analysis.
//!
//! Then each request is made random, sequential or a stream ([`Accesses`] says how), by a random
//! stream of its own: until then, in step 4 as well, all are random, so that the rest of a set does
//! not depend on it.
//!
//! The set at (seed, U, index) depends on these three, the generator, the number of tasks and the
//! [`SetSpec`]; not on other sets, on threads or on the machine: the random stream is ChaCha8, and
//! floating point is confined to operations that IEEE 754 rounds correctly and to `libm`, which is
//! made of such.

mod accesses;
mod aperiodic;
mod deadlines;
mod doubles;
mod draw;
mod fixed_sum;
mod generator;
mod options;
mod pages;
mod periods;
mod range;
mod shares;
mod streams;
#[cfg(test)]
mod tests;
mod utilization;
mod writes;

pub use accesses::Accesses;
pub use aperiodic::{Aperiodic, AperiodicArrivals};
pub use deadlines::{DeadlineRange, NotDeadlines};
pub use draw::{Exhausted, MAX_DRAWS, Refusal};
pub use generator::Generator;
pub use options::{MAX_TASKS, Meta, OptionsError, PageCosts, SetOptions, SetSpec};
pub use pages::{NotPages, PageRange};
pub use periods::{NotPeriods, PeriodDistribution, PeriodRange};
pub use range::{MAX_POINTS, RangeError, UtilizationRange};
pub use utilization::{Utilization, UtilizationError};
pub use writes::{NotAShare, WriteShare, Writes};
