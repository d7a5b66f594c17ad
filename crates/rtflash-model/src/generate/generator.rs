//! The generators: how the total utilization is divided.

/// How the total utilization is divided among the tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Generator {
    /// (U_1 … U_n) is uniform on the simplex ΣU_i = U, among the points with no U_i above 1:
    /// UUniFast (Bini & Buttazzo 2005) with discarding. Read and write share U_i as b_1 : b_2, each
    /// uniform in (0, 1].
    UUniFast,
    /// The distribution of [`Generator::UUniFast`], drawn by UUniFast alone: every vector with a
    /// U_i above 1 is discarded (Davis and Burns 2011). Near the number of tasks nothing is left.
    UUniFastDiscard,
    /// The distribution of [`Generator::UUniFast`], drawn without discarding: RandFixedSum
    /// (Stafford 2006; Emberson, Stafford and Davis 2010).
    RandFixedSum,
    /// U_i = U·a_i/Σa with a_i uniform in {1 … 10}, among the draws with every U_i below 1: what
    /// the thesis's figures used. Read and write share U_i as b_1 : b_2, each uniform in {1 … 10}.
    IntegerShares,
    /// No total is divided. The write-heavy tasks ([`Writes::Heavy`](super::Writes::Heavy)) only
    /// write, each with a utilization uniform in [0.5, 0.7). The others read and write, each with a
    /// utilization uniform in [0, 0.25); their reads have the pages of writes with this utilization
    /// and the period drawn, so that periods of reads are shorter, as the costs of pages are. The
    /// authors of the thesis drew so (Techyee/sched_test, `generate_heavyset` at 0.5, in steps of
    /// 0.001).
    HeavyWriters,
}

crate::names! {
    Generator {
        UUniFast = "uunifast",
        UUniFastDiscard = "uunifast-discard",
        RandFixedSum = "randfixedsum",
        IntegerShares = "integer-shares",
        HeavyWriters = "heavy-writers",
    }
}

impl Generator {
    /// Whether it divides a total utilization that is asked for.
    pub fn divides_total(self) -> bool {
        self != Generator::HeavyWriters
    }
}
