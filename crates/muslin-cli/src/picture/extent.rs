//! What the camera must see: the cloth, but not the particles that a run that blew up has thrown
//! away.

use glam::Vec3;
use muslin::Model;

/// Particles further from the middle of the cloth than this many start sizes were thrown away.
const FAR: f32 = 4.0;
/// Cloth held by pins whose middle went further than this many start sizes is gone.
const GONE: f32 = 10.0;
/// Where what was thrown away is drawn, in radii of what is shown.
const EDGE: f32 = 1.25;

/// The points to be framed, and the ball around them that everything is drawn in.
pub struct Extent {
    /// Points the camera must see.
    pub points: Vec<Vec3>,
    /// Corners of the box around them.
    pub low: Vec3,
    /// The opposite corner.
    pub high: Vec3,
}

impl Extent {
    /// Of some states of a model.
    pub fn new<'x>(model: &Model, states: impl Iterator<Item = &'x [Vec3]>) -> Self {
        let start = &model.start_x;
        let (low, high) = bounds(start);
        let (centre, size) = ((low + high) / 2.0, (high - low).length().max(1e-6));
        let mut points = Vec::new();
        for x in states {
            let middle = median(x);
            let is_near = |p: &&Vec3| p.distance(middle) <= FAR * size;
            let near = x.iter().filter(is_near).count();
            let is_gone = !model.pins.is_empty() && middle.distance(centre) > GONE * size;
            if 2 * near >= x.len() && !is_gone {
                points.extend(x.iter().filter(is_near));
            }
        }
        if points.is_empty() {
            points.clone_from(start);
        }
        let (low, high) = bounds(&points);
        Self { points, low, high }
    }

    /// Longest side of what is shown. [m]
    pub fn side(&self) -> f32 {
        (self.high - self.low).max_element().max(1e-6)
    }

    /// The state with what was thrown away brought back to the edge of what is shown.
    pub fn contain(&self, x: &[Vec3]) -> Vec<Vec3> {
        let middle = (self.low + self.high) / 2.0;
        let edge = EDGE * ((self.high - self.low).length() / 2.0).max(1e-6);
        let inside = |p: &Vec3| {
            // In double precision, where the square of a large number is finite.
            let off = (*p - middle).as_dvec3();
            if off.length() <= f64::from(edge) {
                *p
            } else {
                middle + edge * off.normalize_or_zero().as_vec3()
            }
        };
        x.iter().map(inside).collect()
    }
}

fn bounds(points: &[Vec3]) -> (Vec3, Vec3) {
    let low = points.iter().copied().fold(Vec3::INFINITY, Vec3::min);
    (low, points.iter().copied().fold(Vec3::NEG_INFINITY, Vec3::max))
}

/// The median of each coordinate.
fn median(x: &[Vec3]) -> Vec3 {
    let of = |axis: usize| {
        let mut values: Vec<f32> = x.iter().map(|p| p[axis]).collect();
        let half = values.len() / 2;
        if values.is_empty() {
            return 0.0;
        }
        *values.select_nth_unstable_by(half, f32::total_cmp).1
    };
    Vec3::new(of(0), of(1), of(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thrown_particles_do_not_move_the_camera() {
        let model = muslin::scenes::named("golden-5x5").unwrap().compile().unwrap();
        let start = &model.start_x;
        let (low, high) = bounds(start);
        let mut one_off = start.clone();
        one_off[3] = Vec3::splat(1e30);
        let extent = Extent::new(&model, std::iter::once(one_off.as_slice()));
        assert!((extent.high - extent.low).cmple(high - low).all());
        let reach = 2.0 * (high - low).length();
        assert!(extent.contain(&one_off).iter().all(|p| p.distance(low) < reach));

        let all_off: Vec<Vec3> = start.iter().map(|p| 1e15 * (*p - low)).collect();
        let extent = Extent::new(&model, std::iter::once(all_off.as_slice()));
        assert_eq!((extent.low, extent.high), (low, high));
    }
}
