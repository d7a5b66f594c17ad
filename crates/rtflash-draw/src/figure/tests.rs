use crate::png::svg_tree;
use proptest::collection::vec;
use proptest::prelude::*;

use super::style::Style;
use super::*;

const NASTY: &str = "a<b & \"c\" > 5 % of $x_1^2 \\ {#~|} \u{0}\u{1b}\u{ffff} λ 漢字 \u{202e}";

fn falling(middle: f64, points: u32) -> Vec<MeasuredPoint> {
    let point = |at: u32| {
        let x = f64::from(at) / 10.0;
        let y = ((middle - x) / 2.0 + 0.5).clamp(0.0, 1.0);
        MeasuredPoint { x, y, low: (y - 0.05).max(0.0), high: (y + 0.05).min(1.0) }
    };
    (0..points).map(point).collect()
}

fn figure(curves: Vec<Curve>) -> Figure {
    Figure { x_label: "Utilization".into(), y_label: "Ratio".into(), curves, ..Figure::default() }
}

fn curve(label: &str, points: Vec<MeasuredPoint>) -> Curve {
    Curve { label: label.into(), points }
}

fn degenerate() -> Vec<Figure> {
    let point = |x, y| MeasuredPoint { x, y, low: y, high: y };
    let nothing = MeasuredPoint { x: f64::NAN, y: f64::INFINITY, low: f64::NEG_INFINITY, high: f64::NAN };
    let curves = [
        vec![],
        vec![nothing],
        vec![point(1.0, 0.5)],
        vec![point(0.0, 0.0), point(0.0, 1.0)],
        vec![point(-f64::MAX, -f64::MAX), point(f64::MAX, f64::MAX)],
        vec![point(-1e290, -1e290), point(1e290, 1e290)],
        vec![point(1e16, 1e-300), point(1e16 + 2.0, 5e-324)],
        vec![point(5e-324, 1.0), nothing, point(1e-320, f64::NAN)],
    ];
    let ticks = [None, Some(vec![]), Some(vec![4.0, 16.0, f64::NAN, 8.0, 8.0]), Some(vec![-1e290, 1e290, 0.0])];
    let mut figures = vec![Figure::default()];
    for points in curves {
        for x_ticks in &ticks {
            for y_axis in [YAxis::Ratio, YAxis::FromZero, YAxis::Logarithmic] {
                let curves = vec![curve("", vec![]), curve(NASTY, points.clone()), curve(&"long ".repeat(99), vec![])];
                let label = NASTY.repeat(4);
                figures.push(Figure {
                    y_axis,
                    x_ticks: x_ticks.clone(),
                    x_logarithmic: y_axis == YAxis::Logarithmic,
                    x_label: label.clone(),
                    y_label: label,
                    curves,
                });
            }
        }
    }
    figures
}

