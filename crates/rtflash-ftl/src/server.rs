//! Jobs that are not real-time, and the server of each processor that serves them
//! (docs/analysis.md, Section 5).

use crate::ftl::{Ftl, Taken};
use crate::image::ImageServer;
use crate::memory::{NONE, index, word};
use crate::nand::RequestHost;
use crate::police::Refused;
use crate::slots::{EdfKey, FtlCluster, FtlProcessor, JobKind, ServerGrants};

impl ServerGrants {
    /// The same with a job of so many pages to read, and to write, that arrives now, by (29), (30)
    /// and (31), or by (66): `None` where that is due behind 2^64 ns. A row has `width` pages;
    /// `reclaimed` is α.
    fn with(
        self,
        of: &ImageServer,
        (reads, writes): (u64, u64),
        (width, reclaimed): (u64, u64),
        now_ns: u64,
    ) -> Option<ServerGrants> {
        let pages = self.pages.checked_add(writes)?;
        let passes = pages.checked_div(reclaimed)? - self.pages.checked_div(reclaimed)?;
        let turns = u128::from(reads > 0) + u128::from(writes > 0) + u128::from(passes);
        let cost = u128::from(reads) * u128::from(of.read_ns)
            + u128::from(writes.div_ceil(width.max(1))) * u128::from(of.program_ns)
            + u128::from(passes) * u128::from(of.pass_ns);
        let cost = cost.checked_add(turns * u128::from(of.turn_ns))?;
        let time = cost.checked_mul(1_000)?.div_ceil(u128::from(of.thousandths).max(1));
        let due = self.due.max(now_ns).checked_add(u64::try_from(time).ok()?)?;
        Some(ServerGrants { pages, due })
    }
}

impl Ftl<'_, '_> {
    /// A job of this stream, by position in the image, arrives now, for these logical pages of its
    /// cluster: those that it reads, and those that it writes behind them. It is served by the
    /// processors' servers, and makes no request late. It is over by the deadline that is said, or
    /// less than one longest step later; where programs may fail, by E of Section 17 more.
    ///
    /// Takes some steps for each of its pages, each chip of the cluster, each request that waits,
    /// and each source and stream.
    ///
    /// # Errors
    /// Where there is no such stream, as many jobs of it wait as may, it has no page or more than
    /// they may, pages are not its own, or it is due behind 2^64 ns. Then nothing has changed.
    pub fn job(&mut self, stream: u32, now_ns: u64, reads: &[u32], writes: &[u32]) -> Result<Taken, Refused> {
        let position = index(self.streams_from).checked_add(index(stream)).ok_or(Refused::NoSource)?;
        let of = self.sources.get(position).ok_or(Refused::NoSource)?;
        let (number, cluster, declared) = (of.number, of.cluster, of.declared);
        let mut slots = of.first..of.first + of.count;
        let count = word(reads.len().saturating_add(writes.len()));
        if count == 0 || count > declared.pages {
            return Err(Refused::Large(count));
        }
        for (place, page) in (0..).zip(reads.iter().chain(writes)) {
            let own = page.checked_sub(declared.first_page).is_some_and(|nth| nth < declared.page_count);
            if !own {
                return Err(Refused::Page(place));
            }
        }
        let slot = slots.find(|&slot| self.requests[index(slot)].left == 0).ok_or(Refused::Full)?;
        let due = self.grants(cluster, now_ns, (reads, writes)).ok_or(Refused::TooLate)?;
        // Jobs of a stream are counted in all its clusters together.
        let same = |of: &&mut crate::slots::SourceSlot| of.kind == JobKind::Server && of.number == number;
        let first = self.sources.iter_mut().find(same).ok_or(Refused::NoSource)?;
        let job = first.index;
        first.index += 1;
        let key = EdfKey { due, kind: JobKind::Server, source: number, index: job };
        self.enter(slot, key, cluster, (reads, writes));
        Ok(Taken { index: job, due_ns: due })
    }

    /// The deadline of a job: the latest that the processors with a part in it give it, which all
    /// of them take.
    fn grants(&mut self, cluster: u32, now_ns: u64, (reads, writes): (&[u32], &[u32])) -> Option<u64> {
        let FtlCluster { server, first_processor, processors, .. } = self.clusters[index(cluster)];
        let server = server?;
        for (pages, written) in [(reads, false), (writes, true)] {
            for lpn in pages {
                let column = first_processor + lpn % processors;
                let Some(of) = self.processors[index(column)].as_mut() else { continue };
                if written { of.asked.1 += 1 } else { of.asked.0 += 1 }
            }
        }
        let own = index(first_processor)..index(first_processor + processors);
        let with = |of: &FtlProcessor<'_>| {
            let by = (u64::from(of.ftl.pages.width()), of.ftl.reclaimed());
            of.served.with(&server, of.asked, by, now_ns)
        };
        let busy = |of: &FtlProcessor<'_>| of.asked != (0, 0);
        // First what comes of it, then each account: nothing has changed where there is none.
        let parts = self.processors[own.clone()].iter().flatten().filter(|of| busy(of));
        let latest = parts.map(|of| Some(with(of)?.due)).try_fold(0, |latest: u64, due| Some(latest.max(due?)));
        for of in self.processors[own].iter_mut().flatten() {
            if let (true, Some(due), Some(granted)) = (busy(of), latest, with(of)) {
                of.served = ServerGrants { due, ..granted };
            }
            of.asked = (0, 0);
        }
        latest
    }

    /// A job has programmed pages on a processor: its pass may be due.
    pub(crate) fn may_owe(&mut self, number: usize, slot: u32) {
        let Some(of) = &mut self.processors[number] else { return };
        if of.ftl.server_pass_is_due() {
            of.owing = slot;
            // The job is not over before its pass is.
            self.requests[index(slot)].left += 1;
        }
    }

    /// A pass of a server is over, or left out.
    pub(crate) fn server_pass_is_over(&mut self, number: u32, host: &mut impl RequestHost) {
        let Some(Some(of)) = self.processors.get_mut(index(number)) else { return };
        if of.owing == NONE || of.ftl.server_pass_is_over() {
            return;
        }
        let (slot, cluster) = (core::mem::replace(&mut of.owing, NONE), of.cluster);
        self.pages_are_over(cluster, slot, 1, host);
    }
}

impl FtlProcessor<'_> {
    /// The pass of a server's job begins; or it is left out, where it is void.
    pub(crate) fn begins_server_pass(&mut self, number: usize, key: EdfKey, host: &mut impl RequestHost) -> bool {
        let processor = u32::try_from(number).unwrap_or(NONE);
        let Some((block, valid)) = self.ftl.begin_pass(true) else {
            host.server_left_out(processor, (key.source, key.index), self.ftl.pages.free());
            return false;
        };
        host.server_selected(processor, (key.source, key.index), block, valid);
        true
    }
}
