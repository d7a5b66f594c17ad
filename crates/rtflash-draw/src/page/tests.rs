//! Pages are well-formed, hold what was put into them and nothing else that acts.

use proptest::prelude::*;
use rtflash_answers::Cell;
use rtflash_model::Instant;
use sha2::{Digest, Sha256};

use super::*;
use crate::figure::{BarSeries, Curve, MeasuredPoint, YAxis};
use crate::samples::{plan, run};

/// A page of all kinds of parts, in which this text is everywhere.
fn page(text: &str) -> HtmlReport {
    let point = |x: f64, y: f64| MeasuredPoint { x, y, low: y - 0.1, high: y + 0.1 };
    let curve = |shift: f64| Curve {
        label: text.into(),
        points: (0..9).map(|x| point(f64::from(x), f64::from(x) / 10.0 + shift)).collect(),
    };
    // The first two are one line.
    let figure = Figure {
        x_label: text.into(),
        y_label: text.into(),
        y_axis: YAxis::Ratio,
        curves: vec![curve(0.0), curve(0.0), curve(0.1)],
        ..Figure::default()
    };
    let bars = Bars {
        y_label: text.into(),
        groups: vec![text.into(), "b".into()],
        series: vec![BarSeries::new(text, vec![1.0, 2.0]), BarSeries::new("other", vec![f64::NAN, 3.0])],
        logarithmic: false,
    };
    let mut gantt = Gantt::new(&plan(), Instant::START, Instant::from_ns(40_000_000).expect("a time"));
    run(60_000_000).iter().for_each(|record| rtflash_trace::Observer::record(&mut gantt, record));
    gantt.finish(Instant::from_ns(60_000_000).expect("a time"));
    let mut table = AnswerTable::new(["name", ">number"]);
    table.columns[0].heading = text.into();
    table.rows.push(vec![Cell::text(text).toned(Tone::Bad), Cell::number(text, 1.5)]);
    table.rows.push(vec![Cell::text("plain"), Cell::number("7", 7.0)]);
    let json = serde_json::json!({ text: [text, 1] }).to_string();
    HtmlReport {
        title: text.into(),
        verdict: Some((Tone::Good, text.into())),
        verdicts: vec![LabelledVerdict { tone: Tone::Bad, label: text.into(), text: text.into() }],
        parts: vec![
            ReportPart::Pictures(vec![
                Picture::figure(text, &figure),
                Picture::bars(text, &bars),
                Picture::gantt(text, &gantt),
            ]),
            ReportPart::Heading(text.into()),
            ReportPart::Note(text.into()),
            ReportPart::Table(table),
        ],
        facts: vec![(text.into(), text.into())],
        manifest: json.clone(),
        answer: json,
    }
}

/// The text between the tags of the script of this number.
fn script(page: &str, number: usize) -> &str {
    let begun = page.split("<script").nth(number + 1).expect("a script");
    begun.split_once('>').and_then(|(_, rest)| rest.split_once("</script")).expect("its end").0
}

/// The page without its style and scripts, which are no XML, as a document of elements.
fn elements(page: &str) -> String {
    let mut rest = page.strip_prefix("<!DOCTYPE html>").expect("a document type");
    let mut xml = String::new();
    for (begin, end) in
        [("<style>", "</style>"), ("<script", "</script>"), ("<script", "</script>"), ("<script", "</script>")]
    {
        // The chart has a style of its own, behind the first one.
        let (before, after) = rest.split_once(begin).expect("an element");
        xml.push_str(before);
        rest = after.split_once(end).expect("its end").1;
    }
    xml + rest
}

/// The names of all elements of a page, and of their attributes.
fn names_of(page: &str) -> Vec<String> {
    let xml = elements(page);
    let document = roxmltree::Document::parse(&xml).unwrap_or_else(|error| panic!("{error} in {xml}"));
    let mut names = std::collections::BTreeSet::new();
    for node in document.descendants().filter(|node| node.is_element()) {
        let name = node.tag_name().name();
        names.insert(name.to_owned());
        names.extend(node.attributes().map(|attribute| format!("{name}@{}", attribute.name())));
    }
    names.into_iter().collect()
}

const HOSTILE: [&str; 8] = [
    "</script><script>alert(1)</script>",
    "<!-- <script>",
    "\"><img src=x onerror=alert(1)>",
    "' onload='alert(1)",
    "]]></svg></figure>&lt;&amp;{{answer}}",
    "a\u{0}b\u{7}c\u{1b}[31m\u{202e}rtl\u{2028}\u{ffff}",
    "</title></style></textarea></json>",
    "ünïcödé 漢字 🦀",
];

