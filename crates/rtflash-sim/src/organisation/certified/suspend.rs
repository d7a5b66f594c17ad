//! Erases that are suspended where something more urgent is there (docs/analysis.md, Section 18).

use rtflash_model::{Certificate, ChipId, Device, Instant, Span};
use rtflash_plan::{BlockId, ColumnId};
use rtflash_trace::{Action, Kind, NO_LPN, NONE, Observer};
use serde::{Deserialize, Serialize};

use super::CertifiedGroup;
use super::operate::Planned;
use crate::engine::sequencer::Ticket;
use crate::store::PagePlace;

/// The state of a processor's erase: of the one under way, or of the one that is suspended.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SuspendedErase {
    /// t_s.
    suspend: Span,
    /// t_u.
    resume: Span,
    under_way: Vec<ErasingChip>,
    /// For an erase that is suspended: the chips that are to go on, and for how long.
    left: Vec<(ColumnId, Span)>,
}

#[derive(Debug, Serialize, Deserialize)]
struct ErasingChip {
    column: ColumnId,
    chip: ChipId,
    ticket: Option<Ticket>,
    end: Instant,
}

impl SuspendedErase {
    /// `None` where erases are not suspended.
    pub(super) fn new(device: &Device, certificate: &Certificate) -> Option<SuspendedErase> {
        let suspend = device.erase_suspend().filter(|_| certificate.suspends_erases(device))?;
        Some(SuspendedErase { suspend, resume: device.erase_resume(), under_way: Vec::new(), left: Vec::new() })
    }
}

impl<O: Observer> CertifiedGroup<'_, O> {
    /// Starts an erase that may be suspended, or goes on with the one that was: rule P2.
    pub(super) fn start_erase(&mut self, processor: usize, part: usize, block: BlockId, now: Instant) {
        const SUSPENDS: &str = "its erases are suspended";
        let of = &mut self.processors[processor];
        let mut left = std::mem::take(&mut of.suspends.as_mut().expect(SUSPENDS).left);
        if left.is_empty() {
            let job = self.parts[part].id();
            let whole = |(column, &chip): (ColumnId, &ChipId)| (column, self.core.lengths.erase(job, chip, now));
            left.extend(of.chips.enumerate().map(whole));
        }
        self.processors[processor].step.chips = left.len();
        for (column, length) in left.drain(..) {
            let spot = PagePlace { chip: column, block, page: NONE };
            let page = Planned { part, kind: Kind::Gc, action: Action::Erase, spot, lpn: NO_LPN };
            let operation = self.operation(processor, &page, now);
            let (chip, end) = (operation.chip, now.saturating_add(length));
            let ticket = Some(self.core.observer.open(&operation));
            let erases = self.processors[processor].suspends.as_mut().expect(SUSPENDS);
            erases.under_way.push(ErasingChip { column, chip, ticket, end });
            self.work(chip, end);
        }
        self.erase_begins(self.processors[processor].cluster, now);
    }

    /// Rule P1: while a processor erases, something has come that may be more urgent than the pass.
    /// An erase that is over before it could be suspended goes on.
    pub(super) fn suspend_if_urgent(&mut self, processor: usize, now: Instant) {
        let of = &mut self.processors[processor];
        let (Some(erases), Some(part)) = (&mut of.suspends, of.step.erases) else { return };
        let until = now.saturating_add(erases.suspend);
        if of.queue.is_first(part) || erases.under_way.iter().all(|chip| chip.end <= until) {
            return;
        }
        let (_, last) = of.step.last;
        of.step.last = (Instant::START, ChipId(0));
        for at in &mut erases.under_way {
            let ticket = at.ticket.take().expect("an erase is suspended once before it goes on");
            if at.end <= until {
                self.core.observer.close(ticket, at.end);
            } else {
                erases.left.push((at.column, at.end.since(now).saturating_add(erases.resume)));
                at.end = until;
                self.core.observer.suspend(ticket, until);
            }
            of.step.last = of.step.last.max((at.end, at.chip));
        }
        of.step.erases = None;
        if let Some(faults) = &mut of.faults {
            faults.suspends();
        }
        self.core.ends(last, None);
        let (end, chip) = of.step.last;
        self.core.ends(chip, Some(end));
    }

    /// A step has ended: what is not known yet of the erases in it.
    pub(super) fn parts_of_erase_end(&mut self, processor: usize) {
        let Some(erases) = &mut self.processors[processor].suspends else { return };
        for at in erases.under_way.drain(..) {
            if let Some(ticket) = at.ticket {
                self.core.observer.close(ticket, at.end);
            }
        }
    }
}
