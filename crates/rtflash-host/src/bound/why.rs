//! Why a job has no bound.

use std::fmt;

use rtflash_model::{Span, format_ns};

use super::response::ResponseWork;

/// Why a job has no bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// A rule of the scheduler, from which no bound follows here.
    Scheduler {
        /// Its name.
        name: &'static str,
    },
    /// Requests may have to wait for tags, where class and level count for nothing.
    Tags {
        /// Tags that all jobs together can want; `None` for more than can be counted.
        wanted: Option<u64>,
        /// Tags in all.
        there: u32,
    },
    /// The scheduler limits the tags of real-time requests, which can have to wait for one.
    Limited {
        /// Tags that all jobs together can want; `None` for more than can be counted.
        wanted: Option<u64>,
        /// Tags that such requests can hold.
        limit: u32,
    },
    /// The I/Os of more urgent jobs may keep the device busy for ever, or for longer than time is
    /// counted.
    Overload {
        /// Their share of what the device does, in thousandths, rounded down.
        thousandths: u64,
    },
    /// An I/O of a real-time job with a period may not have ended when the next one comes.
    Late {
        /// That job's name.
        job: String,
        /// Its bound, or why it has none.
        takes: Result<Span, Box<Why>>,
        /// The least time between two of its releases.
        apart: Span,
    },
    /// Requests that come later may become part of one that goes ahead of its own, or of its own.
    Merged {
        /// The job whose requests may be merged.
        job: String,
    },
    /// The device does not say how long a command takes at most.
    Unlimited,
    /// A command that comes later can join a batch and delay its end: k2-ahead foretells ends, and
    /// the proof of H4 has no batches.
    Batches,
    /// The device does not state how it is attached, and more commands than its depth can be out of
    /// the scheduler.
    Attach {
        /// How many the scheduler lets out; `None` for any number.
        handed: Option<u32>,
        /// The device's depth.
        depth: u32,
    },
    /// The device's driver issues commands from lists, some of which it puts aside.
    List,
    /// A job releases I/Os by chance, any number of them in any time.
    Chance {
        /// That job's name.
        job: String,
    },
    /// A job flushes the device's cache, and flushes go ahead of all that is queued.
    Flushes {
        /// That job's name.
        job: String,
    },
    /// A job writes into memory, and the flusher takes tags as it pleases.
    Buffered {
        /// That job's name.
        job: String,
    },
    /// More commands may be handed over than the device says anything of.
    Beyond {
        /// How many commands may be inside by the scheduler; `None` for any number.
        handed: Option<u32>,
        /// How many the device speaks of.
        inside: u32,
    },
    /// The host may keep a request of a certified task for longer than the certificate allows, or
    /// the certificate does not hold: a sentence.
    Certificate(String),
    /// The search was given up.
    Work,
}

/// A time with three significant digits, rounded up: what a sentence says of a measurement. A bound
/// stays one by that.
pub fn three_digits(ns: u64) -> String {
    let mut unit = 1_u64;
    while ns / unit >= 1_000 {
        unit = unit.saturating_mul(10);
    }
    format_ns(ns.div_ceil(unit).saturating_mul(unit))
}

impl Why {
    /// Whether it is the device that bounds nothing.
    pub(super) fn is_of_device(&self) -> bool {
        matches!(self, Why::Unlimited | Why::Beyond { .. })
    }

    /// Whether a bound remains possible: none is derived from the scheduler's rules, the device
    /// does not state its times, or the search was given up.
    pub fn is_open(&self) -> bool {
        match self {
            Why::Scheduler { .. }
            | Why::Batches
            | Why::Unlimited
            | Why::Attach { .. }
            | Why::List
            | Why::Flushes { .. }
            | Why::Buffered { .. }
            | Why::Beyond { .. }
            | Why::Work => true,
            Why::Late { takes: Err(why), .. } => why.is_open(),
            _ => false,
        }
    }
}

/// The rule of a scheduler by which others go ahead of a real-time request.
fn rule(scheduler: &str) -> &'static str {
    match scheduler {
        "kyber" => "it serves all classes alike, and its depths follow the latencies that it measures",
        "bfq" => "others of the class are served for budgets, which the kernel adapts to their past",
        _ => "others may go ahead any number of times",
    }
}

const FLUSHES: &str = "which flushes the device's cache: a flush goes ahead of all that is queued, and takes as long \
                       as the cache takes to drain";
const BUFFERED: &str = "which is buffered: the kernel's flusher can hold all tags, and a buffered write waits while too \
                        many pages are dirty";

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::Scheduler { name } => write!(f, "no bound is derived for {name}: {}", rule(name)),
            Why::Tags { wanted: Some(wanted), there } => {
                write!(f, "requests may wait for tags: up to {wanted} are wanted, and there are {there}")
            }
            Why::Tags { wanted: None, there } => {
                write!(f, "requests may wait for tags: any number may be wanted, and there are {there}")
            }
            Why::Limited { wanted, limit } => {
                let wanted = wanted.map_or_else(|| "any number".to_owned(), |wanted| format!("up to {wanted}"));
                write!(f, "writes may wait for tags: {wanted} are wanted, and writes have {limit} (`async_depth`)")
            }
            Why::Overload { thousandths } => {
                let (percent, tenths) = (thousandths / 10, thousandths % 10);
                write!(f, "what goes ahead of it may never end: {percent}.{tenths} % of what the device does")
            }
            Why::Late { job, takes: Ok(takes), apart } => {
                let takes = three_digits(takes.as_ns());
                write!(f, "an I/O of `{job}` may take {takes}, and its next one may come {apart} after it")
            }
            Why::Late { job, takes: Err(why), apart } => {
                write!(f, "an I/O of `{job}` has no bound, and its next one may come {apart} after it: {why}")
            }
            Why::Merged { job } => {
                write!(f, "others may be merged with requests of `{job}`, which go ahead of it (`merge`)")
            }
            Why::Batches => f.write_str(
                "no bound is derived for k2-ahead and mq-deadline on a drive that takes commands together: a later command \
                 can delay the end of its batch",
            ),
            Why::Chance { job } => {
                write!(f, "`{job}` releases any number of I/Os in any time (`arrivals` `poisson`)")
            }
            Why::Unlimited => f.write_str("the device does not say in which time a command ends (`ends_within`)"),
            Why::Attach { handed, depth } => {
                let handed = handed.map_or_else(|| "any number".to_owned(), |handed| handed.to_string());
                write!(
                    f,
                    "the device does not state how it is attached (`attach`): commands out of the scheduler can be \
                     more than its depth of {depth}, and the scheduler lets out {handed}. State `attach`, or give k2 a \
                     `max_inflight` of {depth} at most"
                )
            }
            Why::List => f.write_str(
                "no bound is derived for the driver of a card without command queueing, which issues commands from \
                 lists, but for K2 with a `max_inflight` of 1",
            ),
            Why::Flushes { job } => write!(f, "no bound is derived beside `{job}`, {FLUSHES}"),
            Why::Buffered { job } => write!(f, "no bound is derived beside `{job}`, {BUFFERED}"),
            Why::Beyond { handed, inside } => {
                let handed = handed.map_or_else(|| "any number of".to_owned(), |handed| handed.to_string());
                write!(f, "commands handed over at once: {handed}; the device says what {inside} take (`inside`)")
            }
            Why::Certificate(problem) => f.write_str(problem),
            Why::Work => write!(f, "the search for a bound was given up after {} steps", ResponseWork::MOST),
        }
    }
}
