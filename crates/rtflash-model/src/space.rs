//! Whether data fit: the logical pages that tasks keep, and those that a cluster has
//! (docs/analysis.md, Section 7).

use crate::certificate::Placement;
use crate::device::Device;
use crate::ids::TaskId;
use crate::task::Task;
use crate::task_set::TaskSet;

/// A cluster's data beside its room. Timing says nothing of either.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// Pages that each task declares ([`Task::data_pages`]), and one if it declares nothing;
    /// zero in the thesis's cluster, whose analyses are asked only for what was declared.
    pub data_pages: u128,
    /// As many, in a stripe of s chips s·⌈data/s⌉ for each task, as ranges are whole rows, and with
    /// zones of sP pages all pages of [`Task::zones`].
    pub needed_pages: u128,
    /// s⌊λNP⌋; with zones, which keep nothing in reserve, s(N − N_s)P.
    pub logical_pages: u128,
    /// Whether a task of the cluster declares its data.
    pub declared: bool,
}

impl Space {
    /// Eqs. (51), (52) and (78), by the certificate's `placement`; `None` is the thesis's cluster,
    /// whose data may take every logical page.
    pub fn new<'t>(
        device: &Device,
        tasks: impl IntoIterator<Item = &'t Task>,
        chips: u32,
        placement: Option<Placement>,
    ) -> Space {
        let row = match placement {
            Some(Placement::Stripe | Placement::CachedStripe) => u64::from(chips.max(1)),
            Some(Placement::Superblock | Placement::CachedSuperblock | Placement::Zoned) | None => 1,
        };
        let zone = placement.filter(|placement| placement.is_zoned()).map(|_| device.zone_pages(chips));
        let logical_pages = match zone {
            Some(zone) => u128::from(zone) * u128::from(device.blocks_per_chip() - device.spare_blocks()),
            None => device.logical_pages_of(chips),
        };
        let mut space = Space { data_pages: 0, needed_pages: 0, logical_pages, declared: false };
        // Below 2⁶⁴ pages of fewer than 2³² tasks, rounded up to at most 2²⁰ more each: no sum
        // comes near 2¹²⁸.
        for task in tasks {
            let pages = task.kept_pages();
            space.data_pages += u128::from(pages);
            space.needed_pages += match zone {
                Some(zone) => u128::from(task.zones(zone)) * u128::from(zone),
                None => u128::from(pages.div_ceil(row)) * u128::from(row),
            };
            space.declared |= task.data_pages.is_some();
        }
        if placement.is_none() && !space.declared {
            (space.data_pages, space.needed_pages) = (0, 0);
        }
        space
    }

    /// Whether the data fit.
    pub fn fits(&self) -> bool {
        self.needed_pages <= self.logical_pages
    }

    /// Pages that are missing: zero where the data fit.
    pub fn missing_pages(&self) -> u128 {
        self.needed_pages.saturating_sub(self.logical_pages)
    }
}

impl Device {
    /// ⌊λNP⌋, where N is the number of blocks on a chip: logical pages of one chip. May be zero.
    pub fn logical_pages_per_chip(&self) -> u64 {
        self.logical_ratio().floor_of(u64::from(self.blocks_per_chip()) * u64::from(self.pages_per_block()))
    }

    /// s⌊λNP⌋: what the data have to fit in, under every analysis.
    pub fn logical_pages_of(&self, chips: u32) -> u128 {
        u128::from(chips) * u128::from(self.logical_pages_per_chip())
    }

    /// sP: pages of a zone of a cluster of `chips` chips, a block on each of them.
    pub fn zone_pages(&self, chips: u32) -> u64 {
        u64::from(chips.max(1)) * u64::from(self.pages_per_block())
    }

    /// The size of `pages` pages in bytes.
    pub fn bytes(&self, pages: u128) -> u128 {
        pages.saturating_mul(self.page_size().into())
    }
}

