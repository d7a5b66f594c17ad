//! The answer of fio in JSON: what its logs mean, and its histograms (`--output-format=json+`).

use std::collections::BTreeMap;

use rtflash_host::Op;
use serde::Deserialize;

use crate::refused::MeasurementRefused;

/// A run of fio.
#[derive(Debug, Clone, Deserialize)]
pub struct FioRun {
    #[serde(rename = "fio version")]
    version: String,
    #[serde(rename = "global options", default)]
    global: BTreeMap<String, String>,
    jobs: Vec<JobEntry>,
}

#[derive(Debug, Clone, Deserialize)]
struct JobEntry {
    jobname: String,
    #[serde(rename = "job options", default)]
    options: BTreeMap<String, String>,
    #[serde(default)]
    read: Option<Half>,
    #[serde(default)]
    write: Option<Half>,
}

#[derive(Debug, Clone, Deserialize)]
struct Half {
    #[serde(default)]
    lat_ns: Option<Histogram>,
    #[serde(default)]
    clat_ns: Option<Histogram>,
}

#[derive(Debug, Clone, Deserialize)]
struct Histogram {
    #[serde(default)]
    bins: BTreeMap<String, u64>,
    #[serde(default)]
    min: f64,
    #[serde(default)]
    max: f64,
}

/// A job of fio.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedJob {
    /// Its name.
    pub name: String,
    /// The prefix of its latency log (`write_lat_log`).
    pub log: Option<String>,
    /// Whether the log has a column of offsets.
    pub has_offset: bool,
    /// Whether the log has a column of issue times.
    pub has_issue: bool,
    /// I/Os outstanding at most, of all its clones together.
    pub depth: u32,
    /// The shortest and the longest latency of reads and of writes, in ns, of any kind that the
    /// JSON has; `None` where it has none.
    pub extremes: [Option<[u64; 2]>; 2],
    /// The time between an I/O and the next one (`thinktime`), in ns.
    pub think: u64,
}

/// A histogram of json+: latencies in ns, each bin by its midpoint, and how many are in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bins {
    /// The job.
    pub job: String,
    /// Its operation.
    pub op: Op,
    /// Midpoints and counts, in order.
    pub counts: Vec<(u64, u64)>,
    /// The longest, exactly.
    pub max: u64,
}

impl Half {
    /// The shortest and the longest latency of any kind, in ns.
    fn extremes(&self) -> Option<[u64; 2]> {
        let of = [&self.lat_ns, &self.clat_ns].into_iter().flatten().filter(|of| of.max > 0.0);
        let both = of.map(|of| [of.min, of.max].map(crate::numbers::rounded));
        both.reduce(|one, other| [one[0].min(other[0]), one[1].max(other[1])])
    }
}

impl FioRun {
    /// Reads fio's JSON. Lines in front of it (notes and warnings of fio) are passed over.
    ///
    /// # Errors
    /// If it is no JSON of fio, or of a fio before 3.0.
    pub fn read(text: &str) -> Result<FioRun, MeasurementRefused> {
        let json = text.find('{').map_or(text, |begin| &text[begin..]);
        let mut values = serde_json::Deserializer::from_str(json).into_iter::<FioRun>();
        let run = match values.next() {
            Some(Ok(run)) => run,
            Some(Err(error)) => {
                return Err(MeasurementRefused::because(format!(
                    "the file is no answer of fio in JSON ({error}): run fio with --output-format=json+"
                )));
            }
            None => return Err(MeasurementRefused::because("the file is empty: run fio with --output-format=json+")),
        };
        let major = run.version.strip_prefix("fio-").and_then(|version| version.split('.').next()?.parse::<u32>().ok());
        if major.is_none_or(|major| major < 3) {
            return Err(MeasurementRefused::because(format!(
                "{} logs units that differ from file to file: measure with fio 3.28 or later",
                run.version
            )));
        }
        Ok(run)
    }

    /// The jobs.
    ///
    /// # Errors
    /// If a job is buffered, or logs means over windows.
    pub fn jobs(&self) -> Result<Vec<LoggedJob>, MeasurementRefused> {
        self.jobs.iter().map(|job| self.job(job)).collect()
    }

