//! Paper 000: K2 in front of an NVMe drive. Its claims beside ours, as a table.

use std::fmt::Write;

use super::claim::Kind;

mod claims;
mod runs;

pub use claims::{Claim, Rule, claims};
pub use runs::{Answers, Bound, Column, Drives};

/// The table by these seeds, and whether all holds that has to.
pub fn report(seconds: u32, seeds: &[u64]) -> Result<(String, bool), String> {
    let drives = Drives::read()?;
    let answers = seeds.iter().map(|&seed| drives.answers(seconds, seed)).collect::<Result<Vec<_>, _>>();
    Ok(table(&claims(), &answers.map_err(|error| error.to_string())?))
}

/// The table, with how many claims hold that have to, and whether these are all.
fn table(claims: &[Claim], answers: &[Answers]) -> (String, bool) {
    let mut text = String::from("| where | claim | asked | fitted | published | unit |");
    (1..=answers.len()).for_each(|seed| text += &format!(" seed {seed} |"));
    let _ = writeln!(text, " ratio | within |\n|---|---|---|---|---|---|{}---|---|", "---|".repeat(answers.len()));
    let (mut musts, mut held, mut worst) = (0, 0, 0.0_f64);
    for claim in claims {
        let ours: Vec<f64> = answers.iter().map(|answers| claim.ours(answers).unwrap_or(f64::NAN)).collect();
        let verdict = ours.iter().try_fold(true, |all, &ours| Some(all & claim.holds(ours)?));
        let ratios: Vec<f64> = ours.iter().filter_map(|ours| Some(ours / claim.published?)).collect();
        if claim.kind == Kind::Must {
            musts += 1;
            held += u32::from(verdict == Some(true));
        }
        if claim.kind == Kind::Must && claim.rule == Rule::Third {
            worst = ratios.iter().map(|ratio| (ratio - 1.0).abs()).fold(worst, f64::max);
        }
        text += &beginning(claim);
        ours.iter().for_each(|&ours| text += &format!(" {} |", digits(claim, ours)));
        let ratio = ratios.get(ratios.len() / 2).map_or(String::new(), |ratio| format!("{ratio:.2}"));
        let verdict = verdict.map_or("", |holds| if holds { "yes" } else { "NO" });
        let _ = writeln!(text, " {ratio} | {verdict} |");
    }
    let _ = writeln!(
        text,
        "\n{held} of {musts} *Must* claims hold; the worst of those with a number is {:.0} % off.",
        worst * 100.0
    );
    (text, held == musts)
}

/// The row of a claim up to ours.
pub fn beginning(claim: &Claim) -> String {
    let Claim { place, text, .. } = claim;
    let fitted = if claim.is_fitted { "fitted" } else { "" };
    let published = claim.published.map_or(String::new(), |published| published.to_string());
    format!("| {place} | {text} | {} | {fitted} | {published} | {} |", super::kind(claim.kind), claim.unit())
}

/// Counts and bounds are whole.
fn digits(claim: &Claim, ours: f64) -> String {
    let is_whole = matches!(claim.unit(), "bound" | "of 7 steps" | "of 1200");
    if is_whole { format!("{ours:.0}") } else { super::digits(ours) }
}