#[test]
fn names_from_a_file_are_text_and_nothing_else() {
    // Short and long: names that have no room are turned or shortened.
    let known = [names_of(&page("plain").html()), names_of(&page(&"plain".repeat(9)).html())].concat();
    for text in HOSTILE {
        let html = page(text).html();
        let new: Vec<String> = names_of(&html).into_iter().filter(|name| !known.contains(name)).collect();
        assert!(new.is_empty(), "{new:?}, which no plain name makes: {text}");
        for part in [script(&html, 0), script(&html, 1)] {
            assert!(!part.contains('<') && !part.contains('&'), "{part}");
            let value: serde_json::Value = serde_json::from_str(part).expect("JSON");
            assert_eq!(value, serde_json::json!({ text: [text, 1] }));
        }
        assert_eq!(html.matches("<script").count(), 3, "{text}");
        assert_eq!(html.matches("<!--").count(), 0, "{text}");
        assert!(!html.chars().any(|c| c.is_control() && c != '\n'), "{text}");
    }
}

#[test]
fn text_ends_no_attribute() {
    assert_eq!(html("a\"b'c<d>&e"), "a&quot;b&#39;c&lt;d&gt;&amp;e");
}

#[test]
fn only_the_pages_own_script_may_run() {
    let html = page("plain").html();
    let digest = Sha256::digest(script(&html, 2).as_bytes());
    assert_eq!(SCRIPT_HASH, format!("sha256-{}", base64(&digest)), "the hash of page.js has changed");
    let policy = html.split_once("Content-Security-Policy\" content=\"").and_then(|(_, rest)| rest.split_once('"'));
    let policy = policy.expect("a policy").0;
    assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"), "{policy}");
    assert!(!policy.contains("http") && !policy.contains('*') && !policy.contains("unsafe-eval"), "{policy}");
    // Nothing is asked for from elsewhere; the names of XML are no addresses.
    let links = html.replace("http://www.w3.org/2000/svg", "");
    assert!(!links.contains("http:") && !links.contains("https:") && !links.contains("@import"));
    assert!(!links.contains("url(") && !links.contains("src=\""));
}

#[test]
fn curves_are_switched_by_the_names_in_the_legend() {
    let html = page("plain").html();
    let xml = elements(&html);
    let document = roxmltree::Document::parse(&xml).expect("a document");
    let figure = document.descendants().find(|node| node.attribute("class") == Some("figure")).expect("a figure");
    let of = |class: &str| {
        let groups = figure.descendants().filter(|node| node.attribute("class") == Some(class));
        groups.filter_map(|node| node.attribute("data-curve")).collect::<Vec<_>>()
    };
    assert_eq!(
        (of("key"), of("curve values"), of("curve band")),
        (vec!["0", "1", "2"], vec!["0", "1", "2"], vec!["0", "2"])
    );
    // Each of the two that are one line has its part of it and, for when the other is off, all.
    let count = |class: &str| figure.descendants().filter(|node| node.attribute("class") == Some(class)).count();
    assert_eq!((count("turns"), count("whole"), count("curve band whole")), (2, 2, 1));
    let titles: Vec<_> =
        figure.descendants().filter(|node| node.has_tag_name("title")).filter_map(|node| node.text()).collect();
    assert_eq!(titles.len(), 27);
    assert_eq!(titles[20], "2\nplain: 0.3 (0.2 to 0.4)");
}

#[test]
fn cells_are_sorted_by_their_values() {
    let mut table = AnswerTable::new(["name", ">number"]);
    table.rows.push(vec![Cell::text("a"), Cell::number("1.5 ms", 1_500_000.0)]);
    table.rows.push(vec![Cell::text("b"), Cell::number("7", 7.0)]);
    table.rows.push(vec![Cell::text("c"), Cell::some(None)]);
    let mut page = String::new();
    write_table(&table, &mut page);
    assert!(page.contains("<td class=\"number\" data-v=\"1500000\">1.5 ms</td>"), "{page}");
    assert!(page.contains("<td class=\"number\">7</td>"), "{page}");
    assert!(page.contains("<td class=\"number\">-</td>"), "{page}");
}

proptest! {
    #[test]
    fn any_text_makes_a_page(text in any::<String>()) {
        let html = page(&text).html();
        names_of(&html);
        let value: serde_json::Value = serde_json::from_str(script(&html, 1)).expect("JSON");
        prop_assert_eq!(value, serde_json::json!({ text.as_str(): [text.as_str(), 1] }));
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for at in 0..4 {
            let digit = char::from(DIGITS[(bits >> (18 - 6 * at)) as usize & 63]);
            text.push(if at <= chunk.len() { digit } else { '=' });
        }
    }
    text
}
