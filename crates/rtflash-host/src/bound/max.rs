//! How many commands may be inside.

/// Commands that may be inside.
#[derive(Debug, Clone, Copy)]
pub(super) struct Max {
    /// The largest for any class.
    pub(super) all: u64,
    /// That are not real-time.
    pub(super) rest: u64,
}

impl Max {
    /// The places that are left when `taken` of them are taken.
    pub(super) fn without(self, taken: u64) -> Max {
        let all = self.all.saturating_sub(taken);
        Max { all, rest: self.rest.min(all) }
    }
}
