//! Requests that wait for their tags, first come, first served.

use std::collections::{BTreeMap, VecDeque};

use crate::Command;

/// A request in its pieces, each of which takes a tag.
#[derive(Debug)]
struct WaitingRequest {
    /// Of its arrival.
    number: u64,
    pieces: Vec<Command>,
}

/// Tags that are free, and requests that wait for theirs.
#[derive(Debug, Default)]
pub(super) struct Tags {
    free: u64,
    /// Tags that requests hold which are limited.
    limited: u64,
    arrivals: u64,
    /// By the number of tags that requests like these may hold: they do not hold up others.
    waiting: BTreeMap<Option<u32>, VecDeque<WaitingRequest>>,
}

impl Tags {
    pub(super) fn new(requests: u32) -> Tags {
        Tags { free: requests.into(), ..Tags::default() }
    }

    /// A tag is given back that had this limit.
    pub(super) fn give_back(&mut self, limit: Option<u32>) {
        self.free += 1;
        self.limited -= u64::from(limit.is_some());
    }

    /// A request waits.
    pub(super) fn wait(&mut self, limit: Option<u32>, pieces: Vec<Command>) {
        let number = self.arrivals;
        self.arrivals += 1;
        self.waiting.entry(limit).or_default().push_back(WaitingRequest { number, pieces });
    }

    /// The pieces of the next request that gets its tags. What `merges` takes needs none.
    pub(super) fn next(&mut self, mut merges: impl FnMut(&Command) -> bool) -> Option<Vec<Command>> {
        loop {
            let heads = self.waiting.iter().filter_map(|(&limit, queue)| Some((queue.front()?.number, limit)));
            let mut heads: Vec<(u64, Option<u32>)> = heads.collect();
            heads.sort_unstable();
            let mut heads = heads.into_iter().map(|(_, limit)| limit);
            let (limit, is_merged) = loop {
                let limit = heads.next()?;
                let pieces = &self.waiting[&limit].front()?.pieces;
                if let [request] = &pieces[..]
                    && merges(request)
                {
                    break (limit, true);
                }
                let tags = pieces.len() as u64;
                if tags > self.free {
                    return None;
                }
                if limit.is_none_or(|limit| self.limited + tags <= limit.into()) {
                    break (limit, false);
                }
            };
            let WaitingRequest { pieces, .. } = self.waiting.get_mut(&limit)?.pop_front()?;
            if !is_merged {
                let tags = pieces.len() as u64;
                self.free -= tags;
                self.limited += if limit.is_some() { tags } else { 0 };
                return Some(pieces);
            }
        }
    }
}
