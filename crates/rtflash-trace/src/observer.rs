//! Who observes records.

use rtflash_model::{ClusterId, Lpn};
use rtflash_plan::JobId;

use super::any_record::Record;

/// Whoever is shown what happens, one record at a time.
///
/// A run shows each cluster's releases, completions and operations in the order of
/// [`Record::order`], and each channel's transfers in theirs, each behind its operation. The order
/// between clusters, and between transfers and the rest, is not fixed. All else of an instant comes
/// behind the releases and before the operations of that instant. How the run is made comes first.
pub trait Observer {
    /// Something happens.
    fn record(&mut self, record: &Record);

    /// A logical page of a cluster will be read or programmed soon, in all likelihood: an observer
    /// may ask memory for what it knows of it.
    #[inline]
    fn expect(&self, cluster: ClusterId, lpn: Lpn) {
        let _ = (cluster, lpn);
    }

    /// Whether it is to be shown records at all. Records that no observer is shown need not be put
    /// into order. Asked once, at the start.
    fn wants_records(&self) -> bool {
        true
    }

    /// A job is over. Called as it happens, perhaps before records of what happened earlier.
    #[inline]
    fn over(&mut self, job: JobId) {
        let _ = job;
    }
}

/// Keeps all records but how the run is made, which is the same for all groups of clusters.
impl Observer for Vec<Record> {
    fn record(&mut self, record: &Record) {
        if !matches!(record, Record::Setup(_)) {
            self.push(*record);
        }
    }
}

impl<A: Observer, B: Observer> Observer for (A, B) {
    #[inline]
    fn record(&mut self, record: &Record) {
        self.0.record(record);
        self.1.record(record);
    }

    fn wants_records(&self) -> bool {
        self.0.wants_records() || self.1.wants_records()
    }

    #[inline]
    fn over(&mut self, job: JobId) {
        self.0.over(job);
        self.1.over(job);
    }

    #[inline]
    fn expect(&self, cluster: ClusterId, lpn: Lpn) {
        self.0.expect(cluster, lpn);
        self.1.expect(cluster, lpn);
    }
}
