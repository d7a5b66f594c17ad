//! Which logical pages of a cluster belong to whom, and how many its tasks declare.

use std::ops::Range;

use rtflash_model::{Cluster, Placement, TaskSet, capped};

use super::Data;
use crate::ids::Lpn;

pub(super) fn declared(set: &TaskSet, cluster: &Cluster, placement: Option<Placement>) -> Option<Data> {
    let space = set.space(&cluster.tasks, cluster.size(), placement);
    // Data of more pages than 64 bits hold do not fit either.
    space.declared.then(|| Data { pages: capped(space.needed_pages), room: capped(space.logical_pages) })
}

/// Those declared, else an equal share of the rest, in rows of `row` pages, so that consecutive
/// pages of a stripe are on different chips. `None` without room, or a page for each.
pub fn ranges(room: u64, row: u32, declared: &[Option<u64>]) -> Option<Vec<Range<Lpn>>> {
    let row = u64::from(row.max(1));
    let mut left = room / row;
    for pages in declared.iter().flatten() {
        left = left.checked_sub(pages.div_ceil(row))?;
    }
    let sharers = declared.iter().filter(|pages| pages.is_none()).count() as u64;
    // If all is declared, no owner asks for a share.
    let each = left / sharers.max(1);
    let mut next = 0;
    let mut range = |pages: &Option<u64>| {
        let rows = pages.map_or(each, |pages| pages.div_ceil(row));
        let start = next;
        next += rows * row;
        let page = |number: u64| u32::try_from(number).ok().map(Lpn);
        (rows > 0).then_some(page(start)?..page(next)?)
    };
    declared.iter().map(&mut range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(room: u64, row: u32, declared: &[Option<u64>]) -> Option<Vec<Range<u32>>> {
        let plain = |range: Range<Lpn>| range.start.0..range.end.0;
        Some(super::ranges(room, row, declared)?.into_iter().map(plain).collect())
    }

    #[test]
    fn what_is_declared_comes_first_and_the_rest_is_shared() {
        assert_eq!(ranges(40, 4, &[None, Some(5), None]), Some(vec![0..16, 16..24, 24..40]));
        assert_eq!(ranges(41, 1, &[Some(40), None]), Some(vec![0..40, 40..41]));
        assert_eq!(ranges(40, 1, &[Some(40), None]), None);
        assert_eq!(ranges(40, 4, &[Some(37), Some(1)]), None);
        assert_eq!(ranges(40, 4, &[]), Some(vec![]));
    }
}
