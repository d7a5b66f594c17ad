//! Lines in the very form in which they are written here: read without a reader of JSON, which
//! takes several times as long. Whatever is not of this form, or wrong, is left to the thorough
//! reader; what is read here, that one would read alike.

use rtflash_model::reading::Cursor;
use rtflash_model::{Id, Instant};

use super::accounts;
use super::sources::Sources;
use crate::ids::{ClusterId, Lpn};
use crate::jobs::{JobId, Kind};
use crate::plan::Plan;
use crate::trace::any_record::Record;
use crate::trace::record::{
    Action, Complete, EmptyPage, Failed, LeftOut, Moved, NO_LPN, NONE, Operation, Padding, Policed, Release, Reserve,
    Selection, Starved, TermsChange, Transfer, Trimmed,
};

/// The plan that lines are of, and what is left of a line.
struct UsualLine<'r, 'p, 't> {
    plan: &'p Plan,
    sources: &'r mut Sources<'p>,
    cursor: Cursor<'t>,
}

/// The record of the line that the text begins with, and the length of the line with its end.
/// `None` where the thorough reader has to look.
#[inline]
pub(super) fn record<'p>(plan: &'p Plan, sources: &mut Sources<'p>, text: &[u8]) -> Option<(Record, usize)> {
    let mut line = UsualLine { plan, sources, cursor: Cursor::new(text) };
    let record = match text.get(2..7)? {
        b"start" => line.occupied(),
        b"relea" => line.release(),
        b"compl" => line.complete(),
        b"starv" => line.starved(),
        b"polic" => line.policed(),
        b"chang" => line.changed(),
        b"faile" => line.failed(),
        b"reser" => line.reserve(),
        b"left_" => line.left_out(),
        b"moved" => line.moved(),
        b"selec" => line.selected(),
        b"silen" => line.padding(),
        b"trimm" => line.trimmed(),
        b"empty" => line.empty_page(),
        _ => None,
    }?;
    line.cursor.text(b"}\n")?;
    Some((record, text.len() - line.cursor.rest().len()))
}

impl<'t> UsualLine<'_, '_, 't> {
    #[inline]
    fn number<const N: usize>(&mut self, key: &[u8; N]) -> Option<u64> {
        self.cursor.text(key)?;
        self.cursor.number()
    }

    #[inline]
    fn instant<const N: usize>(&mut self, key: &[u8; N]) -> Option<Instant> {
        self.number(key).and_then(Instant::from_ns)
    }

    /// A number below `count`.
    #[inline]
    fn below<const N: usize>(&mut self, key: &[u8; N], count: u32) -> Option<u32> {
        self.number(key).and_then(|number| u32::try_from(number).ok()).filter(|&number| number < count)
    }

    #[inline]
    fn position<I: Id, const N: usize>(&mut self, key: &[u8; N], count: u32) -> Option<I> {
        self.below(key, count).map(I::new)
    }

