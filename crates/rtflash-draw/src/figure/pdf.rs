//! The figure as PDF: the paths and the text of its SVG, drawn once more.

use std::collections::HashMap;

use krilla::Document;
use krilla::color::{luma, rgb};
use krilla::geom::{Path, PathBuilder, Point, Rect, Size, Transform};
use krilla::num::NormalizedF32;
use krilla::page::PageSettings;
use krilla::paint::{Fill, FillRule, LineCap, LineJoin, Paint, Stroke, StrokeDash};
use krilla::surface::Surface;
use krilla::text::{Font, GlyphId, KrillaGlyph};
use resvg::tiny_skia::PathSegment;
use resvg::usvg::{self, Group, Node, Text, Tree, fontdb};

use super::FigureError;
use crate::png::svg_tree;

/// Points in a unit of SVG.
const POINTS: f32 = 0.75;

/// A document of one page with the SVG figure. It has no date, and its identity is that of its
/// content.
pub(super) fn document(svg: &str) -> Result<Vec<u8>, FigureError> {
    let tree = svg_tree(svg).map_err(FigureError::Picture)?;
    let (width, height) = (tree.size().width(), tree.size().height());
    let extent = || FigureError::Pdf("it has no extent".into());
    let size = Size::from_wh(width * POINTS, height * POINTS).ok_or_else(extent)?;
    let mut document = Document::new();
    let mut page = document.start_page_with(PageSettings::new(size));
    let mut surface = page.surface();
    surface.push_transform(&Transform::from_scale(size.width() / width, size.height() / height));
    surface.push_clip_path(&rectangle(width, height).ok_or_else(extent)?, &FillRule::NonZero);
    Drawing { surface: &mut surface, tree: &tree, fonts: HashMap::new() }.group(tree.root());
    surface.pop();
    surface.pop();
    surface.finish();
    page.finish();
    document.finish().map_err(|error| FigureError::Pdf(format!("{error:?}")))
}

fn rectangle(width: f32, height: f32) -> Option<Path> {
    let mut path = PathBuilder::new();
    path.push_rect(Rect::from_xywh(0.0, 0.0, width, height)?);
    path.finish()
}

struct Drawing<'a, 'b> {
    surface: &'a mut Surface<'b>,
    tree: &'a Tree,
    fonts: HashMap<fontdb::ID, Option<Font>>,
}

impl Drawing<'_, '_> {
    /// Draws a group. Figures have no images, and groups that are neither clipped, masked, blended
    /// nor filtered.
    fn group(&mut self, group: &Group) {
        self.surface.push_transform(&transform(group.transform()));
        for child in group.children() {
            match child {
                Node::Group(group) => self.group(group),
                Node::Path(path) => self.path(path),
                Node::Text(text) => self.text(text),
                Node::Image(_) => {}
            }
        }
        self.surface.pop();
    }

    fn path(&mut self, path: &usvg::Path) {
        let (fill, stroke) = (path.fill().map(fill), path.stroke().map(stroke));
        // Without either, the surface would fill it with black.
        if (fill.is_some() || stroke.is_some())
            && let Some(outline) = outline(path)
        {
            self.surface.set_fill(fill);
            self.surface.set_stroke(stroke);
            self.surface.draw_path(&outline);
        }
    }

    /// Draws a text glyph by glyph: it can be selected and searched.
    fn text(&mut self, text: &Text) {
        for span in text.layouted() {
            let size = span.font_size.get();
            for glyph in &span.positioned_glyphs {
                let Some(font) = self.font(glyph.font) else { continue };
                let scale = font.units_per_em() / size;
                let place = glyph.transform().pre_scale(scale, scale);
                self.surface.push_transform(&transform(place));
                self.surface.set_fill(span.fill.as_ref().map(fill));
                self.surface.set_stroke(span.stroke.as_ref().map(stroke));
                let id = GlyphId::new(u32::from(glyph.id.0));
                let glyphs = [KrillaGlyph::new(id, 0.0, 0.0, 0.0, 0.0, 0..glyph.text.len(), None)];
                self.surface.draw_glyphs(Point::from_xy(0.0, 0.0), &glyphs, font, &glyph.text, size, false);
                self.surface.pop();
            }
        }
    }

    fn font(&mut self, id: fontdb::ID) -> Option<Font> {
        let load = || self.tree.fontdb().with_face_data(id, |data, index| Font::new(data.to_vec().into(), index));
        self.fonts.entry(id).or_insert_with(|| load().flatten()).clone()
    }
}

fn transform(of: usvg::Transform) -> Transform {
    Transform::from_row(of.sx, of.ky, of.kx, of.sy, of.tx, of.ty)
}

fn outline(path: &usvg::Path) -> Option<Path> {
    let mut outline = PathBuilder::new();
    for segment in path.data().segments() {
        match segment {
            PathSegment::MoveTo(p) => outline.move_to(p.x, p.y),
            PathSegment::LineTo(p) => outline.line_to(p.x, p.y),
            PathSegment::QuadTo(p, q) => outline.quad_to(p.x, p.y, q.x, q.y),
            PathSegment::CubicTo(p, q, r) => outline.cubic_to(p.x, p.y, q.x, q.y, r.x, r.y),
            PathSegment::Close => outline.close(),
        }
    }
    outline.finish()
}

fn fill(of: &usvg::Fill) -> Fill {
    let rule = match of.rule() {
        usvg::FillRule::NonZero => FillRule::NonZero,
        usvg::FillRule::EvenOdd => FillRule::EvenOdd,
    };
    Fill { paint: paint(of.paint()), opacity: opacity(of.opacity()), rule }
}

fn stroke(of: &usvg::Stroke) -> Stroke {
    Stroke {
        paint: paint(of.paint()),
        width: of.width().get(),
        miter_limit: of.miterlimit().get(),
        line_cap: match of.linecap() {
            usvg::LineCap::Butt => LineCap::Butt,
            usvg::LineCap::Round => LineCap::Round,
            usvg::LineCap::Square => LineCap::Square,
        },
        line_join: match of.linejoin() {
            usvg::LineJoin::Miter | usvg::LineJoin::MiterClip => LineJoin::Miter,
            usvg::LineJoin::Round => LineJoin::Round,
            usvg::LineJoin::Bevel => LineJoin::Bevel,
        },
        opacity: opacity(of.opacity()),
        dash: of.dasharray().map(|lengths| StrokeDash { array: lengths.to_vec(), offset: of.dashoffset() }),
    }
}

/// A colour; figures have no gradients and no patterns.
fn paint(of: &usvg::Paint) -> Paint {
    match of {
        usvg::Paint::Color(usvg::Color { red, green, blue }) if red == green && green == blue => {
            luma::Color::new(*red).into()
        }
        usvg::Paint::Color(usvg::Color { red, green, blue }) => rgb::Color::new(*red, *green, *blue).into(),
        _ => luma::Color::black().into(),
    }
}

fn opacity(of: usvg::Opacity) -> NormalizedF32 {
    NormalizedF32::new(of.get()).unwrap_or(NormalizedF32::ONE)
}
