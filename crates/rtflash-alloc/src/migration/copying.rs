//! How fast a task's pages may be copied.

use rtflash_analysis::Work;
use rtflash_analysis::certified::{ChannelContention, certify_beside, collects};
use rtflash_model::{Certificate, Device, Placement, Reliance, Span, TaskId, TaskSet};

use super::near::beside;
use super::parts::StageTasks;
use super::{CopyServer, StageRefusal};
use crate::admission::{Admitted, Decision, RunningDevice, admit_into, removable_within};

/// Periods that are tried, each four times the one before: the first four times what a page takes.
const PERIODS: u32 = 14;

/// Eighths of the most pages that are tried, too.
const SHARES: [u64; 3] = [7, 6, 4];

/// Steps in which the most pages a period are narrowed down.
const HALVINGS: u32 = 6;

#[derive(Debug, Clone, Copy)]
pub(super) enum Destination<'a> {
    /// A new one, its certificate made for the copy server, and for all tasks from the switch on.
    New(Placement, &'a RunningDevice),
    Certified,
    Running,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct CopyRoom<'a> {
    pub(super) device: &'a Device,
    pub(super) tasks: &'a StageTasks,
    pub(super) running: &'a RunningDevice,
    /// Whose pages, from where, and to where.
    pub(super) task: TaskId,
    pub(super) places: [usize; 2],
    pub(super) destination: Destination<'a>,
    pub(super) pages: u64,
    pub(super) granted: Reliance,
    pub(super) buffer_pages: u64,
    pub(super) work: &'a Work,
}

#[derive(Debug)]
pub(super) struct Copying {
    pub(super) server: CopyServer,
    pub(super) set: TaskSet,
    pub(super) running: RunningDevice,
    pub(super) admitted: Option<Admitted>,
    /// From the time on at which it is added: when nothing is left of it, at most.
    pub(super) settled_within: Span,
    numbers: [TaskId; 2],
}

