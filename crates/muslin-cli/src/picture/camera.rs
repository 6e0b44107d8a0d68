//! A perspective camera that frames what it is shown.

use glam::{Vec3, vec3};

/// Degrees to the side and above, for a three-quarter view.
const AZIMUTH: f32 = 24.0;
const ELEVATION: f32 = 13.0;
/// Tangent of half the vertical field of view.
const HALF_VIEW: f32 = 0.23;
/// Share of the picture that the cloth may fill.
const FILL: f32 = 0.84;

/// Where the picture is taken from.
#[derive(Clone, Debug)]
pub struct Camera {
    /// Position. [m]
    pub eye: Vec3,
    right: Vec3,
    up: Vec3,
    forward: Vec3,
    /// Pixels per unit of the tangent.
    focal: f32,
    centre: (f32, f32),
}

impl Camera {
    /// The camera closest to the points that still shows them all.
    pub fn framing(points: &[Vec3], (width, height): (usize, usize)) -> Self {
        let (azimuth, elevation) = (AZIMUTH.to_radians(), ELEVATION.to_radians());
        let back =
            vec3(azimuth.sin() * elevation.cos(), elevation.sin(), azimuth.cos() * elevation.cos());
        let forward = -back;
        let right = forward.cross(Vec3::Y).normalize();
        let up = right.cross(forward);

        // A point at (r, f) is seen if |r − c| ≤ k (f + D): the extremes of r − k f and −r − k f
        // give the centre c and the distance D, for each direction of the picture.
        let fit = |axis: Vec3, k: f32| {
            let extreme = |sign: f32| {
                let reach = |p: &Vec3| sign * p.dot(axis) - k * p.dot(forward);
                points.iter().map(reach).fold(f32::NEG_INFINITY, f32::max)
            };
            let (high, low) = (extreme(1.0), extreme(-1.0));
            ((high - low) / 2.0, (high + low) / (2.0 * k))
        };
        let k = HALF_VIEW * FILL;
        let aspect = width as f32 / height as f32;
        let (mut across, distance_across) = fit(right, k * aspect);
        let (mut along, distance_along) = fit(up, k);
        let distance = distance_across.max(distance_along);
        // One direction has room to spare: put what is seen in the middle of it.
        let depth = |p: &Vec3| (p.dot(forward) + distance).max(1e-6);
        let middle = points.iter().map(depth).sum::<f32>() / points.len().max(1) as f32;
        for _ in 0..4 {
            let off = |axis: Vec3, centre: f32| {
                let seen = points.iter().map(|p| (p.dot(axis) - centre) / depth(p));
                let (low, high) =
                    seen.fold((f32::INFINITY, f32::NEG_INFINITY), |(l, h), s| (l.min(s), h.max(s)));
                middle * (low + high) / 2.0
            };
            (across, along) = (across + off(right, across), along + off(up, along));
        }
        Self {
            eye: across * right + along * up - distance * forward,
            right,
            up,
            forward,
            focal: height as f32 / (2.0 * HALF_VIEW),
            centre: (width as f32 / 2.0, height as f32 / 2.0),
        }
    }

    /// Pixel and depth of a point.
    pub fn project(&self, p: Vec3) -> Vec3 {
        let d = p - self.eye;
        let depth = d.dot(self.forward).max(1e-6);
        let scale = self.focal / depth;
        let (x, y) = self.centre;
        vec3(x + d.dot(self.right) * scale, y - d.dot(self.up) * scale, depth)
    }

    /// Pixels per metre at a depth.
    pub fn scale_at(&self, depth: f32) -> f32 {
        self.focal / depth
    }

    /// Direction from the eye through a pixel; its component along the view is 1.
    pub fn ray(&self, x: f32, y: f32) -> Vec3 {
        let (cx, cy) = self.centre;
        self.forward + ((x - cx) * self.right - (y - cy) * self.up) / self.focal
    }

    /// The picture's axes and the direction to the viewer, in space.
    pub fn axes(&self) -> [Vec3; 3] {
        [self.right, -self.up, -self.forward]
    }

    /// The same view with every pixel split in `factor` × `factor`.
    pub fn finer(&self, factor: f32) -> Self {
        let (x, y) = self.centre;
        Self { focal: factor * self.focal, centre: (factor * x, factor * y), ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_in_the_picture() {
        let points = [vec3(-3.0, 1.0, 0.0), vec3(2.0, -4.0, 5.0), vec3(0.5, 0.0, -9.0)];
        let camera = Camera::framing(&points, (640, 480));
        for p in points {
            let seen = camera.project(p);
            assert!((0.0..640.0).contains(&seen.x) && (0.0..480.0).contains(&seen.y), "{seen}");
        }
    }
}
