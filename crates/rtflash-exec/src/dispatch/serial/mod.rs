//! Serial dispatch: one page operation, or one step of a GC pass on all chips, at a time in a
//! cluster.
//!
//! Each cluster is a lane with a clock of its own. It runs ahead until it asks for a bus that other
//! lanes use, too; the lane of the next grant of all goes on.

mod lane;
mod steps;

use rtflash_model::Instant;

use self::lane::{Ask, Lane};
use super::arrivals::Arrival;
use super::cluster::{ClusterState, max_pending};
use super::policy::Policy;
use super::releases::{Periodics, Releaser};
use crate::error::RunError;
use crate::flash::{BusRequest, Channels};
use crate::ids::{ChannelId, ClusterId, PerId};
use crate::lengths::Lengths;
use crate::options::Options;
use crate::plan::Plan;
use crate::resume::{Resume, resume};
use crate::trace::Observer;

/// What all lanes have in common.
struct Common<'a> {
    options: &'a Options,
    /// When the run ends.
    duration: Instant,
    lengths: Lengths,
    /// Jobs that may be pending in a lane.
    pending: usize,
}

/// A group of clusters under serial dispatch. Clusters that share a channel have to be in one
/// group.
pub(crate) struct Serial<'a, O> {
    common: Common<'a>,
    lanes: Vec<Lane>,
    /// Whether each lane has asked for a bus and has not been granted it.
    asks: Vec<bool>,
    channels: Channels,
    /// Jobs that are not real-time, as they arrive.
    arrivals: Releaser,
    observer: O,
}

resume!(['a, O: Resume] Serial<'a, O> {
    values: [asks],
    parts: [channels, arrivals, observer],
    lists: [lanes],
    made: [common],
});

impl<'a, O: Observer> Serial<'a, O> {
    /// The clusters at these positions of the plan, ascending. `shared` says of each channel
    /// whether several clusters are on it.
    pub(crate) fn new(
        plan: &Plan,
        options: &'a Options,
        clusters: &[ClusterId],
        shared: &PerId<ChannelId, bool>,
        observer: O,
    ) -> Self {
        // Clusters of other groups are on channels of their own.
        let mut own = plan.per_channel(false);
        for &chip in clusters.iter().flat_map(|&position| &plan.clusters()[position].chips) {
            own[plan.channel_of(chip)] = true;
        }
        let shared = shared.iter().zip(&own).map(|(&shared, &own)| shared && own).collect();
        let lane = |(&position, sources): (&ClusterId, Periodics)| {
            Lane::new(plan, ClusterState::new(plan, position, options), (sources, options.duration), &shared)
        };
        let pending = max_pending(plan, options, false) / clusters.len().max(1);
        Serial {
            common: Common {
                options,
                duration: options.duration,
                lengths: Lengths::new(plan, options),
                pending: pending.max(64),
            },
            lanes: clusters.iter().zip(Periodics::by_cluster(plan, clusters, options)).map(lane).collect(),
            asks: vec![false; clusters.len()],
            channels: Channels::new(&shared, options),
            arrivals: Releaser::new(plan, &[], options),
            observer,
        }
    }

    /// All lanes go on, up to `limit`.
    fn advance(&mut self, limit: Instant) -> Result<(), RunError> {
        for lane in 0..self.lanes.len() {
            if !self.asks[lane] {
                self.go_on(lane, limit)?;
            }
        }
        while self.channels.least().is_some_and(|at| at < limit) {
            let lane = self.grant();
            self.go_on(lane, limit)?;
        }
        Ok(())
    }

    /// A lane goes on until it asks for a bus, or nothing is left before `limit`.
    fn go_on(&mut self, lane: usize, limit: Instant) -> Result<(), RunError> {
        if let Some(ask) = self.lanes[lane].run(&self.common, limit, &mut self.observer)? {
            self.asks[lane] = true;
            let Ask { since, channel, chip } = ask;
            self.channels.request(BusRequest { since, channel, chip, lane });
        }
        Ok(())
    }

    /// The next grant of all. Says which lane it was.
    fn grant(&mut self) -> usize {
        let now = self.channels.least().expect("a lane asks for a bus");
        let BusRequest { channel, lane, .. } = self.channels.grant();
        let over = self.lanes[lane].granted(&self.common, channel, now, &mut self.observer);
        self.channels.hold(channel, over);
        self.asks[lane] = false;
        lane
    }

    /// Ends the run at its duration: what is under way is followed to its end.
    pub(crate) fn finish(mut self) -> O {
        while self.asks.contains(&true) {
            self.grant();
        }
        for lane in &mut self.lanes {
            lane.finish(&self.common, &mut self.observer);
        }
        self.observer
    }
}

impl<O: Observer> Policy for Serial<'_, O> {
    type Notified = O;

    fn arrive(&mut self, arrivals: Vec<Arrival>) {
        self.arrivals.arrive(arrivals.into_iter());
    }

    fn run_until(&mut self, limit: Instant) -> Result<(), RunError> {
        // In the background jobs go to the cluster that is least loaded then, and observers are
        // told of a stream's jobs about in order: no lane runs ahead of an arrival.
        while let Some(at) = self.arrivals.next_arrival().filter(|&at| at < limit) {
            self.advance(at)?;
            while self.arrivals.next_arrival() == Some(at) {
                match self.arrivals.next_job(&mut self.lanes) {
                    Some((release, Some(job))) => self.lanes[job.cluster].arrives(release, job),
                    Some((release, None)) => self.observer.release(&release),
                    None => break,
                }
            }
        }
        self.advance(limit)
    }

    fn settled(&mut self, limit: Instant) -> Instant {
        self.lanes.iter().filter_map(Lane::holds_since).fold(limit, Instant::min)
    }

    fn observer(&mut self) -> &mut O {
        &mut self.observer
    }

    fn stop(&mut self, now: Instant) {
        self.common.duration = now;
    }
}
