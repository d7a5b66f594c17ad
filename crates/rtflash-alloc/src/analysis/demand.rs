//! What one task asks of a cluster: Eqs. (IV.1) to (IV.7), each in one place, in exact numbers.

use rtflash_model::generate::PageCosts;
use rtflash_model::{Device, Request, Span, Task};

use crate::fraction::Fraction;

/// The demand of a read or a write request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamDemand {
    /// Pages a request: r or w.
    pub pages: u64,
    /// C^r or C^w: service time of a request, waiting apart.
    pub service: Span,
    /// D^r or D^w: transfer delay of a request.
    pub delay: Span,
    /// T^r or T^w.
    pub period: Span,
}

impl StreamDemand {
    /// C^r = r·t_r, C^w = w·t_w, Eqs. (IV.1) and (IV.2), and D^r = r·D(s), D^w = w·D(s), Eqs. (IV.5) and (IV.6).
    fn new(request: Request, page_cost: Span, page_delay: Span) -> StreamDemand {
        // A checked task set has pages · (cost + delay) below 2⁶³ ns.
        let times = |per_page: Span| per_page.checked_mul(request.pages()).unwrap_or_default();
        StreamDemand {
            pages: request.pages(),
            service: times(page_cost),
            delay: times(page_delay),
            period: request.period(),
        }
    }

    /// (C + D) / T.
    pub fn utilization(&self) -> Fraction {
        Fraction::new(u128::from(self.service.as_ns()) + u128::from(self.delay.as_ns()), self.period.as_ns().into())
    }
}

/// The demand of the GC task that belongs to a writing task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GcDemand {
    /// C^g, Eq. (IV.3).
    pub cost: Span,
    /// T^g(s) in nanoseconds, Eq. (IV.4); not always a whole number.
    pub period: Fraction,
}

impl GcDemand {
    /// T^g(s) = T^w / ⌈w/(αs)⌉ if w > αs, else T^w·⌊αs/w⌋, Eq. (IV.4).
    pub fn new(device: &Device, write: Request, chips: u32) -> GcDemand {
        let reclaimed = reclaimed_pages(device, chips);
        let period = u128::from(write.period().as_ns());
        let period = if write.pages() > reclaimed {
            Fraction::new(period, write.pages().div_ceil(reclaimed).into())
        } else {
            Fraction::new(period * u128::from(reclaimed / write.pages()), 1)
        };
        GcDemand { cost: device.gc_pass(), period }
    }

    /// C^g / T^g.
    pub fn utilization(&self) -> Fraction {
        over(self.cost, self.period)
    }
}

/// α·s: pages that a GC pass frees in a cluster of `chips` chips, at least.
pub fn reclaimed_pages(device: &Device, chips: u32) -> u64 {
    u64::from(device.reclaimed_per_chip()) * u64::from(chips)
}

/// `time` / `period`.
pub(super) fn over(time: Span, period: Fraction) -> Fraction {
    // Both products fit: a period is either (below 2⁶³) / (at most 2⁶³) or (below 2⁶³ · 2⁵²) / 1.
    Fraction::new(u128::from(time.as_ns()) * period.denominator(), period.numerator())
}

/// All terms of a task's utilization in a cluster, Eq. (IV.7). A missing request has no term; without a write there is no GC task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskDemand {
    /// The read request's.
    pub read: Option<StreamDemand>,
    /// The write request's.
    pub write: Option<StreamDemand>,
    /// The GC task's.
    pub gc: Option<GcDemand>,
}

impl TaskDemand {
    /// The demand of `task` in a cluster of `chips` chips, with these costs a page and this D(s).
    pub(super) fn new(device: &Device, task: &Task, chips: u32, costs: PageCosts, delay: Span) -> TaskDemand {
        TaskDemand {
            read: task.read.map(|read| StreamDemand::new(read, costs.read, delay)),
            write: task.write.map(|write| StreamDemand::new(write, costs.write, delay)),
            gc: task.write.map(|write| GcDemand::new(device, write, chips)),
        }
    }

    /// The terms of U_i(s), Eq. (IV.7): read, write and GC, as far as they exist.
    pub fn utilizations(&self) -> impl Iterator<Item = Fraction> + use<> {
        let read = self.read.map(|read| read.utilization());
        let write = self.write.map(|write| write.utilization());
        let gc = self.gc.map(|gc| gc.utilization());
        read.into_iter().chain(write).chain(gc)
    }

    /// The shortest of T^r, T^w and T^g that exist, in nanoseconds.
    pub fn min_period(&self) -> Option<Fraction> {
        let period = |stream: StreamDemand| Fraction::new(stream.period.as_ns().into(), 1);
        let read = self.read.map(period);
        let write = self.write.map(period);
        read.into_iter().chain(write).chain(self.gc.map(|gc| gc.period)).min()
    }
}
