//! A host in front of an eMMC that is written down plainly: nanosecond by nanosecond, with lists.

use rtflash_host::run::{Attach, Emmc, HostDevice, JobReleases, Kernel, Scenario, WriteBack};
use rtflash_host::scheduler::SchedulerSettings;
use rtflash_host::{Command, Scheduler};
use rtflash_model::Instant;

/// An I/O under way.
struct Io {
    job: usize,
    released: u64,
    left: usize,
    begun: bool,
}

/// A request on its way, with the I/Os in it and where the part of each ends.
#[derive(Clone)]
struct Request {
    command: Command,
    ios: Vec<(usize, u64)>,
}

/// A process that submits: a job's, or one for the I/O.
struct Process {
    job: usize,
    io: Option<usize>,
    limit: Option<u32>,
    requests: Vec<Request>,
    /// Whether it writes back; the I/Os that it was given; and what is in its plug.
    buffered: bool,
    ios: Vec<usize>,
    plug: Vec<Request>,
    is_tried: bool,
    line: Option<usize>,
}

/// Tags of the kernel's bitmap, a truth each.
struct Tags {
    taken: Vec<bool>,
    cleared: Vec<bool>,
    of_word: usize,
    hints: [usize; 2],
    kernel: Kernel,
}

impl Tags {
    /// The first of some tags that is free.
    fn first(&self, mut among: impl Iterator<Item = usize>) -> Option<usize> {
        among.find(|&tag| !self.taken[tag])
    }

    fn take(&mut self, cpu: u32, limit: Option<u32>) -> Option<usize> {
        let (number, hint) = (self.taken.len(), self.hints[cpu as usize]);
        let words = number.div_ceil(self.of_word);
        for round in 0..words {
            let word = (hint / self.of_word + round) % words;
            let begin = word * self.of_word;
            let own = self.of_word.min(number - begin);
            let depth = match (limit.map(|limit| limit as usize), self.kernel) {
                (None, _) => own,
                (Some(limit), Kernel::V6_5) => limit.min(own),
                (Some(limit), Kernel::V6_12) if limit >= number => own,
                (Some(limit), Kernel::V6_12) => {
                    own * limit / number + usize::from(own * limit % number >= (word + 1) * own)
                }
            };
            // Writes and the like go on from the hint, others from the begin of the word.
            let from = if round == 0 && limit.is_some() { (hint % self.of_word).min(depth) } else { 0 };
            let order = || (begin + from..begin + depth).chain(begin..begin + from);
            let found = self.first(order()).or_else(|| {
                if depth > 0 {
                    for tag in begin..begin + own {
                        self.taken[tag] &= !std::mem::take(&mut self.cleared[tag]);
                    }
                }
                self.first(order())
            });
            if let Some(tag) = found {
                self.taken[tag] = true;
                if tag == hint {
                    self.hints[cpu as usize] = if tag + 2 > number - 1 { 0 } else { tag + 1 };
                }
                return Some(tag);
            }
        }
        self.hints[cpu as usize] = 0;
        None
    }

    fn give(&mut self, cpu: u32, tag: usize) {
        self.cleared[tag] = true;
        self.hints[cpu as usize] = tag;
    }
}

/// The host.
pub struct Plain<'a> {
    scenario: &'a Scenario,
    emmc: Emmc,
    scheduler: Box<dyn Scheduler>,
    now: u64,
    latencies: Vec<Vec<u64>>,
    ios: Vec<Io>,
    /// The I/Os and the tag of each command, by its id.
    owners: Vec<Vec<usize>>,
    tag_of: Vec<usize>,
    /// Requests at the scheduler in order of arrival, as they are by now.
    queued: Vec<Command>,
    tags: Tags,
    /// Commands in the plug of the process that runs.
    plugged: Vec<Command>,
    running: Vec<Process>,
    woken: Vec<Process>,
    lines: [Vec<Process>; 8],
    next_wait: usize,
    next_wake: usize,
    given: usize,
    batch: usize,
    device: Vec<Command>,
    ends: Option<u64>,
    /// Whether the end of a command runs the driver again.
    restarts: bool,
    released: Vec<u64>,
    places: Vec<u64>,
    planned: Vec<(u64, usize)>,
    asked_for: Vec<u64>,
    cached: Vec<u128>,
    unseen: Vec<Vec<usize>>,
    late: Vec<usize>,
    asks: Vec<u64>,
    caused: Vec<usize>,
}

