//! Plots as pixels, for documents that take no SVG: drawn by `resvg` with a font that the program carries, so that a
//! plot looks the same on every machine and has its text on one without fonts.

use super::standalone_light;
use crate::picture::{Image, small_png_bytes};
use anyhow::{Context, anyhow};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb::Database};
use std::sync::Arc;

const FAMILY: &str = "DejaVu Sans";
/// Behind everything: the pages' paper by day.
const PAPER: [u8; 3] = [0xfb, 0xfa, 0xf8];

/// An SVG element of [`super::plot`] as a PNG file, in the light colours.
pub fn png(svg: &str) -> anyhow::Result<Vec<u8>> {
    small_png_bytes(&image(svg)?)
}

fn image(svg: &str) -> anyhow::Result<Image> {
    let mut fonts = Database::new();
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    fonts.load_font_data(dejavu::sans::bold().to_vec());
    let options =
        Options { font_family: FAMILY.into(), fontdb: Arc::new(fonts), ..Options::default() };
    let tree = Tree::from_str(&standalone_light(svg), &options).context("cannot draw a plot")?;
    let size = tree.size().to_int_size();
    let mut pixels = Pixmap::new(size.width(), size.height())
        .ok_or_else(|| anyhow!("a plot of {} by {} pixels", size.width(), size.height()))?;
    resvg::render(&tree, Transform::identity(), &mut pixels.as_mut());
    // Colours come multiplied by their opacity; the rest of each pixel is paper.
    let over = |pixel: &resvg::tiny_skia::PremultipliedColorU8| {
        let clear = 255 - u16::from(pixel.alpha());
        let behind = PAPER.map(|paper| ((u16::from(paper) * clear + 127) / 255) as u8);
        [pixel.red() + behind[0], pixel.green() + behind[1], pixel.blue() + behind[2]]
    };
    let (width, height) = (size.width() as usize, size.height() as usize);
    Ok(Image { width, height, pixels: pixels.pixels().iter().map(over).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::plot::{Marks, Plot, Series};

    /// Pixels that are not paper, in the upper part where only the title is.
    fn ink(title: &str) -> usize {
        let plot = Plot {
            title: title.into(),
            x: "x".into(),
            y: "y".into(),
            marks: Marks::Curves,
            logarithmic: [false; 2],
            series: vec![Series { name: "s".into(), points: vec![(0.0, 0.0), (1.0, 1.0)] }],
        };
        let image = image(&plot.svg_with_legend()).expect("a picture");
        assert_eq!(image.width, 930);
        let head = &image.pixels[..image.width * 36];
        head.iter().filter(|pixel| **pixel != PAPER).count()
    }

    #[test]
    fn text_is_drawn_and_longer_text_has_more_ink() {
        // Greek and raised digits, as the plots have them.
        let (none, short, long) = (ink(""), ink("κ = k h²/m"), ink("κ = k h²/m κ = k h²/m"));
        assert_eq!(none, 0);
        assert!(short > 100, "{short}");
        assert!((1.8..2.2).contains(&(long as f64 / short as f64)), "{short} {long}");
    }

    #[test]
    fn curves_have_their_colours() {
        let plot = Plot {
            title: String::new(),
            x: String::new(),
            y: String::new(),
            marks: Marks::Curves,
            logarithmic: [false; 2],
            series: vec![Series { name: "s".into(), points: vec![(0.0, 1.0), (1.0, 2.0)] }],
        };
        let image = image(&plot.svg()).expect("a picture");
        let red = |[r, g, b]: &[u8; 3]| (*r, *g, *b) == (0xc4, 0x47, 0x3c);
        assert!(image.pixels.iter().filter(|pixel| red(pixel)).count() > 500);
    }
}
