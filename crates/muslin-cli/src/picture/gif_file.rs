//! An animation as a GIF: one palette for all frames, and each frame only where it differs from
//! the one before.

use super::film::Film;
use super::palette::{COLOURS, Palette};
use super::stage::{Image, Stage};
use glam::Vec3;
use muslin::Model;
use rayon::prelude::*;

/// Pictures that the palette is made from.
const SAMPLES: usize = 6;
/// A pixel that changes by less (of 255) is left as it was: invisible, and much smaller files.
const TOLERANCE: i32 = 2;
/// The palette entry that means "as before".
const AS_BEFORE: u8 = COLOURS as u8;

/// Draws and encodes a film.
pub fn encode(model: &Model, film: &Film, size: (usize, usize)) -> anyhow::Result<Vec<u8>> {
    let frames = film.frames();
    let stage = Stage::new(model, frames.iter().map(Vec::as_slice), size);
    let size = stage.size();
    let samples: Vec<&Vec<Vec3>> = frames.iter().step_by(frames.len().div_ceil(SAMPLES)).collect();
    let samples: Vec<Image> = samples.into_par_iter().map(|x| stage.draw(x)).collect();
    let palette = Palette::of(&samples);
    let pictures: Vec<Vec<u8>> = frames
        .par_iter()
        .map_init(
            || palette.clone(),
            |palette, x| stage.draw(x).pixels.iter().map(|p| palette.index(*p)).collect(),
        )
        .collect();

    let mut bytes = Vec::new();
    let mut table: Vec<u8> = palette.colours.iter().flatten().copied().collect();
    table.resize(3 * (COLOURS + 1), 0);
    let (width, height) = (size.0 as u16, size.1 as u16);
    let mut encoder = gif::Encoder::new(&mut bytes, width, height, &table)?;
    encoder.set_repeat(gif::Repeat::Infinite)?;
    let mut shown = vec![AS_BEFORE; size.0 * size.1];
    for (number, picture) in pictures.iter().enumerate() {
        let mut frame = difference(&palette, &mut shown, picture, size);
        // Delays are whole hundredths: let the rounding even out over the frames.
        let at = |number: usize| (100.0 * film.delay() * number as f64).round() as u16;
        frame.delay = at(number + 1).wrapping_sub(at(number)).max(2);
        encoder.write_frame(&frame)?;
    }
    drop(encoder);
    Ok(bytes)
}

/// The part of a picture that differs from what is shown, which is then updated.
fn difference(
    palette: &Palette,
    shown: &mut [u8],
    picture: &[u8],
    (width, height): (usize, usize),
) -> gif::Frame<'static> {
    let differs = |old: u8, new: u8| {
        let Some(old) = palette.colours.get(usize::from(old)) else { return true };
        let new = palette.colours[usize::from(new)];
        (0..3).any(|c| (i32::from(old[c]) - i32::from(new[c])).abs() > TOLERANCE)
    };
    let mut changed = vec![AS_BEFORE; picture.len()];
    let (mut left, mut right, mut top, mut bottom) = (width, 0, height, 0);
    for (index, (old, new)) in shown.iter_mut().zip(picture).enumerate() {
        if differs(*old, *new) {
            *old = *new;
            changed[index] = *new;
            let (x, y) = (index % width, index / width);
            (left, right) = (left.min(x), right.max(x + 1));
            (top, bottom) = (top.min(y), bottom.max(y + 1));
        }
    }
    if left >= right {
        // Nothing moved; a frame still needs a pixel.
        (left, right, top, bottom) = (0, 1, 0, 1);
    }
    let rows = (top..bottom).flat_map(|y| changed[y * width + left..y * width + right].iter());
    gif::Frame {
        left: left as u16,
        top: top as u16,
        width: (right - left) as u16,
        height: (bottom - top) as u16,
        transparent: Some(AS_BEFORE),
        dispose: gif::DisposalMethod::Keep,
        buffer: rows.copied().collect::<Vec<u8>>().into(),
        ..gif::Frame::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn played_back_it_looks_as_drawn() {
        let model = muslin::scenes::named("golden-5x5").unwrap().compile().unwrap();
        let mut film = Film::every_frame(1.0 / 30.0);
        let sunk = |y: f32| model.start_x.iter().map(|p| *p - y * Vec3::Y).collect::<Vec<_>>();
        let states = [sunk(0.0), sunk(0.1), sunk(0.2)];
        states.iter().for_each(|x| film.push(x));
        let bytes = encode(&model, &film, (160, 120)).unwrap();

        let mut options = gif::DecodeOptions::new();
        options.set_color_output(gif::ColorOutput::RGBA);
        let mut decoder = options.read_info(bytes.as_slice()).unwrap();
        let (width, height) = (usize::from(decoder.width()), usize::from(decoder.height()));
        let mut shown = vec![[0; 3]; width * height];
        while let Some(frame) = decoder.read_next_frame().unwrap() {
            let left = usize::from(frame.left) + width * usize::from(frame.top);
            for (index, pixel) in frame.buffer.chunks(4).enumerate() {
                let across = usize::from(frame.width);
                if pixel[3] > 0 {
                    let at = left + index % across + width * (index / across);
                    shown[at] = [pixel[0], pixel[1], pixel[2]];
                }
            }
        }
        let stage = Stage::new(&model, states.iter().map(Vec::as_slice), (160, 120));
        let drawn = stage.draw(&states[2]).pixels;
        let off = |a: u8, b: u8| u64::from(a.abs_diff(b));
        let sum: u64 =
            (shown.iter().flatten().zip(drawn.iter().flatten())).map(|(a, b)| off(*a, *b)).sum();
        assert!(sum < 2 * 3 * shown.len() as u64, "{sum} over {} pixels", shown.len());
    }
}
