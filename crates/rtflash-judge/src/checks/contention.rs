//! Contention for the bus of chips under certificates: what others may make them wait.

use rtflash_model::{ChipId, ClusterId, PerId, Span};
use rtflash_plan::{Certified, ChannelId, Plan};
use rtflash_trace::Action;

#[derive(Debug, Clone, Copy)]
pub(crate) struct ChipContention {
    pub(crate) first: ChipId,
    pub(crate) stripe: bool,
    pub(crate) cached: bool,
    pub(crate) foreign_wait: Span,
    pub(crate) others: Span,
    /// The most of that in its cluster, and of the former.
    pub(crate) slowest: Span,
    pub(crate) foreign: Span,
    /// Chips of its cluster on its channel, itself included; and the most on one.
    pub(crate) own: u32,
    pub(crate) most: u32,
}

impl ChipContention {
    /// A page that a superblock reads waits for foreign chips alone.
    pub(crate) fn wait_in_registers(&self, action: Action) -> Span {
        if action == Action::Read && !self.stripe { self.foreign_wait } else { self.others }
    }
}

pub(crate) fn contentions(plan: &Plan, certified: &PerId<ClusterId, Certified>) -> PerId<ChipId, ChipContention> {
    let device = plan.device();
    let moving = |chips: u32| plan.transfers(chips);
    let none = ChipContention {
        first: ChipId(0),
        stripe: false,
        cached: false,
        foreign_wait: Span::ZERO,
        others: Span::ZERO,
        slowest: Span::ZERO,
        foreign: Span::ZERO,
        own: 0,
        most: 0,
    };
    let mut places = plan.per_chip(none);
    for (cluster, by) in plan.clusters().iter().zip(certified) {
        let mut own = plan.per_channel(0_u32);
        cluster.chips.iter().for_each(|&chip| own[plan.channel_of(chip)] += 1);
        let others = |chip: ChipId| device.chips_on(plan.channel_of(chip).0) - 1;
        let slowest = moving(cluster.chips.iter().map(|&chip| others(chip)).max().expect("a cluster has chips"));
        let foreign_of = |channel: ChannelId| moving(device.chips_on(channel.0) - own[channel]);
        let on = || cluster.chips.iter().map(|&chip| plan.channel_of(chip));
        let foreign = on().map(foreign_of).max().expect("a cluster has chips");
        let most = on().map(|channel| own[channel]).max().expect("a cluster has chips");
        let (stripe, cached) = (by.is_stripe(), by.is_cached());
        for &chip in &cluster.chips {
            let channel = plan.channel_of(chip);
            places[chip] = ChipContention {
                first: if stripe { chip } else { cluster.chips[0] },
                stripe,
                cached,
                foreign_wait: foreign_of(channel),
                others: moving(others(chip)),
                slowest,
                foreign,
                own: own[channel],
                most,
            };
        }
    }
    places
}
