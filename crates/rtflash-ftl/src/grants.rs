//! The deadlines of jobs that are not real-time (docs/analysis.md, Section 5).

use crate::image::ImageServer;

/// The grants of the server of a processor.
#[derive(Debug, Clone, Copy, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ServerGrants {
    /// n: pages that its jobs write.
    pub pages: u64,
    /// z: the deadline of its last job, in nanoseconds.
    pub due: u64,
}

/// The pages of a job on a processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AskedPages {
    /// Pages that it reads.
    pub reads: u64,
    /// Pages that it writes.
    pub writes: u64,
}

impl ServerGrants {
    /// The grants with one more job, which arrives now, by Eqs. (30), (31), (32) and (68): on
    /// `width` chips whose passes reclaim α pages. `None` if it is due behind 2^64 ns.
    pub fn with(
        self,
        of: &ImageServer,
        AskedPages { reads, writes }: AskedPages,
        width: u32,
        reclaimed: u64,
        now_ns: u64,
    ) -> Option<ServerGrants> {
        let pages = self.pages.checked_add(writes)?;
        let passes = pages / reclaimed - self.pages / reclaimed;
        let turns = u128::from(reads > 0) + u128::from(writes > 0) + u128::from(passes);
        let cost = u128::from(reads) * u128::from(of.read_ns)
            + u128::from(writes.div_ceil(width.into())) * u128::from(of.program_ns)
            + u128::from(passes) * u128::from(of.pass_ns);
        let cost = cost.checked_add(turns * u128::from(of.turn_ns))?;
        let time = cost.checked_mul(1_000)?.div_ceil(u128::from(of.thousandths));
        let due = self.due.max(now_ns).checked_add(u64::try_from(time).ok()?)?;
        Some(ServerGrants { pages, due })
    }
}
