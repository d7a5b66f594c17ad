//! The report of `experiment` and `merge`.

use rtflash_answers::{Answer, AnswerTable, Cell, Summary, Tone, bandwidth_table, contenders_table, gains};
use rtflash_draw::NamedFigure;
use rtflash_draw::page::{HtmlReport, Picture, ReportPart};
use rtflash_experiment::output;

use super::{Origin, table_parts};
use crate::render::numbers::count as counted;

pub fn experiment(
    summary: &Summary,
    page_size: u32,
    manifest: &str,
    figures: &[NamedFigure],
    tables: &[output::Table],
) -> HtmlReport {
    let drawn = format!("{} at {}", counted(summary.sets, "task set"), counted(summary.points, "point"));
    let mut parts = Vec::new();
    if !figures.is_empty() {
        let caption = |figure: &NamedFigure| match figures {
            [_] => figure.figure.y_label.clone(),
            _ => format!("{}: {}", figure.name, figure.figure.y_label),
        };
        let picture = |figure: &NamedFigure| Picture::figure(&caption(figure), &figure.figure);
        parts.push(ReportPart::Pictures(figures.iter().map(picture).collect()));
    }
    parts.extend(table_parts("Schedulable", contenders_table(summary)));
    let gains = gains(summary);
    if !gains.is_empty() {
        parts.push(ReportPart::Heading("On the same sets".into()));
        parts.extend(gains.into_iter().map(ReportPart::Note));
    }
    if !summary.bandwidth.is_empty() {
        let heading = "Pages a second of jobs that are not real-time";
        parts.extend(table_parts(heading, bandwidth_table(summary, page_size)));
    }
    for table in tables.iter().filter(|table| table.name == "results.csv") {
        let what = "At each point, as in results.csv; intervals are of 95 %.".to_owned();
        parts.extend([ReportPart::Heading("Results".into()), ReportPart::Note(what)]);
        parts.push(ReportPart::Table(of_csv(&table.text)));
    }
    let exhausted = summary.exhausted + summary.not_run;
    let (tone, missing) = match exhausted {
        0 => (Tone::Good, String::new()),
        some => (Tone::Open, format!(", {} missing", counted(some, "set"))),
    };
    let title = format!("Experiment: {}", summary.experiment);
    let page = origin(manifest).page(&title, (tone, format!("done: {drawn}{missing}")), parts, summary.line());
    HtmlReport { manifest: manifest.to_owned(), ..page }
}

fn origin(manifest: &str) -> Origin {
    let manifest: serde_json::Value = serde_json::from_str(manifest).expect("a manifest is JSON");
    let words = manifest["command"].as_array().into_iter().flatten();
    let command = words.filter_map(|word| word.as_str().map(str::to_owned)).collect();
    Origin::new(command, manifest["seed"].as_u64())
}

/// A table as rtflash writes it: no cell has a comma in it.
fn of_csv(text: &str) -> AnswerTable {
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let Some(names) = lines.next() else { return AnswerTable::default() };
    let rows: Vec<_> = lines.collect();
    let is_number = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).all(|cell| cell.is_empty() || cell.parse::<f64>().is_ok())
    };
    let numbers: Vec<bool> = (0..names.len()).map(is_number).collect();
    let heading = |(name, &number): (&&str, &bool)| if number { format!(">{name}") } else { (*name).to_owned() };
    let cell = |text: &&str| match text.parse() {
        Ok(number) => Cell::number(*text, number),
        Err(_) => Cell::text(if text.is_empty() { "-" } else { text }),
    };
    let headings: Vec<String> = names.iter().zip(&numbers).map(heading).collect();
    AnswerTable {
        rows: rows.iter().map(|row| row.iter().map(cell).collect()).collect(),
        ..AnswerTable::new(headings.iter().map(String::as_str))
    }
}
