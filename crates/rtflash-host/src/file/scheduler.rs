//! The field `scheduler`: a name, or an object with a name and parameters.

use rtflash_model::Span;
use rtflash_model::reading::{JsonKind, Place, Reader};

use super::{ObjectField, above_zero, bytes_above_zero, time_above_zero};
use crate::scheduler::{
    BfqSettings, Cut, K2Settings, KyberSettings, Levels, MinimalEffortSettings, MqDeadlineSettings, SchedulerSettings,
    UserCentricSettings,
};

const A_SCHEDULER: &str = "a scheduler: its name in a string, or an object with `name` and its parameters";

/// A scheduler, with its parameters.
pub(crate) fn scheduler<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<SchedulerSettings> {
    match JsonKind::of(raw) {
        JsonKind::Text => {
            let at = reader.choice(raw, place, "scheduler", &SchedulerSettings::NAMES)?;
            SchedulerSettings::named(SchedulerSettings::NAMES[at])
        }
        JsonKind::Object => described(reader, raw, place),
        _ => {
            reader.refuse_kind(raw, place, A_SCHEDULER);
            None
        }
    }
}

fn described<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<SchedulerSettings> {
    // The name says which other fields there are.
    let [name] = reader.open_object(raw, place, &["name"], |_| {})?;
    let name = reader.required(name, raw, place, "name", "a scheduler's name")?;
    let at = reader.choice(name, &place.key("name"), "scheduler", &SchedulerSettings::NAMES)?;
    match SchedulerSettings::named(SchedulerSettings::NAMES[at])? {
        SchedulerSettings::None => reader.object(raw, place, &["name"]).map(|_| SchedulerSettings::None),
        SchedulerSettings::K2(settings) if settings.split.is_none() => k2(reader, raw, place, settings),
        SchedulerSettings::K2(K2Settings { max_inflight_ahead: Some(_), .. }) => k2_ahead(reader, raw, place),
        SchedulerSettings::K2(_) => k2_split(reader, raw, place),
        SchedulerSettings::MqDeadline(settings) => mq_deadline(reader, raw, place, settings),
        SchedulerSettings::Kyber(settings) => kyber(reader, raw, place, settings),
        SchedulerSettings::Bfq(settings) => bfq(reader, raw, place, settings),
        SchedulerSettings::MinimalEffort(settings) => {
            let mut fields = ObjectField::open(reader, raw, place, ["name", "rate", "slice", "most_reads"])?;
            Some(SchedulerSettings::MinimalEffort(MinimalEffortSettings {
                rate: fields.or("rate", settings.rate, bytes_above_zero),
                slice: fields.or("slice", settings.slice, time_above_zero),
                max_reads: fields.or("most_reads", settings.max_reads, Reader::whole_u32),
            }))
        }
        SchedulerSettings::UserCentric(settings) => {
            let mut fields = ObjectField::open(reader, raw, place, ["name", "separated", "shortest", "high_priority"])?;
            let mut truth = |name, default| fields.or(name, default, |reader, raw, place| reader.truth(raw, place));
            Some(SchedulerSettings::UserCentric(UserCentricSettings {
                separated: truth("separated", settings.separated),
                shortest: truth("shortest", settings.shortest),
                high_priority: truth("high_priority", settings.high_priority),
            }))
        }
    }
}

fn levels<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<Levels> {
    let at = reader.choice(raw, place, "way to keep levels", &["eight", "one"])?;
    Some([Levels::Eight, Levels::One][at])
}

fn k2<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>, settings: K2Settings) -> Option<SchedulerSettings> {
    let names = ["name", "max_inflight", "max_inflight_rest", "levels"];
    let mut fields = ObjectField::open(reader, raw, place, names)?;
    let bounds = k2_bounds(&mut fields, settings);
    Some(SchedulerSettings::K2(K2Settings { split: None, max_inflight_ahead: None, ..bounds }))
}

/// The fields of each scheduler of K2's kind.
fn k2_bounds<const N: usize>(fields: &mut ObjectField<'_, '_, '_, N>, defaults: K2Settings) -> K2Settings {
    K2Settings {
        max_inflight: fields.or("max_inflight", defaults.max_inflight, above_zero),
        max_inflight_rest: fields.maybe("max_inflight_rest", above_zero),
        levels: fields.or("levels", defaults.levels, levels),
        ..defaults
    }
}

fn k2_ahead<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<SchedulerSettings> {
    let names = ["name", "max_inflight", "max_inflight_rest", "max_inflight_ahead", "levels", "max_sectors"];
    let mut fields = ObjectField::open(reader, raw, place, names)?;
    let mut settings = k2_bounds(&mut fields, K2Settings::ahead());
    if let Some(split) = &mut settings.split {
        split.max_sectors = fields.or("max_sectors", split.max_sectors, bytes_above_zero);
    }
    settings.max_inflight_ahead = Some(fields.or("max_inflight_ahead", settings.max_inflight, above_zero));
    Some(SchedulerSettings::K2(settings))
}

