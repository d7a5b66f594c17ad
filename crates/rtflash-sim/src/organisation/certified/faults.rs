//! Programs and erases that fail, and what is done then (docs/analysis.md, Section 17).

use rtflash_ftl::GcStep;
use rtflash_model::{ChipId, Device, Instant, Lpn, PerId};
use rtflash_plan::{BlockId, ColumnId, Options, random_failure};
use rtflash_trace::{Action, Failed, Kind, NONE, Observer, Record, Starved};
use serde::{Deserialize, Serialize};

use super::CertifiedGroup;
use super::operate::Planned;
use crate::store::PagePlace;

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct ProgramUnderWay {
    part: usize,
    kind: Kind,
    lpn: Lpn,
    spot: PagePlace,
    /// The source of a copy inside the chip.
    from: Option<PagePlace>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ProcessorFaults {
    /// [`Placed::faults`](rtflash_plan::Placed::faults).
    rate: u16,
    seed: u64,
    /// ζ.
    program_failures: u32,
    /// Blocks of each chip that may fail yet.
    blocks: PerId<ColumnId, u32>,
    /// Programs of each chip that may fail before the processor is idle again.
    programs: PerId<ColumnId, u32>,
    busy_until: Instant,
    doing: Vec<ProgramUnderWay>,
    /// The block that it erases, and the part that resets a zone so.
    erases: Option<(BlockId, Option<usize>)>,
    again: Vec<ProgramUnderWay>,
    /// Parts with pages that were overwritten in their step by a page of `again`, and failed, too:
    /// these are over with it.
    overwritten: Vec<(Lpn, usize)>,
}

impl ProcessorFaults {
    /// `None` where nothing fails.
    pub(super) fn new(device: &Device, chips: usize, options: &Options) -> Option<ProcessorFaults> {
        let (rate, spare) = (options.placed.faults, device.spare_blocks());
        (rate > 0 && spare > 0).then(|| ProcessorFaults {
            rate,
            seed: options.seed,
            program_failures: device.program_failures(),
            blocks: (0..chips).map(|_| spare).collect(),
            programs: (0..chips).map(|_| device.program_failures()).collect(),
            busy_until: Instant::START,
            doing: Vec::new(),
            erases: None,
            again: Vec::new(),
            overwritten: Vec::new(),
        })
    }

    pub(super) fn begins(&mut self, now: Instant) {
        if now > self.busy_until {
            let most = self.program_failures;
            self.programs.iter_mut().for_each(|left| *left = most);
        }
    }

    pub(super) fn programs(&mut self, page: &Planned, from: Option<PagePlace>) {
        let Planned { part, kind, spot, lpn, .. } = *page;
        self.doing.push(ProgramUnderWay { part, kind, lpn, spot, from });
    }

    /// It erases a block of all its chips; `resets`: for this part, before it writes to a zone.
    pub(super) fn erases(&mut self, block: BlockId, resets: Option<usize>) {
        self.erases = Some((block, resets));
    }

    pub(super) fn suspends(&mut self) {
        self.erases = None;
    }

    pub(super) fn is_to_repeat(&self) -> bool {
        !self.again.is_empty()
    }

    fn fails(&mut self, column: ColumnId, chip: ChipId, is_program: bool, now: Instant) -> bool {
        let may = self.blocks[column] > 0 && (!is_program || self.programs[column] > 0);
        if !may || !random_failure(self.seed, self.rate, chip, now) {
            return false;
        }
        self.blocks[column] -= 1;
        self.programs[column] -= u32::from(is_program);
        true
    }
}

impl<O: Observer> CertifiedGroup<'_, O> {
    /// A step has ended: retires the blocks of what has failed in it. Pages that are to be
    /// programmed once more are not over. Says whether its erase has failed.
    pub(super) fn look_for_failures(&mut self, processor: usize, now: Instant) -> bool {
        let is_over = now > self.core.duration;
        let of = &mut self.processors[processor];
        let Some(faults) = &mut of.faults else { return false };
        faults.busy_until = now;
        let (doing, erases) = (std::mem::take(&mut faults.doing), faults.erases.take());
        if is_over {
            return false;
        }
        let (mut again, mut overwritten) = (std::mem::take(&mut faults.again), std::mem::take(&mut faults.overwritten));
        for page in &doing {
            let chip = of.chips[page.spot.chip];
            if !faults.fails(page.spot.chip, chip, true, now) {
                continue;
            }
            of.store.ftl.pages.retire(page.spot.block.0);
            let (job, cluster, block) = (self.parts[page.part].id(), of.number, page.spot.block);
            let failed = Failed { at: now, job, cluster, chip, block, page: page.spot.page };
            self.core.observer.push(Record::Failed(failed));
            if of.store.find(page.lpn) == Some(page.spot) {
                again.push(*page);
            } else if page.kind != Kind::Gc {
                overwritten.push((page.lpn, page.part));
            }
        }
        // A page that another page of the step has overwritten, and that has not failed, is over.
        overwritten.retain(|&(lpn, _)| again.iter().any(|page| page.lpn == lpn));
        let repeated = again.iter().filter(|page| page.kind != Kind::Gc).map(|page| page.part);
        for part in repeated.chain(overwritten.iter().map(|&(_, part)| part)) {
            let place = of.step.pages.iter().position(|&of_step| of_step == part);
            of.step.pages.swap_remove(place.expect("a page of a step is over with it"));
        }
        let faults = of.faults.as_mut().expect("it has faults");
        (faults.doing, faults.again, faults.overwritten) = (doing, again, overwritten);
        faults.doing.clear();
        let Some((block, resets)) = erases else { return false };
        let Some(part) = resets.or(of.step.erases) else { return false };
        let mut erase_failed = false;
        for (column, &chip) in of.chips.enumerate() {
            if faults.fails(column, chip, false, now) {
                erase_failed = true;
                let (job, cluster) = (self.parts[part].id(), of.number);
                self.core.observer.push(Record::Failed(Failed { at: now, job, cluster, chip, block, page: NONE }));
            }
        }
        if erase_failed && resets.is_some() {
            of.store.ftl.pages.retire(block.0);
        }
        erase_failed
    }

    /// Rule B3: programs once more what has failed. If blocks are lacking for that, the processor
    /// is at its end.
    pub(super) fn program_again(&mut self, processor: usize, now: Instant) {
        let of = &mut self.processors[processor];
        let Some(faults) = &mut of.faults else { return };
        let again = std::mem::take(&mut faults.again);
        if !again.first().is_some_and(|page| of.store.ftl.pages.has_room(page.lpn.0, again.len())) {
            faults.again = again;
            return self.lacks_blocks(processor, now);
        }
        let mut planned = std::mem::take(&mut self.planned);
        planned.clear();
        for &ProgramUnderWay { part, kind, lpn, from, .. } in &again {
            let pages = &mut self.processors[processor].store.ftl.pages;
            let spot = PagePlace::from(pages.program(lpn.0).expect("as many pages are free"));
            if let Some(from) = from {
                let copy = GcStep::Copyback(from.into(), spot.into(), lpn.0);
                self.start_gc(processor, part, copy, now);
                continue;
            }
            planned.push(Planned { part, kind, action: Action::Program, spot, lpn });
        }
        if !planned.is_empty() {
            let of = &mut self.processors[processor];
            let step = &mut of.step;
            step.begin(planned.len());
            step.pages.extend(planned.iter().filter(|page| page.kind != Kind::Gc).map(|page| page.part));
            step.pages.extend(of.faults.iter().flat_map(|of| &of.overwritten).map(|&(_, part)| part));
            for page in &planned {
                self.start_page(processor, page, None, now);
            }
        }
        self.planned = planned;
    }

    /// More blocks have failed than are kept back, or the certificate is wrong.
    fn lacks_blocks(&mut self, processor: usize, now: Instant) {
        let of = &self.processors[processor];
        let (cluster, chip) = (of.number, of.first_chip());
        let Some(page) = of.faults.as_ref().and_then(|faults| faults.again.first()) else { return };
        let part = &mut self.parts[page.part];
        if !std::mem::replace(&mut part.starved, true) {
            let job = part.id();
            self.core.observer.push(Record::Starved(Starved { at: now, job, cluster, chip }));
        }
    }
}
