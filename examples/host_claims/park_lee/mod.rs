//! Park and Lee (2021): K2 in front of an NVMe drive. Its claims beside ours, as a table.

use super::{Row, beginning, written};

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
    let row = |claim: &Claim| {
        let ours: Vec<f64> = answers.iter().map(|answers| claim.ours(answers).unwrap_or(f64::NAN)).collect();
        let shown = ours.iter().map(|&ours| digits(claim, ours)).collect();
        let verdict = ours.iter().try_fold(true, |all, &ours| Some(all & claim.holds(ours)?));
        let is_third = claim.rule == Rule::Third;
        Row { beginning: beginning(claim, claim.unit()), shown, verdict, is_third, ours }
    };
    written(answers.len(), claims.iter().map(|claim| (claim, row(claim))))
}

/// Counts and bounds are whole.
fn digits(claim: &Claim, ours: f64) -> String {
    let is_whole = matches!(claim.unit(), "bound" | "of 7 steps" | "of 1200");
    if is_whole { format!("{ours:.0}") } else { super::digits(ours) }
}
