//! When a moving point first meets a body: conservative advancement.
//!
//! In the body's coordinates the point goes from `from` to `to` in a straight line. A ball of radius
//! d, the distance to the surface, is free, so the point may advance by d without a check. It never
//! passes the surface: a body thinner than the path is met like any other.

use super::shape::distance;
use crate::model::Shape;
use glam::DVec3;

/// Advances at most; a path that still has not decided then grazes the body and counts as a hit.
const ADVANCES: usize = 100;

/// The first point of the path at `thickness` from the body, if it gets there from outside.
/// `close` is the distance at which it has arrived.
pub fn first_hit(
    shape: &Shape,
    thickness: f64,
    close: f64,
    from: DVec3,
    to: DVec3,
) -> Option<DVec3> {
    let length = from.distance(to);
    let mut gone = 0.0;
    let mut at = from;
    for _ in 0..ADVANCES {
        let gap = distance(shape, at).0 - thickness;
        if gap <= close {
            return Some(at);
        }
        gone += gap;
        if gone >= length {
            return None;
        }
        at = from.lerp(to, gone / length);
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::dvec3;

    #[test]
    fn a_ball_thinner_than_the_path_is_met_where_it_is() {
        let ball = Shape::Sphere { radius: 0.01 };
        let hit = first_hit(&ball, 0.002, 1e-9, dvec3(-5.0, 0.005, 0.0), dvec3(5.0, 0.005, 0.0));
        let x = -(0.012f64.powi(2) - 0.005f64.powi(2)).sqrt();
        assert!(hit.unwrap().distance(dvec3(x, 0.005, 0.0)) < 1e-6);
        let miss = first_hit(&ball, 0.002, 1e-9, dvec3(-5.0, 0.013, 0.0), dvec3(5.0, 0.013, 0.0));
        assert_eq!(miss, None);
    }

    #[test]
    fn the_hit_is_never_late() {
        // Chords of a box and a cone: just before the hit the path is free, and nothing is hit
        // where a fine march finds the path free.
        let shapes =
            [Shape::Box { size: dvec3(1.0, 0.02, 1.0) }, Shape::Cone { radius: 0.5, height: 1.0 }];
        for shape in shapes {
            for k in 0..500 {
                let turn = |s: f64| f64::from(k) * s % 2.0 - 1.0;
                let from = dvec3(turn(0.37), 0.9 + turn(0.11) * 0.2, turn(0.71));
                let to = dvec3(turn(0.53), -0.9, turn(0.91));
                let gap = |t: f64| distance(&shape, from.lerp(to, t)).0 - 0.01;
                let first = (0..=20_000).map(|i| f64::from(i) / 20_000.0).find(|t| gap(*t) <= 0.0);
                let hit = first_hit(&shape, 0.01, 1e-7, from, to);
                match (first, hit) {
                    (Some(t), Some(at)) => {
                        let at = from.distance(at) / from.distance(to);
                        assert!(at <= t + 1e-9 && at > t - 1e-3, "{at} for {t}");
                    }
                    (Some(t), None) => panic!("missed at {t}"),
                    _ => {}
                }
            }
        }
    }
}
