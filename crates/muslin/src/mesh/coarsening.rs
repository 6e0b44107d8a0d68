//! Coarser levels of any mesh, for a V-cycle.
//!
//! A level's nodes are chosen one after the other, each unless a neighbour was: on a grid with shear
//! springs every second one in both directions, on a triangle mesh about a third. The others follow
//! from the chosen neighbours by weights that reproduce linear functions of the rest position as well
//! as non-negative weights can:
//!
//! ```text
//!   w_j = θ_j (λ + μ · d_j),   d_j = x_j − x_i,  θ_j = 1/|d_j|²,   Σ w_j = 1,  Σ w_j d_j ≈ 0
//! ```
//!
//! Where the cloth is smooth, a rotation is close to linear in the rest position, folded or not, so
//! coarse levels can represent it: aggregates that only shift cannot.

use super::Interpolation;
use glam::{DMat4, DVec3, DVec4, Vec3};

/// Smaller weights are not worth the blocks they make.
const LEAST: f64 = 0.01;

/// A place missed by more than this, over the distance of the nearest chosen node, is not met.
const FAR: f64 = 0.05;

/// Levels from fine to coarse.
#[derive(Clone, Debug, Default)]
pub struct Hierarchy {
    /// Nodes of each level by their index on the finest.
    pub nodes: Vec<Vec<u32>>,
    /// How the nodes of level l follow from those of level l + 1.
    pub interpolations: Vec<Interpolation>,
}

impl Hierarchy {
    /// Coarsens particles at the rest positions `x`, joined by `links`, until at most `enough` remain or
    /// no more can be left out.
    pub fn new(x: &[Vec3], links: &[[u32; 2]], enough: usize) -> Self {
        let mut hierarchy = Self::default();
        let mut nodes: Vec<u32> = (0..x.len() as u32).collect();
        let mut neighbours = adjacency(nodes.len(), links.iter().copied());
        while nodes.len() > enough {
            let kept = independent(&neighbours);
            let coarse: Vec<u32> =
                (0..nodes.len()).filter(|i| kept[*i].is_some()).map(|i| nodes[i]).collect();
            // Loose particles cannot be left out.
            if 4 * coarse.len() > 3 * nodes.len() {
                break;
            }
            let at = |i: u32| x[nodes[i as usize] as usize].as_dvec3();
            let mut rows = Interpolation::default();
            for (i, list) in neighbours.iter().enumerate() {
                match kept[i] {
                    Some(k) => rows.push([(k, 1.0)]),
                    None => {
                        let here = at(i as u32);
                        let node = |j: &u32| Some((kept[*j as usize]?, at(*j)));
                        let mut best = weights(here, list.iter().filter_map(node).collect());
                        // Who has chosen neighbours on one side only looks for others one link further.
                        if best.1 > FAR {
                            let further = list.iter().flat_map(|j| &neighbours[*j as usize]);
                            let mut all: Vec<u32> = list.iter().chain(further).copied().collect();
                            all.sort_unstable();
                            all.dedup();
                            let wider = weights(here, all.iter().filter_map(node).collect());
                            if wider.1 < 0.5 * best.1 {
                                best = wider;
                            }
                        }
                        rows.push(best.0.into_iter().map(|(node, w)| (node, w as f32)));
                    }
                }
            }
            let joined = neighbours.iter().enumerate().flat_map(|(i, list)| {
                let rows = &rows;
                list.iter().filter(move |j| **j > i as u32).flat_map(move |j| {
                    let of = rows.row(i).iter();
                    of.flat_map(move |(a, _)| rows.row(*j as usize).iter().map(|(b, _)| [*a, *b]))
                })
            });
            let next = adjacency(coarse.len(), joined);
            hierarchy.nodes.push(std::mem::replace(&mut nodes, coarse));
            hierarchy.interpolations.push(rows);
            neighbours = next;
        }
        hierarchy.nodes.push(nodes);
        hierarchy
    }
}

/// Sorted neighbours of each node.
fn adjacency(count: usize, links: impl Iterator<Item = [u32; 2]>) -> Vec<Vec<u32>> {
    let mut neighbours = vec![Vec::new(); count];
    for [a, b] in links.filter(|[a, b]| a != b) {
        neighbours[a as usize].push(b);
        neighbours[b as usize].push(a);
    }
    for list in &mut neighbours {
        list.sort_unstable();
        list.dedup();
    }
    neighbours
}

/// The new number of each node that stays: one that no neighbour before it does.
fn independent(neighbours: &[Vec<u32>]) -> Vec<Option<u32>> {
    let mut kept = vec![None; neighbours.len()];
    let mut count = 0;
    for (i, list) in neighbours.iter().enumerate() {
        if list.iter().all(|j| kept[*j as usize].is_none()) {
            kept[i] = Some(count);
            count += 1;
        }
    }
    kept
}

