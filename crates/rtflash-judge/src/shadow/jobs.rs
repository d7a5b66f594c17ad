//! Jobs released and not complete, as the events have it.

use std::collections::VecDeque;

use rtflash_model::{ChipId, Instant, PerId, Span};
use rtflash_plan::SourceId;
use rtflash_trace::{Action, JobId, Kind, Operation, Release};
use serde::{Deserialize, Serialize};

use crate::place::Place;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Pending {
    pub(crate) release: Release,
    pub(crate) service: u64,
    pub(crate) reads: u64,
    pub(crate) programs: u64,
    pub(crate) failed: u64,
    pub(crate) last_end: Instant,
    /// When it last left a pass out, or found a page that holds nothing.
    pub(crate) left_out: Option<Instant>,
    /// Whether it has collected anything: read, copied, erased, or let time pass for that.
    pub(crate) collected: bool,
    pub(crate) erased: bool,
    pub(crate) victims: u64,
    pub(crate) erases: u64,
    pub(crate) begun: Option<Instant>,
    pub(crate) starved: bool,
    pub(crate) was_starved: bool,
    /// By chip: what was left of operations of later deadlines.
    pub(crate) blockers: Vec<(ChipId, Span)>,
}

impl Pending {
    #[inline(always)]
    pub(crate) fn deadline(&self) -> u64 {
        self.release.deadline.map_or(u64::MAX, Instant::as_ns)
    }

    #[inline]
    pub(crate) fn place(&self, at: Instant, chip: Option<ChipId>) -> Place {
        Place { at, job: Some(self.release.job), cluster: self.release.cluster, chip }
    }

    pub(crate) fn is_background(&self) -> bool {
        self.release.kind == Kind::Server && self.release.deadline.is_none()
    }

    #[inline(always)]
    pub(crate) fn serves(&mut self, operation: &Operation, own: Span) {
        self.last_end = operation.end.max(self.last_end);
        self.service = self.service.saturating_add(own.as_ns());
        match operation.action {
            Action::Read => self.reads += 1,
            Action::Program => self.programs += 1,
            // A reset of its zone: no page.
            Action::Erase => self.erases += 1,
            Action::ErasePart => {}
        }
        self.begun.get_or_insert(operation.start);
    }

    #[inline]
    pub(crate) fn collects(&mut self, operation: &Operation) {
        self.last_end = operation.end.max(self.last_end);
        self.collected = true;
        if operation.action == Action::Erase {
            self.erased = true;
            self.erases += 1;
        }
    }
}

/// In order of release; complete jobs leave holes until those before them are complete.
#[derive(Debug, Default, Serialize, Deserialize)]
struct SourceLine {
    /// Behind the highest number that has been released.
    next: u64,
    /// Numbers below that have not been: of a job stream only, the highest ones, ascending.
    skipped: VecDeque<u64>,
    jobs: VecDeque<(u64, Option<Pending>)>,
    untaken: u64,
}

/// Numbers that are remembered as skipped at most: those of other clusters' jobs are never seen.
const FEW: usize = 1024;

impl SourceLine {
    fn take(&mut self, index: u64) {
        match self.skipped.binary_search(&index) {
            Ok(at) => {
                self.skipped.remove(at);
            }
            Err(_) => {
                self.skipped.extend(self.next.max(index.saturating_sub(FEW as u64))..index);
                let many = self.skipped.len().saturating_sub(FEW);
                self.skipped.drain(..many);
                self.next = index.saturating_add(1);
            }
        }
    }

    #[inline(always)]
    fn find(&mut self, index: u64) -> Option<&mut Option<Pending>> {
        if self.jobs.front().is_some_and(|&(first, _)| first == index) {
            return self.jobs.front_mut().map(|(_, job)| job);
        }
        self.search(index)
    }

    #[inline(never)]
    fn search(&mut self, index: u64) -> Option<&mut Option<Pending>> {
        let at = self.jobs.binary_search_by_key(&index, |&(index, _)| index).ok()?;
        self.jobs.get_mut(at).map(|(_, job)| job)
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Ledger {
    lines: PerId<SourceId, SourceLine>,
    ordered: bool,
}

impl Ledger {
    /// `ordered`: it sees the jobs of all clusters, in one order, as a trace has them.
    pub(crate) fn new(sources: usize, ordered: bool) -> Ledger {
        Ledger { lines: (0..sources).map(|_| SourceLine::default()).collect(), ordered }
    }

    /// Clusters have clocks of their own: of a stream, some jobs may be left out, or come late,
    /// where they are not all seen in one order.
    pub(crate) fn is_next(&self, release: &Release) -> bool {
        let line = &self.lines[release.job.source];
        let index = release.job.index;
        let astray = || index > line.next || line.skipped.binary_search(&index).is_ok();
        index == line.next || (release.kind == Kind::Server && !self.ordered && astray())
    }

    pub(crate) fn skipped(&self) -> u64 {
        self.lines.iter().map(|line| line.skipped.len() as u64).sum()
    }

    pub(crate) fn release(&mut self, release: &Release) -> bool {
        if !self.is_next(release) {
            return false;
        }
        let line = &mut self.lines[release.job.source];
        let index = release.job.index;
        line.take(index);
        if release.cluster.is_none() {
            line.untaken += 1;
            return true;
        }
        let pending = Pending {
            release: *release,
            service: 0,
            reads: 0,
            programs: 0,
            failed: 0,
            last_end: release.at,
            left_out: None,
            collected: false,
            erased: false,
            victims: 0,
            erases: 0,
            begun: None,
            starved: false,
            was_starved: false,
            blockers: Vec::new(),
        };
        let at = line.jobs.iter().rposition(|&(other, _)| other < index).map_or(0, |before| before + 1);
        line.jobs.insert(at, (index, Some(pending)));
        true
    }

    pub(crate) fn untaken(&self) -> u64 {
        self.lines.iter().map(|line| line.untaken).sum()
    }

    pub(crate) fn has_any(&self, is_of: impl Fn(SourceId) -> bool) -> bool {
        let mut lines = self.lines.enumerate();
        lines.any(|(source, line)| is_of(source) && line.jobs.iter().any(|(_, job)| job.is_some()))
    }

    #[inline(always)]
    pub(crate) fn get(&mut self, job: JobId) -> Option<&mut Pending> {
        self.lines[job.source].find(job.index)?.as_mut()
    }

    pub(crate) fn complete(&mut self, job: JobId) -> Option<Pending> {
        let line = &mut self.lines[job.source];
        let pending = line.find(job.index)?.take();
        while let Some((_, None)) = line.jobs.front() {
            line.jobs.pop_front();
        }
        pending
    }

    pub(crate) fn pending(&self) -> impl Iterator<Item = &Pending> {
        self.lines.iter().flat_map(|line| line.jobs.iter().filter_map(|(_, job)| job.as_ref()))
    }
}
