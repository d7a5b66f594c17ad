//! Terms of the tests that a search leaves out, to show what each is for.

/// A term of (T), (T') or (T''), or of what garbage collection is given (docs/analysis.md).
///
/// No analysis has a way to leave one out. [`ChannelContention::leaving_out`] does, for searches
/// that look for what breaks without it.
///
/// [`ChannelContention::leaving_out`]: crate::certified::ChannelContention::leaving_out
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Term {
    /// B(L).
    Blocking,
    /// The wait for the bus in q of a request's step.
    StepWait,
    /// One of the transfers that each page waits for: m_c − 1 for m_c in c_r, c_w and c_r'.
    Transfer,
    /// J in n(L): taken for zero there.
    Window,
    /// A in the reserve H.
    Arrivals,
    /// R in the reserve H.
    ServerReserve,
    /// One page of PP − 1 in the reserve H.
    ReservePage,
    /// One page of v.
    VictimPage,
    /// (v − n) t_d in C_g of a superblock: pages that a pass reads beside others.
    Beside,
    /// The jobs live at the start of a window: ⌈L/T⌉ for ⌈L/T⌉ + 1 in N_j, S_j and V_j.
    CarryIn,
    /// The page of γ that is rounded up: ⌊kn/s⌋ for ⌈kn/s⌉ of a stream.
    StreamPage,
    /// N_j = ∞ for chips with a server: they count by their requests alone.
    Servers,
    /// The copies of a superblock's passes in N_j.
    Copies,
    /// t_c G_j: commands of a neighbour's copies and erases.
    Commands,
    /// The requests for the bus that only commands make: their waits in (T').
    CommandWait,
    /// t_d V_j: programs of a neighbour beside a read whose command stands in the queue.
    QueuedPrograms,
    /// The waits of a superblock's passes in (T'): they are not in n_i.
    PassWait,
    /// φ min E_j in W2.
    MinFresh,
    /// (σ − φ) ⌈Σ E_j / max(1, o − 1)⌉ in W2.
    SumFresh,
    /// ⌊σ Σ E_j / o⌋ in W2.
    SharedFresh,
    /// φ Σ E_j in W3.
    RankedFresh,
    /// σ n_w in W3.
    RankedWrites,
    /// σ J_i in W2 and W3.
    OwnJobs,
    /// σ Σ R_j in W2 and W3.
    ServedTwice,
    /// σ for the first read of a window in W2 and W3.
    FirstRead,
    /// The case o = 1 of σ: there, too, 2 t_d stands for t_d.
    SigmaOfOne,
    /// I: how often the array of a chip with two page registers may wait for a transfer.
    Turnaround,
    /// The committed program in B of such a chip.
    Commit,
    /// θ(m_0 + 1) − θ(m_0) in W4: the neighbour that makes the most transfers.
    FirstRank,
    /// β in B where chips with two page registers read alone: the last page that leaves.
    LastPage,
    /// The cluster's own chips in what a row of a cached superblock waits: β_r for β_w.
    OwnRow,
    /// The longest step of a pass in B of two page registers.
    PassStep,
    /// With commands and two page registers: what a read's command waits, and takes, in c_r.
    ToldRead,
    /// The resets of zones in dbf.
    Resets,
    /// Those of them that are rounded up.
    ResetPage,
    /// A reset in B.
    ResetStep,
    /// E: programs that fail, and are repeated.
    Repeats,
    /// Of neighbours, in N_j: their transfers.
    RepeatedTransfers,
    /// N_s in N − N_s: blocks that fail are counted as if they were erased.
    SpareBlocks,
    /// t_s of each job: until an erase is suspended.
    Suspend,
    /// t_u of each job: what an erase takes longer for that.
    Resume,
}