/// Weights of chosen nodes (node, place) for a node at `here`, and how far from it the place is that they
/// give, over the distance of the nearest of them. Nodes that would get a weight below [`LEAST`] are
/// left out one after the other.
fn weights(here: DVec3, mut chosen: Vec<(u32, DVec3)>) -> (Vec<(u32, f64)>, f64) {
    let nearest = chosen.iter().map(|(_, at)| at.distance_squared(here)).fold(f64::MAX, f64::min);
    let scale = nearest.max(f64::MIN_POSITIVE).sqrt();
    let away = |at: DVec3| (at - here) / scale;
    loop {
        let shares = shares(chosen.iter().map(|(_, at)| away(*at)));
        let least = (0..shares.len()).min_by(|a, b| shares[*a].total_cmp(&shares[*b]));
        match least {
            Some(least) if shares[least] < LEAST && shares.len() > 1 => {
                chosen.remove(least);
            }
            _ => {
                let place: DVec3 =
                    chosen.iter().zip(&shares).map(|((_, at), w)| away(*at) * *w).sum();
                let nodes = chosen.iter().map(|(node, _)| *node);
                return (nodes.zip(shares).collect(), place.length());
            }
        }
    }
}

/// w_j of the header for nodes that are the vectors d_j away.
fn shares(away: impl Iterator<Item = DVec3>) -> Vec<f64> {
    let places: Vec<(DVec4, f64)> = away
        .map(|d| (DVec4::new(1.0, d.x, d.y, d.z), 1.0 / d.length_squared().max(1e-6)))
        .collect();
    let mut normal = DMat4::ZERO;
    for (place, theta) in &places {
        let column = |k: usize| *theta * place[k] * *place;
        normal += DMat4::from_cols(column(0), column(1), column(2), column(3));
    }
    // Neighbours in a plane or on a line leave directions open; a little of their own fixes those.
    let raise = 1e-6 * (normal.col(0).x + normal.col(1).y + normal.col(2).z + normal.col(3).w);
    let raised = normal + DMat4::from_diagonal(DVec4::new(0.0, raise, raise, raise));
    let solution = raised.inverse() * DVec4::X;
    let all: Vec<f64> = places.iter().map(|(place, theta)| theta * solution.dot(*place)).collect();
    let sum: f64 = all.iter().sum();
    let even = 1.0 / all.len() as f64;
    let usable = sum.is_finite() && sum > 0.0 && all.len() > 1;
    all.iter().map(|w| if usable { w / sum } else { even }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A square grid with both diagonals.
    fn grid(n: u32) -> (Vec<Vec3>, Vec<[u32; 2]>) {
        let places = (0..n * n).map(|i| Vec3::new((i % n) as f32, (i / n) as f32, 0.0)).collect();
        let mut links = Vec::new();
        for (row, column) in (0..n).flat_map(|r| (0..n).map(move |c| (r, c))) {
            for (down, right) in [(0, 1), (1, 0), (1, 1), (1, -1)] {
                let (r, c) = (row + down, column as i32 + right);
                if r < n && c >= 0 && c < n as i32 {
                    links.push([row * n + column, r * n + c as u32]);
                }
            }
        }
        (places, links)
    }

    #[test]
    fn a_grid_keeps_every_second_row_and_column() {
        let (x, links) = grid(17);
        let hierarchy = Hierarchy::new(&x, &links, 10);
        let sizes: Vec<_> = hierarchy.nodes.iter().map(Vec::len).collect();
        assert_eq!(sizes, [17 * 17, 9 * 9, 5 * 5, 3 * 3]);
    }

    #[test]
    fn linear_functions_are_reproduced_inside() {
        let (x, links) = grid(17);
        let hierarchy = Hierarchy::new(&x, &links, 30);
        for (l, rows) in hierarchy.interpolations.iter().enumerate() {
            let (fine, coarse) = (&hierarchy.nodes[l], &hierarchy.nodes[l + 1]);
            for i in 0..rows.len() {
                let at = |node: u32| x[node as usize];
                let sum: f32 = rows.row(i).iter().map(|(_, w)| w).sum();
                let mean: Vec3 =
                    rows.row(i).iter().map(|(k, w)| *w * at(coarse[*k as usize])).sum();
                assert!((sum - 1.0).abs() < 1e-5);
                assert!(mean.distance(at(fine[i])) < 1e-3, "{i} of level {l}: {mean}");
            }
        }
    }

    #[test]
    fn constants_are_reproduced_on_any_mesh() {
        let (mut x, links) = grid(17);
        for (x, k) in x.iter_mut().zip(1u32..) {
            let noise = |k: u32| (k.wrapping_mul(2_654_435_761) >> 8) as f32 / (1 << 24) as f32;
            *x += 0.7 * Vec3::new(noise(k) - 0.5, noise(k + 1000) - 0.5, 0.0);
        }
        let hierarchy = Hierarchy::new(&x, &links, 30);
        for (l, rows) in hierarchy.interpolations.iter().enumerate() {
            for i in 0..rows.len() {
                let sum: f32 = rows.row(i).iter().map(|(_, w)| w).sum();
                assert!((sum - 1.0).abs() < 1e-6, "{i} of level {l}: {sum}");
            }
        }
    }

    #[test]
    fn loose_particles_end_the_hierarchy() {
        let x = vec![Vec3::ZERO; 100];
        assert_eq!(Hierarchy::new(&x, &[], 10).nodes.len(), 1);
    }
}
