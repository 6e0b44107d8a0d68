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
//! coarse levels can represent it: aggregates that only shift cannot. Who cannot follow linear functions stays, except
//! on a border.
//!
//! Neighbours are nodes joined strongly: with at least a share of what joins either of them most. A link counts 1 on
//! the finest level, and Galerkin's product makes links of links: u = P u' in Σ s (u_i − u_j)² gives
//!
//! ```text
//!   s'_ab = −Σ s (P_ia − P_ja) (P_ib − P_jb)
//! ```
//!
//! With all that are joined at all, irregular meshes lost up to 14 of 15 nodes from one level to the next.

use super::Interpolation;
use glam::{DMat4, DVec3, DVec4, Vec3};

/// Smaller weights are not worth the blocks they make.
const LEAST: f64 = 0.01;

/// A place missed by more than this, over the distance of the nearest chosen node, is not met.
const FAR: f64 = 0.05;

/// Nodes are strongly joined with at least this share of what joins either of them most.
const STRONG: f32 = 0.25;

/// Cosine of the angle from which on a neighbour lies on the other side of a node.
const BEYOND: f64 = -0.3;

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
        let mut joined: Vec<Joined> =
            links.iter().filter(|[a, b]| a != b).map(|ends| (*ends, 1.0)).collect();
        while nodes.len() > enough {
            let places = nodes.iter().map(|i| x[*i as usize].as_dvec3()).collect();
            let level = Level { places, neighbours: strong(nodes.len(), &joined) };
            let kept = level.chosen();
            let coarse: Vec<u32> =
                (0..nodes.len()).filter(|i| kept[*i]).map(|i| nodes[i]).collect();
            // Loose particles cannot be left out.
            if 4 * coarse.len() > 3 * nodes.len() {
                break;
            }
            let mut numbers = vec![0; nodes.len()];
            (0..nodes.len()).filter(|i| kept[*i]).zip(0..).for_each(|(i, k)| numbers[i] = k);
            let mut rows = Interpolation::default();
            for i in 0..nodes.len() {
                if kept[i] {
                    rows.push([(numbers[i], 1.0)]);
                } else {
                    let shares = rounded(level.follow(i, &kept).0).into_iter();
                    rows.push(shares.map(|(j, w)| (numbers[j as usize], w)));
                }
            }
            joined = coarser(&joined, &rows);
            hierarchy.nodes.push(std::mem::replace(&mut nodes, coarse));
            hierarchy.interpolations.push(rows);
        }
        hierarchy.nodes.push(nodes);
        hierarchy
    }
}

/// Weights in 4096ths, which still sum to one. Products of two are exact, and where a mesh repeats so do they.
fn rounded(shares: Vec<(u32, f64)>) -> Vec<(u32, f32)> {
    const PARTS: f64 = 4096.0;
    let mut parts: Vec<(u32, f64)> =
        shares.into_iter().map(|(j, share)| (j, (PARTS * share).round())).collect();
    let rest = PARTS - parts.iter().map(|(_, part)| part).sum::<f64>();
    if let Some((_, most)) = parts.iter_mut().max_by(|a, b| a.1.total_cmp(&b.1)) {
        *most += rest;
    }
    parts.into_iter().map(|(j, part)| (j, (part / PARTS) as f32)).collect()
}

/// Two nodes and s, how strongly they are joined.
type Joined = ([u32; 2], f32);

/// s' on the next level.
fn coarser(joined: &[Joined], rows: &Interpolation) -> Vec<Joined> {
    let mut next: Vec<Joined> = Vec::new();
    let mut differences: Vec<(u32, f32)> = Vec::new();
    for &([i, j], s) in joined {
        differences.clear();
        differences.extend(rows.row(i as usize));
        for &(k, share) in rows.row(j as usize) {
            match differences.iter_mut().find(|(node, _)| *node == k) {
                Some((_, difference)) => *difference -= share,
                None => differences.push((k, -share)),
            }
        }
        for (k, (a, of_a)) in differences.iter().enumerate() {
            let pairs = differences[..k].iter();
            next.extend(pairs.map(|(b, of_b)| ([*a.min(b), *a.max(b)], -s * of_a * of_b)));
        }
    }
    // In a fixed order, so that sums are the same on every machine.
    next.sort_by_key(|(ends, _)| *ends);
    next.dedup_by(|one, sum| {
        let same = one.0 == sum.0;
        if same {
            sum.1 += one.1;
        }
        same
    });
    next
}

/// Sorted neighbours of each node.
fn strong(count: usize, joined: &[Joined]) -> Vec<Vec<u32>> {
    let mut most = vec![0.0f32; count];
    for &([a, b], s) in joined {
        [a, b].iter().for_each(|i| most[*i as usize] = most[*i as usize].max(s));
    }
    let mut neighbours = vec![Vec::new(); count];
    for &([a, b], s) in joined {
        if s >= STRONG * most[a as usize].min(most[b as usize]) {
            neighbours[a as usize].push(b);
            neighbours[b as usize].push(a);
        }
    }
    for list in &mut neighbours {
        list.sort_unstable();
        list.dedup();
    }
    neighbours
}

/// The nodes of a level.
struct Level {
    places: Vec<DVec3>,
    neighbours: Vec<Vec<u32>>,
}

impl Level {
    /// Whether each node stays: one that no neighbour before it does, and who cannot follow those.
    fn chosen(&self) -> Vec<bool> {
        let mut kept = vec![false; self.places.len()];
        for (i, list) in self.neighbours.iter().enumerate() {
            kept[i] = list.iter().all(|j| !kept[*j as usize]);
        }
        for i in 0..kept.len() {
            kept[i] = kept[i] || !self.can_follow(i, &kept);
        }
        kept
    }

    /// Whether linear functions follow. On a border, beyond which nothing is, they need not.
    fn can_follow(&self, i: usize, kept: &[bool]) -> bool {
        let (shares, miss) = self.follow(i, kept);
        let away = |j: u32| self.places[j as usize] - self.places[i];
        let missed: DVec3 = shares.iter().map(|(j, w)| *w * away(*j)).sum();
        let opposite = |d: DVec3| d.dot(missed) < BEYOND * d.length() * missed.length();
        miss <= FAR || !self.neighbours[i].iter().any(|j| opposite(away(*j)))
    }

    /// How a node follows from the chosen ones around it, and by how much that misses.
    fn follow(&self, i: usize, kept: &[bool]) -> (Vec<(u32, f64)>, f64) {
        let node = |j: &u32| kept[*j as usize].then_some((*j, self.places[*j as usize]));
        let (here, list) = (self.places[i], &self.neighbours[i]);
        let near = weights(here, list.iter().filter_map(node).collect());
        if near.1 <= FAR {
            return near;
        }
        // Who has chosen neighbours on one side only looks for others one link further.
        let further = list.iter().flat_map(|j| &self.neighbours[*j as usize]);
        let mut all: Vec<u32> = list.iter().chain(further).copied().collect();
        all.sort_unstable();
        all.dedup();
        let wider = weights(here, all.iter().filter_map(node).collect());
        if wider.1 < 0.5 * near.1 { wider } else { near }
    }
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
