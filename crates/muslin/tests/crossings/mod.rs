//! An independent judge of whether cloth crosses cloth: exact determinants on every pair of triangles in
//! a common cell of a lattice, and nothing of the engine's code.

use muslin::Vec3;
use robust::{Coord3D, orient3d};
use std::collections::HashMap;

fn sign(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> i32 {
    let exact = |v: Vec3| Coord3D { x: v.x, y: v.y, z: v.z };
    let value = orient3d(exact(a), exact(b), exact(c), exact(d));
    i32::from(value > 0.0) - i32::from(value < 0.0)
}

/// Whether a segment meets a triangle, ends and sides included. A segment in the triangle's plane does not.
fn meets(p: Vec3, q: Vec3, [a, b, c]: [Vec3; 3]) -> bool {
    let ends = [sign(p, a, b, c), sign(q, a, b, c)];
    if ends[0] == ends[1] {
        return false;
    }
    let around = [sign(p, q, a, b), sign(p, q, b, c), sign(p, q, c, a)];
    !(around.contains(&1) && around.contains(&-1))
}

fn cross(first: [u32; 3], second: [u32; 3], x: &[Vec3]) -> bool {
    let one_way = |edges: [u32; 3], other: [u32; 3]| {
        [[0, 1], [1, 2], [2, 0]].iter().any(|&[i, j]| {
            let (p, q) = (edges[i], edges[j]);
            !other.contains(&p)
                && !other.contains(&q)
                && meets(x[p as usize], x[q as usize], other.map(|c| x[c as usize]))
        })
    };
    one_way(first, second) || one_way(second, first)
}

/// All pairs of triangles that cross.
pub fn crossings(triangles: &[[u32; 3]], x: &[Vec3]) -> Vec<[u32; 2]> {
    let bounds = |t: u32| {
        let corners = triangles[t as usize].map(|c| x[c as usize]);
        let lo = corners.into_iter().fold(Vec3::INFINITY, Vec3::min);
        let hi = corners.into_iter().fold(Vec3::NEG_INFINITY, Vec3::max);
        (lo, hi)
    };
    let count = triangles.len() as u32;
    let mean =
        (0..count).map(|t| (bounds(t).1 - bounds(t).0).max_element()).sum::<f32>() / count as f32;
    let cell = |v: Vec3| (v / mean).floor().as_ivec3();
    let mut lattice: HashMap<[i32; 3], Vec<u32>> = HashMap::new();
    for t in 0..count {
        let (lo, hi) = bounds(t);
        let (from, to) = (cell(lo), cell(hi));
        for i in from.x..=to.x {
            for j in from.y..=to.y {
                for k in from.z..=to.z {
                    lattice.entry([i, j, k]).or_default().push(t);
                }
            }
        }
    }
    let mut found = Vec::new();
    for together in lattice.values() {
        for (k, &a) in together.iter().enumerate() {
            for &b in &together[k + 1..] {
                let ((lo, hi), (low, high)) = (bounds(a), bounds(b));
                let apart = lo.cmpgt(high).any() || low.cmpgt(hi).any();
                if !apart && cross(triangles[a as usize], triangles[b as usize], x) {
                    found.push([a, b]);
                }
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}
