//! The claims of four papers on host schedulers compared with ours: the tables in
//! `docs/host-claims/`.
//!
//! `cargo run --release --example host_claims -- --seconds 20` writes them, and exits 1 if a claim
//! that must hold fails.

use std::fmt::Write;
use std::fs;
use std::process::ExitCode;

use rayon::prelude::*;
use rtflash::host::run::{HostRunError, HostSetup, read_setup};

mod claim;
mod claims;
mod kim;
mod koshiba;
pub mod orders;
mod park;
pub mod park_lee;
mod run;
mod table3;

pub use claim::{Claim, Kind, Rule};
pub use claims::Claims;
use run::Answer;

/// The plan of the run.
pub const SEEDS: [u64; 3] = [1, 2, 3];

fn main() -> ExitCode {
    let done = seconds(std::env::args().skip(1)).and_then(|seconds| {
        let all = Claims::all();
        let answers = answers(&all, &profile()?, seconds, &SEEDS).map_err(|error| error.to_string())?;
        write("koshiba", &table(&all, &answers))?;
        let first = all.claims.iter().all(|claim| claim.kind != Kind::Must || holds(claim, &answers) == Some(true));
        // Many I/Os a second: a quarter of that is enough.
        let (text, second) = park_lee::report(seconds.div_ceil(4), &SEEDS)?;
        write("park-lee", &text)?;
        let (text, orders) = orders::report(&SEEDS)?;
        write("orders", &text)?;
        Ok(first && second && orders)
    });
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::from(2)
        }
    }
}

/// Writes a table beside the page.
fn write(name: &str, table: &str) -> Result<(), String> {
    let path = format!("{}/docs/host-claims/{name}.csv", env!("CARGO_MANIFEST_DIR"));
    fs::write(&path, table).map_err(|error| format!("{path}: {error}"))
}

/// How long each run of Koshiba et al. is, behind a second of warm-up.
fn seconds(mut arguments: impl Iterator<Item = String>) -> Result<u32, String> {
    let mut seconds = 20;
    while let Some(argument) = arguments.next() {
        let value =
            arguments.next().and_then(|value| value.parse().ok()).filter(|seconds| (1..=1_000).contains(seconds));
        seconds = match (argument.as_str(), value) {
            ("--seconds", Some(value)) => value,
            ("--seconds", None) => return Err("--seconds takes a whole number from 1 to 1000".into()),
            _ => return Err(format!("there is no option {argument}; there is --seconds N")),
        };
    }
    Ok(seconds)
}

/// The device that all claims are run on, and its host.
pub fn profile() -> Result<HostSetup, String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/emmc-2023.json");
    let text = fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    read_setup(&text, None).map_err(|problems| format!("{path}: {problems:?}"))
}

/// The answers of each seed to each setting, in their order.
pub fn answers(all: &Claims, setup: &HostSetup, seconds: u32, seeds: &[u64]) -> Result<Vec<Vec<Answer>>, HostRunError> {
    let of = |seed: &u64| all.settings.par_iter().map(|setting| setting.run(setup, seconds, *seed)).collect();
    seeds.par_iter().map(of).collect()
}

/// Whether a claim holds on each seed; `None` for a claim that is not asked.
pub fn holds(claim: &Claim, answers: &[Vec<Answer>]) -> Option<bool> {
    answers.iter().try_fold(true, |all, answers| Some(all & claim.holds(claim.ours(answers))?))
}

/// The table; how many claims hold goes to standard output.
pub fn table(all: &Claims, answers: &[Vec<Answer>]) -> String {
    let row = |claim: &Claim| {
        let ours: Vec<f64> = answers.iter().map(|answers| claim.ours(answers)).collect();
        let shown = ours.iter().map(|&ours| digits(ours)).collect();
        let is_third = claim.rule == Rule::Third;
        Row { beginning: beginning(claim, claim.unit()), shown, verdict: holds(claim, answers), is_third, ours }
    };
    written(answers.len(), all.claims.iter().map(|claim| (claim, row(claim)))).0
}

/// A claim's row of a table.
pub struct Row {
    /// See [`beginning`].
    pub beginning: String,
    /// Ours, by seed.
    pub ours: Vec<f64>,
    /// Ours in digits, by seed.
    pub shown: Vec<String>,
    /// Whether it holds on each seed; `None` for a claim that is not asked.
    pub verdict: Option<bool>,
    /// Whether it has to be within a third.
    pub is_third: bool,
}

/// A table of claims for `seeds` seeds with how many hold that have to, and whether these are all.
pub fn written<'c, V: 'c, R: 'c>(seeds: usize, rows: impl Iterator<Item = (&'c Claim<V, R>, Row)>) -> (String, bool) {
    let mut text = String::from("where,claim,asked,fitted,published,unit");
    (1..=seeds).for_each(|seed| text += &format!(",seed {seed}"));
    text += ",ratio,within\n";
    let (mut musts, mut held, mut worst) = (0, 0, 0.0_f64);
    for (claim, Row { beginning, ours, shown, verdict, is_third }) in rows {
        let ratios: Vec<f64> = ours.iter().filter_map(|ours| Some(ours / claim.published?)).collect();
        if claim.kind == Kind::Must {
            musts += 1;
            held += u32::from(verdict == Some(true));
        }
        if claim.kind == Kind::Must && is_third {
            worst = ratios.iter().map(|ratio| (ratio - 1.0).abs()).fold(worst, f64::max);
        }
        text += &beginning;
        shown.iter().for_each(|ours| text += &format!(",{ours}"));
        let ratio = ratios.get(ratios.len() / 2).map_or(String::new(), |ratio| format!("{ratio:.2}"));
        let verdict = verdict.map_or("", |holds| if holds { "yes" } else { "NO" });
        let _ = writeln!(text, ",{ratio},{verdict}");
    }
    println!(
        "{held} of {musts} claims `must` hold; of those that must be within a third the worst is {:.0} % off.",
        worst * 100.0
    );
    (text, held == musts)
}

/// The row of a claim up to ours.
pub fn beginning<V, R>(claim: &Claim<V, R>, unit: &str) -> String {
    let Claim { place, text, .. } = claim;
    let fitted = if claim.is_fitted { "fitted" } else { "" };
    let published = claim.published.map_or(String::new(), |published| published.to_string());
    format!("{},{},{},{fitted},{published},{unit}", quoted(place), quoted(text), kind(claim.kind))
}

/// A cell of a CSV file.
pub fn quoted(cell: &str) -> String {
    if cell.contains(',') { format!("\"{cell}\"") } else { cell.to_owned() }
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Must => "must",
        Kind::Also => "also",
        Kind::Shown => "shown",
        Kind::NotAsked => "not asked",
    }
}

/// Three digits.
fn digits(value: f64) -> String {
    let behind =
        [(100.0, 0), (10.0, 1), (1.0, 2)].into_iter().find(|&(from, _)| value >= from).map_or(3, |(_, behind)| behind);
    format!("{value:.behind$}")
}
