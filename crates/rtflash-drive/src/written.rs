//! A fitted device as a file: what `host run`, `bound` and `tune` read, with what it was made of.

use rtflash_host::run::{
    AfterIdle, CommandCost, Costs, Emmc, EmmcCost, HostDevice, MeasuredCost, MeasuredDrive, Nvme, Slow, StallWindow,
};
use rtflash_model::format_ns;
use serde_json::{Map, Value, json};

use crate::claims::Fitted;
use crate::fit::{FLASH, Fit};
use crate::numbers::bytes;

/// The file of a fitted device.
pub fn written(fit: &Fit, fitted: &Fitted) -> String {
    let mut device = match &fit.device {
        HostDevice::Emmc(emmc) => of_emmc(emmc),
        HostDevice::Measured(measured) => of_measured(measured),
        HostDevice::Nvme(nvme) => of_nvme(nvme),
        HostDevice::Clusters(_) => Map::new(),
    };
    if let Some(attach) = &fit.attach {
        device.insert("attach".into(), attach.as_str().into());
        // A card has the depth of its driver, which the reader knows.
        if attach.starts_with("mmc") {
            device.remove("depth");
        }
    }
    device.insert("fitted".into(), serde_json::to_value(fitted).expect("numbers and names: invariant of `Fitted`"));
    let mut file = Map::new();
    file.insert("device".into(), Value::Object(device));
    let mut host = Map::new();
    host.extend(fit.max_sectors.map(|most| ("max_sectors".to_owned(), bytes(most).into())));
    host.extend(fit.host_overhead.map(|of| ("overhead".to_owned(), format_ns(of.ns).into())));
    if !host.is_empty() {
        file.insert("host".into(), Value::Object(host));
    }
    format!("{}\n", Value::Object(file))
}

fn time(span: rtflash_model::Span) -> Value {
    Value::String(format_ns(span.as_ns()))
}

fn of_emmc(emmc: &Emmc) -> Map<String, Value> {
    let cost = |cost: &EmmcCost| {
        let mut of = line(cost.first, cost.next, cost.per_kib);
        of.extend(cost.slow.map(|slow| ("slow".to_owned(), of_slow(&slow))));
        Value::Object(of)
    };
    let mut of = Map::new();
    of.insert("kind".into(), "emmc".into());
    of.insert("depth".into(), emmc.depth.into());
    of.insert("read".into(), cost(&emmc.read));
    of.insert("write".into(), cost(&emmc.write));
    of.extend(emmc.slow.map(|slow| ("slow".to_owned(), of_slow(&slow))));
    of
}

fn line(first: rtflash_model::Span, next: rtflash_model::Span, per_kib: rtflash_model::Span) -> Map<String, Value> {
    [("first", first), ("next", next), ("per_kib", per_kib)]
        .map(|(name, span)| (name.to_owned(), time(span)))
        .into_iter()
        .collect()
}

fn of_slow(slow: &Slow) -> Value {
    let between = |of: rtflash_host::run::Between| {
        format!("{}..{}", format_ns(of.shortest.as_ns()), format_ns(of.longest.as_ns()))
    };
    json!({ "every": between(slow.every), "for": between(slow.length), "extra": time(slow.extra) })
}

/// A fitted one: without a buffer, on [`FLASH`].
fn of_nvme(nvme: &Nvme) -> Map<String, Value> {
    let cost = |costs: &Costs| {
        let CommandCost { controller, per_kib, latency, latency_per_kib, slow } = costs.random;
        let mut of: Map<String, Value> = Map::new();
        for (name, span) in [
            ("controller", controller),
            ("per_kib", per_kib),
            ("latency", latency),
            ("latency_per_kib", latency_per_kib),
        ] {
            of.insert(name.to_owned(), time(span));
        }
        of.extend(slow.map(|slow| ("slow".to_owned(), of_slow(&slow))));
        Value::Object(of)
    };
    let mut of = Map::new();
    of.insert("kind".into(), "nvme".into());
    of.insert("flash".into(), serde_json::from_str(FLASH).expect("JSON: invariant of `FLASH`"));
    of.insert("inside".into(), nvme.inside.into());
    of.extend(nvme.ends_within.map(|limit| ("ends_within".to_owned(), time(limit))));
    of.insert("read".into(), cost(&nvme.read));
    of.insert("write".into(), cost(&nvme.write));
    of
}

fn of_measured(measured: &MeasuredDrive) -> Map<String, Value> {
    let cost = |cost: &MeasuredCost| {
        let services =
            cost.services.iter().map(|of| json!({ "size": bytes(of.size()), "usual_ns": of.usual(), "ns": of.ns() }));
        let mut of = line(cost.first, cost.next, cost.per_kib);
        of.insert("services".into(), services.collect());
        Value::Object(of)
    };
    let idle = |idle: AfterIdle| json!({ "after": time(idle.after), "extra": time(idle.extra) });
    let mut of = Map::new();
    of.insert("kind".into(), "measured".into());
    of.insert("depth".into(), measured.depth.into());
    of.insert("together".into(), measured.together.into());
    of.insert("each".into(), time(measured.each));
    of.extend(measured.each_per_kib.map(|of| ("each_per_kib".to_owned(), time(of))));
    of.extend(measured.idle.map(|of| ("idle".to_owned(), idle(of))));
    if !measured.stalls.is_empty() {
        let limit = |limit: &StallWindow| json!({ "most": limit.most, "within": time(limit.within) });
        of.insert("stalls".into(), measured.stalls.iter().map(limit).collect());
    }
    of.insert("read".into(), cost(&measured.read));
    of.insert("write".into(), cost(&measured.write));
    of
}