#[test]
fn degenerate_figures_are_valid() {
    for figure in degenerate() {
        let svg = figure.svg();
        assert!(svg_tree(&svg).is_ok() && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        assert!(figure.pdf().is_ok(), "{svg}");
        let tex = figure.pgfplots();
        assert!(!tex.contains("NaN") && !tex.contains("inf,"), "{tex}");
    }
}

#[test]
fn pictures_are_3_5_inches_wide() {
    let figure = figure((0..4).map(|at| curve("EDF", falling(f64::from(at), 40))).collect());
    let png = figure.png().expect("a picture");
    // Width in pixels, four bytes from byte 16.
    assert_eq!(png[16..20], 2100_u32.to_be_bytes());
    let pdf = figure.pdf().expect("a document");
    assert!(pdf.starts_with(b"%PDF"));
    assert_eq!(pdf, figure.pdf().expect("a document"), "the same bytes again");
    let text = String::from_utf8_lossy(&pdf);
    assert!(text.contains("/MediaBox[0 0 252 "), "a page as wide as a column");
    assert!(text.contains("/FontFile2") || text.contains("/FontFile3"), "fonts are embedded");
    assert!(!text.contains("CreationDate"), "no clock");
}

#[test]
fn curves_differ_in_marker_and_dashes() {
    let styles: Vec<_> = (0..12).map(Style::of).collect();
    for (at, one) in styles.iter().enumerate() {
        for other in &styles[..at] {
            assert_ne!((one.marker, one.dashes), (other.marker, other.dashes));
            assert_ne!(one.marker, other.marker, "also where no dashes are seen");
        }
    }
}

#[test]
fn tables_have_three_columns_a_curve_and_nan_in_gaps() {
    let mut gap = falling(1.0, 3);
    gap.remove(1);
    gap[1].high = f64::NAN;
    let figure = figure(vec![
        curve("x", falling(1.0, 3)),
        curve("64 chips, λ", gap),
        curve("x-low", vec![]),
        curve("$", vec![]),
    ]);
    let table = figure.table();
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(' ').collect()).collect();
    assert_eq!(rows.len(), 4);
    assert!(rows.iter().all(|row| row.len() == 1 + 3 * 4));
    assert_eq!(rows[0].iter().collect::<std::collections::HashSet<_>>().len(), 13, "{:?}", rows[0]);
    assert_eq!(rows[0][4], "curve-64-chips");
    assert_eq!(rows[2][4..7], ["nan"; 3]);
    assert_eq!(rows[3][..7], ["0.2", "0.9", "0.85", "0.9500000000000001", "0.9", "0.85", "nan"]);
}

#[test]
fn lines_break_and_lone_points_are_marked() {
    let mut gaps = falling(1.0, 30);
    gaps.retain(|point| point.x != 1.0 && point.x != 1.2);
    let grid = grid::Grid::new(&figure(vec![curve("all", falling(1.0, 30)), curve("gaps", gaps)]));
    assert_eq!(grid.lines(1), [0..10, 11..12, 13..30]);
    assert!(grid.marked(1).contains(&11));
    assert_eq!((grid.marked(0)[0], grid.marked(1)[0]), (0, 1));
    assert!(grid.marked(0).len() <= 20);
}

#[test]
fn ticks_are_where_they_are_wanted() {
    let labels = |axis: &axis::PlotAxis| axis.ticks.iter().map(|tick| tick.label.clone()).collect::<Vec<_>>().join(" ");
    let grid = grid::Grid::new(&figure(vec![curve("", falling(1.0, 36))]));
    assert_eq!(labels(&axis::PlotAxis::y(&grid, YAxis::Ratio)), "0.0 0.2 0.4 0.6 0.8 1.0");
    assert_eq!(labels(&axis::PlotAxis::x(&grid, None, false, 210.0)), "0.0 0.5 1.0 1.5 2.0 2.5 3.0 3.5");
    let chips = axis::PlotAxis::x(&grid::Grid::new(&figure(vec![])), Some(&[4.0, 8.0, 16.0, 32.0]), false, 210.0);
    assert_eq!((labels(&chips).as_str(), chips.logarithmic), ("4 8 16 32", true));
    let bandwidth = vec![MeasuredPoint { x: 0.0, y: 250_000.0, low: f64::NAN, high: f64::NAN }];
    let bandwidth = axis::PlotAxis::y(&grid::Grid::new(&figure(vec![curve("", bandwidth)])), YAxis::FromZero);
    assert_eq!((labels(&bandwidth).as_str(), bandwidth.exponent), ("0 50 100 150 200 250", 3));
}

#[test]
fn legends_are_above_the_plot() {
    for count in [1, 4, 30] {
        let curves = (0..count).map(|at| curve(&format!("clustering-bfd {at}"), falling(1.0, 9)));
        let layout = legend::FigureLayout::new(&figure(curves.collect()));
        let (_, lowest) = (0..count).map(|at| layout.legend.entry(at)).max_by(|a, b| a.1.total_cmp(&b.1)).expect("one");
        assert!(lowest + legend::LINE / 2.0 <= layout.plot.frame.top, "{count}: {lowest}");
        let (right, _) = layout.legend.entry(count - 1);
        assert!(layout.legend.columns == 1 || right + legend::SAMPLE < plot::WIDTH, "{count}: {right}");
    }
}

