//! Total Bandwidth Servers.

use rtflash_model::{ChipId, ClusterId, Id, Lpn};
use rtflash_plan::{Arrival, Grant, Options, Plan, job_pages};

use super::{certified, instant, is_cached, is_stripe};

pub struct Servers<'a> {
    plan: &'a Plan,
    seed: u64,
    /// For each processor of each cluster: pages written so far, and the last deadline.
    processors: Vec<Vec<(u64, u64)>>,
}

impl<'a> Servers<'a> {
    pub fn new(plan: &'a Plan, options: &Options) -> Servers<'a> {
        let processors = (0..plan.clusters().len()).map(|cluster| {
            let count = if is_stripe(plan, cluster) { plan.clusters().as_slice()[cluster].chips.len() } else { 1 };
            vec![(0, 0); count]
        });
        Servers { plan, seed: options.seed, processors: processors.collect() }
    }

    pub fn grant(&mut self, arrival: &Arrival) -> Option<Grant> {
        let mut best: Option<(u64, usize)> = None;
        for cluster in 0..self.processors.len() {
            if let Some(deadline) = self.parts(cluster, arrival).iter().map(|part| part.1).max()
                && best.is_none_or(|(earliest, _)| deadline < earliest)
            {
                best = Some((deadline, cluster));
            }
        }
        let (deadline, cluster) = best?;
        for (processor, _, writes) in self.parts(cluster, arrival) {
            self.processors[cluster][processor] = (self.processors[cluster][processor].0 + writes, deadline);
        }
        let cluster = u32::try_from(cluster).expect("few clusters");
        Some(Grant { cluster: ClusterId(cluster), deadline: instant(deadline), gc_passes: 0 })
    }

    /// Each processor with pages of the job: its deadline, and how many pages are written there.
    /// None without a server.
    fn parts(&self, cluster: usize, arrival: &Arrival) -> Vec<(usize, u64, u64)> {
        let of = &self.plan.clusters().as_slice()[cluster];
        let by = certified(self.plan, cluster);
        let certificate = by.certificate;
        let share = u64::from(certificate.server_thousandths);
        if share == 0 {
            return vec![];
        }
        let collection = certificate.collection.expect("a server collects");
        let device = self.plan.device();
        let sharing = |chip: &ChipId| {
            (0..device.chips()).filter(|&other| device.channel_of(other) == device.channel_of(chip.0)).count() as u64
        };
        let bus = of.chips.iter().map(sharing).max().expect("a chip") * device.bus_hold().as_ns();
        // Behind a command that waits for the same.
        let command = device.command().as_ns();
        let told = if command > 0 { bus - device.page_transfer().as_ns() } else { 0 };
        let (read, program) = (told + device.page_read().as_ns(), device.page_program().as_ns());
        let reading = read + bus - command;
        let (chips, victim) = (of.chips.len() as u64, collection.victim_pages);
        let stream = self.plan.sources()[arrival.job.source].stream().expect("a job is a stream's");
        let range = &by.ranges[of.tasks.len() + stream];
        let number = ClusterId::from_index(cluster);
        let pages = arrival.read_pages + arrival.write_pages;
        let lpns = job_pages(self.seed, number, arrival.job, pages, range);
        let mut parts = Vec::new();
        for (processor, &(written, last)) in self.processors[cluster].iter().enumerate() {
            let here = |lpn: &Lpn| !is_stripe(self.plan, cluster) || lpn.index() % of.chips.len() == processor;
            let reads =
                lpns.iter().take(usize::try_from(arrival.read_pages).expect("few")).filter(|lpn| here(lpn)).count()
                    as u64;
            let writes = lpns.iter().filter(|lpn| here(lpn)).count() as u64 - reads;
            if reads + writes == 0 {
                continue;
            }
            let (writing, pass) = if is_stripe(self.plan, cluster) {
                (writes * (program + bus), victim * (read + program))
            } else {
                let rows = victim.div_ceil(chips) * (program + bus);
                // Pages that are read together wait for each other, where they share a channel.
                let steps = victim.min(device.pages_per_block().into());
                let own = |chip: &ChipId| {
                    let on = |other: &&ChipId| device.channel_of(other.0) == device.channel_of(chip.0);
                    of.chips.iter().filter(on).count() as u64
                };
                let hold = device.bus_hold().as_ns();
                let foreign = of.chips.iter().map(|chip| sharing(chip) - own(chip)).max().expect("a chip");
                let waits = foreign * hold + if command > 0 { command + foreign * hold } else { 0 };
                let alone = waits + device.page_read().as_ns() + device.page_transfer().as_ns();
                let beside = if command > 0 { 2 * hold } else { hold };
                let reads = (steps * reading).min(steps * alone.max(beside) + (victim - steps) * beside);
                (writes.div_ceil(chips) * (program + bus), reads + rows)
            };
            let reclaimed = collection.reclaimed_pages;
            let passes = (written + writes) / reclaimed - written / reclaimed;
            let (reading, writing, turn) = if is_cached(self.plan, cluster) {
                let wide = if is_stripe(self.plan, cluster) { 1 } else { of.chips.len() as u64 };
                let [sense, page] = [device.page_read(), device.page_transfer()].map(|time| time.as_ns());
                let reading = if command > 0 { told + sense.max(page) } else { sense.max(bus) };
                (reading, writes.div_ceil(wide) * program.max(bus), 2 * bus)
            } else {
                (reading, writing, 0)
            };
            let turns = u64::from(reads > 0) + u64::from(writes > 0) + passes;
            let cost = reads * reading + writing + passes * (pass + told + device.block_erase().as_ns()) + turns * turn;
            let deadline = last.max(arrival.at.as_ns()) + (cost * 1000).div_ceil(share);
            parts.push((processor, deadline, writes));
        }
        parts
    }
}
