//! I/O schedulers, a file each.

mod bfq;
mod k2;
mod kyber;
mod minimal_effort;
mod mq_deadline;
mod none;
mod user_centric;

use std::fmt;

use rtflash_model::{Instant, Span};

pub use bfq::{Bfq, BfqSettings};
pub use k2::{Cut, Ends, K2, K2Settings, Levels, Split, TimeBySize};
pub use kyber::{Kyber, KyberSettings};
pub use minimal_effort::{MinimalEffort, MinimalEffortSettings};
pub use mq_deadline::{MqDeadline, MqDeadlineSettings};
pub use none::Noop;
pub use user_centric::{UserCentric, UserCentricSettings};

use crate::host::{Host, Kernel};
use crate::{Command, Op};

/// Keeps requests, and says which goes to the device next.
///
/// Times never decrease from one call to the next. A command that was handed out is *inside* until
/// it is completed.
pub trait Scheduler: fmt::Debug + Send {
    /// The size of the pieces that a request is cut into, in bytes, the last one shorter where it
    /// does not divide; `None` where it stays whole.
    fn piece(&self, request: &Command) -> Option<u64> {
        let _ = request;
        None
    }

    /// A request or piece arrives. Pieces of a request arrive in order, one directly after the
    /// other.
    fn insert(&mut self, command: Command, now: Instant);

    /// The command that goes to the device now, if any does.
    fn ask(&mut self, now: Instant) -> Option<Command>;

    /// The submission queue that a command which is handed out goes to; `unfetched` says how many
    /// commands wait in each. The core's own, in turns where there are fewer queues than cores.
    fn queue(&self, command: &Command, unfetched: &[u32]) -> usize {
        own_queue(command, unfetched)
    }

    /// The number of tags that limited requests can hold, this one with them: of the whole bitmap,
    /// or by [`Kernel::V6_5`] of each word (`Host::tags_within`). `None` where this one can have
    /// any free tag. If `buffered`, the kernel writes it back.
    fn tag_limit(&self, request: &Command, buffered: bool, host: &Host) -> Option<u32> {
        let _ = (request, buffered, host);
        None
    }

    /// The least limit that the scheduler states to the kernel (`sbitmap_queue_min_shallow_depth`);
    /// `None` where it states none.
    fn min_tag_limit(&self, host: &Host) -> Option<u32> {
        let _ = host;
        None
    }

    /// A command that was handed out has ended.
    fn completed(&mut self, command: &Command, now: Instant);

    /// Whether a request may become part of another one that was inserted and has not been handed
    /// out. Both do the same, in the same class and level, and lie one behind the other.
    fn merges(&self, queued: &Command, request: &Command) -> bool {
        let _ = (queued, request);
        true
    }

    /// The command `before` has become `after`: it is longer, and can begin earlier. It keeps its
    /// [`id`](Command::id) and its age. The scheduler can hand it out as either, since its driver
    /// knows what it is.
    fn merged(&mut self, before: &Command, after: &Command) {
        let _ = (before, after);
    }

    /// Tells the scheduler how long commands take on its device, if that is known.
    fn foretell(&mut self, ends: Ends) {
        let _ = ends;
    }

    /// Whether the driver calls [`foresee`](Scheduler::foresee) before each asking. Such a
    /// scheduler can hand out a command in parts: the bytes from the front on, with an unchanged
    /// [`id`](Command::id).
    fn looks_ahead(&self) -> bool {
        false
    }

    /// No real-time request is released before this; `None` if none is released any more.
    fn foresee(&mut self, earliest: Option<Instant>) {
        let _ = earliest;
    }

    /// Whether it has the queue run again itself once what it holds back may go.
    fn kicks_queue(&self) -> bool {
        true
    }

    /// When to be asked again though nothing arrives and nothing ends; `None` where that would be
    /// in vain.
    fn next(&self) -> Option<Instant> {
        None
    }
}

/// The submission queue of a command's core.
fn own_queue(command: &Command, unfetched: &[u32]) -> usize {
    command.cpu as usize % unfetched.len().max(1)
}

/// A scheduler and its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchedulerSettings {
    /// Linux's `none`: in order of arrival.
    None,
    /// K2 and K2-split (Park and Lee 2021, Koshiba et al.), and k2-ahead.
    K2(K2Settings),
    /// Linux's mq-deadline.
    MqDeadline(MqDeadlineSettings),
    /// Linux's Kyber.
    Kyber(KyberSettings),
    /// The core of Linux's BFQ.
    Bfq(BfqSettings),
    /// Minimal-effort write (Park et al. 2018).
    MinimalEffort(MinimalEffortSettings),
    /// User-centric queues (Kim et al. 2020).
    UserCentric(UserCentricSettings),
}

