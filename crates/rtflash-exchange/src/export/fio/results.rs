//! The results that fio prints with `--output-format=json`.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::export::replayed::{ReplayedStream, StreamMaximum};

#[derive(Deserialize)]
struct FioOutput {
    jobs: Vec<FioJob>,
}

#[derive(Deserialize)]
struct FioJob {
    jobname: String,
    #[serde(default)]
    error: i64,
    read: FioDirection,
    write: FioDirection,
}

#[derive(Deserialize)]
struct FioDirection {
    io_bytes: u64,
    total_ios: u64,
    /// In ms.
    runtime: u64,
    lat_ns: FioLatency,
}

#[derive(Deserialize)]
struct FioLatency {
    max: u64,
    /// Latencies by percentile, such as `99.900000`, in ns.
    #[serde(default)]
    percentile: BTreeMap<String, u64>,
}

/// Reads the results of fio: its jobs, in the order of the job file.
///
/// # Errors
/// The fault, a clause.
pub fn read_results(text: &str) -> Result<Vec<ReplayedStream>, String> {
    // fio may say something in front of its answer.
    let answer = text.find('{').map_or(text, |begin| &text[begin..]);
    let output: FioOutput = serde_json::Deserializer::from_str(answer)
        .into_iter()
        .next()
        .unwrap_or_else(|| serde_json::from_str(""))
        .map_err(|error| format!("no results of fio (`--output-format=json`): {error}"))?;
    let stream = |job: FioJob| {
        if job.error != 0 {
            return Err(format!("fio's job `{}` ended with error {}", job.jobname, job.error));
        }
        let writes = job.write.total_ios > 0;
        let of = if writes { &job.write } else { &job.read };
        let longest = StreamMaximum { at_least: of.lat_ns.max, below: of.lat_ns.max.saturating_add(1) };
        let percentile = |name: &str| of.lat_ns.percentile.get(name).copied();
        Ok(ReplayedStream {
            percentiles: ["50.000000", "99.000000", "99.900000"].map(percentile),
            requests: of.total_ios,
            served_bytes: of.io_bytes,
            writes,
            longest: (of.total_ios > 0).then_some(longest),
            lasted_ms: Some(of.runtime),
            name: job.jobname,
        })
    };
    output.jobs.into_iter().map(stream).collect()
}
