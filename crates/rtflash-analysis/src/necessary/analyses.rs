//! The necessary tests, under a name as analyses have one.

use rtflash_model::generate::PageCosts;
use rtflash_model::{Device, Task, TaskSet};

use crate::necessary::{impossible, impossible_with_zones};
use crate::{Analysis, ClusterTest, ClusterVerdict, Test};

/// The necessary tests (docs/analysis.md, Section 12): a no is a proof, and a yes promises nothing.
/// A cluster's test is that of its tasks on the whole device, each keeping a page where it declares
/// nothing. `AnyAllocation` of rtflash-alloc asks about whole sets.
#[derive(Debug, Clone, Copy, Default)]
pub struct Necessary;

/// By the tests that also hold on devices with zones: a bound of every analysis.
#[derive(Debug, Clone, Copy, Default)]
pub struct NecessaryWithZones;

macro_rules! necessary {
    ($kind:ty, $name:literal, $summary:literal) => {
        impl Analysis for $kind {
            fn name(&self) -> &'static str {
                $name
            }

            fn summary(&self) -> &'static str {
                $summary
            }

            fn page_costs(&self, device: &Device) -> PageCosts {
                PageCosts::transfer_on_top(device)
            }

            fn takes_commands(&self) -> bool {
                true
            }

            fn takes_deadlines(&self) -> bool {
                true
            }

            fn test(&self) -> Test<'_> {
                Test::Cluster(self)
            }
        }
    };
}

necessary!(
    Necessary,
    "necessary",
    "necessary tests: a no is a proof that no allocation will do (docs/analysis.md, Section 12)"
);
necessary!(
    NecessaryWithZones,
    "necessary-with-zones",
    "those of them that hold on devices with zones, too: a no is a proof that no allocation will do there either"
);

impl ClusterTest for Necessary {
    fn verdict(&self, device: &Device, tasks: &[&Task], _chips: u32) -> ClusterVerdict {
        let task = |task: &&Task| Task { data_pages: Some(task.kept_pages()), ..(*task).clone() };
        let set = TaskSet::new(*device, tasks.iter().map(task).collect(), Vec::new());
        let passes = set.is_ok_and(|set| impossible(&set, self.page_costs(device)).is_none());
        ClusterVerdict::new(passes, crate::fraction::Fraction::new(if passes { 0 } else { 2 }, 1))
    }
}

impl ClusterTest for NecessaryWithZones {
    fn verdict(&self, device: &Device, tasks: &[&Task], _chips: u32) -> ClusterVerdict {
        let set = TaskSet::new(*device, tasks.iter().map(|&task| task.clone()).collect(), Vec::new());
        let passes = set.is_ok_and(|set| impossible_with_zones(&set, self.page_costs(device)).is_none());
        ClusterVerdict::new(passes, crate::fraction::Fraction::new(if passes { 0 } else { 2 }, 1))
    }
}
