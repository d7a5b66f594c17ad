//! The structure that viewers ask for.

use std::collections::{BTreeMap, BTreeSet};

use rtflash_model::{ChipId, ClusterId, Lpn};
use rtflash_plan::{Aging, BlockId, SourceId};
use rtflash_trace::Setup;
use serde_json::Value;

use super::*;
use crate::samples::{at, plan, run};

fn events(records: &[Record], duration: u64) -> Vec<Value> {
    let mut trace = Perfetto::new(&plan(), Vec::new()).expect("memory takes all");
    for record in records {
        trace.write(record).expect("memory takes all");
    }
    let bytes = trace.finish(at(duration)).expect("memory takes all");
    let json: Value = serde_json::from_slice(&bytes).expect("JSON");
    assert_eq!(json["displayTimeUnit"], "ns");
    json["traceEvents"].as_array().expect("an array").clone()
}

/// Microseconds with three decimals, back to nanoseconds.
fn ns(value: &Value) -> u64 {
    let text = value.to_string();
    let (whole, rest) = text.split_once('.').unwrap_or((&text, "0"));
    whole.parse::<u64>().expect("a number") * 1000
        + format!("{rest:0<3}").parse::<u64>().expect("at most three decimals")
}

#[test]
fn a_trace_is_well_formed() {
    let duration = 100_000_000;
    let records = run(duration);
    let events = events(&records, duration);
    let mut last: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    let mut open: BTreeMap<String, u64> = BTreeMap::new();
    let mut tracks = BTreeSet::new();
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    for event in &events {
        let phase = event["ph"].as_str().expect("a phase");
        *count.entry(phase).or_default() += 1;
        assert!(event["name"].is_string() && event["pid"].is_u64(), "{event}");
        let track = (event["pid"].as_u64().expect("a process"), event["tid"].as_u64().unwrap_or(0));
        if phase == "M" {
            tracks.insert(track);
            assert!(event["args"]["name"].is_string() || event["args"]["sort_index"].is_u64(), "{event}");
            continue;
        }
        assert!(tracks.contains(&track) && track.1 > 0, "named before it is used: {event}");
        assert!(event["cat"].is_string() && event["ts"].is_number(), "{event}");
        let now = ns(&event["ts"]);
        match phase {
            "X" => {
                assert!(event["cname"].is_string() && event["args"].is_object(), "{event}");
                let end = last.entry(track).or_default();
                assert!(*end <= now, "overlap: {event}");
                *end = now + ns(&event["dur"]);
            }
            "b" => {
                assert!(event["args"]["deadline_ns"].is_u64(), "{event}");
                assert_eq!(open.insert(event["id"].to_string(), now), None, "{event}");
            }
            "e" => {
                let begin = open.remove(&event["id"].to_string()).expect("a begin");
                assert!(begin <= now, "{event}");
            }
            "i" => assert_eq!(event["s"], "t", "{event}"),
            "C" => assert!(event["args"].as_object().is_some_and(|args| args.len() == 1), "{event}"),
            other => panic!("phase {other}"),
        }
    }
    assert!(open.is_empty());
    let all = |wanted: fn(&Record) -> bool| records.iter().filter(|record| wanted(record)).count();
    assert_eq!(count["X"], all(|record| matches!(record, Record::Operation(_) | Record::Transfer(_))));
    assert_eq!((count["b"], count["e"]), (all(|r| matches!(r, Record::Release(_))), count["b"]));
    let threads: Vec<_> = tracks.iter().map(|track| track.1).filter(|&thread| thread > 0).collect();
    assert_eq!(threads.len(), threads.iter().collect::<BTreeSet<_>>().len(), "a thread number in two processes");
}

