//! Claims of which the direction alone is asked. Nothing is fitted on them.

use std::fmt::Write;
use std::fs;

use rayon::prelude::*;
use rtflash::host::run::{HostRunError, Scenario, read_scenario, run};

use super::{kim, koshiba, park, quoted};

/// The results of a run.
#[derive(Debug, Clone, Copy)]
pub struct Said {
    /// In microseconds, of the first job's latencies the mean, the 99th and the 99.99th percentile,
    /// of the second one's the mean, and of the first one's the least, the 50th and the 95th
    /// percentile and the longest.
    latencies: [f64; 8],
    /// Bytes of the second job, in MB/s.
    rate: f64,
}

/// A number of a latency's distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// The mean.
    Mean,
    /// The 99th percentile.
    P99,
    /// The 99.99th percentile.
    P9999,
    /// The mean of the second job.
    SecondMean,
    /// The least.
    Least,
    /// The median.
    P50,
    /// The 95th percentile.
    P95,
    /// The longest.
    Longest,
}

/// The compared quantity, by scenarios' positions.
#[derive(Debug, Clone)]
pub enum Value {
    /// The first one's over the least of the others'.
    Ratio(Of, usize, Vec<usize>),
    /// Microseconds.
    Mean(usize),
    /// Microseconds.
    Median(usize),
    /// MB/s of the second job.
    Rate(usize),
}

/// When it is in order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// Below one.
    Less,
    /// So much at most.
    AtMost(f64),
    /// So much at most, by what the paper says; ours is only compared.
    Also(f64),
    /// Within 5 % of the published number.
    Near,
    /// The value is shown, and not asked.
    Shown,
}

/// A claim.
#[derive(Debug, Clone)]
pub struct Order {
    /// The compared quantity, in words.
    pub text: String,
    /// The published value.
    pub published: Option<f64>,
    /// See [`Rule`].
    pub rule: Rule,
    /// See [`Value`].
    pub value: Value,
}

impl Order {
    /// The value by answers, in the order of scenarios.
    pub fn ours(&self, said: &[Said]) -> f64 {
        match &self.value {
            Value::Ratio(of, at, others) => {
                let latency = |at: usize| said[at].latencies[*of as usize];
                latency(*at) / others.iter().map(|&at| latency(at)).fold(f64::MAX, f64::min)
            }
            Value::Mean(at) => said[*at].latencies[0],
            Value::Median(at) => said[*at].latencies[Of::P50 as usize],
            Value::Rate(at) => said[*at].rate,
        }
    }

    /// Whether a value is in order; `None` for a value that is only shown.
    pub fn holds(&self, ours: f64) -> Option<bool> {
        match self.rule {
            Rule::Less => Some(ours < 1.0),
            Rule::AtMost(most) | Rule::Also(most) => Some(ours <= most),
            Rule::Near => self.published.map(|published| (ours / published - 1.0).abs() <= 0.05),
            Rule::Shown => None,
        }
    }

    fn unit(&self) -> &'static str {
        match self.value {
            Value::Ratio(..) => "fold",
            Value::Mean(_) | Value::Median(_) => "µs",
            Value::Rate(_) => "MB/s",
        }
    }
}

/// Claims about a setting.
#[derive(Debug, Clone, Default)]
pub struct Orders {
    /// The paper, device and setting, in words.
    pub place: String,
    /// The settings to run.
    pub scenarios: Vec<Scenario>,
    /// The claims.
    pub claims: Vec<Order>,
}

impl Orders {
    /// With nothing in it.
    pub fn at(place: String) -> Orders {
        Orders { place, ..Orders::default() }
    }

    /// One more scenario: its position.
    pub fn run(&mut self, scenario: Scenario) -> usize {
        self.scenarios.push(scenario);
        self.scenarios.len() - 1
    }

    /// One more claim.
    pub fn claim(&mut self, text: impl Into<String>, published: Option<f64>, rule: Rule, value: Value) {
        self.claims.push(Order { text: text.into(), published, rule, value });
    }

    /// The answers of each seed to each scenario, in their order.
    pub fn said(&self, seeds: &[u64]) -> Result<Vec<Vec<Said>>, HostRunError> {
        let of = |seed: &u64| self.scenarios.par_iter().map(|scenario| said(scenario, *seed)).collect();
        seeds.par_iter().map(of).collect()
    }

