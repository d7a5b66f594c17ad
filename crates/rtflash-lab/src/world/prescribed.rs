//! Clusters whose organisation is given, stripes beside superblocks or with two page registers:
//! algorithms for searches alone.

use rtflash_alloc::allocator::{Allocator, EqualSplit, Global, Limit, Outcome};
use rtflash_analysis::{Analysis, Work};
use rtflash_model::{Allocation, Cluster, Placement, TaskSet};

/// Another algorithm's, each with a placement that follows from its position.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prescribed {
    name: &'static str,
    is_global: bool,
    superblocks: Superblocks,
    caches: bool,
    /// Whether every second cluster's tasks own zones, the first one's among them.
    zones: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Superblocks {
    None,
    EverySecond,
    All,
}

const STRIPES: Prescribed =
    Prescribed { name: "", is_global: false, superblocks: Superblocks::None, caches: false, zones: false };

/// Every second cluster a superblock.
pub(super) static ALTERNATING: Prescribed =
    Prescribed { name: "alternating", superblocks: Superblocks::EverySecond, ..STRIPES };

/// Every second cluster one of zones, the others stripes.
pub(super) static ZONES_BESIDE_STRIPES: Prescribed =
    Prescribed { name: "zones-beside-stripes", zones: true, ..STRIPES };

/// [`ALTERNATING`] and four other allocations, with two page registers.
static CACHED: [Prescribed; 5] = {
    const SPLIT: Prescribed = Prescribed { name: "cached-split", caches: true, ..STRIPES };
    const ROWS: Prescribed = Prescribed { name: "cached-rows-split", superblocks: Superblocks::All, ..SPLIT };
    [
        Prescribed { name: "cached-alternating", superblocks: Superblocks::EverySecond, ..SPLIT },
        Prescribed { name: "cached-global", is_global: true, ..SPLIT },
        SPLIT,
        Prescribed { name: "cached-rows-global", is_global: true, ..ROWS },
        ROWS,
    ]
};

impl Prescribed {
    pub(super) fn named(name: &str) -> Option<&'static Prescribed> {
        [&ALTERNATING, &ZONES_BESIDE_STRIPES].into_iter().chain(&CACHED).find(|one| one.name == name)
    }

    /// That is like this algorithm, where all clusters are superblocks or the algorithm says which.
    pub(super) fn cached(like: &dyn Allocator, superblocks: bool) -> &'static Prescribed {
        let superblocks = match like.name() {
            _ if superblocks => Superblocks::All,
            name if name == ALTERNATING.name => Superblocks::EverySecond,
            _ => Superblocks::None,
        };
        let is_global = like.name() == Global.name();
        let found = CACHED.iter().find(|one| (one.is_global, one.superblocks) == (is_global, superblocks));
        found.expect("there is one of each kind")
    }

    pub(super) fn divides(&self) -> &'static dyn Allocator {
        if self.is_global { &Global } else { &EqualSplit }
    }

    pub(super) fn placements(&self, clusters: &[Cluster]) -> Vec<Placement> {
        let of = |position: usize| {
            let rows = match self.superblocks {
                Superblocks::None => false,
                Superblocks::EverySecond => position % 2 == 1,
                Superblocks::All => true,
            };
            match (rows, self.caches && position % 4 != 2) {
                (true, true) => Placement::CachedSuperblock,
                (true, false) => Placement::Superblock,
                (false, true) => Placement::CachedStripe,
                (false, false) if self.zones && position.is_multiple_of(2) => Placement::Zoned,
                (false, false) => Placement::Stripe,
            }
        };
        (0..clusters.len()).map(of).collect()
    }
}

impl Allocator for Prescribed {
    fn name(&self) -> &'static str {
        self.name
    }

    fn summary(&self) -> &'static str {
        "clusters whose organisation is prescribed"
    }

    fn divide(&self, set: &TaskSet, analysis: &dyn Analysis, work: &Work) -> Outcome {
        let outcome = self.divides().divide(set, analysis, work);
        let none = Outcome::CannotTell(Limit::TestGivenUp);
        let (Some(allocation), Some(test)) = (outcome.allocation(), analysis.demand_test()) else { return none };
        let clusters = allocation.clusters();
        let certified = test.certify(set, &clusters, &self.placements(&clusters), work);
        let allocation = Allocation::new(set.device().chips(), set.tasks().count() as usize, &clusters);
        match allocation {
            Ok(allocation) if certified.failing.is_empty() && !certified.given_up => {
                Outcome::Schedulable(allocation.with_certificates(certified.certificates))
            }
            _ => none,
        }
    }
}