#[test]
fn every_late_job_is_a_miss_and_no_other() {
    for duration in [30_000_000, 100_000_000] {
        let records = run(duration);
        let mut due = BTreeMap::new();
        let mut late = BTreeSet::new();
        for record in &records {
            match record {
                Record::Release(release) => drop(due.insert(release.job, release.deadline.expect("all have one"))),
                Record::Complete(complete) => {
                    let deadline = due.remove(&complete.job).expect("released before");
                    late.extend((deadline < complete.at).then_some((complete.job, deadline)));
                }
                _ => {}
            }
        }
        assert!(!late.is_empty());
        let done = late.len();
        late.extend(due.into_iter().filter(|due| due.1 <= at(duration)));
        assert!(late.len() > done, "some that are late are pending");
        let events = events(&records, duration);
        let missed: BTreeSet<_> = (events.iter().filter(|event| event["cat"] == "miss"))
            .map(|event| (event["name"].as_str().expect("a name").to_owned(), ns(&event["ts"])))
            .collect();
        let late: BTreeSet<_> =
            late.into_iter().map(|(job, due)| (format!("MISS {}", plan().job_name(job)), due.as_ns())).collect();
        assert_eq!(missed, late);
    }
}

#[test]
fn names_and_times_are_exact() {
    let job = JobId { source: SourceId(3), index: 3 };
    let (start, end) = (at(50_001), at((1 << 53) + 50_003));
    let (cluster, chip, kind) = (1, 4, Kind::Gc);
    let read = Operation {
        start,
        end,
        cluster: ClusterId(cluster),
        chip: ChipId(chip),
        action: Action::Read,
        job,
        kind,
        block: BlockId(1),
        page: 2,
        lpn: Lpn(3),
    };
    let starved = Starved { at: at(7), job, cluster: ClusterId(0), chip: ChipId(1) };
    let mut trace = Perfetto::new(&plan(), Vec::new()).expect("memory takes all");
    trace.write(&Record::Operation(read)).expect("memory takes all");
    trace.write(&Record::Starved(starved)).expect("memory takes all");
    let failed = Failed { at: at(8), job, cluster: ClusterId(0), chip: ChipId(1), block: BlockId(6), page: 2 };
    trace.write(&Record::Failed(failed)).expect("memory takes all");
    // Neither a completion from nowhere nor a second release makes an event without its partner.
    trace.write(&Record::Complete(Complete { at: at(9), job })).expect("memory takes all");
    let release = Release { at: at(1000), job, kind: Kind::Read, deadline: None, pages: 1, cluster: None };
    trace.write(&Record::Release(release)).expect("memory takes all");
    trace.write(&Record::Release(release)).expect("memory takes all");
    let text = String::from_utf8(trace.finish(at(1_000_010)).expect("memory takes all")).expect("UTF-8");
    let name = r##"a<b>&\"c\"\\#9\u0001é.read"##;
    let expected = [
        format!(
            r##"{{"ph":"X","pid":4,"tid":5,"ts":50.001,"dur":9007199254740.994,"cat":"gc","cname":"olive","name":"GC copy","args":{{"job":"{name}#3","op":"read","block":1,"page":2,"lpn":3}}}},"##
        ),
        format!(
            r##"{{"ph":"i","pid":3,"tid":2,"ts":0.007,"s":"t","cat":"starved","cname":"bad","name":"STARVED {name}#3"}},"##
        ),
        format!(
            r##"{{"ph":"i","pid":3,"tid":2,"ts":0.008,"s":"t","cat":"failed","cname":"terrible","name":"FAILED block 6","args":{{"job":"{name}#3","page":2}}}},"##
        ),
        format!(
            r##"{{"ph":"b","pid":1,"tid":13,"ts":1,"cat":"job,read","id":"3.3","name":"{name}","args":{{"job":"{name}#3","deadline_ns":null,"pages":1,"cluster":null}}}},"##
        ),
        // The end of the run is unknown: from 50.001 us on the chip is busy.
        r##"{"ph":"C","pid":4,"tid":5,"ts":0,"cat":"counter","name":"chip 4","args":{"busy %":100.0}},"##.to_owned(),
        format!(
            r##"{{"ph":"e","pid":1,"tid":13,"ts":1000.010,"cat":"job,read","id":"3.3","name":"{name}","args":{{"pending":true}}}}"##
        ),
        "]}".to_owned(),
    ];
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[lines.len() - expected.len()..], expected);
}

