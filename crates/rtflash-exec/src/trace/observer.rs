//! Who observes records.

use std::slice;

use super::any_record::Record;
use super::record::{
    Complete, EmptyPage, Failed, LeftOut, Moved, Operation, Padding, Policed, Release, Reserve, Selection, Starved,
    TermsChange, Transfer, Trimmed,
};
use super::setup::Setup;
use crate::ids::{ClusterId, Lpn};
use crate::jobs::JobId;

/// Somebody who is notified of what happens.
///
/// A run notifies of each cluster's releases, completions and operations in the order of
/// [`Record::order`], and each channel's transfers in theirs, each behind its operation; between
/// clusters, between transfers and the rest, and between copies on a chip of a stripe and other
/// chips up to the next release, the order is not fixed. What else happens at an
/// instant is notified of behind the releases and before the operations of that instant.
pub trait Observer {
    /// A job is released.
    fn release(&mut self, release: &Release);
    /// A job is complete.
    fn complete(&mut self, complete: &Complete);
    /// A job found no free page.
    fn starved(&mut self, starved: &Starved);
    /// Chips of one cluster are occupied, from the same instant on, for the same job.
    fn operations(&mut self, operations: &[Operation]);
    /// A bus is occupied.
    fn transfer(&mut self, transfer: &Transfer);

    /// A logical page of a cluster will be read or programmed soon, in all likelihood: an observer
    /// may ask memory for what it knows of it.
    #[inline]
    fn expect(&self, cluster: ClusterId, lpn: Lpn) {
        let _ = (cluster, lpn);
    }

    /// Whether it has to be notified of anything but [`over`](Observer::over). What nobody is
    /// notified of need not be put into order. Asked once, at the start.
    fn is_notified(&self) -> bool {
        true
    }

    /// A job is over. Notified as it happens, perhaps before what happened earlier.
    #[inline]
    fn over(&mut self, job: JobId) {
        let _ = job;
    }

    /// How the run is made. Notified before everything else.
    fn setup(&mut self, setup: &Setup) {
        let _ = setup;
    }

    /// A request was held or cut, and is released now.
    fn policed(&mut self, policed: &Policed) {
        let _ = policed;
    }

    /// A program or an erase has failed.
    fn failed(&mut self, failed: &Failed) {
        let _ = failed;
    }

    /// Pages have arrived to be written, under a certificate.
    fn reserve(&mut self, reserve: &Reserve) {
        let _ = reserve;
    }

    /// A processor goes on by other terms of garbage collection, or its counter is put forward.
    fn changed(&mut self, changed: &TermsChange) {
        let _ = changed;
    }

    /// A pass is left out.
    fn left_out(&mut self, left_out: &LeftOut) {
        let _ = left_out;
    }

    /// Pages hold nothing any more.
    fn trimmed(&mut self, trimmed: &Trimmed) {
        let _ = trimmed;
    }

    /// A page that a job would read holds nothing.
    fn empty_page(&mut self, empty: &EmptyPage) {
        let _ = empty;
    }

    /// A page to be written waits for another chip.
    fn moved(&mut self, moved: &Moved) {
        let _ = moved;
    }

    /// A victim is chosen.
    fn selected(&mut self, selection: &Selection) {
        let _ = selection;
    }

    /// Padding: a copy only lets time pass.
    fn padding(&mut self, padding: &Padding) {
        let _ = padding;
    }

    /// Any of these.
    fn record(&mut self, record: &Record) {
        match record {
            Record::Setup(setup) => self.setup(setup),
            Record::Release(release) => self.release(release),
            Record::Policed(policed) => self.policed(policed),
            Record::Failed(failed) => self.failed(failed),
            Record::Reserve(reserve) => self.reserve(reserve),
            Record::Changed(changed) => self.changed(changed),
            Record::LeftOut(left_out) => self.left_out(left_out),
            Record::Complete(complete) => self.complete(complete),
            Record::Starved(starved) => self.starved(starved),
            Record::Moved(moved) => self.moved(moved),
            Record::Selected(selection) => self.selected(selection),
            Record::Padding(padding) => self.padding(padding),
            Record::Operation(operation) => self.operations(slice::from_ref(operation)),
            Record::Transfer(transfer) => self.transfer(transfer),
            Record::Trimmed(trimmed) => self.trimmed(trimmed),
            Record::EmptyPage(empty) => self.empty_page(empty),
        }
    }
}

