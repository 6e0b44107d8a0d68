//! Filling triangles and capsules, pixel by pixel, with a depth buffer.

use super::camera::Camera;
use glam::{Vec2, Vec3, vec2};

/// Calls `pixel(index, weights of the corners)` for each pixel centre inside a triangle.
pub fn fill(
    corners: [Vec2; 3],
    (width, height): (usize, usize),
    mut pixel: impl FnMut(usize, [f32; 3]),
) {
    let [a, b, c] = corners;
    let area = (b - a).perp_dot(c - a);
    if area == 0.0 || !area.is_finite() {
        return;
    }
    let low = a.min(b).min(c);
    let high = a.max(b).max(c);
    let first = |low: f32| (low - 0.5).ceil().max(0.0) as usize;
    let end =
        |high: f32, size: usize| ((high - 0.5).floor() + 1.0).clamp(0.0, size as f32) as usize;
    for y in first(low.y)..end(high.y, height) {
        for x in first(low.x)..end(high.x, width) {
            let p = vec2(x as f32 + 0.5, y as f32 + 0.5);
            let u = (c - b).perp_dot(p - b) / area;
            let v = (a - c).perp_dot(p - c) / area;
            let w = 1.0 - u - v;
            if u >= 0.0 && v >= 0.0 && w >= 0.0 {
                pixel(y * width + x, [u, v, w]);
            }
        }
    }
}

/// Colours and depths.
pub struct Canvas {
    /// Width and height in pixels.
    pub size: (usize, usize),
    /// Linear light.
    pub colour: Vec<Vec3>,
    /// Distance along the view; infinite where nothing is.
    pub depth: Vec<f32>,
}

impl Canvas {
    /// An empty canvas.
    pub fn new(size: (usize, usize)) -> Self {
        let count = size.0 * size.1;
        Self { size, colour: vec![Vec3::ZERO; count], depth: vec![f32::INFINITY; count] }
    }

    /// Draws a triangle given by pixels and depths; `shade` colours what is seen of it.
    pub fn triangle(&mut self, corners: [Vec3; 3], mut shade: impl FnMut([f32; 3]) -> Vec3) {
        let Self { size, colour, depth } = self;
        let inverse = corners.map(|c| 1.0 / c.z);
        fill(corners.map(Vec3::truncate), *size, |index, weights| {
            // 1/depth is what varies linearly over the picture.
            let z = 1.0 / (0..3).map(|i| weights[i] * inverse[i]).sum::<f32>();
            if z < depth[index] {
                depth[index] = z;
                colour[index] = shade(weights);
            }
        });
    }

    /// Draws a rounded rod of a radius in metres from `a` to `b`; `shade` gets the normal.
    pub fn capsule(
        &mut self,
        camera: &Camera,
        [a, b]: [Vec3; 2],
        radius: f32,
        shade: impl Fn(Vec3) -> Vec3,
    ) {
        let (from, to) = (camera.project(a), camera.project(b));
        let [right, down, toward] = camera.axes();
        let along = (to - from).truncate();
        let length = along.length_squared().max(1e-12);
        let widest = radius * camera.scale_at(from.z.min(to.z));
        let (width, height) = self.size;
        let range = |p: f32, q: f32, size: usize| {
            let low = (p.min(q) - widest).floor().clamp(0.0, size as f32) as usize;
            let high = (p.max(q) + widest).ceil().clamp(0.0, size as f32) as usize;
            low..high
        };
        for y in range(from.y, to.y, height) {
            for x in range(from.x, to.x, width) {
                let p = vec2(x as f32 + 0.5, y as f32 + 0.5) - from.truncate();
                let share = (p.dot(along) / length).clamp(0.0, 1.0);
                let middle = from.z + share * (to.z - from.z);
                // Where on the round surface this pixel is: 0 on its axis, 1 on its edge.
                let off = (p - share * along) / (radius * camera.scale_at(middle));
                let square = off.length_squared();
                if square > 1.0 {
                    continue;
                }
                let height = (1.0 - square).sqrt();
                let z = middle - radius * height;
                let index = y * width + x;
                if z < self.depth[index] {
                    self.depth[index] = z;
                    self.colour[index] = shade(off.x * right + off.y * down + height * toward);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_triangles_leave_no_gap() {
        let mut hits = vec![0; 100];
        let corners = [vec2(0.0, 0.0), vec2(10.0, 0.0), vec2(0.0, 10.0), vec2(10.0, 10.0)];
        for [a, b, c] in [[0, 1, 2], [1, 3, 2]] {
            fill([corners[a], corners[b], corners[c]], (10, 10), |i, _| hits[i] += 1);
        }
        assert!(hits.iter().all(|h| *h >= 1));
    }
}
