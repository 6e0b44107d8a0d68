//! Pictures of a simulation: a small software renderer, and PNG and GIF files of what it draws.

mod bodies;
mod camera;
mod colour;
mod extent;
mod film;
mod gif_file;
mod ground;
mod light;
mod palette;
mod raster;
mod sheet;
mod stage;

pub use bodies::points;
pub use colour::SCALE as STRAIN_SCALE;
pub use film::Film;
pub use sheet::sheet;
pub use stage::{Image, Stage};

use crate::failure::Failure;
use crate::output::{Pending, extension};
use anyhow::Context;
use glam::Vec3;
use muslin::Model;
use std::path::Path;

/// Width and height of an animation in pixels.
const GIF_SIZE: (usize, usize) = (640, 480);
/// Width and height of a single picture in pixels.
const PNG_SIZE: (usize, usize) = (960, 720);

/// The kinds of previews.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Animation,
    LastFrame,
}

/// A preview that will be drawn when the run is over.
pub struct Preview {
    file: Pending,
    kind: Kind,
}

impl Preview {
    /// Checks the name and that it can be written.
    pub fn create(path: &Path) -> Result<Self, Failure> {
        let kind = match extension(path).as_str() {
            "gif" => Kind::Animation,
            "png" => Kind::LastFrame,
            _ => {
                let path = path.display();
                return Err(Failure::Wrong(format!("--preview {path}: must end in .gif or .png")));
            }
        };
        Ok(Self { file: Pending::create(path, "--preview")?, kind })
    }

    /// Draws and writes the preview.
    pub fn finish(self, model: &Model, film: &Film) -> anyhow::Result<()> {
        let name = self.file.path().display().to_string();
        let bytes = match self.kind {
            Kind::Animation => gif_file::encode(model, film, GIF_SIZE),
            Kind::LastFrame => still(model, film.last(), PNG_SIZE),
        };
        self.file.commit_bytes(&bytes.with_context(|| format!("cannot draw {name}"))?)
    }
}

/// One picture of one state as a PNG file.
fn still(model: &Model, x: &[Vec3], size: (usize, usize)) -> anyhow::Result<Vec<u8>> {
    let stage = Stage::new(model, std::iter::once(x), size);
    png_bytes(&stage.draw(x))
}

/// A picture as a PNG file of at most 255 colours: a third of the size, and hardly to be told apart.
pub fn small_png_bytes(image: &Image) -> anyhow::Result<Vec<u8>> {
    let mut palette = palette::Palette::of(std::slice::from_ref(image));
    let indices: Vec<u8> = image.pixels.iter().map(|colour| palette.index(*colour)).collect();
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, image.width as u32, image.height as u32);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_palette(palette.colours.concat());
    encoder.set_compression(png::Compression::High);
    encoder.write_header()?.write_image_data(&indices)?;
    Ok(bytes)
}

/// A picture as a PNG file.
pub fn png_bytes(image: &Image) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, image.width as u32, image.height as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::High);
    let flat: Vec<u8> = image.pixels.iter().flatten().copied().collect();
    encoder.write_header()?.write_image_data(&flat)?;
    Ok(bytes)
}
