//! The host side: I/O schedulers as Linux has them, and as papers describe them, in front of a
//! device.
//!
//! A [`Scheduler`] keeps requests and says which goes next. It sees no device and moves no time:
//! its driver states the time. [`order`] drives one by a script. `SPEC.md` of this crate specifies
//! each scheduler.
//!
//! K2 hands out what is real-time first:
//!
//! ```
//! use rtflash_host::{Class, Command, Op, SchedulerSettings};
//! use rtflash_model::Instant;
//!
//! let mut k2 = SchedulerSettings::named("k2").ok_or("no such scheduler")?.scheduler();
//! let command = |id, class| Command {
//!     id, op: Op::Read, from: 4096 * id, size: 4096, class, level: 0, cpu: 0, job: 0, user_centric: false,
//! };
//! k2.insert(command(1, Class::BestEffort), Instant::START);
//! k2.insert(command(2, Class::RealTime), Instant::START);
//! assert_eq!(k2.ask(Instant::START).map(|first| first.id), Some(2));
//! # Ok::<(), &str>(())
//! ```

pub mod bound;
mod command;
mod file;
mod host;
pub mod order;
pub mod run;
pub mod scheduler;
pub mod tune;

pub use command::{Class, Command, LEVELS, Op};
pub use scheduler::{Scheduler, SchedulerSettings};