impl CopyRoom<'_> {
    /// The server of which nothing is left soonest: of each period the most pages, and slower ones,
    /// after which processors are idle sooner.
    pub(super) fn fastest(&self) -> Result<Copying, StageRefusal> {
        let most = self.pages.min(self.buffer_pages / 2).max(1);
        let mut best: Result<Copying, StageRefusal> = Err(StageRefusal::NoTimeToCopy(self.task));
        let mut period = page_time(self.device).ok_or(StageRefusal::TooLong)?;
        if !self.has_row(CopyServer { pages: 1, period }) {
            return Err(StageRefusal::Full(self.task));
        }
        for _ in 0..PERIODS {
            let Some(longer) = period.checked_mul(4) else { break };
            period = longer;
            let least = period.checked_mul(2);
            if best.as_ref().is_ok_and(|found| least.is_none_or(|least| least >= found.settled_within)) {
                break;
            }
            let Some(found) = self.largest(period, most) else { continue };
            let pages = found.server.pages;
            let slower = SHARES.iter().map(|share| pages * share / 8).filter(|&fewer| fewer > 0 && fewer < pages);
            let slower = slower.filter_map(|pages| self.copying(CopyServer { pages, period })).collect::<Vec<_>>();
            for mut found in std::iter::once(found).chain(slower) {
                match self.settled(&found) {
                    Ok(within) => found.settled_within = within,
                    // Unless one was found before, or will be.
                    Err(why) => {
                        best = best.or(Err(why));
                        continue;
                    }
                }
                if best.as_ref().map_or(true, |best| found.settled_within < best.settled_within) {
                    best = Ok(found);
                }
            }
        }
        best
    }

    /// The copy server's writes count as a task. To zones the task moves itself.
    fn has_row(&self, server: CopyServer) -> bool {
        let Some((set, [_, writes])) = self.tasks.copying(self.device, self.task, server) else { return false };
        let cluster = &self.running.clusters[self.places[1]];
        let placement = self.running.certificates[self.places[1]].placement;
        let tasks = [&cluster.tasks[..], &[writes]].concat();
        placement.is_zoned() || set.space(&tasks, cluster.size(), Some(placement)).fits()
    }

    /// From the time on at which it is added: when nothing is left of a copy server, at most.
    fn settled(&self, of: &Copying) -> Result<Span, StageRefusal> {
        let mut running = of.running.clone();
        let waits = of.admitted.as_ref().map_or(Span::ZERO, |admitted| admitted.ready_within);
        // The last request to write comes so much later than the first one to read.
        let last = of.server.period.checked_mul(of.server.requests(self.pages));
        let last = last.and_then(|last| last.checked_add(waits));
        let mut settled = last.ok_or(StageRefusal::TooLong)?;
        for number in of.numbers {
            let within = removable_within(&of.set, &running, number, self.granted, self.work);
            let within = within.ok_or(StageRefusal::NotSettled(self.task))?;
            settled = settled.checked_add(within).ok_or(StageRefusal::TooLong)?;
            running.clusters.iter_mut().for_each(|cluster| cluster.tasks.retain(|&other| other != number));
        }
        Ok(settled)
    }

    fn largest(&self, period: Span, most: u64) -> Option<Copying> {
        let of = |pages| self.copying(CopyServer { pages, period });
        let mut found = of(1)?;
        let mut refused = None;
        while refused.is_none() && found.server.pages < most {
            let pages = found.server.pages.saturating_mul(2).min(most);
            match of(pages) {
                Some(more) => found = more,
                None => refused = Some(pages),
            }
        }
        let Some(mut above) = refused else { return Some(found) };
        for _ in 0..HALVINGS {
            let pages = found.server.pages.midpoint(above);
            if pages <= found.server.pages {
                break;
            }
            match of(pages) {
                Some(more) => found = more,
                None => above = pages,
            }
        }
        Some(found)
    }

    fn copying(&self, server: CopyServer) -> Option<Copying> {
        let (set, numbers) = self.tasks.copying(self.device, self.task, server)?;
        let ([from, to], [reads, writes]) = (self.places, numbers);
        let mut running = self.running.clone();
        running.clusters[from].tasks.push(reads);
        let holds =
            |running: &RunningDevice, places: &[usize]| hold_beside(&set, running, places, self.granted, self.work);
        if let Destination::Running = self.destination {
            if !holds(&running, &[from]) {
                return None;
            }
            let decision = admit_into(&set, &running, writes, to, self.granted, self.work);
            let Decision::Admitted(admitted) = decision else { return None };
            let running = admitted.running.clone();
            return Some(Copying {
                server,
                set,
                running,
                admitted: Some(*admitted),
                settled_within: Span::ZERO,
                numbers,
            });
        }
        if let Destination::New(placement, together) = self.destination {
            // The load of the new cluster is not known yet: the other has to be in time in any
            // case.
            running.certificates[to] = self.certified(&set, &running, together, (placement, Some(writes)))?;
        }
        running.clusters[to].tasks.push(writes);
        let certificate = &running.certificates[to];
        // Without a reserve pages are written to zones alone.
        let has_reserve = certificate.collection.is_some_and(|collection| collection.deadline.is_some());
        let may_write = has_reserve || !collects(certificate.placement);
        let in_time = may_write && holds(&running, &[from, to]);
        in_time.then_some(Copying { server, set, running, admitted: None, settled_within: Span::ZERO, numbers })
    }

    /// While writes go to both places, and from the switch on, without copies by anyone else.
    pub(super) fn certified_alone(&self, set: &TaskSet, together: &RunningDevice) -> Option<Certificate> {
        let Destination::New(placement, _) = self.destination else { return None };
        self.certified(set, self.running, together, (placement, None))
    }

    /// For the copy server's writes and from the switch on at once, or for the first alone.
    fn certified(
        &self,
        set: &TaskSet,
        running: &RunningDevice,
        together: &RunningDevice,
        (placement, writes): (Placement, Option<TaskId>),
    ) -> Option<Certificate> {
        let to = self.places[1];
        let near = beside(self.device, &running.clusters, &self.places);
        let (around, wide) = surroundings(self.device, running, &near);
        let own = wide.binary_search(&to).ok()?;
        let mut given: Vec<Option<Certificate>> = around.certificates.iter().copied().map(Some).collect();
        given[own] = None;
        let mut kinds: Vec<Placement> = around.certificates.iter().map(|of| of.placement).collect();
        kinds[own] = placement;
        let made = |tasks: &[TaskId]| {
            let mut clusters = around.clusters.clone();
            clusters[own].tasks = [tasks, writes.as_slice()].concat();
            let certified = certify_beside(set, &clusters, &kinds, &given, self.granted, self.work);
            let found = certified.certificates.get(own).copied().flatten()?;
            if certified.failing.iter().any(|&at| near.binary_search(&wide[at]).is_ok()) {
                return None;
            }
            let mut after = together.clone();
            after.certificates[to] = Certificate { server_thousandths: 0, ..found };
            let holds = hold_beside(set, &after, &self.places, self.granted, self.work);
            holds.then_some(after.certificates[to])
        };
        made(&together.clusters[to].tasks).or_else(|| made(&running.clusters[to].tasks))
    }
}

/// Those that share a channel with these clusters, and those that share one with them in turn.
fn surroundings(device: &Device, running: &RunningDevice, near: &[usize]) -> (RunningDevice, Vec<usize>) {
    let wide = beside(device, &running.clusters, near);
    let clusters = wide.iter().map(|&at| running.clusters[at].clone()).collect();
    let certificates = wide.iter().map(|&at| running.certificates[at]).collect();
    (RunningDevice { clusters, certificates }, wide)
}

/// Those with tasks on their channels included.
pub(super) fn hold_beside(
    set: &TaskSet,
    running: &RunningDevice,
    places: &[usize],
    granted: Reliance,
    work: &Work,
) -> bool {
    let near = beside(set.device(), &running.clusters, places);
    let (around, wide) = surroundings(set.device(), running, &near);
    let contention = ChannelContention::of_certificates(set, &around.clusters, &around.certificates, granted, work);
    let asked = (0..wide.len()).filter(|&at| near.binary_search(&wide[at]).is_ok());
    let mut busy = asked.filter(|&at| !around.clusters[at].tasks.is_empty());
    busy.all(|at| contention.holds_as_stated(at, &around.certificates[at]))
}

fn page_time(device: &Device) -> Option<Span> {
    let transfers = device.bus_hold().checked_mul(2)?;
    device.page_read().checked_add(device.page_program())?.checked_add(transfers)
}
