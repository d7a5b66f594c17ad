//! How long operations take where the device knows no more than two bounds.

use rtflash_model::random::Stream;
use rtflash_model::{ChipId, Instant, PerId, Span};
use rtflash_plan::{ChannelId, Options, Plan, SourceId, Times};
use rtflash_trace::{Action, JobId, Operation, Transfer};

/// A time of at most `max`, which may be `shorter` than that.
#[derive(Debug, Clone, Copy)]
struct RangedTime {
    max: Span,
    shorter: Span,
}

/// The quantities that are drawn independently: no length depends on another one.
#[derive(Debug, Clone, Copy)]
enum DrawnFor {
    Sensing,
    Programming,
    Transfer,
    Read,
    Program,
    Erase,
}

/// The lengths of the parts of operations: as the device states them, and within its ranges as the
/// [`ReleasePattern`](rtflash_plan::ReleasePattern) says of a request, or else [`Times`].
///
/// A length that is drawn depends on the seed, the part, where it is and when it begins. So it does
/// not depend on what happens elsewhere.
#[derive(Debug, Clone)]
pub struct Lengths {
    times: Times,
    seed: u64,
    parts: [RangedTime; 6],
    /// The lengths where they do not depend on anything.
    fixed: Option<[Span; 6]>,
    /// The pages stated for the requests of each source; `None` where nothing is of any.
    stated: Option<PerId<SourceId, Vec<u16>>>,
    /// t_c, which is never shorter.
    command: Span,
}

/// The unit in which [`ReleasePattern`](rtflash_plan::ReleasePattern) counts lengths.
const WHOLE: u64 = 1_000;

impl Lengths {
    /// The lengths of a plan's operations.
    pub fn new(plan: &Plan, options: &Options) -> Lengths {
        let (device, timing) = (plan.device(), plan.timing());
        // By how much times that are ranges may be shorter.
        let read = device.page_read().saturating_sub(device.page_read_min());
        let program = device.page_program().saturating_sub(device.page_program_min());
        let erase = device.block_erase().saturating_sub(device.block_erase_min());
        let transfer = device.page_transfer().saturating_sub(device.page_transfer_min());
        let length = |max: Span, shorter: Span| RangedTime { max, shorter: shorter.min(max) };
        let parts = [
            length(timing.sensing(), read),
            length(timing.programming(), program),
            length(timing.transfer(), transfer),
            length(device.page_read(), read),
            length(device.page_program(), program),
            length(device.block_erase(), erase),
        ];
        let stated = stated(plan, options);
        let is_exact = parts.iter().all(|part| part.shorter == Span::ZERO);
        let fixed = match options.times {
            _ if stated.is_some() => None,
            Times::Best => Some(parts.map(|part| part.max.saturating_sub(part.shorter))),
            Times::Worst => Some(parts.map(|part| part.max)),
            Times::Random => is_exact.then(|| parts.map(|part| part.max)),
        };
        let command = timing.command();
        Lengths { times: options.times, seed: options.seed, parts, fixed, stated, command }
    }

    /// The part of a read before its transfer, for this job on this chip, from then on.
    #[inline]
    pub fn sensing(&self, job: JobId, chip: ChipId, at: Instant) -> Span {
        self.length(job, DrawnFor::Sensing, chip.0, at)
    }

    /// The part of a program behind its transfer.
    #[inline]
    pub fn programming(&self, job: JobId, chip: ChipId, at: Instant) -> Span {
        self.length(job, DrawnFor::Programming, chip.0, at)
    }

    /// A page on the bus of this channel.
    #[inline]
    pub fn transfer(&self, job: JobId, channel: ChannelId, at: Instant) -> Span {
        self.length(job, DrawnFor::Transfer, channel.0, at)
    }

    /// A read inside the chip, as garbage collection copies.
    #[inline]
    pub fn read(&self, job: JobId, chip: ChipId, at: Instant) -> Span {
        self.length(job, DrawnFor::Read, chip.0, at)
    }

    /// A program inside the chip.
    #[inline]
    pub fn program(&self, job: JobId, chip: ChipId, at: Instant) -> Span {
        self.length(job, DrawnFor::Program, chip.0, at)
    }

    /// An erase.
    #[inline]
    pub fn erase(&self, job: JobId, chip: ChipId, at: Instant) -> Span {
        self.length(job, DrawnFor::Erase, chip.0, at)
    }

    /// The command of an operation on the bus: of a program it goes with the page, all others begin
    /// with it. Zero where commands are not counted.
    #[inline]
    pub fn command(&self) -> Span {
        self.command
    }

    /// The page of an operation is moved over the bus of this channel from now on: says when the
    /// operation ends, and gives the time on the bus, in which the command of a program is.
    #[inline]
    pub(crate) fn moves(&self, operation: &mut Operation, channel: ChannelId, now: Instant) -> Transfer {
        let Operation { cluster, chip, job, kind, .. } = *operation;
        let program = operation.action == Action::Program;
        let mut over = now.saturating_add(self.transfer(job, channel, now));
        operation.end = over;
        if program {
            over = over.saturating_add(self.command);
            operation.end = over.saturating_add(self.programming(job, chip, over));
        }
        Transfer { start: now, end: over, channel, cluster, chip, job, kind }
    }

    #[inline(always)]
    fn length(&self, job: JobId, part: DrawnFor, place: u32, at: Instant) -> Span {
        match &self.fixed {
            Some(fixed) => fixed[part as usize],
            None => self.found(job, part, place, at),
        }
    }

    fn found(&self, job: JobId, part: DrawnFor, place: u32, at: Instant) -> Span {
        let RangedTime { max, shorter } = self.parts[part as usize];
        if let Some(stated) = self.stated(job) {
            let share = u128::from(shorter.as_ns()) * u128::from(WHOLE - stated) / u128::from(WHOLE);
            let share = u64::try_from(share).ok().and_then(Span::from_ns);
            return max.saturating_sub(share.expect("a share of a span"));
        }
        match self.times {
            Times::Worst => max,
            Times::Best => max.saturating_sub(shorter),
            Times::Random if shorter == Span::ZERO => max,
            Times::Random => max.saturating_sub(self.drawn(part, place, at, shorter)),
        }
    }

    #[inline]
    fn stated(&self, job: JobId) -> Option<u64> {
        let of = &self.stated.as_ref()?[job.source];
        let own = usize::try_from(job.index).ok().and_then(|index| of.get(index));
        own.or(of.last()).map(|&stated| u64::from(stated).min(WHOLE))
    }

    /// Anything from zero to `max`.
    #[cold]
    fn drawn(&self, part: DrawnFor, place: u32, at: Instant, max: Span) -> Span {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&self.seed.to_le_bytes());
        key[8..16].copy_from_slice(b"lengths\0");
        key[16..24].copy_from_slice(&at.as_ns().to_le_bytes());
        key[24..28].copy_from_slice(&place.to_le_bytes());
        key[28] = part as u8;
        Span::from_ns(Stream::new(key).below(max.as_ns() + 1)).expect("at max a span")
    }
}

fn stated(plan: &Plan, options: &Options) -> Option<PerId<SourceId, Vec<u16>>> {
    let pattern = options.releases.as_ref()?;
    let lengths: PerId<SourceId, Vec<u16>> = plan
        .sources()
        .iter()
        .map(|source| {
            let stated = pattern.of(source);
            stated.map_or_else(Vec::new, |stated| stated.lengths.clone())
        })
        .collect();
    lengths.iter().any(|stated| !stated.is_empty()).then_some(lengths)
}
