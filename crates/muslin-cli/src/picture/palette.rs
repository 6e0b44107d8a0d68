//! 255 colours that serve all pictures of an animation, by median cut.

use super::stage::Image;
use std::collections::HashMap;

/// Colours of the palette; one more entry of the GIF is kept for "as before".
pub const COLOURS: usize = 255;

/// Colours from here on are background, a smooth gradient on which steps are easily seen,
const LIGHT: u8 = 215;
/// and get more entries for their spread.
const LIGHT_GAIN: f32 = 4.0;

/// The colours and what was looked up in them.
#[derive(Clone)]
pub struct Palette {
    /// sRGB.
    pub colours: Vec<[u8; 3]>,
    nearest: HashMap<[u8; 3], u8>,
}

impl Palette {
    /// The palette of some sample pictures.
    pub fn of(samples: &[Image]) -> Self {
        let mut counts: HashMap<[u8; 3], u32> = HashMap::new();
        for pixel in samples.iter().flat_map(|image| &image.pixels) {
            *counts.entry(*pixel).or_default() += 1;
        }
        // The square root keeps the large background from taking all entries. Sorted, because
        // the order of a hash map differs from run to run.
        let mut all: Vec<([u8; 3], f32)> =
            counts.into_iter().map(|(colour, count)| (colour, (count as f32).sqrt())).collect();
        all.sort_by_key(|(colour, _)| *colour);
        let mut boxes = vec![all];
        while boxes.len() < COLOURS {
            // Split the box where that gains most.
            let gain = |b: &Vec<([u8; 3], f32)>| {
                let is_light = mean(b).iter().all(|c| *c >= LIGHT);
                spread(b).1 * if is_light { LIGHT_GAIN } else { 1.0 }
            };
            let Some(widest) =
                (0..boxes.len()).max_by(|a, b| gain(&boxes[*a]).total_cmp(&gain(&boxes[*b])))
            else {
                break;
            };
            if boxes[widest].len() < 2 {
                break;
            }
            let mut low = boxes.swap_remove(widest);
            let (channel, _) = spread(&low);
            low.sort_by_key(|(colour, _)| (colour[channel], *colour));
            let total: f32 = low.iter().map(|(_, weight)| weight).sum();
            let mut sum = 0.0;
            let half = low.iter().position(|(_, weight)| {
                sum += weight;
                sum >= total / 2.0
            });
            let cut = half.unwrap_or(0).clamp(1, low.len() - 1);
            let high = low.split_off(cut);
            boxes.extend([low, high]);
        }
        let colours = boxes.iter().filter(|b| !b.is_empty()).map(|b| mean(b)).collect();
        Self { colours, nearest: HashMap::new() }
    }

    /// Index of the nearest colour.
    pub fn index(&mut self, colour: [u8; 3]) -> u8 {
        let colours = &self.colours;
        *self.nearest.entry(colour).or_insert_with(|| {
            let distance = |other: &[u8; 3]| -> i32 {
                // Weights of the eye's sensitivity.
                let d = |c: usize| i32::from(colour[c]) - i32::from(other[c]);
                3 * d(0) * d(0) + 6 * d(1) * d(1) + d(2) * d(2)
            };
            let nearest = (0..colours.len()).min_by_key(|i| distance(&colours[*i]));
            nearest.unwrap_or(0) as u8
        })
    }
}

/// The channel along which a box is widest, and its weighted variance there.
fn spread(colours: &[([u8; 3], f32)]) -> (usize, f32) {
    let total: f32 = colours.iter().map(|(_, weight)| weight).sum();
    let variance = |channel: usize| {
        let value = |c: &[u8; 3]| f32::from(c[channel]);
        let mean = colours.iter().map(|(c, w)| w * value(c)).sum::<f32>() / total;
        colours.iter().map(|(c, w)| w * (value(c) - mean).powi(2)).sum::<f32>()
    };
    (0..3)
        .map(|channel| (channel, variance(channel)))
        .fold((0, -1.0), |best, next| if next.1 > best.1 { next } else { best })
}

fn mean(colours: &[([u8; 3], f32)]) -> [u8; 3] {
    let total: f32 = colours.iter().map(|(_, weight)| weight).sum();
    [0, 1, 2].map(|channel| {
        let sum: f32 = colours.iter().map(|(c, w)| w * f32::from(c[channel])).sum();
        (sum / total).round() as u8
    })
}
