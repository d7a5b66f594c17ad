//! Jobs that are not real-time, and the server of each processor that serves them
//! (docs/analysis.md, Section 5).

use crate::ftl::{Ftl, Taken};
use crate::grants::{AskedPages, ServerGrants};
use crate::image::ImageSource;
use crate::memory::{NONE, index, word};
use crate::nand::RequestHost;
use crate::police::Refused;
use crate::slots::{EdfKey, FtlProcessor, JobKind, SourceSlot};

impl Ftl<'_, '_> {
    /// A job of this stream, by position in the image, arrives now, for these logical pages of its
    /// cluster: reads, and behind them writes. The processors' servers serve it, and no request is
    /// late for it. It is over by the returned deadline, or less than one longest step later; if
    /// programs can fail, by E of Section 17 more.
    ///
    /// Takes some steps a page, a chip of the cluster, a waiting request, a source and a stream.
    /// Fails if there is no such stream, too many jobs of it wait, it has no page or more than
    /// declared, pages are not its own, or it is due behind 2^64 ns. Then nothing has changed.
    pub fn job(&mut self, stream: u32, now_ns: u64, reads: &[u32], writes: &[u32]) -> Result<Taken, Refused> {
        let position = index(self.streams_from).checked_add(index(stream)).ok_or(Refused::NoSource)?;
        let of = self.sources.get(position).ok_or(Refused::NoSource)?;
        let declared = of.declared;
        let ImageSource { number, cluster, .. } = declared;
        let mut slots = of.first..of.first + of.count;
        let count = word(reads.len().saturating_add(writes.len()));
        if count == 0 || count > declared.pages {
            return Err(Refused::Large(count));
        }
        for (place, page) in (0..).zip(reads.iter().chain(writes)) {
            if !declared.has(*page) {
                return Err(Refused::Page(place));
            }
        }
        let slot = slots.find(|&slot| self.requests[index(slot)].left == 0).ok_or(Refused::Full)?;
        let due = self.grants(cluster, now_ns, reads, writes).ok_or(Refused::TooLate)?;
        // Jobs of a stream are counted in all its clusters together.
        let same = |of: &&mut SourceSlot| of.kind == JobKind::Server && of.declared.number == number;
        let first = self.sources.iter_mut().find(same).expect("the stream itself, at least");
        let job = first.index;
        first.index += 1;
        let key = EdfKey { due, kind: JobKind::Server, source: number, index: job };
        self.enter(slot, key, cluster, reads, writes);
        Ok(Taken { index: job, due_ns: due })
    }

    /// The latest deadline that the processors with a part in a job give it, which all of them
    /// take.
    fn grants(&mut self, cluster: u32, now_ns: u64, reads: &[u32], writes: &[u32]) -> Option<u64> {
        let cluster = self.clusters[index(cluster)];
        let server = cluster.server?;
        let column = |lpn: u32| cluster.first_processor + lpn % cluster.processors;
        reads.iter().for_each(|&lpn| self.processor(column(lpn)).asked.reads += 1);
        writes.iter().for_each(|&lpn| self.processor(column(lpn)).asked.writes += 1);
        let with = |of: &FtlProcessor<'_>| {
            let width = of.ftl.pages.columns().width;
            of.served.with(&server, of.asked, width, of.ftl.reclaimed(), now_ns)
        };
        let is_asked = |of: &FtlProcessor<'_>| of.asked != AskedPages::default();
        // First what comes of it, then each account: nothing has changed where there is none.
        let parts = cluster.processors().map(|number| self.as_processor(number)).filter(|of| is_asked(of));
        let latest = parts.map(|of| Some(with(of)?.due)).try_fold(0, |latest: u64, due| Some(latest.max(due?)));
        for number in cluster.processors() {
            let of = self.processor(number);
            if let (true, Some(due), Some(granted)) = (is_asked(of), latest, with(of)) {
                of.served = ServerGrants { due, ..granted };
            }
            of.asked = AskedPages::default();
        }
        latest
    }

    pub(crate) fn may_owe(&mut self, number: u32, slot: u32) {
        let of = self.processor(number);
        if of.ftl.server_pass_is_due() {
            of.owing = slot;
            // The job is not over before its pass is.
            self.requests[index(slot)].left += 1;
        }
    }

    pub(crate) fn server_pass_is_over(&mut self, number: u32, host: &mut impl RequestHost) {
        let of = self.processor(number);
        if of.owing == NONE || of.ftl.server_pass_is_over() {
            return;
        }
        let (slot, cluster) = (core::mem::replace(&mut of.owing, NONE), of.cluster);
        self.pages_are_over(cluster, slot, 1, host);
    }
}
