//! The additions to a figure on a page: groups that are switched by the legend, and values that are
//! shown. Nothing of it is seen where no page makes use of it.

use std::fmt::Write;

use crate::escape::escaped;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FigureUse {
    Alone,
    /// On a page, whose script knows the classes: `curve` and `key` with `data-curve`, `band`,
    /// `turns` and `whole`, `values` with `data-at`.
    OnPage,
}

impl FigureUse {
    /// Attributes of the document: on a page it says what the x axis is.
    pub fn attributes(self, x_label: &str) -> String {
        match self {
            FigureUse::Alone => String::new(),
            FigureUse::OnPage => format!(" class=\"figure\" data-x=\"{}\"", escaped(x_label)),
        }
    }

    /// Draws the content, on a page as a group of this class, and of the curve at this position.
    pub fn group(self, svg: &mut String, class: &str, curve: Option<usize>, draw: impl FnOnce(&mut String)) {
        if self == FigureUse::Alone {
            draw(svg);
            return;
        }
        let from = svg.len();
        let _ = write!(svg, "<g class=\"{class}\"");
        if let Some(curve) = curve {
            let _ = write!(svg, " data-curve=\"{curve}\"");
        }
        svg.push_str(">\n");
        let begun = svg.len();
        draw(svg);
        if svg.len() == begun {
            svg.truncate(from);
        } else {
            svg.push_str("</g>\n");
        }
    }
}

pub(super) fn named(label: &str, value: &str) -> String {
    if label.is_empty() { value.to_owned() } else { format!("{label}: {value}") }
}

/// A place that can be pointed at, and is not seen.
pub(super) fn target(svg: &mut String, x: f64, y: f64, width: f64, height: f64) {
    let _ = write!(svg, r#"<rect x="{x:.2}" y="{y:.2}" width="{width:.2}" height="{height:.2}""#);
    let _ = writeln!(svg, r#" fill="none" pointer-events="all"/>"#);
}
