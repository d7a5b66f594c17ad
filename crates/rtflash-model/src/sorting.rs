//! Sorts of short lists.
//!
//! The standard library compiles its sort once for each type and order, some kilobytes each. In
//! the page of a browser, whose size is limited, all of these share one: the places are sorted,
//! and what stands there is moved.

use std::cmp::Ordering;

/// Sorts as [`slice::sort_by`] does.
pub fn by<T>(items: &mut [T], mut order: impl FnMut(&T, &T) -> Ordering) {
    if cfg!(target_family = "wasm") {
        let places = places(items.len(), &mut |one, other| order(&items[one], &items[other]));
        put(items, places);
    } else {
        items.sort_by(order);
    }
}

/// Sorts as [`slice::sort_by_key`] does.
pub fn by_key<T, K: Ord>(items: &mut [T], mut key: impl FnMut(&T) -> K) {
    by(items, |one, other| key(one).cmp(&key(other)));
}

/// Sorts as [`slice::sort_unstable`] does.
pub fn unstable<T: Ord>(items: &mut [T]) {
    if cfg!(target_family = "wasm") {
        by(items, T::cmp);
    } else {
        items.sort_unstable();
    }
}

/// Sorts as [`slice::sort_unstable_by`] does.
pub fn unstable_by<T>(items: &mut [T], order: impl FnMut(&T, &T) -> Ordering) {
    if cfg!(target_family = "wasm") {
        by(items, order);
    } else {
        items.sort_unstable_by(order);
    }
}

/// Sorts as [`slice::sort_unstable_by_key`] does.
pub fn unstable_by_key<T, K: Ord>(items: &mut [T], key: impl FnMut(&T) -> K) {
    if cfg!(target_family = "wasm") {
        by_key(items, key);
    } else {
        items.sort_unstable_by_key(key);
    }
}

/// Which of so many items comes first, second and so on.
#[inline(never)]
fn places(items: usize, order: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..items).collect();
    places.sort_by(|&one, &other| order(one, other));
    places
}

/// Moves each item to where it belongs: `places` has where they are, in the order to be.
fn put<T>(items: &mut [T], places: Vec<usize>) {
    let mut goals = vec![0; places.len()];
    for (goal, place) in places.into_iter().enumerate() {
        goals[place] = goal;
    }
    for place in 0..items.len() {
        while goals[place] != place {
            let goal = goals[place];
            items.swap(place, goal);
            goals.swap(place, goal);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Items of few keys, each with a number of its own: those of one key stay in order.
        #[test]
        fn by_places_it_is_the_same_order(keys in proptest::collection::vec(0_u8..6, 0..60)) {
            let mut items: Vec<(u8, usize)> = keys.into_iter().zip(0..).collect();
            let mut sorted = items.clone();
            sorted.sort_by_key(|item| item.0);
            let places = places(items.len(), &mut |one, other| items[one].0.cmp(&items[other].0));
            put(&mut items, places);
            prop_assert_eq!(items, sorted);
        }
    }
}