/// The values of a counter by time, from the number of its process and the name it has there.
fn counter(events: &[Value], process: u64, name: &str) -> Vec<(u64, f64)> {
    let of = |event: &&Value| {
        let unit = event["args"].as_object().and_then(|args| args.keys().next());
        event["ph"] == "C"
            && event["pid"] == process
            && unit.is_some_and(|unit| format!("{} {unit}", event["name"].as_str().expect("a name")) == name)
    };
    let value = |event: &Value| event["args"].as_object().and_then(|args| args.values().next()?.as_f64());
    events.iter().filter(of).map(|event| (ns(&event["ts"]), value(event).expect("a number"))).collect()
}

/// The changes, from zero on.
fn changes(values: impl Iterator<Item = (u64, f64)>) -> Vec<(u64, f64)> {
    let mut last = 0.0;
    values.filter(|&(_, value)| std::mem::replace(&mut last, value) != value).collect()
}

/// Counters have the values that the records add up to, wherever they change.
#[test]
fn counters_are_those_of_the_records() {
    let duration = 100_000_000;
    let setup = Setup { aging: Some(Aging::Worst), duration: Some(at(duration)), ..Setup::default() };
    let mut records = run(duration);
    records.insert(0, Record::Setup(setup));
    let (plan, events) = (plan(), events(&records, duration));
    let sum = |what: &dyn Fn(&Record) -> i64| records.iter().map(what).sum::<i64>();
    let mut times: Vec<Instant> = records.iter().map(Record::start).collect();
    times.extend(records.iter().filter_map(|record| match record {
        Record::Operation(operation) => Some(operation.end),
        _ => None,
    }));
    times.sort_unstable();
    times.dedup();
    times.retain(|&time| time <= at(duration));
    for cluster in [ClusterId(0), ClusterId(1)] {
        let mine: BTreeSet<JobId> = (records.iter())
            .filter_map(|record| match record {
                Record::Release(release) if release.cluster == Some(cluster) => Some(release.job),
                _ => None,
            })
            .collect();
        let pending = |now: Instant| {
            sum(&|record| match record {
                Record::Release(release) => i64::from(release.cluster == Some(cluster) && release.at <= now),
                Record::Complete(complete) => -i64::from(mine.contains(&complete.job) && complete.at <= now),
                _ => 0,
            })
        };
        let layout = &plan.clusters()[cluster].layout;
        let start = i64::from(layout.reserve_blocks() * layout.pages() * layout.chips());
        let free = |now: Instant| {
            let used = |record: &Record| match record {
                Record::Operation(operation) if operation.cluster == cluster => match operation.action {
                    Action::Program => i64::from(operation.start <= now),
                    Action::Erase => -8 * i64::from(operation.end <= now),
                    Action::ErasePart => 0,
                    Action::Read => 0,
                },
                _ => 0,
            };
            // The sample programs more than there is.
            (start - sum(&used)).max(0)
        };
        let expected = |of: &dyn Fn(Instant) -> i64| changes(times.iter().map(|&now| (now.as_ns(), of(now) as f64)));
        let process = Tracks::cluster(cluster);
        assert_eq!(counter(&events, process, "pending jobs"), expected(&pending));
        assert!(counter(&events, process, "pending jobs").len() > 10);
        assert_eq!(counter(&events, process, "free pages")[0], (0, start as f64));
        assert_eq!(counter(&events, process, "free pages"), expected(&free));
    }
    let busy = |chip: u32, from: u64, to: u64| {
        let within = |record: &Record| match record {
            Record::Operation(operation) if operation.chip == ChipId(chip) => {
                operation.end.as_ns().min(to).saturating_sub(operation.start.as_ns().max(from))
            }
            _ => 0,
        };
        (records.iter().map(within).sum::<u64>() * 1_000 / (to - from)) as f64 / 10.0
    };
    // Four times the longest operation, an erase.
    let windows = (0..5).map(|window| window * 20_000_000);
    for chip in 0..5 {
        let expected = changes(windows.clone().map(|from| (from, busy(chip, from, from + 20_000_000))));
        let process = if chip < 3 { 3 } else { 4 };
        assert_eq!(counter(&events, process, &format!("chip {chip} busy %")), expected);
    }
    assert!(!counter(&events, Tracks::BUSES, "bus 0 busy %").is_empty());
    // At most once an instant.
    let all = events.iter().filter(|event| event["ph"] == "C");
    let all: Vec<String> = all.map(|event| format!("{} {} {}", event["pid"], event["name"], event["ts"])).collect();
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
}
