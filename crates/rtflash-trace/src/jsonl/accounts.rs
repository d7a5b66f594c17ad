//! The lines that say how it came to what a run does: how it was made, why passes begin or are
//! left out, how much is free, what takes time as padding.

use rtflash_model::{ChipId, ClusterId, Instant};
use rtflash_plan::{Aging, Arbitration, BlockId, JobId, Service, Ties, Victims, Waits};

use super::fields::{Field, LineFields, Wrong};
use super::{JobNames, JsonLine, Record};
use crate::record::{NONE, Step};
use crate::setup::Setup;

const SERVICES: [(&str, Service); 2] = [("tbs", Service::Tbs), ("background", Service::Background)];
const VICTIMS: [(&str, Victims); 2] = [("actual", Victims::Actual), ("worst", Victims::Worst)];
const WAITS: [(&str, Waits); 2] = [("actual", Waits::Actual), ("worst", Waits::Worst)];
const AGINGS: [(&str, Aging); 3] = [("worst", Aging::Worst), ("random", Aging::Random), ("fresh", Aging::Fresh)];
const ARBITRATIONS: [(&str, Arbitration); 2] = [("fifo", Arbitration::Fifo), ("round-robin", Arbitration::RoundRobin)];
const TIES: [(&str, Ties); 3] = [("lowest", Ties::Lowest), ("highest", Ties::Highest), ("random", Ties::Random)];
const ARRIVALS: [(&str, bool); 2] = [("periodic", false), ("sporadic", true)];
const STEPS: [(&str, Step); 3] = [("read", Step::Read), ("program", Step::Program), ("copyback", Step::Copyback)];

