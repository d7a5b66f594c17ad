//! The files below `/sys/block/<device>/queue` for a setting.

use rtflash_model::Span;

use crate::scheduler::SchedulerSettings;

/// The settings of the queue of a block device that make Linux do so, in order; `None` where no
/// kernel has the scheduler. Each is a file below `/sys/block/<device>/queue` and its text. The
/// number of tags comes behind the scheduler, whose choice sets it back (`blk_mq_init_sched` of
/// block/blk-mq-sched.c).
pub fn queue_files(settings: &SchedulerSettings, requests: u32) -> Option<Vec<(&'static str, String)>> {
    let (name, own): (&str, Vec<(&str, String)>) = match settings {
        SchedulerSettings::None => ("none", Vec::new()),
        SchedulerSettings::K2(k2) => {
            if k2.max_inflight_ahead.is_some() || k2.max_inflight_rest.is_some() {
                return None;
            }
            let piece = k2.split.map(|split| ("iosched/max_sectors", (split.piece() >> 10).to_string()));
            let inside = ("iosched/max_inflight", k2.max_inflight.to_string());
            (settings.name(), [inside].into_iter().chain(piece).collect())
        }
        SchedulerSettings::MqDeadline(of) => {
            let ms = |span: Span| (span.as_ns() / 1_000_000).to_string();
            let own = vec![
                ("iosched/read_expire", ms(of.read_expire)),
                ("iosched/write_expire", ms(of.write_expire)),
                ("iosched/prio_aging_expire", ms(of.prio_aging_expire)),
                ("iosched/writes_starved", of.writes_starved.to_string()),
                ("iosched/fifo_batch", of.fifo_batch.to_string()),
                ("iosched/async_depth", of.async_depth.unwrap_or(requests).to_string()),
            ];
            ("mq-deadline", own)
        }
        SchedulerSettings::Kyber(of) => {
            let [read, write, _] = of.targets.map(|span| span.as_ns().to_string());
            ("kyber", vec![("iosched/read_lat_nsec", read), ("iosched/write_lat_nsec", write)])
        }
        // The model has its core alone.
        SchedulerSettings::Bfq(_) => {
            ("bfq", vec![("iosched/slice_idle", "0".into()), ("iosched/low_latency", "0".into())])
        }
        SchedulerSettings::MinimalEffort(_) | SchedulerSettings::UserCentric(_) => return None,
    };
    let head = [("scheduler", name.to_owned()), ("nr_requests", requests.to_string())];
    Some(head.into_iter().chain(own).collect())
}

/// The lines that make a Linux host do so, with `<device>` for the device's name; `None` where no
/// kernel has the scheduler.
pub fn sysfs(settings: &SchedulerSettings, requests: u32) -> Option<Vec<String>> {
    let line = |(file, value): (&str, String)| format!("echo {value} > /sys/block/<device>/queue/{file}");
    Some(queue_files(settings, requests)?.into_iter().map(line).collect())
}
