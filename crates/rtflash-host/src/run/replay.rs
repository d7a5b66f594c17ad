//! Commands of a recorded workload in front of a device, without a scheduler: what a device model
//! makes of a trace.

use rtflash_model::{Instant, Span};

use super::device::{Handed, HostDevice};
use crate::host::Host;
use crate::{Class, Command, Op};

/// A command of a recorded workload. Its process issued it some time after others ended, so a
/// device that is slower gets it later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplayedCommand {
    /// How many commands had ended before: of those in front of it in the list at most.
    pub after: usize,
    /// From the last of these ends (the start, where there is none) to its issue.
    pub gap: Span,
    /// Its operation.
    pub op: Op,
    /// Its first byte.
    pub from: u64,
    /// Bytes, above zero.
    pub size: u64,
    /// Whether it is the first of its I/O.
    pub is_first: bool,
}

/// Runs commands on a device, each issued in order, `gap` after its `after`-th end, as soon as
/// there is room: the time from issue to end of each.
pub fn replay(device: &HostDevice, commands: &[ReplayedCommand], seed: u64) -> Vec<Span> {
    let options = device.options(Instant::END, seed);
    let host = Host::default();
    let mut target = device.target(&host, &[], &options, false);
    let mut residences = vec![Span::ZERO; commands.len()];
    let (mut issued, mut ends) = (Vec::with_capacity(commands.len()), Vec::with_capacity(commands.len()));
    let (mut now, mut ended) = (Instant::START, Vec::new());
    loop {
        let next = commands.get(issued.len()).filter(|next| next.after <= ends.len() && target.has_room());
        let issue = next.map(|next| {
            let since = next.after.checked_sub(1).map_or(Instant::START, |last| ends[last]);
            now.max(since.saturating_add(next.gap))
        });
        let Some(at) = issue.into_iter().chain(target.next()).min() else { break };
        now = at;
        target.advance(now, &mut ended);
        for command in ended.drain(..) {
            let at = usize::try_from(command.id).expect("an index: invariant of the ids given below");
            residences[at] = now.since(issued[at]);
            ends.push(now);
        }
        if issue == Some(now) && target.has_room() {
            let next = commands[issued.len()];
            let command = Command {
                id: issued.len() as u64,
                op: next.op,
                from: next.from,
                size: next.size,
                class: Class::BestEffort,
                level: 4,
                cpu: 0,
                job: 0,
                user_centric: false,
            };
            target.take(Handed { command, is_first: next.is_first, queue: 0, fua: false }, now);
            issued.push(now);
        }
        // Commands issued at one instant go in together.
        let more = commands.get(issued.len()).is_some_and(|next| {
            let since = next.after.checked_sub(1).and_then(|last| ends.get(last).copied());
            let since = if next.after == 0 { Some(Instant::START) } else { since };
            target.has_room() && since.is_some_and(|since| since.saturating_add(next.gap) <= now)
        });
        if !more {
            target.settle(now);
        }
    }
    residences
}
