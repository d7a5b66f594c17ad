//! Total Bandwidth Servers: deadlines for jobs that are not real-time (thesis, Section 4.4).

use rtflash_model::generate::PageCosts;
use rtflash_model::{Instant, Span, TaskId, TaskSet};

use crate::fraction::Rational;
use crate::{Analysis, reclaimed_pages, server_share};

/// The grant of a job: Eqs. (IV.11) and (IV.12).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TbsGrant {
    /// d_j, rounded up to the nanosecond.
    pub deadline: Instant,
    /// C_j: pages, delays and GC passes.
    pub execution: Span,
    /// B: GC passes, to be run before the job's own writes.
    pub gc_passes: u64,
}

/// The pages of one job J_j = (r_j, w_j).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct JobPages {
    /// r_j.
    pub read: u64,
    /// w_j.
    pub write: u64,
}

/// The Total Bandwidth Server of one cluster, with what it has granted so far.
#[derive(Debug, Clone)]
pub struct Server {
    share: Rational,
    /// Small numerator and denominator: most are, and then a deadline needs no big integers.
    small_share: Option<(u64, u64)>,
    page_costs: PageCosts,
    page_delay: Span,
    gc_pass: Span,
    /// αs.
    reclaimed: u64,
    last_deadline: Instant,
    written: u64,
}

impl Server {
    /// `None` where nothing is left: U_s ≤ 0.
    pub fn new(set: &TaskSet, analysis: &dyn Analysis, tasks: &[TaskId], chips: u32) -> Option<Server> {
        let share = server_share(set, analysis, tasks, chips).filter(|share| !share.is_zero())?.reduced();
        let device = set.device();
        Some(Server {
            small_share: share.to_u64_pair(),
            share,
            page_costs: analysis.page_costs(device),
            page_delay: analysis.transfer_delay(device, chips),
            gc_pass: device.gc_pass(),
            reclaimed: reclaimed_pages(device, chips),
            last_deadline: Instant::START,
            written: 0,
        })
    }

    /// U_s = 1 − U(φ), Eq. (IV.10). Above zero.
    pub fn share(&self) -> &Rational {
        &self.share
    }

    /// w(φ): pages that the server has written since its last GC pass.
    pub fn written_since_gc(&self) -> u64 {
        self.written
    }

    /// The deadline of the last job granted; time 0 before the first.
    pub fn last_deadline(&self) -> Instant {
        self.last_deadline
    }

    /// B = ⌈(w_j + w(φ))/(αs)⌉ if w_j + w(φ) > αs, else 0, Eq. (IV.12). A job that only reads pays
    /// for earlier writes, where these exceed one pass.
    pub fn gc_passes(&self, job: JobPages) -> u64 {
        let pages = self.written.saturating_add(job.write);
        if pages > self.reclaimed { pages.div_ceil(self.reclaimed) } else { 0 }
    }

    /// C_j = C^r + D^r + C^w + D^w + B·C^g, Eq. (IV.12), or `None` at 2⁶³ ns and above.
    pub fn execution(&self, job: JobPages) -> Option<Span> {
        let read = self.page_costs.read.checked_add(self.page_delay)?.checked_mul(job.read)?;
        let write = self.page_costs.write.checked_add(self.page_delay)?.checked_mul(job.write)?;
        let gc = self.gc_pass.checked_mul(self.gc_passes(job))?;
        read.checked_add(write)?.checked_add(gc)
    }

    /// d_j = max(a_j, d_{j−1}) + C_j/U_s, Eq. (IV.11); `None` from 2⁶³ ns on.
    pub fn offer(&self, arrival: Instant, job: JobPages) -> Option<TbsGrant> {
        let execution = self.execution(job)?;
        let stretched = match self.small_share {
            Some((numerator, denominator)) => {
                let product = u128::from(execution.as_ns()) * u128::from(denominator);
                u64::try_from(product.div_ceil(numerator.into())).ok()?
            }
            None => self.share.ceil_divide(execution.as_ns())?,
        };
        let deadline = arrival.max(self.last_deadline).checked_add(Span::from_ns(stretched)?)?;
        Some(TbsGrant { deadline, execution, gc_passes: self.gc_passes(job) })
    }

    /// Grants what [`Server::offer`] says: the next job queues behind this one.
    pub fn grant(&mut self, arrival: Instant, job: JobPages) -> Option<TbsGrant> {
        let grant = self.offer(arrival, job)?;
        self.last_deadline = grant.deadline;
        self.written = if grant.gc_passes == 0 { self.written + job.write } else { job.write };
        Some(grant)
    }

    /// Goes on behind another one with the same tasks, whose last deadline and w(φ) these are.
    pub fn go_on(&mut self, last_deadline: Instant, written_since_gc: u64) {
        (self.last_deadline, self.written) = (last_deadline, written_since_gc);
    }
}

