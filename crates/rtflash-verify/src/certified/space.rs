//! Whether data fit: docs/analysis.md, Sections 7 and 16.

use rtflash_model::{Cluster, Placement, TaskSet};

/// Whether the data fit: Eqs. (51) and (52), and (78) where tasks own zones.
pub(super) fn data_fits(set: &TaskSet, cluster: &Cluster, placement: Placement) -> bool {
    let device = set.device();
    let physical = u64::from(device.blocks_per_chip()) * u64::from(device.pages_per_block());
    let chip = u128::from(device.logical_ratio().floor_of(physical));
    let size = cluster.size();
    let data = cluster.tasks.iter().map(|&task| set.tasks()[task].kept_pages());
    match placement {
        Placement::Stripe | Placement::CachedStripe => {
            data.map(|pages| u128::from(pages.div_ceil(size.into()))).sum::<u128>() <= chip
        }
        Placement::Zoned => {
            // Each owns the zones that its data fill, and one more if it writes.
            let zone = u128::from(size) * u128::from(device.pages_per_block());
            let tasks = cluster.tasks.iter().map(|&task| &set.tasks()[task]);
            let zones = tasks.map(|task| {
                let filled = u128::from(task.data_pages.unwrap_or(1)).div_ceil(zone);
                if task.write.is_some() { filled + 1 } else { filled }
            });
            zones.sum::<u128>() <= (device.blocks_per_chip() - device.spare_blocks()).into()
        }
        Placement::Superblock | Placement::CachedSuperblock => {
            data.map(u128::from).sum::<u128>() <= u128::from(size) * chip
        }
    }
}
