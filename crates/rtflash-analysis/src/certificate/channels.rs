//! Clusters on their chips: who shares a channel with whom, and what follows for each processor.

mod certify;
mod extended;
mod neighbourhoods;

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use rtflash_model::{Certificate, Cluster, Placement, Reliance, Space, Span, Task, TaskSet, Tightest};

use super::choice::{Choice, choose, nearest_terms};
use super::placed::{PlacedProcessor, worst};
use super::shortfall::Shortfall;
use crate::demand::Nearest;
use crate::demand::bus::Contention;
use crate::gc::ChosenGc;
use crate::organisation::processor::Processor;
use crate::organisation::shared_bus::SharedBus;
use crate::organisation::{collects, is_on_one_channel, may_queue};
use crate::work::Work;
pub use certify::{Certification, certify, certify_beside, certify_whole, certify_without_servers};
use neighbourhoods::Neighbourhood;

/// A cluster's processor with no one else on the bus; `None` where its times cannot be added up.
type AloneProcessor = OnceCell<Option<Rc<Processor>>>;

/// Clusters on each channel, ascending, with the number of their chips there.
type ChannelMap = BTreeMap<u32, Vec<(usize, u32)>>;

/// The clusters of a device with the placement of pages in each.
#[derive(Debug, Clone)]
pub struct ChannelContention<'a> {
    set: &'a TaskSet,
    clusters: Vec<Cow<'a, Cluster>>,
    placements: Vec<Placement>,
    /// Thousandths of the server of each cluster.
    servers: Vec<u32>,
    /// A superblock that may not backfill waits for no more than its neighbours make (Section 14).
    backfill: Vec<bool>,
    granted: Reliance,
    work: &'a Work,
    /// Unknown, or of each processor; `None` inside where nothing is written.
    gcs: Vec<Option<Option<ChosenGc>>>,
    alone: Vec<AloneProcessor>,
    channels: Rc<ChannelMap>,
    /// Whether a cluster that fails ends the tests.
    whole: bool,
    /// Whether what clusters leave is given to servers.
    reserves: bool,
}

