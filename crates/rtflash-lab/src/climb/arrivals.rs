//! When the jobs of a request arrive.

/// When the jobs of a request arrive, and how long their operations take.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Arrivals {
    /// The first one.
    pub first: u64,
    /// Job k + 1 comes the period and the k-th of these after job k; the last entry holds on.
    pub gaps: Vec<u64>,
    /// In thousandths of the way from the shortest to the longest.
    pub length: u16,
}

impl Arrivals {
    /// Strictly periodic from here on, operations as long as stated.
    pub fn periodic(first: u64) -> Arrivals {
        Arrivals { first, gaps: Vec::new(), length: 1_000 }
    }

    /// How much more than a period job k + 1 comes after job k.
    pub fn gap(&self, k: usize) -> u64 {
        self.gaps.get(k).or(self.gaps.last()).map_or(0, |&gap| gap)
    }
}
