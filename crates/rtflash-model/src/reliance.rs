//! The assumptions of a sound analysis's promise beyond a cluster's own certificate.

/// Grounds on which a cluster holds, or is granted to hold, from the least (docs/analysis.md).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reliance {
    /// Nothing but its own certificate: it holds whatever the other clusters do (test T).
    Nothing,
    /// Clusters on its channels that move no more than their tasks do (Section 6, test T').
    #[default]
    Neighbours,
    /// Such clusters, a bus that serves first come, first served, exact transfers, and reads whose
    /// sensing is shorter by less than a transfer (Section 6.1, test T'').
    Queue,
}

crate::names! {
    Reliance {
        Nothing = "nothing",
        Neighbours = "neighbours",
        Queue = "queue",
    }
}

impl Reliance {
    /// Those that are less, the most of them first.
    pub fn less(self) -> impl Iterator<Item = Reliance> {
        Reliance::ALL.into_iter().rev().filter(move |&less| less < self)
    }

    /// The value of the option `--assume` for it.
    pub const fn assumption(self) -> &'static str {
        match self {
            Reliance::Nothing => "nothing",
            Reliance::Neighbours => "neighbour-load",
            Reliance::Queue => "fifo-bus",
        }
    }

    /// The one of that value of `--assume`, or of that name.
    pub fn from_assumption(given: &str) -> Option<Reliance> {
        let is_it = |one: &Reliance| one.assumption() == given || one.name() == given;
        Reliance::ALL.into_iter().find(is_it)
    }
}
