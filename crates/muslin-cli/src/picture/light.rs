//! Light: a key light with the shadows cloth throws on itself, a sky, and a little shine.

use super::raster::fill;
use glam::{Vec3, vec3};

/// Direction to the key light, not normalised.
const KEY: Vec3 = Vec3::new(-0.72, 0.84, 0.50);
/// Pixels of the shadow map.
const MAP: usize = 640;

/// The direction to the key light.
pub fn key() -> Vec3 {
    KEY.normalize()
}

/// How high above each spot, seen from the light, the cloth begins.
pub struct Shadows {
    axes: [Vec3; 3],
    low: Vec3,
    /// Map pixels per metre.
    scale: f32,
    height: Vec<f32>,
}

impl Shadows {
    /// The shadows of these triangles.
    pub fn new(x: &[Vec3], triangles: &[[u32; 3]]) -> Self {
        let toward = key();
        let across = toward.cross(Vec3::Y).normalize();
        let axes = [across, across.cross(toward), toward];
        let seen = |p: Vec3| Vec3::from_array(axes.map(|axis| axis.dot(p)));
        let low = x.iter().map(|p| seen(*p)).fold(Vec3::INFINITY, Vec3::min);
        let high = x.iter().map(|p| seen(*p)).fold(Vec3::NEG_INFINITY, Vec3::max);
        let extent = (high - low).truncate().max_element().max(1e-6);
        let scale = (MAP - 8) as f32 / extent;
        let mut height = vec![f32::NEG_INFINITY; MAP * MAP];
        let place = |p: Vec3| {
            let q = seen(p);
            vec3((q.x - low.x) * scale + 4.0, (q.y - low.y) * scale + 4.0, q.z)
        };
        for triangle in triangles {
            let corners = triangle.map(|i| place(x[i as usize]));
            fill(corners.map(Vec3::truncate), (MAP, MAP), |index, [u, v, w]| {
                let z = u * corners[0].z + v * corners[1].z + w * corners[2].z;
                height[index] = height[index].max(z);
            });
        }
        Self { axes, low, scale, height }
    }

    /// Share of the key light that reaches a point of a surface with this normal.
    pub fn lit(&self, p: Vec3, normal: Vec3) -> f32 {
        // Start off the surface, or it would shade itself.
        let p = p + (4.0 / self.scale) * normal;
        let x = (self.axes[0].dot(p) - self.low.x) * self.scale + 4.0;
        let y = (self.axes[1].dot(p) - self.low.y) * self.scale + 4.0;
        let z = self.axes[2].dot(p) + 3.0 / self.scale;
        let mut open = 0.0;
        let mut total = 0.0;
        for dy in -2..=2_i32 {
            for dx in -2..=2_i32 {
                let column = (x + 1.4 * dx as f32) as i32;
                let row = (y + 1.4 * dy as f32) as i32;
                let weight = 1.0 / (1.0 + (dx * dx + dy * dy) as f32);
                let inside = (0..MAP as i32).contains(&column) && (0..MAP as i32).contains(&row);
                let blocked = inside && self.height[row as usize * MAP + column as usize] > z;
                open += if blocked { 0.0 } else { weight };
                total += weight;
            }
        }
        open / total
    }
}

/// Colour of a surface: `normal` on the viewer's side, `lit` the share of key light.
pub fn shade(albedo: Vec3, normal: Vec3, to_viewer: Vec3, lit: f32, thin: bool) -> Vec3 {
    let toward = key();
    let facing = normal.dot(toward);
    let sky = 0.5 + 0.5 * normal.y;
    let ambient = vec3(0.20, 0.21, 0.25).lerp(vec3(0.36, 0.38, 0.43), sky);
    // Soft light from the viewer's side keeps shaded folds readable.
    let fill = 0.14 * normal.dot(to_viewer).max(0.0);
    let direct = 0.92 * facing.max(0.0) * lit;
    // Cloth lets some light through.
    let through = if thin { 0.22 * (-facing).max(0.0) } else { 0.0 };
    let warm = vec3(1.0, 0.97, 0.92);
    let halfway = (toward + to_viewer).normalize_or_zero();
    let shine = 0.07 * normal.dot(halfway).max(0.0).powi(22) * lit;
    let edge = (1.0 - normal.dot(to_viewer).clamp(0.0, 1.0)).powi(4);
    albedo * (ambient + fill + (direct + through) * warm) + Vec3::splat(shine + 0.05 * edge)
}