    #[inline]
    fn name<const N: usize>(&mut self, key: &[u8; N]) -> Option<&'t [u8]> {
        self.cursor.text(key)?;
        self.cursor.string()
    }

    #[inline]
    fn cluster(&mut self) -> Option<ClusterId> {
        self.position(b",\"cluster\":", self.plan.clusters().count())
    }

    #[inline]
    fn chip<I: Id>(&mut self) -> Option<I> {
        self.position(b",\"chip\":", self.plan.device().chips())
    }

    #[inline]
    fn job(&mut self) -> Option<(JobId, Kind)> {
        let name = self.name(b",\"job\":")?;
        let hash = name.iter().rposition(|byte| *byte == b'#')?;
        let mut digits = Cursor::new(&name[hash + 1..]);
        let index = digits.number().filter(|_| digits.rest().is_empty())?;
        let source = self.sources.of_bytes(&name[..hash])?;
        Some((JobId { source, index }, self.plan.sources()[source].kind))
    }

    /// The job of a pass.
    fn collecting(&mut self) -> Option<JobId> {
        self.job().filter(|(_, kind)| matches!(kind, Kind::Gc | Kind::Server)).map(|(job, _)| job)
    }

    #[inline]
    fn kind(&mut self) -> Option<Kind> {
        let name = self.name(b",\"kind\":")?;
        [Kind::Read, Kind::Write, Kind::Gc, Kind::Server].into_iter().find(|kind| kind.name().as_bytes() == name)
    }

    fn occupied(&mut self) -> Option<Record> {
        let (start, end) = (self.instant(b"{\"start\":")?, self.instant(b",\"end\":")?);
        if start >= end {
            return None;
        }
        let cluster = self.cluster()?;
        if self.cursor.rest().starts_with(b",\"channel\"") {
            let channel = self.position(b",\"channel\":", self.plan.device().channels())?;
            let chip = self.chip()?;
            self.cursor.text(b",\"op\":\"transfer\"")?;
            let (job, kind) = self.served()?;
            return Some(Record::Transfer(Transfer { start, end, channel, cluster, chip, job, kind }));
        }
        let chip = self.chip()?;
        let op = self.name(b",\"op\":")?;
        let actions = [Action::Read, Action::Program, Action::Erase, Action::ErasePart];
        let action = actions.into_iter().find(|it| it.name().as_bytes() == op)?;
        let (job, kind) = self.served()?;
        let layout = &self.plan.clusters()[cluster].layout;
        let block = self.position(b",\"block\":", layout.blocks() + layout.spare_blocks())?;
        let (page, lpn) = match action {
            Action::Erase | Action::ErasePart => (NONE, NO_LPN),
            _ => (self.below(b",\"page\":", layout.pages())?, self.position(b",\"lpn\":", layout.logical_pages())?),
        };
        Some(Record::Operation(Operation { start, end, cluster, chip, action, job, kind, block, page, lpn }))
    }

    /// The job of an operation, and what the operation is for. Server jobs may have passes of their
    /// own.
    #[inline]
    fn served(&mut self) -> Option<(JobId, Kind)> {
        let ((job, of), kind) = (self.job()?, self.kind()?);
        let allowed = kind == of || (of, kind) == (Kind::Server, Kind::Gc);
        allowed.then_some((job, kind))
    }

    fn release(&mut self) -> Option<Record> {
        let at = self.instant(b"{\"release\":")?;
        let (job, kind) = self.job()?;
        if self.kind()? != kind {
            return None;
        }
        let deadline = match self.cursor.text(b",\"deadline\":null") {
            Some(()) => None,
            None => Some(self.instant(b",\"deadline\":")?),
        };
        let pages = self.number(b",\"pages\":")?;
        let cluster = match self.cursor.text(b",\"cluster\":null") {
            Some(()) => None,
            None => Some(self.cluster()?),
        };
        Some(Record::Release(Release { at, job, kind, deadline, pages, cluster }))
    }

    fn complete(&mut self) -> Option<Record> {
        Some(Record::Complete(Complete { at: self.instant(b"{\"complete\":")?, job: self.job()?.0 }))
    }

    fn starved(&mut self) -> Option<Record> {
        let (at, job) = (self.instant(b"{\"starved\":")?, self.job()?.0);
        Some(Record::Starved(Starved { at, job, cluster: self.cluster()?, chip: self.chip()? }))
    }

    fn failed(&mut self) -> Option<Record> {
        let (at, job) = (self.instant(b"{\"failed\":")?, self.job()?.0);
        let (cluster, chip) = (self.cluster()?, self.chip()?);
        let block = self.position(b",\"block\":", self.plan.device().blocks_per_chip())?;
        // An erase has no page.
        let has_page = self.cursor.rest().starts_with(b",\"page\":");
        let page = if has_page { self.below(b",\"page\":", self.plan.device().pages_per_block())? } else { NONE };
        Some(Record::Failed(Failed { at, job, cluster, chip, block, page }))
    }

    fn reserve(&mut self) -> Option<Record> {
        Some(Record::Reserve(Reserve {
            at: self.instant(b"{\"reserve\":")?,
            cluster: self.cluster()?,
            chip: self.chip()?,
            arrived: self.number(b",\"arrived\":")?,
            free: self.number(b",\"free\":")?,
            pending: self.number(b",\"pending\":")?,
        }))
    }

    fn changed(&mut self) -> Option<Record> {
        Some(Record::Changed(TermsChange {
            at: self.instant(b"{\"changed\":")?,
            cluster: self.cluster()?,
            chip: self.chip()?,
            stage: self.below(b",\"stage\":", u32::MAX)?,
            extra: self.below(b",\"extra\":", u32::MAX)?,
            arrived: self.number(b",\"arrived\":")?,
            free: self.number(b",\"free\":")?,
        }))
    }

    fn policed(&mut self) -> Option<Record> {
        Some(Record::Policed(Policed {
            at: self.instant(b"{\"policed\":")?,
            job: self.job()?.0,
            arrived: self.instant(b",\"arrived\":")?,
            pages: self.number(b",\"pages\":")?,
        }))
    }

    fn left_out(&mut self) -> Option<Record> {
        let (at, job) = (self.instant(b"{\"left_out\":")?, self.collecting()?);
        let (cluster, chip) = (self.cluster()?, self.chip()?);
        Some(Record::LeftOut(LeftOut { at, job, cluster, chip, free: self.number(b",\"free\":")? }))
    }

    fn moved(&mut self) -> Option<Record> {
        let (at, job) = (self.instant(b"{\"moved\":")?, self.job()?.0);
        let (cluster, chip) = (self.cluster()?, self.chip()?);
        let lpn = self.position(b",\"lpn\":", self.plan.clusters()[cluster].layout.logical_pages())?;
        Some(Record::Moved(Moved { at, job, cluster, chip, lpn }))
    }

    fn trimmed(&mut self) -> Option<Record> {
        let (at, cluster) = (self.instant(b"{\"trimmed\":")?, self.cluster()?);
        let all = self.plan.clusters()[cluster].layout.logical_pages();
        let lpn: Lpn = self.position(b",\"lpn\":", all)?;
        let pages = self.below(b",\"pages\":", all - lpn.0 + 1).filter(|&pages| pages > 0)?;
        let kept = self.cursor.text(b",\"kept\":true").is_some();
        Some(Record::Trimmed(Trimmed { at, cluster, lpn, pages, kept }))
    }

    fn empty_page(&mut self) -> Option<Record> {
        let (at, job) = (self.instant(b"{\"empty\":")?, self.job()?.0);
        let (cluster, chip) = (self.cluster()?, self.chip()?);
        let lpn = self.position(b",\"lpn\":", self.plan.clusters()[cluster].layout.logical_pages())?;
        Some(Record::EmptyPage(EmptyPage { at, job, cluster, chip, lpn }))
    }

    fn selected(&mut self) -> Option<Record> {
        let (at, job) = (self.instant(b"{\"selected\":")?, self.collecting()?);
        let (cluster, chip) = (self.cluster()?, self.chip()?);
        let block = self.position(b",\"block\":", self.plan.device().blocks_per_chip())?;
        let valid = self.below(b",\"valid\":", NONE)?;
        let forced = self.cursor.text(b",\"forced\":true").is_some();
        Some(Record::Selected(Selection { at, job, cluster, chip, block, valid, forced }))
    }

    fn padding(&mut self) -> Option<Record> {
        let (start, end) = (self.instant(b"{\"silent\":")?, self.instant(b",\"end\":")?);
        if start >= end {
            return None;
        }
        let job = self.collecting()?;
        let (cluster, chip) = (self.cluster()?, self.chip()?);
        let step = accounts::step_of(self.name(b",\"step\":")?)?;
        Some(Record::Padding(Padding { start, end, job, cluster, chip, step }))
    }
}
