//! Results of experiments as figures.

#[cfg(feature = "pdf")]
use std::path::Path;
#[cfg(feature = "pdf")]
use std::{fs, io};

#[cfg(feature = "pdf")]
use rtflash_experiment::output::tables;
use rtflash_experiment::output::{JOBS, bandwidth, shares};
use rtflash_experiment::plan::{Measure, Plan, Value};
use rtflash_experiment::statistics::{Estimate, weighted, wilson};
use rtflash_experiment::tally::Tally;

#[cfg(feature = "pdf")]
use crate::figure::FigureError;
use crate::figure::{Curve, Figure, MeasuredPoint, YAxis};

/// A figure and what its files are called.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedFigure {
    /// The names of its files, up to the dot.
    pub name: String,
    /// The figure.
    pub figure: Figure,
}

impl NamedFigure {
    /// Its files that are text, by name: SVG, a table of its numbers (`.dat`), and a picture for
    /// LaTeX that needs no other file (`.tex`).
    pub fn text_files(&self) -> Vec<(String, Vec<u8>)> {
        let file = |extension: &str, text: String| (format!("{}.{extension}", self.name), text.into_bytes());
        vec![file("svg", self.figure.svg()), file("dat", self.figure.table()), file("tex", self.figure.pgfplots())]
    }

    /// Its files, by name: SVG, PNG, PDF, a table of its numbers (`.dat`), and a picture for LaTeX
    /// that needs no other file (`.tex`). Fails if it cannot be drawn.
    #[cfg(feature = "pdf")]
    pub fn files(&self) -> Result<Vec<(String, Vec<u8>)>, FigureError> {
        let mut files = self.text_files();
        let pictures = [("png", self.figure.png()?), ("pdf", self.figure.pdf()?)];
        files.splice(1..1, pictures.map(|(extension, bytes)| (format!("{}.{extension}", self.name), bytes)));
        Ok(files)
    }
}

/// The figures of an experiment. Without a sweep: the ratio against utilization, or for each kind
/// of job the bandwidth. With one: along its axis the ratio, or where there are several
/// utilizations weighted schedulability, and then for each value the ratio against utilization as
/// well.
pub fn figures(plan: &Plan, tallies: &[Tally]) -> Vec<NamedFigure> {
    let along_sweep = plan.spec().sweep.is_some();
    let several = plan.spec().utilizations.len() > 1;
    let mut all = Vec::new();
    let suffixes = match &plan.spec().measure {
        Measure::Schedulability => vec![String::new()],
        Measure::Bandwidth(_) => JOBS.iter().map(|job| format!("-{job}")).collect(),
    };
    for (measure, suffix) in suffixes.iter().enumerate() {
        if along_sweep && (!several || suffixes.len() == 1) {
            all.push(NamedFigure {
                name: format!("figure{suffix}"),
                figure: along_axis(plan, tallies, measure, several),
            });
        }
        if !along_sweep || several {
            for value in plan.values() {
                let at = value.map_or_else(String::new, |value| format!("-{value}"));
                all.push(NamedFigure {
                    name: format!("figure{suffix}{at}"),
                    figure: against_utilization(plan, tallies, measure, value),
                });
            }
        }
    }
    all
}

#[cfg(feature = "pdf")]
/// Writes the tables (CSV) and figures (SVG, PNG, PDF, pgfplots) of an experiment into a directory,
/// which is made if it is not there. Returns the names of the files. Fails if a file cannot be
/// written, or a figure cannot be drawn.
pub fn write_results(plan: &Plan, tallies: &[Tally], directory: &Path) -> io::Result<Vec<String>> {
    fs::create_dir_all(directory)?;
    let mut files: Vec<(String, Vec<u8>)> =
        tables(plan, tallies).into_iter().map(|table| (table.name.to_owned(), table.text.into_bytes())).collect();
    for figure in figures(plan, tallies) {
        files.extend(figure.files().map_err(io::Error::other)?);
    }
    files
        .into_iter()
        .map(|(name, content)| {
            fs::write(directory.join(&name), content)?;
            Ok(name)
        })
        .collect()
}

fn against_utilization(plan: &Plan, tallies: &[Tally], measure: usize, at: Option<Value>) -> Figure {
    let points = |contender: usize| {
        let places = tallies.iter().enumerate().filter(|(point, _)| plan.point(*point).value == at);
        places
            .filter_map(|(point, tally)| {
                let estimate = estimate(plan, tally, measure, contender)?;
                Some(place(plan.point(point).utilization.to_f64(), estimate))
            })
            .collect()
    };
    let (y_label, y_axis) = vertical(plan, measure);
    Figure {
        x_label: "Total utilization of the task set".into(),
        y_label,
        y_axis,
        x_ticks: None,
        x_logarithmic: false,
        curves: curves(plan, points),
    }
}

