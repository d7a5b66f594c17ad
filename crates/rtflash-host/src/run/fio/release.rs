//! The releases of a section's jobs.

use rtflash_model::{Instant, Span};

use super::options::{NamedFault, SectionOptions, fault};
use crate::run::job::{JobPace, ThinkAfter};
use crate::run::read::MAX_COMMANDS;

/// The options of a section for its releases.
pub(super) struct FioReleases {
    pub(super) depth: u32,
    pub(super) think: Span,
    pub(super) think_after: ThinkAfter,
    pub(super) paces: [Option<JobPace>; 3],
    pub(super) is_poisson: bool,
    pub(super) phase: Instant,
    pub(super) until: Option<Instant>,
    pub(super) is_time_based: bool,
    pub(super) ramp: Span,
}

impl FioReleases {
    /// The engine waits for each I/O if `waits`. `smallest` has the smallest sizes of reads, writes
    /// and trims, which `bssplit` states if `is_split`.
    pub(super) fn new(
        options: &SectionOptions,
        waits: bool,
        smallest: [u64; 3],
        is_split: bool,
    ) -> Result<FioReleases, NamedFault> {
        let depth = options.within("iodepth", 1, MAX_COMMANDS)?.unwrap_or(1);
        let depth = if waits { 1 } else { depth };
        let think = options.microseconds("thinktime")?.unwrap_or(Span::ZERO);
        let blocks = options.within("thinktime_blocks", 1, u32::MAX.into())?;
        let time = options.microseconds("thinktime_iotime")?.filter(|&time| time > Span::ZERO);
        let think_after = match (time, blocks.unwrap_or(1)) {
            _ if think == Span::ZERO => ThinkAfter::Each,
            (Some(time), _) => ThinkAfter::Time(time),
            (None, 1) if depth == 1 => ThinkAfter::Each,
            (None, blocks) => ThinkAfter::Ios(blocks),
        };
        let paces = paces(options, smallest, is_split)?;
        let is_poisson = match options.get("rate_process") {
            None | Some("linear") => false,
            Some("poisson") => paces.iter().any(Option::is_some),
            Some(other) => {
                return Err(fault("rate_process", format!("`rate_process` is `{other}`"), "`linear` or `poisson`"));
            }
        };
        let phase = Instant::START.saturating_add(start(options)?);
        let ramp = options.seconds("ramp_time")?.unwrap_or(Span::ZERO);
        let runtime = options.seconds("runtime")?.filter(|&runtime| runtime > Span::ZERO);
        let until = runtime.map(|runtime| phase.checked_add(ramp)?.checked_add(runtime));
        if until == Some(None) {
            let expected = "less than 2^63 ns with `startdelay`";
            return Err(fault("runtime", "it ends later than there is time", expected));
        }
        let (until, is_time_based) = (until.flatten(), options.flag("time_based") && runtime.is_some());
        Ok(FioReleases { depth, think, think_after, paces, is_poisson, phase, until, is_time_based, ramp })
    }
}

/// The begin by `startdelay`. A range begins at its first time.
fn start(options: &SectionOptions) -> Result<Span, NamedFault> {
    let Some((first, last)) = options.get("startdelay").and_then(|text| text.split_once('-')) else {
        return Ok(options.seconds("startdelay")?.unwrap_or(Span::ZERO));
    };
    let seconds = |text: &str| super::units::time(text, 1_000_000_000);
    let range = seconds(first).zip(seconds(last)).filter(|(first, last)| first <= last);
    let expected = "a time, such as 10 or 500ms, or a range of times";
    range.map(|(first, _)| first).ok_or_else(|| fault("startdelay", "`startdelay` is no range of times", expected))
}

/// The pace of reads, writes and trims.
fn paces(options: &SectionOptions, smallest: [u64; 3], is_split: bool) -> Result<[Option<JobPace>; 3], NamedFault> {
    let above_zero = |rate: Option<u64>| rate.filter(|&rate| rate > 0);
    let (bytes, ios) = (options.lists("rate")?.map(above_zero), options.lists("rate_iops")?.map(above_zero));
    if bytes.iter().any(Option::is_some) && ios.iter().any(Option::is_some) {
        return Err(fault("rate_iops", "`rate` and `rate_iops`", "one of both"));
    }
    // I/Os a second of a range of sizes are bytes a second of its smallest one. I/Os of other sizes
    // are counted (`__setup_rate` of init.c, `usec_for_io` of backend.c).
    let pace = |kind: usize| match ios[kind] {
        Some(ios) if is_split => Some(JobPace::Ios(ios)),
        Some(ios) => Some(JobPace::Bytes(ios.saturating_mul(smallest[kind]))),
        None if options.get("rate_process") == Some("poisson") => {
            bytes[kind].map(|bytes| JobPace::Ios((bytes / smallest[kind]).max(1)))
        }
        None => bytes[kind].map(JobPace::Bytes),
    };
    Ok([pace(0), pace(1), pace(2)])
}