impl Observer for Vec<Record> {
    fn release(&mut self, release: &Release) {
        self.push(Record::Release(*release));
    }
    fn complete(&mut self, complete: &Complete) {
        self.push(Record::Complete(*complete));
    }
    fn starved(&mut self, starved: &Starved) {
        self.push(Record::Starved(*starved));
    }
    fn operations(&mut self, operations: &[Operation]) {
        self.extend(operations.iter().copied().map(Record::Operation));
    }
    fn transfer(&mut self, transfer: &Transfer) {
        self.push(Record::Transfer(*transfer));
    }
    // Who collects records of several groups knows how they were made.
    fn policed(&mut self, policed: &Policed) {
        self.push(Record::Policed(*policed));
    }
    fn failed(&mut self, failed: &Failed) {
        self.push(Record::Failed(*failed));
    }
    fn reserve(&mut self, reserve: &Reserve) {
        self.push(Record::Reserve(*reserve));
    }
    fn changed(&mut self, changed: &TermsChange) {
        self.push(Record::Changed(*changed));
    }
    fn left_out(&mut self, left_out: &LeftOut) {
        self.push(Record::LeftOut(*left_out));
    }
    fn trimmed(&mut self, trimmed: &Trimmed) {
        self.push(Record::Trimmed(*trimmed));
    }
    fn empty_page(&mut self, empty: &EmptyPage) {
        self.push(Record::EmptyPage(*empty));
    }
    fn moved(&mut self, moved: &Moved) {
        self.push(Record::Moved(*moved));
    }
    fn selected(&mut self, selection: &Selection) {
        self.push(Record::Selected(*selection));
    }
    fn padding(&mut self, padding: &Padding) {
        self.push(Record::Padding(*padding));
    }
}

impl<A: Observer, B: Observer> Observer for (A, B) {
    fn release(&mut self, release: &Release) {
        self.0.release(release);
        self.1.release(release);
    }
    fn complete(&mut self, complete: &Complete) {
        self.0.complete(complete);
        self.1.complete(complete);
    }
    fn starved(&mut self, starved: &Starved) {
        self.0.starved(starved);
        self.1.starved(starved);
    }
    fn operations(&mut self, operations: &[Operation]) {
        self.0.operations(operations);
        self.1.operations(operations);
    }
    fn transfer(&mut self, transfer: &Transfer) {
        self.0.transfer(transfer);
        self.1.transfer(transfer);
    }
    fn is_notified(&self) -> bool {
        self.0.is_notified() || self.1.is_notified()
    }
    #[inline]
    fn over(&mut self, job: JobId) {
        self.0.over(job);
        self.1.over(job);
    }
    fn setup(&mut self, setup: &Setup) {
        self.0.setup(setup);
        self.1.setup(setup);
    }
    fn policed(&mut self, policed: &Policed) {
        self.0.policed(policed);
        self.1.policed(policed);
    }
    fn failed(&mut self, failed: &Failed) {
        self.0.failed(failed);
        self.1.failed(failed);
    }
    fn reserve(&mut self, reserve: &Reserve) {
        self.0.reserve(reserve);
        self.1.reserve(reserve);
    }
    fn changed(&mut self, changed: &TermsChange) {
        self.0.changed(changed);
        self.1.changed(changed);
    }
    fn left_out(&mut self, left_out: &LeftOut) {
        self.0.left_out(left_out);
        self.1.left_out(left_out);
    }
    fn trimmed(&mut self, trimmed: &Trimmed) {
        self.0.trimmed(trimmed);
        self.1.trimmed(trimmed);
    }
    fn empty_page(&mut self, empty: &EmptyPage) {
        self.0.empty_page(empty);
        self.1.empty_page(empty);
    }
    fn moved(&mut self, moved: &Moved) {
        self.0.moved(moved);
        self.1.moved(moved);
    }
    fn selected(&mut self, selection: &Selection) {
        self.0.selected(selection);
        self.1.selected(selection);
    }
    fn padding(&mut self, padding: &Padding) {
        self.0.padding(padding);
        self.1.padding(padding);
    }
    #[inline]
    fn expect(&self, cluster: ClusterId, lpn: Lpn) {
        self.0.expect(cluster, lpn);
        self.1.expect(cluster, lpn);
    }
}
