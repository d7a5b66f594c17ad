//! The line that states how a run was made.

use rtflash_model::Instant;
use rtflash_plan::{Aging, Policy, Recurrence};

use super::JsonLine;
use super::fields::{Field, LineFields, Wrong};
use crate::setup::Setup;

/// A field that the line leaves out is as in [`Setup::default`].
pub(super) fn setup(fields: &LineFields<'_>) -> Result<Setup, Wrong> {
    let default = Setup::default();
    Ok(Setup {
        sporadic: fields.policy(Field::Arrivals, Recurrence::Periodic)? == Recurrence::Sporadic,
        service: fields.policy(Field::Server, default.service)?,
        victims: fields.policy(Field::Victims, default.victims)?,
        waits: fields.policy(Field::Waits, default.waits)?,
        backfill: fields.flag(Field::Backfill, default.backfill)?,
        arbitration: fields.policy(Field::Arbitration, default.arbitration)?,
        ties: fields.policy(Field::Ties, default.ties)?,
        aging: fields.unless_null(Field::Aging, |field| fields.policy(field, Aging::Worst))?,
        seed: fields.unless_null(Field::Seed, |field| fields.count(field))?,
        duration: fields.unless_null(Field::Duration, |field| fields.instant(field))?,
    })
}

impl JsonLine {
    pub(super) fn setup(&mut self, setup: &Setup) -> &mut JsonLine {
        let arrivals = if setup.sporadic { Recurrence::Sporadic } else { Recurrence::Periodic };
        self.text("{\"arrivals\":\"").text(arrivals.name()).text("\"");
        self.word("server", setup.service.name()).word("victims", setup.victims.name());
        self.word("waits", setup.waits.name());
        self.text(",\"backfill\":").text(if setup.backfill { "true" } else { "false" });
        // The line leaves out defaults that were added to the format later.
        for (word, stated) in [("arbitration", setup.arbitration.stated()), ("ties", setup.ties.stated())] {
            if let Some(name) = stated {
                self.word(word, name);
            }
        }
        match setup.aging {
            Some(aging) => self.word("aging", aging.name()),
            None => self.text(",\"aging\":null"),
        };
        self.text(",\"seed\":").or_null(setup.seed);
        self.text(",\"duration\":").or_null(setup.duration.map(Instant::as_ns))
    }
}
