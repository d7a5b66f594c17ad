//! Job streams: whose server has room for them.

use rtflash_analysis::certified::ChannelContention;
use rtflash_analysis::{Rational, Work};
use rtflash_model::{ClusterId, Id, Job, Reliance, TaskSet};

use super::RunningDevice;

/// Why no server takes a job stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StreamRefusal {
    /// No cluster has a server.
    #[error("no cluster has a server")]
    NoServer,
    /// Its jobs ask for more than any server has left: they would wait longer and longer.
    #[error("in the long run its jobs take more than any server has left")]
    Full,
}

struct ServerRoom {
    cluster: ClusterId,
    /// The cluster's cost of a page that is read, of one that is written, and of its collection.
    costs: PageLoads,
    share: Rational,
    taken: Vec<Rational>,
}

struct PageLoads {
    read: (u128, u128),
    write: (u128, u128),
    collected: (u128, u128),
}

/// For each job stream, in order, the cluster whose server has the most left, the lowest on a tie:
/// in the long run C_j of the jobs takes no more than is left of U_s, each chip of a stripe with an
/// equal part of the pages.
///
/// This is about streams that come for good; tasks are in time in any case (docs/admission.md).
pub fn served_streams(
    set: &TaskSet,
    running: &RunningDevice,
    granted: Reliance,
    work: &Work,
) -> Vec<Result<ClusterId, StreamRefusal>> {
    let mut servers = servers(set, running, granted, work);
    let mut serve = |job: &Job| {
        if servers.is_empty() {
            return Err(StreamRefusal::NoServer);
        }
        let left = servers.iter().enumerate().filter_map(|(at, server)| Some((server.left_with(job)?, at)));
        let most = left.reduce(|most, next| if next.0 > most.0 { next } else { most });
        let (_, at) = most.ok_or(StreamRefusal::Full)?;
        let load = servers[at].costs.of(job);
        servers[at].taken.extend(load);
        Ok(servers[at].cluster)
    };
    set.jobs().iter().map(&mut serve).collect()
}

fn servers(set: &TaskSet, running: &RunningDevice, granted: Reliance, work: &Work) -> Vec<ServerRoom> {
    let contention = ChannelContention::of_certificates(set, &running.clusters, &running.certificates, granted, work);
    let room = |at: usize| {
        let certificate = &running.certificates[at];
        let share = u128::from(certificate.server_thousandths);
        let placed = contention.in_the_worst_case(at).filter(|_| share > 0)?;
        let gc = placed.processor.stated(certificate)??;
        let (read, write) = placed.processor.page_costs();
        let size = u128::from(running.clusters[at].size());
        // A superblock reads one by one, and collects as a whole.
        let [reading, collecting] = if certificate.placement.is_by_chip() { [size; 2] } else { [1; 2] };
        let costs = PageLoads {
            read: (read.as_ns().into(), reading),
            write: (write.as_ns().into(), size),
            collected: (gc.cost.as_ns().into(), u128::from(gc.reclaimed) * collecting),
        };
        let cluster = ClusterId::from_index(at);
        Some(ServerRoom { cluster, costs, share: Rational::product([share], [1_000]), taken: Vec::new() })
    };
    (0..running.clusters.len()).filter_map(room).collect()
}

impl ServerRoom {
    fn left_with(&self, job: &Job) -> Option<Rational> {
        let taken: Vec<Rational> = self.taken.iter().cloned().chain(self.costs.of(job)).collect();
        self.share.clone().minus(&Rational::sum(&taken))
    }
}

impl PageLoads {
    /// The share of a stream in the long run; nothing if it ends.
    fn of(&self, job: &Job) -> Vec<Rational> {
        let Some((jobs, time)) = job.arrivals.rate() else { return Vec::new() };
        let of = |pages: u64, (cost, divisor): (u128, u128)| {
            Rational::product([u128::from(pages), cost, u128::from(jobs)], [divisor, time])
        };
        vec![of(job.read_pages, self.read), of(job.write_pages, self.write), of(job.write_pages, self.collected)]
    }
}
