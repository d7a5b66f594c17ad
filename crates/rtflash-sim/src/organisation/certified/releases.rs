//! Releases: requests of tasks, GC by the pages that arrive, and jobs that are not real-time.

use std::cmp::Reverse;

use rtflash_model::{ClusterId, Instant, Lpn, Span};
use rtflash_plan::resume::resume;
use rtflash_plan::{A_STREAM, Arrival, ColumnId, Options, Phases, Plan, Requests, Service, SourceId, release_jitter};
use rtflash_trace::{JobId, Kind, NONE, Observer, Record, Release};

use super::processor::{OpenJob, Part};
use super::{CertifiedGroup, RequestEvent};
use crate::engine::priority::{JobDue, Priority};
use crate::engine::request_times::RequestTimes;
use crate::organisation::cluster::BACKGROUND;

/// The room for pages of a job on a processor that is made at most before there are any.
const SHARE: usize = 1 << 10;

#[derive(Debug)]
pub(super) struct RequestSource {
    pub(super) number: SourceId,
    kind: Kind,
    cluster: usize,
    times: RequestTimes,
    /// D.
    deadline: Span,
    /// J.
    jitter: Span,
    next: u64,
    /// Its nominal arrival, or with [`Phases::AtErases`] the earliest that there may be.
    nominal: Instant,
    released: Instant,
    /// With [`Phases::AtErases`]: whether the next request may be released, and waits for an erase.
    armed: bool,
    requests: Requests,
}

resume!([] RequestSource {
    values: [next, nominal, released, armed],
    parts: [requests],
    lists: [],
    made: [number, kind, cluster, times, deadline, jitter],
});

impl RequestSource {
    pub(super) fn all(plan: &Plan, clusters: &[ClusterId], options: &Options) -> Vec<RequestSource> {
        let of_tasks = plan.sources().enumerate().filter_map(|(number, source)| {
            let period = source.period()?.of_request();
            let cluster = clusters.binary_search(&source.cluster?).ok()?;
            let times = RequestTimes::new(options, number, source, period);
            let requests = Requests::of_source(plan, number, options);
            Some(RequestSource {
                number,
                kind: source.kind,
                cluster,
                nominal: times.first(),
                times,
                deadline: source.deadline.expect("a request has a deadline"),
                jitter: source.jitter,
                next: 0,
                released: Instant::START,
                armed: false,
                requests,
            })
        });
        of_tasks.collect()
    }
}