fn k2_split<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<SchedulerSettings> {
    let names = ["name", "max_inflight", "max_inflight_rest", "levels", "max_sectors", "cut", "multiples"];
    let mut fields = ObjectField::open(reader, raw, place, names)?;
    let cut = fields.or("cut", Cut::Idle, |reader, raw, place| {
        reader.choice(raw, place, "way to cut", &["idle", "rest"]).map(|at| [Cut::Idle, Cut::Rest][at])
    });
    let mut settings = k2_bounds(&mut fields, K2Settings::split(cut));
    if let Some(split) = &mut settings.split {
        split.max_sectors = fields.or("max_sectors", split.max_sectors, bytes_above_zero);
        split.multiples = fields.or("multiples", split.multiples, |reader, raw, place| reader.truth(raw, place));
    }
    Some(SchedulerSettings::K2(settings))
}

/// BFQ. Its idling and its boost of interactive jobs are refused.
fn bfq<'t>(
    reader: &mut Reader<'t>,
    raw: &'t str,
    place: &Place<'_>,
    settings: BfqSettings,
) -> Option<SchedulerSettings> {
    let mut fields = ObjectField::open(reader, raw, place, ["name", "budget", "slice_idle", "low_latency"])?;
    let budget = fields.or("budget", settings.budget, bytes_above_zero);
    fields.or("slice_idle", (), |reader, raw, place| {
        if reader.time(raw, place)? != Span::ZERO {
            reader.refuse(raw, place, "BFQ's idling (`slice_idle`) is not modelled", "\"0ms\", in the kernel too");
        }
        Some(())
    });
    fields.or("low_latency", (), |reader, raw, place| {
        if reader.truth(raw, place)? {
            let problem = "BFQ's boost of interactive jobs (`low_latency`) is not modelled";
            reader.refuse(raw, place, problem, "false, and 0 in the kernel");
        }
        Some(())
    });
    Some(SchedulerSettings::Bfq(BfqSettings { budget }))
}

fn mq_deadline<'t>(
    reader: &mut Reader<'t>,
    raw: &'t str,
    place: &Place<'_>,
    settings: MqDeadlineSettings,
) -> Option<SchedulerSettings> {
    let names =
        ["name", "read_expire", "write_expire", "prio_aging_expire", "writes_starved", "fifo_batch", "async_depth"];
    let mut fields = ObjectField::open(reader, raw, place, names)?;
    Some(SchedulerSettings::MqDeadline(MqDeadlineSettings {
        read_expire: fields.or("read_expire", settings.read_expire, Reader::time),
        write_expire: fields.or("write_expire", settings.write_expire, Reader::time),
        prio_aging_expire: fields.or("prio_aging_expire", settings.prio_aging_expire, Reader::time),
        writes_starved: fields.or("writes_starved", settings.writes_starved, Reader::whole_u32),
        fifo_batch: fields.or("fifo_batch", settings.fifo_batch, Reader::whole_u32),
        async_depth: fields.maybe("async_depth", above_zero),
    }))
}

fn kyber<'t>(
    reader: &mut Reader<'t>,
    raw: &'t str,
    place: &Place<'_>,
    settings: KyberSettings,
) -> Option<SchedulerSettings> {
    const TOKENS: [&str; 4] = ["read_tokens", "write_tokens", "discard_tokens", "other_tokens"];
    const BATCHES: [&str; 4] = ["read_batch", "write_batch", "discard_batch", "other_batch"];
    const TARGETS: [&str; 3] = ["read_target", "write_target", "discard_target"];
    let names = [
        "name", TOKENS[0], TOKENS[1], TOKENS[2], TOKENS[3], BATCHES[0], BATCHES[1], BATCHES[2], BATCHES[3], TARGETS[0],
        TARGETS[1], TARGETS[2],
    ];
    let mut fields = ObjectField::open(reader, raw, place, names)?;
    let mut settings = settings;
    for (name, tokens) in TOKENS.into_iter().zip(&mut settings.tokens) {
        *tokens = fields.or(name, *tokens, above_zero);
    }
    for (name, batch) in BATCHES.into_iter().zip(&mut settings.batches) {
        *batch = fields.or(name, *batch, above_zero);
    }
    for (name, target) in TARGETS.into_iter().zip(&mut settings.targets) {
        *target = fields.or(name, *target, time_above_zero);
    }
    Some(SchedulerSettings::Kyber(settings))
}
