//! The demand of one task on a cluster: Eqs. (IV.1) to (IV.7), each in one place, in exact numbers.

use rtflash_model::generate::PageCosts;
use rtflash_model::{Device, Request, Span, Task};

use crate::fraction::{Fraction, Rational};

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
    /// C^r = r·t_r, C^w = w·t_w, D^r = r·D(s), D^w = w·D(s): Eqs. (IV.1), (IV.2), (IV.5), (IV.6).
    fn new(request: Request, page_cost: Span, page_delay: Span) -> StreamDemand {
        // A checked task set has pages · (cost + delay) below 2⁶³ ns with the thesis's costs and
        // delays; with others it may be above, and above every period.
        let times = |per_page: Span| per_page.checked_mul(request.pages()).unwrap_or(Span::LONGEST);
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
            Fraction::new(period, write.pages().div_ceil(reclaimed.max(1)).into())
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

/// `time` / `period`. Exact for the periods of Eq. (IV.4).
pub(crate) fn over(time: Span, period: Fraction) -> Fraction {
    let time = u128::from(time.as_ns());
    // By Eq. (IV.4), a period is either (below 2⁶³) / (at most 2⁶³) or (below 2⁶³ · 2⁵²) / 1, and
    // the product fits.
    match time.checked_mul(period.denominator()) {
        Some(product) => Fraction::new(product, period.numerator()),
        // A period of an analysis's own can have that many digits. Without the last 63 of both, the
        // quotient is slightly above its value.
        None => Fraction::new(time * ((period.denominator() >> 63) + 1), period.numerator() >> 63),
    }
}

/// [`over`], exactly, whatever the period.
pub(crate) fn exactly_over(time: Span, period: Fraction) -> Rational {
    Rational::product([time.as_ns().into(), period.denominator()], [period.numerator()])
}

/// A task's utilization, Eq. (IV.7). A missing request has no term.
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
    /// Eqs. (IV.1) to (IV.6) with these costs of a page and this D(s).
    pub fn new(device: &Device, task: &Task, chips: u32, costs: PageCosts, delay: Span) -> TaskDemand {
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

    /// Read, write and GC: C + D or C^g in nanoseconds, and the period, in which it is due.
    pub fn jobs(&self) -> impl Iterator<Item = (u128, Fraction)> + use<> {
        let request = |of: StreamDemand| {
            let time = u128::from(of.service.as_ns()) + u128::from(of.delay.as_ns());
            (time, Fraction::new(of.period.as_ns().into(), 1))
        };
        let gc = self.gc.map(|gc| (gc.cost.as_ns().into(), gc.period));
        self.read.map(request).into_iter().chain(self.write.map(request)).chain(gc)
    }

    /// [`TaskDemand::utilizations`] where an analysis may have put any numbers into them.
    pub(crate) fn exact_utilizations(&self) -> impl Iterator<Item = Rational> + use<> {
        let requests = [self.read, self.write].into_iter().flatten().map(|stream| stream.utilization().into());
        requests.chain(self.gc.map(|gc| exactly_over(gc.cost, gc.period)))
    }

    /// The shortest of T^r, T^w and T^g that exist, in nanoseconds.
    pub fn min_period(&self) -> Option<Fraction> {
        let period = |stream: StreamDemand| Fraction::new(stream.period.as_ns().into(), 1);
        let read = self.read.map(period);
        let write = self.write.map(period);
        read.into_iter().chain(write).chain(self.gc.map(|gc| gc.period)).min()
    }
}