    fn job(&self, job: &JobEntry) -> Result<LoggedJob, MeasurementRefused> {
        let option = |name: &str| job.options.get(name).or_else(|| self.global.get(name)).map(String::as_str);
        // An option without a value is 1; `buffered` is the opposite of `direct`.
        let is_on = |name: &str| option(name).is_some_and(|value| value.is_empty() || value == "1");
        if !is_on("direct") && option("buffered") != Some("0") {
            return Err(MeasurementRefused::because(format!(
                "job `{}` is buffered, so its log times the page cache: measure with direct=1",
                job.jobname
            )));
        }
        let number = |name: &str| option(name).and_then(|value| value.parse::<u32>().ok()).unwrap_or(1);
        let log = option("write_lat_log").map(str::to_owned);
        if log.is_some() && option("log_avg_msec").is_some_and(|window| window != "0") {
            return Err(MeasurementRefused::because(format!(
                "job `{}` logs a mean or a maximum over windows: measure with log_avg_msec=0",
                job.jobname
            )));
        }
        Ok(LoggedJob {
            name: job.jobname.clone(),
            log,
            has_offset: is_on("log_offset"),
            has_issue: is_on("log_issue_time"),
            depth: number("iodepth").saturating_mul(number("numjobs")),
            extremes: [&job.read, &job.write].map(|half| half.as_ref().and_then(Half::extremes)),
            think: option("thinktime").and_then(think).unwrap_or(0),
        })
    }

    /// The histograms, a job and operation each; none where fio wrote no json+.
    ///
    /// # Errors
    /// If a bin is no number of ns.
    pub fn bins(&self) -> Result<Vec<Bins>, MeasurementRefused> {
        let mut found = Vec::new();
        for job in &self.jobs {
            for (op, half) in [(Op::Read, &job.read), (Op::Write, &job.write)] {
                let Some(half) = half else { continue };
                let full = |of: &&Histogram| !of.bins.is_empty();
                let Some(bins) = half.lat_ns.as_ref().filter(full).or(half.clat_ns.as_ref().filter(full)) else {
                    continue;
                };
                let mut counts = Vec::new();
                for (midpoint, &count) in &bins.bins {
                    let midpoint = midpoint.parse::<u64>().map_err(|_| {
                        MeasurementRefused::because(format!(
                            "job `{}` has a bin `{midpoint}`: run fio with json+",
                            job.jobname
                        ))
                    })?;
                    counts.push((midpoint, count));
                }
                counts.sort_unstable();
                let max = counts.last().map_or(0, |&(midpoint, _)| midpoint);
                let max = crate::numbers::rounded(bins.max).max(max);
                found.push(Bins { job: job.jobname.clone(), op, counts, max });
            }
        }
        Ok(found)
    }
}

/// A think time of fio in ns: a number of microseconds, or one with its unit.
fn think(text: &str) -> Option<u64> {
    let digits = text.find(|of: char| !of.is_ascii_digit()).unwrap_or(text.len());
    let unit = match text[digits..].trim() {
        "" | "us" | "usec" => 1_000,
        "ms" | "msec" => 1_000_000,
        "s" | "sec" => 1_000_000_000,
        _ => return None,
    };
    text[..digits].parse::<u64>().ok()?.checked_mul(unit)
}

impl Bins {
    /// How many I/Os it holds.
    pub fn count(&self) -> u64 {
        self.counts.iter().map(|&(_, count)| count).sum()
    }

    /// The midpoint of the bin that `of_ten_thousand` of ten thousand I/Os do not exceed.
    pub fn percentile(&self, of_ten_thousand: u64) -> Option<u64> {
        let rank = (self.count() * of_ten_thousand).div_ceil(10_000).max(1);
        let mut up_to = 0;
        let found = self.counts.iter().find(|&&(_, count)| {
            up_to += count;
            up_to >= rank
        });
        found.map(|&(midpoint, _)| midpoint)
    }
}
