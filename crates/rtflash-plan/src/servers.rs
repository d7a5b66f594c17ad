//! Total Bandwidth Servers, Section 5 of docs/analysis.md: one on each processor. The grant of a
//! job depends on arrivals alone, so it is known before the run gets there.

use rtflash_ftl::{AskedPages, ServerGrants};
use rtflash_model::Instant;

use crate::arrivals::{A_STREAM, Arrival, Grant};
use crate::ids::{ClusterId, PerId};
use crate::plan::{Certified, Plan, server};
use crate::resume::resume;

/// The servers of all clusters.
pub struct Servers<'a> {
    plan: &'a Plan,
    certified: &'a PerId<ClusterId, Certified>,
    seed: u64,
    accounts: PerId<ClusterId, Vec<ServerGrants>>,
}

resume!(['a] Servers<'a> {
    values: [accounts],
    parts: [],
    lists: [],
    made: [plan, certified, seed],
});

/// A cluster's offer for a job: its deadline, and the accounts of the processors with pages of it.
type Offer = (Instant, Vec<(usize, ServerGrants)>);

impl<'a> Servers<'a> {
    /// The servers as a run begins. Jobs' pages are drawn from `seed`.
    pub fn new(plan: &'a Plan, certified: &'a PerId<ClusterId, Certified>, seed: u64) -> Servers<'a> {
        let accounts = plan.clusters().iter().zip(certified).map(|(cluster, by)| {
            let served = by.certificate.server_thousandths > 0 && by.certificate.collection.is_some();
            let processors = if by.is_stripe() { cluster.chips.len() } else { 1 };
            vec![ServerGrants::default(); if served { processors } else { 0 }]
        });
        Servers { plan, certified, seed, accounts: accounts.collect() }
    }

    /// The cluster with the earliest deadline, the lowest position among equals, serves the job.
    pub fn grant(&mut self, arrival: &Arrival) -> Option<Grant> {
        let offers = self.accounts.ids().filter_map(|cluster| Some((cluster, self.offer(cluster, arrival)?)));
        let (cluster, (deadline, accounts)) = offers.min_by_key(|(_, (deadline, _))| *deadline)?;
        for (processor, account) in accounts {
            self.accounts[cluster][processor] = ServerGrants { due: deadline.as_ns(), ..account };
        }
        Some(Grant { cluster, deadline, gc_passes: 0 })
    }

    /// The latest of the processors with a part in the job. `None` without a server, or too late.
    fn offer(&self, cluster: ClusterId, arrival: &Arrival) -> Option<Offer> {
        let accounts = Some(&self.accounts[cluster]).filter(|accounts| !accounts.is_empty())?;
        let (of, by) = (&self.plan.clusters()[cluster], &self.certified[cluster]);
        arrival.read_pages.checked_add(arrival.write_pages)?;
        let stream = self.plan.sources()[arrival.job.source].stream().expect(A_STREAM);
        let range = &by.ranges[of.tasks.len() + stream];
        let mut parts = vec![AskedPages::default(); accounts.len()];
        if by.is_stripe() {
            for (lpn, place) in arrival.pages(self.seed, cluster, range).into_iter().zip(0..) {
                let part = &mut parts[lpn.index() % accounts.len()];
                *(if place < arrival.read_pages { &mut part.reads } else { &mut part.writes }) += 1;
            }
        } else {
            parts[0] = AskedPages { reads: arrival.read_pages, writes: arrival.write_pages };
        }
        let server = server(self.plan.device(), of, by)?;
        let (width, reclaimed) = (by.width(of.layout.chips()), by.certificate.collection?.reclaimed_pages);
        // Deadlines ascend, so EDF has rule V1.
        let with = |account: &ServerGrants, asked| account.with(&server, asked, width, reclaimed, arrival.at.as_ns());
        let asked = accounts.iter().zip(parts).enumerate().filter(|(_, (_, asked))| *asked != AskedPages::default());
        let after = asked.map(|(processor, (account, asked))| Some((processor, with(account, asked)?)));
        let after: Vec<(usize, ServerGrants)> = after.collect::<Option<_>>()?;
        let latest = after.iter().map(|(_, account)| account.due).fold(0, u64::max);
        Some((Instant::from_ns(latest)?, after))
    }
}
