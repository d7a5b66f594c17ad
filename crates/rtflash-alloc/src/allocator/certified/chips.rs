//! Chips for clusters: compact ones on aligned parts of channels, the others on what is left.

use rtflash_model::{ChipId, Cluster, Device, TaskSet};

use super::organisations::{DemandHeld, Organisation};
use crate::allocator::sizes::TaskGroup;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChipLayout {
    InOrder,
    /// Every channel has about as much to move: beside busy chips come chips that move little.
    Balanced,
}

/// Chips left over as clusters of their own. `None` where the clusters do not pack.
pub(super) fn place(
    set: &TaskSet,
    groups: &[TaskGroup<DemandHeld>],
    layout: ChipLayout,
) -> Option<Vec<(Cluster, Option<Organisation>)>> {
    let device = set.device();
    let mut free = Free::new(device);
    let mut chips_of: Vec<Vec<ChipId>> = vec![Vec::new(); groups.len()];
    let mut compact: Vec<usize> =
        (0..groups.len()).filter(|&group| groups[group].held.organisation.is_compact()).collect();
    compact.sort_by_key(|&group| std::cmp::Reverse(groups[group].size));
    for group in compact {
        chips_of[group] = free.take_aligned(groups[group].size)?;
    }
    let mut others: Vec<usize> =
        (0..groups.len()).filter(|&group| !groups[group].held.organisation.is_compact()).collect();
    match layout {
        ChipLayout::InOrder => {
            for group in others {
                chips_of[group] = free.take(groups[group].size)?;
            }
        }
        ChipLayout::Balanced => {
            let rates: Vec<f64> = groups.iter().map(|group| transfers_a_second(set, group)).collect();
            others.sort_by(|&a, &b| rates[b].total_cmp(&rates[a]).then(a.cmp(&b)));
            let mut busy = vec![0.0; free.channels.len()];
            for group in others {
                for _ in 0..groups[group].size {
                    chips_of[group].push(free.take_from_least_loaded(&mut busy, rates[group])?);
                }
                chips_of[group].sort_unstable();
            }
        }
    }
    let named = groups.iter().zip(chips_of).map(|(group, chips)| {
        let mut tasks = group.tasks.clone();
        tasks.sort_unstable();
        (Cluster { chips, tasks }, Some(group.held.organisation))
    });
    let mut clusters: Vec<(Cluster, Option<Organisation>)> = named.collect();
    let rest = free.channels.concat();
    clusters.extend(rest.into_iter().map(|chip| (Cluster { chips: vec![chip], tasks: vec![] }, None)));
    clusters.sort_by_key(|(cluster, _)| cluster.chips.first().copied());
    Some(clusters)
}

fn transfers_a_second(set: &TaskSet, group: &TaskGroup<DemandHeld>) -> f64 {
    let tasks = group.tasks.iter().filter_map(|&task| set.tasks().get(task));
    let requests = tasks.flat_map(|task| [task.read, task.write]).flatten();
    let pages: f64 = requests.map(|request| request.pages() as f64 / request.period().as_ns() as f64).sum();
    pages * 1e9 / f64::from(group.size)
}

struct Free {
    channels: Vec<Vec<ChipId>>,
    ways: u32,
}

impl Free {
    fn new(device: &Device) -> Free {
        let ways = device.chips_per_channel();
        let starts = (0..device.chips()).step_by(ways as usize);
        let channels =
            starts.map(|start| (start..start.saturating_add(ways).min(device.chips())).map(ChipId).collect()).collect();
        Free { channels, ways }
    }

    /// Whole channels, or an aligned part of the fullest channel that has one.
    fn take_aligned(&mut self, chips: u32) -> Option<Vec<ChipId>> {
        let (whole, part) = (chips / self.ways, chips % self.ways);
        let mut taken = Vec::with_capacity(chips as usize);
        for channel in
            self.channels.iter_mut().filter(|channel| channel.len() == self.ways as usize).take(whole as usize)
        {
            taken.append(channel);
        }
        if part > 0 {
            let ways = self.ways;
            let run = |start: ChipId| (start.0..start.0 + part).map(ChipId);
            let start = |channel: &Vec<ChipId>| {
                let mut starts = channel.iter().copied().filter(|chip| (chip.0 % ways).is_multiple_of(part));
                starts.find(|&start| run(start).all(|chip| channel.contains(&chip)))
            };
            let fitting = self.channels.iter_mut().filter_map(|channel| start(channel).map(|start| (channel, start)));
            let (channel, start) = fitting.min_by_key(|(channel, start)| (channel.len(), *start))?;
            channel.retain(|chip| !(start.0..start.0 + part).contains(&chip.0));
            taken.extend(run(start));
        }
        taken.sort_unstable();
        (taken.len() == chips as usize).then_some(taken)
    }

    fn take(&mut self, chips: u32) -> Option<Vec<ChipId>> {
        let mut taken = Vec::with_capacity(chips as usize);
        for channel in &mut self.channels {
            let count = channel.len().min(chips as usize - taken.len());
            taken.extend(channel.drain(..count));
        }
        (taken.len() == chips as usize).then_some(taken)
    }

    fn take_from_least_loaded(&mut self, busy: &mut [f64], rate: f64) -> Option<ChipId> {
        let open = (0..self.channels.len()).filter(|&channel| !self.channels[channel].is_empty());
        let channel = open.min_by(|&a, &b| busy[a].total_cmp(&busy[b]).then(a.cmp(&b)))?;
        busy[channel] += rate;
        Some(self.channels[channel].remove(0))
    }
}
