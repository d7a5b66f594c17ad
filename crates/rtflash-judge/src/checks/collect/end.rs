//! What is not as it should be when the run is over.

use rtflash_model::Instant;

use super::Collections;
use crate::place::Place;

impl Collections {
    /// The run is over.
    pub(crate) fn finish(&mut self, duration: Instant) {
        for account in &self.accounts {
            let due = if account.terms.releases { account.arrived / account.terms.reclaimed } else { 0 };
            let astray = account.released.is_some() && account.released > account.stated;
            if account.collected != due || astray {
                let cluster = Some(account.cluster);
                self.releases.note(0, 1, || Place { at: duration, job: None, cluster, chip: None });
            }
            for pass in &account.passes {
                if pass.is_cut_off() {
                    let cluster = Some(account.cluster);
                    self.gc.copies.note(0, 1, || Place { at: duration, job: None, cluster, chip: None });
                }
            }
        }
        for (cluster, arrivals) in self.arrivals.enumerate() {
            if arrivals.released != arrivals.stated {
                self.releases.note(0, 1, || Place { at: duration, job: None, cluster: Some(cluster), chip: None });
            }
        }
    }
}