impl<O: Observer> CertifiedGroup<'_, O> {
    pub(super) fn release_all(&mut self, now: Instant) {
        while let Some(&Reverse((at, event))) = self.events.peek()
            && at == now
        {
            // A thousand requests of a million pages at once: the run is over as soon as one too
            // many is there.
            if self.is_overloaded() {
                return;
            }
            self.events.pop();
            let (source, number) = match event {
                RequestEvent::Release(source, number) | RequestEvent::Arm(source, number) => (source, number),
                RequestEvent::Change(processor, _) => {
                    self.changed.push(processor);
                    continue;
                }
                RequestEvent::Advance(processor, _) => {
                    self.advance(processor, now);
                    continue;
                }
                RequestEvent::Trim(which, number) => {
                    self.trim_is_due(which, number, now);
                    continue;
                }
            };
            if self.sources[source].next != number {
                // It was released before.
            } else if matches!(event, RequestEvent::Release(..)) {
                self.release(source, now);
            } else {
                self.sources[source].armed = true;
                self.later_at(now.saturating_add(self.sources[source].times.period()), RequestEvent::Release, source);
            }
        }
        while self.arrivals.front().is_some_and(|arrival| arrival.at == now) {
            if self.is_overloaded() {
                return;
            }
            let arrival = self.arrivals.pop_front().expect("there is a next arrival");
            self.arrive_now(arrival, now);
        }
    }

    /// The next request of a source comes by its nominal arrival: is released its lateness later,
    /// or may be released from then on.
    pub(super) fn later(&mut self, source: usize) {
        let nominal = self.sources[source].nominal;
        match self.options.phases {
            Phases::Periodic | Phases::Random => {
                let late = self.jitter(source);
                self.later_at(nominal.saturating_add(late), RequestEvent::Release, source);
            }
            Phases::AtErases => self.later_at(nominal, RequestEvent::Arm, source),
        }
    }

    fn jitter(&self, source: usize) -> Span {
        let of = &self.sources[source];
        release_jitter(self.options.seed, of.number, of.next, of.jitter)
    }

    fn later_at(&mut self, at: Instant, event: impl Fn(usize, u64) -> RequestEvent, source: usize) {
        // One that comes early may not overtake the one before.
        let at = at.max(self.sources[source].released);
        if at < self.options.duration {
            self.events.push(Reverse((at, event(source, self.sources[source].next))));
        }
    }

    /// An erase begins in a cluster: what waits for one is released one nanosecond later.
    pub(super) fn erase_begins(&mut self, cluster: usize, now: Instant) {
        if self.options.phases != Phases::AtErases {
            return;
        }
        let soon = now.saturating_add(Span::NANOSECOND);
        for source in 0..self.sources.len() {
            if self.sources[source].armed && self.sources[source].cluster == cluster {
                self.sources[source].armed = false;
                self.later_at(soon, RequestEvent::Release, source);
            }
        }
    }

    fn release(&mut self, source: usize, now: Instant) {
        let mut nominal = self.sources[source].nominal;
        if self.options.phases == Phases::AtErases {
            // It arrived as long ago as its jitter has it, but for the period since the one before.
            let late = self.jitter(source);
            nominal = nominal.max(now.saturating_sub(late));
        }
        self.release_as_of(source, nominal, now, &[]);
        self.later(source);
    }

    /// The next request of a source, that arrived nominally then, is released: for these pages, or
    /// where there are none for those that are drawn.
    pub(super) fn release_as_of(&mut self, source: usize, nominal: Instant, now: Instant, given: &[Lpn]) -> JobId {
        let of = &mut self.sources[source];
        of.nominal = nominal;
        let id = JobId { source: of.number, index: of.next };
        let (kind, cluster) = (of.kind, of.cluster);
        let pages = if given.is_empty() { of.times.pages(id.index) } else { given.len() as u64 };
        let policed = of.times.policed(id, nominal, now);
        let due = of.nominal.saturating_add(of.deadline);
        of.released = now;
        (of.next, of.armed, of.nominal) = (of.next + 1, false, of.times.after(of.nominal, id.index));
        let mut lpns = std::mem::take(&mut self.lpns);
        lpns.clear();
        lpns.extend_from_slice(given);
        let (first, stripe) =
            (self.clusters[cluster].processors.start, self.processors[self.clusters[cluster].processors.start].stripe);
        if kind == Kind::Write && lpns.is_empty() && of.requests.is_for_fullest() {
            lpns = self.processors[first].store.fullest(&of.requests.range(), pages);
        }
        let (left, store) = (pages - lpns.len() as u64, &self.processors[first].store);
        // A page that holds nothing is on no chip.
        let chip_of = |lpn| store.find(lpn).map_or(ColumnId(NONE), |at| at.chip);
        of.requests.draw(left, &mut lpns, |lpn| if stripe { ColumnId(0) } else { chip_of(lpn) });
        let release = Release {
            at: now,
            job: id,
            kind,
            deadline: Some(due),
            pages,
            cluster: Some(self.clusters[cluster].position),
        };
        self.core.observer.push(Record::Release(release));
        if let Some(policed) = policed {
            self.core.observer.push(Record::Policed(policed));
        }
        let reads = if kind == Kind::Read { pages } else { 0 };
        self.enter(id, kind, due.as_ns(), cluster, &lpns, reads);
        self.lpns = lpns;
        if kind == Kind::Write {
            for processor in self.clusters[cluster].processors.clone() {
                self.collect(processor, now);
            }
        }
        id
    }

    /// Rule S1: divides a job among its cluster's processors: `lpns` are the pages that it reads,
    /// `reads` of them, and then those that it writes.
    fn enter(&mut self, id: JobId, kind: Kind, deadline: u64, cluster: usize, lpns: &[Lpn], reads: u64) {
        let processors = self.clusters[cluster].processors.clone();
        let (count, number) = (processors.len(), self.clusters[cluster].position);
        let job = self.jobs.insert(OpenJob { id, parts: 0 });
        let due = JobDue { deadline, place: self.ties.of_job(kind, id) };
        let priority = Priority { due, kind, source: id.source, index: id.index, slot: 0 };
        self.entered += lpns.len() as u64;
        let mut parts: Vec<Option<usize>> = std::mem::take(&mut self.parts_of);
        parts.clear();
        parts.resize(count, None);
        // About as many come to each of them.
        let share = |pages: usize| if pages > 0 { pages.div_ceil(count).next_power_of_two().min(SHARE) } else { 0 };
        let (read, written) = lpns.split_at(usize::try_from(reads).map_or(lpns.len(), |reads| reads.min(lpns.len())));
        let (reads_room, writes_room) = (share(read.len()), share(written.len()));
        if count == 1 && !lpns.is_empty() {
            let part = self.enter_part(job, processors.start, priority, reads_room, writes_room);
            self.enter_all(part, read, written);
            self.changed.push(processors.start);
            self.parts_of = parts;
            return;
        }
        for (&lpn, place) in lpns.iter().zip(0..) {
            let at = lpn.index() % count;
            let part = match parts[at] {
                Some(part) => part,
                None => self.enter_part(job, processors.start + at, priority, reads_room, writes_room),
            };
            parts[at] = Some(part);
            let processor = &mut self.processors[processors.start + at];
            processor.store.prefetch_place(lpn);
            self.core.observer.as_observer().expect(number, lpn);
            let of = &mut self.parts[part];
            of.unfinished += 1;
            if place < reads {
                of.reads.push_back(lpn);
            } else {
                of.writes.push_back(lpn);
                if kind == Kind::Write {
                    processor.store.ftl.arrive(1);
                }
            }
        }
        for at in (0..count).filter(|&at| parts[at].is_some()) {
            self.changed.push(processors.start + at);
        }
        self.parts_of = parts;
    }

    fn enter_part(&mut self, job: usize, processor: usize, priority: Priority, reads: usize, writes: usize) -> usize {
        let part = self.parts.insert(Part::new(job, processor, priority, reads, writes));
        let key = &mut self.parts[part].key;
        key.slot = part;
        self.processors[processor].queue.insert(*key);
        self.jobs[job].parts += 1;
        part
    }

    fn enter_all(&mut self, part: usize, reads: &[Lpn], writes: &[Lpn]) {
        let of = &mut self.parts[part];
        let processor = &mut self.processors[of.processor];
        let (store, observer) = (&mut processor.store, self.core.observer.as_observer());
        for &lpn in reads.iter().chain(writes) {
            store.prefetch_place(lpn);
            observer.expect(processor.number, lpn);
        }
        of.reads.extend(reads);
        of.writes.extend(writes);
        of.unfinished += (reads.len() + writes.len()) as u64;
        if of.key.kind == Kind::Write {
            store.ftl.arrive(writes.len() as u64);
        }
    }

    /// Releases the GC jobs that are due by the pages that have arrived on a processor.
    pub(super) fn collect(&mut self, number: usize, now: Instant) {
        while let Some((index, deadline)) = self.processors[number].store.ftl.collects() {
            let of = &self.processors[number];
            let (cluster, source) = (Some(of.number), of.source);
            let source = source.expect("a processor with a GC deadline has a source of GC jobs");
            let id = JobId { source, index };
            let due = now.saturating_add(Span::from_ns(deadline).expect("it was a span"));
            let (kind, deadline) = (Kind::Gc, Some(due));
            self.core.observer.push(Record::Release(Release { at: now, job: id, kind, deadline, pages: 0, cluster }));
            let job = self.jobs.insert(OpenJob { id, parts: 0 });
            let due = JobDue { deadline: due.as_ns(), place: self.ties.of_job(kind, id) };
            self.enter_part(job, number, Priority { due, kind, source, index, slot: 0 }, 0, 0);
            self.changed.push(number);
        }
    }

    fn arrive_now(&mut self, arrival: Arrival, now: Instant) {
        let pages = arrival.read_pages + arrival.write_pages;
        let placed = match self.options.service {
            Service::Tbs => arrival.grant.and_then(|grant| {
                let cluster = self.clusters.iter().position(|cluster| cluster.position == grant.cluster)?;
                Some((cluster, Some(grant.deadline)))
            }),
            // Blocking and reserve are there only where the certificate has a server.
            Service::Background => (0..self.clusters.len())
                .filter(|&cluster| self.certified[self.clusters[cluster].position].certificate.server_thousandths > 0)
                .min_by_key(|&cluster| self.clusters[cluster].background)
                .map(|it| (it, None)),
        };
        let placed = placed.filter(|_| self.has_room(pages));
        let release = Release {
            at: now,
            job: arrival.job,
            kind: Kind::Server,
            deadline: placed.and_then(|(_, deadline)| deadline),
            pages,
            cluster: placed.map(|(cluster, _)| self.clusters[cluster].position),
        };
        self.core.observer.push(Record::Release(release));
        let Some((cluster, deadline)) = placed else { return };
        let number = self.clusters[cluster].position;
        let stream = self.plan.sources()[arrival.job.source].stream().expect(A_STREAM);
        let lpns = arrival.pages(
            self.options.seed,
            number,
            &self.certified[number].ranges[self.plan.clusters()[number].tasks.len() + stream],
        );
        if deadline.is_none() {
            self.clusters[cluster].background += pages;
        }
        let deadline = deadline.map_or(BACKGROUND + now.as_ns(), Instant::as_ns);
        self.enter(arrival.job, Kind::Server, deadline, cluster, &lpns, arrival.read_pages);
    }
}
