//! Things in slots that are used again.

use std::ops::{Index, IndexMut};

use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Slab<T> {
    slots: Vec<T>,
    free: Vec<usize>,
}

impl<T> Default for Slab<T> {
    fn default() -> Slab<T> {
        Slab { slots: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    pub(crate) fn insert(&mut self, thing: T) -> usize {
        match self.free.pop() {
            Some(slot) => {
                self.slots[slot] = thing;
                slot
            }
            None => {
                self.slots.push(thing);
                self.slots.len() - 1
            }
        }
    }

    /// The slot may be used again. Its content stays until then.
    pub(crate) fn remove(&mut self, slot: usize) {
        assert!(self.free.len() < self.slots.len(), "a slot is free once");
        self.free.push(slot);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.slots.iter()
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

impl<T> Index<usize> for Slab<T> {
    type Output = T;
    fn index(&self, slot: usize) -> &T {
        &self.slots[slot]
    }
}

impl<T> IndexMut<usize> for Slab<T> {
    fn index_mut(&mut self, slot: usize) -> &mut T {
        &mut self.slots[slot]
    }
}
