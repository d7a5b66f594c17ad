//! Positions of chips, clusters, tasks and pages: a type each, so that none is taken for another.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut, Range};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A position that counts things of one kind.
pub trait Id: Copy {
    /// The one with this number.
    fn new(number: u32) -> Self;

    /// As a position in a list.
    fn index(self) -> usize;

    /// The one at this position; panics beyond 2³² − 1, as no list of such things is that long.
    fn from_index(index: usize) -> Self;
}

/// Types of positions, each with its documentation before it.
///
/// ```
/// rtflash_model::ids! {
///     /// A shelf, by position.
///     ShelfId
/// }
/// assert_eq!(ShelfId::first(2).last(), Some(ShelfId(1)));
/// ```
#[macro_export]
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// As a position in a list.
            #[inline]
            pub const fn index(self) -> usize {
                // Nothing smaller than 32 bits runs this.
                self.0 as usize
            }

            /// The first `count` of them, in order.
            pub fn first(count: u32) -> impl DoubleEndedIterator<Item = $name> + ExactSizeIterator + Clone {
                (0..count).map($name)
            }
        }

        impl $crate::Id for $name {
            #[inline]
            fn new(number: u32) -> Self {
                $name(number)
            }

            #[inline]
            fn index(self) -> usize {
                $name::index(self)
            }

            #[inline]
            fn from_index(index: usize) -> Self {
                $name(u32::try_from(index).expect("positions have 32 bits"))
            }
        }

        impl ::std::convert::From<$name> for u64 {
            #[inline]
            fn from(id: $name) -> u64 {
                id.0.into()
            }
        }

        impl $crate::serde::Serialize for $name {
            fn serialize<S: $crate::serde::Serializer>(&self, to: S) -> ::std::result::Result<S::Ok, S::Error> {
                to.serialize_u32(self.0)
            }
        }

        impl<'de> $crate::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(from: D) -> ::std::result::Result<Self, D::Error> {
                <u32 as $crate::serde::Deserialize>::deserialize(from).map($name)
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                self.0.fmt(f)
            }
        }
    )+};
}

ids! {
    /// A chip of the device, by position; chips of a channel follow one another.
    ChipId
    /// A cluster of an allocation, by position.
    ClusterId
    /// A task, by position in its task set.
    TaskId
    /// A logical page of a cluster.
    Lpn
}

/// A list with an entry for each position, indexed by the type of its positions alone.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PerId<I, T> {
    entries: Vec<T>,
    of: PhantomData<fn(I)>,
}

impl<I, T> Default for PerId<I, T> {
    fn default() -> Self {
        PerId::from(Vec::new())
    }
}

impl<I, T: Serialize> Serialize for PerId<I, T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.entries.serialize(to)
    }
}

impl<'de, I, T: Deserialize<'de>> Deserialize<'de> for PerId<I, T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Vec::deserialize(from).map(PerId::from)
    }
}

impl<I, T> From<Vec<T>> for PerId<I, T> {
    fn from(entries: Vec<T>) -> Self {
        PerId { entries, of: PhantomData }
    }
}

impl<I, T> FromIterator<T> for PerId<I, T> {
    fn from_iter<E: IntoIterator<Item = T>>(entries: E) -> Self {
        PerId::from(Vec::from_iter(entries))
    }
}

impl<I: Id, T> PerId<I, T> {
    /// A table of `count` equal entries.
    pub fn filled(entry: T, count: u32) -> Self
    where
        T: Clone,
    {
        PerId::from(vec![entry; I::new(count).index()])
    }

    /// The entry, if there is one.
    #[inline]
    pub fn get(&self, id: I) -> Option<&T> {
        self.entries.get(id.index())
    }

    /// A mutable reference to the entry of an id; `None` if the table has no such entry.
    #[inline]
    pub fn get_mut(&mut self, id: I) -> Option<&mut T> {
        self.entries.get_mut(id.index())
    }

    /// Adds an entry behind the last one, and says which it is.
    pub fn push(&mut self, entry: T) -> I {
        self.entries.push(entry);
        I::from_index(self.entries.len() - 1)
    }

    /// Takes all entries away, and keeps their memory.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// Adds equal entries at the end, or removes the last ones.
    pub fn resize(&mut self, count: u32, entry: T)
    where
        T: Clone,
    {
        self.entries.resize(I::new(count).index(), entry);
    }

    /// Panics beyond 2³² − 1: no list of such things is that long.
    pub fn count(&self) -> u32 {
        u32::try_from(self.entries.len()).expect("positions have 32 bits")
    }

    /// All entries in order, each with its position.
    pub fn enumerate(&self) -> impl Iterator<Item = (I, &T)> + Clone {
        (0..).map(I::new).zip(&self.entries)
    }

    /// All positions in order.
    pub fn ids(&self) -> impl Iterator<Item = I> + use<I, T> {
        (0..self.count()).map(I::new)
    }

    /// The entries as a plain list of their own.
    pub fn into_vec(self) -> Vec<T> {
        self.entries
    }

    /// The entries as a plain list.
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        &self.entries
    }

    /// All entries in order.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.entries.iter()
    }

    /// Iterates over mutable references to the entries, in the order of their ids.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.entries.iter_mut()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl<I: Id, T> Index<I> for PerId<I, T> {
    type Output = T;

    #[inline]
    fn index(&self, id: I) -> &T {
        &self.entries[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for PerId<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.entries[id.index()]
    }
}

impl<I: Id, T> Index<Range<I>> for PerId<I, T> {
    type Output = [T];

    #[inline]
    fn index(&self, ids: Range<I>) -> &[T] {
        &self.entries[ids.start.index()..ids.end.index()]
    }
}

impl<I: Id, T> IndexMut<Range<I>> for PerId<I, T> {
    #[inline]
    fn index_mut(&mut self, ids: Range<I>) -> &mut [T] {
        &mut self.entries[ids.start.index()..ids.end.index()]
    }
}

impl<'a, I: Id, T> IntoIterator for &'a PerId<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter()
    }
}

impl<'a, I: Id, T> IntoIterator for &'a mut PerId<I, T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter_mut()
    }
}

impl<I: Id, T> IntoIterator for PerId<I, T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

impl<I: Id, T> Extend<T> for PerId<I, T> {
    fn extend<E: IntoIterator<Item = T>>(&mut self, entries: E) {
        self.entries.extend(entries);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_indexed_by_its_own_positions() {
        let mut ways: PerId<ClusterId, u32> = PerId::default();
        let first = ways.push(4);
        let second = ways.push(8);
        ways[first] += 1;
        assert_eq!((ways[first], ways[second], ways.get(ClusterId(2))), (5, 8, None));
        let all: Vec<(ClusterId, u32)> = ways.enumerate().map(|(cluster, &ways)| (cluster, ways)).collect();
        assert_eq!(all, [(ClusterId(0), 5), (ClusterId(1), 8)]);
        assert_eq!(second.to_string(), "1");
    }
}
