//! `rtflash soak --world stock`: a drive that knows no deadlines.

use rtflash_analysis::StockTerm;
use rtflash_model::{TaskSet, write_task_set};
use rtflash_run::soak::{StockBroken, StockCheck, StockSearch, StockSoaked, soak_stock};
use rtflash_wire::{BrokenLine, CheckCount, SoakAnswer, WithoutLine};
use serde_json::value::RawValue;

use super::soak_watch::{BarWatch, answered};
use crate::CommandFailure;
use crate::answer::{SetAnswer, Unanswered};
use crate::args::{ALL_TERMS, SoakArgs};
use crate::whole::SignalHold;

/// What is found.
pub fn answer(args: &SoakArgs, signals: Option<&SignalHold>) -> Result<SetAnswer, Unanswered> {
    if let Some(Some(_)) = args.climb {
        return Err(CommandFailure("--climb FILE: on the executor, not with --world stock".into()).into());
    }
    let terms = args.without.as_deref().map_or(Ok(Vec::new()), terms)?;
    let watch = BarWatch::new(args.runs().saturating_mul(terms.len().max(1) as u64), signals);
    answered(args, &watch, || searched(args, &terms, &watch))
}

fn terms(name: &str) -> Result<Vec<StockTerm>, CommandFailure> {
    if name == ALL_TERMS {
        return Ok(StockTerm::ALL.to_vec());
    }
    let term = StockTerm::ALL.into_iter().find(|term| term.name() == name);
    term.map(|term| vec![term]).ok_or_else(|| {
        let names = StockTerm::ALL.map(StockTerm::name).join(", ");
        CommandFailure(format!("--without {name}: --world stock has the terms {names}"))
    })
}

fn searched(args: &SoakArgs, terms: &[StockTerm], watch: &BarWatch<'_>) -> SoakAnswer {
    let search = StockSearch { seed: args.seed, left_out: None, climbs: args.climb.is_some() };
    let empty = SoakAnswer { seed: args.seed, runs: args.runs(), ..SoakAnswer::default() };
    if terms.is_empty() {
        let soaked = soak_stock(search, args.runs(), watch);
        let broken = soaked.broken.iter().map(|broken| broken_line(search, broken)).collect();
        let stopped_after = watch.stopped_after(soaked.cases);
        SoakAnswer { stopped_after, sets: Some(soaked.sets), judged: soaked.runs, broken, ..empty }
    } else {
        let found =
            |&term: &StockTerm| (term, soak_stock(StockSearch { left_out: Some(term), ..search }, args.runs(), watch));
        let found: Vec<(StockTerm, StockSoaked)> = terms.iter().map(found).collect();
        let stopped_after = watch.stopped_after(found.iter().map(|(_, soaked)| soaked.cases).sum());
        let without: Vec<WithoutLine> = found.iter().map(|(term, soaked)| without_line(*term, soaked)).collect();
        SoakAnswer { stopped_after, judged: without.iter().map(|line| line.runs).sum(), without, ..empty }
    }
}

fn written(set: &TaskSet) -> Option<Box<RawValue>> {
    RawValue::from_string(write_task_set(set, None)).ok()
}

/// What a line says of a check: `exec` has no such drive, so the search itself shows it again.
fn broken_line(search: StockSearch, of: &StockBroken) -> BrokenLine {
    let climb = if search.climbs { " --climb" } else { "" };
    BrokenLine {
        name: of.finding.check.name().into(),
        runs: of.runs,
        first_run: of.first,
        bound: Some(of.finding.bound),
        observed: Some(of.finding.observed),
        command: format!("rtflash soak --world stock --seed {} --runs {}{climb}", search.seed, of.first + 1),
        task_set: written(&of.smallest),
    }
}

fn without_line(term: StockTerm, found: &StockSoaked) -> WithoutLine {
    let late = found.broken.iter().filter(|broken| broken.finding.check == StockCheck::Deadlines);
    let check = |broken: &StockBroken| CheckCount { name: broken.finding.check.name().into(), runs: broken.runs };
    let late: Vec<&StockBroken> = late.collect();
    let shown = late.first().copied().or_else(|| found.broken.iter().min_by_key(|broken| broken.first));
    WithoutLine {
        term: term.name().into(),
        letters: term.letters().into(),
        sets: found.sets,
        runs: found.runs,
        late: late.iter().map(|broken| broken.runs).sum(),
        first_run: shown.map(|broken| broken.first),
        checks: found.broken.iter().map(check).collect(),
        task_set: shown.and_then(|broken| written(&broken.smallest)),
    }
}