/// The server that offers the earliest deadline, in whole nanoseconds, the lowest position on a
/// tie. `None`: clusters without a server.
pub fn earliest_deadline(servers: &[Option<Server>], arrival: Instant, job: JobPages) -> Option<usize> {
    let offers = servers
        .iter()
        .enumerate()
        .filter_map(|(position, server)| Some((server.as_ref()?.offer(arrival, job)?.deadline, position)));
    offers.min().map(|(_, position)| position)
}

#[cfg(test)]
mod tests {
    use rtflash_model::{Device, DeviceSpec, Request, Task};

    use super::*;
    use crate::{Thesis, ThesisEvaluated};

    fn at(ms: u64) -> Instant {
        Instant::from_ns(ms * 1_000_000).unwrap()
    }

    fn set(tasks: Vec<Task>) -> TaskSet {
        let spec = Device::profile("dgist-2021").unwrap().spec();
        TaskSet::new(Device::new(DeviceSpec { chips: 4, chips_per_channel: 2, ..spec }).unwrap(), tasks, vec![])
            .unwrap()
    }

    /// A task that takes exactly one half: 10 ms blocking and reading in each 20 ms.
    fn half() -> Task {
        Task { name: "half".into(), read: Request::new(100, Span::from_us(20_000)), write: None, data_pages: None }
    }

    #[test]
    fn deadlines_follow_equation_iv_11() {
        let mut server = Server::new(&set(vec![half()]), &Thesis, &[TaskId(0)], 1).unwrap();
        assert_eq!(server.share().to_u64_pair(), Some((1, 2)));
        // 40 reads take 2 ms, stretched to 4 ms; the second job arrives before the first one's
        // deadline and queues behind it.
        let job = JobPages { read: 40, write: 0 };
        assert_eq!(server.grant(at(10), job).unwrap().deadline, at(14));
        assert_eq!(server.grant(at(11), job).unwrap().deadline, at(18));
        assert_eq!(server.grant(at(30), job).unwrap().deadline, at(34));
    }

    #[test]
    fn garbage_collection_follows_equation_iv_12() {
        let mut server = Server::new(&set(vec![]), &Thesis, &[], 1).unwrap();
        let job = JobPages { read: 0, write: 100 };
        // 100 pages fit the 128 reclaimed pages; 200 do not: two passes of 75.4 ms, after which
        // w(φ) is the job's own.
        let grant = server.grant(at(0), job).unwrap();
        assert_eq!((grant.gc_passes, grant.execution, server.written_since_gc()), (0, Span::from_us(50_000), 100));
        let grant = server.grant(at(0), job).unwrap();
        assert_eq!(
            (grant.gc_passes, grant.execution, server.written_since_gc()),
            (2, Span::from_us(50_000 + 2 * 75_400), 100)
        );
        assert_eq!(grant.deadline.as_ns(), 250_800_000);
        // Exactly 128 pages need none; one more needs two passes.
        assert_eq!(server.gc_passes(JobPages { read: 0, write: 28 }), 0);
        assert_eq!(server.gc_passes(JobPages { read: 0, write: 29 }), 2);
        // After 300 pages at once, three passes' worth, even a job that only reads is charged for
        // them; then they are paid.
        server.grant(at(0), JobPages { read: 0, write: 300 }).unwrap();
        let reading = JobPages { read: 1, write: 0 };
        assert_eq!(server.grant(at(0), reading).unwrap().gc_passes, 3);
        assert_eq!(server.grant(at(0), reading).unwrap().gc_passes, 0);
    }

    #[test]
    fn the_earliest_deadline_wins_and_the_lowest_position_on_a_tie() {
        let set = set(vec![half()]);
        let server = |tasks: &[TaskId], chips| Server::new(&set, &ThesisEvaluated, tasks, chips);
        // A share of one half against whole clusters: at two chips no delay, at one chip one t_d a
        // page.
        let job = JobPages { read: 10, write: 0 };
        assert_eq!(
            earliest_deadline(&[server(&[TaskId(0)], 2), server(&[], 1), server(&[], 2), server(&[], 2)], at(1), job),
            Some(2)
        );
        assert_eq!(earliest_deadline(&[None, server(&[], 2)], at(1), job), Some(1));
        assert_eq!(earliest_deadline(&[None, None], at(1), job), None);
    }

    #[test]
    fn a_full_cluster_has_no_server() {
        let full =
            Task { name: "full".into(), read: Request::new(300, Span::from_us(20_000)), write: None, data_pages: None };
        assert!(Server::new(&set(vec![full]), &Thesis, &[TaskId(0)], 1).is_none());
    }

    #[test]
    fn numbers_too_large_are_refused() {
        let server = Server::new(&set(vec![]), &Thesis, &[], 1).unwrap();
        assert_eq!(server.offer(at(0), JobPages { read: u64::MAX, write: 0 }), None);
        assert_eq!(server.offer(Instant::from_ns((1 << 63) - 1).unwrap(), JobPages { read: 1, write: 0 }), None);
    }
}
