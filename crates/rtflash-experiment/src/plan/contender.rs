//! A contender: an algorithm under an analysis, with or without a server.

use std::fmt;

use rtflash_alloc::allocator::Allocator;
use rtflash_analysis::Analysis;
use rtflash_plan::{Policy, Service};

/// An algorithm that divides the chips, the analysis that it asks, and how jobs that are not
/// real-time are served. Both may be your own; their names distinguish them.
#[derive(Clone, Copy)]
pub struct Contender {
    /// The algorithm.
    pub allocator: &'static dyn Allocator,
    /// The analysis.
    pub analysis: &'static dyn Analysis,
    /// How jobs are served, where jobs are run.
    pub service: Service,
}

impl Contender {
    /// An algorithm under an analysis, with Total Bandwidth Servers.
    pub fn new(allocator: &'static dyn Allocator, analysis: &'static dyn Analysis) -> Contender {
        Contender { allocator, analysis, service: Service::Tbs }
    }

    /// The service's name on the command line.
    pub fn server(&self) -> &'static str {
        self.service.name()
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{} under {} with {}", self.allocator.name(), self.analysis.name(), self.server()))
    }
}
