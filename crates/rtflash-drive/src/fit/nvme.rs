//! A drive that works on several commands at a time: a controller, and a latency behind it.

use std::collections::BTreeMap;

use rtflash_host::Op;
use rtflash_host::run::{CommandCost, Costs, HostDevice, Nvme};
use rtflash_model::{Span, read_device};

use super::episodes::FittedSlow;
use super::line::SizeLine;
use super::{MIN_COMMANDS, span};
use crate::numbers::rounded;
use crate::sample::Measurement;
use crate::statistics::median;

/// The flash of a fitted drive, in a task set's terms. The measured times contain the real flash,
/// so each operation of this one takes 1 ns.
pub(crate) const FLASH: &str = r#"{ "chips": 1, "chips_per_channel": 1, "blocks_per_chip": 64, "pages_per_block": 64,
    "page_size": 4194304, "logical_ratio": 0.5, "page_read": "1ns", "page_program": "1ns", "block_erase": "1ns",
    "page_transfer": "1ns" }"#;

/// The least number of commands in flight that states a throughput.
const MIN_IN_FLIGHT: u32 = 4;

/// A share of a lone command's time: a shorter latency is none.
const MIN_LATENCY: u64 = 20;

/// Whether bytes move one command at a time, or over several channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ByteMoves {
    /// The controller moves them.
    InTurn,
    /// They add to the latency behind it.
    AtOnce,
}

/// A drive with a controller; `None` if no operation has commands enough in flight, or if a command
/// holds up the others for all of its time.
pub(super) fn nvme(of: &Measurement, lines: &[SizeLine; 2], slow: FittedSlow, bytes: ByteMoves) -> Option<HostDevice> {
    let [reads, writes] = [Op::Read, Op::Write].map(|op| least_share(of, op));
    let costs = |line: &SizeLine, least: Option<ControllerShare>, slow| {
        let (first, per_kib) = (rounded(line.first).max(1), line.cost(None).per_kib);
        // The controller's time without the bytes that it moves.
        let controller = least.map_or(first, |least| match bytes {
            ByteMoves::InTurn => least.ns.saturating_sub(line.bytes(least.size)),
            ByteMoves::AtOnce => least.ns,
        });
        let controller = controller.clamp(1, first);
        let latency = Span::from_ns(first - controller).unwrap_or(Span::ZERO);
        let (per_kib, latency_per_kib) = match bytes {
            ByteMoves::InTurn => (per_kib, Span::ZERO),
            ByteMoves::AtOnce => (Span::ZERO, per_kib),
        };
        let cost = CommandCost { controller: span(controller), per_kib, latency, latency_per_kib, slow };
        Costs { sequential: cost, random: cost }
    };
    let read = costs(&lines[0], reads, slow.both.or(slow.read));
    let write = costs(&lines[1], writes, slow.both.or(slow.write));
    let is_serial = |costs: &Costs| {
        let CommandCost { controller, latency, .. } = costs.random;
        latency.as_ns() * MIN_LATENCY < controller.as_ns() + latency.as_ns()
    };
    if is_serial(&read) && is_serial(&write) {
        return None;
    }
    let flash = read_device(FLASH).expect("a device: a test reads it");
    let mut nvme = Nvme::new(&flash, None, read, write).expect("a small flash: a test runs it");
    nvme.inside = of.most_in_flight;
    nvme.ends_within = of.largest.iter().map(|of| of.ns).max().map(span);
    Some(HostDevice::Nvme(Box::new(nvme)))
}

/// The least time between two ends of commands of a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ControllerShare {
    size: u64,
    ns: u64,
}

/// The least time from the end of one command of an operation to that of the next. With n commands
/// in flight, one ends every n-th of their residence (J. D. C. Little, Operations Research 9,
/// 1961), and that is no less than the controller takes. The least over all n counts.
fn least_share(of: &Measurement, op: Op) -> Option<ControllerShare> {
    let mut shares: BTreeMap<(u64, u32), Vec<u64>> = BTreeMap::new();
    for round in &of.rounds {
        // Commands in a row of one operation and size: a command among others shares their time.
        let (mut alike, mut before) = (0, None);
        for done in round {
            let kind = (done.op, done.size);
            alike = if before.replace(kind) == Some(kind) { alike + 1 } else { 1 };
            let in_flight = done.others + 1;
            if done.op == op && in_flight >= MIN_IN_FLIGHT && alike > done.others {
                shares.entry((done.size, in_flight)).or_default().push(done.residence() / u64::from(in_flight));
            }
        }
    }
    let enough = shares.into_iter().filter(|(_, shares)| shares.len() >= MIN_COMMANDS / 2);
    // The smallest size says most about a command without its bytes.
    enough.filter_map(|((size, _), shares)| Some(ControllerShare { size, ns: median(shares)? })).min()
}
