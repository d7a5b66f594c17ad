//! Requests that write, as garbage collection meets them.

use rtflash_model::Span;

use crate::workload::WorkloadCurve;

/// The effect of a writing request on a processor's free pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteStream {
    /// w_i: pages of requests in a row that can fall on the processor.
    pub pages: WorkloadCurve,
    /// T_i, above zero.
    pub period: Span,
    /// J_i, below T_i.
    pub jitter: Span,
    /// ⌈D_i/T_i⌉: its requests that are pending at one time, at most.
    pub waiting: u64,
}

impl WriteStream {
    /// Its part of W: γ(⌈D/T⌉) pages that are pending at one time, at most.
    pub(crate) fn pending(&self) -> u64 {
        rtflash_model::capped(self.pages.of(self.waiting.into()))
    }

    /// Its part of X(y), Eq. (13): γ(⌊(y + J)/T⌋ + 1) pages in a closed interval of length y.
    pub fn arriving(&self, length: Span) -> u128 {
        // Two lengths of time are below 2⁶⁴ together, and so are these requests.
        let requests = (length.as_ns() + self.jitter.as_ns()) / self.period.as_ns() + 1;
        self.pages.of(requests.into())
    }

    /// γ(⌈(y + J)/T⌉): pages within a time y, its end left out; `None` where they are too many.
    pub(crate) fn arriving_within(&self, time: Span) -> Option<u64> {
        let requests = (time.as_ns() + self.jitter.as_ns()).div_ceil(self.period.as_ns());
        u64::try_from(self.pages.of(requests.into())).ok()
    }
}
