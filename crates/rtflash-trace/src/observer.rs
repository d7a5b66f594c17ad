//! Observers of records.

use rtflash_model::{ClusterId, Lpn};
use rtflash_plan::JobId;

use super::any_record::Record;

/// Someone to whom a run shows its records, one at a time.
///
/// A run shows each cluster's releases, completions and operations in the order of
/// [`Record::order`], and each channel's transfers in theirs, each behind its operation. The order
/// between clusters, and between transfers and the rest, is not fixed. All else of an instant comes
/// behind its releases and before its operations. The setup comes first.
pub trait Observer {
    /// Something happens.
    fn record(&mut self, record: &Record);

    /// A logical page of a cluster will probably be read or programmed soon: an observer can ask
    /// memory for its entry.
    fn expect(&self, cluster: ClusterId, lpn: Lpn) {
        let _ = (cluster, lpn);
    }

    /// Whether it wants records at all: else they need not be put into order. Asked once, at the
    /// start.
    fn wants_records(&self) -> bool {
        true
    }

    /// Whether the order above matters to it: else each record comes as soon as it is known. A
    /// job's release comes before its completion all the same. Asked once, at the start.
    fn wants_order(&self) -> bool {
        true
    }

    /// A job is over. Called at once, perhaps before records of earlier instants.
    fn over(&mut self, job: JobId) {
        let _ = job;
    }
}

/// Keeps all records but the setup, which each group of clusters repeats.
impl Observer for Vec<Record> {
    fn record(&mut self, record: &Record) {
        if !matches!(record, Record::Setup(_)) {
            self.push(*record);
        }
    }
}

impl<A: Observer, B: Observer> Observer for (A, B) {
    fn record(&mut self, record: &Record) {
        self.0.record(record);
        self.1.record(record);
    }

    fn wants_records(&self) -> bool {
        self.0.wants_records() || self.1.wants_records()
    }

    fn wants_order(&self) -> bool {
        self.0.wants_order() || self.1.wants_order()
    }

    fn over(&mut self, job: JobId) {
        self.0.over(job);
        self.1.over(job);
    }

    fn expect(&self, cluster: ClusterId, lpn: Lpn) {
        self.0.expect(cluster, lpn);
        self.1.expect(cluster, lpn);
    }
}
