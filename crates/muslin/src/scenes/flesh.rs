//! A closed surface around the limbs of a skeleton, and which bones carry it.
//!
//! The surface is where f = 0:
//!
//! ```text
//!   f(p) = −1/k ln Σ_i exp(−k d_i(p))        d_i(p) = |p − a − s (b − a)| − (1 − s) r_a − s r_b
//! ```
//!
//! d_i the distance of limb i, a capsule from a to b whose radius goes from r_a to r_b, and s the nearest
//! place on its axis. The sum rounds the corners between limbs over about 1/k. It is made of triangles by
//! surface nets: a vertex in each cell of a lattice that f changes its sign in, four of them joined across
//! each edge of the lattice where it does; then, a few times, they are moved to the mean of their
//! neighbours and back onto the surface.
//!
//! A vertex is carried by the bone that it is nearest to and by those joined to that one, each with the
//! weight exp(−k (d − d_nearest)), less a little. Bones that only come near, as the other leg does, have no part in it.

use glam::{DVec3, dvec3};

/// k. [1/m]
const SHARPNESS: f64 = 70.0;

/// Weights below this are left out, and all lowered by it, so that none begins with a jump.
const LEAST: f64 = 0.05;

/// Rounds of spreading vertices evenly.
const ROUNDS: usize = 4;

/// A limb in the pose that the surface is made in.
pub struct Limb {
    pub bone: u32,
    /// Ends of its axis. [m]
    pub ends: [DVec3; 2],
    /// Radius at each end. [m]
    pub radii: [f64; 2],
}

impl Limb {
    fn distance(&self, p: DVec3) -> f64 {
        let [a, b] = self.ends;
        let along = b - a;
        let s = (p - a).dot(along) / along.length_squared().max(f64::MIN_POSITIVE);
        let s = s.clamp(0.0, 1.0);
        p.distance(a + s * along) - (1.0 - s) * self.radii[0] - s * self.radii[1]
    }
}

/// f.
fn field(limbs: &[Limb], p: DVec3) -> f64 {
    let nearest = limbs.iter().map(|limb| limb.distance(p)).fold(f64::INFINITY, f64::min);
    let part = |limb: &Limb| libm::exp(-SHARPNESS * (limb.distance(p) - nearest));
    nearest - libm::log(limbs.iter().map(part).sum::<f64>()) / SHARPNESS
}

/// ∇f by differences.
fn gradient(limbs: &[Limb], p: DVec3) -> DVec3 {
    const STEP: f64 = 1e-5;
    let slope = |axis: DVec3| field(limbs, p + STEP * axis) - field(limbs, p - STEP * axis);
    dvec3(slope(DVec3::X), slope(DVec3::Y), slope(DVec3::Z)) / (2.0 * STEP)
}

/// Points of a lattice around the limbs.
struct Lattice {
    low: DVec3,
    cell: f64,
    size: [usize; 3],
    values: Vec<f64>,
}

impl Lattice {
    fn new(limbs: &[Limb], cell: f64) -> Self {
        let ends = || limbs.iter().flat_map(|limb| limb.ends.into_iter().zip(limb.radii));
        let margin = |r: f64| DVec3::splat(r + 3.0 * cell);
        let low = ends().map(|(p, r)| p - margin(r)).fold(DVec3::INFINITY, DVec3::min);
        let high = ends().map(|(p, r)| p + margin(r)).fold(DVec3::NEG_INFINITY, DVec3::max);
        let size = ((high - low) / cell).to_array().map(|n| n.ceil() as usize + 1);
        let mut lattice = Self { low, cell, size, values: Vec::new() };
        let all = (0..size[2]).flat_map(|k| (0..size[1]).map(move |j| (j, k)));
        let points = all.flat_map(|(j, k)| (0..size[0]).map(move |i| [i, j, k]));
        lattice.values = points.map(|at| field(limbs, lattice.point(at))).collect();
        lattice
    }

    fn point(&self, [i, j, k]: [usize; 3]) -> DVec3 {
        self.low + self.cell * dvec3(i as f64, j as f64, k as f64)
    }

    fn index(&self, [i, j, k]: [usize; 3]) -> usize {
        (k * self.size[1] + j) * self.size[0] + i
    }

    fn value(&self, at: [usize; 3]) -> f64 {
        self.values[self.index(at)]
    }

    /// Corners from which an edge along each axis goes, inside the lattice.
    fn corners(&self) -> impl Iterator<Item = [usize; 3]> + use<> {
        let [x, y, z] = self.size.map(|n| n - 1);
        let all = (1..z).flat_map(move |k| (1..y).map(move |j| (j, k)));
        all.flat_map(move |(j, k)| (1..x).map(move |i| [i, j, k]))
    }