/// Ratios of 100 sets, about.
fn ratios(values: &[f64]) -> Vec<MeasuredPoint> {
    let point = |(at, &y): (u32, &f64)| MeasuredPoint {
        x: f64::from(at),
        y,
        low: (y - 0.04).max(0.0),
        high: (y + 0.04).min(1.0),
    };
    (0..).zip(values).map(point).collect()
}

#[test]
fn bands_are_where_they_say_something() {
    let fall = ratios(&[1.0, 1.0, 1.0, 0.9, 0.5, 0.1, 0.0, 0.0]);
    let narrow = |point: &MeasuredPoint| MeasuredPoint { low: point.y - 0.001, high: point.y + 0.001, ..*point };
    let gap: Vec<MeasuredPoint> =
        [0, 1, 3, 4].map(|at| MeasuredPoint { low: if at == 1 { f64::NAN } else { 0.4 }, ..fall[at] }).into();
    let of = |curves: Vec<Vec<MeasuredPoint>>| {
        let layout = legend::FigureLayout::new(&figure(curves.into_iter().map(|points| curve("a", points)).collect()));
        let named = layout.legend.names.iter().any(|name| name == "95 % interval");
        let bands: Vec<_> = (0..layout.plot.grid.curves.len()).map(|curve| layout.plot.bands(curve)).collect();
        (bands, named)
    };
    // With the point before and after; curves with the same intervals have one band.
    assert_eq!(of(vec![fall.clone(), fall.clone()]), (vec![vec![2..7], vec![]], true));
    assert_eq!(of(vec![ratios(&[1.0; 8]), ratios(&[0.0; 8]), ratios(&[1.0, 1.0, 0.0])]), (vec![vec![]; 3], false));
    assert_eq!(of(vec![fall.iter().map(narrow).collect()]), (vec![vec![]], false));
    assert_eq!(of(vec![gap, fall]), (vec![vec![3..5], vec![2..7]], true));
    // No ratio: nothing is known at 1.
    let mut pages = figure(vec![curve("a", ratios(&[1.0; 3]))]);
    pages.y_axis = YAxis::FromZero;
    assert_eq!(legend::FigureLayout::new(&pages).plot.bands(0), vec![0..3]);
}

#[test]
fn curves_that_are_one_line_take_turns() {
    let one = ratios(&[1.0, 1.0, 1.0, 0.9, 0.5, 0.1, 0.0, 0.0]);
    let late = ratios(&[1.0, 1.0, 1.0, 1.0, 0.7, 0.2, 0.0, 0.0]);
    let figure =
        figure(["a", "b", "c"].into_iter().zip([one.clone(), late, one]).map(|(name, of)| curve(name, of)).collect());
    let plot = plot::Plot::new(&figure);
    let shares = |curve: usize| -> Vec<_> {
        let strokes = plot.strokes(curve).into_iter();
        strokes.map(|stroke| (stroke.rows, stroke.share.map(|share| (share.turn, share.among)))).collect()
    };
    assert_eq!(shares(0), [(0..2, Some((0, 3))), (2..6, Some((0, 2))), (6..7, Some((0, 3)))]);
    assert_eq!(shares(1), [(0..2, Some((1, 3))), (2..6, None), (6..7, Some((1, 3)))]);
    assert_eq!(shares(2), [(0..2, Some((2, 3))), (2..6, Some((1, 2))), (6..7, Some((2, 3)))]);
    // At each place of a shared line one curve has its piece, and each has some.
    for stretch in [0, 1] {
        let turns = [0, 1, 2].map(|curve| plot.strokes(curve)[stretch].share).into_iter().flatten();
        let turns: Vec<_> = turns.filter(|share| share.among == 3 - stretch).collect();
        for at in 0..100 {
            let drawn = |share: &&coincide::CurveShare| {
                let [stroke, gap] = share.dashes();
                (f64::from(at) + 0.25 + share.phase()) % (stroke + gap) < stroke
            };
            assert_eq!(turns.iter().filter(drawn).count(), 1, "{at}");
        }
    }
    let marked = plot.marked();
    assert_eq!(marked, [vec![0, 4, 6], vec![1, 3, 4, 5, 7], vec![2, 3, 5]]);
    let names = legend::FigureLayout::new(&figure).legend.names;
    assert_eq!(names, ["a", "b", "c (= a)", "95 % interval"]);
    // Drawn alike in both forms.
    let (svg, tex) = (figure.svg(), figure.pgfplots());
    let phases = plot.strokes(2).iter().filter_map(|stroke| stroke.share).filter(|share| share.phase() > 0.0).count();
    assert!(phases > 0 && svg.matches("stroke-dashoffset").count() >= phases);
    assert_eq!(tex.matches("dash phase").count(), 8);
    assert!(svg.contains(">c (= a)<") && tex.contains("\\addlegendentry{c (= a)}"));
}

