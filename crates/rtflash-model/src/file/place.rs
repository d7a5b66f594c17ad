//! The way to a value, and how messages speak of it.

use crate::invalid::Path;

/// Longer names, in characters, are cut in messages; in bytes, they are not compared.
pub(super) const MAX_SHOWN: usize = 64;

/// Kept on the readers' stack: it becomes a [`Path`] only when something is wrong.
#[derive(Debug, Clone, Copy)]
pub enum Place<'p> {
    /// The whole text.
    Root,
    /// A field of an object.
    Key(&'p Place<'p>, &'p str),
    /// An element of an array, from 0.
    Index(&'p Place<'p>, usize),
}

impl<'p> Place<'p> {
    /// A field of this object.
    pub fn key(&'p self, key: &'p str) -> Place<'p> {
        Place::Key(self, key)
    }

    /// An element of this array.
    pub fn index(&'p self, index: usize) -> Place<'p> {
        Place::Index(self, index)
    }

    /// The way as a list of steps.
    pub fn path(&self) -> Path {
        match self {
            Place::Root => Path::root(),
            Place::Key(outer, key) => outer.path().key(*key),
            Place::Index(outer, index) => outer.path().index(*index),
        }
    }

    /// How a sentence calls the value: its last name.
    pub fn subject(&self) -> String {
        match self {
            Place::Root => "the value".to_owned(),
            Place::Key(_, key) => format!("`{key}`"),
            Place::Index(Place::Key(_, key), index) => format!("`{key}[{index}]`"),
            Place::Index(_, index) => format!("element {index}"),
        }
    }
}

/// The content of an object's known field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot<'t> {
    /// It is not there.
    Absent,
    /// It is not there, but an unknown field that looks like it is, and has been reported.
    Misspelt,
    /// The text of its value.
    Given(&'t str),
}

impl<'t> Slot<'t> {
    /// This slot for an optional field: a field that is null counts as absent.
    pub fn or_null(self) -> Slot<'t> {
        match self {
            Slot::Given("null") => Slot::Absent,
            other => other,
        }
    }

    /// Its value, where it has one.
    pub fn given(self) -> Option<&'t str> {
        match self {
            Slot::Given(value) => Some(value),
            Slot::Absent | Slot::Misspelt => None,
        }
    }
}

/// A name as a message shows it: cut where it is very long.
pub fn quote(name: &str) -> String {
    match name.char_indices().nth(MAX_SHOWN) {
        None => format!("`{name}`"),
        Some((end, _)) => format!("`{}…`", &name[..end]),
    }
}

/// Names as a message lists them.
pub fn quoted(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| quote(name)).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => names.concat(),
    }
}
