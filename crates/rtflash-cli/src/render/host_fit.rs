//! The answers of `host fit` and `host check` for a person.

use rtflash_answers::{AnswerTable, Cell, DriveCheckAnswer, DriveFitAnswer, DriveKind, DrivePercentile, DriveResidual};
use rtflash_drive::bytes;
use rtflash_drive::claims::Fitted;
use rtflash_drive::fit::Fit;
use rtflash_drive::monitor::WINDOW;
use rtflash_drive::three_digits;

use super::table::{answer_table, table};

pub fn fit(fit: &Fit, fitted: &Fitted) -> String {
    let mut text = answer_table(&residuals(fitted));
    text += "\nfactor off on held-out rounds (geometric mean over percentiles; 1 is exact), the chosen kind first:\n";
    text += &answer_table(&kinds(fit));
    text += &answer_table(&held_out(fitted));
    let [reads, writes] = fitted.episodes;
    text += &format!("slow episodes seen: {reads} of reads, {writes} of writes\n");
    text += &match fitted.host_overhead {
        None => "host overhead: not seen\n".to_owned(),
        Some(of) => format!(
            "host overhead: {} in the mean between two commands of a process; it puts the rate of lone commands in \
             held-out rounds {:.2} times off, {:.2} times without it\n",
            three_digits(of.ns),
            of.factor,
            of.factor_without
        ),
    };
    fitted.notes.iter().for_each(|note| text += &format!("note: {note}\n"));
    text += "what can be claimed:\n";
    fitted.no_bound().iter().chain(&fitted.claims()).for_each(|claim| text += &format!("  {claim}\n"));
    text
}

/// The line next to the medians of lone commands.
pub fn residuals(fitted: &Fitted) -> AnswerTable {
    let mut table = AnswerTable::new(["op", ">size", ">lone commands", ">p50", ">line", ">residual"]);
    table.rows.extend(fitted.residuals.iter().map(|of| {
        let off = (of.predicted_ns as f64 - of.p50_ns as f64) * 100.0 / of.p50_ns.max(1) as f64;
        let commands = of.commands.to_string();
        let [p50, line] = [of.p50_ns, of.predicted_ns].map(three_digits);
        [of.op.clone(), bytes(of.size), commands, p50, line, format!("{off:+.1} %")].map(Cell::text).into()
    }));
    table
}

/// The kinds of device, and the factor that each is off.
pub fn kinds(fit: &Fit) -> AnswerTable {
    let mut table = AnswerTable::new(["kind", ">factor"]);
    let all = fit.candidates.iter().chain([&fit.floor]);
    table.rows.extend(all.map(|of| [of.kind.to_owned(), format!("{:.3}", of.score())].map(Cell::text).into()));
    table
}

/// The chosen kind on rounds held out.
pub fn held_out(fitted: &Fitted) -> AnswerTable {
    let mut table = AnswerTable::new(["op", "of its commands", ">measured", ">predicted", ">factor", ">noise"]);
    table.rows.extend(fitted.held_out.iter().map(|of| {
        let [measured, predicted] = [of.measured_ns, of.predicted_ns].map(three_digits);
        let floor = of.floor.map_or_else(|| "-".to_owned(), |floor| format!("{floor:.2}"));
        [of.op.clone(), of.name(), measured, predicted, format!("{:.2}", of.factor), floor].map(Cell::text).into()
    }));
    table
}

pub fn answer(fit: &Fit, fitted: &Fitted) -> DriveFitAnswer {
    let kinds = fit.candidates.iter().map(|of| DriveKind { kind: of.kind.to_owned(), factor: of.score() });
    let residuals = fitted.residuals.iter().map(|of| DriveResidual {
        op: of.op.clone(),
        size: of.size,
        commands: of.commands as u64,
        p50_ns: of.p50_ns,
        predicted_ns: of.predicted_ns,
    });
    let held_out = fitted.held_out.iter().map(|of| DrivePercentile {
        op: of.op.clone(),
        of_ten_thousand: of.of_ten_thousand,
        measured_ns: of.measured_ns,
        predicted_ns: of.predicted_ns,
        factor: of.factor,
        noise: of.floor,
    });
    DriveFitAnswer {
        kinds: kinds.collect(),
        noise: fit.floor.score(),
        residuals: residuals.collect(),
        held_out: held_out.collect(),
        no_bound: fitted.no_bound(),
        claims: fitted.claims(),
        notes: fitted.notes.clone(),
    }
}

pub fn check(answer: &DriveCheckAnswer) -> String {
    let rows = answer.limits.iter().map(|of| {
        let verdict = match of.holds {
            None => "not seen",
            Some(true) => "kept",
            Some(false) => "broken",
        };
        vec![
            of.op.clone(),
            bytes(of.size),
            of.commands.to_string(),
            format!("{} of {}", of.above, of.most),
            three_digits(of.above_ns),
            of.longest_ns.map_or_else(|| "-".to_owned(), three_digits),
            three_digits(of.limit_ns),
            verdict.to_owned(),
        ]
    });
    let above = format!(">above X in {WINDOW}");
    table(&["op", ">size", ">commands", &above, ">X", ">longest", ">limit", "limits"], rows)
}
