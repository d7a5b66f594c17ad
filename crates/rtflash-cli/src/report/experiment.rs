//! The report of `experiment` and `merge`.

use rtflash_draw::NamedFigure;
use rtflash_draw::page::{HtmlReport, Picture, ReportPart, SortableTable, TableCell, Tone};
use rtflash_experiment::output::Table;
use rtflash_wire::{Answer, ContenderSummary, GainSummary, Interval, Summary};

use super::Origin;
use super::cells::{count, places};
use crate::render::numbers::count as counted;

/// The page of an experiment: what it comes to, its figures, and its table of results. `manifest`
/// is the text of `manifest.json`.
pub fn experiment(summary: &Summary, manifest: &str, figures: &[NamedFigure], tables: &[Table]) -> HtmlReport {
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
    parts.extend([ReportPart::Heading("Schedulable".into()), ReportPart::Table(contenders(&summary.contenders))]);
    if !summary.gains.is_empty() {
        parts.extend([ReportPart::Heading("On the same sets".into()), ReportPart::Table(gains(&summary.gains))]);
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
    HtmlReport {
        title: format!("Experiment: {}", summary.experiment),
        verdicts: Vec::new(),
        verdict: Some((tone, format!("done: {drawn}{missing}"))),
        parts,
        facts: origin(manifest).facts(),
        manifest: manifest.to_owned(),
        answer: summary.line(),
    }
}

/// What a manifest says of how it was made.
fn origin(manifest: &str) -> Origin {
    let manifest: serde_json::Value = serde_json::from_str(manifest).expect("a manifest is JSON");
    let words = manifest["command"].as_array().into_iter().flatten();
    let command = words.filter_map(|word| word.as_str().map(str::to_owned)).collect();
    Origin::new(command, manifest["seed"].as_u64())
}

fn contenders(of: &[ContenderSummary]) -> SortableTable {
    let swept = of.iter().any(|row| row.at.is_some());
    let mut headings = vec!["algorithm", "analysis"];
    if swept {
        headings.push(">at");
    }
    headings.extend([">sets", ">schedulable", ">ratio", ">95 % from", ">to", ">weighted by U"]);
    let mut table = SortableTable::new(&headings);
    for row in of {
        let mut cells = vec![TableCell::text(&*row.algorithm), TableCell::text(&*row.analysis)];
        if swept {
            cells.push(TableCell::text(row.at.clone().unwrap_or_else(|| "all".into())));
        }
        cells.extend([count(row.sets), count(row.schedulable)]);
        cells.extend(interval(row.ratio, 4));
        cells.push(places(row.weighted.map(|weighted| weighted.value), 4));
        table.rows.push(cells);
    }
    table
}

fn interval(of: Option<Interval>, digits: usize) -> [TableCell; 3] {
    [of.map(|of| of.value), of.and_then(|of| of.ci_low), of.and_then(|of| of.ci_high)]
        .map(|number| places(number, digits))
}

fn gains(of: &[GainSummary]) -> SortableTable {
    let mut table = SortableTable::new(&[
        "first",
        "second",
        ">both",
        ">first only",
        ">second only",
        ">neither",
        ">gain of the first",
        ">95 % from",
        ">to",
    ]);
    let several = of.windows(2).any(|pair| pair[0].analysis != pair[1].analysis)
        || of.iter().any(|row| row.analysis != row.over_analysis);
    for row in of {
        let named = |algorithm: &str, analysis: &str| {
            TableCell::text(if several { format!("{algorithm} ({analysis})") } else { algorithm.to_owned() })
        };
        let mut cells = vec![named(&row.algorithm, &row.analysis), named(&row.over_algorithm, &row.over_analysis)];
        cells.extend([row.both, row.first_only, row.second_only, row.neither].map(count));
        cells.extend(interval(row.gain, 4));
        table.rows.push(cells);
    }
    table
}

/// A table as rtflash writes it: no cell has a comma in it.
fn of_csv(text: &str) -> SortableTable {
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let Some(names) = lines.next() else { return SortableTable::default() };
    let rows: Vec<_> = lines.collect();
    let is_number = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).all(|cell| cell.is_empty() || cell.parse::<f64>().is_ok())
    };
    let numbers: Vec<bool> = (0..names.len()).map(is_number).collect();
    let heading = |(name, &number): (&&str, &bool)| if number { format!(">{name}") } else { (*name).to_owned() };
    let cell = |text: &&str| match text.parse() {
        Ok(number) => TableCell::number(*text, number),
        Err(_) => TableCell::text(if text.is_empty() { "-" } else { text }),
    };
    SortableTable {
        headings: names.iter().zip(&numbers).map(heading).collect(),
        rows: rows.iter().map(|row| row.iter().map(cell).collect()).collect(),
    }
}
