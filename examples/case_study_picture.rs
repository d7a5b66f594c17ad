//! Draws the README's picture: the thesis's case study (Section 5.2) under three ways of dividing
//! four chips.
//!
//! `cargo run --example case_study_picture > docs/case-study.svg`

use std::fmt::Write;

use rtflash::alloc::analysis::{ClusterReport, Thesis, report_cluster};
use rtflash::model::{TaskId, TaskSet, read_task_set};

/// A way of dividing the chips: its name, and chips, size and tasks of each cluster.
type Division = (&'static str, &'static [(&'static str, u32, &'static [u32])]);

const DIVISIONS: [Division; 3] = [
    ("Global: one cluster of all chips", &[("chips 0-3", 4, &[0, 1, 2, 3])]),
    ("Full isolation: every chip a cluster", &[("chip 0", 1, &[0]), ("chip 1", 1, &[1, 2, 3])]),
    ("Clustering-BFD: clusters as needed", &[("chips 0-1", 2, &[0]), ("chip 2", 1, &[1, 2, 3])]),
];

/// Parts of a bar: name, colour, and which share. They differ in grey, too.
type Part = (&'static str, &'static str, fn(&ClusterReport) -> f64);

const PARTS: [Part; 4] = [
    ("read", "#9ecae1", |report| report.read),
    ("write", "#3182bd", |report| report.write),
    ("garbage collection", "#08306b", |report| report.gc),
    ("blocking", "#bdbdbd", |report| report.blocking),
];

const LEFT: f64 = 130.0;
const SCALE: f64 = 360.0;
const ROW: f64 = 26.0;

/// The picture.
pub fn svg() -> String {
    let file = read_task_set(include_str!("../tasksets/case-study.json")).expect("the case study is a task set");
    let mut body = String::new();
    let mut y = 46.0;
    for (title, clusters) in DIVISIONS {
        let _ = writeln!(body, r#"<text x="12" y="{y}" font-weight="bold">{title}</text>"#);
        y += 10.0;
        for &(chips, size, tasks) in clusters {
            let tasks: Vec<TaskId> = tasks.iter().copied().map(TaskId).collect();
            bar(&mut body, y, chips, &file.set, size, &tasks);
            y += ROW;
        }
        y += 22.0;
    }
    let limit = LEFT + SCALE;
    let _ = writeln!(
        body,
        r##"<line x1="{limit}" y1="52" x2="{limit}" y2="{}" stroke="#c00" stroke-width="1.5" stroke-dasharray="5 3"/>"##,
        y - 24.0
    );
    let _ = writeln!(body, r##"<text x="{limit}" y="{}" text-anchor="middle" fill="#c00">U = 1</text>"##, y - 10.0);
    let mut x = 12.0;
    for (name, colour, _) in PARTS {
        let _ = writeln!(
            body,
            r#"<rect x="{x}" y="10" width="12" height="12" fill="{colour}"/><text x="{}" y="21">{name}</text>"#,
            x + 18.0
        );
        x += 40.0 + 7.0 * f64::from(u8::try_from(name.len()).unwrap_or(u8::MAX));
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 820 {y}\" width=\"820\" height=\"{y}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <title>Utilization of the clusters in the case study</title>\n\
         <rect width=\"820\" height=\"{y}\" fill=\"white\"/>\n{body}</svg>\n"
    )
}

fn bar(body: &mut String, y: f64, chips: &str, set: &TaskSet, size: u32, tasks: &[TaskId]) {
    let report = report_cluster(set, &Thesis, tasks, size);
    let _ = writeln!(body, r#"<text x="{}" y="{}" text-anchor="end">{chips}</text>"#, LEFT - 10.0, y + 15.0);
    let mut x = LEFT;
    for (_, colour, share) in PARTS {
        let width = share(&report) * SCALE;
        let _ = writeln!(
            body,
            r#"<rect x="{x:.1}" y="{y}" width="{width:.1}" height="20" fill="{colour}" stroke="white"/>"#
        );
        x += width;
    }
    let names: Vec<&str> = tasks.iter().map(|&task| set.tasks()[task].name.as_str()).collect();
    let verdict = if report.utilization > 1.0 { "fails" } else { "passes" };
    let _ = writeln!(
        body,
        r#"<text x="{:.1}" y="{}">{}: U = {:.4}, {verdict}</text>"#,
        (LEFT + 1.3 * SCALE).max(x + 8.0),
        y + 15.0,
        names.join(", "),
        report.utilization
    );
}

#[allow(dead_code)] // A test includes this file to see that the picture is up to date.
fn main() {
    print!("{}", svg());
}
