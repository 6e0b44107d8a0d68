//! Around a particle: whether the triangles at it lie open like a flower, all through a step.
//!
//! If there is a direction u with n · u > 0 for the normals n of all triangles around a particle, and
//! these triangles close around it, then looking along u no two of them lie above each other, unless they
//! wind around the particle twice, which closed and free of intersections they cannot. So none of their
//! vertices and edges meet, and none of their pairs need to be looked at. With corners that move evenly
//! each n is a quadratic in time, which is positive if its Bernstein coefficients are:
//!
//! ```text
//!   n(0) · u,   ½ (e₁(0) × e₂(1) + e₁(1) × e₂(0)) · u,   n(1) · u
//! ```

use crate::model::Model;
use glam::Vec3;

/// A normal counts as upward if it is so by this share of its edges: far above rounding.
const UPWARD: f32 = 1e-3;

/// Which particles are surrounded by one closed ring of triangles.
pub(super) fn closed(model: &Model) -> Vec<bool> {
    (0..model.particle_count()).map(|i| is_closed(model, i)).collect()
}

fn is_closed(model: &Model, particle: usize) -> bool {
    // The side opposite to the particle, in each triangle.
    let sides: Vec<[u32; 2]> = (model.triangle_members.of(particle).iter())
        .map(|member| {
            let corners = model.triangles[member.item as usize];
            let slot = member.slot as usize;
            [corners[(slot + 1) % 3], corners[(slot + 2) % 3]]
        })
        .collect();
    let Some(first) = sides.first() else { return false };
    let mut at = first[1];
    for walked in 1..=sides.len() {
        if at == first[0] {
            return walked == sides.len();
        }
        let mut next = sides.iter().filter(|side| side[0] == at);
        match (next.next(), next.next()) {
            (Some(side), None) => at = side[1],
            _ => return false,
        }
    }
    false
}

/// Whether the triangles around a particle stay open while corners move from `x` to `end`.
pub(super) fn stays_open(model: &Model, particle: usize, x: &[Vec3], end: &[Vec3]) -> bool {
    let members = model.triangle_members.of(particle);
    let corners = |item: u32| model.triangles[item as usize].map(|c| c as usize);
    let sides = |at: &[Vec3], [a, b, c]: [usize; 3]| [at[b] - at[a], at[c] - at[a]];
    let mut up = Vec3::ZERO;
    for member in members {
        let [e1, e2] = sides(x, corners(member.item));
        up += e1.cross(e2);
    }
    let Some(up) = up.try_normalize() else { return false };
    members.iter().all(|member| {
        let corners = corners(member.item);
        let ([a1, a2], [b1, b2]) = (sides(x, corners), sides(end, corners));
        let longest = a1.length_squared().max(a2.length_squared());
        let least = UPWARD * longest.max(b1.length_squared()).max(b2.length_squared());
        let half_way = 0.5 * (a1.cross(b2) + b1.cross(a2));
        let normals = [a1.cross(a2), half_way, b1.cross(b2)];
        normals.iter().all(|n| n.dot(up) > least)
    })
}
