//! The host side: I/O schedulers as Linux has them, and as papers describe them, in front of a
//! device.
//!
//! A [`Scheduler`] keeps requests and says which goes next. It sees no device and moves no time:
//! whoever drives it says what time it is. [`order`] drives one by a script.

pub mod bound;
mod command;
mod file;
pub mod order;
pub mod run;
pub mod scheduler;
pub mod tune;

pub use command::{Class, Command, LEVELS, Op};
pub use scheduler::{Scheduler, SchedulerSettings};
