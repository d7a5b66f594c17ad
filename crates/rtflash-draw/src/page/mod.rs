//! Reports as one HTML page: pictures, tables, how it was made, and the data as JSON.
//!
//! A page is a file by itself. It asks for nothing from elsewhere, which its
//! Content-Security-Policy forbids, and no script but its own runs. Without a script it shows the
//! same; then tables are not sorted, and curves not switched. Its bytes follow from what is put
//! into it alone.

#[cfg(test)]
mod tests;

use std::fmt::Write;

use rtflash_answers::{AnswerTable, Column, Tone};

use crate::Gantt;
use crate::escape::{data, escaped as html};
use crate::figure::{Bars, Figure};

const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// The SHA-256 of the page's own script, as it stands between its tags: a test computes it.
const SCRIPT_HASH: &str = "sha256-ELJcsD8IZmUudO0azoquM49j8m7z8FDzm4CB9zBeKm4=";

fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "good",
        Tone::Bad => "bad",
        Tone::Open => "open",
    }
}

/// A verdict with the name of what it is about.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelledVerdict {
    /// How it ended.
    pub tone: Tone,
    /// The name.
    pub label: String,
    /// The verdict in words.
    pub text: String,
}

/// A report, to be written as an HTML page.
///
/// All texts may hold anything: they are escaped. Characters that control a terminal or the
/// direction of text are replaced.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HtmlReport {
    /// The subject.
    pub title: String,
    /// The verdict, in a sentence or two.
    pub verdict: Option<(Tone, String)>,
    /// Verdicts with their labels, above it.
    pub verdicts: Vec<LabelledVerdict>,
    /// The parts that it shows, in this order.
    pub parts: Vec<ReportPart>,
    /// How it was made: names and values.
    pub facts: Vec<(String, String)>,
    /// How it was made, as one JSON value.
    pub manifest: String,
    /// The data, as one JSON value.
    pub answer: String,
}

/// A part of a report.
#[derive(Clone, Debug, PartialEq)]
pub enum ReportPart {
    /// A heading.
    Heading(String),
    /// A paragraph.
    Note(String),
    /// Pictures, side by side where there is room.
    Pictures(Vec<Picture>),
    /// A table whose rows can be sorted.
    Table(AnswerTable),
}

/// A picture on a page, with a caption.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    caption: String,
    class: &'static str,
    svg: String,
}

impl Picture {
    /// Curves that can be switched, whose values are shown.
    pub fn figure(caption: &str, figure: &Figure) -> Picture {
        Picture { caption: caption.into(), class: "plot", svg: figure.svg_on_page() }
    }

    /// Bars that can be switched, whose values are shown.
    pub fn bars(caption: &str, bars: &Bars) -> Picture {
        Picture { caption: caption.into(), class: "plot", svg: bars.svg_on_page() }
    }

    /// A stretch of a run, whose operations are named.
    pub fn gantt(caption: &str, gantt: &Gantt) -> Picture {
        Picture { caption: caption.into(), class: "chart", svg: gantt.svg() }
    }
}

impl HtmlReport {
    /// The page.
    pub fn html(&self) -> String {
        let mut verdict = String::new();
        if !self.verdicts.is_empty() {
            let row = |of: &LabelledVerdict| {
                let (class, label, text) = (class(of.tone), html(&of.label), html(&of.text));
                format!("<dt>{label}</dt><dd class=\"{class}\">{text}</dd>")
            };
            let _ =
                writeln!(verdict, "<dl class=\"verdicts\">{}</dl>", self.verdicts.iter().map(row).collect::<String>());
        }
        if let Some((tone, text)) = &self.verdict {
            let _ = writeln!(verdict, "<p class=\"verdict {}\">{}</p>", class(*tone), html(text));
        }
        let mut parts = String::new();
        self.parts.iter().for_each(|part| part.write(&mut parts));
        let fact = |(name, value): &(String, String)| {
            format!("<dt>{}</dt><dd><code>{}</code></dd>\n", html(name), html(value))
        };
        filled(|name| match name {
            "hash" => SCRIPT_HASH.into(),
            "title" => html(&self.title),
            "style" => STYLE.into(),
            "verdict" => verdict.clone(),
            "parts" => parts.clone(),
            "facts" => self.facts.iter().map(fact).collect(),
            "manifest" => data(&self.manifest),
            "answer" => data(&self.answer),
            "script" => SCRIPT.into(),
            other => unreachable!("the template has no {other}"),
        })
    }
}

fn filled(value: impl Fn(&str) -> String) -> String {
    let mut page = String::new();
    for (at, piece) in TEMPLATE.split("{{").enumerate() {
        match piece.split_once("}}").filter(|_| at > 0) {
            None => page.push_str(piece),
            Some((name, rest)) => {
                page.push_str(&value(name));
                page.push_str(rest);
            }
        }
    }
    page
}

impl ReportPart {
    fn write(&self, page: &mut String) {
        // Writing to a string cannot fail.
        match self {
            ReportPart::Heading(text) => {
                let _ = writeln!(page, "<h2>{}</h2>", html(text));
            }
            ReportPart::Note(text) => {
                let _ = writeln!(page, "<p class=\"note\">{}</p>", html(text));
            }
            ReportPart::Pictures(pictures) => {
                page.push_str("<div class=\"pictures\">\n");
                for Picture { caption, class, svg } in pictures {
                    let _ = write!(page, "<figure class=\"{class}\">\n<figcaption>{}</figcaption>\n", html(caption));
                    let _ = write!(page, "<div class=\"scroll\">\n{svg}</div>\n</figure>\n");
                }
                page.push_str("</div>\n");
            }
            ReportPart::Table(table) => write_table(table, page),
        }
    }
}

fn write_table(table: &AnswerTable, page: &mut String) {
    page.push_str("<div class=\"table\">\n<table>\n<thead><tr>");
    for Column { heading, is_number, .. } in &table.columns {
        let class = if *is_number { " class=\"number\"" } else { "" };
        let _ = write!(page, "<th scope=\"col\"{class}>{}</th>", html(heading));
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        page.push_str("<tr>");
        for (column, cell) in table.columns.iter().zip(row) {
            let of = if column.is_number { "number" } else { "name" };
            let tone = cell.tone.map_or_else(String::new, |tone| format!(" {}", class(tone)));
            // If the text is the number itself, it is enough.
            let unsaid = cell.value.filter(|value| cell.text.parse() != Ok(*value));
            let value = unsaid.map_or_else(String::new, |value| format!(" data-v=\"{value}\""));
            let _ = write!(page, "<td class=\"{of}{tone}\"{value}>{}</td>", html(&cell.text));
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody>\n</table>\n</div>\n");
}