fn name_of<T: PartialEq>(names: &[(&'static str, T)], wanted: &T) -> &'static str {
    names.iter().find(|(_, value)| value == wanted).map_or("", |&(name, _)| name)
}

/// How the run was made. What is not said is as in [`Setup::default`].
pub(super) fn setup(fields: &LineFields<'_>) -> Result<Setup, Wrong> {
    let default = Setup::default();
    let aging = fields.unless_null(Field::Aging, |field| fields.named(field, &AGINGS, Aging::Worst))?;
    let duration = fields.unless_null(Field::Duration, |field| fields.instant(field))?;
    Ok(Setup {
        sporadic: fields.named(Field::Arrivals, &ARRIVALS, default.sporadic)?,
        service: fields.named(Field::Server, &SERVICES, default.service)?,
        victims: fields.named(Field::Victims, &VICTIMS, default.victims)?,
        waits: fields.named(Field::Waits, &WAITS, default.waits)?,
        backfill: fields.flag(Field::Backfill, default.backfill)?,
        arbitration: fields.named(Field::Arbitration, &ARBITRATIONS, default.arbitration)?,
        ties: fields.named(Field::Ties, &TIES, default.ties)?,
        aging,
        seed: fields.unless_null(Field::Seed, |field| fields.count(field))?,
        duration,
    })
}

/// What a copy that is padding stands for.
pub(super) fn step(fields: &LineFields<'_>) -> Result<Step, Wrong> {
    fields.present(Field::Step)?;
    fields.named(Field::Step, &STEPS, Step::Read)
}

impl JsonLine {
    pub(super) fn setup(&mut self, setup: &Setup) {
        self.text("{\"arrivals\":\"").text(name_of(&ARRIVALS, &setup.sporadic));
        self.text("\",\"server\":\"").text(name_of(&SERVICES, &setup.service));
        self.text("\",\"victims\":\"").text(name_of(&VICTIMS, &setup.victims));
        self.text("\",\"waits\":\"").text(name_of(&WAITS, &setup.waits));
        self.text("\",\"backfill\":").text(if setup.backfill { "true" } else { "false" });
        // What every bus and every job does is not said.
        if setup.arbitration != Arbitration::default() {
            self.text(",\"arbitration\":\"").text(name_of(&ARBITRATIONS, &setup.arbitration)).text("\"");
        }
        if setup.ties != Ties::default() {
            self.text(",\"ties\":\"").text(name_of(&TIES, &setup.ties)).text("\"");
        }
        match &setup.aging {
            Some(aging) => self.text(",\"aging\":\"").text(name_of(&AGINGS, aging)).text("\""),
            None => self.text(",\"aging\":null"),
        };
        self.text(",\"seed\":").or_null(setup.seed);
        self.text(",\"duration\":").or_null(setup.duration.map(Instant::as_ns));
    }

    /// A block, and the page if there is one.
    fn block_and_page(&mut self, block: BlockId, page: u32) {
        self.text(",\"block\":").number(block.into());
        if page != NONE {
            self.text(",\"page\":").number(page.into());
        }
    }

    /// Pages that are trimmed, or are found to hold nothing.
    pub(super) fn trim(&mut self, names: &JobNames, record: &Record) {
        match record {
            Record::Trimmed(it) => {
                self.text("{\"trimmed\":").number(it.at.as_ns()).text(",\"cluster\":").number(it.cluster.into());
                self.text(",\"lpn\":").number(it.lpn.into()).text(",\"pages\":").number(it.pages.into());
                if it.kept {
                    self.text(",\"kept\":true");
                }
            }
            Record::EmptyPage(it) => {
                self.text("{\"empty\":").number(it.at.as_ns()).job(names, it.job);
                self.text(",\"cluster\":").number(it.cluster.into()).text(",\"chip\":").number(it.chip.into());
                self.text(",\"lpn\":").number(it.lpn.into());
            }
            _ => {}
        }
    }

    /// A record of how it came to what the device does.
    pub(super) fn account(&mut self, names: &JobNames, record: &Record) {
        let key = |line: &mut JsonLine, key: &str, at: Instant| {
            line.text("{\"").text(key).text("\":").number(at.as_ns());
        };
        let place = |line: &mut JsonLine, job: Option<JobId>, cluster: ClusterId, chip: ChipId| {
            if let Some(job) = job {
                line.job(names, job);
            }
            line.text(",\"cluster\":").number(cluster.into()).text(",\"chip\":").number(chip.into());
        };
        match record {
            Record::Policed(it) => {
                key(self, "policed", it.at);
                self.job(names, it.job).text(",\"arrived\":").number(it.arrived.as_ns());
                self.text(",\"pages\":").number(it.pages);
            }
            Record::Failed(it) => {
                key(self, "failed", it.at);
                place(self, Some(it.job), it.cluster, it.chip);
                self.block_and_page(it.block, it.page);
            }
            Record::Reserve(it) => {
                key(self, "reserve", it.at);
                place(self, None, it.cluster, it.chip);
                self.text(",\"arrived\":").number(it.arrived).text(",\"free\":").number(it.free);
                self.text(",\"pending\":").number(it.pending);
            }
            Record::Changed(it) => {
                key(self, "changed", it.at);
                place(self, None, it.cluster, it.chip);
                self.text(",\"stage\":").number(it.stage.into()).text(",\"extra\":").number(it.extra.into());
                self.text(",\"arrived\":").number(it.arrived).text(",\"free\":").number(it.free);
            }
            Record::LeftOut(it) => {
                key(self, "left_out", it.at);
                place(self, Some(it.job), it.cluster, it.chip);
                self.text(",\"free\":").number(it.free);
            }
            Record::Moved(it) => {
                key(self, "moved", it.at);
                place(self, Some(it.job), it.cluster, it.chip);
                self.text(",\"lpn\":").number(it.lpn.into());
            }
            Record::Selected(it) => {
                key(self, "selected", it.at);
                place(self, Some(it.job), it.cluster, it.chip);
                self.text(",\"block\":").number(it.block.into()).text(",\"valid\":").number(it.valid.into());
                if it.forced {
                    self.text(",\"forced\":true");
                }
            }
            Record::Padding(it) => {
                key(self, "silent", it.start);
                self.text(",\"end\":").number(it.end.as_ns());
                place(self, Some(it.job), it.cluster, it.chip);
                self.text(",\"step\":\"").text(name_of(&STEPS, &it.step)).text("\"");
            }
            _ => {}
        }
    }
}
