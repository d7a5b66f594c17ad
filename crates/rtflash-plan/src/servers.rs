//! Total Bandwidth Servers, Section 5 of docs/analysis.md: one on each processor. What a job is
//! granted depends on arrivals alone, so it is known before the run gets there.

use rtflash_model::Instant;
use serde::{Deserialize, Serialize};

use crate::arrivals::A_STREAM;
use crate::arrivals::{Arrival, Grant};
use crate::ids::{ClusterId, PerId};
use crate::plan::{Certified, Plan};
use crate::resume::resume;

/// A server's account.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct ServerAccount {
    /// n: pages that its jobs write.
    pages: u64,
    /// The deadline of its last job.
    deadline: Instant,
}

/// The servers of all clusters.
pub struct Servers<'a> {
    plan: &'a Plan,
    certified: &'a PerId<ClusterId, Certified>,
    seed: u64,
    /// For each cluster, each of its processors; none without a server.
    accounts: PerId<ClusterId, Vec<ServerAccount>>,
}

resume!(['a] Servers<'a> {
    values: [accounts],
    parts: [],
    lists: [],
    made: [plan, certified, seed],
});

/// What a job would be granted by a cluster: its deadline, and for each processor that it has pages
/// on the processor's account afterwards.
type Offer = (Instant, Vec<(usize, ServerAccount)>);

impl<'a> Servers<'a> {
    /// The servers as a run begins. Jobs' pages are drawn from `seed`.
    pub fn new(plan: &'a Plan, certified: &'a PerId<ClusterId, Certified>, seed: u64) -> Servers<'a> {
        let accounts = plan.clusters().iter().zip(certified).map(|(cluster, by)| {
            let served = by.certificate.server_thousandths > 0 && by.certificate.collection.is_some();
            let processors = if by.is_stripe() { cluster.chips.len() } else { 1 };
            vec![ServerAccount::default(); if served { processors } else { 0 }]
        });
        Servers { plan, certified, seed, accounts: accounts.collect() }
    }

    /// Grants the job to the cluster that offers the earliest deadline, the lowest position among
    /// equals.
    pub fn grant(&mut self, arrival: &Arrival) -> Option<Grant> {
        let offers = self.accounts.ids().filter_map(|cluster| Some((cluster, self.offer(cluster, arrival)?)));
        let (cluster, (deadline, accounts)) = offers.min_by_key(|(_, (deadline, _))| *deadline)?;
        for (processor, account) in accounts {
            self.accounts[cluster][processor] = ServerAccount { deadline, ..account };
        }
        Some(Grant { cluster, deadline, gc_passes: 0 })
    }

    /// The latest of the deadlines that the processors with a part in the job give it; all of them
    /// take that one. `None` without a server, and where the deadline is beyond the end of time.
    fn offer(&self, cluster: ClusterId, arrival: &Arrival) -> Option<Offer> {
        let accounts = Some(&self.accounts[cluster]).filter(|accounts| !accounts.is_empty())?;
        let (of, by) = (&self.plan.clusters()[cluster], &self.certified[cluster]);
        let certificate = by.certificate;
        arrival.read_pages.checked_add(arrival.write_pages)?;
        let stream = self.plan.sources()[arrival.job.source].stream().expect(A_STREAM);
        let range = &by.ranges[of.tasks.len() + stream];
        let mut parts = vec![(0u64, 0u64); accounts.len()];
        if by.is_stripe() {
            for (lpn, place) in arrival.pages(self.seed, cluster, range).into_iter().zip(0..) {
                let part = &mut parts[lpn.index() % accounts.len()];
                *(if place < arrival.read_pages { &mut part.0 } else { &mut part.1 }) += 1;
            }
        } else {
            parts[0] = (arrival.read_pages, arrival.write_pages);
        }
        let costs = by.served_costs(self.plan.device(), of)?;
        let [read, program, turn] = costs.map(|cost| u128::from(cost.as_ns()));
        let (pass, reclaimed) = (by.pass?, certificate.collection?.reclaimed_pages);
        let wide = if by.is_stripe() { 1 } else { of.chips.len() as u64 };
        let mut latest = Instant::START;
        let mut after = Vec::new();
        for (processor, (&account, (reads, writes))) in accounts.iter().zip(parts).enumerate() {
            if reads + writes == 0 {
                continue;
            }
            let written = account.pages.checked_add(writes)?;
            // B_j, C_j and d_j, Eqs. (29), (30) and (31). Deadlines ascend, so EDF has rule V1.
            let passes = written / reclaimed - account.pages / reclaimed;
            let cost = u128::from(reads) * read
                + u128::from(writes.div_ceil(wide)) * program
                + u128::from(passes) * u128::from(pass.as_ns());
            // Reads, programs and each pass: Eq. (66).
            let turns = u128::from(reads > 0) + u128::from(writes > 0) + u128::from(passes);
            let time =
                cost.checked_add(turns * turn)?.checked_mul(1_000)?.div_ceil(certificate.server_thousandths.into());
            let start = arrival.at.max(account.deadline).as_ns();
            let deadline = Instant::from_ns(start.checked_add(u64::try_from(time).ok()?)?)?;
            latest = latest.max(deadline);
            after.push((processor, ServerAccount { pages: written, deadline }));
        }
        Some((latest, after))
    }
}
