//! Requests of a trace as streams of jobs that are not real-time.

use std::collections::BTreeMap;

use rtflash_model::{Arrivals, Instant, Job};

use crate::import::block::TracedRequest;

/// Pages of this many bytes that a request reads or writes in part at least.
///
/// # Panics
/// If a page has no bytes.
pub fn pages_touched(request: &TracedRequest, page_size: u32) -> u64 {
    let page = u64::from(page_size);
    // It ends at 2⁶⁴ at most, and begins before that.
    let last = request.offset.saturating_add(request.bytes.max(1) - 1);
    last / page - request.offset / page + 1
}

/// The job streams that the requests make, which are sorted by time: one for each operation and
/// number of pages, reads first, smaller ones first. Each job comes when its request came, counted
/// from the first request of all; `None` where that is 2⁶³ ns or more.
///
/// A request becomes the pages of `page_size` bytes that it touches. The jobs do not read and write
/// back the rest of a page that it touches in part.
pub fn job_streams(requests: &[TracedRequest], page_size: u32) -> Option<Vec<Job>> {
    let start = requests.first().map_or(0, |request| request.at);
    let mut streams: BTreeMap<(bool, u64), Vec<Instant>> = BTreeMap::new();
    for request in requests {
        let at = Instant::from_ns(request.at - start)?;
        streams.entry((request.writes, pages_touched(request, page_size))).or_default().push(at);
    }
    let job = |((writes, pages), times)| Job {
        name: format!("{} {pages}", if writes { "write" } else { "read" }),
        read_pages: if writes { 0 } else { pages },
        write_pages: if writes { pages } else { 0 },
        arrivals: Arrivals::At(times),
    };
    Some(streams.into_iter().map(job).collect())
}
