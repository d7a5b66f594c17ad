//! The line that states how a run was made.

use rtflash_model::Instant;
use rtflash_plan::{Aging, Arbitration, Service, Ties, Victims, Waits};

use super::JsonLine;
use super::fields::{Field, LineFields, Wrong, name_of};
use crate::setup::Setup;

const SERVICES: [(&str, Service); 2] = [("tbs", Service::Tbs), ("background", Service::Background)];
const VICTIMS: [(&str, Victims); 2] = [("actual", Victims::Actual), ("worst", Victims::Worst)];
const WAITS: [(&str, Waits); 2] = [("actual", Waits::Actual), ("worst", Waits::Worst)];
const AGINGS: [(&str, Aging); 3] = [("worst", Aging::Worst), ("random", Aging::Random), ("fresh", Aging::Fresh)];
const ARBITRATIONS: [(&str, Arbitration); 2] = [("fifo", Arbitration::Fifo), ("round-robin", Arbitration::RoundRobin)];
const TIES: [(&str, Ties); 3] = [("lowest", Ties::Lowest), ("highest", Ties::Highest), ("random", Ties::Random)];
const ARRIVALS: [(&str, bool); 2] = [("periodic", false), ("sporadic", true)];

/// A field that the line leaves out is as in [`Setup::default`].
pub(super) fn setup(fields: &LineFields<'_>) -> Result<Setup, Wrong> {
    let default = Setup::default();
    Ok(Setup {
        sporadic: fields.named(Field::Arrivals, &ARRIVALS, default.sporadic)?,
        service: fields.named(Field::Server, &SERVICES, default.service)?,
        victims: fields.named(Field::Victims, &VICTIMS, default.victims)?,
        waits: fields.named(Field::Waits, &WAITS, default.waits)?,
        backfill: fields.flag(Field::Backfill, default.backfill)?,
        arbitration: fields.named(Field::Arbitration, &ARBITRATIONS, default.arbitration)?,
        ties: fields.named(Field::Ties, &TIES, default.ties)?,
        aging: fields.unless_null(Field::Aging, |field| fields.named(field, &AGINGS, Aging::Worst))?,
        seed: fields.unless_null(Field::Seed, |field| fields.count(field))?,
        duration: fields.unless_null(Field::Duration, |field| fields.instant(field))?,
    })
}

impl JsonLine {
    pub(super) fn setup(&mut self, setup: &Setup) -> &mut JsonLine {
        self.text("{\"arrivals\":\"").text(name_of(&ARRIVALS, setup.sporadic)).text("\"");
        self.word("server", name_of(&SERVICES, setup.service)).word("victims", name_of(&VICTIMS, setup.victims));
        self.word("waits", name_of(&WAITS, setup.waits));
        self.text(",\"backfill\":").text(if setup.backfill { "true" } else { "false" });
        // The line leaves out defaults that were added to the format later.
        if setup.arbitration != Arbitration::default() {
            self.word("arbitration", name_of(&ARBITRATIONS, setup.arbitration));
        }
        if setup.ties != Ties::default() {
            self.word("ties", name_of(&TIES, setup.ties));
        }
        match setup.aging {
            Some(aging) => self.word("aging", name_of(&AGINGS, aging)),
            None => self.text(",\"aging\":null"),
        };
        self.text(",\"seed\":").or_null(setup.seed);
        self.text(",\"duration\":").or_null(setup.duration.map(Instant::as_ns))
    }
}
