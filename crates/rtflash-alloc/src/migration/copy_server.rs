//! A server that copies pages.

use rtflash_model::{Access, Request, Span};

/// Each period it reads `pages` at their old place, and the period after it writes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyServer {
    /// Pages a period.
    pub pages: u64,
    /// The period, which is each request's deadline, too.
    pub period: Span,
}

impl CopyServer {
    /// Its requests, to read and then to write: pages in order.
    pub fn request(&self) -> Option<Request> {
        Request::new(self.pages, self.period).map(|request| request.with_access(Access::Stream))
    }

    /// Requests of either kind that `pages` pages take.
    pub fn requests(&self, pages: u64) -> u64 {
        pages.div_ceil(self.pages.max(1))
    }

    /// The most from its first request until the last of `pages` pages is written.
    pub fn within(&self, pages: u64) -> Option<Span> {
        self.period.checked_mul(self.requests(pages).checked_add(1)?)
    }

    /// Pages that it holds at a time, at most: those that are read, and those that are written.
    pub fn buffer_pages(&self, pages: u64) -> u64 {
        self.pages.saturating_mul(2).min(pages)
    }
}