#[test]
fn tex_names_what_it_needs_and_escapes() {
    let mut figure = figure(vec![curve("100 % & a_b", falling(1.0, 40)), curve("", falling(2.0, 40))]);
    figure.x_ticks = Some(vec![1.0, 2.0, 4.0]);
    let tex = figure.pgfplots();
    assert!(tex.starts_with("% Needs: \\usepackage{pgfplots}"));
    assert!(tex.contains("\\addlegendentry{100 \\% \\& a\\_b}"));
    assert!(tex.contains("xtick={1,2,4}"));
    // The numbers are in it, and no file is read.
    assert!(tex.contains("(0.1,0.95) (0.2,0.9) (0.3,0.85)") && !tex.contains("table"));
    assert_eq!(tex.matches(" -- cycle;").count(), 2);
    assert!(tex.contains("\\addlegendentry{95 \\% interval}"));
    assert_eq!(tex.matches("\\addlegendentry").count(), 2);
    assert_eq!(tex.matches('{').count(), tex.matches('}').count());
}

fn any_number() -> impl Strategy<Value = f64> {
    prop_oneof![proptest::num::f64::ANY, -2.0..5.0_f64]
}

fn any_label() -> impl Strategy<Value = String> {
    vec(any::<char>(), 0..12).prop_map(String::from_iter)
}

