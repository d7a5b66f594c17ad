//! Aperiodic requests for fio: arrivals of its own where it draws the same process, iologs
//! elsewhere.

use std::fmt::Write as _;

use rtflash_model::random::Stream;
use rtflash_model::{Arrivals, Job};

use super::{JobFile, TargetPart};
use crate::export::exported::{MAX_REQUESTS, NotExported};
use crate::export::streams::plain;

/// Jobs of a burst at most: each is a process of fio.
const MAX_BURST: u64 = 64;

/// The shortest mean gap, in ns, that fio draws itself: it cuts the mean to whole µs.
const SHORTEST_MEAN: u64 = 100_000;

/// The end of the names of these jobs, by which `check --fio` tells them from the tasks' requests.
pub const APERIODIC: &str = "-aperiodic";

impl JobFile<'_> {
    /// Adds the stream of jobs at this position, as section `section`.
    ///
    /// # Errors
    /// Too much for fio, or for the target.
    pub(super) fn add_aperiodic(&mut self, job: &Job, position: usize, section: usize) -> Result<(), NotExported> {
        let pages = job.read_pages.saturating_add(job.write_pages);
        let part = self.next_part(None, pages)?;
        if part.pages < pages {
            return Err(NotExported::NoRoom(job.name.clone()));
        }
        let name = format!("{section}-{}", plain(&job.name));
        match job.arrivals {
            Arrivals::Poisson(mean)
                if mean.as_ns() >= SHORTEST_MEAN && 1_000_000_000_u64.is_multiple_of(mean.as_ns()) =>
            {
                self.add_chance(job, part, &name, 1_000_000_000 / mean.as_ns())
            }
            Arrivals::Bursts { burst, .. } if burst > MAX_BURST => Err(NotExported::Burst(job.name.clone(), MAX_BURST)),
            Arrivals::Bursts { every, burst } => (0..burst).try_for_each(|place| {
                self.add_replay(job, &Arrivals::Every(every), part, &format!("{name}-{place}"), position)
            }),
            _ => self.add_replay(job, &job.arrivals, part, &name, position),
        }
    }

    /// A job of fio with `rate_process=poisson`: reads and writes are two processes, each with this
    /// number of I/Os a second (fio, backend.c, `usec_for_io`).
    fn add_chance(&mut self, job: &Job, part: TargetPart, name: &str, ios: u64) -> Result<(), NotExported> {
        let direction = match (job.read_pages, job.write_pages) {
            (0, _) => "randwrite",
            (_, 0) => "randread",
            _ => "randrw\nrwmixread=50",
        };
        let too_large = || NotExported::TooLarge(job.name.clone());
        // A direction that is not there needs a size above zero all the same.
        let bytes = |pages: u64| pages.max(1).checked_mul(self.page_size).ok_or_else(too_large);
        let (reads, writes) = (bytes(job.read_pages)?, bytes(job.write_pages)?);
        let (begin, size) = (part.begin * self.page_size, part.pages * self.page_size);
        let us = self.options.duration.as_ns().div_ceil(1_000);
        // Writing to a string cannot fail.
        let _ = write!(
            self.text,
            "\n[{name}{APERIODIC}]\nrw={direction}\nbs={reads},{writes}\nrate_iops={ios},{ios}\n\
             rate_process=poisson\noffset={begin}\nsize={size}\nnorandommap\nrandseed={}\ntime_based\nruntime={us}us\n",
            self.options.seed
        );
        self.notes.push(format!(
            "fio draws the arrivals of `{}` itself (rate_process=poisson), those of reads and of writes by themselves.",
            job.name
        ));
        Ok(())
    }

    /// A job of fio that replays these arrivals: the read of each, and its write behind it.
    fn add_replay(
        &mut self,
        job: &Job,
        arrivals: &Arrivals,
        part: TargetPart,
        name: &str,
        position: usize,
    ) -> Result<(), NotExported> {
        let parts = [("read", 0, job.read_pages), ("write", job.read_pages, job.write_pages)];
        let last_place = part.pages - job.read_pages - job.write_pages;
        let mut random = Arrivals::random(self.options.seed, position);
        let mut places = Stream::numbered(self.options.seed, b"aperiods", self.files.len() as u64);
        let target = &self.options.target;
        let mut log = format!("fio version 3 iolog\n0 {target} add\n0 {target} open\n");
        let mut last = 0;
        let mut next = arrivals.first().map(|at| (at, 0));
        while let Some((at, index)) = next.filter(|(at, _)| *at < self.options.duration) {
            self.requests += 1;
            if self.requests > MAX_REQUESTS {
                return Err(NotExported::TooMany(self.requests));
            }
            last = at.as_ns() / 1_000;
            let place = part.begin + places.below(last_place + 1);
            for (operation, behind, pages) in parts.into_iter().filter(|(_, _, pages)| *pages > 0) {
                let bytes = [place + behind, pages].map(|pages| pages * self.page_size);
                let _ = writeln!(log, "{last} {target} {operation} {} {}", bytes[0], bytes[1]);
            }
            next = arrivals.after(at, index + 1, &mut random).map(|at| (at, index + 1));
        }
        let _ = writeln!(log, "{last} {target} close");
        self.add_log(&format!("{name}{APERIODIC}"), log);
        Ok(())
    }
}