impl<'a> ChannelContention<'a> {
    /// `servers` are in thousandths.
    pub fn new(
        set: &'a TaskSet,
        clusters: &'a [Cluster],
        placements: Vec<Placement>,
        servers: Vec<u32>,
        granted: Reliance,
        work: &'a Work,
    ) -> ChannelContention<'a> {
        let ways = set.device().chips_per_channel();
        let mut channels = ChannelMap::new();
        for (position, cluster) in clusters.iter().enumerate() {
            add_chips(&mut channels, ways, position, cluster);
        }
        ChannelContention {
            set,
            clusters: clusters.iter().map(Cow::Borrowed).collect(),
            placements,
            servers,
            backfill: vec![true; clusters.len()],
            granted,
            work,
            gcs: vec![None; clusters.len()],
            alone: vec![OnceCell::new(); clusters.len()],
            channels: Rc::new(channels),
            whole: false,
            reserves: true,
        }
    }

    /// The clusters whose certificates an allocation has, as they were certified.
    pub fn of_certificates(
        set: &'a TaskSet,
        clusters: &'a [Cluster],
        certificates: &[Certificate],
        granted: Reliance,
        work: &'a Work,
    ) -> ChannelContention<'a> {
        let placements = certificates.iter().map(|certificate| certificate.placement).collect();
        let servers = certificates.iter().map(|each| each.server_thousandths).collect();
        let mut contention = ChannelContention::new(set, clusters, placements, servers, granted, work);
        contention.backfill = certificates.iter().map(|certificate| certificate.backfill).collect();
        for (position, certificate) in certificates.iter().enumerate() {
            contention.states(position, certificate);
        }
        contention
    }

    fn states(&mut self, position: usize, certificate: &Certificate) {
        self.gcs[position] = self.alone(position).and_then(|processor| processor.stated(certificate));
    }

    fn alone(&self, position: usize) -> Option<&Processor> {
        let found = || self.processor(position, SharedBus::alone()).map(Rc::new);
        self.alone[position].get_or_init(found).as_deref()
    }

    fn tasks(&self, position: usize) -> impl Iterator<Item = &'a Task> + Clone {
        let set = self.set;
        self.clusters[position].tasks.iter().filter_map(|&task| set.tasks().get(task))
    }

    fn is_active(&self, position: usize) -> bool {
        self.servers[position] > 0 || !self.clusters[position].tasks.is_empty()
    }

    fn is_on_one_channel(&self, position: usize) -> bool {
        is_on_one_channel(self.placements[position])
    }

    /// Whether its chips ask for the bus as (T'') supposes, and no page is programmed twice.
    fn may_queue(&self, position: usize) -> bool {
        self.set.device().program_failures() == 0 && may_queue(self.placements[position])
    }

    fn serves(&self, position: usize) -> bool {
        self.servers[position] > 0
    }

    fn is_bounded(&self, position: usize) -> bool {
        let serves = self.serves(position);
        // The copies over the bus are known once a cluster's garbage collection is, and so is the
        // rate of copies' commands.
        let (rows, commands) = (!self.is_on_one_channel(position), self.set.device().has_commands());
        // If its pages wait, commands of its other chips may go with them: Section 15.1.
        let joins = rows && commands && self.placements[position].is_cached();
        // Nor of who is said to own zones and writes them out of order.
        let zones = collects(self.placements[position]) || self.tasks(position).all(Task::fits_zones);
        !serves && zones && !joins && (!rows && !commands || self.gcs[position].is_some())
    }

    fn processor(&self, position: usize, bus: SharedBus) -> Option<Processor> {
        let (device, size) = (self.set.device(), self.clusters[position].size());
        self.work.prepare(2 * self.clusters[position].tasks.len() + 16);
        Processor::new(device, self.tasks(position), size, self.placements[position], bus)
    }

    /// A cluster's processor, all other chips of its channels taken to be as busy as can be.
    pub fn in_the_worst_case(&self, position: usize) -> Option<PlacedProcessor> {
        let processor = self.processor(position, self.worst_bus(position))?;
        Some(PlacedProcessor { processor, contentions: vec![Contention::none()] })
    }

    /// A cluster's processor next to its neighbours as they are, as far as it may rely on them.
    pub fn as_granted(&self, position: usize) -> Option<PlacedProcessor> {
        self.relying_on(position, self.granted)
    }

    /// The test that relies on this: (T), (T') or (T''). (T') holds under any arbiter that lets no
    /// chip wait for more than one transfer of each other, and with any times up to the worst.
    pub fn relying_on(&self, position: usize, reliance: Reliance) -> Option<PlacedProcessor> {
        match reliance {
            Reliance::Nothing => self.in_the_worst_case(position),
            Reliance::Neighbours => self.beside(position, false),
            Reliance::Queue => self.beside(position, true),
        }
    }

    fn beside(&self, position: usize, queues: bool) -> Option<PlacedProcessor> {
        let (bus, neighbourhoods) = self.neighbourhoods(position, queues);
        let processor = self.processor(position, bus)?;
        if neighbourhoods.is_empty() {
            return Some(PlacedProcessor { processor, contentions: vec![Contention::none()] });
        }
        let mut contentions = Vec::with_capacity(neighbourhoods.len());
        for Neighbourhood { charged, siblings, bounded, rows_wait_elsewhere } in neighbourhoods {
            let more = charged.checked_sub(bus.ways).expect("each page is charged the fewest of all channels");
            let mut contention =
                Contention::new(self.set.device()).with_more(more.into()).rows_wait_elsewhere(rows_wait_elsewhere);
            for (neighbour, chips) in bounded {
                let alone = self.alone(neighbour)?;
                self.work.prepare(alone.tasks.len() + 4);
                contention.add(alone, self.gcs[neighbour].flatten(), chips.into());
            }
            contentions.push(match siblings {
                Some(siblings) => contention.in_a_queue(self.set.device(), siblings.into()),
                None => contention,
            });
        }
        Some(PlacedProcessor { processor, contentions })
    }

    /// The interval on which a cluster comes nearest to missing a deadline by a certificate.
    pub fn tightest(&self, position: usize, certificate: &Certificate) -> Option<Tightest> {
        let placed = self.as_granted(position)?;
        let gc = placed.processor.stated(certificate)?;
        let demands = placed.demands(gc, certificate.server_thousandths, self.work);
        let tightest = demands.filter_map(|demand| demand.nearest().map(tightest_of));
        tightest.min_by_key(|tightest| (tightest.slack_ns, tightest.length))
    }

    /// Whether a cluster is in time by a certificate, as far as it may rely on others. A test that
    /// relies on less can find a yes where one that relies on more is given up.
    pub fn holds_as_stated(&self, position: usize, certificate: &Certificate) -> bool {
        Reliance::ALL.into_iter().rev().any(|reliance| self.may_hold_by(position, certificate, reliance))
    }

    /// The least that a cluster has to rely on; `None` where what is granted is not enough.
    pub fn least_reliance(&self, position: usize, certificate: &Certificate) -> Option<Reliance> {
        Reliance::ALL.into_iter().find(|&reliance| self.may_hold_by(position, certificate, reliance))
    }

    fn may_hold_by(&self, position: usize, certificate: &Certificate, reliance: Reliance) -> bool {
        reliance <= self.granted && self.holds_by(position, certificate, reliance)
    }

    pub(crate) fn holds_by(&self, position: usize, certificate: &Certificate, reliance: Reliance) -> bool {
        let placed = self.relying_on(position, reliance);
        let stated = placed.and_then(|placed| Some((placed.processor.stated(certificate)?, placed)));
        stated.is_some_and(|(gc, placed)| self.holds_at(position, &placed, gc))
    }

    fn channels_of(&self, position: usize) -> impl Iterator<Item = (u32, &Vec<(usize, u32)>)> {
        let ways = self.set.device().chips_per_channel();
        let mut before = None;
        // Chips ascend.
        let channels = self.clusters[position].chips.iter().map(move |chip| chip.0 / ways).filter(move |&channel| {
            let first = before != Some(channel);
            before = Some(channel);
            first
        });
        channels.filter_map(|channel| Some((channel, self.channels.get(&channel)?)))
    }

    /// The data of a cluster's tasks beside its logical pages.
    pub fn space(&self, position: usize) -> Space {
        let cluster = &self.clusters[position];
        self.set.space(&cluster.tasks, cluster.size(), Some(self.placements[position]))
    }

    /// Whether the tasks' data fit the cluster.
    pub fn holds_data(&self, position: usize) -> bool {
        self.space(position).fits()
    }

    pub(crate) fn certificate(&self, position: usize, gc: Option<ChosenGc>) -> Option<Certificate> {
        let placed = self.as_granted(position)?;
        let server_thousandths = self.servers[position];
        // The chosen GC parameters, at their cost on this cluster.
        let gc = match gc {
            Some(gc) => Some(placed.processor.gc(gc.deadline.unwrap_or(Span::ZERO), server_thousandths > 0)?),
            None => None,
        };
        let tightest = placed.demands(gc, server_thousandths, self.work).filter_map(|demand| {
            let nearest = demand.tightest()?;
            Some(tightest_of(nearest))
        });
        Some(Certificate {
            placement: self.placements[position],
            collection: gc.map(ChosenGc::to_collection),
            server_thousandths,
            backfill: self.backfill[position],
            tightest: tightest.min_by_key(|tightest| (tightest.slack_ns, tightest.length)),
        })
    }
}