impl Term {
    /// All of them.
    pub const ALL: [Term; 41] = [
        Term::Blocking,
        Term::StepWait,
        Term::Transfer,
        Term::Window,
        Term::Arrivals,
        Term::ServerReserve,
        Term::ReservePage,
        Term::VictimPage,
        Term::Beside,
        Term::CarryIn,
        Term::StreamPage,
        Term::Servers,
        Term::Copies,
        Term::Commands,
        Term::CommandWait,
        Term::QueuedPrograms,
        Term::PassWait,
        Term::MinFresh,
        Term::SumFresh,
        Term::SharedFresh,
        Term::RankedFresh,
        Term::RankedWrites,
        Term::OwnJobs,
        Term::ServedTwice,
        Term::FirstRead,
        Term::SigmaOfOne,
        Term::Turnaround,
        Term::Commit,
        Term::FirstRank,
        Term::LastPage,
        Term::OwnRow,
        Term::PassStep,
        Term::ToldRead,
        Term::Resets,
        Term::ResetPage,
        Term::ResetStep,
        Term::Repeats,
        Term::RepeatedTransfers,
        Term::SpareBlocks,
        Term::Suspend,
        Term::Resume,
    ];

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Term::Blocking => "blocking",
            Term::StepWait => "step-wait",
            Term::Transfer => "transfer",
            Term::Window => "window",
            Term::Arrivals => "arrivals",
            Term::ServerReserve => "server-reserve",
            Term::ReservePage => "reserve-page",
            Term::VictimPage => "victim-page",
            Term::Beside => "beside",
            Term::CarryIn => "carry-in",
            Term::StreamPage => "stream-page",
            Term::Servers => "servers",
            Term::Copies => "copies",
            Term::Commands => "commands",
            Term::CommandWait => "command-wait",
            Term::QueuedPrograms => "queued-programs",
            Term::PassWait => "pass-wait",
            Term::MinFresh => "min-fresh",
            Term::SumFresh => "sum-fresh",
            Term::SharedFresh => "shared-fresh",
            Term::RankedFresh => "ranked-fresh",
            Term::RankedWrites => "ranked-writes",
            Term::OwnJobs => "own-jobs",
            Term::ServedTwice => "served-twice",
            Term::FirstRead => "first-read",
            Term::SigmaOfOne => "sigma-of-one",
            Term::Turnaround => "turnaround",
            Term::Commit => "commit",
            Term::FirstRank => "first-rank",
            Term::LastPage => "last-page",
            Term::OwnRow => "own-row",
            Term::PassStep => "pass-step",
            Term::ToldRead => "told-read",
            Term::Resets => "resets",
            Term::ResetPage => "reset-page",
            Term::ResetStep => "reset-step",
            Term::Repeats => "repeats",
            Term::RepeatedTransfers => "repeated-transfers",
            Term::SpareBlocks => "spare-blocks",
            Term::Suspend => "suspend",
            Term::Resume => "resume",
        }
    }

    /// The term of this name.
    pub fn from_name(name: &str) -> Option<Term> {
        Term::ALL.into_iter().find(|term| term.name() == name)
    }

    /// The term in the letters of docs/analysis.md.
    pub const fn letters(self) -> &'static str {
        match self {
            Term::Blocking => "B(L)",
            Term::StepWait => "the wait in q",
            Term::Transfer => "one t_d of c_r and c_w",
            Term::Window => "J in n(L)",
            Term::Arrivals => "A in H",
            Term::ServerReserve => "R in H",
            Term::ReservePage => "one page of H",
            Term::VictimPage => "one page of v",
            Term::Beside => "(v − n) t_d in C_g",
            Term::CarryIn => "the 1 in ⌈L/T⌉ + 1",
            Term::StreamPage => "the round-up of γ",
            Term::Servers => "N_j = ∞ for servers",
            Term::Copies => "copies in N_j of superblocks",
            Term::Commands => "t_c G_j",
            Term::CommandWait => "commands in n_i",
            Term::QueuedPrograms => "t_d V_j",
            Term::PassWait => "passes in n_i of superblocks",
            Term::MinFresh => "φ min E_j",
            Term::SumFresh => "(σ − φ) Σ E_j",
            Term::SharedFresh => "σ Σ E_j / o",
            Term::RankedFresh => "φ Σ E_j",
            Term::RankedWrites => "σ n_w",
            Term::OwnJobs => "J_i",
            Term::ServedTwice => "R_j",
            Term::FirstRead => "the 1 in W2 and W3",
            Term::SigmaOfOne => "t_d for 2 t_d in σ where o = 1",
            Term::Turnaround => "I in W4",
            Term::Commit => "the commit in B of two registers",
            Term::FirstRank => "the first rank in W4",
            Term::LastPage => "β in B of who reads alone",
            Term::OwnRow => "β_r for β_w",
            Term::PassStep => "a pass's step in B of two registers",
            Term::ToldRead => "a read's command in c_r",
            Term::Resets => "resets",
            Term::ResetPage => "the round-up of resets",
            Term::ResetStep => "a reset in B",
            Term::Repeats => "E",
            Term::RepeatedTransfers => "repeated programs in N_j",
            Term::SpareBlocks => "N_s in N − N_s",
            Term::Suspend => "t_s in c_s",
            Term::Resume => "t_u in c_s",
        }
    }
}