fn at(nanoseconds: u64) -> Instant {
    Instant::from_ns(nanoseconds).expect("a short time")
}

fn small(number: u64) -> usize {
    usize::try_from(number).expect("few")
}

impl Plain<'_> {
    /// Latencies of each job, ascending.
    pub fn latencies(scenario: &Scenario) -> Vec<Vec<u64>> {
        let mut plain = Plain::new(scenario);
        for (number, job) in scenario.jobs.iter().enumerate() {
            if let JobReleases::Closed { depth, .. } = job.releases {
                for _ in 0..depth {
                    let at = plain.when(number, job.phase.as_ns());
                    plain.planned.push((at, number));
                }
            }
        }
        for now in 0..=scenario.duration.as_ns() {
            plain.now = now;
            plain.instant();
        }
        plain.latencies.iter_mut().for_each(|of| of.sort_unstable());
        plain.latencies
    }

    fn new(scenario: &Scenario) -> Plain<'_> {
        let HostDevice::Emmc(emmc) = &scenario.device else { panic!("no eMMC") };
        let scheduler = scenario.scheduler.scheduler();
        let (jobs, host) = (scenario.jobs.len(), &scenario.host);
        let of_device = matches!(scenario.scheduler, SchedulerSettings::None);
        let (tags, allocated) = match emmc.attach {
            Attach::Budget if of_device => (emmc.depth, emmc.depth),
            Attach::Tags if of_device => (emmc.depth - 1, emmc.depth - 1),
            _ => (host.requests, host.requests.max(host.requests_before.unwrap_or(0))),
        };
        let sizes = [64, 32, 16, 8, 4, 2, 1];
        let of_word = sizes.into_iter().find(|word| allocated < 4 || 4 * word <= allocated).expect("a size");
        let least = scheduler.min_tag_limit(host).unwrap_or(tags).min(tags);
        let number = tags as usize;
        let (taken, cleared) = (vec![false; number], vec![false; number]);
        Plain {
            scenario,
            emmc: **emmc,
            now: 0,
            latencies: vec![Vec::new(); jobs],
            ios: Vec::new(),
            owners: Vec::new(),
            tag_of: Vec::new(),
            queued: Vec::new(),
            tags: Tags { taken, cleared, of_word: of_word as usize, hints: [0; 2], kernel: host.kernel },
            running: Vec::new(),
            plugged: Vec::new(),
            woken: Vec::new(),
            lines: Default::default(),
            next_wait: 0,
            next_wake: 0,
            given: 0,
            batch: (least as usize / 8).clamp(1, 8),
            device: Vec::new(),
            ends: None,
            restarts: false,
            released: vec![0; jobs],
            places: scenario.jobs.iter().map(|job| job.from).collect(),
            planned: Vec::new(),
            asked_for: vec![0; jobs],
            cached: vec![0; jobs],
            unseen: vec![Vec::new(); jobs],
            late: vec![0; jobs],
            asks: Vec::new(),
            caused: Vec::new(),
            scheduler,
        }
    }

    /// When a closed job releases, not before `at`.
    fn when(&mut self, number: usize, mut at: u64) -> u64 {
        let job = &self.scenario.jobs[number];
        let bytes = u128::from(self.asked_for[number] * job.size) * 1_000_000_000;
        self.asked_for[number] += 1;
        while job.pace.is_some_and(|rate| u128::from(rate) * u128::from(at - job.phase.as_ns()) < bytes) {
            at += 1;
        }
        at
    }

    fn is_full(&self) -> bool {
        self.device.len() >= self.emmc.depth as usize
    }

    fn start(&mut self) {
        self.ends = self.device.first().map(|command| {
            let of = &self.owners[small(command.id)];
            let first = of.iter().any(|&io| !self.ios[io].begun);
            of.iter().for_each(|&io| self.ios[io].begun = true);
            self.now + self.emmc.service(command, first).as_ns()
        });
    }

    fn ask(&mut self) {
        while !self.is_full() {
            let Some(command) = self.scheduler.ask(at(self.now)) else { break };
            let place = self.queued.iter().position(|queued| queued.id == command.id).expect("at the scheduler");
            let command = self.queued.remove(place);
            self.device.push(command);
            if self.ends.is_none() {
                self.start();
            }
        }
        self.restarts |= self.is_full();
    }

    /// Whether the one process of a job waits, which then sees no ends.
    fn is_blocked(&self, job: usize) -> bool {
        let of = &self.scenario.jobs[job];
        let mut waiting = self.lines.iter().flatten().chain(&self.woken);
        of.is_async
            && matches!(of.releases, JobReleases::Closed { .. })
            && waiting.any(|process| process.job == job && process.io.is_none())
    }

    fn end(&mut self) -> bool {
        let waited = self.is_full();
        let always = self.emmc.attach != Attach::Tags || self.scheduler.kicks_queue();
        let runs = std::mem::replace(&mut self.restarts, waited) || always;
        let command = self.device.remove(0);
        self.start();
        self.scheduler.completed(&command, at(self.now));
        self.tags.give(command.cpu, self.tag_of[small(command.id)]);
        if !self.woken.is_empty() || self.lines.iter().any(|line| !line.is_empty()) {
            self.given += 1;
            if self.given == self.batch {
                self.given = 0;
                self.wake();
            }
        }
        for of in self.owners[small(command.id)].clone() {
            self.ios[of].left -= 1;
            if self.ios[of].left == 0 {
                let job = self.ios[of].job;
                if self.is_blocked(job) { self.unseen[job].push(of) } else { self.finish(of) }
            }
        }
        runs
    }

    fn wake(&mut self) {
        let mut left = self.batch;
        for _ in 0..8 {
            let line = self.next_wake;
            self.next_wake = (line + 1) % 8;
            while left > 0 && !self.lines[line].is_empty() {
                let process = self.lines[line].remove(0);
                self.woken.push(process);
                left -= 1;
            }
            if left == 0 {
                return;
            }
        }
    }

    fn finish(&mut self, number: usize) {
        let Io { job, released, .. } = self.ios[number];
        if self.now >= self.scenario.warmup.as_ns() {
            self.latencies[job].push(self.now - released);
        }
        if let JobReleases::Closed { think, .. } = self.scenario.jobs[job].releases {
            match self.when(job, self.now + think.as_ns() + self.scenario.host.overhead.as_ns()) {
                at if at == self.now => self.caused.push(job),
                at => self.planned.push((at, job)),
            }
        }
    }

    /// Says whether an I/O is released.
    fn release(&mut self, number: usize) -> bool {
        let job = &self.scenario.jobs[number];
        let is_over = job.until.is_some_and(|until| self.now >= until.as_ns());
        if is_over || job.count.is_some_and(|count| self.released[number] >= count) {
            return false;
        }
        self.released[number] += 1;
        let fits = job.span.is_none_or(|span| self.places[number] + job.size <= job.from + span);
        let from = if fits { self.places[number] } else { job.from };
        self.places[number] = from + job.size;
        let alone = job.is_async || matches!(job.releases, JobReleases::WriteBack(_));
        let io = self.ios.len();
        self.ios.push(Io { job: number, released: self.now, left: 0, begun: false });
        let (mut behind, mut next) = (job.size, from);
        while behind > 0 {
            let size = behind.min(self.scenario.host.max_sectors);
            let command = Command {
                id: 0,
                op: job.op,
                from: next,
                size,
                class: job.class,
                level: job.level,
                cpu: job.cpu,
                job: u32::try_from(number).expect("few"),
                user_centric: job.user_centric,
            };
            self.submit(number, (!alone).then_some(io), Request { command, ios: vec![(io, next + size)] });
            self.ios[io].left += 1;
            behind -= size;
            next += size;
        }
        true
    }

    fn submit(&mut self, job: usize, io: Option<usize>, request: Request) {
        let buffered = matches!(self.scenario.jobs[job].releases, JobReleases::WriteBack(_));
        let limit = self.scheduler.tag_limit(&request.command, buffered, &self.scenario.host);
        let all = self.running.iter_mut().chain(&mut self.woken).chain(self.lines.iter_mut().flatten());
        let Some(process) = all.into_iter().find(|process| (process.job, process.io) == (job, io)) else {
            let (plug, ios) = (Vec::new(), vec![request.ios[0].0]);
            let requests = vec![request];
            self.running.push(Process { job, io, limit, requests, buffered, ios, plug, is_tried: false, line: None });
            return;
        };
        process.ios.push(request.ios[0].0);
        process.ios.dedup();
        process.requests.push(request);
    }

    /// Requests that one process submits together are merged before any scheduler. Those of two
    /// I/Os or one are not submitted together.
    fn plug(&mut self) {
        let host = &self.scenario.host;
        let process = &mut self.running[0];
        let [request, ..] = &process.requests[..] else { return };
        if !process.buffered && process.ios.len() <= 2 {
            if process.plug.last().is_some_and(|last| last.ios[0].0 != request.ios[0].0) {
                process.plug.clear();
                self.unplug();
                self.ask();
            }
            return;
        }
        while process.io.is_none()
            && !process.is_tried
            && host.merge
            && let [request, next, ..] = &mut process.requests[..]
            && request.command.size + next.command.size <= host.max_sectors
        {
            if request.command.from + request.command.size == next.command.from {
                request.ios.append(&mut next.ios);
            } else if next.command.from + next.command.size == request.command.from {
                request.command.from = next.command.from;
                request.ios = [std::mem::take(&mut next.ios), std::mem::take(&mut request.ios)].concat();
            } else {
                return;
            }
            request.command.size += next.command.size;
            process.requests.remove(1);
        }
    }

    fn next_line(&mut self) -> usize {
        let line = self.next_wait;
        self.next_wait = (line + 1) % 8;
        line
    }

    /// Processes submit, and with `woken` those that were woken. Says whether something has come to
    /// the scheduler.
    fn admit(&mut self, woken: bool) -> bool {
        let mut any = false;
        loop {
            if self.running.is_empty() {
                if !woken || self.woken.is_empty() {
                    return any;
                }
                // It asks before it takes a tag.
                self.ask();
                let process = self.woken.remove(0);
                let line = Some(self.next_line());
                self.running.push(Process { line, ..process });
            }
            self.plug();
            let Some(request) = self.running[0].requests.first().cloned() else {
                self.unplug();
                let process = self.running.remove(0);
                self.reap(process);
                continue;
            };
            let is_new = !std::mem::replace(&mut self.running[0].is_tried, true);
            if is_new && self.merge(&request) {
                self.running[0].requests.remove(0);
                self.running[0].is_tried = false;
            } else if self.insert(&request) {
                any = true;
                let request = self.running[0].requests.remove(0);
                self.running[0].plug.push(request);
                (self.running[0].is_tried, self.running[0].line) = (false, None);
            } else {
                let mut process = self.running.remove(0);
                let line = process.line.take().unwrap_or_else(|| self.next_line());
                process.plug.clear();
                self.unplug();
                self.lines[line].push(process);
            }
        }
    }

    /// A process that has no more to submit sees what has ended.
    fn reap(&mut self, process: Process) {
        if process.io.is_none() {
            for io in std::mem::take(&mut self.unseen[process.job]) {
                self.finish(io);
            }
            for _ in 0..std::mem::take(&mut self.late[process.job]) {
                self.release(process.job);
            }
        }
    }

    /// Merges a request that stays whole into one at the scheduler, if it can be.
    fn merge(&mut self, request: &Request) -> bool {
        let own = request.command;
        let piece = self.scheduler.piece(&own).unwrap_or(own.size);
        if !self.scenario.host.merge || piece < own.size {
            return false;
        }
        let may = |other: &Command| {
            (other.op, other.class, other.level) == (own.op, own.class, own.level)
                && other.size + own.size <= self.scenario.host.max_sectors
                && self.scheduler.merges(other, &own)
        };
        let back = self.queued.iter().position(|other| may(other) && other.from + other.size == own.from);
        let front = self.queued.iter().position(|other| may(other) && own.from + own.size == other.from);
        let Some(place) = back.or(front) else { return false };
        let before = self.queued[place];
        let after = Command { from: before.from.min(own.from), size: before.size + own.size, ..before };
        self.scheduler.merged(&before, &after);
        self.queued[place] = after;
        self.owners[small(after.id)].extend(request.ios.iter().map(|&(io, _)| io));
        true
    }

    /// A request comes to the scheduler in its pieces, if there is a tag for each.
    fn insert(&mut self, request: &Request) -> bool {
        let own = request.command;
        let piece = self.scheduler.piece(&own).unwrap_or(own.size);
        let mut taken = Vec::new();
        for _ in 0..own.size.div_ceil(piece) {
            match self.tags.take(own.cpu, self.running[0].limit) {
                Some(tag) => taken.push(tag),
                None => {
                    taken.iter().for_each(|&tag| self.tags.give(own.cpu, tag));
                    return false;
                }
            }
        }
        let plug = &mut self.running[0].plug;
        let is_long = |first: &Request| first.command.size >= 128 << 10 && self.scenario.host.merge;
        if plug.len() == 32 || plug.first().is_some_and(is_long) {
            plug.clear();
            self.unplug();
            self.ask();
        }
        request.ios.iter().for_each(|&(io, _)| self.ios[io].left -= 1);
        for (number, tag) in taken.into_iter().enumerate() {
            let from = own.from + number as u64 * piece;
            let size = piece.min(own.from + own.size - from);
            let command = Command { id: self.owners.len() as u64, from, size, ..own };
            let mut begin = own.from;
            let mut owners = Vec::new();
            for &(io, end) in &request.ios {
                if begin < from + size && end > from {
                    owners.push(io);
                    self.ios[io].left += 1;
                }
                begin = end;
            }
            self.owners.push(owners);
            self.tag_of.push(tag);
            self.plugged.push(command);
        }
        true
    }

    /// The scheduler gets what is in the plug.
    fn unplug(&mut self) {
        for command in std::mem::take(&mut self.plugged) {
            self.queued.push(command);
            self.scheduler.insert(command, at(self.now));
        }
    }

    /// Jobs that release now by themselves.
    fn due(&mut self) -> Vec<usize> {
        let now = self.now;
        let mut due: Vec<usize> = self.planned.iter().filter(|&&(at, _)| at == now).map(|&(_, job)| job).collect();
        for (number, job) in self.scenario.jobs.iter().enumerate() {
            if let JobReleases::Every { period, .. } = job.releases
                && now >= job.phase.as_ns()
                && (now - job.phase.as_ns()).is_multiple_of(period.as_ns())
            {
                due.push(number);
            }
            if let JobReleases::WriteBack(WriteBack { rate, flush }) = job.releases
                && now > job.phase.as_ns()
            {
                self.cached[number] += u128::from(rate);
                let io = u128::from(job.size) * 1_000_000_000;
                while (now - job.phase.as_ns()).is_multiple_of(flush.as_ns()) && self.cached[number] >= io {
                    self.cached[number] -= io;
                    due.push(number);
                }
            }
        }
        due.sort_unstable();
        due
    }

    fn instant(&mut self) {
        let mut asks = self.asks.contains(&self.now) || self.scheduler.next() == Some(at(self.now));
        if self.ends == Some(self.now) && self.end() {
            let turnaround = self.scenario.host.turnaround.as_ns();
            self.asks.push(self.now + turnaround);
            asks |= turnaround == 0;
        }
        for job in self.due() {
            if self.is_blocked(job) {
                self.late[job] += 1;
            } else {
                asks |= self.release(job);
            }
        }
        self.admit(false);
        // Everything timed has been released, and is asked for first.
        if asks {
            self.ask();
        }
        // Then processes that waited for tags get them, and ask.
        if self.admit(true) {
            self.ask();
        }
        while !self.caused.is_empty() {
            let job = self.caused.remove(0);
            let any = self.release(job);
            if self.scenario.jobs[job].is_async && self.caused.first() == Some(&job) {
                continue;
            }
            if self.admit(false) || any {
                self.ask();
            }
        }
    }
}
