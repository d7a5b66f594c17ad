//! The longest times of steps and passes under a certificate.

use rtflash_model::{Device, Placement, Span};

use super::ClusterPlan;
use crate::ids::ChipId;

/// The longest times of steps, if each request for the bus waits for `wait`.
#[derive(Debug, Clone, Copy)]
pub struct StepSpans {
    /// c_r.
    pub read: Span,
    /// c_w.
    pub program: Span,
    /// A copy inside the chip.
    pub copy: Span,
    /// An erase of a block.
    pub erase: Span,
}

impl StepSpans {
    /// `None` where a step is too long.
    pub fn new(device: &Device, wait: Span) -> Option<StepSpans> {
        let command = if device.has_commands() { device.command().checked_add(wait)? } else { Span::ZERO };
        let page = wait.checked_add(device.page_transfer())?;
        let (read, program) = (device.page_read(), device.page_program());
        Some(StepSpans {
            read: command.checked_add(read)?.checked_add(page)?,
            // The command goes with the page.
            program: program.checked_add(page)?.checked_add(device.command())?,
            copy: command.checked_add(read)?.checked_add(program)?,
            erase: command.checked_add(device.block_erase())?,
        })
    }
}

/// In an array with two page registers, the page before on the bus; `None` if that is too long.
pub fn behind_a_page(device: &Device, wait: Span) -> Option<Span> {
    if device.has_commands() {
        let longest = device.page_read().max(device.page_transfer());
        return wait.checked_add(device.command())?.checked_add(longest);
    }
    Some(device.page_read().max(wait.checked_add(device.page_transfer())?))
}

/// (m_c − 1)·t_b with the m_c of the cluster's fullest channel.
pub(super) fn longest_wait(device: &Device, chips: &[ChipId]) -> Span {
    let fullest = chips.iter().map(|&chip| device.chips_on(device.channel_of(chip.0))).max();
    let others = fullest.expect("a cluster has chips") - 1;
    transfers(device, others)
}

/// The longest time that one request of each of this number of chips holds the bus.
pub(super) fn transfers(device: &Device, chips: u32) -> Span {
    let all = device.bus_hold().checked_mul(chips.into());
    all.expect("a transfer of each chip of a channel is checked with the device")
}

/// C_g: v(t_r + t_w) + t_e on a chip of a stripe; on a superblock n = min(v, P) reads, which wait
/// for each other on a channel, ⌈v/s⌉ rows and t_e; with commands as in Section 2.10.
pub(super) fn pass_cost(device: &Device, cluster: &ClusterPlan, placement: Placement, valid: u64) -> Option<Span> {
    let costs = StepSpans::new(device, cluster.page_delay)?;
    let copies = match placement {
        Placement::Stripe | Placement::CachedStripe | Placement::Zoned => costs.copy.checked_mul(valid)?,
        Placement::Superblock | Placement::CachedSuperblock => {
            let steps = valid.min(cluster.layout.pages().into());
            let channel = |chip: &ChipId| device.channel_of(chip.0);
            let own = |of: u32| cluster.chips.iter().filter(|&chip| channel(chip) == of).count();
            let foreign = cluster.chips.iter().map(channel).map(|of| device.chips_on(of) as usize - own(of)).max()?;
            let foreign = transfers(device, u32::try_from(foreign).ok()?).min(cluster.page_delay);
            let asks = if device.has_commands() { 2 } else { 1 };
            let beside = device.bus_hold().checked_mul(asks)?;
            let alone = StepSpans::new(device, foreign)?.read.max(beside);
            let apart = alone.checked_mul(steps)?.checked_add(beside.checked_mul(valid - steps)?)?;
            let reads = costs.read.checked_mul(steps)?.min(apart);
            let rows = costs.program.checked_mul(valid.div_ceil(cluster.layout.chips().into()))?;
            reads.checked_add(rows)?
        }
    };
    copies.checked_add(costs.erase)
}
