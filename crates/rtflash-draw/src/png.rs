//! Figures as PNG, without a graphics library or a font of the machine.

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};

/// Pixels that a picture has at most, four bytes each while it is drawn.
const MAX_PIXELS: f32 = 64e6;

/// Text is drawn in DejaVu Sans, which is part of the program: the same picture on every machine.
static FONTS: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut fonts = Database::new();
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    fonts.load_font_data(dejavu::sans::bold().to_vec());
    fonts.set_sans_serif_family("DejaVu Sans");
    Arc::new(fonts)
});

/// Why there is no picture.
#[allow(missing_docs)] // The messages say it.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    #[error("not an SVG figure: {0}")]
    Svg(String),
    #[error("a figure too large (or too small) for a picture")]
    Size,
    #[error("the picture cannot be encoded: {0}")]
    Encoding(String),
}

/// Reads an SVG figure, all of whose text is in the embedded font. Fails if the figure is none.
pub fn svg_tree(svg: &str) -> Result<Tree, PngError> {
    let options = Options { fontdb: FONTS.clone(), font_family: "DejaVu Sans".into(), ..Options::default() };
    Tree::from_str(svg, &options).map_err(|error| PngError::Svg(error.to_string()))
}

/// Draws an SVG figure with two pixels for each of its units, fewer where the picture would become
/// too large. Fails if the figure is none, or cannot be drawn.
pub fn png(svg: &str) -> Result<Vec<u8>, PngError> {
    png_scaled(svg, 2.0)
}

/// Draws an SVG figure with `scale` pixels for each of its units (96 in an inch), fewer where the
/// picture would become too large. Fails if the figure is none, or cannot be drawn.
pub fn png_scaled(svg: &str, scale: f32) -> Result<Vec<u8>, PngError> {
    let tree = svg_tree(svg)?;
    let size = tree.size();
    let scale = (MAX_PIXELS / (size.width() * size.height())).sqrt().min(scale);
    let pixels = size.to_int_size().scale_by(scale).ok_or(PngError::Size)?;
    let mut picture = Pixmap::new(pixels.width(), pixels.height()).ok_or(PngError::Size)?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut picture.as_mut());
    picture.encode_png().map_err(|error| PngError::Encoding(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_become_pictures_with_text() {
        let svg = |text: &str| {
            format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100\" height=\"40\"><text x=\"5\" \
                 y=\"20\">{text}</text></svg>"
            )
        };
        let (empty, text) = (png(&svg("")).expect("a picture"), png(&svg("chip 0")).expect("a picture"));
        assert!(text.starts_with(b"\x89PNG\r\n"));
        // The size is in the header: width and height, four bytes each from byte 16.
        assert_eq!(text[16..24], [0, 0, 0, 200, 0, 0, 0, 80]);
        assert!(text.len() > empty.len() + 200, "the text is drawn");
        assert_eq!(text, png(&svg("chip 0")).expect("a picture"));
    }

    #[test]
    fn what_is_no_figure_is_refused() {
        for svg in ["", "chip 0", "<svg", "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"0\" height=\"0\"/>"] {
            assert!(png(svg).is_err(), "{svg}");
        }
        let large = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"9e9\" height=\"9e-3\"/>";
        let _ = png(large);
    }
}
