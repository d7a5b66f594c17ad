//! The generators: how the total utilization is divided.

/// How the total utilization is divided among the tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Generator {
    /// UUniFast (Bini & Buttazzo 2005): uniform on ΣU_i = U with no U_i above 1. Reads and writes
    /// share U_i as b_1 : b_2, each uniform in (0, 1].
    UUniFast,
    /// By UUniFast alone: vectors with a U_i above 1 are discarded (Davis and Burns 2011).
    UUniFastDiscard,
    /// RandFixedSum, which discards nothing (Stafford 2006; Emberson, Stafford and Davis 2010).
    RandFixedSum,
    /// U_i = U·a_i/Σa, a_i in {1 … 10}, each below 1: the thesis's. b_1 : b_2 in {1 … 10}.
    IntegerShares,
    /// No total is divided. Heavy tasks ([`Writes::Heavy`](super::Writes::Heavy)) only write,
    /// uniform in [0.5, 0.7); the others, uniform in [0, 0.25) for each request, read the pages of
    /// writes of the drawn period, so that their periods are shorter, as pages cost less. So the
    /// authors drew (Techyee/sched_test, `generate_heavyset` at 0.5, in steps of 0.001).
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