impl<'a> ChannelContention<'a> {
    /// `None` where no garbage collection keeps up.
    fn nearest_gc(&self, position: usize) -> Option<Option<ChosenGc>> {
        let processor = self.as_granted(position)?.processor;
        if processor.write_streams.is_empty() {
            return Some(None);
        }
        nearest_terms(&processor, self.work).map(Some)
    }

    /// For a cluster that fails: the garbage collection that comes nearest, as it was settled.
    fn failing_certificate(&self, position: usize) -> Option<Certificate> {
        let placed = self.as_granted(position)?;
        let gc = match self.gcs[position]? {
            Some(gc) => Some(placed.processor.costing(gc)?),
            None => None,
        };
        let nearest = worst(&placed, gc, self.work);
        Some(Certificate {
            placement: self.placements[position],
            collection: gc.map(ChosenGc::to_collection),
            server_thousandths: 0,
            backfill: self.backfill[position],
            tightest: Some(tightest_of(nearest)),
        })
    }

    /// By how much and why a cluster fails, if it does.
    pub fn shortfall(&self, position: usize) -> Shortfall<'a> {
        let (size, placement) = (self.clusters[position].size(), self.placements[position]);
        let placed = self.as_granted(position);
        Shortfall::new(self.set.device(), self.tasks(position), size, placement, placed, self.work)
    }

    fn choose(&self, placed: &PlacedProcessor) -> Choice {
        choose(&placed.processor, &placed.contentions, 0, self.work)
    }

    /// Whether a cluster holds whatever its neighbours do.
    pub fn holds_in_the_worst_case(&self, position: usize) -> bool {
        let placed = self.in_the_worst_case(position);
        self.holds_data(position) && placed.is_some_and(|placed| self.choose(&placed).holds())
    }
}

fn add_chips(channels: &mut ChannelMap, ways: u32, position: usize, cluster: &Cluster) {
    // Chips ascend: those of a channel are together.
    for chips in cluster.chips.chunk_by(|a, b| a.0 / ways == b.0 / ways) {
        let members = channels.entry(chips[0].0 / ways).or_default();
        let count = u32::try_from(chips.len()).expect("no more than a channel has");
        match members.last_mut().filter(|last| last.0 == position) {
            Some(last) => last.1 += count,
            None => members.push((position, count)),
        }
    }
}

/// A slack below the least number that can be stated becomes that number.
fn tightest_of(nearest: Nearest) -> Tightest {
    Tightest { length: nearest.length, slack_ns: i64::try_from(nearest.slack).unwrap_or(i64::MIN) }
}
