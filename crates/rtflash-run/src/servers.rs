//! The Total Bandwidth Servers of an allocation.

use rtflash_analysis::Analysis;
use rtflash_analysis::server::{JobPages, Server, earliest_deadline};
use rtflash_model::{Allocation, ClusterId, Id, Instant, TaskSet};
use rtflash_plan::resume::NoState;
use rtflash_plan::{Admission, Grant};

/// A server in each cluster that has something left for one: U_s > 0.
#[derive(Debug, Clone)]
pub struct TbsServers {
    servers: Vec<Option<Server>>,
}

impl TbsServers {
    /// The servers of an allocation.
    pub fn new(set: &TaskSet, allocation: &Allocation, analysis: &dyn Analysis) -> TbsServers {
        let clusters = allocation.clusters();
        let server = |cluster: &rtflash_model::Cluster| Server::new(set, analysis, &cluster.tasks, cluster.size());
        // Without jobs, no caller asks a server.
        TbsServers { servers: if set.jobs().is_empty() { Vec::new() } else { clusters.iter().map(server).collect() } }
    }

    /// No servers: for runs that ask none.
    pub fn none() -> TbsServers {
        TbsServers { servers: Vec::new() }
    }
}

impl Admission for TbsServers {
    /// The earliest deadline, the lowest cluster on a tie (thesis, Section 4.4).
    fn admit(&mut self, at: Instant, read_pages: u64, write_pages: u64) -> Option<Grant> {
        let job = JobPages { read: read_pages, write: write_pages };
        let position = earliest_deadline(&self.servers, at, job)?;
        let grant = self.servers[position].as_mut()?.grant(at, job)?;
        Some(Grant { cluster: ClusterId::from_index(position), deadline: grant.deadline, gc_passes: grant.gc_passes })
    }

    /// For each server the last deadline and w(φ).
    fn state(&self) -> Vec<u64> {
        let state = |server: &Server| [server.last_deadline().as_ns(), server.written_since_gc()];
        self.servers.iter().flatten().flat_map(state).collect()
    }

    fn go_on(&mut self, state: &[u64]) -> Result<(), NoState> {
        let servers: Vec<&mut Server> = self.servers.iter_mut().flatten().collect();
        if state.len() != 2 * servers.len() {
            return Err(NoState);
        }
        for (server, state) in servers.into_iter().zip(state.chunks_exact(2)) {
            server.go_on(Instant::from_ns(state[0]).ok_or(NoState)?, state[1]);
        }
        Ok(())
    }
}