    /// The mean of the points where the edges of a cell cross the surface, if any do.
    fn crossing(&self, cell: [usize; 3]) -> Option<DVec3> {
        let (mut sum, mut count) = (DVec3::ZERO, 0);
        for axis in 0..3 {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            for (du, dv) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                let mut from = cell;
                (from[u], from[v]) = (cell[u] + du, cell[v] + dv);
                let mut to = from;
                to[axis] += 1;
                let (a, b) = (self.value(from), self.value(to));
                if (a < 0.0) != (b < 0.0) {
                    sum += self.point(from).lerp(self.point(to), a / (a - b));
                    count += 1;
                }
            }
        }
        (count > 0).then(|| sum / f64::from(count))
    }
}

/// Vertices and outward triangles of the surface around limbs, about `cell` apart.
pub fn wrap(limbs: &[Limb], cell: f64) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let lattice = Lattice::new(limbs, cell);
    let mut vertices: Vec<DVec3> = Vec::new();
    let mut triangles = Vec::new();
    let mut vertex_of = vec![None; lattice.values.len()];
    let mut vertex = |cell: [usize; 3], vertices: &mut Vec<DVec3>| -> Option<u32> {
        let known = &mut vertex_of[lattice.index(cell)];
        if known.is_none() {
            vertices.push(lattice.crossing(cell)?);
            *known = Some(vertices.len() as u32 - 1);
        }
        *known
    };
    for from in lattice.corners() {
        for axis in 0..3 {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            let mut to = from;
            to[axis] += 1;
            let inside = [lattice.value(from) < 0.0, lattice.value(to) < 0.0];
            if inside[0] == inside[1] {
                continue;
            }
            // The four cells around the edge, counter-clockwise seen from its end.
            let around = [[0, 0], [1, 0], [1, 1], [0, 1]].map(|[du, dv]| {
                let mut cell = from;
                (cell[u], cell[v]) = (from[u] - du, from[v] - dv);
                vertex(cell, &mut vertices)
            });
            let [Some(a), Some(b), Some(c), Some(d)] = around else { continue };
            let (b, d) = if inside[0] { (b, d) } else { (d, b) };
            let length = |i: u32, j: u32| vertices[i as usize].distance(vertices[j as usize]);
            triangles.extend(if length(a, c) <= length(b, d) {
                [[a, b, c], [a, c, d]]
            } else {
                [[a, b, d], [b, c, d]]
            });
        }
    }
    // Evenly spread, and on the surface.
    for _ in 0..ROUNDS {
        vertices = means(&vertices, &triangles);
        vertices.iter_mut().for_each(|vertex| *vertex = on_surface(limbs, *vertex));
    }
    (vertices, triangles)
}

/// The point of the surface near a point.
fn on_surface(limbs: &[Limb], mut p: DVec3) -> DVec3 {
    for _ in 0..3 {
        let slope = gradient(limbs, p);
        p -= field(limbs, p) * slope / slope.length_squared().max(0.1);
    }
    p
}

/// The means of the vertices joined to each.
fn means(vertices: &[DVec3], triangles: &[[u32; 3]]) -> Vec<DVec3> {
    let mut sums = vec![(DVec3::ZERO, 0.0); vertices.len()];
    for &[a, b, c] in triangles {
        for [from, to] in [[a, b], [b, c], [c, a]] {
            let (sum, count) = &mut sums[to as usize];
            (*sum, *count) = (*sum + vertices[from as usize], *count + 1.0);
        }
    }
    sums.iter().map(|(sum, count)| *sum / *count).collect()
}

/// Bones and weights of a point; `parents` says how bones are joined.
pub fn weights(limbs: &[Limb], parents: &[Option<u32>], p: DVec3) -> Vec<(u32, f64)> {
    let distance = |bone: u32| {
        let own = limbs.iter().filter(|limb| limb.bone == bone);
        own.map(|limb| limb.distance(p)).fold(f64::INFINITY, f64::min)
    };
    let distances: Vec<f64> = (0..parents.len() as u32).map(distance).collect();
    let nearer = |a: &usize, b: &usize| distances[*a].total_cmp(&distances[*b]);
    let Some(nearest) = (0..parents.len()).min_by(nearer) else { return Vec::new() };
    let joined = |bone: usize| {
        bone == nearest
            || parents[bone] == Some(nearest as u32)
            || parents[nearest] == Some(bone as u32)
    };
    let weight = |bone: usize| libm::exp(-SHARPNESS * (distances[bone] - distances[nearest]));
    let all = (0..parents.len()).filter(|bone| joined(*bone));
    all.map(|bone| (bone as u32, weight(bone) - LEAST)).filter(|(_, w)| *w > 0.0).collect()
}
