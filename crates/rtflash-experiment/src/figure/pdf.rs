//! The figure as PDF.

use krilla::Document;
use krilla::geom::Size;
use krilla::page::PageSettings;
use krilla_svg::{SurfaceExt, SvgSettings};

use rtflash_exec::trace::svg_tree;

use super::FigureError;

/// Points in a unit of SVG.
const POINTS: f32 = 0.75;

/// A document of one page with the SVG figure. It has no date, and its identity is that of its content.
pub(super) fn document(svg: &str) -> Result<Vec<u8>, FigureError> {
    let tree = svg_tree(svg).map_err(FigureError::Picture)?;
    let (width, height) = (tree.size().width() * POINTS, tree.size().height() * POINTS);
    let size = Size::from_wh(width, height).ok_or_else(|| FigureError::Pdf("it has no extent".into()))?;
    let mut document = Document::new();
    let mut page = document.start_page_with(PageSettings::new(size));
    let mut surface = page.surface();
    surface.draw_svg(&tree, size, SvgSettings::default());
    surface.finish();
    page.finish();
    document.finish().map_err(|error| FigureError::Pdf(format!("{error:?}")))
}
