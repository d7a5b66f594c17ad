//! Requests that wait for their tags, first come, first served.
//!
//! A process submits one request after the other, and waits in line with one of them
//! (`blk_mq_get_tag` of block/blk-mq-tag.c, 6.12.117). Then it goes to the end of the line with the
//! next one.

use std::collections::{BTreeMap, VecDeque};

use crate::Command;

/// A process that submits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Submitter {
    /// One for the I/O of this number.
    Io(u64),
    /// One for all I/Os of the job of this position.
    Job(usize),
}

/// A process in line, with all that it has to submit.
#[derive(Debug)]
struct WaitingSubmitter {
    /// Its place in line.
    number: u64,
    submitter: Submitter,
    /// Requests in their pieces, each of which takes a tag; at least one.
    requests: VecDeque<Vec<Command>>,
}

/// Tags that are free, and requests that wait for theirs.
#[derive(Debug, Default)]
pub(super) struct Tags {
    free: u64,
    /// Tags that requests hold which are limited.
    limited: u64,
    arrivals: u64,
    /// By the number of tags that requests like these may hold: they do not hold up others.
    waiting: BTreeMap<Option<u32>, VecDeque<WaitingSubmitter>>,
}

impl Tags {
    pub(super) fn new(tags: u32) -> Tags {
        Tags { free: tags.into(), ..Tags::default() }
    }

    /// A tag is given back that had this limit.
    pub(super) fn give_back(&mut self, limit: Option<u32>) {
        self.free += 1;
        self.limited -= u64::from(limit.is_some());
    }

    /// A request waits. All of a submitter's have one limit.
    pub(super) fn wait(&mut self, limit: Option<u32>, submitter: Submitter, pieces: Vec<Command>) {
        let line = self.waiting.entry(limit).or_default();
        match line.iter_mut().rev().find(|waiting| waiting.submitter == submitter) {
            Some(waiting) => waiting.requests.push_back(pieces),
            None => {
                line.push_back(WaitingSubmitter { number: self.arrivals, submitter, requests: [pieces].into() });
                self.arrivals += 1;
            }
        }
    }

    /// The pieces of the next request that gets its tags. What `merges` takes needs none.
    pub(super) fn next(&mut self, mut merges: impl FnMut(&Command) -> bool) -> Option<Vec<Command>> {
        loop {
            let heads = self.waiting.iter().filter_map(|(&limit, line)| Some((line.front()?.number, limit)));
            let mut heads: Vec<(u64, Option<u32>)> = heads.collect();
            heads.sort_unstable();
            let mut heads = heads.into_iter().map(|(_, limit)| limit);
            let (limit, is_merged) = loop {
                let limit = heads.next()?;
                let pieces = self.waiting[&limit].front()?.requests.front()?;
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
            let pieces = self.take_head(limit)?;
            if !is_merged {
                let tags = pieces.len() as u64;
                self.free -= tags;
                self.limited += if limit.is_some() { tags } else { 0 };
                return Some(pieces);
            }
        }
    }

    /// The first request of a line. Its submitter goes to the end of the line if it has more.
    fn take_head(&mut self, limit: Option<u32>) -> Option<Vec<Command>> {
        let line = self.waiting.get_mut(&limit)?;
        let mut head = line.pop_front()?;
        let pieces = head.requests.pop_front()?;
        if !head.requests.is_empty() {
            line.push_back(WaitingSubmitter { number: self.arrivals, ..head });
            self.arrivals += 1;
        }
        Some(pieces)
    }
}