fn along_axis(plan: &Plan, tallies: &[Tally], measure: usize, by_weight: bool) -> Figure {
    let (x_label, factor) = plan.spec().sweep.as_ref().map_or(("", 1.0), |sweep| sweep.axis().title());
    let points = |contender: usize| {
        let at = plan.values().enumerate().filter_map(|(position, value)| {
            let estimate = if by_weight {
                weighted(shares(plan, tallies, contender, value))
            } else {
                estimate(plan, tallies.get(position)?, measure, contender)
            };
            Some(place(value?.number() * factor, estimate?))
        });
        let mut points: Vec<MeasuredPoint> = at.collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        points
    };
    let (y_label, y_axis) =
        if by_weight { ("Weighted schedulability".into(), YAxis::Ratio) } else { vertical(plan, measure) };
    let mut ticks: Vec<f64> = plan.values().flatten().map(|value| value.number() * factor).collect();
    ticks.sort_by(f64::total_cmp);
    Figure {
        x_label: x_label.into(),
        y_label,
        y_axis,
        x_ticks: Some(ticks),
        x_logarithmic: false,
        curves: curves(plan, points),
    }
}

fn vertical(plan: &Plan, measure: usize) -> (String, YAxis) {
    match &plan.spec().measure {
        Measure::Schedulability => ("Ratio of schedulable sets".into(), YAxis::Ratio),
        Measure::Bandwidth(_) => (format!("Non-real-time {} bandwidth (pages/s)", JOBS[measure]), YAxis::FromZero),
    }
}

fn estimate(plan: &Plan, tally: &Tally, measure: usize, contender: usize) -> Option<Estimate> {
    match &plan.spec().measure {
        Measure::Schedulability => wilson(*tally.yes.get(contender)?, *tally.decided.get(contender)?),
        Measure::Bandwidth(options) => bandwidth(options, tally.runs.get(measure)?, contender),
    }
}

fn place(x: f64, of: Estimate) -> MeasuredPoint {
    MeasuredPoint { x, y: of.value, low: of.low, high: of.high }
}

fn curves(plan: &Plan, points: impl Fn(usize) -> Vec<MeasuredPoint>) -> Vec<Curve> {
    let contenders = plan.contenders();
    let several = contenders.windows(2).any(|pair| pair[0].analysis.name() != pair[1].analysis.name());
    let served = matches!(plan.spec().measure, Measure::Bandwidth(_));
    let label = |position: usize| {
        let contender = &contenders[position];
        let mut label = contender.allocator.name().to_owned();
        if served {
            label += &format!(" + {}", contender.server());
        }
        if several {
            label += &format!(" ({})", contender.analysis.name());
        }
        label
    };
    (0..contenders.len()).map(|position| Curve { label: label(position), points: points(position) }).collect()
}

#[cfg(all(test, feature = "pdf"))]
mod tests {
    use proptest::prelude::*;
    use rtflash_experiment::plan::Spec;
    use rtflash_experiment::run_whole;
    use rtflash_experiment::tally::Pair;

    use super::*;
    use crate::png::svg_tree;

    fn plan() -> Plan {
        let utilizations = ["0.8", "1.4", "2.0"].map(|text| text.parse().expect("a utilization")).to_vec();
        let sweep = Some("chips=4,8".parse().expect("a sweep"));
        Plan::new(Spec { sets_per_point: 3, utilizations, sweep, ..Spec::default() }).expect("a plan")
    }

    #[test]
    fn all_files_are_written() {
        let plan = plan();
        let directory = std::env::temp_dir().join(format!("rtflash-draw-{}", std::process::id()));
        let files = write_results(&plan, &run_whole(&plan).expect("tallies"), &directory).expect("results");
        let kept = files.iter().map(|name| fs::metadata(directory.join(name)).expect("a file").len());
        assert!(kept.into_iter().all(|length| length > 0));
        let _ = fs::remove_dir_all(&directory);
        let figures = ["figure", "figure-4", "figure-8"];
        let named =
            figures.iter().flat_map(|name| ["svg", "png", "pdf", "dat", "tex"].map(|end| format!("{name}.{end}")));
        let all: Vec<String> = ["results.csv", "paired.csv"].map(str::to_owned).into_iter().chain(named).collect();
        assert_eq!(files, all);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

        /// Figures are drawn of any counts.
        #[test]
        fn any_tallies_are_drawn(
            (at, numbers) in (0..6_usize, prop::array::uniform4(prop_oneof![0..5_u64, any::<u64>()])),
            kept in 0..7_usize,
        ) {
            let plan = plan();
            let mut tallies = run_whole(&plan).expect("tallies");
            let [yes, decided, both, first] = numbers;
            if let Some(tally) = tallies.get_mut(at) {
                (tally.yes[0], tally.decided[0]) = (yes, decided);
                tally.pairs[0] = Pair { both, first, ..tally.pairs[0] };
            }
            tallies.truncate(kept);
            for figure in figures(&plan, &tallies) {
                prop_assert!(svg_tree(&figure.figure.svg()).is_ok());
            }
        }
    }
}