impl TaskSet {
    /// `placement` as in [`Space::new`].
    pub fn space(&self, tasks: &[TaskId], chips: u32, placement: Option<Placement>) -> Space {
        Space::new(self.device(), tasks.iter().filter_map(|&task| self.tasks().get(task)), chips, placement)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DeviceSpec, Request, Span};

    /// Tasks with such data on the thesis's device, λNP = 131,072 pages a chip.
    fn set(chips: u32, data: &[Option<u64>]) -> TaskSet {
        let device = Device::new(DeviceSpec { chips, ..Device::profile("dgist-2021").unwrap().spec() }).unwrap();
        let read = Request::new(1, Span::from_us(1000));
        let task = |(index, &data_pages)| Task { name: format!("t{index}"), read, write: None, data_pages };
        TaskSet::new(device, data.iter().enumerate().map(task).collect(), vec![]).unwrap()
    }

    #[test]
    fn data_fit_up_to_the_last_logical_page() {
        let set = set(4, &[Some(400_000), Some(400_000), Some(262_144), None]);
        let space = |tasks: &[u32], chips, placement| {
            set.space(&tasks.iter().copied().map(TaskId).collect::<Vec<_>>(), chips, placement)
        };
        let both = space(&[0, 1], 4, None);
        assert_eq!((both.data_pages, both.needed_pages, both.logical_pages), (800_000, 800_000, 524_288));
        assert!(!both.fits() && both.declared && both.missing_pages() == 275_712);
        assert_eq!(set.device().bytes(both.data_pages), 800_000 * 8192);
        assert!(space(&[2], 2, None).fits());
        assert_eq!(space(&[2], 2, None).missing_pages(), 0);
        // A task that declares nothing keeps a page, of which there is none left.
        assert_eq!(space(&[2, 3], 2, None).missing_pages(), 1);
        let silent = |placement| space(&[3], 2, placement);
        assert_eq!((silent(None).declared, silent(None).data_pages), (false, 0));
        assert_eq!(silent(Some(Placement::Superblock)).data_pages, 1);
    }

    /// Two chips have zones of 512 pages: 1,024 of them.
    #[test]
    fn who_writes_owns_a_zone_more() {
        let set = set(2, &[Some(512 * 500), Some(513), Some(10_000), None]);
        let writes = |task: &Task| Task { write: Request::new(1, Span::from_us(1000)), ..task.clone() };
        let space = |tasks: &[&Task]| Space::new(set.device(), tasks.iter().copied(), 2, Some(Placement::Zoned));
        let [long, short, other, silent] = [0, 1, 2, 3].map(|task| &set.tasks()[TaskId(task)]);
        let zones = |task: &Task| space(&[task]).needed_pages / 512;
        assert_eq!([long, short, other, silent].map(zones), [500, 2, 20, 1]);
        assert_eq!([long, short, silent].map(|task| zones(&writes(task))), [501, 3, 2]);
        let long = &writes(long);
        let full = space(&[long, other, long, &writes(silent)]);
        assert!(full.fits() && full.needed_pages == 1_024 * 512);
        let more = space(&[long, other, long, &writes(silent), silent]);
        assert_eq!((more.missing_pages(), more.logical_pages), (512, 1_024 * 512));
    }

    #[test]
    fn a_stripe_rounds_each_task_up_to_whole_rows() {
        let set = set(3, &[Some(131_072 * 3 - 2), Some(1), Some(1)]);
        let space =
            |tasks: &[u32], placement| set.space(&tasks.iter().copied().map(TaskId).collect::<Vec<_>>(), 3, placement);
        assert!(space(&[0, 1, 2], Some(Placement::Superblock)).fits() && space(&[0, 1, 2], None).fits());
        let stripe = space(&[0, 1, 2], Some(Placement::Stripe));
        assert_eq!((stripe.data_pages, stripe.needed_pages, stripe.missing_pages()), (393_216, 393_222, 6));
        assert!(space(&[0], Some(Placement::Stripe)).fits());
    }
}
