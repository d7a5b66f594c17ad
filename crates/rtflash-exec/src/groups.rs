//! Which clusters have to be run together.

use crate::options::{Options, Service};
use crate::plan::Plan;

/// The clusters (positions, ascending) that share a channel, directly or through others. Background
/// jobs, which go to the least loaded cluster, tie all clusters together.
pub fn groups(plan: &Plan, options: &Options) -> Vec<Vec<u32>> {
    let count = u32::try_from(plan.clusters().len()).unwrap_or(u32::MAX);
    if (options.service == Service::Background && !plan.jobs().is_empty()) || count == 0 {
        return vec![(0..count).collect()];
    }
    // The group of a channel is the lowest cluster known to be on it, found through its leaders.
    let mut leader: Vec<u32> = (0..count).collect();
    let mut on_channel: Vec<Option<u32>> = vec![None; plan.device().channels() as usize];
    for (cluster, position) in plan.clusters().iter().zip(0..) {
        for &chip in &cluster.chips {
            let channel = plan.device().channel_of(chip) as usize;
            match on_channel[channel] {
                None => on_channel[channel] = Some(position),
                Some(other) => {
                    let (a, b) = (lead(&mut leader, other), lead(&mut leader, position));
                    leader[a.max(b) as usize] = a.min(b);
                }
            }
        }
    }
    let mut groups: Vec<Vec<u32>> = vec![Vec::new(); count as usize];
    for position in 0..count {
        groups[lead(&mut leader, position) as usize].push(position);
    }
    groups.retain(|group| !group.is_empty());
    if groups.len() <= MOST {
        return groups;
    }
    // Observers are as large as the device: so many of them would not fit into memory.
    let mut bundles: Vec<Vec<u32>> = vec![Vec::new(); MOST];
    groups.into_iter().enumerate().for_each(|(number, group)| bundles[number % MOST].extend(group));
    bundles.iter_mut().for_each(|bundle| bundle.sort_unstable());
    bundles
}

/// Groups at most: more are run several together.
const MOST: usize = 64;

fn lead(leader: &mut [u32], mut of: u32) -> u32 {
    while leader[of as usize] != of {
        leader[of as usize] = leader[leader[of as usize] as usize];
        of = leader[of as usize];
    }
    of
}

/// For each channel, whether chips of several clusters are on it.
pub fn shared_channels(plan: &Plan) -> Vec<bool> {
    let mut first: Vec<Option<usize>> = vec![None; plan.device().channels() as usize];
    let mut shared = vec![false; first.len()];
    for (position, cluster) in plan.clusters().iter().enumerate() {
        for &chip in &cluster.chips {
            let channel = plan.device().channel_of(chip) as usize;
            match first[channel] {
                Some(other) if other != position => shared[channel] = true,
                _ => first[channel] = Some(position),
            }
        }
    }
    shared
}
