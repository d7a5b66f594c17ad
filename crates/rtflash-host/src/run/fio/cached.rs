//! Jobs that go through the page cache.

use rtflash_model::Path;

use super::FioReader;
use super::known::is_off;
use super::options::SectionOptions;
use crate::Op;
use crate::run::job::{Job, MixedIo};
use crate::run::read::misfit;

impl FioReader<'_> {
    /// Whether the writes of a job end in memory: it is not direct, and the host has a page cache.
    /// Says how it differs from fio's.
    pub(super) fn is_buffered(&mut self, options: &SectionOptions, mix: &[MixedIo]) -> bool {
        let said = options.get("direct").or(options.get("buffered"));
        let is_direct = options.flag("direct") || options.get("buffered").is_some_and(is_off);
        let reads = mix.iter().any(|io| io.op == Op::Read);
        let writes = mix.iter().any(|io| io.op == Op::Write);
        if is_direct || !(reads || writes) {
            return false;
        }
        if self.setup.host.page_cache.is_none() {
            let default = if said.is_none() { "it is 0 by default, so " } else { "" };
            let how = "fio's I/O goes through the page cache. Here it is direct, as `host` states no `page_cache`";
            self.differs("direct", &format!("{default}{how}"));
            return false;
        }
        if reads {
            let default = if said.is_none() { " (`direct` is 0 by default)" } else { "" };
            let how = "each read goes to the device: none finds its pages in memory, and nothing is read ahead";
            self.differs("direct", &format!("{how}{default}"));
        }
        writes
    }

    /// The kernel's flusher is a job beside those that write into memory.
    pub(super) fn write_back(&mut self) {
        let Some(flusher) = Job::flusher(&self.jobs) else { return };
        if let Some(misfit) = misfit(&flusher, &self.setup.device, &self.setup.host, &self.setup.scheduler) {
            let end = self.text.len()..self.text.len();
            self.refuse(end, Path::root(), (format!("writeback: {}", misfit.problem), misfit.expected));
        }
        self.jobs.push(flusher);
    }
}