    /// The claims that do not hold on each seed, with what they are.
    pub fn failed(&self, said: &[Vec<Said>]) -> Vec<String> {
        let ours = |claim: &Order| said.iter().map(|said| claim.ours(said)).collect::<Vec<f64>>();
        let all = self.claims.iter().map(|claim| (claim, ours(claim)));
        all.filter(|(claim, _)| !matches!(claim.rule, Rule::Also(_)))
            .filter(|(claim, ours)| ours.iter().any(|&ours| claim.holds(ours) == Some(false)))
            .map(|(claim, ours)| format!("{}: {} is {ours:?}", self.place, claim.text))
            .collect()
    }

    /// The row of a claim up to ours.
    pub fn beginning(&self, claim: &Order) -> String {
        let asked = match claim.rule {
            Rule::Shown => "shown",
            Rule::Also(_) => "also",
            Rule::Less | Rule::AtMost(_) | Rule::Near => "order",
        };
        let published = claim.published.map_or(String::new(), |published| published.to_string());
        format!("{},{},{asked},{published},{}", quoted(&self.place), quoted(&claim.text), claim.unit())
    }

    /// The rows of its claims.
    pub fn rows(&self, said: &[Vec<Said>]) -> String {
        let mut text = String::new();
        for claim in &self.claims {
            let ours: Vec<f64> = said.iter().map(|said| claim.ours(said)).collect();
            let held: Option<Vec<bool>> = ours.iter().map(|&ours| claim.holds(ours)).collect();
            let verdict = held.map_or("", |held| if held.contains(&false) { "NO" } else { "yes" });
            text += &self.beginning(claim);
            ours.into_iter().for_each(|ours| text += &format!(",{}", super::digits(ours)));
            let _ = writeln!(text, ",{verdict}");
        }
        text
    }
}

fn said(scenario: &Scenario, seed: u64) -> Result<Said, HostRunError> {
    let reports = run(scenario, seed)?;
    let us = |ns: Option<u64>| ns.map_or(f64::NAN, |ns| ns as f64 / 1e3);
    let latencies = reports.first().map(|job| &job.latencies);
    let percentile = |of: u32| us(latencies.and_then(|latencies| latencies.percentile(of)));
    let mean = us(latencies.and_then(|latencies| latencies.mean()));
    let second_mean = us(reports.get(1).and_then(|job| job.latencies.mean()));
    let rate = reports.get(1).map_or(f64::NAN, |job| job.bytes_per_s as f64 / 1e6);
    let longest = us(latencies.and_then(|latencies| latencies.max()));
    let [least, p50, p95] = [0, 5_000, 9_500].map(percentile);
    Ok(Said { latencies: [mean, percentile(9_900), percentile(9_999), second_mean, least, p50, p95, longest], rate })
}

/// A scenario of `scenarios/`.
pub fn scenario(name: &str) -> Result<Scenario, String> {
    let path = format!("{}/scenarios/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    read_scenario(&text, None).map_err(|problems| format!("{path}: {problems:?}"))
}

/// The claims of Koshiba et al. on queries, and those of Park et al. (2018) and Kim et al. (2020),
/// setting by setting.
pub fn all() -> Result<Vec<Orders>, String> {
    Ok([koshiba::orders()?, park::orders()?, kim::orders()?].concat())
}

/// Their table, and whether all that is asked holds.
pub fn report(seeds: &[u64]) -> Result<(String, bool), String> {
    let mut text = String::from("where,claim,asked,published,unit");
    seeds.iter().for_each(|seed| text += &format!(",seed {seed}"));
    text += ",within\n";
    let (mut asked, mut failed) = (0, 0);
    for orders in all()? {
        let said = orders.said(seeds).map_err(|error| error.to_string())?;
        text += &orders.rows(&said);
        asked += orders.claims.iter().filter(|claim| !matches!(claim.rule, Rule::Shown | Rule::Also(_))).count();
        failed += orders.failed(&said).len();
    }
    println!("{} of {asked} claims `order` hold.", asked - failed);
    Ok((text, failed == 0))
}