impl SchedulerSettings {
    /// The schedulers' names, as files have them.
    pub const NAMES: [&'static str; 9] =
        ["none", "k2", "k2-split", "k2-ahead", "mq-deadline", "kyber", "bfq", "minimal-effort", "user-centric"];

    /// A scheduler of this name with its defaults.
    pub fn named(name: &str) -> Option<SchedulerSettings> {
        Some(match name {
            "none" => SchedulerSettings::None,
            "k2" => SchedulerSettings::K2(K2Settings::k2()),
            "k2-split" => SchedulerSettings::K2(K2Settings::split(Cut::Idle)),
            "k2-ahead" => SchedulerSettings::K2(K2Settings::ahead()),
            "mq-deadline" => SchedulerSettings::MqDeadline(MqDeadlineSettings::default()),
            "kyber" => SchedulerSettings::Kyber(KyberSettings::default()),
            "bfq" => SchedulerSettings::Bfq(BfqSettings::default()),
            "minimal-effort" => SchedulerSettings::MinimalEffort(MinimalEffortSettings::default()),
            "user-centric" => SchedulerSettings::UserCentric(UserCentricSettings::default()),
            _ => return None,
        })
    }

    /// Its name, as files have it.
    pub fn name(&self) -> &'static str {
        match self {
            SchedulerSettings::None => "none",
            SchedulerSettings::K2(K2Settings { split: None, .. }) => "k2",
            SchedulerSettings::K2(K2Settings { max_inflight_ahead: Some(_), .. }) => "k2-ahead",
            SchedulerSettings::K2(_) => "k2-split",
            SchedulerSettings::MqDeadline(_) => "mq-deadline",
            SchedulerSettings::Kyber(_) => "kyber",
            SchedulerSettings::Bfq(_) => "bfq",
            SchedulerSettings::MinimalEffort(_) => "minimal-effort",
            SchedulerSettings::UserCentric(_) => "user-centric",
        }
    }

    /// Its work, in a line.
    pub fn summary(&self) -> &'static str {
        match self {
            SchedulerSettings::None => "requests in order of arrival",
            SchedulerSettings::K2(K2Settings { split: None, .. }) => {
                "real-time levels before the rest, with at most a fixed number of commands in flight"
            }
            SchedulerSettings::K2(K2Settings { max_inflight_ahead: Some(_), .. }) => {
                "k2-split that knows when real-time requests may come, and cuts to end before"
            }
            SchedulerSettings::K2(_) => "k2 with one command inside, and long requests cut",
            SchedulerSettings::MqDeadline(_) => "Linux's: by position in batches, what waits too long first, by class",
            SchedulerSettings::Kyber(_) => "Linux's: as many reads and writes at a time as keep to targets of latency",
            SchedulerSettings::Bfq(_) => {
                "Linux's with slice_idle 0 and low_latency 0: a queue for each job, which share bytes by weight"
            }
            SchedulerSettings::MinimalEffort(_) => "reads first, and in each slice as many writes as are asked for",
            SchedulerSettings::UserCentric(_) => "what users wait for goes first, on each core and among cores",
        }
    }

    /// Parameters of Linux's scheduler that are fixed here, with their values.
    pub fn stands_for(&self) -> Option<&'static str> {
        matches!(self, SchedulerSettings::Bfq(_)).then_some("slice_idle 0, low_latency 0 (a kernel has 8 and 1)")
    }

    /// Commands that may be inside while a real-time request waits; `None` for any number.
    pub fn max_inflight(&self) -> Option<u32> {
        match self {
            SchedulerSettings::K2(k2) => Some(k2.max_inflight),
            _ => None,
        }
    }

    /// A scheduler with nothing in it.
    pub fn scheduler(&self) -> Box<dyn Scheduler> {
        match *self {
            SchedulerSettings::None => Box::new(Noop::default()),
            SchedulerSettings::K2(settings) => Box::new(K2::new(settings)),
            SchedulerSettings::MqDeadline(settings) => Box::new(MqDeadline::new(settings)),
            SchedulerSettings::Kyber(settings) => Box::new(Kyber::new(settings)),
            SchedulerSettings::Bfq(settings) => Box::new(Bfq::new(settings)),
            SchedulerSettings::MinimalEffort(settings) => Box::new(MinimalEffort::new(settings)),
            SchedulerSettings::UserCentric(settings) => Box::new(UserCentric::new(settings)),
        }
    }
}

/// Whether a request is limited in its tags by mq-deadline and BFQ: all but reads that a process
/// waits for.
fn is_limited(request: &Command, buffered: bool) -> bool {
    buffered || matches!(request.op, Op::Write | Op::Discard)
}

/// The limit of a share of the bitmap, at least one. By [`Kernel::V6_12`] it is a share of
/// `nr_requests`, as the scheduler knows it; by [`Kernel::V6_5`] one of each word.
fn share_of_tags(host: &Host, share: impl Fn(u32) -> u32) -> u32 {
    let of = match host.kernel {
        Kernel::V6_5 => host.tags_of_word(),
        Kernel::V6_12 => host.requests_known(),
    };
    share(of).max(1)
}

/// A time in milliseconds.
const fn ms(milliseconds: u32) -> Span {
    Span::from_us(milliseconds * 1_000)
}
