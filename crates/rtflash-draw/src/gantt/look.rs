//! The differences in a chart: operations by colour, tasks by hues of it.

use rtflash_model::ClusterId;
use rtflash_plan::{Plan, Promise};
use rtflash_trace::{Action, Kind};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    Read,
    Write,
    Copy,
    Erase,
    Server,
}

/// The cause of erases: garbage collection, or writes that reset zones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Erases {
    Collection,
    Resets,
    /// Some clusters are collected, others have zones.
    Both,
}

impl Erases {
    pub(super) fn of(plan: &Plan) -> Erases {
        let Promise::Certified(certified) = plan.promise() else { return Erases::Collection };
        let tasks = |of: &(ClusterId, _)| !plan.clusters()[of.0].tasks.is_empty();
        let mut resets = certified.enumerate().filter(tasks).map(|(_, by)| by.is_zoned());
        let Some(first) = resets.next() else { return Erases::Collection };
        match (first, resets.all(|other| other == first)) {
            (false, true) => Erases::Collection,
            (true, true) => Erases::Resets,
            (_, false) => Erases::Both,
        }
    }

    pub(super) fn of_job(kind: Kind) -> Erases {
        if kind == Kind::Write { Erases::Resets } else { Erases::Collection }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Erases::Collection => "GC erase",
            Erases::Resets => "zone reset",
            Erases::Both => "GC erase, zone reset",
        }
    }
}

/// Hues that tasks of a cluster have within the colour of an operation, by their position in it;
/// then they begin anew.
pub(super) const HUES: usize = 6;

impl Look {
    pub(super) const ALL: [Look; 5] = [Look::Read, Look::Write, Look::Copy, Look::Erase, Look::Server];

    pub(super) fn of(kind: Kind, action: Action) -> Look {
        match (kind, action) {
            (Kind::Gc | Kind::Write, Action::Erase | Action::ErasePart) => Look::Erase,
            (Kind::Gc, _) => Look::Copy,
            (Kind::Read, _) => Look::Read,
            (Kind::Write, _) => Look::Write,
            (Kind::Server, _) => Look::Server,
        }
    }

    /// The looks that a legend explains: if nothing but zones are reset, nothing is copied.
    pub(super) fn explained(erases: Erases) -> impl Iterator<Item = Look> {
        Look::ALL.into_iter().filter(move |&look| look != Look::Copy || erases != Erases::Resets)
    }

    pub(super) fn name(self, erases: Erases) -> &'static str {
        match self {
            Look::Read => "read",
            Look::Write => "write",
            Look::Copy => "GC copy",
            Look::Erase => erases.name(),
            Look::Server => "not real-time",
        }
    }

    /// The class of its hue for the task at this position, which the style of a figure has.
    pub(super) fn hue_class(self, member: usize) -> String {
        let letter = match self {
            Look::Read => 'r',
            Look::Write => 'p',
            Look::Copy => 'o',
            Look::Erase => 'e',
            Look::Server => 'v',
        };
        format!("{letter}{}", member % HUES)
    }

    /// The hues of its colour. Operations differ in lightness as well: erases are darkest, then
    /// reads, what is not real-time, writes, GC copies.
    pub(super) fn hues(self) -> [&'static str; HUES] {
        match self {
            Look::Read => ["#2f6fc0", "#0b7f83", "#5f55c4", "#17497a", "#4f8bd0", "#2b6f8f"],
            Look::Write => ["#f5a83c", "#f2d64b", "#ee8659", "#d2a04a", "#fac99a", "#e3bd2f"],
            Look::Copy => ["#d3e4d0", "#bfe2da", "#e2e8b4", "#b4d8a6", "#e4efe2", "#c9dcc9"],
            Look::Erase => ["#435647", "#2c5757", "#5b5a30", "#28402c", "#5d7061", "#3d5a3d"],
            Look::Server => ["#b08ad0", "#d09ac6", "#9a9ce0", "#a574b4", "#cdb6e6", "#b79bb9"],
        }
    }

    /// Its character in a terminal. A task's own operations are its letter, small where it reads
    /// and large where it writes; `?` beyond the alphabet.
    pub(super) fn character(self, member: usize) -> char {
        let letter = u8::try_from(member).ok().filter(|&member| member < 26).map(|member| char::from(b'a' + member));
        match self {
            Look::Read => letter.unwrap_or('?'),
            Look::Write => letter.map_or('?', |letter| letter.to_ascii_uppercase()),
            Look::Copy => '+',
            Look::Erase => '#',
            Look::Server => '*',
        }
    }
}
