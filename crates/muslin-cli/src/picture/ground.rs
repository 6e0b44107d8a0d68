//! The background: a light gradient, a faint grid on the ground, and a soft shadow on it.

use super::camera::Camera;
use super::colour::linear;
use super::light::key;
use super::raster::fill;
use glam::{Vec2, Vec3, vec2};

/// sRGB of the background, from top to bottom.
const TOP: [u8; 3] = [226, 233, 240];
const BOTTOM: [u8; 3] = [249, 247, 243];
const LINE: [u8; 3] = [150, 164, 180];
const SHADOW: [u8; 3] = [150, 158, 176];
/// Cells of the shadow picture on the ground.
const CELLS: usize = 320;

/// What lies behind and below the cloth.
pub struct Ground {
    size: (usize, usize),
    /// Gradient and grid, the same for all frames.
    still: Vec<Vec3>,
    /// Where each pixel meets the ground, in cells, and how clearly it is seen there.
    meets: Vec<(Vec2, f32)>,
    height: f32,
    corner: Vec2,
    cell: f32,
}

impl Ground {
    /// The ground below points within `low` and `high`.
    pub fn new(camera: &Camera, (low, high): (Vec3, Vec3), size: (usize, usize)) -> Self {
        let extent = (high - low).max_element().max(1e-6);
        let height = low.y - 0.05 * extent;
        let middle = (low + high) / 2.0;
        let middle = vec2(middle.x, middle.z);
        let reach = 1.5 * extent;
        let cell = 2.0 * reach / CELLS as f32;
        let spacing = nice(extent / 5.0);
        let (top, bottom) = (linear(TOP), linear(BOTTOM));
        let mut still = Vec::with_capacity(size.0 * size.1);
        let mut meets = Vec::with_capacity(size.0 * size.1);
        for y in 0..size.1 {
            let background = top.lerp(bottom, (y as f32 / size.1 as f32).powf(0.8));
            for x in 0..size.0 {
                let ray = camera.ray(x as f32 + 0.5, y as f32 + 0.5);
                let distance = (height - camera.eye.y) / ray.y;
                if ray.y >= -1e-6 || distance <= 0.0 {
                    still.push(background);
                    meets.push((Vec2::ZERO, 0.0));
                    continue;
                }
                let p = camera.eye + distance * ray;
                let p = vec2(p.x, p.z);
                let seen = (1.0 - (p - middle).length() / reach).clamp(0.0, 1.0);
                let seen = seen * seen * (3.0 - 2.0 * seen);
                // Width of a pixel on the ground, larger the flatter the view.
                let across = distance / camera.scale_at(1.0);
                let along = across * ray.length() / -ray.y;
                let lines =
                    line(p.x, spacing, across.max(0.4 * along)).max(line(p.y, spacing, along));
                still.push(background.lerp(linear(LINE), 0.34 * seen * lines));
                meets.push(((p - middle + reach) / cell, seen.sqrt()));
            }
        }
        Self { size, still, meets, height, corner: middle - reach, cell }
    }

    /// The background with the shadow of this frame.
    pub fn draw(&self, x: &[Vec3], triangles: &[[u32; 3]], rods: &[[u32; 2]]) -> Vec<Vec3> {
        let shadow = self.shadow(x, triangles, rods);
        let tint = linear(SHADOW) / linear(BOTTOM);
        let paint = |(colour, (at, seen)): (&Vec3, &(Vec2, f32))| {
            if *seen == 0.0 {
                return *colour;
            }
            *colour * Vec3::ONE.lerp(tint, seen * sample(&shadow, *at))
        };
        debug_assert_eq!(self.still.len(), self.size.0 * self.size.1);
        self.still.iter().zip(&self.meets).map(paint).collect()
    }

    /// Darkness of each cell of the ground, blurred.
    fn shadow(&self, x: &[Vec3], triangles: &[[u32; 3]], rods: &[[u32; 2]]) -> Vec<f32> {
        let toward = key();
        let place = |i: &u32| {
            let p = x[*i as usize];
            let p = p - toward * ((p.y - self.height) / toward.y);
            (vec2(p.x, p.z) - self.corner) / self.cell
        };
        let mut dark = vec![0.0; CELLS * CELLS];
        for triangle in triangles {
            let corners = [place(&triangle[0]), place(&triangle[1]), place(&triangle[2])];
            fill(corners, (CELLS, CELLS), |index, _| dark[index] = 1.0);
        }
        for rod in rods {
            let (a, b) = (place(&rod[0]), place(&rod[1]));
            let steps = (b - a).length().ceil().clamp(1.0, 4.0 * CELLS as f32) as usize;
            for step in 0..=steps {
                let p = a.lerp(b, step as f32 / steps as f32);
                for (dx, dy) in [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)] {
                    let (column, row) = (p.x + dx - 0.5, p.y + dy - 0.5);
                    if column >= 0.0 && row >= 0.0 && column < CELLS as f32 && row < CELLS as f32 {
                        dark[row as usize * CELLS + column as usize] = 1.0;
                    }
                }
            }
        }
        for _ in 0..3 {
            blur(&mut dark, 1, CELLS);
            blur(&mut dark, CELLS, 1);
        }
        dark
    }
}

/// How much of a pixel of this width a grid line covers.
fn line(coordinate: f32, spacing: f32, pixel: f32) -> f32 {
    let off = (coordinate / spacing - (coordinate / spacing).round()).abs() * spacing;
    // Lines closer than a few pixels melt together; fade them out instead.
    let fade = (spacing / (6.0 * pixel) - 0.5).clamp(0.0, 1.0);
    (1.5 - off / pixel).clamp(0.0, 1.0) * fade
}

/// 1, 2 or 5 times a power of ten, near `value`.
fn nice(value: f32) -> f32 {
    let power = 10f32.powf(value.log10().floor());
    let digit = value / power;
    power
        * if digit < 1.5 {
            1.0
        } else if digit < 3.5 {
            2.0
        } else if digit < 7.5 {
            5.0
        } else {
            10.0
        }
}

/// Box blur along one direction.
fn blur(values: &mut [f32], step: usize, stride: usize) {
    const RADIUS: usize = 4;
    let mut line = vec![0.0; CELLS];
    for start in (0..CELLS).map(|i| i * stride) {
        for (i, out) in line.iter_mut().enumerate() {
            let range = i.saturating_sub(RADIUS)..(i + RADIUS + 1).min(CELLS);
            let sum: f32 = range.map(|j| values[start + j * step]).sum();
            *out = sum / (2 * RADIUS + 1) as f32;
        }
        for (i, value) in line.iter().enumerate() {
            values[start + i * step] = *value;
        }
    }
}

/// Bilinear interpolation, 0 outside.
fn sample(values: &[f32], at: Vec2) -> f32 {
    let p = at - 0.5;
    let (x, y) = (p.x.floor(), p.y.floor());
    if x < 0.0 || y < 0.0 || x >= (CELLS - 1) as f32 || y >= (CELLS - 1) as f32 {
        return 0.0;
    }
    let (u, v) = (p.x - x, p.y - y);
    let index = y as usize * CELLS + x as usize;
    let top = values[index] * (1.0 - u) + values[index + 1] * u;
    let bottom = values[index + CELLS] * (1.0 - u) + values[index + CELLS + 1] * u;
    top * (1.0 - v) + bottom * v
}