fn any_figure() -> impl Strategy<Value = Figure> {
    let numbers = (any_number(), any_number(), any_number(), any_number());
    let point = numbers.prop_map(|(x, y, low, high)| MeasuredPoint { x, y, low, high });
    let curve = (any_label(), vec(point, 0..30)).prop_map(|(label, points)| Curve { label, points });
    let axes = (any_label(), any_label(), any::<bool>(), proptest::option::of(vec(any_number(), 0..6)));
    (axes, vec(curve, 0..15)).prop_map(|((x_label, y_label, ratio, x_ticks), curves)| {
        let y_axis = if ratio { YAxis::Ratio } else { YAxis::FromZero };
        Figure { x_label, y_label, y_axis, x_ticks, x_logarithmic: false, curves }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_figure_can_be_drawn(figure in any_figure()) {
        let svg = figure.svg();
        prop_assert!(svg_tree(&svg).is_ok(), "{}", svg);
        prop_assert!(!svg.contains("NaN") && figure.pdf().is_ok(), "{}", svg);
        let columns = 1 + 3 * figure.curves.len();
        prop_assert!(figure.table().lines().all(|line| line.split(' ').count() == columns));
        let tex = figure.pgfplots();
        prop_assert!(tex.ends_with("tikzpicture}\n"), "{}", tex);
    }
}

#[test]
fn logarithmic_axes_have_powers_of_ten() {
    let labels = |from: f64, to: f64| {
        let points = [from, to].map(|x| MeasuredPoint { x, y: x, low: f64::NAN, high: f64::NAN });
        let grid = grid::Grid::new(&figure(vec![curve("", points.to_vec())]));
        let axis = axis::PlotAxis::x(&grid, None, true, 210.0);
        assert!(axis.logarithmic);
        let y = axis::PlotAxis::y(&grid, YAxis::Logarithmic);
        assert_eq!((y.from, y.to), (axis.from, axis.to));
        let labels: Vec<&str> = axis.ticks.iter().map(|tick| tick.label.as_str()).collect();
        labels.join(" ")
    };
    assert_eq!(labels(0.2, 300.0), "1 10 100");
    assert_eq!(labels(3.0, 130.0), "5 10 20 50 100");
    assert_eq!(labels(2.0, 9.0), "2 3 5 7");
    assert_eq!(labels(0.75, 0.95), "0.75 0.8 0.85 0.9 0.95");
    assert_eq!(labels(1e-6, 1.0), "10⁻⁶ 10⁻⁵ 10⁻⁴ 0.001 0.01 0.1 1");
    // A value that is not positive has no logarithm.
    let points = [-1.0, 1.0].map(|x| MeasuredPoint { x, y: x, low: f64::NAN, high: f64::NAN });
    let grid = grid::Grid::new(&figure(vec![curve("", points.to_vec())]));
    assert!(!axis::PlotAxis::x(&grid, None, true, 210.0).logarithmic);
}

#[test]
fn bars_are_drawn_whatever_they_are() {
    let bars = Bars {
        y_label: "Latency (ms)".into(),
        groups: vec!["none".into(), NASTY.into(), "user-centric".into()],
        series: vec![
            BarSeries::new("p99", vec![1.0, f64::NAN, 4.0]),
            BarSeries::new(NASTY.repeat(9), vec![0.0, -1.0, 1e300, 7.0]),
            BarSeries::new("x", vec![]),
        ],
        logarithmic: false,
    };
    for bars in [
        bars.clone(),
        Bars::default(),
        Bars { groups: vec![], ..bars.clone() },
        Bars { series: vec![], ..bars.clone() },
    ] {
        svg_tree(&bars.svg()).expect("SVG");
    }
    // Bars are in proportion: of 1 and of 4.
    let svg = bars.svg();
    let height = |at: usize| {
        let rect = svg.split("<rect x=").nth(at + 1).expect("a bar");
        let height = rect.split("height=\"").nth(1).and_then(|rest| rest.split('"').next());
        height.and_then(|height| height.parse::<f64>().ok()).expect("a height")
    };
    assert!((height(1) / height(0) - 4.0).abs() < 0.01, "{svg}");
    let tens = Bars { series: vec![BarSeries::new("p99", vec![20.0, 200.0, 2e4])], logarithmic: true, ..bars.clone() };
    assert!(tens.svg().contains(">1000<"), "{}", tens.svg());
    let simple =
        Bars { groups: vec!["a\"b".into()], series: vec![BarSeries::new("p99", vec![0.1])], ..Bars::default() };
    assert_eq!(simple.csv(), "\"\",\"p99\"\n\"a\"\"b\",0.1\n");
}

/// A range has both its ends: solid up to the least, and pale up to the most.
#[test]
fn bars_of_ranges_have_both_ends() {
    let range = BarSeries { least: vec![1.0, 4.0, f64::NAN], ..BarSeries::new("in rings", vec![4.0, 4.0, 4.0]) };
    let groups = vec!["a".into(), "b".into(), "c".into()];
    let bars = Bars { groups, series: vec![range], ..Bars::default() };
    for svg in [bars.svg(), bars.svg_on_page()] {
        svg_tree(&svg).expect("SVG");
        let bars = svg.split("<rect x=").skip(1).map(|rect| {
            let height = rect.split("height=\"").nth(1).and_then(|rest| rest.split('"').next());
            let height: f64 = height.and_then(|height| height.parse().ok()).expect("a height");
            (rect.contains("fill-opacity"), height)
        });
        let bars: Vec<(bool, f64)> = bars.collect();
        // Behind the bars of the groups come those of the key.
        let [(false, least), (true, most), (false, second), (false, third), ..] = bars[..] else { panic!("{svg}") };
        assert!((most / least - 4.0).abs() < 0.01 && most == second && most == third, "{svg}");
    }
    assert!(bars.svg_on_page().contains("in rings: 1 to 4<"), "{}", bars.svg_on_page());
    assert_eq!(bars.csv(), "\"\",\"in rings, least\",\"in rings\"\n\"a\",1,4\n\"b\",4,4\n\"c\",,4\n");
}
