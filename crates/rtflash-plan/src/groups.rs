//! Which clusters have to be run together.

use crate::ids::{ChannelId, ClusterId, PerId};
use crate::options::{Options, Service};
use crate::plan::Plan;

/// Clusters that share a channel, directly or through others, ascending. Background jobs, which go
/// to the least loaded cluster, tie all together.
pub fn groups(plan: &Plan, options: &Options) -> Vec<Vec<ClusterId>> {
    let clusters = || plan.clusters().ids();
    if (options.service == Service::Background && !plan.jobs().is_empty()) || plan.clusters().is_empty() {
        return vec![clusters().collect()];
    }
    // The group of a channel is the lowest cluster known to be on it, found through its leaders.
    let mut leader: PerId<ClusterId, ClusterId> = clusters().collect();
    let mut on_channel: PerId<ChannelId, Option<ClusterId>> = plan.per_channel(None);
    for (position, cluster) in plan.clusters().enumerate() {
        for &chip in &cluster.chips {
            let channel = plan.channel_of(chip);
            match on_channel[channel] {
                None => on_channel[channel] = Some(position),
                Some(other) => {
                    let (a, b) = (lead(&mut leader, other), lead(&mut leader, position));
                    leader[a.max(b)] = a.min(b);
                }
            }
        }
    }
    let mut by_leader: PerId<ClusterId, Vec<ClusterId>> = plan.per_cluster(Vec::new());
    for position in clusters() {
        by_leader[lead(&mut leader, position)].push(position);
    }
    let groups: Vec<Vec<ClusterId>> = by_leader.iter().filter(|group| !group.is_empty()).cloned().collect();
    if groups.len() <= MAX_GROUPS {
        return groups;
    }
    // Observers are as large as the device: more of them would not fit into memory.
    let mut bundles: Vec<Vec<ClusterId>> = vec![Vec::new(); MAX_GROUPS];
    groups.into_iter().enumerate().for_each(|(number, group)| bundles[number % MAX_GROUPS].extend(group));
    bundles.iter_mut().for_each(|bundle| bundle.sort_unstable());
    bundles
}

/// More groups are run several together.
const MAX_GROUPS: usize = 64;

fn lead(leader: &mut PerId<ClusterId, ClusterId>, mut of: ClusterId) -> ClusterId {
    while leader[of] != of {
        leader[of] = leader[leader[of]];
        of = leader[of];
    }
    of
}
